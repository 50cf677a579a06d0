// The document types that tidegate knows. A document without a kind is recognised by its keys.
#include "app/catalogue.hpp"

#include "app/run.hpp"
#include "tune/report.hpp"

namespace tidegate::app {

namespace {

using documents::Document;
using documents::DocumentOf;
using documents::JsonValue;

// Inputs and outputs next to each other, by command.
constexpr CatalogueEntry entries[] = {
    {&DocumentOf<documents::LaunchRequestDocument>::document, "recommend"},
    {&DocumentOf<policy::LaunchPolicy>::document, "recommend --policy"},
    {&DocumentOf<documents::LaunchRecommendationDocument>::document, ""},
    {&DocumentOf<documents::NamedWaveDag>::document, "plan"},
    {&DocumentOf<documents::FrontierMemoryPlan>::document, "run --plan FILE"},
    {&DocumentOf<documents::BufferLifetimes>::document, "arena"},
    {&DocumentOf<documents::ArenaPlanDocument>::document, ""},
    {&DocumentOf<policy::RequeueAccounting>::document, "priority drain"},
    {&DocumentOf<policy::DrainRecommendation>::document, ""},
    {&DocumentOf<documents::SiblingDiffusion>::document, "priority diffuse"},
    {&DocumentOf<documents::DiffusedPriorities>::document, ""},
    {&DocumentOf<documents::MeasuredCosts>::document, "tune choose"},
    {&DocumentOf<documents::TuningChoice>::document, ""},
    {&DocumentOf<documents::NaturalGradient>::document, "tune step"},
    {&DocumentOf<documents::NaturalGradientStep>::document, ""},
    {&DocumentOf<engine::WaveProgram>::document, "run"},
    {&DocumentOf<graphs::FrontierProgram>::document, "run"},
    {&DocumentOf<documents::RunRequest>::document, "run --stream"},
    {&DocumentOf<engine::RunReport>::document, ""},
    {&DocumentOf<traversal::FrontierReport>::document, ""},
    {&DocumentOf<tuning::TuningReport>::document, ""},
    {&DocumentOf<device::DeviceList>::document, ""},
    {&DocumentOf<device::DeviceProfile>::document, "run --profile FILE"},
    {&DocumentOf<documents::CheckReport>::document, ""},
    {&DocumentOf<documents::ReportComparison>::document, ""},
    {&DocumentOf<documents::SchemaList>::document, ""},
    {&DocumentOf<documents::VersionReport>::document, ""},
    {&DocumentOf<Error>::document, ""},
    {&DocumentOf<documents::StreamError>::document, ""},
};

// How well keys fit a document type: the keys that it knows, and minus the required keys that are missing.
using Fit = std::pair<std::size_t, std::ptrdiff_t>;

Fit fit_of(const Document& document, const std::vector<std::string>& keys) {
  Fit fit;
  for (const documents::Field& field : document.record->fields) {
    const bool given = std::ranges::find(keys, field.name) != keys.end();
    fit.first += given ? 1 : 0;
    fit.second -= !given && field.presence == documents::Presence::required ? 1 : 0;
  }
  return fit;
}

// Returns the type whose keys fit best, and which knows at least half of them; nullptr if there is none or a tie.
const Document* find_by_keys(const std::vector<std::string>& keys) {
  std::map<Fit, std::vector<const Document*>> by_fit;
  for (const auto& [document, command] : entries) {
    by_fit[fit_of(*document, keys)].push_back(document);
  }
  const auto& [fit, best] = *by_fit.rbegin();
  return best.size() == 1 && fit.first * 2 >= keys.size() ? best.front() : nullptr;
}

// Returns the fix for a document of type `found` in place of `wanted`: the command that accepts `found`.
std::string fix_for_kind(const Document& wanted, const Document& found) {
  const auto* const entry = std::ranges::find(entries, &found, &CatalogueEntry::document);
  return entry->command.empty() ? fmt::format("give a document of kind \"{}\"", wanted.kind)
                                : fmt::format("`tidegate {}` takes it", entry->command);
}

} // namespace

std::span<const CatalogueEntry> catalogue() {
  return entries;
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
  auto error = failure(ErrorCode::unknown_name, fmt::format("unknown document type {}", in_quotes(name)),
                       nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                               : "`tidegate schema --format table` lists them");
  error.value().nearest = nearest;
  return error;
}

Result<Head> head_of(std::string_view json) {
  documents::JsonParser parser;
  TIDEGATE_TRY(const JsonValue document, parser.parse(json));
  Head head;
  if (document.first() == '{') {
    (void)find_inner(document, [&, room = std::string()](const std::string& name, JsonValue value) mutable {
      head.keys.push_back(name);
      head.kind = name == "kind" && value.first() == '"' ? value.string(room) : head.kind;
      return false;
    });
  }
  return head;
}

Result<const Document*> recognise(std::string_view json) {
  TIDEGATE_TRY(const Head head, head_of(json));
  if (!head.kind.empty()) {
    return at_place("/kind", find_document(head.kind).map_error([](Error error) {
      error.code = ErrorCode::wrong_kind;
      return error;
    }));
  }
  if (const Document* const found = find_by_keys(head.keys)) {
    return found;
  }
  return failure(ErrorCode::missing_kind, "the document has no \"kind\"",
                 "name its type on the command line, for example `tidegate check launch_request FILE`");
}

Result<void> decode_as(const Document& document, std::string_view json, void* object,
                       std::span<const documents::Parameter> parameters) {
  return documents::decode(document, json, object, parameters).map_error([&](Error error) {
    const auto head = head_of(json);
    if (!head) {
      return error;
    }
    if (!head->kind.empty()) {
      const auto found = find_document(head->kind);
      const auto advise = [&](Error& each) {
        if (each.code == ErrorCode::wrong_kind && std::ranges::count(head->keys, "kind") == 1) {
          each.fix = found ? fix_for_kind(document, **found) : found.error().fix;
        }
      };
      advise(error);
      std::ranges::for_each(error.others, advise);
      return error;
    }
    // The other type knows at least as many keys. If it knows no more, it has to be complete: a document that
    // lacks keys of both types is more likely of the type that is wanted.
    const Document* const found = find_by_keys(head->keys);
    if (found == nullptr || found->kind == document.kind ||
        (fit_of(*found, head->keys).first <= fit_of(document, head->keys).first &&
         fit_of(*found, head->keys).second != 0)) {
      return error;
    }
    return documents::error_at(
        json, json.find('{'),
        {.code = ErrorCode::wrong_kind,
         .message = fmt::format("this has the keys of {}, not of {}", found->kind, document.kind),
         .fix = fix_for_kind(document, *found),
         .pointer = ""});
  });
}

} // namespace tidegate::app
