// A graph and the state of its traversal in device memory, and the source of the kernels that work on it.
#pragma once
#include "device/session.hpp"
#include "runtime/kernel_cache.hpp"
#include "traversal/checks.hpp"
#include "traversal/memory.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::traversal {

// Distribution of work within a group. On CPUs a group is one work-item: compilers produce slower code for
// more, and a thread runs one group after the other anyway.
struct FrontierGeometry {
  std::uint32_t group_size = 1;      // a power of two
  std::uint32_t groups_per_unit = 1; // that a compute unit holds at a time
  std::uint32_t alone_room = 1024;   // entries of a lone group's queue in local memory
  std::uint32_t alone_vertices = 0;  // largest frontier that one group processes
  bool gpu = false;
};

// The topology of a small graph's waves, if none of them is pulled (kernels/frontier/policy.h); empty: they may be.
policy::Topology always_pushes(graphs::Algorithm algorithm, const graphs::Graph& graph,
                               const FrontierGeometry& geometry);

inline constexpr double rank_units = 1152921504606846976.0; // 2^60, as in kernels/frontier/pagerank.cl

struct ResidentGraph {
  std::array<device::Buffer, static_cast<std::size_t>(Part::count)> parts;
  tg_setting
      setting{}; // the kernel takes it by value, because a GPU would keep all values read from memory in registers

  [[nodiscard]] const device::Buffer& part(Part which) const {
    return parts[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] device::Buffer& part(Part which) { return parts[static_cast<std::size_t>(which)]; }
};

struct TraversalPolicy {
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
};

// The facts that decide how a traversal works on its graph.
struct TraversalFacts {
  const graphs::FrontierProgram& program;
  const graphs::Graph& graph;
  const FrontierMemory& memory;
  const FrontierGeometry& geometry;
  const TraversalPolicy& policy;
  const RankPart* rank = nullptr; // of one of several ranks
};

// Returns the constants of a traversal; `has_seats` if the rows in device memory name neighbours by them.
tg_setting make_setting(const TraversalFacts& facts, bool has_seats = false);

// Allocates the layout and uploads the graph, and the first values if the program has a file of them. Throws device::Refused.
ResidentGraph make_resident(const device::Session& session, const TraversalFacts& facts,
                            std::span<const std::byte> initial = {});

// Prepares a graph in device memory for a traversal from other sources or with other settings.
// Throws device::Refused.
void exchange_sources(const device::Session& session, const TraversalFacts& facts, ResidentGraph& resident);

// Sets the arguments of TG_GRAPH_PARAMETERS (kernels/frontier/job.cl); returns the index of the next one. Throws device::Refused.
std::uint32_t set_graph(const device::Session& session, const device::Kernel& kernel,
                        const ResidentGraph& resident);

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape);

// Returns true if rows are reordered in device memory (kernels/frontier/rows.cl): if pulls stop early,
// vertices have enough neighbours, and reordering takes a fraction of the upload time.
bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry);

// Returns each vertex's seat: its place if vertices are sorted by the power of two of their degree, largest first, and
// by number within one power. Values of hubs, which most rows read, then share cache lines.
std::vector<std::uint32_t> seats_of(const graphs::Rows& rows);

// Changes the rows of an uploaded graph (kernels/frontier/rows.cl), if that pays: bfs puts hubs first, pagerank names neighbours by
// seats. Throws device::Refused.
void change_rows(const device::Session& session, const device::DeviceInfo& device,
                 const TraversalFacts& facts, const TraversalShape& shape, ResidentGraph& resident,
                 const std::filesystem::path& cache_folder);

// Launches a work-item for each of `items` with these arguments. Throws device::Refused.
template <class... Arguments>
void launch_items(const device::Session& session, const device::Kernel& kernel, std::uint64_t items,
                  const Arguments&... arguments) {
  constexpr std::string_view doing = "launching a kernel of a graph program";
  constexpr std::size_t group = 64;
  std::uint32_t index = 0;
  const auto set = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, device::Buffer>) {
      device::require(session.set_object(kernel, index++, argument), doing);
    } else {
      device::require(session.set_value(kernel, index++, argument), doing);
    }
  };
  (set(arguments), ...);
  const device::LaunchRange range =
      items == 1 ? device::work_groups(1, 1) : device::work_groups((items + group - 1) / group, group);
  device::require(session.launch(kernel, range, nullptr), doing);
}

} // namespace tidegate::traversal
