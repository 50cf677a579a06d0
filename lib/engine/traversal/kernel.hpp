// The source of a traversal's kernels: the files under kernels/ of its algorithm, and what they are compiled
// for.
#pragma once
#include "engine/generate.hpp"
#include "engine/traversal/memory.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::traversal {

// How work is shared out among the work-items of a group. On CPUs a group is one work-item: what a compiler
// makes of many is slower there, and a thread runs one group after the other anyway.
struct FrontierGeometry {
  std::uint32_t group_size = 1;     // a power of two
  std::uint32_t lanes = 1;          // work-items that share an entry of a sparse queue
  std::uint32_t wide_lanes = 1;     // and of a hybrid one
  std::uint32_t word_lanes = 1;     // that share a word of a bitmap
  std::uint32_t alone_room = 1024;  // entries that a group working alone keeps in local memory
  std::uint32_t alone_vertices = 0; // a frontier up to this is worked by one group
  bool eager = false;               // a frontier of few edges asks for what it may need at once
  bool wide_near = false;           // near_far.hpp
  bool hubs_first = false;          // hubs_first.hpp
};

// The thresholds of the device's profile; without one all are left out.
device::TraversalProfile traversal_profile(const device::DeviceInfo& device);

// `group_size` and `alone_vertices` override what the device suggests.
FrontierGeometry geometry_for(const device::DeviceInfo& device, std::optional<std::uint32_t> group_size,
                              std::optional<std::uint32_t> alone_vertices);

// `ordering` is of persistent launches; others need none.
engine::KernelSource frontier_kernel(const TraversalShape& shape, bool float_weights,
                                     const FrontierGeometry& geometry,
                                     std::optional<device::Ordering> ordering,
                                     const std::string& opencl_version);

} // namespace tidegate::traversal
