// What is decided before a device is used: the strategy, the geometry, memory and kernel of a traversal.
#pragma once
#include "engine/device_memory.hpp"
#include "engine/generate.hpp"
#include "engine/run_options.hpp"
#include "ranks/ranks.hpp"
#include "traversal/own.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

namespace tidegate::traversal {

struct FrontierStrategy {
  engine::Strategy strategy = engine::Strategy::launch;
  std::string reason;
};

// A null `device` means one whose self-test passes. Without a proved ordering nothing waits inside a launch.
FrontierStrategy choose_strategy(const engine::RunOptions& options, const device::DeviceInfo* device);

// The program's choice of a switch rule overrides the profile's.
TraversalPolicy traversal_policy(const graphs::FrontierProgram& program,
                                 const device::TraversalProfile& profile, const engine::RunOptions& options);

// Warns of fields of the policy that the program states and cannot use, with the rule that switches its topologies.
std::optional<engine::Warning> idle_policy_fields(const graphs::FrontierProgram& program,
                                                  graphs::SwitchRule rule, std::string_view file = "");

// Algorithms that start from all vertices never use a lone group.
FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const engine::RunOptions& options);

// Returns how many work-groups a traversal launches if as many can be resident.
std::uint32_t wanted_groups(const device::DeviceInfo& device, const FrontierGeometry& geometry,
                            engine::Strategy strategy, const engine::RunOptions& options);

struct KernelTarget {
  std::optional<device::MemoryOrdering> ordering = {}; // of persistent launches
  std::string opencl_version = {};
  engine::DeviceClock clock = engine::DeviceClock::none; // that stamps the rows of the log
};

// `own`: the code of an algorithm of the program's own, or null.
engine::KernelSource frontier_kernel(const TraversalShape& shape, bool float_weights,
                                     const FrontierGeometry& geometry, const KernelTarget& target,
                                     const OwnCode* own = nullptr);

// The part of a graph that a rank's device holds.
struct RankPart {
  graphs::VertexCut cut;
  std::uint32_t rank = 0;
  const graphs::Rows* out = nullptr;
  const graphs::Rows* in = nullptr; // null: not needed, or the same

  [[nodiscard]] std::uint32_t first() const { return cut[rank]; }
  [[nodiscard]] std::uint32_t end() const { return cut[rank + 1]; }
  [[nodiscard]] PartShape shape() const {
    const auto edges = [this](const graphs::Rows& rows) {
      return rows.offsets[end()] - rows.offsets[first()];
    };
    return {.vertices = end() - first(), .edges = edges(*out), .in_edges = in == nullptr ? 0 : edges(*in)};
  }
};
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

// Errors: of plan_memory().
Result<TraversalPlan> plan_traversal(const AskedTraversal& asked, const graphs::FrontierProgram& program,
                                     const OwnCode* own, const engine::RunOptions& options);

} // namespace tidegate::traversal
