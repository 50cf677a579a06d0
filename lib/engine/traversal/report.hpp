// What a traversal tells. Plain data.
#pragma once
#include "engine/run_report.hpp"
#include "engine/traversal/checks.hpp"
#include "engine/traversal/memory.hpp"
#include "engine/traversal/replay.hpp"
#include "graph/program.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/evidence.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::traversal {

struct GraphReport {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0; // directed ones, as they are traversed
  graphs::WeightType weights = graphs::WeightType::none;
  bool symmetric = false;
};

// All waves together.
struct WaveSummary {
  std::uint64_t waves = 0;
  std::uint64_t alone_waves = 0; // worked by one work-group
  std::uint64_t topology_changes = 0;
  std::uint32_t widest_wave = 0;
  std::uint32_t widest_vertices = 0; // of its frontier
  std::uint64_t frontier_edges = 0;  // that were explored, of all frontiers
  std::uint64_t scanned_edges = 0;   // that were looked at
  double edges_per_second = 0;       // frontier_edges over the time of the traversal
};

// Times of the same traversal again and again.
struct RepeatedTimes {
  std::uint64_t rounds = 0;
  double run_ns = 0; // median
  std::vector<double> run_rounds_ns;
  std::optional<double> launches_ns; // median of a launch for each step, where the run is persistent
  std::optional<double> speedup;     // launches_ns over run_ns
  std::vector<double> launches_rounds_ns;
};

struct FrontierReport {
  engine::RunStatus status = engine::RunStatus::done;
  std::optional<Error> error;
  std::optional<engine::DeviceReport> device;
  engine::Strategy strategy = engine::Strategy::launch;
  std::string strategy_reason;
  std::optional<device::Ordering> ordering;
  graphs::Algorithm algorithm = graphs::Algorithm::bfs;
  std::string semiring;
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced_topology;
  GraphReport graph;
  FrontierMemory memory;
  WaveSummary summary;
  std::uint64_t wall_time_ns = 0; // all of it
  std::uint64_t load_ns = 0;      // reading or generating the graph
  std::uint64_t build_ns = 0;
  std::uint64_t upload_ns = 0;
  std::uint64_t traversal_ns = 0;
  std::uint64_t verify_ns = 0;
  engine::Geometry geometry;
  std::uint64_t kernel_launches = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_read_back = 0;
  bool built_from_cache = false;
  std::vector<std::uint64_t> slices_ns;
  std::optional<Replay> replay;
  std::optional<Verification> verification;
  std::optional<engine::FirstRun> first_run; // where it came to a result
  std::optional<bool>
      converged; // of pagerank: whether the last iteration changed the ranks by less than the tolerance
  std::optional<double> rank_change; // by how much it changed them, in sum
  std::optional<RepeatedTimes> comparison;
  std::vector<policy::TopologyEvidence> evidence;
  std::optional<std::string> profile_file; // that the choices rest on
  std::optional<std::string> policy_file;  // instead of the program's own
  std::vector<engine::Warning> warnings;
  std::vector<engine::WrittenFile> files_written;
  std::vector<engine::StuckGroup> stuck_groups;
  std::vector<WaveRecord> waves;
};

// The pair of operations that an algorithm multiplies the frontier and the graph's matrix with.
std::string_view semiring_of(graphs::Algorithm algorithm);

WaveSummary summarise(std::span<const WaveRecord> waves, std::uint64_t traversal_ns);

} // namespace tidegate::traversal
