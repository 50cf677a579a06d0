// Documents: frontier programs, the graph files that `check graph` reports, and runs of frontier programs.
#pragma once
#include "device/documents.hpp"
#include "engine/documents.hpp"
#include "traversal/report.hpp"
#include "graph/program.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/serial.hpp>

namespace tidegate::documents {

// Values of the edges in a file.
struct GraphValues {
  graphs::ValueColumn type = graphs::ValueColumn::none;
  std::optional<Number> least, greatest;
  std::uint64_t negative = 0;
};

struct GraphContents {
  graphs::FileFormat format = graphs::FileFormat::edge_list;
  std::uint64_t first_id = 0;
  bool compressed = false;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;
  bool both_directions = false;
  graphs::GraphSummary summary; // its fields are direct members of the document
  GraphValues values;
};

struct CheckedGraph {
  std::string file;
  Verdict verdict = Verdict::valid;
  std::optional<GraphContents> graph;
  std::optional<Error> error;
};

struct GraphCheck {
  std::uint64_t checked = 0;
  std::uint64_t valid = 0;
  std::uint64_t failed = 0;
  std::vector<CheckedGraph> graphs;
};

TIDEGATE_CHOICES(graphs::VertexIds, graphs::vertex_ids_names);
TIDEGATE_CHOICES(graphs::FileFormat, graphs::file_format_names);
TIDEGATE_CHOICES(graphs::ValueColumn, graphs::value_column_names);
TIDEGATE_CHOICES(graphs::Algorithm, graphs::algorithm_names);
TIDEGATE_CHOICES(graphs::ProgramWeights, graphs::program_weights_names);
TIDEGATE_CHOICES(graphs::OwnValue, graphs::own_value_names);
TIDEGATE_CHOICES(graphs::OwnMerge, graphs::own_merge_names);

TIDEGATE_HAS_DOCUMENT(graphs::FrontierProgram);
TIDEGATE_HAS_DOCUMENT(GraphCheck);

inline constexpr std::array<std::string_view, 3> weight_type_names{"none", "u32", "f32"};

TIDEGATE_CHOICES(graphs::WeightType, weight_type_names);
TIDEGATE_CHOICES(traversal::Trend, traversal::trend_names);
TIDEGATE_CHOICES(traversal::Memory, traversal::memory_names);

TIDEGATE_HAS_DOCUMENT(traversal::FrontierReport);

} // namespace tidegate::documents
