// A graph and everything that its traversal needs, in device memory; not installed with the others.
#pragma once
#include "device/opencl.hpp"
#include "engine/kernel_cache.hpp"
#include "engine/traversal/checks.hpp"
#include "engine/traversal/kernel.hpp"
#include "engine/traversal/memory.hpp"
#include "graph/program.hpp"
#include <tidegate/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tidegate::traversal {

inline constexpr double rank_units = 1152921504606846976.0; // of 1: 2^60, as in frontier_pagerank.cl

// The memory that kernels/frontier/job.cl names, in the order of its parameters, and the log.
enum class Part : std::uint8_t {
  offsets,
  neighbours,
  weights,
  in_offsets,
  in_neighbours,
  in_weights,
  values,
  others,
  stamps,
  bitmaps,
  queues,
  far,
  state,
  sources,
  log,
  count
};

struct ResidentGraph {
  std::array<cl::Buffer, static_cast<std::size_t>(Part::count)> parts;
  std::vector<std::byte> setting; // as make_setting has it
  std::uint32_t vertices = 0;
  std::uint64_t uploaded_bytes = 0;

  [[nodiscard]] const cl::Buffer& part(Part which) const { return parts[static_cast<std::size_t>(which)]; }
};

struct TraversalPolicy {
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
};

// Allocates the layout and uploads the graph. Throws device::Refused.
ResidentGraph make_resident(const device::Session& session, const graphs::FrontierProgram& program,
                            const graphs::Graph& graph, const FrontierMemory& memory,
                            const FrontierGeometry& geometry, const TraversalPolicy& policy);

// What does not change while a traversal runs: tg_setting of frontier_state.h, which its kernel takes by
// value. From memory a GPU would hold all of it in registers.
std::vector<std::byte> make_setting(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                                    const FrontierMemory& memory, const FrontierGeometry& geometry,
                                    const TraversalPolicy& policy);

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape);

// Rows that vertices pull along, with hubs in front: kernels/frontier/rows.cl; not installed with the others.

// Whether rows are put in order once they are in device memory: where vertices leave a pull early, have
// neighbours to choose from, and the device does it in a fraction of the time that their upload takes.
bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry);

// Throws device::Refused, both of them.
engine::BuiltKernel build_hubs_first(const device::Session& session, const device::DeviceInfo& device,
                                     const TraversalShape& shape, const std::filesystem::path& cache_folder);
void put_hubs_first(const device::Session& session, engine::BuiltKernel& kernel,
                    const ResidentGraph& resident);

} // namespace tidegate::traversal
