#include <tidegate/core/text.hpp>
#include <tidegate/documents/catalogue.hpp>
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

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
    &DocumentOf<device::DeviceList>::document,
    &DocumentOf<device::DeviceProfile>::document,
    &DocumentOf<CheckReport>::document,
    &DocumentOf<GraphReport>::document,
    &DocumentOf<SchemaList>::document,
    &DocumentOf<VersionReport>::document,
    &DocumentOf<Error>::document,
    &DocumentOf<StreamError>::document,
};

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

} // namespace tidegate::documents
