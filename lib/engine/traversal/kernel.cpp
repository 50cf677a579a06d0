#include "device/kernels.hpp"
#include "engine/traversal/own.hpp"
#include "engine/traversal/run.hpp"

namespace tidegate::traversal {
device::TraversalProfile traversal_profile(const device::DeviceInfo& device) {
  return device.profile ? device.profile->traversal.value_or(device::TraversalProfile())
                        : device::TraversalProfile();
}

FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const engine::RunOptions& options) {
  const bool cpu = device.type == device::DeviceType::cpu;
  const bool all_vertices =
      program.algorithm == graphs::Algorithm::cc || program.algorithm == graphs::Algorithm::pagerank;
  const device::TraversalProfile profile = traversal_profile(device);
  // An H200 has 128 registers for each work-item of a group of 512, but 64 for 1024, and larger groups wait
  // longer at barriers.
  constexpr std::uint32_t gpu_group = 512;
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(device.max_workgroup_size, 1, 1024));
  FrontierGeometry geometry;
  geometry.group_size =
      std::bit_floor(std::clamp(options.traversal.group_size.value_or(cpu ? 1 : gpu_group), 1U, most));
  geometry.lanes = std::min(geometry.group_size, 4U);
  geometry.wide_lanes = std::min(geometry.group_size, 32U);
  geometry.word_lanes = std::min(geometry.group_size, 8U);
  // On an H200 a lone group is faster up to 256 vertices (`tidegate tune measure`: 512 was 1 % slower for
  // levels and 5 % for distances). On a CPU a lone thread is faster until a wave takes longer than a launch;
  // the number is a guess.
  constexpr std::uint32_t gpu_alone = 256;
  constexpr std::uint32_t cpu_alone = 2048;
  geometry.alone_room = cpu ? 2 * cpu_alone : 4 * gpu_alone;
  const std::uint32_t usual = profile.alone_up_to.value_or(cpu ? cpu_alone : gpu_alone);
  geometry.alone_vertices =
      all_vertices ? 0 : std::min(options.traversal.alone_vertices.value_or(usual), geometry.alone_room);
  // Waves of all vertices wait for memory, not for other groups. On an H200 a third group gains nothing.
  geometry.groups_per_unit = all_vertices && !cpu && geometry.group_size <= gpu_group ? 2 : 1;
  geometry.eager = !cpu;
  geometry.wide_near = !cpu;  // on PoCL grids take 1.4 to 1.7 times as long with three times the width
  geometry.hubs_first = !cpu; // on PoCL it takes five times the time that it saves
  return geometry;
}

namespace {

// Pulls pay where a few vertices have most of the edges. Pushes are faster up to a size, measured on an H100: on small
// graphs, and on larger ones without hubs.
bool pushes_pay(graphs::Algorithm algorithm, const graphs::Graph& graph) {
  constexpr std::uint32_t quarter = 16'384; // of the device's work-items
  const std::uint32_t most = algorithm == graphs::Algorithm::sssp ? 8 * quarter
                             : has_long_rows(graph)               ? quarter
                                                                  : 4 * quarter;
  const std::uint32_t vertices = graphs::vertex_count(graph);
  return vertices <= quarter || (vertices <= most && !has_hubs(graph));
}

// The same on two cores.
bool pushes_pay_on_cpu(graphs::Algorithm algorithm, const graphs::Graph& graph) {
  constexpr std::uint32_t few_vertices = 16'384;
  constexpr std::uint64_t few_edges = 65'536; // a core pushes along all of them in 0.2 ms
  return algorithm != graphs::Algorithm::reach && graphs::vertex_count(graph) <= few_vertices &&
         (!has_long_rows(graph) || graphs::edge_count(graph) <= few_edges);
}

} // namespace

bool pull_leaves_early(graphs::Algorithm algorithm, const graphs::Graph& graph) {
  return algorithm != graphs::Algorithm::sssp && algorithm != graphs::Algorithm::own &&
         (algorithm != graphs::Algorithm::reach || has_long_rows(graph));
}

bool pulls_in_place(graphs::Algorithm algorithm, const graphs::Graph& graph,
                    const FrontierGeometry& geometry) {
  return algorithm == graphs::Algorithm::reach && geometry.group_size > 1 && !has_hubs(graph);
}

bool pushes_bitmaps(graphs::Algorithm algorithm, const graphs::Graph& graph,
                    const FrontierGeometry& geometry) {
  return algorithm == graphs::Algorithm::reach && geometry.group_size == 1 && !has_long_rows(graph);
}

policy::Topology always_pushes(graphs::Algorithm algorithm, const graphs::Graph& graph,
                               const FrontierGeometry& geometry) {
  const bool from_all = algorithm == graphs::Algorithm::cc || algorithm == graphs::Algorithm::pagerank;
  const bool cpu = geometry.group_size == 1;
  if (from_all || !(cpu ? pushes_pay_on_cpu(algorithm, graph) : pushes_pay(algorithm, graph))) {
    return policy::Topology::empty;
  }
  return has_long_rows(graph) && !cpu ? policy::Topology::hybrid_frontier : policy::Topology::sparse_frontier;
}

engine::KernelSource frontier_kernel(const TraversalShape& shape, bool float_weights,
                                     const FrontierGeometry& geometry, const KernelTarget& target,
                                     const OwnCode* own) {
  const auto algorithm = static_cast<std::size_t>(shape.algorithm);
  constexpr std::uint32_t few_edges = 65'536; // too few to saturate the memory
  const device::MemoryOrdering used = target.ordering.value_or(device::MemoryOrdering::classic);
  const std::string_view standard = used == device::MemoryOrdering::classic         ? "CL1.2"
                                    : target.opencl_version.starts_with("OpenCL 3") ? "CL3.0"
                                                                                    : "CL2.0";
  return {.source = (own == nullptr ? "" : own->text) + device::kernel_source("frontier/traversal.cl"),
          .options = fmt::format(
              "-cl-std={} -DTG_ORDERING={} -DTG_ALGORITHM={} -DTG_GROUP_SIZE={} -DTG_LANES={} -DTG_WIDE={} "
              "-DTG_WIDTH={} -DTG_WIDE_OFFSETS={} -DTG_FLOATS={} -DTG_WEIGHTS={} -DTG_PARENTS={} "
              "-DTG_ALONE_ROOM={}u -DTG_SHORT_ROWS={} -DTG_SHARE={}u -DTG_EAGER={} -DTG_EAGER_EDGES={} "
              "-DTG_CLOCK={}",
              standard, static_cast<int>(used), algorithm, geometry.group_size, geometry.lanes,
              geometry.wide_lanes, geometry.word_lanes,
              static_cast<int>(shape.edges > std::numeric_limits<std::uint32_t>::max()),
              static_cast<int>(own == nullptr ? float_weights : own->float_weights),
              static_cast<int>(shape.weights), static_cast<int>(shape.parents), geometry.alone_room,
              static_cast<int>(shape.short_rows), share_size(shape), geometry.eager,
              geometry.eager ? few_edges : 0, static_cast<int>(target.clock)),
          .kernel = "tidegate_frontier",
          .groups_per_unit = used == device::MemoryOrdering::ptx && geometry.groups_per_unit > 1
                                 ? geometry.groups_per_unit
                                 : 0};
}

} // namespace tidegate::traversal
