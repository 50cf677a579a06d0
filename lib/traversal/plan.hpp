// Decisions before a device is used: the strategy, the geometry, memory and kernel of a traversal.
#pragma once
#include "ranks/ranks.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/memory.hpp"
#include "runtime/run.hpp"
#include "traversal/own.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

namespace tidegate::traversal {

struct FrontierReport;

struct RunOptions : runtime::Options {
  RunOptions() = default;
  explicit RunOptions(const runtime::Options& common) : runtime::Options(common) {}

  std::optional<device::Strategy> strategy; // empty: chosen by the device's profile
  std::optional<std::uint32_t> workers;     // work-groups; empty: chosen
  bool timed = false;                       // each wave, by the device's clock
  bool dry_run = false;
  std::optional<policy::Topology> force_topology;
  std::optional<std::uint32_t> group_size;     // work-items of a work-group
  std::optional<std::uint32_t> alone_vertices; // largest frontier that one group processes alone
  std::filesystem::path checked; // exists once a run of the program was correct; empty: not stored
  // Called with the known facts if the device does not respond; ends the process.
  std::function<void(const FrontierReport&)> abandon;
};

struct FrontierStrategy {
  device::Strategy strategy = device::Strategy::launch;
  std::string reason;
};

// Algorithms that start from all vertices never use a lone group.
FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const RunOptions& options);

// A graph, on the host and on the device, with what was built for it. In a stream it stays for the next traversal.
struct KeptGraph final : runtime::Holding {
  std::string key;
  graphs::LoadedGraph loaded;
  std::optional<ResidentGraph> resident;
  runtime::KernelSource source;   // that `kernel` was built from
  std::vector<std::byte> initial; // first values of the vertices, if the program has a file of them
  std::optional<runtime::BuiltKernel> kernel;
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
  std::optional<OwnCode> own;      // if it brings its algorithm
  graphs::VertexNumbers numbers;
  std::string folder;
  std::shared_ptr<KeptGraph> kept;
  std::uint64_t load_ns = 0;
};

// Checks the program, its files and its algorithm, all but the graph. A null `device` is one that can run it.
Result<std::optional<OwnCode>> check_asked(const graphs::FrontierProgram& program, const std::string& folder,
                                           const device::DeviceInfo* device, const RunOptions& options);

// Loads the graph of a checked program, unless an earlier traversal of the stream has left it.
Result<AskedTraversal> load_asked(const graphs::FrontierProgram& program, const std::string& folder,
                                  std::optional<OwnCode> own, const RunOptions& options);

// All that is decided before the device is used.
struct TraversalPlan {
  const AskedTraversal& asked;
  const graphs::FrontierProgram& program;     // that runs: the user's, or one that gives the same results
  const OwnCode* own = nullptr;               // of that program, if it brings its algorithm
  const device::DeviceInfo* device = nullptr; // null: none, of a run that is only planned
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced; // topology
  TraversalShape shape;
  std::optional<RankPart> part; // of one of several ranks
  FrontierMemory memory;
  FrontierStrategy strategy;
  std::optional<device::MemoryOrdering> ordering; // persistent launches only
  FrontierGeometry geometry;
  runtime::DeviceClock clock = runtime::DeviceClock::none; // that the kernel reads
  runtime::KernelSource source;

  [[nodiscard]] const graphs::Graph& graph() const { return asked.kept->loaded.graph; }
};

// A null `device` means one whose self-test passes. Errors: of plan_memory().
Result<TraversalPlan> plan_traversal(const AskedTraversal& asked, const graphs::FrontierProgram& program,
                                     const OwnCode* own, const device::DeviceInfo* device,
                                     const RunOptions& options);

} // namespace tidegate::traversal
