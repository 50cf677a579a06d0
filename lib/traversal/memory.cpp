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

// A row of the table: what the memory is for, which part holds it, its bytes, and whether the layout has it.
struct Row {
  Memory name;
  Part part;
  std::uint64_t bytes;
  bool when = true;
};

enum class Layout : std::uint8_t { full, constrained, of_rank };

FrontierMemory layout_of(const TraversalShape& shape, Layout layout, const RankPart& own) {
  const std::uint64_t n = shape.vertices;
  const std::uint64_t words = (n + 31) / 32;
  const bool full = layout == Layout::full, of_rank = layout == Layout::of_rank;
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank, is_cc = shape.algorithm == Algorithm::cc;
  const std::uint32_t share = share_size(shape);
  const auto rows = [&](std::uint64_t edges) {
    return (own.vertices() + std::uint64_t{1}) * (own.most_edges() > most_narrow_edges ? 2 * word : word) +
           edges * (shape.weights ? 2 * word : word);
  };
  const std::uint64_t bitmaps = of_rank ? (is_pagerank ? 0 : is_cc ? 1 : 2) : is_pagerank ? 1 : 3;
  const std::uint64_t sent = is_pagerank ? 0
                             : is_cc     ? value_bytes(shape)
                                         : (TG_HEARD + n - own.vertices()) * sent_words(shape) * word;
  constexpr std::uint64_t trial_bytes = flaw_words * sizeof(std::uint64_t);
  constexpr std::uint64_t counter_line = TG_LINE * word;
  FrontierMemory memory{.constrained = layout == Layout::constrained};
  for (
      const Row& row : std::initializer_list<Row>{
          {Memory::graph, Part::offsets, rows(own.edges)},
          {Memory::transpose, Part::in_offsets, rows(own.in_edges.value_or(0)),
           own.in_edges && !memory.constrained},
          {Memory::values, Part::values, value_bytes(shape)},
          {Memory::initial_values, Part::others, value_bytes(shape), shape.initial_values},
          {Memory::parents, Part::others, n * word, shape.parents},
          {Memory::passed_on, Part::others, 2 * n * word, is_pagerank},
          {Memory::seats, Part::sources, n * word, full && shape.has_seats},
          {Memory::stamps, Part::stamps, (is_pagerank ? std::uint64_t{2} * own.vertices() : n) * word,
           full || is_pagerank}, // pagerank: received sums
          {Memory::bitmaps, Part::bitmaps, bitmaps * words * word},
          {Memory::queues, Part::queues, (is_pagerank ? 1 : 2) * entries(shape) * entry_bytes, full},
          {Memory::far_queues, Part::far, (2 * n + words) * word, full && shape.algorithm == Algorithm::sssp},
          {Memory::shares, Part::far,
           share == 0 ? 0 : ((own.most_edges() + own.vertices()) / share + 1) * word,
           full || (of_rank && is_pagerank && !shape.short_rows)},
          {Memory::messages, Part::queues, sent, of_rank},
          {Memory::checks, Part::count,
           value_bytes(shape) + n * word + law_trials * trial_bytes + sizeof(std::uint64_t),
           shape.algorithm == Algorithm::own && !of_rank},
          {Memory::state_and_log, Part::count,
           shape.sources * word +
               (of_rank ? TG_SLOT_WORDS * word : sizeof(tg_state) + log_rows * sizeof(tg_log_row))},
          // Each group has a line of counters, as have two common ones, and room for its report; what is empty takes 8 bytes.
          {Memory::work_groups, Part::count,
           (shape.groups + 2) * counter_line + shape.groups * runtime::group_report_words * word +
               static_cast<std::uint64_t>(Part::count) * sizeof(std::uint64_t),
           !of_rank}}) {
    if (row.when && row.bytes != 0) {
      memory.parts.push_back({row.name, row.bytes, row.part});
      memory.bytes += row.bytes;
    }
  }
  return memory;
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

bool has_row_above(const graphs::Rows& rows, std::uint64_t degree) {
  return std::ranges::adjacent_find(rows.offsets, [degree](std::uint64_t begin, std::uint64_t end) {
           return end - begin > degree;
         }) != rows.offsets.end();
}

// A work-item adds up a row as fast as a group does if none keeps the others of its warp waiting.
bool in_rows_are_short(const graphs::Graph& graph) {
  constexpr std::uint64_t short_row = 32;
  const graphs::Rows* rows = graphs::in_rows(graph);
  return rows != nullptr && !has_row_above(*rows, short_row);
}

template <class Key>
std::uint64_t bytes_of(const FrontierMemory& memory, Key MemoryPart::*key, Key wanted) {
  std::uint64_t bytes = 0;
  for (const MemoryPart& part : memory.parts) {
    bytes += part.*key == wanted ? part.bytes : 0;
  }
  return bytes;
}

double mean_weight(const graphs::Rows& rows) {
  double sum = 0;
  for (std::uint64_t e = 0; e < rows.weights.size(); ++e) {
    sum += graphs::weight_of(rows, e);
  }
  return rows.weights.empty() ? 1 : sum / static_cast<double>(rows.weights.size());
}

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

} // namespace

bool has_long_rows(const graphs::Graph& graph) {
  constexpr std::uint64_t least_degree = 8;
  return graphs::edge_count(graph) >= least_degree * graphs::vertex_count(graph);
}

bool has_hubs(const graphs::Graph& graph) {
  constexpr std::uint64_t times = 8;
  return has_row_above(graph.out,
                       times * (graphs::edge_count(graph) / std::max(1U, graphs::vertex_count(graph)) + 1));
}

TraversalShape shape_of(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  return {.vertices = graphs::vertex_count(graph),
          .edges = graphs::edge_count(graph),
          .symmetric = graph.symmetric,
          .weights = graph.out.weight_type != graphs::WeightType::none,
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
                                   std::optional<policy::Topology> forced, const RankPart* rank) {
  const RankPart all{.cut = {0, shape.vertices},
                     .edges = shape.edges,
                     .in_edges = shape.symmetric ? std::nullopt : std::optional(shape.edges)};
  FrontierMemory memory =
      layout_of(shape, rank != nullptr ? Layout::of_rank : Layout::full, rank != nullptr ? *rank : all);
  const std::uint64_t budget = budget_bytes != 0 ? budget_bytes : device_bytes;
  const std::uint64_t full = memory.bytes;
  std::uint64_t least = full;
  std::uint16_t pressure = 0;
  if (rank == nullptr) {
    FrontierMemory constrained = layout_of(shape, Layout::constrained, all);
    least = constrained.bytes;
    pressure = full >= budget
                   ? policy::full_scale_bps
                   : static_cast<std::uint16_t>(static_cast<double>(full) / static_cast<double>(budget) *
                                                policy::full_scale_bps);
    if (forced ? *forced == policy::Topology::memory_constrained
               : pressure >= policy.memory_pressure_threshold_bps) {
      memory = std::move(constrained);
    }
  }
  memory.full_bytes = full;
  memory.constrained_bytes = least;
  memory.budget_bytes = budget;
  memory.pressure_bps = pressure;
  memory.queue_room = static_cast<std::uint32_t>(std::min(entries(shape), most_narrow_edges));
  if (memory.bytes <= budget) {
    return memory;
  }
  Error error = too_large(memory);
  if (rank != nullptr) {
    error.fix = "start more ranks, or give device_memory_budget_bytes more";
  }
  return tl::unexpected(std::move(error));
}

std::uint64_t part_bytes(const FrontierMemory& memory, Memory name) {
  return bytes_of(memory, &MemoryPart::name, name);
}
std::uint64_t part_bytes(const FrontierMemory& memory, Part part) {
  return bytes_of(memory, &MemoryPart::part, part);
}

std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide) {
  const double width = near_width(rows, wide);
  if (rows.weight_type == graphs::WeightType::f32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(width));
  }
  return static_cast<std::uint32_t>(std::clamp(width, 1.0, 4e9));
}

} // namespace tidegate::traversal
