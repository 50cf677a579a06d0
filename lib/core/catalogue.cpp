// Finds document types by name, recognises documents without a kind by their keys, and says what a value should be.
#include "core/json.hpp"
#include <tidegate/core/decode.hpp>

namespace tidegate::documents {
namespace {

struct Head {
  std::string kind; // the top-level "kind"
  std::vector<std::string> keys;
};

Head head_of(JsonValue document) {
  Head head;
  std::string room;
  for (JsonValue key = document.inner(); document.first() == '{' && key != document.next();
       key = key.next().next()) {
    head.keys.emplace_back(key.string(room));
    if (head.keys.back() == "kind" && key.next().first() == '"') {
      head.kind = key.next().string(room);
    }
  }
  return head;
}

std::span<const CatalogueEntry> entries;

// Measures how well keys fit a document type: known keys, and required keys that are missing.
struct Fit {
  std::size_t known = 0;
  std::size_t missing = 0;

  friend bool operator==(const Fit&, const Fit&) = default;
  [[nodiscard]] bool better_than(const Fit& other) const {
    return known != other.known ? known > other.known : missing < other.missing;
  }
};

Fit fit_of(const Document& document, const std::vector<std::string>& keys) {
  Fit fit;
  for (const Field& field : document.record->fields) {
    const bool given = std::ranges::find(keys, field.name) != keys.end();
    fit.known += given ? 1 : 0;
    fit.missing += !given && field.presence == Presence::required ? 1 : 0;
  }
  return fit;
}

// Returns the type that fits best and knows at least half of the keys; nullptr if there is none or a tie.
const Document* find_by_keys(const std::vector<std::string>& keys) {
  const Document* best = nullptr;
  Fit best_fit;
  for (const auto& [document, command] : entries) {
    const Fit fit = fit_of(*document, keys);
    if (fit.better_than(best_fit)) {
      best = document;
      best_fit = fit;
    } else if (fit == best_fit) {
      best = nullptr;
    }
  }
  return best_fit.known * 2 >= keys.size() ? best : nullptr;
}

} // namespace

std::span<const CatalogueEntry> catalogue() {
  return entries;
}

void set_catalogue(std::span<const CatalogueEntry> all) {
  entries = all;
}

Result<const Document*> find_document(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [document, command] : entries) {
    if (document->kind == name) {
      return document;
    }
    names.push_back(document->kind);
  }
  const auto nearest = nearest_name(name, names);
  Error error{.code = ErrorCode::unknown_name,
              .message = fmt::format("unknown document type {}", in_quotes(name)),
              .fix = nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                             : "`tidegate schema --format table` lists them"};
  if (nearest) {
    error.nearest = *nearest;
  }
  return tl::unexpected(std::move(error));
}

Result<const Document*> recognise(std::string_view json) {
  std::vector<std::string> keys;
  TIDEGATE_TRY(auto kind, kind_of(json, &keys));
  if (kind.empty()) {
    if (const Document* found = find_by_keys(keys)) {
      return found;
    }
    return failure(ErrorCode::missing_kind, "the document has no \"kind\"",
                   "name its type on the command line, for example `tidegate check launch_request FILE`");
  }
  auto found = find_document(kind);
  if (!found) {
    found.error().code = ErrorCode::wrong_kind;
    found.error().pointer = "/kind";
  }
  return found;
}

const Document* mistaken_type(const Document& wanted, JsonValue document) {
  const auto [kind, keys] = head_of(document);
  const Document* const found = kind.empty() ? find_by_keys(keys) : nullptr;
  if (found == nullptr || found == &wanted) {
    return nullptr;
  }
  // `found` knows at least as many keys. If it knows no more, require it to be complete: a document that
  // lacks keys of both types is more likely of type `wanted`.
  const Fit fit = fit_of(*found, keys);
  return fit.known > fit_of(wanted, keys).known || fit.missing == 0 ? found : nullptr;
}

std::string fix_for_kind(const Document& wanted, const Document& found) {
  const auto entry = std::ranges::find(entries, &found, &CatalogueEntry::document);
  return entry != entries.end() && !entry->command.empty()
             ? fmt::format("`tidegate {}` takes it", entry->command)
             : fmt::format("give a document of kind \"{}\"", wanted.kind);
}

Result<std::string> kind_of(std::string_view json, std::vector<std::string>* keys) {
  JsonParser parser;
  return parser.parse(json).map([keys](JsonValue document) {
    Head head = head_of(document);
    if (keys != nullptr) {
      *keys = std::move(head.keys);
    }
    return std::move(head.kind);
  });
}

std::vector<std::string_view> words_of(const Type& type) {
  std::vector<std::string_view> words(type.left_out_word.empty() ? 0 : 1, type.left_out_word);
  words.insert(words.end(), type.choices.begin(), type.choices.end());
  return words;
}

} // namespace tidegate::documents
