// The source of a traversal's kernels: the files under kernels/ for its algorithm, with their definitions.
#pragma once
#include "engine/generate.hpp"
#include "engine/traversal/memory.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::traversal {

// Distribution of work within a group. On CPUs a group is one work-item: compilers produce slower code for
// more, and a thread runs one group after the other anyway.
struct FrontierGeometry {
  std::uint32_t group_size = 1;      // a power of two
  std::uint32_t lanes = 1;           // work-items that share an entry of a sparse queue
  std::uint32_t wide_lanes = 1;      // work-items that share an entry of a hybrid queue
  std::uint32_t word_lanes = 1;      // work-items that share a word of a bitmap
  std::uint32_t groups_per_unit = 1; // that a compute unit holds at a time
  std::uint32_t alone_room = 1024;   // entries of a lone group's queue in local memory
  std::uint32_t alone_vertices = 0;  // largest frontier that one group processes
  bool eager = false;                // a frontier of few edges prefetches at once
  bool wide_near = false;            // near_width() in memory.hpp
  bool hubs_first = false;           // hubs_come_first() in resident.hpp
};

struct OwnCode;

// Returns the settings of the device's profile; all are unset without one.
device::TraversalProfile traversal_profile(const device::DeviceInfo& device);

// `group_size` and `alone_vertices` override the device's defaults.
FrontierGeometry geometry_for(const device::DeviceInfo& device, std::optional<std::uint32_t> group_size,
                              std::optional<std::uint32_t> alone_vertices);

// True if a pull may stop before it has visited all edges of a vertex, or costs little more than that. `reach` pulls along
// every edge: slower than pushes on grids and roads, faster on R-MAT graphs. So do own algorithms: there pushes are faster
// (H100, R-MAT 20: widest path 2.6 ms in place of 133 with pulls in between).
bool pull_leaves_early(graphs::Algorithm algorithm, const graphs::Graph& graph);

// True if waves of many edges pull in place, several sweeps in one.
bool pulls_in_place(graphs::Algorithm algorithm, const graphs::Graph& graph,
                    const FrontierGeometry& geometry);

// True if wide frontiers are pushed from bitmaps, in the order of their vertices.
bool pushes_bitmaps(graphs::Algorithm algorithm, const graphs::Graph& graph,
                    const FrontierGeometry& geometry);

// The topology of a small graph's waves, if none of them is pulled (kernels/frontier/policy.h); empty: they may be.
policy::Topology always_pushes(graphs::Algorithm algorithm, const graphs::Graph& graph,
                               const FrontierGeometry& geometry);

// `ordering` is required for persistent launches only. `clock`: that stamps the rows of the log. `own`: the code of an algorithm of
// the program's own, or null.
engine::KernelSource
frontier_kernel(const TraversalShape& shape, bool float_weights, const FrontierGeometry& geometry,
                std::optional<device::MemoryOrdering> ordering, const std::string& opencl_version,
                engine::DeviceClock clock = engine::DeviceClock::none, const OwnCode* own = nullptr);

} // namespace tidegate::traversal
