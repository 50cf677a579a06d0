#include "core/catalogue.hpp"

#include "app/command_line.hpp"
#include "device/documents.hpp"
#include "engine/documents.hpp"
#include "engine/traversal/documents.hpp"
#include "tune/documents.hpp"
#include "work/documents.hpp"
#include <tidegate/planning/documents.hpp>
#include <tidegate/policy/documents.hpp>

#include <array>

namespace tidegate::app {
namespace {

using namespace documents;

// Inputs and outputs next to each other, by command.
constexpr std::array entries{
    CatalogueEntry{&DocumentOf<LaunchRequestDocument>::document, "recommend"},
    CatalogueEntry{&DocumentOf<policy::LaunchPolicy>::document, "recommend --policy"},
    CatalogueEntry{&DocumentOf<LaunchRecommendationDocument>::document, ""},
    CatalogueEntry{&DocumentOf<NamedWaveDag>::document, "plan"},
    CatalogueEntry{&DocumentOf<FrontierMemoryPlan>::document, "run --plan"},
    CatalogueEntry{&DocumentOf<BufferLifetimes>::document, "arena"},
    CatalogueEntry{&DocumentOf<ArenaPlanDocument>::document, ""},
    CatalogueEntry{&DocumentOf<policy::RequeueAccounting>::document, "priority drain"},
    CatalogueEntry{&DocumentOf<policy::DrainRecommendation>::document, ""},
    CatalogueEntry{&DocumentOf<SiblingDiffusion>::document, "priority diffuse"},
    CatalogueEntry{&DocumentOf<DiffusedPriorities>::document, ""},
    CatalogueEntry{&DocumentOf<MeasuredCosts>::document, "tune choose"},
    CatalogueEntry{&DocumentOf<TuningChoice>::document, ""},
    CatalogueEntry{&DocumentOf<NaturalGradient>::document, "tune step"},
    CatalogueEntry{&DocumentOf<NaturalGradientStep>::document, ""},
    CatalogueEntry{&DocumentOf<engine::WaveProgram>::document, "run"},
    CatalogueEntry{&DocumentOf<graphs::FrontierProgram>::document, "run"},
    CatalogueEntry{&DocumentOf<RunReportDocument>::document, ""},
    CatalogueEntry{&DocumentOf<traversal::FrontierReport>::document, ""},
    CatalogueEntry{&DocumentOf<tuning::TuningReport>::document, ""},
    CatalogueEntry{&DocumentOf<device::DeviceList>::document, ""},
    CatalogueEntry{&DocumentOf<device::DeviceProfile>::document, "run --profile"},
    CatalogueEntry{&DocumentOf<CheckReport>::document, ""},
    CatalogueEntry{&DocumentOf<GraphReport>::document, ""},
    CatalogueEntry{&DocumentOf<SchemaList>::document, ""},
    CatalogueEntry{&DocumentOf<VersionReport>::document, ""},
    CatalogueEntry{&DocumentOf<Error>::document, ""},
    CatalogueEntry{&DocumentOf<StreamError>::document, ""},
};

} // namespace

void fill_catalogue() {
  set_catalogue(entries);
}

} // namespace tidegate::app
