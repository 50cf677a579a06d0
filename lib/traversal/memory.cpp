#include "traversal/memory.hpp"

#include "common/counters.h"
#include "runtime/slices.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;

constexpr std::uint64_t word = sizeof(std::uint32_t);
constexpr std::uint64_t entry_bytes = 16;

// Entries of a queue, as in kernels/frontier/state.h.
std::uint64_t entries(const TraversalShape& shape) {
  return shape.vertices + shape.edges / TG_CHUNK;
}

std::uint64_t bytes_of_rows(const TraversalShape& shape, std::uint64_t vertices, std::uint64_t edges,
                            bool wide) {
  return (vertices + 1) * (wide ? 2 * word : word) + edges * (shape.weights ? 2 * word : word);
}

// A row of the table: what the memory is for, its bytes, and whether the layout has it.
struct Row {
  Memory name;
  std::uint64_t bytes;
  bool when = true;
};

FrontierMemory& add(FrontierMemory& memory, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    if (row.when && row.bytes != 0) {
      memory.parts.push_back({row.name, row.bytes});
      memory.bytes += row.bytes;
    }
  }
  return memory;
}

FrontierMemory layout_of(const TraversalShape& shape, bool constrained) {
  const std::uint64_t n = shape.vertices;
  const std::uint64_t words = (n + 31) / 32;
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank;
  const bool full = !constrained;
  const std::uint32_t share = share_size(shape);
  const std::uint64_t rows =
      bytes_of_rows(shape, n, shape.edges, shape.edges > std::numeric_limits<std::uint32_t>::max());
  constexpr std::uint64_t trial_bytes = 9 * sizeof(std::uint64_t); // a value that occurs, and a report
  constexpr std::uint64_t counter_line = TG_LINE * word;
  FrontierMemory memory{.constrained = constrained};
  return add(
      memory,
      {{Memory::graph, rows},
       {Memory::transpose, rows, full && !shape.symmetric},
       {Memory::values, value_bytes(shape)},
       {Memory::initial_values, value_bytes(shape), shape.initial_values},
       {Memory::parents, n * word, shape.parents},
       {Memory::passed_on, 2 * n * word, is_pagerank},
       {Memory::seats, n * word, full && shape.has_seats},
       {Memory::stamps, (is_pagerank ? 2 : 1) * n * word, full || is_pagerank}, // pagerank: received sums
       {Memory::bitmaps, (is_pagerank ? 1 : 3) * words * word},
       {Memory::queues, (is_pagerank ? 1 : 2) * entries(shape) * entry_bytes, full},
       {Memory::far_queues, (2 * n + words) * word, full && shape.algorithm == Algorithm::sssp},
       {Memory::shares, share == 0 ? 0 : ((shape.edges + n) / share + 1) * word, full},
       {Memory::checks, value_bytes(shape) + n * word + law_trials * trial_bytes + sizeof(std::uint64_t),
        shape.algorithm == Algorithm::own},
       {Memory::state_and_log, sizeof(tg_state) + shape.sources * word + log_rows * sizeof(tg_log_row)},
       // Each group has a line of counters, as have two common ones, and room for its report; what is empty takes 8 bytes.
       {Memory::work_groups, (shape.groups + 2) * counter_line +
                                 shape.groups * runtime::group_report_words * word +
                                 static_cast<std::uint64_t>(Part::count) * sizeof(std::uint64_t)}});
}

Error too_large(const FrontierMemory& memory) {
  std::string list;
  for (const MemoryPart& part : memory.parts) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        memory_names.at(static_cast<std::size_t>(part.name)), bytes_text(part.bytes));
  }
  Error error{
      .code = ErrorCode::device_out_of_memory,
      .message = fmt::format("the traversal takes {} of device memory, and the budget is {}: {}",
                             bytes_text(memory.bytes), bytes_text(memory.budget_bytes), list),
      .fix = memory.constrained
                 ? "give device_memory_budget_bytes more, or a smaller graph: this is the smallest layout"
                 : fmt::format("give device_memory_budget_bytes more; memory_constrained takes {}",
                               bytes_text(memory.constrained_bytes)),
      .pointer = "/device_memory_budget_bytes"};
  error.requested = memory.bytes;
  error.available = memory.budget_bytes;
  return error;
}

// A work-item adds up a row as fast as a group does if none keeps the others of its warp waiting.
bool in_rows_are_short(const graphs::Graph& graph) {
  constexpr std::uint64_t short_row = 32;
  const graphs::Rows* rows = graphs::in_rows(graph);
  return rows != nullptr &&
         std::ranges::adjacent_find(rows->offsets, [](std::uint64_t begin, std::uint64_t end) {
           return end - begin > short_row;
         }) == rows->offsets.end();
}

} // namespace

bool has_long_rows(const graphs::Graph& graph) {
  constexpr std::uint64_t least_degree = 8;
  return graphs::edge_count(graph) >= least_degree * graphs::vertex_count(graph);
}

bool has_hubs(const graphs::Graph& graph) {
  constexpr std::uint64_t times = 8;
  const std::uint64_t mean = graphs::edge_count(graph) / std::max(1U, graphs::vertex_count(graph)) + 1;
  const auto& offsets = graph.out.offsets;
  return std::ranges::adjacent_find(offsets, [=](std::uint64_t begin, std::uint64_t end) {
           return end - begin > times * mean;
         }) != offsets.end();
}

TraversalShape shape_of(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  return {.vertices = graphs::vertex_count(graph),
          .edges = graphs::edge_count(graph),
          .symmetric = graph.symmetric,
          .weights = graphs::weight_type(graph.out) != graphs::WeightType::none,
          .parents = program.algorithm == Algorithm::bfs && program.outputs.parents.has_value(),
          .short_rows = program.algorithm == Algorithm::pagerank && in_rows_are_short(graph),
          .has_seats = program.algorithm == Algorithm::pagerank && has_long_rows(graph) && has_hubs(graph),
          .algorithm = program.algorithm,
          .sources = program.sources.size(),
          .value_words = program.own && program.own->value == graphs::OwnValue::u64 ? 2U : 1U,
          .initial_values = program.own && program.own->initial};
}

std::uint32_t share_size(const TraversalShape& shape) {
  // On an H200 barriers take much of a small share's time; what ranks pass on wants the local memory as a cache where
  // it is large (us an iteration with shares of 2048, 4096 and 6144: 292, 228 and 209 on R-MAT 20, 1159, 863 and 919 on
  // R-MAT 22).
  constexpr std::uint32_t many_vertices = 1U << 21U;
  switch (shape.algorithm) {
  case Algorithm::reach: return 8192;
  case Algorithm::pagerank: return shape.vertices > many_vertices ? 4096 : 6144;
  default: return 0;
  }
}

Result<FrontierMemory> plan_memory(const TraversalShape& shape, const policy::LaunchPolicy& policy,
                                   std::uint64_t budget_bytes, std::uint64_t device_bytes,
                                   std::optional<policy::Topology> forced) {
  const FrontierMemory full = layout_of(shape, false), constrained = layout_of(shape, true);
  const std::uint64_t budget = budget_bytes != 0 ? budget_bytes : device_bytes;
  const std::uint16_t pressure =
      full.bytes >= budget ? policy::full_scale_bps
                           : static_cast<std::uint16_t>(static_cast<double>(full.bytes) /
                                                        static_cast<double>(budget) * policy::full_scale_bps);
  const bool saves = forced ? *forced == policy::Topology::memory_constrained
                            : pressure >= policy.memory_pressure_threshold_bps;
  FrontierMemory memory = saves ? constrained : full;
  memory.full_bytes = full.bytes;
  memory.constrained_bytes = constrained.bytes;
  memory.budget_bytes = budget;
  memory.pressure_bps = pressure;
  memory.queue_room = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(entries(shape), std::numeric_limits<std::uint32_t>::max()));
  return memory.bytes <= budget ? Result<FrontierMemory>(std::move(memory))
                                : tl::unexpected(too_large(memory));
}

std::uint64_t rank_room(RankPlace place, const TraversalShape& shape, const PartShape& part) {
  const bool is_cc = shape.algorithm == Algorithm::cc;
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank;
  const bool pushes = !is_pagerank && !is_cc;
  const std::uint64_t n = shape.vertices;
  const std::uint64_t bitmap = (n + 31) / 32 * word;
  const std::uint64_t message = rank_message_words(shape) * word;
  switch (place) {
  case RankPlace::values: return value_bytes(shape);
  case RankPlace::others: return is_pagerank ? 2 * n * word : shape.parents ? n * word : 0;
  case RankPlace::frontier: return pushes ? bitmap : 0;
  case RankPlace::next: // pagerank: the row in which each share begins
    return !is_pagerank       ? bitmap
           : shape.short_rows ? 0
                              : ((part.most_edges() + part.vertices) / share_size(shape) + 1) * word;
  case RankPlace::heard: // pagerank: what a row has received
    return pushes ? rank_heard_vertices * message : is_cc ? value_bytes(shape) : 2 * part.vertices * word;
  case RankPlace::counters: return TG_SLOT_WORDS * word + (pushes ? (n - part.vertices) * message : 0);
  default: return 0;
  }
}

Result<FrontierMemory> plan_rank_memory(const TraversalShape& shape, const PartShape& part,
                                        std::uint64_t budget_bytes, std::uint64_t device_bytes) {
  const auto room = [&](RankPlace place) { return rank_room(place, shape, part); };
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank;
  FrontierMemory memory{.budget_bytes = budget_bytes != 0 ? budget_bytes : device_bytes};
  add(memory, {{Memory::graph, bytes_of_rows(shape, part.vertices, part.edges, part.wide_offsets())},
               {Memory::transpose, bytes_of_rows(shape, part.vertices, part.in_edges, part.wide_offsets()),
                part.in_edges != 0},
               {Memory::values, room(RankPlace::values)},
               {Memory::initial_values, value_bytes(shape), shape.initial_values},
               {Memory::parents, room(RankPlace::others), shape.parents},
               {Memory::passed_on, room(RankPlace::others), is_pagerank},
               {Memory::stamps, room(RankPlace::heard), is_pagerank},
               {Memory::bitmaps, room(RankPlace::frontier) + room(RankPlace::next), !is_pagerank},
               {Memory::shares, room(RankPlace::next), is_pagerank},
               {Memory::messages, room(RankPlace::heard) + room(RankPlace::counters) - TG_SLOT_WORDS * word,
                !is_pagerank},
               {Memory::state_and_log, TG_SLOT_WORDS * word + shape.sources * word}});
  memory.full_bytes = memory.constrained_bytes = memory.bytes;
  if (memory.bytes > memory.budget_bytes) {
    Error error = too_large(memory);
    error.fix = "start more ranks, or give device_memory_budget_bytes more";
    return tl::unexpected(std::move(error));
  }
  return memory;
}

std::uint64_t part_bytes(const FrontierMemory& memory, Memory name) {
  const auto found = std::ranges::find(memory.parts, name, &MemoryPart::name);
  return found == memory.parts.end() ? 0 : found->bytes;
}

namespace {

double mean_weight(const graphs::Rows& rows) {
  double sum = 0;
  std::visit(
      [&sum](const auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          for (const auto weight : weights) {
            sum += static_cast<double>(weight);
          }
        }
      },
      rows.weights);
  return rows.edges() == 0 || rows.weights.index() == 0 ? 1 : sum / static_cast<double>(rows.edges());
}

} // namespace

double near_width(const graphs::Rows& rows, bool wide) {
  constexpr double warp = 32;
  constexpr double wide_warp = 3072; // at degree 1
  constexpr double least_warp = 24;
  constexpr std::uint32_t many_vertices = 1U << 23U; // their waves have work for all groups
  const double most_warp = rows.vertices() < many_vertices ? 192 : 96;
  const double degree = std::max(1.0, static_cast<double>(rows.edges()) / std::max(1U, rows.vertices()));
  const double width = wide ? std::clamp(wide_warp / (degree * degree), least_warp, most_warp) : warp;
  const double weight = mean_weight(rows);
  return std::max(width * weight / degree, 1e-30);
}

std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide) {
  const double width = near_width(rows, wide);
  if (graphs::weight_type(rows) == graphs::WeightType::f32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(width));
  }
  return static_cast<std::uint32_t>(std::clamp(width, 1.0, 4e9));
}

} // namespace tidegate::traversal
