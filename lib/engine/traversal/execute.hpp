// A traversal on its device: the graph that it works on, what is decided before it runs, and its passes.
#pragma once
#include "device/monitor.hpp"
#include "engine/device_memory.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/own.hpp"
#include "engine/traversal/rank_run.hpp"
#include "engine/traversal/report.hpp"
#include "engine/traversal/run.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

namespace tidegate::traversal {

// A graph, on the host and on the device, with what was built for it. In a stream it stays for the next traversal.
struct KeptGraph final : engine::Holding {
  std::string key;
  graphs::LoadedGraph loaded;
  std::optional<ResidentGraph> resident;
  engine::KernelSource source;    // that `kernel` was built from
  std::vector<std::byte> initial; // first values of the vertices, if the program has a file of them
  std::optional<engine::BuiltKernel> kernel;
  bool checked = false;                      // a result of this graph was checked and right
  std::optional<device::Program> own_checks; // set once the algorithm has kept its laws

  void forget_device() {
    resident.reset();
    kernel.reset();
    own_checks.reset();
    bytes = 0;
  }
};

// The run that the user asked for, with its graph.
struct AskedTraversal {
  graphs::FrontierProgram program; // with sources by position
  graphs::VertexIds ids;           // as they were stated
  graphs::VertexNumbers numbers;
  std::string folder;
  std::shared_ptr<KeptGraph> kept;
  const device::DeviceInfo* device = nullptr; // null: none, of a run that is only planned
  TraversalPolicy policy;
  std::uint64_t load_ns = 0;
};

// All that is decided before the device is used.
struct TraversalPlan {
  const AskedTraversal& asked;
  const graphs::FrontierProgram& program; // that runs: the user's, or one that gives the same results
  const OwnCode* own = nullptr;           // of that program, if it brings its algorithm
  TraversalShape shape;
  std::optional<RankPart> part; // of several ranks
  FrontierMemory memory;
  FrontierStrategy strategy;
  std::optional<device::MemoryOrdering> ordering; // persistent launches only
  FrontierGeometry geometry;
  engine::DeviceClock clock = engine::DeviceClock::none; // that the kernel reads
  engine::KernelSource source;

  [[nodiscard]] const graphs::Graph& graph() const { return asked.kept->loaded.graph; }
  [[nodiscard]] TraversalFacts facts() const { return {program, graph(), memory, geometry, asked.policy}; }
};

// Returns what a rank knows of its run without the other ranks.
inline engine::RankReport rank_report(const TraversalPlan& plan, std::uint64_t dispatch_ns) {
  return {.host = {},
          .device = plan.asked.device->name,
          .dispatch_ns = dispatch_ns,
          .edges = plan.part->shape().edges,
          .device_bytes = plan.memory.bytes};
}

// A traversal under way.
struct TraversalRun {
  const TraversalPlan& plan;
  const engine::RunOptions& options;
  engine::Monitor& monitor;
  FrontierReport& report;
  std::shared_ptr<device::Session> session{};
  engine::Residency groups{};
  std::optional<engine::BuiltKernel> row_change{}; // of rows that are not on the device yet
  device::CallCounts calls_before{};               // of the session
};

// Builds, uploads, traverses, verifies, writes, and reports it. On several ranks all do so together. A run that ends
// without outputs (deadline, interrupt, hang, wrong result) is no error. Throws device::Refused.
Result<void> execute(const TraversalPlan& plan, const engine::RunOptions& options, engine::Monitor& monitor,
                     FrontierReport& report);

// Decides whether to check this run's result as a first run's: yes if `compared` and not `kept`.
engine::FirstRun plan_first_check(const TraversalPlan& plan, const engine::RunOptions& options,
                                  std::uint64_t waves);

// Passes the result of a program's own algorithm along all edges once more, on the device: a part of every run.
void check_fix_point(TraversalRun& run, OwnChecks& own, const std::vector<std::uint32_t>& values);

// Checks the result as the program's first run or --verify wants it, of an algorithm of the user's own after its fix point. Returns
// true if its outputs may be written.
bool check_result(TraversalRun& run, const TraversalResults& results, std::optional<OwnChecks>& own);

// Returns the answer of results that begin with the vertex `first`.
Answer answer_of(const TraversalPlan& plan, const TraversalResults& results, std::uint32_t first);

// Returns the report of a traversal that has not begun.
FrontierReport report_of_plan(const TraversalPlan& plan);

// Adds what was dispatched and what the waves did, of a run that may be under way, and why it did not come to its end.
void report_outcome(const TraversalPlan& plan, const TraversalOutcome& outcome,
                    const engine::RunOptions& options, FrontierReport& report);

} // namespace tidegate::traversal
