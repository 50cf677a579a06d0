#include <tidegate/core/text.hpp>
#include <tidegate/documents/catalogue.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/device_documents.hpp>
#include <tidegate/documents/frontier_documents.hpp>
#include <tidegate/documents/graph_documents.hpp>
#include <tidegate/documents/launch_documents.hpp>
#include <tidegate/documents/planning_documents.hpp>
#include <tidegate/documents/priority_documents.hpp>
#include <tidegate/documents/program_documents.hpp>
#include <tidegate/documents/report_documents.hpp>
#include <tidegate/documents/run_documents.hpp>
#include <tidegate/documents/tuning_documents.hpp>
#include <tidegate/documents/tuning_report_documents.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::documents {
namespace {

// A type, and the command that takes such documents; none where `check` alone reads them.
struct Entry {
  const Document* document;
  std::string_view command;
};

constexpr std::array entries{
    Entry{&DocumentOf<LaunchRequestDocument>::document, "recommend"},
    Entry{&DocumentOf<policy::LaunchPolicy>::document, "recommend --policy"},
    Entry{&DocumentOf<LaunchRecommendationDocument>::document, ""},
    Entry{&DocumentOf<NamedWaveDag>::document, "plan"},
    Entry{&DocumentOf<FrontierMemoryPlan>::document, "run --plan"},
    Entry{&DocumentOf<BufferLifetimes>::document, "arena"},
    Entry{&DocumentOf<ArenaPlanDocument>::document, ""},
    Entry{&DocumentOf<policy::RequeueAccounting>::document, "priority drain"},
    Entry{&DocumentOf<policy::DrainRecommendation>::document, ""},
    Entry{&DocumentOf<SiblingDiffusion>::document, "priority diffuse"},
    Entry{&DocumentOf<DiffusedPriorities>::document, ""},
    Entry{&DocumentOf<MeasuredCosts>::document, "tune choose"},
    Entry{&DocumentOf<TuningChoice>::document, ""},
    Entry{&DocumentOf<NaturalGradient>::document, "tune step"},
    Entry{&DocumentOf<NaturalGradientStep>::document, ""},
    Entry{&DocumentOf<compiler::WaveProgram>::document, "run"},
    Entry{&DocumentOf<graphs::FrontierProgram>::document, "run"},
    Entry{&DocumentOf<RunReportDocument>::document, ""},
    Entry{&DocumentOf<traversal::FrontierReport>::document, ""},
    Entry{&DocumentOf<tuning::TuningReport>::document, ""},
    Entry{&DocumentOf<device::DeviceList>::document, ""},
    Entry{&DocumentOf<device::DeviceProfile>::document, "run --profile"},
    Entry{&DocumentOf<CheckReport>::document, ""},
    Entry{&DocumentOf<GraphReport>::document, ""},
    Entry{&DocumentOf<SchemaList>::document, ""},
    Entry{&DocumentOf<VersionReport>::document, ""},
    Entry{&DocumentOf<Error>::document, ""},
    Entry{&DocumentOf<StreamError>::document, ""},
};

constexpr auto all_documents = [] {
  std::array<const Document*, entries.size()> documents{};
  std::ranges::transform(entries, documents.begin(), &Entry::document);
  return documents;
}();

// How well keys fit a document: how many of them it knows, and how many that it needs are missing.
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

// The one document that knows most of the keys, and half of them at least; nullptr when there is none.
const Document* find_by_keys(const std::vector<std::string>& keys) {
  const Document* best = nullptr;
  Fit best_fit;
  for (const Document* document : all_documents) {
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

std::span<const Document* const> catalogue() {
  return all_documents;
}

Result<const Document*> find_document(std::string_view name) {
  const auto found =
      std::ranges::find(all_documents, name, [](const Document* document) { return document->kind; });
  if (found != all_documents.end()) {
    return *found;
  }
  std::array<std::string_view, all_documents.size()> names;
  std::ranges::transform(all_documents, names.begin(),
                         [](const Document* document) { return document->kind; });
  const auto nearest = nearest_name(name, names);
  Error error{.code = ErrorCode::unknown_name,
              .message = fmt::format("there is no document type {}", in_quotes(name)),
              .fix = nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                             : "`tidegate schema --format table` lists them"};
  if (nearest) {
    error.nearest = *nearest;
  }
  return tl::unexpected(std::move(error));
}

Result<const Document*> recognise(std::string_view json) {
  std::vector<std::string> keys;
  auto kind = kind_of(json, &keys);
  if (!kind) {
    return tl::unexpected(std::move(kind.error()));
  }
  if (kind->empty()) {
    if (const Document* found = find_by_keys(keys)) {
      return found;
    }
    return tl::unexpected(Error{.code = ErrorCode::missing_kind,
                                .message = "the document does not say its \"kind\"",
                                .fix = "name its type on the command line, for example `tidegate check "
                                       "launch_request FILE`"});
  }
  auto found = find_document(*kind);
  if (!found) {
    found.error().code = ErrorCode::wrong_kind;
    found.error().pointer = "/kind";
  }
  return found;
}

const Document* mistaken_type(const Document& wanted, std::string_view json) {
  std::vector<std::string> keys;
  const auto kind = kind_of(json, &keys);
  const Document* const found = kind && kind->empty() ? find_by_keys(keys) : nullptr;
  if (found == nullptr || found == &wanted) {
    return nullptr;
  }
  // It knows as many keys at least. Where it knows no more, it has to be whole: a document that lacks keys
  // of both types is rather the one that is wanted.
  const Fit fit = fit_of(*found, keys);
  return fit.known > fit_of(wanted, keys).known || fit.missing == 0 ? found : nullptr;
}

std::string fix_for_kind(const Document& wanted, const Document& found) {
  const auto entry = std::ranges::find(entries, &found, &Entry::document);
  return entry != entries.end() && !entry->command.empty()
             ? fmt::format("`tidegate {}` takes it", entry->command)
             : fmt::format("give a document of kind \"{}\"", wanted.kind);
}

} // namespace tidegate::documents
