// Results of a traversal, which become its document. Plain data.
#pragma once
#include "graph/program.hpp"
#include "runtime/report.hpp"
#include "traversal/checks.hpp"
#include "traversal/memory.hpp"
#include "traversal/waves.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::traversal {

struct GraphReport {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0; // directed
  graphs::WeightType weights = graphs::WeightType::none;
  bool symmetric = false;
  graphs::VertexIds ids = graphs::VertexIds::position;
  std::uint64_t first_id = 0; // number of the first vertex, in the program and in this report
};

struct TopRank {
  std::uint64_t vertex = 0;
  double rank = 0;

  friend bool operator==(const TopRank&, const TopRank&) = default;
};

inline constexpr std::size_t most_top_ranks = 5;

// The numbers of a result that a reader asks for first, by algorithm. Vertices are counted as GraphReport::ids says.
struct Answer {
  std::optional<std::uint64_t> reached;  // vertices, with the sources
  std::optional<double> distance;        // the greatest of a reached vertex: a level or a sum of weights
  std::optional<std::uint64_t> farthest; // the first vertex at that distance
  std::optional<std::uint64_t> components;
  std::optional<std::uint64_t> largest; // vertices of the largest component
  std::optional<std::vector<TopRank>> top;

  friend bool operator==(const Answer&, const Answer&) = default;
};

// The check of a program's first result by a serial algorithm, without --verify.
struct FirstCheck {
  bool compared = false;
  bool equal = false;
  bool kept = false;  // for later runs
  std::string reason; // for people
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
};

struct FrontierReport : runtime::ReportHead {
  std::optional<FirstCheck> first_run;
  graphs::Algorithm algorithm = graphs::Algorithm::bfs;
  std::optional<std::string> source; // of an algorithm of the program's own
  std::string semiring;
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced_topology;
  GraphReport graph;
  std::optional<Answer> answer; // once the traversal is done
  FrontierMemory memory;
  FrontierSummary summary;
  std::uint64_t load_ns = 0; // reading or generating the graph
  std::uint64_t verify_ns = 0;
  std::optional<Verification> verification;
  std::optional<graphs::OwnValue> distances; // sssp: their type
  std::optional<double> rank_change;         // pagerank: total change by the last iteration
  std::vector<WaveRecord> waves;             // the first WaveLog::most_records
};

} // namespace tidegate::traversal
