// A graph and the state of its traversal in device memory.
#pragma once
#include "device/session.hpp"
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
#include <span>
#include <vector>

namespace tidegate::traversal {

inline constexpr double rank_units = 1152921504606846976.0; // 2^60, as in kernels/frontier/pagerank.cl

// Memory parameters of kernels/frontier/job.cl in their order, and the log.
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
  std::array<device::Buffer, static_cast<std::size_t>(Part::count)> parts;
  std::vector<std::byte> setting; // from make_setting()
  std::uint32_t vertices = 0;
  bool has_seats = false; // rows name neighbours by seats

  [[nodiscard]] const device::Buffer& part(Part which) const {
    return parts[static_cast<std::size_t>(which)];
  }
};

struct TraversalPolicy {
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
};

// Allocates the layout and uploads the graph, and the first values if the program has a file of them. Throws device::Refused.
ResidentGraph make_resident(const device::Session& session, const graphs::FrontierProgram& program,
                            const graphs::Graph& graph, const FrontierMemory& memory,
                            const FrontierGeometry& geometry, const TraversalPolicy& policy,
                            std::span<const std::byte> initial = {});

// Returns the constants of a traversal: tg_setting of kernels/frontier/state.h. Its kernel takes them by
// value, because a GPU would keep all values read from memory in registers. `has_seats`: see ResidentGraph.
std::vector<std::byte> make_setting(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                                    const FrontierMemory& memory, const FrontierGeometry& geometry,
                                    const TraversalPolicy& policy, bool has_seats = false);

// Prepares a graph in device memory for a traversal from other sources or with other settings.
// Throws device::Refused.
void exchange_sources(const device::Session& session, const graphs::FrontierProgram& program,
                      std::vector<std::byte> setting, ResidentGraph& resident);

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape);

// Returns true if rows are reordered in device memory (kernels/frontier/rows.cl): if pulls stop early,
// vertices have enough neighbours, and reordering takes a fraction of the upload time.
bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry);

// Returns each vertex's seat: its place if vertices are sorted by the power of two of their degree, largest first, and by number
// within one power. Values of hubs, which most rows read, then share cache lines.
std::vector<std::uint32_t> seats_of(const graphs::Rows& rows);

// Builds the kernel of kernels/frontier/rows.cl that changes rows in device memory, if a change pays: bfs puts hubs first,
// pagerank names neighbours by seats. Throws device::Refused.
std::optional<engine::BuiltKernel> build_row_change(const device::Session& session,
                                                    const device::DeviceInfo& device,
                                                    const TraversalShape& shape, const FrontierMemory& memory,
                                                    const FrontierGeometry& geometry,
                                                    const std::filesystem::path& cache_folder);

// Both change the rows of an uploaded graph with the kernel of build_row_change(). Both throw device::Refused.
void change_rows(const device::Session& session, engine::BuiltKernel& kernel, const graphs::Graph& graph,
                 const TraversalShape& shape, ResidentGraph& resident);
void put_hubs_first(const device::Session& session, engine::BuiltKernel& kernel,
                    const ResidentGraph& resident);

} // namespace tidegate::traversal
