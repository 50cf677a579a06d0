#include "core/duration.hpp"
#include "engine/report_head.hpp"
#include "engine/traversal/execute.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

namespace tidegate::traversal {
namespace {

using engine::RunStatus;
using graphs::Algorithm;
using Clock = std::chrono::steady_clock;

// The semiring in which an algorithm multiplies the frontier with the graph's matrix.
std::string semiring_of(const graphs::FrontierProgram& program) {
  switch (program.algorithm) {
  case graphs::Algorithm::bfs: return "any_secondi";
  case graphs::Algorithm::reach: return "or_and";
  case graphs::Algorithm::sssp: return "min_plus";
  case graphs::Algorithm::cc: return "min_second";
  case graphs::Algorithm::pagerank: return "plus_times";
  case graphs::Algorithm::own:
    return fmt::format("{}_along", graphs::own_merge_names[static_cast<std::size_t>(program.own->merge)]);
  }
  return "";
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
  engine::Telemetry& telemetry = report.telemetry;
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
  const auto start = Clock::now();
  std::uint32_t rules = 0;
  for (const std::uint32_t rule : program.rules) {
    rules |= 1U << rule;
  }
  if (rules != 0 && log.sums.waves != 0) { // all vertices are reached from the sources
    report.region_lineage = {rules};
    report.lineage_items = report.items_processed;
  }
  report.lineage_ns = elapsed_ns(start);
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

// Returns the launch request of the first wave.
policy::LaunchRequest request_of(const TraversalPlan& plan) {
  const graphs::FrontierProgram& program = plan.program;
  const device::DeviceInfo* const device = plan.asked.device;
  const std::uint32_t vertices = graphs::vertex_count(plan.graph());
  const bool all_vertices = program.sources.empty();
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const policy::AdapterLimits adapter =
      device == nullptr ? policy::AdapterLimits{1024, most, 1024} : device::adapter_limits(*device);
  policy::LaunchRequest request;
  request.queue_len = all_vertices ? vertices : static_cast<std::uint32_t>(program.sources.size());
  request.max_workgroup_size_x = adapter.max_workgroup_size_x;
  request.max_compute_workgroups_per_dimension = adapter.max_compute_workgroups_per_dimension;
  request.max_compute_invocations_per_workgroup = adapter.max_compute_invocations_per_workgroup;
  request.requested_hit_capacity = 1; // traversals have no hits
  request.graph_node_count = vertices;
  request.graph_edge_count = static_cast<std::uint32_t>(std::min(graphs::edge_count(plan.graph()), most));
  request.memory_pressure_bps = plan.memory.pressure_bps;
  request.resident_device_bytes = plan.memory.bytes;
  request.device_memory_budget_bytes = plan.memory.budget_bytes;
  return request;
}

} // namespace

FrontierReport report_of_plan(const TraversalPlan& plan) {
  const graphs::FrontierProgram& program = plan.asked.program;
  const graphs::Graph& graph = plan.graph();
  const device::DeviceInfo* const device = plan.asked.device;
  FrontierReport report;
  report.load_ns = plan.asked.load_ns;
  report.strategy = plan.strategy.strategy;
  report.strategy_reason = plan.strategy.reason;
  report.algorithm = program.algorithm;
  report.source = program.own ? std::optional(program.own->source) : std::nullopt;
  report.semiring = semiring_of(program);
  report.switch_rule = plan.asked.policy.switch_rule;
  report.forced_topology = plan.asked.policy.forced;
  report.graph = {.vertices = graphs::vertex_count(graph),
                  .edges = graphs::edge_count(graph),
                  .weights = graphs::weight_type(graph.out),
                  .symmetric = graph.symmetric,
                  .ids = plan.asked.ids,
                  .first_id = plan.shape.vertices == 0 ? 0 : plan.asked.numbers.of(0)};
  const auto& facts = plan.asked.kept->loaded.facts;
  if (facts && facts->least_vertex.value_or(0) != 0) {
    report.warnings.push_back(
        {.message = fmt::format("the list of edges counts its vertices from {}; {} without edges, {}",
                                *facts->least_vertex, *facts->least_vertex == 1 ? "a vertex" : "vertices",
                                *facts->least_vertex == 1 ? "0, is part of the graph"
                                                          : fmt::format("0 to {}, are part of the graph",
                                                                        *facts->least_vertex - 1)),
         .fix = "give the graph \"ids\": \"compact\", and only vertices of edges are",
         .pointer = "/graph"});
  }
  report.memory = plan.memory;
  if (program.algorithm == Algorithm::sssp) {
    const bool wide = plan.shape.value_words == 2;
    report.distances = wide                                                        ? graphs::OwnValue::u64
                       : graphs::weight_type(graph.out) == graphs::WeightType::f32 ? graphs::OwnValue::f32
                                                                                   : graphs::OwnValue::u32;
  }
  report.telemetry.execution_mode = policy::ExecutionMode::jit;
  report.telemetry.estimated_peak_device_bytes = plan.memory.bytes;
  report.telemetry.device_memory_budget_bytes = plan.memory.budget_bytes;
  if (device != nullptr) {
    report.device = engine::device_report(*device);
  }
  if (const auto decision = policy::decide(plan.program.policy.launch, request_of(plan))) {
    report.recommendation = decision->recommendation; // for the first wave; none if it breaks the budget
  }
  return report;
}

void report_outcome(const TraversalPlan& plan, const TraversalOutcome& outcome,
                    const engine::RunOptions& options, FrontierReport& report) {
  const graphs::FrontierProgram& program = plan.program;
  engine::report_dispatch(report, outcome);
  report_waves(program, outcome, report);
  if (program.algorithm == Algorithm::pagerank && report.status == RunStatus::done) {
    note_convergence(graphs::page_rank_options(program), outcome.rank_change, report);
  }
  if (report.status != RunStatus::done) {
    const auto& stuck = report.stuck_groups;
    engine::report_ending(
        report,
        {.left = fmt::format("{} done", plural(report.summary.waves, "wave")),
         .fix = "give --max-wall-time more",
         .where = stuck.empty() ? "" : fmt::format("after wave {}", stuck.front().iteration)},
        options, outcome.waited);
  }
}

} // namespace tidegate::traversal
