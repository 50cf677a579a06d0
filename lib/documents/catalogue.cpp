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

constexpr std::array all_documents{
    &DocumentOf<LaunchRequestDocument>::document,
    &DocumentOf<policy::LaunchPolicy>::document,
    &DocumentOf<LaunchRecommendationDocument>::document,
    &DocumentOf<NamedWaveDag>::document,
    &DocumentOf<FrontierMemoryPlan>::document,
    &DocumentOf<BufferLifetimes>::document,
    &DocumentOf<ArenaPlanDocument>::document,
    &DocumentOf<policy::RequeueAccounting>::document,
    &DocumentOf<policy::DrainRecommendation>::document,
    &DocumentOf<SiblingDiffusion>::document,
    &DocumentOf<DiffusedPriorities>::document,
    &DocumentOf<MeasuredCosts>::document,
    &DocumentOf<TuningChoice>::document,
    &DocumentOf<NaturalGradient>::document,
    &DocumentOf<NaturalGradientStep>::document,
    &DocumentOf<compiler::WaveProgram>::document,
    &DocumentOf<graphs::FrontierProgram>::document,
    &DocumentOf<RunReportDocument>::document,
    &DocumentOf<traversal::FrontierReport>::document,
    &DocumentOf<tuning::TuningReport>::document,
    &DocumentOf<device::DeviceList>::document,
    &DocumentOf<device::DeviceProfile>::document,
    &DocumentOf<CheckReport>::document,
    &DocumentOf<GraphReport>::document,
    &DocumentOf<SchemaList>::document,
    &DocumentOf<VersionReport>::document,
    &DocumentOf<Error>::document,
    &DocumentOf<StreamError>::document,
};

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

} // namespace tidegate::documents
