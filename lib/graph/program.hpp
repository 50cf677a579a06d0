// A frontier program as its document gives it: a graph, an algorithm that works through it frontier by
// frontier, and where the results go. Plain data.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/generate.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/serial.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::graphs {

enum class Algorithm : std::uint8_t { bfs, reach, sssp, cc, pagerank };
inline constexpr std::array<std::string_view, 5> algorithm_names{"bfs", "reach", "sssp", "cc", "pagerank"};

using policy::SwitchRule;

enum class ProgramWeights : std::uint8_t { u32, f32 };
inline constexpr std::array<std::string_view, 2> program_weights_names{"u32", "f32"};

// Exactly one of file and generate.
struct GraphSpec {
  std::optional<std::string> file; // relative to the program
  std::optional<GeneratorSpec> generate;
  bool undirected = false;
  std::optional<ProgramWeights> weights; // of sssp; left out, as the file gives them
  bool cache = false;                    // of a file
};

// Those of its algorithm: levels and parents of bfs, reached of reach, distances of sssp, components of cc,
// ranks of pagerank.
struct FrontierOutputs {
  std::optional<std::string> levels, parents, reached, distances, components, ranks;
};

// The launch policy, and what changes topologies.
struct FrontierPolicy {
  policy::LaunchPolicy launch;
  std::optional<SwitchRule> switch_rule; // left out, the better one by the device's profile
};

// Of pagerank; left out, the values of PageRankOptions.
struct RankSettings {
  std::optional<double> damping;
  std::optional<double> tolerance;
  std::optional<std::uint32_t> max_iterations;
};

struct FrontierProgram {
  GraphSpec graph;
  Algorithm algorithm = Algorithm::bfs;
  std::vector<std::uint32_t> sources; // 1 or more of bfs and sssp, which take the nearest; 1 to 32 of reach
  FrontierOutputs outputs;
  RankSettings pagerank;
  FrontierPolicy policy;
  std::uint64_t device_memory_budget_bytes = 0; // 0: as much as the device has
};

// What a document's types do not say: one graph, the sources and outputs of the algorithm and no others,
// sound settings, and of a generated graph the sources in range. invalid_program with its place, all at once;
// of a document that is not wholly read, those of the rest.
Result<void> check_program(const FrontierProgram& program, const UnreadPlaces& unread = {});

// out_of_range with the place of each source that is no vertex.
Result<void> check_sources(const FrontierProgram& program, std::uint64_t vertices);

// The files of a program, as the paths are from here, each with its place in the document. The cache of a
// graph is none of them: it never takes the place of another file.
FileUses files_of(const FrontierProgram& program, const std::string& folder);

// How the program's graph is loaded; the transpose is the caller's choice.
LoadOptions load_options(const FrontierProgram& program);

// Loads or generates it.
Result<LoadedGraph> load_graph(const FrontierProgram& program, const std::string& folder,
                               const LoadOptions& options);

PageRankOptions page_rank_options(const FrontierProgram& program);

} // namespace tidegate::graphs
