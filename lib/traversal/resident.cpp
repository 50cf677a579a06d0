#include "traversal/resident.hpp"

#include "device/kernels.hpp"
#include "runtime/memory.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::Rows;

// Memory of at least 8 bytes, with these first.
device::Buffer upload_all(const device::Session& session, std::span<const std::byte> bytes,
                          std::uint64_t room = 0) {
  device::Buffer memory =
      runtime::allocate(session, std::max<std::uint64_t>({bytes.size(), room, sizeof(std::uint64_t)}));
  runtime::upload(session, memory, 0, bytes);
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

std::array<device::Buffer, 3> upload_rows(const device::Session& session, const Rows& rows,
                                          graphs::Vertex first, graphs::Vertex end, bool wide) {
  const std::uint64_t begin = rows.offsets[first], edges = rows.offsets[end] - begin;
  std::vector<std::uint64_t> offsets(rows.offsets.begin() + first, rows.offsets.begin() + end + 1);
  for (std::uint64_t& offset : offsets) {
    offset -= begin;
  }
  const std::vector<std::uint32_t> narrow(offsets.begin(), offsets.end());
  const auto of_edges = [&](const auto& elements) {
    return std::as_bytes(std::span(elements).subspan(begin, edges));
  };
  const auto* const integers = std::get_if<std::vector<std::uint32_t>>(&rows.weights);
  const auto* const floats = std::get_if<std::vector<float>>(&rows.weights);
  return {upload_all(session, wide ? std::as_bytes(std::span(offsets)) : std::as_bytes(std::span(narrow))),
          upload_all(session, of_edges(rows.neighbours)),
          upload_all(session, integers != nullptr ? of_edges(*integers)
                              : floats != nullptr ? of_edges(*floats)
                                                  : std::span<const std::byte>())};
}

ResidentGraph make_resident(const device::Session& session, const TraversalFacts& facts,
                            std::span<const std::byte> initial) {
  ResidentGraph resident{
      .parts = {}, .setting = make_setting(facts), .vertices = graphs::vertex_count(facts.graph)};
  const auto put_rows = [&](const Rows& rows, Part first) {
    std::ranges::copy(upload_rows(session, rows, 0, rows.vertices(),
                                  rows.edges() > std::numeric_limits<std::uint32_t>::max()),
                      &resident.part(first));
  };
  put_rows(facts.graph.out, Part::offsets);
  if (part_bytes(facts.memory, Memory::transpose) != 0) {
    put_rows(*facts.graph.in, Part::in_offsets);
  } else { // the same rows, or unused in a constrained layout
    std::copy_n(&resident.part(Part::offsets), 3, &resident.part(Part::in_offsets));
  }
  const auto room = [&](Part part, std::initializer_list<Memory> uses,
                        std::span<const std::byte> first = {}) {
    std::uint64_t bytes = 0;
    for (const Memory use : uses) {
      bytes += part_bytes(facts.memory, use);
    }
    resident.part(part) = upload_all(session, first, bytes);
  };
  room(Part::values, {Memory::values});
  room(Part::others, {Memory::parents, Memory::passed_on}, initial);
  room(Part::stamps, {Memory::stamps});
  room(Part::bitmaps, {Memory::bitmaps});
  room(Part::queues, {Memory::queues});
  room(Part::far, {Memory::far_queues, Memory::shares});
  resident.part(Part::state) = runtime::allocate(session, sizeof(tg_state));
  resident.part(Part::sources) = upload_sources(session, facts.program);
  resident.part(Part::log) = runtime::allocate(session, log_rows * sizeof(tg_log_row));
  return resident;
}

ChoicePolicy choice_policy(const TraversalFacts& facts) {
  const auto& [program, graph, memory, geometry, policy] = facts;
  return {.launch = program.policy.launch,
          .switch_rule = policy.switch_rule,
          .forced = policy.forced,
          .pressure_bps = memory.pressure_bps,
          .edges = graphs::edge_count(graph),
          .vertices = graphs::vertex_count(graph),
          .monotone = graphs::is_monotone(program),
          .leaves_early = pull_leaves_early(program.algorithm, graph),
          .lightest_first = program.algorithm == Algorithm::sssp &&
                            graphs::weight_type(graph.out) != graphs::WeightType::none,
          .pulls_in_place =
              program.algorithm == Algorithm::reach && geometry.group_size > 1 && !has_hubs(graph),
          .pushes_bitmaps =
              program.algorithm == Algorithm::reach && geometry.group_size == 1 && !has_long_rows(graph),
          .always_pushes = always_pushes(program.algorithm, graph, geometry),
          .alone_vertices = geometry.alone_vertices};
}

std::vector<std::byte> make_setting(const TraversalFacts& facts, bool has_seats) {
  const graphs::FrontierProgram& program = facts.program;
  const graphs::PageRankOptions ranks = graphs::page_rank_options(program);
  tg_setting setting{};
  setting.policy = layout_of(choice_policy(facts));
  setting.rank_tolerance = static_cast<tg_u64>(std::min(ranks.tolerance, 4.0) * rank_units);
  setting.vertices = graphs::vertex_count(facts.graph);
  setting.words = setting.vertices / 32 + (setting.vertices % 32 != 0 ? 1 : 0);
  setting.queue_room = facts.memory.queue_room;
  setting.source_count = static_cast<tg_u32>(program.sources.size());
  setting.full_word = program.sources.size() >= 32 ? ~0U : (1U << program.sources.size()) - 1;
  setting.delta =
      program.algorithm == Algorithm::sssp ? near_width_bits(facts.graph.out, facts.geometry.gpu) : 0;
  setting.constrained = facts.memory.constrained ? 1 : 0;
  setting.most_waves = ranks.max_iterations;
  setting.damping = std::bit_cast<tg_u32>(static_cast<float>(ranks.damping));
  setting.has_seats = has_seats ? 1 : 0;
  const auto bytes = std::as_bytes(std::span(&setting, 1));
  return {bytes.begin(), bytes.end()};
}

void exchange_sources(const device::Session& session, const TraversalFacts& facts, ResidentGraph& resident) {
  resident.setting = make_setting(facts, resident.has_seats);
  if (!resident.has_seats) { // in place of sources
    resident.part(Part::sources) = upload_sources(session, facts.program);
  }
}

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape) {
  TraversalResults results{.values =
                               std::vector<std::uint32_t>(std::size_t{shape.vertices} * shape.value_words),
                           .wide = shape.value_words == 2,
                           .parents = std::vector<std::uint32_t>(shape.parents ? shape.vertices : 0)};
  runtime::download(session, resident.part(Part::values), 0,
                    std::as_writable_bytes(std::span(results.values)));
  runtime::download(session, resident.part(Part::others), 0,
                    std::as_writable_bytes(std::span(results.parents)));
  return results;
}

using device::require;

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

void change_rows(const device::Session& session, const device::DeviceInfo& device,
                 const TraversalFacts& facts, const TraversalShape& shape, ResidentGraph& resident,
                 const std::filesystem::path& cache_folder) {
  const graphs::Graph& graph = facts.graph;
  const bool hubs_first = hubs_come_first(shape, facts.memory, facts.geometry);
  if (!hubs_first && part_bytes(facts.memory, Memory::seats) == 0) {
    return;
  }
  const bool wide = shape.edges > std::numeric_limits<std::uint32_t>::max();
  const runtime::BuiltKernel kernel = runtime::build_kernel(
      session, device,
      {.source = device::kernel_source("frontier/rows.cl"),
       .options = fmt::format("-cl-std=CL1.2 -DTG_WIDE_OFFSETS={}", static_cast<int>(wide)),
       .kernel = hubs_first ? "tidegate_hubs_first" : "tidegate_name_by_seat"},
      0, cache_folder);
  constexpr std::size_t group = 64;
  constexpr const char* doing = "changing the order of rows";
  const auto launch = [&](std::uint64_t items) {
    require(session.launch(kernel.kernel, device::work_groups((items + group - 1) / group, group), nullptr),
            doing);
  };
  if (hubs_first) {
    require(session.set_object(kernel.kernel, 0, resident.part(Part::in_offsets)), doing);
    require(session.set_object(kernel.kernel, 1, resident.part(Part::in_neighbours)), doing);
    require(session.set_value(kernel.kernel, 2, resident.vertices), doing);
    launch(resident.vertices);
    return;
  }
  const std::vector<std::uint32_t> seats = seats_of(graph.out);
  resident.part(Part::sources) = upload_all(session, std::as_bytes(std::span(seats)));
  for (const Part part : {Part::neighbours, Part::in_neighbours}) {
    const std::uint64_t edges = graphs::edge_count(graph);
    if (edges != 0 && (part == Part::neighbours || !graph.symmetric)) {
      require(session.set_object(kernel.kernel, 0, resident.part(part)), doing);
      require(session.set_value(kernel.kernel, 1, edges), doing);
      require(session.set_object(kernel.kernel, 2, resident.part(Part::sources)), doing);
      launch(edges);
    }
  }
  tg_setting setting;
  std::memcpy(&setting, resident.setting.data(), sizeof(setting));
  setting.has_seats = 1;
  std::memcpy(resident.setting.data(), &setting, sizeof(setting));
  resident.has_seats = true;
}

} // namespace tidegate::traversal
