#include "engine/traversal/memory.hpp"

#include "common/counters.h"
#include "engine/slices.hpp"
#include "engine/traversal/kernel_layout.hpp"
#include "engine/traversal/resident.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;

constexpr std::uint64_t word = sizeof(std::uint32_t);
constexpr std::uint64_t entry_bytes = 16;

// Entries of a queue, as in kernels/frontier/state.h.
std::uint64_t entries(const TraversalShape& shape) {
  return shape.vertices + shape.edges / TG_CHUNK;
}

std::vector<MemoryPart> parts_of(const TraversalShape& shape, bool constrained) {
  const std::uint64_t n = shape.vertices;
  const std::uint64_t words = (n + 31) / 32;
  const std::uint64_t offset = shape.edges > std::numeric_limits<std::uint32_t>::max() ? 2 * word : word;
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank;
  const std::uint64_t rows = (n + 1) * offset + shape.edges * (shape.weights ? 2 * word : word);
  std::vector<MemoryPart> parts{{"graph", rows}};
  const auto add = [&parts](std::string name, std::uint64_t bytes) {
    if (bytes != 0) {
      parts.push_back({std::move(name), bytes});
    }
  };
  add("transpose", constrained || shape.symmetric ? 0 : rows);
  add("values", value_bytes(shape));
  add("initial values", shape.initial_values ? value_bytes(shape) : 0);
  add("parents", shape.parents ? n * word : 0);
  add("passed on", is_pagerank ? 2 * n * word : 0);
  add("seats", shape.has_seats && !constrained ? n * word : 0);
  add("stamps", is_pagerank ? 2 * n * word : constrained ? 0 : n * word); // pagerank: received sums
  add("bitmaps", (is_pagerank ? 1 : 3) * words * word);
  add("queues", constrained ? 0 : (is_pagerank ? 1 : 2) * entries(shape) * entry_bytes);
  add("far queues", constrained || shape.algorithm != Algorithm::sssp ? 0 : (2 * n + words) * word);
  const std::uint32_t share = share_size(shape);
  add("shares", constrained || share == 0 ? 0 : ((shape.edges + n) / share + 1) * word);
  constexpr std::uint64_t trial_bytes = 9 * sizeof(std::uint64_t); // a value that occurs, and a report
  add("checks", shape.algorithm == Algorithm::own
                    ? value_bytes(shape) + n * word + law_trials * trial_bytes + sizeof(std::uint64_t)
                    : 0);
  add("state and log", sizeof(tg_state) + shape.sources * word + log_rows * sizeof(tg_log_row));
  // Each group has a line of counters, as have two common ones, and room for its report; what is empty takes 8 bytes.
  constexpr std::uint64_t counter_line = TG_LINE * word;
  add("work-groups", (shape.groups + 2) * counter_line + shape.groups * engine::group_report_words * word +
                         static_cast<std::uint64_t>(Part::count) * sizeof(std::uint64_t));
  return parts;
}

std::uint64_t sum(const std::vector<MemoryPart>& parts) {
  std::uint64_t bytes = 0;
  for (const MemoryPart& part : parts) {
    bytes += part.bytes;
  }
  return bytes;
}

Error too_large(const FrontierMemory& memory) {
  std::string list;
  for (const MemoryPart& part : memory.parts) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", part.name, bytes_text(part.bytes));
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
  FrontierMemory memory{.budget_bytes = budget_bytes != 0 ? budget_bytes : device_bytes,
                        .queue_room = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                            entries(shape), std::numeric_limits<std::uint32_t>::max()))};
  auto full = parts_of(shape, false);
  auto constrained = parts_of(shape, true);
  memory.full_bytes = sum(full);
  memory.constrained_bytes = sum(constrained);
  memory.pressure_bps =
      memory.full_bytes >= memory.budget_bytes
          ? policy::full_scale_bps
          : static_cast<std::uint16_t>(static_cast<double>(memory.full_bytes) /
                                       static_cast<double>(memory.budget_bytes) * policy::full_scale_bps);
  memory.constrained = forced ? *forced == policy::Topology::memory_constrained
                              : memory.pressure_bps >= policy.memory_pressure_threshold_bps;
  memory.parts = std::move(memory.constrained ? constrained : full);
  memory.bytes = memory.constrained ? memory.constrained_bytes : memory.full_bytes;
  if (memory.bytes > memory.budget_bytes) {
    return tl::unexpected(too_large(memory));
  }
  return memory;
}

Result<FrontierMemory> plan_rank_memory(const TraversalShape& shape, const PartShape& part,
                                        std::uint64_t budget_bytes, std::uint64_t device_bytes) {
  const bool is_pagerank = shape.algorithm == Algorithm::pagerank;
  const bool pushes = !is_pagerank && shape.algorithm != Algorithm::cc;
  const std::uint64_t n = shape.vertices;
  const std::uint64_t words = (n + 31) / 32;
  const std::uint64_t offset =
      std::max(part.edges, part.in_edges) > std::numeric_limits<std::uint32_t>::max() ? 2 * word : word;
  const auto rows = [&](std::uint64_t edges) {
    return (part.vertices + 1) * offset + edges * (shape.weights ? 2 * word : word);
  };
  FrontierMemory memory{.budget_bytes = budget_bytes != 0 ? budget_bytes : device_bytes};
  memory.parts = {
      {"graph", rows(part.edges)},
      {"transpose", part.in_edges == 0 ? 0 : rows(part.in_edges)},
      {"values", value_bytes(shape)},
      {"initial values", shape.initial_values ? value_bytes(shape) : 0},
      {"parents", shape.parents ? n * word : 0},
      {"passed on", is_pagerank ? 2 * n * word : 0},
      {"bitmaps", pushes ? (shape.algorithm == Algorithm::bfs ? 3 : 2) * words * word : 0},
      {"messages", is_pagerank ? 0
                   : pushes    ? (n - part.vertices + rank_heard_vertices) * rank_message_words(shape) * word
                               : value_bytes(shape)},
      {"state and log", TG_SUMS * word + shape.sources * word}};
  std::erase_if(memory.parts, [](const MemoryPart& one) { return one.bytes == 0; });
  memory.bytes = memory.full_bytes = memory.constrained_bytes = sum(memory.parts);
  if (memory.bytes > memory.budget_bytes) {
    Error error = too_large(memory);
    error.fix = "start more ranks, or give device_memory_budget_bytes more";
    return tl::unexpected(std::move(error));
  }
  return memory;
}

std::uint64_t part_bytes(const FrontierMemory& memory, std::string_view name) {
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
