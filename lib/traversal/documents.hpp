// Documents: frontier programs and their runs.
#pragma once
#include "graph/program.hpp"
#include "runtime/documents.hpp"
#include "traversal/report.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/serial.hpp>

namespace tidegate::documents {

TIDEGATE_CHOICES(graphs::VertexIds, graphs::vertex_ids_names);
TIDEGATE_CHOICES(graphs::Algorithm, graphs::algorithm_names);
TIDEGATE_CHOICES(graphs::ProgramWeights, graphs::program_weights_names);
TIDEGATE_CHOICES(graphs::OwnValue, graphs::own_value_names);
TIDEGATE_CHOICES(graphs::OwnMerge, graphs::own_merge_names);

TIDEGATE_HAS_DOCUMENT(graphs::FrontierProgram);

inline constexpr std::array<std::string_view, 3> weight_type_names{"none", "u32", "f32"};

TIDEGATE_CHOICES(graphs::WeightType, weight_type_names);
TIDEGATE_CHOICES(traversal::Trend, traversal::trend_names);
TIDEGATE_CHOICES(traversal::Memory, traversal::memory_names);

TIDEGATE_HAS_DOCUMENT(traversal::FrontierReport);

} // namespace tidegate::documents
