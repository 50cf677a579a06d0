// The device memory of a traversal, before any of it is allocated: bytes of every part, and which of two
// layouts fits. The full one holds what every topology needs; the constrained one has bitmaps alone, no
// queues and no transpose.
#pragma once
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::traversal {

struct MemoryPart {
  std::string name;
  std::uint64_t bytes = 0;
};

struct FrontierMemory {
  bool constrained = false;
  std::vector<MemoryPart> parts; // of the layout that was taken
  std::uint64_t bytes = 0;       // of all of them
  std::uint64_t full_bytes = 0;  // of either layout
  std::uint64_t constrained_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::uint16_t pressure_bps = 0; // the full layout's share of the budget
  std::uint32_t queue_room = 0;   // entries of a queue
};

// What the sizes follow from.
struct TraversalShape {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0;
  bool symmetric = false; // the transpose is the graph itself
  bool weights = false;
  bool parents = false;
  graphs::Algorithm algorithm = graphs::Algorithm::bfs;
  std::uint64_t sources = 0;
};
TraversalShape shape_of(const graphs::FrontierProgram& program, const graphs::Graph& graph);

inline constexpr std::uint32_t log_rows = 16'384; // that a slice can write

// The layout for a budget (0: what the device has). Without a forced topology the full one is taken while its
// share of the budget stays below the policy's threshold. device_out_of_memory with the bytes of each part.
Result<FrontierMemory> plan_memory(const TraversalShape& shape, const policy::LaunchPolicy& policy,
                                   std::uint64_t budget_bytes, std::uint64_t device_bytes,
                                   std::optional<policy::Topology> forced);

// Bytes of one part of the layout; 0 where it has none of that name.
std::uint64_t part_bytes(const FrontierMemory& memory, std::string_view name);

// How far the bound between near and far moves on in a search for shortest ways: wide enough that a wave has
// work for the whole device, narrow enough that little of it is done twice.

// In the unit of the weights; greater than 0. Source: Davidson, Baxter, Garland and Owens, "Work-Efficient
// Parallel GPU Methods for Single-Source Shortest Paths" (2014): a warp's width times the mean weight over
// the mean degree. `wide`: for a device whose waves cost less the more there is in them. The width then
// follows the degree: what branches little needs a wide one to have work at all, and what branches much does
// most of it twice (measured on an H200 for widths of 8 to 128).
double near_width(const graphs::Rows& rows, bool wide);

// The same as the kernels take it: the bits of a float where weights are, else a whole number of at least 1.
std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide);

} // namespace tidegate::traversal
