#include "traversal/run.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using runtime::RunStatus;

// The semiring in which an algorithm multiplies the frontier with the graph's matrix.
std::string semiring_of(const graphs::FrontierProgram& program) {
  constexpr std::array<std::string_view, 5> built_in{"any_secondi", "or_and", "min_plus", "min_second",
                                                     "plus_times"};
  return program.own
             ? fmt::format("{}_along", graphs::own_merge_names[static_cast<std::size_t>(program.own->merge)])
             : std::string(built_in.at(static_cast<std::size_t>(program.algorithm)));
}

// Counts what the waves did, of a run that may be under way.
void report_waves(const graphs::FrontierProgram& program, const TraversalOutcome& outcome,
                  FrontierReport& report) {
  const WaveLog& log = outcome.waves;
  const WaveRecord& densest = log.densest;
  const std::uint64_t lanes = log.group_size * log.workers;
  constexpr std::uint64_t fills_when_saturated = 4; // how often the vertices fill all lanes
  report.waves = log.records;
  report.summary = log.sums;
  report.summary.edges_per_second =
      report.dispatch_ns == 0
          ? 0
          : static_cast<double>(log.sums.frontier_edges) * 1e9 / static_cast<double>(report.dispatch_ns);
  runtime::Telemetry& telemetry = report.telemetry;
  telemetry.frontier_density_bps = densest.density_bps;
  telemetry.topology = densest.topology;
  telemetry.pressure = densest.vertices == 0                              ? policy::QueuePressure::empty
                       : densest.vertices >= lanes * fills_when_saturated ? policy::QueuePressure::saturated
                       : densest.vertices >= lanes                        ? policy::QueuePressure::balanced
                                                                          : policy::QueuePressure::light;
  telemetry.occupancy_proxy_bps =
      log.work_items == 0 ? 0 : policy::full_scale_bps * log.vertices / log.work_items;
  report.items_processed = log.vertices;
  report.items_remaining = outcome.vertices_left;
  report.published_items = report.items_processed + report.items_remaining;
  std::uint32_t rules = 0;
  for (const std::uint32_t rule : program.rules) {
    rules |= 1U << rule;
  }
  if (rules != 0 && log.sums.waves != 0) { // all vertices are reached from the sources
    report.region_lineage = {rules};
    report.lineage_items = report.items_processed;
  }
}

void note_convergence(const graphs::PageRankOptions& options, double change, FrontierReport& report) {
  report.rank_change = change;
  report.converged = change < options.tolerance;
  if (!*report.converged) {
    report.warnings.push_back(
        {.message = fmt::format("the ranks have not converged after {}: the last changed them by {:.3g} "
                                "in sum, and the tolerance is {:.3g}",
                                plural(report.summary.waves, "iteration"), change, options.tolerance),
         .fix = "raise max_iterations, or the tolerance: ranks have 24 bits",
         .pointer = "/pagerank"});
  }
}

// Bits of distances that are not negative have the order of the distances, also those of floats. The loop has no branch
// on a value: no processor predicts whether a vertex is reached.
template <class Value>
void find_farthest(const std::vector<Value>& values, Value unreached, bool floats, Answer& answer) {
  Value most = 0; // the greatest value, plus 1
  std::uint64_t count = 0;
  for (const Value value : values) {
    const bool reached = value != unreached;
    count += reached ? 1 : 0;
    most = std::max(most, reached ? value + 1 : Value{0});
  }
  answer.reached = count;
  if (most != 0) {
    answer.farthest = static_cast<std::uint64_t>(std::ranges::find(values, most - 1) - values.begin());
    answer.distance = floats ? double{std::bit_cast<float>(static_cast<std::uint32_t>(most - 1))}
                             : static_cast<double>(most - 1);
  }
}

void count_components(const std::vector<std::uint32_t>& labels, Answer& answer) {
  std::vector<std::uint32_t> sizes(labels.size());
  for (const std::uint32_t label : labels) {
    if (label < sizes.size()) { // a wrong result is for the checks
      ++sizes[label];
    }
  }
  answer.components = sizes.size() - static_cast<std::uint64_t>(std::ranges::count(sizes, 0U));
  answer.largest = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

std::vector<TopRank> top_ranks(const std::vector<float>& ranks) {
  std::vector<std::uint32_t> vertices(ranks.size());
  std::iota(vertices.begin(), vertices.end(), 0U);
  const auto end = vertices.begin() + static_cast<std::ptrdiff_t>(std::min(most_top_ranks, ranks.size()));
  std::partial_sort(vertices.begin(), end, vertices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranks[a] != ranks[b] ? ranks[a] > ranks[b] : a < b;
  });
  std::vector<TopRank> top;
  for (auto vertex = vertices.begin(); vertex != end; ++vertex) {
    top.push_back({.vertex = *vertex, .rank = ranks[*vertex]});
  }
  return top;
}

} // namespace

Answer answer_of(const TraversalPlan& plan, const TraversalResults& results) {
  const bool floats = plan.graph().out.weight_type == graphs::WeightType::f32;
  const graphs::VertexNumbers& numbers = plan.asked.numbers;
  Answer answer;
  switch (plan.asked.program.algorithm) {
  case Algorithm::bfs: find_farthest(results.values, graphs::unreached, false, answer); break;
  case Algorithm::sssp:
    if (results.wide) {
      find_farthest(wide_of(results), graphs::far_away, false, answer);
    } else {
      find_farthest(results.values, floats ? std::bit_cast<std::uint32_t>(INFINITY) : graphs::unreached,
                    floats, answer);
    }
    break;
  case Algorithm::reach:
    answer.reached =
        results.values.size() - static_cast<std::uint64_t>(std::ranges::count(results.values, 0U));
    break;
  case Algorithm::cc: count_components(results.values, answer); break;
  case Algorithm::pagerank: answer.top = top_ranks(floats_of(results.values)); break;
  case Algorithm::own: break; // its checks count
  }
  if (answer.farthest) {
    answer.farthest = numbers.of(*answer.farthest);
  }
  for (TopRank& rank : answer.top ? std::span(*answer.top) : std::span<TopRank>()) {
    rank.vertex = numbers.of(rank.vertex);
  }
  return answer;
}

FrontierReport report_of_plan(const TraversalPlan& plan) {
  const graphs::FrontierProgram& program = plan.asked.program;
  const graphs::Graph& graph = plan.graph();
  const device::DeviceInfo* const device = plan.device;
  FrontierReport report;
  report.load_ns = plan.asked.load_ns;
  report.strategy = plan.strategy.strategy;
  report.strategy_reason = plan.strategy.reason;
  report.algorithm = program.algorithm;
  report.source = program.own ? std::optional(program.own->source) : std::nullopt;
  report.semiring = semiring_of(program);
  report.switch_rule = plan.switch_rule;
  report.forced_topology = plan.forced;
  report.graph = {.vertices = graphs::vertex_count(graph),
                  .edges = graphs::edge_count(graph),
                  .weights = graph.out.weight_type,
                  .symmetric = graph.symmetric,
                  .ids = program.graph.ids,
                  .first_id = plan.shape.vertices == 0 ? 0 : plan.asked.numbers.of(0)};
  const auto& facts = plan.asked.kept->loaded.facts;
  if (facts && facts->least_vertex.value_or(0) != 0) {
    report.warnings.push_back(
        {.message = fmt::format("the list of edges counts its vertices from {}; {} without edges, {}",
                                *facts->least_vertex, *facts->least_vertex == 1 ? "a vertex" : "vertices",
                                *facts->least_vertex == 1 ? "0, is part of the graph"
                                                          : fmt::format("0 to {}, are part of the graph",
                                                                        *facts->least_vertex - 1)),
         .fix = R"(give the graph of a program "ids": "compact", and only vertices of edges are)",
         .pointer = "/graph"});
  }
  report.memory = plan.memory;
  if (program.algorithm == Algorithm::sssp) {
    const bool wide = plan.shape.value_words == 2;
    report.distances = wide                                               ? graphs::OwnValue::u64
                       : graph.out.weight_type == graphs::WeightType::f32 ? graphs::OwnValue::f32
                                                                          : graphs::OwnValue::u32;
  }
  report.telemetry.execution_mode = policy::ExecutionMode::jit;
  report.telemetry.estimated_peak_device_bytes = plan.memory.bytes;
  report.telemetry.device_memory_budget_bytes = plan.memory.budget_bytes;
  if (device != nullptr) {
    report.device = runtime::DeviceReport{device->name, device->driver_version};
  }
  return report;
}

void report_outcome(const TraversalPlan& plan, const TraversalOutcome& outcome, const RunOptions& options,
                    FrontierReport& report) {
  const graphs::FrontierProgram& program = plan.program;
  runtime::report_dispatch(report, outcome);
  report_waves(program, outcome, report);
  if (program.algorithm == Algorithm::pagerank && report.status == RunStatus::done) {
    note_convergence(graphs::page_rank_options(program), outcome.rank_change, report);
  }
  if (report.status != RunStatus::done) {
    const auto& stuck = report.stuck_groups;
    runtime::report_ending(
        report,
        {.left = fmt::format("{} done", plural(report.summary.waves, "wave")),
         .fix = "give --max-wall-time more",
         .where = stuck.empty() ? "" : fmt::format("after wave {}", stuck.front().iteration)},
        options, outcome.waited);
  }
}

} // namespace tidegate::traversal
