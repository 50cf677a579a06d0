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
  (void)find_inner(document, [&](const std::string& name, JsonValue value) {
    if (document.first() == '{') {
      head.keys.push_back(name);
      head.kind = name == "kind" && value.first() == '"' ? value.string(room) : head.kind;
    }
    return false;
  });
  return head;
}

std::span<const CatalogueEntry> entries;

// How well keys fit a document type: the keys that it knows, and minus the required keys that are missing.
using Fit = std::pair<std::size_t, std::ptrdiff_t>;

Fit fit_of(const Document& document, const std::vector<std::string>& keys) {
  Fit fit;
  for (const Field& field : document.record->fields) {
    const bool given = std::ranges::find(keys, field.name) != keys.end();
    fit.first += given ? 1 : 0;
    fit.second -= !given && field.presence == Presence::required ? 1 : 0;
  }
  return fit;
}

// Returns the type that fits best and knows at least half of the keys; nullptr if there is none or a tie.
const Document* find_by_keys(const std::vector<std::string>& keys) {
  const Document* best = nullptr;
  Fit best_fit;
  for (const auto& [document, command] : entries) {
    const Fit fit = fit_of(*document, keys);
    if (fit >= best_fit) {
      best = fit == best_fit ? nullptr : document;
      best_fit = fit;
    }
  }
  return best_fit.first * 2 >= keys.size() ? best : nullptr;
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
  return fit.first > fit_of(wanted, keys).first || fit.second == 0 ? found : nullptr;
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
