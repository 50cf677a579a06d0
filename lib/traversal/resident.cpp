#include "traversal/resident.hpp"

#include "device/kernels.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::Rows;

// Memory of at least 8 bytes, with these first.
device::Buffer upload_all(const device::Session& session, std::span<const std::byte> bytes,
                          std::uint64_t room = 0) {
  device::Buffer memory =
      session.allocate(std::max<std::uint64_t>({bytes.size(), room, sizeof(std::uint64_t)}));
  session.write(memory, 0, bytes);
  return memory;
}

device::Buffer upload_sources(const device::Session& session, const graphs::FrontierProgram& program) {
  const std::vector<graphs::Vertex> sources = graphs::source_vertices(program);
  return upload_all(session, std::as_bytes(std::span(sources)));
}

// Pulls pay where a few vertices have most of the edges. Pushes are faster up to a size, measured on an H100: on small
// graphs, and on larger ones without hubs.
bool pushes_pay(Algorithm algorithm, const graphs::Graph& graph) {
  constexpr std::uint32_t quarter = 16'384; // of the device's work-items
  const std::uint32_t most = algorithm == Algorithm::sssp ? 8 * quarter
                             : has_long_rows(graph)       ? quarter
                                                          : 4 * quarter;
  const std::uint32_t vertices = graphs::vertex_count(graph);
  return vertices <= quarter || (vertices <= most && !has_hubs(graph));
}

// The same on two cores.
bool pushes_pay_on_cpu(Algorithm algorithm, const graphs::Graph& graph) {
  constexpr std::uint32_t few_vertices = 16'384;
  constexpr std::uint64_t few_edges = 65'536; // a core pushes along all of them in 0.2 ms
  return algorithm != Algorithm::reach && graphs::vertex_count(graph) <= few_vertices &&
         (!has_long_rows(graph) || graphs::edge_count(graph) <= few_edges);
}

// True if a pull may stop before it has visited all edges of a vertex, or costs little more than that. `reach` pulls along
// every edge: slower than pushes on grids and roads, faster on R-MAT graphs. So do own algorithms: there pushes are faster
// (H100, R-MAT 20: widest path 2.6 ms in place of 133 with pulls in between).
bool pull_leaves_early(Algorithm algorithm, const graphs::Graph& graph) {
  return algorithm != Algorithm::sssp && algorithm != Algorithm::own &&
         (algorithm != Algorithm::reach || has_long_rows(graph));
}

} // namespace

policy::Topology always_pushes(Algorithm algorithm, const graphs::Graph& graph,
                               const FrontierGeometry& geometry) {
  const bool from_all = algorithm == Algorithm::cc || algorithm == Algorithm::pagerank;
  const bool cpu = geometry.group_size == 1;
  if (from_all || !(cpu ? pushes_pay_on_cpu(algorithm, graph) : pushes_pay(algorithm, graph))) {
    return policy::Topology::empty;
  }
  return has_long_rows(graph) && !cpu ? policy::Topology::hybrid_frontier : policy::Topology::sparse_frontier;
}

ResidentGraph make_resident(const device::Session& session, const TraversalPlan& plan) {
  ResidentGraph resident{.parts = {}, .setting = make_setting(plan)};
  const graphs::Graph& graph = plan.graph();
  const graphs::Vertex first = plan.part ? plan.part->first() : 0;
  const graphs::Vertex end = plan.part ? plan.part->end() : resident.setting.vertices;
  const bool wide = (plan.part ? plan.part->most_edges() : graphs::edge_count(graph)) > most_narrow_edges;
  const auto put_rows = [&](const Rows& rows, Part place) {
    const std::uint64_t begin = rows.offsets[first], edges = rows.offsets[end] - begin;
    std::vector<std::uint64_t> offsets(rows.offsets.begin() + first, rows.offsets.begin() + end + 1);
    for (std::uint64_t& offset : offsets) {
      offset -= begin;
    }
    const std::vector<std::uint32_t> narrow(offsets.begin(), offsets.end());
    const auto of_edges = [&](const std::vector<std::uint32_t>& elements) {
      return std::as_bytes(std::span(elements).subspan(begin, edges));
    };
    device::Buffer* const parts = &resident.part(place);
    parts[0] =
        upload_all(session, wide ? std::as_bytes(std::span(offsets)) : std::as_bytes(std::span(narrow)));
    parts[1] = upload_all(session, of_edges(rows.neighbours));
    parts[2] =
        upload_all(session, rows.weights.empty() ? std::span<const std::byte>() : of_edges(rows.weights));
  };
  put_rows(graph.out, Part::offsets);
  if (part_bytes(plan.memory, Memory::transpose) != 0) {
    put_rows(*graph.in, Part::in_offsets);
  } else { // the same rows, or unused
    std::copy_n(&resident.part(Part::offsets), 3, &resident.part(Part::in_offsets));
  }
  for (const Part part : {Part::values, Part::others, Part::stamps, Part::bitmaps, Part::queues, Part::far}) {
    resident.part(part) =
        upload_all(session,
                   part == Part::others ? std::span<const std::byte>(plan.asked.kept->initial)
                                        : std::span<const std::byte>(),
                   part_bytes(plan.memory, part));
  }
  resident.part(Part::state) =
      session.allocate(plan.part ? TG_SLOT_WORDS * sizeof(tg_u32) : sizeof(tg_state));
  resident.part(Part::sources) = upload_sources(session, plan.program);
  if (!plan.part) {
    resident.part(Part::log) = session.allocate(log_rows * sizeof(tg_log_row));
  }
  return resident;
}

tg_setting make_setting(const TraversalPlan& plan, bool has_seats) {
  const graphs::FrontierProgram& program = plan.program;
  const graphs::Graph& graph = plan.graph();
  const policy::LaunchPolicy& launch = program.policy.launch;
  const bool reaches = program.algorithm == Algorithm::reach;
  const graphs::PageRankOptions ranks = graphs::page_rank_options(program);
  const std::uint32_t vertices = graphs::vertex_count(graph);
  const auto sources = static_cast<tg_u32>(program.sources.size());
  return {
      .policy = {.edges = graphs::edge_count(graph),
                 .vertices = vertices,
                 .switch_rule = static_cast<tg_u32>(plan.switch_rule),
                 .forced = static_cast<tg_u32>(plan.forced.value_or(policy::Topology::empty)),
                 .pressure_bps = plan.memory.pressure_bps,
                 .sparse_bps = launch.sparse_frontier_threshold_bps,
                 .dense_bps = launch.dense_frontier_threshold_bps,
                 .memory_bps = launch.memory_pressure_threshold_bps,
                 .fusion_edges = launch.fusion_edge_threshold,
                 .hot_waves = launch.hot_window_threshold,
                 .monotone = graphs::is_monotone(program),
                 .leaves_early = pull_leaves_early(program.algorithm, graph),
                 .lightest_first = program.algorithm == Algorithm::sssp &&
                                   graph.out.weight_type != graphs::WeightType::none,
                 .pulls_in_place = reaches && plan.geometry.group_size > 1 && !has_hubs(graph),
                 .pushes_bitmaps = reaches && plan.geometry.group_size == 1 && !has_long_rows(graph),
                 .always_pushes = static_cast<tg_u32>(always_pushes(program.algorithm, graph, plan.geometry)),
                 .alone_vertices = plan.geometry.alone_vertices},
      .rank_tolerance = static_cast<tg_u64>(std::min(ranks.tolerance, 4.0) * rank_units),
      .vertices = vertices,
      .words = vertices / 32 + (vertices % 32 != 0 ? 1 : 0),
      .queue_room = plan.memory.queue_room,
      .source_count = sources,
      .full_word = sources >= 32 ? ~0U : (1U << sources) - 1,
      .delta = program.algorithm == Algorithm::sssp ? near_width_bits(graph.out, plan.geometry.gpu) : 0,
      .constrained = plan.memory.constrained,
      .most_waves = ranks.max_iterations,
      .damping = std::bit_cast<tg_u32>(static_cast<float>(ranks.damping)),
      .has_seats = has_seats};
}

std::uint32_t set_graph(const device::Session& session, const device::Kernel& kernel,
                        const ResidentGraph& resident) {
  std::uint32_t index = 0;
  for (; index < static_cast<std::uint32_t>(Part::log); ++index) {
    session.set(kernel, index, resident.parts[index]);
  }
  return session.set(kernel, index, resident.setting);
}

void exchange_sources(const device::Session& session, const TraversalPlan& plan, ResidentGraph& resident) {
  resident.setting = make_setting(plan, resident.setting.has_seats != 0);
  if (resident.setting.has_seats == 0) { // in place of sources
    resident.part(Part::sources) = upload_sources(session, plan.program);
  }
}

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape) {
  TraversalResults results{.values =
                               std::vector<std::uint32_t>(std::size_t{shape.vertices} * shape.value_words),
                           .wide = shape.value_words == 2,
                           .parents = std::vector<std::uint32_t>(shape.parents ? shape.vertices : 0)};
  session.read(resident.part(Part::values), 0, std::as_writable_bytes(std::span(results.values)));
  session.read(resident.part(Part::others), 0, std::as_writable_bytes(std::span(results.parents)));
  return results;
}

bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry) {
  constexpr std::uint64_t least_degree = 8; // on average; shorter rows are searched as fast in any order
  return geometry.gpu && !memory.constrained && shape.algorithm == graphs::Algorithm::bfs &&
         shape.edges != 0 && shape.edges >= least_degree * shape.vertices;
}

std::vector<std::uint32_t> seats_of(const Rows& rows) {
  constexpr std::size_t powers = 65;
  const auto power_of = [&rows](std::uint32_t v) {
    return static_cast<std::size_t>(std::bit_width(rows.offsets[v + 1] - rows.offsets[v]));
  };
  std::array<std::uint32_t, powers + 1> next{}; // free seat of each power
  for (std::uint32_t v = 0; v < rows.vertices(); ++v) {
    ++next[power_of(v)];
  }
  std::uint32_t first = 0;
  for (std::size_t power = powers; power-- > 0;) {
    first += std::exchange(next[power], first);
  }
  std::vector<std::uint32_t> seats(rows.vertices());
  for (std::uint32_t v = 0; v < rows.vertices(); ++v) {
    seats[v] = next[power_of(v)]++;
  }
  return seats;
}

void change_rows(const device::Session& session, const TraversalPlan& plan, ResidentGraph& resident,
                 const std::filesystem::path& cache_folder) {
  const graphs::Graph& graph = plan.graph();
  const bool hubs_first = hubs_come_first(plan.shape, plan.memory, plan.geometry);
  if (!hubs_first && part_bytes(plan.memory, Memory::seats) == 0) {
    return;
  }
  const runtime::BuiltKernel kernel = runtime::build_kernel(
      session, *plan.device,
      {.source = device::kernel_source("frontier/rows.cl"),
       .options = fmt::format("-cl-std=CL1.2 -Dtg_offset={}", offset_type(plan.shape.edges)),
       .kernel = hubs_first ? "tidegate_hubs_first" : "tidegate_name_by_seat"},
      0, cache_folder);
  if (hubs_first) {
    launch_items(session, kernel.kernel, resident.setting.vertices, resident.part(Part::in_offsets),
                 resident.part(Part::in_neighbours), resident.setting.vertices);
    return;
  }
  const std::vector<std::uint32_t> seats = seats_of(graph.out);
  resident.part(Part::sources) = upload_all(session, std::as_bytes(std::span(seats)));
  for (const Part part : {Part::neighbours, Part::in_neighbours}) {
    const std::uint64_t edges = graphs::edge_count(graph);
    if (edges != 0 && (part == Part::neighbours || !graph.symmetric)) {
      launch_items(session, kernel.kernel, edges, resident.part(part), edges, resident.part(Part::sources));
    }
  }
  resident.setting.has_seats = 1;
}

} // namespace tidegate::traversal
