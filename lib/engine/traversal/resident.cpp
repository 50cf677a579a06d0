#include "engine/traversal/resident.hpp"

#include "device/kernels.hpp"
#include "engine/device_memory.hpp"
#include "engine/traversal/kernel_layout.hpp"
#include "engine/traversal/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <variant>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::Rows;

template <class T>
device::Buffer upload_all(const device::Session& session, std::span<const T> values) {
  device::Buffer memory =
      engine::allocate(session, std::max<std::uint64_t>(values.size_bytes(), sizeof(std::uint64_t)));
  engine::upload(session, memory, 0, std::as_bytes(values));
  return memory;
}

// Uploads offsets of edges in 32 bits if they fit, else in 64.
device::Buffer upload_offsets(const device::Session& session, const Rows& rows) {
  if (rows.edges() > std::numeric_limits<std::uint32_t>::max()) {
    return upload_all<std::uint64_t>(session, rows.offsets);
  }
  const std::vector<std::uint32_t> narrow(rows.offsets.begin(), rows.offsets.end());
  return upload_all<std::uint32_t>(session, narrow);
}

device::Buffer upload_weights(const device::Session& session, const Rows& rows) {
  if (const auto* const whole = std::get_if<std::vector<std::uint32_t>>(&rows.weights)) {
    return upload_all<std::uint32_t>(session, *whole);
  }
  if (const auto* const floats = std::get_if<std::vector<float>>(&rows.weights)) {
    return upload_all<float>(session, *floats);
  }
  return engine::allocate(session, sizeof(std::uint64_t));
}

} // namespace

ResidentGraph make_resident(const device::Session& session, const TraversalFacts& facts,
                            std::span<const std::byte> initial) {
  const graphs::Graph& graph = facts.graph;
  const Algorithm algorithm = facts.program.algorithm;
  ResidentGraph resident{
      .parts = {}, .setting = make_setting(facts), .vertices = graphs::vertex_count(graph)};
  const auto put = [&resident](Part part, device::Buffer buffer) {
    resident.parts[static_cast<std::size_t>(part)] = std::move(buffer);
  };
  const auto room = [&](Part part, std::string_view name) {
    put(part, engine::allocate(
                  session, std::max<std::uint64_t>(part_bytes(facts.memory, name), sizeof(std::uint64_t))));
  };
  put(Part::offsets, upload_offsets(session, graph.out));
  put(Part::neighbours, upload_all<std::uint32_t>(session, graph.out.neighbours));
  put(Part::weights, upload_weights(session, graph.out));
  if (part_bytes(facts.memory, "transpose") != 0) {
    put(Part::in_offsets, upload_offsets(session, *graph.in));
    put(Part::in_neighbours, upload_all<std::uint32_t>(session, graph.in->neighbours));
    put(Part::in_weights, upload_weights(session, *graph.in));
  } else { // the same rows, or unused in a constrained layout
    put(Part::in_offsets, resident.part(Part::offsets));
    put(Part::in_neighbours, resident.part(Part::neighbours));
    put(Part::in_weights, resident.part(Part::weights));
  }
  room(Part::values, "values");
  if (initial.empty()) {
    room(Part::others, algorithm == Algorithm::pagerank ? "passed on" : "parents");
  } else {
    put(Part::others, upload_all(session, initial));
  }
  room(Part::stamps, "stamps");
  room(Part::bitmaps, "bitmaps");
  room(Part::queues, "queues");
  room(Part::far, algorithm == Algorithm::sssp ? "far queues" : "shares");
  put(Part::state, engine::allocate(session, sizeof(tg_state)));
  put(Part::sources, upload_all<std::uint32_t>(session, graphs::source_vertices(facts.program)));
  put(Part::log, engine::allocate(session, log_rows * sizeof(tg_log_row)));
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
          .pulls_in_place = pulls_in_place(program.algorithm, graph, geometry),
          .pushes_bitmaps = pushes_bitmaps(program.algorithm, graph, geometry),
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
      program.algorithm == Algorithm::sssp ? near_width_bits(facts.graph.out, facts.geometry.wide_near) : 0;
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
    resident.parts[static_cast<std::size_t>(Part::sources)] =
        upload_all<std::uint32_t>(session, graphs::source_vertices(facts.program));
  }
}

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape) {
  TraversalResults results{.values =
                               std::vector<std::uint32_t>(std::size_t{shape.vertices} * shape.value_words),
                           .wide = shape.value_words == 2,
                           .parents = std::vector<std::uint32_t>(shape.parents ? shape.vertices : 0)};
  engine::download(session, resident.part(Part::values), 0,
                   std::as_writable_bytes(std::span(results.values)));
  engine::download(session, resident.part(Part::others), 0,
                   std::as_writable_bytes(std::span(results.parents)));
  return results;
}

using device::require;

bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry) {
  constexpr std::uint64_t least_degree = 8; // on average; shorter rows are searched as fast in any order
  return geometry.hubs_first && !memory.constrained && shape.algorithm == graphs::Algorithm::bfs &&
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

std::optional<engine::BuiltKernel> build_row_change(const device::Session& session,
                                                    const device::DeviceInfo& device,
                                                    const TraversalShape& shape, const FrontierMemory& memory,
                                                    const FrontierGeometry& geometry,
                                                    const std::filesystem::path& cache_folder) {
  const bool hubs_first = hubs_come_first(shape, memory, geometry);
  if (!hubs_first && part_bytes(memory, "seats") == 0) {
    return std::nullopt;
  }
  const bool wide = shape.edges > std::numeric_limits<std::uint32_t>::max();
  return engine::build_kernel(
      session, device,
      {.source = device::kernel_source("frontier/rows.cl"),
       .options = fmt::format("-cl-std=CL1.2 -DTG_WIDE_OFFSETS={}", static_cast<int>(wide)),
       .kernel = hubs_first ? "tidegate_hubs_first" : "tidegate_name_by_seat"},
      0, cache_folder);
}

namespace {

constexpr std::size_t row_change_group = 64;

device::LaunchRange range_over(std::uint64_t items) {
  return device::work_groups((static_cast<std::size_t>(items) + row_change_group - 1) / row_change_group,
                             row_change_group);
}

void put_seats(const device::Session& session, engine::BuiltKernel& kernel, const graphs::Graph& graph,
               ResidentGraph& resident) {
  constexpr const char* doing = "naming neighbours by seats";
  device::Buffer& seats = resident.parts[static_cast<std::size_t>(Part::sources)];
  seats = upload_all<std::uint32_t>(session, seats_of(graph.out));
  const auto name = [&](Part part, const Rows& rows) {
    const auto edges = static_cast<std::uint64_t>(rows.edges());
    if (edges == 0) {
      return;
    }
    require(session.set_object(kernel.kernel, 0, resident.part(part)), doing);
    require(session.set_value(kernel.kernel, 1, edges), doing);
    require(session.set_object(kernel.kernel, 2, seats), doing);
    require(session.launch(kernel.kernel, range_over(edges), nullptr), doing);
  };
  name(Part::neighbours, graph.out);
  if (!graph.symmetric) {
    name(Part::in_neighbours, *graph.in);
  }
  tg_setting setting;
  std::memcpy(&setting, resident.setting.data(), sizeof(setting));
  setting.has_seats = 1;
  std::memcpy(resident.setting.data(), &setting, sizeof(setting));
  resident.has_seats = true;
}

} // namespace

void change_rows(const device::Session& session, engine::BuiltKernel& kernel, const graphs::Graph& graph,
                 const TraversalShape& shape, ResidentGraph& resident) {
  if (shape.has_seats) {
    put_seats(session, kernel, graph, resident);
  } else {
    put_hubs_first(session, kernel, resident);
  }
}

void put_hubs_first(const device::Session& session, engine::BuiltKernel& kernel,
                    const ResidentGraph& resident) {
  constexpr const char* doing = "putting hubs first";
  require(session.set_object(kernel.kernel, 0, resident.part(Part::in_offsets)), doing);
  require(session.set_object(kernel.kernel, 1, resident.part(Part::in_neighbours)), doing);
  require(session.set_value(kernel.kernel, 2, resident.vertices), doing);
  require(session.launch(kernel.kernel, range_over(resident.vertices), nullptr), doing);
}

} // namespace tidegate::traversal
