// A frontier program as its document describes it: a graph, an algorithm that processes it frontier by
// frontier, and output files. Plain data.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/serial.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::graphs {

enum class Algorithm : std::uint8_t { bfs, reach, sssp, cc, pagerank, own };
inline constexpr std::array<std::string_view, 6> algorithm_names{"bfs", "reach",    "sssp",
                                                                 "cc",  "pagerank", "own"};
inline constexpr std::span<const std::string_view, 5> built_in_algorithms =
    std::span(algorithm_names).first<5>();

// An algorithm of the program's own: functions in OpenCL C, and how their values are kept and merged.
enum class OwnValue : std::uint8_t { u32, i32, f32, u64 };
inline constexpr std::array<std::string_view, 4> own_value_names{"u32", "i32", "f32", "u64"};
enum class OwnMerge : std::uint8_t { min, max, bit_or, bit_and, add, source };
inline constexpr std::array<std::string_view, 6> own_merge_names{"min", "max", "or", "and", "add", "source"};

struct OwnAlgorithm {
  std::string source; // relative to the program's folder, as is `initial`
  std::string options;
  OwnValue value = OwnValue::u32;
  OwnMerge merge = OwnMerge::min;
  std::optional<std::string> initial; // .npy: a value for each vertex
};

using policy::SwitchRule;

enum class ProgramWeights : std::uint8_t { u32, f32 };
inline constexpr std::array<std::string_view, 2> program_weights_names{"u32", "f32"};

// Sources, and the vertices of a report, are counted by their places in the outputs, from 0, or as the file counts; or they
// have the file's ids, of which those that occur become vertices.
enum class VertexIds : std::uint8_t { position, file, compact };
inline constexpr std::array<std::string_view, 3> vertex_ids_names{"position", "file", "compact"};

// Exactly one of file and generate is set.
struct GraphSpec {
  std::optional<std::string> file; // relative to the program's folder
  std::optional<GeneratorSpec> generate;
  bool undirected = false;
  std::optional<ProgramWeights> weights; // for sssp: default as the file has them; for pagerank: default none
  VertexIds ids = VertexIds::position;
};

// Output files. Each belongs to one algorithm: levels and parents to bfs, reached to reach, distances to
// sssp, components to cc, ranks to pagerank, values to own; ids, the numbers of the vertices,
// to all.
struct FrontierOutputs {
  std::optional<std::string> levels, parents, reached, distances, components, ranks, values, ids;
};

// The launch policy, and the rule that switches topologies.
struct FrontierPolicy {
  policy::LaunchPolicy launch;
  std::optional<SwitchRule> switch_rule; // default: the faster rule by the device's profile
};

struct FrontierProgram {
  std::vector<std::pair<std::string, Number>> parameters; // their uses are computed when a program is decoded
  GraphSpec graph;
  Algorithm algorithm = Algorithm::bfs;
  std::optional<OwnAlgorithm> own; // set for Algorithm::own
  std::vector<std::uint64_t>
      sources; // bfs and sssp: 1 or more, the nearest counts; reach: 1 to 32; own: any number
  std::vector<std::uint32_t> rules; // source rules that the traversal comes from, below 32
  FrontierOutputs outputs;
  std::optional<PageRankOptions> pagerank;
  FrontierPolicy policy;
  std::uint64_t device_memory_budget_bytes = 0; // 0: all memory of the device
};

// Checks what the types cannot express: one graph, exactly the sources and outputs that the algorithm has,
// settings in range, and sources within a generated graph. Returns all errors at once, invalid_program with
// their places.
Result<void> check_program(const FrontierProgram& program);

// True if waves may be worked in place: a value that arrives twice or early does no harm.
bool is_monotone(const FrontierProgram& program);

// Returns the numbers that the program has for the vertices of a graph, which must outlive them.
VertexNumbers numbers_of(const FrontierProgram& program, const LoadedGraph& loaded);

// Makes positions of the sources, which were checked.
void use_positions(FrontierProgram& program, const VertexNumbers& numbers);

// Returns the sources of a program that has them by position.
std::vector<Vertex> source_vertices(const FrontierProgram& program);

// Errors: out_of_range at each source that is not a vertex.
Result<void> check_sources(const FrontierProgram& program, const VertexNumbers& numbers);

// Returns the program's files, relative to the current folder, each with its place in the document.
FileUses files_of(const FrontierProgram& program, const std::string& folder);

// Returns the load options of the program; the caller sets in_rows.
LoadOptions load_options(const FrontierProgram& program);

// Loads or generates the graph, and checks the sources against it.
Result<LoadedGraph> load_graph(const FrontierProgram& program, const std::string& folder,
                               const LoadOptions& options);

PageRankOptions page_rank_options(const FrontierProgram& program);

} // namespace tidegate::graphs
