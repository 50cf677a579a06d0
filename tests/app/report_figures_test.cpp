// Figures of run reports that follow from others: a sound report of each kind, and one figure of it at a time changed.
#include "app/check.hpp"
#include <tidegate/policy/launch_policy.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tidegate;

namespace {

template <class Report>
struct Tampered {
  std::string told; // pointer and message of an error that check reports
  void (*change)(Report& report);
};

// Returns "pointer: message" of every error.
template <class Report>
std::vector<std::string> judged(const Report& report) {
  std::vector<std::string> told;
  if (const auto sound = app::judge(report, "-"); !sound) {
    Error first = sound.error();
    std::vector<Error> all = documents::take_others(first).value_or(std::vector<Error>());
    all.insert(all.begin(), first);
    for (const Error& error : all) {
      told.push_back(fmt::format("{}: {}", error.pointer.value_or(""), error.message));
    }
  }
  return told;
}

template <class Report>
void check_all(const Report& sound, const std::vector<Tampered<Report>>& table) {
  CHECK(judged(sound) == std::vector<std::string>());
  for (const Tampered<Report>& tampered : table) {
    Report changed = sound;
    tampered.change(changed);
    const std::vector<std::string> told = judged(changed);
    CAPTURE(tampered.told);
    CAPTURE(fmt::format("{}", fmt::join(told, "\n")));
    CHECK(std::ranges::find(told, tampered.told) != told.end());
  }
}

policy::LaunchRequest request_of(std::uint32_t queue_len, std::uint32_t nodes) {
  policy::LaunchRequest request;
  request.queue_len = queue_len;
  request.max_workgroup_size_x = 8;
  request.max_compute_workgroups_per_dimension = 1024;
  request.max_compute_invocations_per_workgroup = 8;
  request.requested_hit_capacity = 1;
  request.graph_node_count = nodes;
  request.resident_device_bytes = 48;
  request.device_memory_budget_bytes = 1000;
  return request;
}

void set_recommendation(engine::ReportHead& report, const policy::LaunchRecommendation& recommendation) {
  report.recommended_geometry = {.workgroup_size = recommendation.geometry.workgroup_size_x,
                                 .worker_groups = recommendation.worker_groups};
}

// What every run that is done reports.
void set_done(engine::ReportHead& report) {
  report.device = engine::DeviceReport{};
  report.geometry_reason = "as large as they can be; 2 of 2";
  report.slices_ns = {0, 0};
  report.telemetry.kernel_launches = 2;
  report.telemetry.sync_points = 5;
  report.telemetry.readback_buffers = 1;
  report.telemetry.resident_allocations = 3;
}

// A wave of 30 work-items, 3 times, in a persistent launch that is compared with plain launches.
documents::RunReportDocument sound_run(std::uint32_t tiles = 9) {
  documents::RunReportDocument document;
  engine::RunReport& report = document.report;
  set_done(report);
  report.strategy = engine::Strategy::barrier;
  report.ordering = device::MemoryOrdering::classic;
  report.iterations = 3;
  report.published_items = 30;
  report.items_processed = report.items_in_all = report.lineage_items = 90;
  report.lineage_iterations = 1;
  report.region_lineage = {2};
  report.output_parity = engine::OutputParity{.checked = 1, .equal = true};
  report.files_written = {{.file = "none.raw", .what = "buffer \"x\"", .bytes = 16}};
  report.tiles_processed = tiles;
  report.geometry = {.workgroup_size = 5, .worker_groups = 2};
  report.memory = {
      .arena_bytes = 16,
      .image_bytes = 32,
      .sum_bytes = 16,
      .lower_bound_bytes = 16,
      .optimal = true,
      .offsets = {{.buffer = "x",
                   .alive = planning::ArenaBuffer{.lower = 0, .upper = 1, .size = 16, .alignment = 16}}}};
  document.plan.barriers.groups = {{.waves = {0}}};
  document.plan.plan.max_group_width = 1;
  document.plan.plan.lower_bound_groups = 1;
  document.plan.plan.optimal = true;
  const policy::LaunchPolicy policy;
  const auto decision = policy::decide(policy, request_of(tiles, 3));
  REQUIRE(decision);
  report.recommendation = decision->recommendation;
  set_recommendation(report, report.recommendation);
  report.mode = report.recommendation.execution_mode;
  document.evidence = {.topology = policy::topology_evidence(decision->effective, report.recommendation),
                       .promotion =
                           policy::promotion_evidence(policy, decision->effective, report.recommendation),
                       .complete = {.topology = true, .promotion = true}};
  engine::Telemetry& telemetry = report.telemetry;
  telemetry.bytes_read_back = telemetry.bytes_moved = 16;
  telemetry.occupancy_proxy_bps = 9000; // in 10 turns of 10 lanes
  telemetry.frontier_density_bps = 10'000;
  telemetry.topology = report.recommendation.topology;
  telemetry.pressure = report.recommendation.pressure;
  telemetry.hit_capacity = 1;
  telemetry.estimated_peak_device_bytes = report.recommendation.estimated_peak_device_bytes;
  telemetry.device_memory_budget_bytes = 1000;
  return document;
}

// A queue of 4 items whose ops publish 6 more.
documents::RunReportDocument sound_queue() {
  documents::RunReportDocument document = sound_run(4);
  engine::RunReport& report = document.report;
  report.iterations = 1;
  report.telemetry.occupancy_proxy_bps = 6000; // with two requeues, in 2 turns
  report.published_items = report.items_processed = report.items_in_all = report.lineage_items = 10;
  report.tiles_processed = 10;
  report.queues = {{.items = 5,
                    .deduped_items = 1,
                    .published_items = 4,
                    .items_processed = 10,
                    .requeues = true,
                    .rounds = 7,
                    .requeue_count = 2,
                    .max_priority_age = 3,
                    .publishing = engine::PublishingReport{.given_items = 4,
                                                           .published_items = 6,
                                                           .executed_items = 10,
                                                           .capacity = 8,
                                                           .needed_capacity = 5}}};
  report.deduped_items = 1;
  report.priority = policy::drain_recommendation({.requeue_count = 2, .max_priority_age = 3});
  return document;
}

// A breadth-first search along a path of three vertices, launch by launch.
traversal::FrontierReport sound_traversal() {
  using policy::Topology;
  traversal::FrontierReport report;
  set_done(report);
  report.telemetry.kernel_launches = 3;
  report.telemetry.bytes_read_back = report.telemetry.bytes_moved = 12;
  report.semiring = "any_secondi";
  report.graph = {.vertices = 3, .edges = 2};
  report.memory = {.parts = {{"graph", 24}, {"transpose", 24}},
                   .bytes = 48,
                   .full_bytes = 48,
                   .constrained_bytes = 24,
                   .budget_bytes = 1000,
                   .pressure_bps = 480};
  report.geometry = {.workgroup_size = 1, .worker_groups = 2};
  report.waves.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    report.waves[i] = {
        .wave = i,
        .topology = Topology::sparse_frontier,
        .previous_topology = i == 0 ? Topology::empty : Topology::sparse_frontier,
        .vertices = 1,
        .density_bps = 3333,
        .frontier_edges = i < 2 ? 1U : 0U,
        .previous_edges = i == 0 ? 0U : 1U,
        .unexplored_edges = 2 - i,
        .scanned_edges = i < 2 ? 1U : 0U,
        .trend =
            std::array{traversal::Trend::growing, traversal::Trend::steady, traversal::Trend::shrinking}.at(
                i)};
  }
  report.summary = {.waves = 3, .widest_vertices = 1, .frontier_edges = 2, .scanned_edges = 2};
  report.items_processed = report.published_items = 3;
  report.answer = {.reached = 3, .distance = 2, .farthest = 2};
  report.first_run = engine::FirstRun{.compared = true, .equal = true, .runs = 1};
  report.verification = traversal::Verification{
      .checks = {"levels_by_serial"}, .right = true, .error = {}, .allowed_change = {}};
  report.recommendation = policy::decide({}, request_of(1, 3))->recommendation;
  set_recommendation(report, *report.recommendation);
  engine::Telemetry& telemetry = report.telemetry;
  telemetry.occupancy_proxy_bps = 5000;
  telemetry.frontier_density_bps = 3333;
  telemetry.topology = Topology::sparse_frontier;
  telemetry.pressure = policy::QueuePressure::light;
  telemetry.execution_mode = policy::ExecutionMode::jit;
  telemetry.estimated_peak_device_bytes = 48;
  telemetry.device_memory_budget_bytes = 1000;
  return report;
}

} // namespace

TEST_CASE("a run report with one figure changed") {
  using Run = documents::RunReportDocument;
  check_all<Run>(
      sound_run(),
      {{"/device: the report has no device", [](Run& run) { run.report.device.reset(); }},
       {"/ordering: the report has no ordering of its persistent launch",
        [](Run& run) { run.report.ordering.reset(); }},
       {"/geometry_reason: the report has no geometry_reason",
        [](Run& run) { run.report.geometry_reason.reset(); }},
       {"/ordering: the strategy has no persistent launch",
        [](Run& run) { run.report.strategy = engine::Strategy::launch; }},
       {"/items_processed: items_processed is 90, and 30 items, each once or in all of 8 iterations, cannot be as many",
        [](Run& run) { run.report.iterations = 8; }},
       {"/items_processed: items_processed is 90, and 31 items, each once or in all of 3 iterations, cannot be as many",
        [](Run& run) { run.report.published_items = 31; }},
       {"/items_in_all: items_in_all is 91, and an iteration has 30 items",
        [](Run& run) {
          run.report.items_in_all = 91;
          run.report.converged = true;
          run.report.until = engine::UntilReport{.reached = true};
        }},
       {"/output_parity: the report has no output_parity, though the run was compared with plain launches",
        [](Run& run) {
          run.report.output_parity.reset();
          run.report.stress = engine::StressReport{};
        }},
       {"/output_parity/checked: outputs that were written is 1, and checked only 0",
        [](Run& run) { run.report.output_parity->checked = 0; }},
       {"/files_written: checked is 1, and outputs written or expected are only 0",
        [](Run& run) { run.report.files_written.clear(); }},
       {"/telemetry/readback_buffers: outputs that were written is 1, and readback_buffers only 0",
        [](Run& run) { run.report.telemetry.readback_buffers = 0; }},
       {"/telemetry/occupancy_proxy_bps: occupancy_proxy_bps is 65535, and the whole is only 10000",
        [](Run& run) { run.report.telemetry.occupancy_proxy_bps = 65'535; }},
       {"/telemetry/kernel_launches: kernel_launches is 999999, and slices: 2",
        [](Run& run) { run.report.telemetry.kernel_launches = 999'999; }},
       {"/telemetry/kernel_launches: kernel_launches is 4, and 1 wave, 3 iterations and 0 rounds cannot need as many",
        [](Run& run) {
          run.report.strategy = engine::Strategy::launch;
          run.report.telemetry.kernel_launches = 4;
        }},
       {"/telemetry/sync_points: number of slices is 2, and sync_points only 1",
        [](Run& run) { run.report.telemetry.sync_points = 1; }},
       {"/telemetry/resident_allocations: items were processed without any memory on the device",
        [](Run& run) { run.report.telemetry.resident_allocations = 0; }},
       {"/lineage_items: lineage_items is 0, and all waves have rules, with items 90",
        [](Run& run) { run.report.lineage_items = 0; }},
       {"/lineage_iterations: lineage_iterations is 4, and iterations only 3",
        [](Run& run) { run.report.lineage_iterations = 4; }},
       {"/lineage_iterations: lineage_iterations and region_lineage differ on whether there are rules",
        [](Run& run) { run.report.lineage_iterations = 0; }},
       {"/region_lineage: groups with rules is 2, and groups that are listed are only 1",
        [](Run& run) { run.report.region_lineage.push_back(2); }},
       {"/recommendation/execution_mode: execution_mode is not what the policy makes of the counts in the evidence",
        [](Run& run) { run.report.recommendation.execution_mode = policy::ExecutionMode::jit; }},
       {"/recommendation/promote_hot_windows: promote_hot_windows is not what the policy makes of the counts in the evidence",
        [](Run& run) { run.report.recommendation.promote_hot_windows = true; }},
       {"/recommendation/geometry/slot_count: slot_count is 12, and the queue's length in whole work-groups 20",
        [](Run& run) { run.evidence.promotion->queue_len = 17; }},
       {"/recommendation/geometry/dispatch_grid: dispatch_grid is not what slot_count and worker_groups allow",
        [](Run& run) { run.report.recommendation.geometry.dispatch_grid[1] = 2; }},
       {"/recommendation/geometry/workgroup_size_x: workgroup_size_x is 5, and worker_groups is only 4",
        [](Run& run) {
          run.report.recommendation.geometry.workgroup_size_x = 5;
          run.report.recommendation.worker_groups = 4;
        }},
       {"/recommendation/pressure: pressure is not that of this queue on these lanes",
        [](Run& run) { run.report.recommendation.pressure = policy::QueuePressure::balanced; }},
       {"/recommendation/topology: topology is not that of a queue of this length",
        [](Run& run) { run.report.recommendation.topology = policy::Topology::empty; }},
       {"/recommendation/estimated_peak_device_bytes: estimated_peak_device_bytes is 2000, and the budget is only 1000",
        [](Run& run) { run.report.recommendation.estimated_peak_device_bytes = 2000; }},
       {"/active/0/choices: choices: 0, and of the last iterations there are 3",
        [](Run& run) { run.report.active = {{{.tiles = 1, .iterations = 3}}}; }},
       {"/published_items: tiles of active waves is 31, and published_items only 30",
        [](Run& run) { run.report.active = {{{.tiles = 31, .iterations = 3}}}; }},
       {"/published_items: published_items is 30, and in 3 iterations 90 items ran, and 3 tiles did not",
        [](Run& run) { run.report.active = {{{.tiles = 1, .iterations = 3}}}; }},
       {"/items_processed: items_processed is 30, and 30 items, each once or in all of 3 iterations, cannot be as many",
        [](Run& run) { run.report.items_processed = 30; }},
       {"/telemetry/kernel_launches: kernel_launches is 2, and 1 wave, 3 iterations and 0 rounds cannot need as many",
        [](Run& run) { run.report.strategy = engine::Strategy::launch; }},
       {"/telemetry/occupancy_proxy_bps: occupancy_proxy_bps is 8999, and turns of 10 lanes cannot have 90 items so",
        [](Run& run) { run.report.telemetry.occupancy_proxy_bps = 8999; }},
       {"/effective_geometry/worker_groups: worker_groups is 3, and geometry_reason says otherwise",
        [](Run& run) { run.report.geometry.worker_groups = 3; }},
       {"/effective_geometry/worker_groups: only a persistent launch has a number of work-groups",
        [](Run& run) { run.report.geometry.worker_groups = 0; }},
       {"/candidates/0/worker_groups: the geometry of the run is another one",
        [](Run& run) {
          run.report.candidates = {
              {{.strategy = engine::Strategy::barrier, .workgroup_size = 6, .taken = true}}};
        }},
       {"/candidates/0/measured_ns: the time of the run is another one",
        [](Run& run) {
          run.report.candidates = {
              {{.strategy = engine::Strategy::barrier, .taken = true, .measured_ns = 1}}};
        }},
       {"/candidates: 0 candidates taken, and a run takes one",
        [](Run& run) { run.report.candidates.emplace(1); }},
       {"/files_written/0/what: the memory has no buffer \"y\"",
        [](Run& run) { run.report.files_written[0].what = "buffer \"y\""; }},
       {"/files_written/0/what: no run writes such a file",
        [](Run& run) { run.report.files_written[0].what = "levels"; }},
       {"/files_written/0/bytes: the file has 17 bytes, and its buffer 16 bytes",
        [](Run& run) { run.report.files_written[0].bytes = 17; }},
       {"/files_written/0/bytes: the file has 32 bytes, and its buffer 16 bytes",
        [](Run& run) {
          run.report.files_written[0] = {"none.npy", "buffer \"x\"", 32};
        }},
       {"/telemetry/bytes_read_back: bytes of the outputs is 16, and bytes_read_back only 15",
        [](Run& run) { run.report.telemetry.bytes_read_back = 15; }},
       {"/until/buffer: the memory has no such buffer",
        [](Run& run) { run.report.until = engine::UntilReport{.buffer = "y"}; }},
       {"/active/0/flags: the memory has no such buffer",
        [](Run& run) { run.report.active = {{{.wave = 1, .flags = "x", .tiles = 1, .iterations = 3}}}; }},
       {"/hits/0/list: the memory has no such buffer", [](Run& run) { run.report.hits = {{{.list = "y"}}}; }},
       {"/iterations: a run that is done has an iteration or more",
        [](Run& run) { run.report.iterations = 0; }},
       {"/iterations: items_processed without those that ops published is 90, and in the iterations begun there are only 60",
        [](Run& run) { run.report.iterations = 1; }},
       {"/published_items: published_items is 91, and items_in_all only 90",
        [](Run& run) { run.report.published_items = 91; }},
       {"/tiles_processed: tiles_processed is 91, and items_processed only 90",
        [](Run& run) { run.report.tiles_processed = 91; }},
       {"/next_request/policy/hot_opcode_threshold: policy/hot_opcode_threshold is 5, and of this run it is 8",
        [](Run& run) { run.report.next_request.emplace().policy.hot_opcode_threshold = 5; }},
       {"/upload_ns: upload_ns is 1, and queue_publish_ns only 0",
        [](Run& run) { run.report.upload_ns = 1; }},
       {"/wall_time_ns: times of all passes together is 3, and wall_time_ns only 2",
        [](Run& run) {
          run.report.queue_plan_ns = run.report.queue_publish_ns = run.report.lineage_ns = 1;
          run.report.wall_time_ns = 2;
        }},
       {"/slices_ns: slices_ns together is 3, and backend_dispatch_ns only 0",
        [](Run& run) {
          run.report.slices_ns = {1, 2};
        }},
       {"/memory/offsets: end of a buffer is 2, and groups of the plan are only 1",
        [](Run& run) {
          run.report.memory.offsets = {
              {.buffer = "x", .alive = planning::ArenaBuffer{.lower = 0, .upper = 2, .size = 1}}};
        }},
       {": optimal is false, with 1 group and lower_bound_groups 1",
        [](Run& run) { run.plan.plan.optimal = false; }},
       {": max_group_width, lower_bound_groups or the peaks are not what the groups allow",
        [](Run& run) {
          run.plan.barriers.groups.front().fused_bytes = 9;
          run.plan.plan.peak_frontier_bytes = 2;
          run.plan.plan.peak_scratch_bytes = 1;
          run.plan.plan.peak_output_bytes = run.plan.plan.amortized_readback_bytes = 4;
        }},
       {": max_group_width, lower_bound_groups or the peaks are not what the groups allow", [](Run& run) {
          run.plan.barriers.groups.front().fused_bytes = 4;
          run.plan.plan.peak_output_bytes = 4;
        }}});
}

TEST_CASE("the report of a queue with one figure changed") {
  using Run = documents::RunReportDocument;
  check_all<Run>(
      sound_queue(),
      {{"/queues: priority counts requeues of queues, and there is none",
        [](Run& run) { run.report.queues.clear(); }},
       {"/priority: the report has no priority of its queues", [](Run& run) { run.report.priority.reset(); }},
       {"/queues/0/rounds: iterations is 1, and rounds only 0",
        [](Run& run) { run.report.queues[0].rounds = 0; }},
       {"/queues/0/requeue_count: no op of the queue requeues items",
        [](Run& run) { run.report.queues[0].requeues = false; }},
       {"/queues/0/rounds: no op of the queue requeues or publishes items, and there are rounds",
        [](Run& run) {
          run.report.queues[0].requeues = false;
          run.report.queues[0].publishing.reset();
        }},
       {"/queues/0/max_priority_age: max_priority_age is 8, and rounds only 7",
        [](Run& run) { run.report.queues[0].max_priority_age = 8; }},
       {"/queues/0/rounds: rounds is 13, and requeue_count and items_processed are together only 12",
        [](Run& run) { run.report.queues[0].rounds = 13; }},
       {"/queues/0/ageing_reason: ageing_reason is for queues that aged items where age_priority_work is false, or the reverse",
        [](Run& run) { run.report.recommendation.age_priority_work = true; }},
       {"/queues/0/publishing/needed_capacity: needed_capacity is 1, and the queue began with 4 of 10 items",
        [](Run& run) { run.report.queues[0].publishing->needed_capacity = 1; }},
       {"/telemetry/kernel_launches: kernel_launches is 17, and 1 wave, 1 iteration and 7 rounds cannot need as many",
        [](Run& run) {
          run.report.strategy =
              engine::Strategy::launch; // 2 launches in each round, and in one or two before
          run.report.telemetry.kernel_launches = 17;
        }},
       {"/queues/0/wave: the memory has no such buffer",
        [](Run& run) { run.report.queues[0].wave = "\"numbers\""; }},
       {"/queues/0/publishing/needed_capacity: needed_capacity is 11, and the queue began with 4 of 10 items",
        [](Run& run) { run.report.queues[0].publishing->needed_capacity = 11; }}});
}

TEST_CASE("a frontier report with one figure changed") {
  using Traversal = traversal::FrontierReport;
  check_all<Traversal>(
      sound_traversal(),
      {{"/ranks/ranks: edges of the ranks are together 1, and edges of the graph: 2",
        [](Traversal& run) {
          run.ranks = engine::RanksReport{.ranks = {{.host = {}, .device = {}, .edges = 1}}};
        }},
       {"/graph: bytes of offsets and edges are 28, and their part of the memory has 24",
        [](Traversal& run) { run.graph.vertices = 4; }},
       {"/graph: bytes of offsets and edges are 28, and their part of the memory has 24",
        [](Traversal& run) { run.graph.edges = 3; }},
       {"/graph/symmetric: a graph has a transpose in the memory if it is not symmetric",
        [](Traversal& run) { run.graph.symmetric = true; }},
       {"/memory/pressure_bps: pressure_bps is 481, and full_bytes of the budget are 480",
        [](Traversal& run) { run.memory.pressure_bps = 481; }},
       {"/answer: the report has no answer", [](Traversal& run) { run.answer.reset(); }},
       {"/answer/reached: reached is 4, and vertices of the graph only 3",
        [](Traversal& run) { run.answer->reached = 4; }},
       {"/answer/farthest: the graph has no such vertex", [](Traversal& run) { run.answer->farthest = 3; }},
       {"/answer/largest: vertices of all components is 4, and those of the graph only 3",
        [](Traversal& run) { run.answer = {.components = 2, .largest = 3}; }},
       {"/first_run: the report has no first_run", [](Traversal& run) { run.first_run.reset(); }},
       {"/first_run/equal: the result is not what the serial algorithm computes",
        [](Traversal& run) { run.first_run->equal = false; }},
       {"/verification: the report has no verification, though its first run was compared",
        [](Traversal& run) { run.verification.reset(); }},
       {"/verification/checks: the report has no checks that verified the result",
        [](Traversal& run) { run.verification->checks.clear(); }},
       {"/recommendation: recommended_geometry is not that of the recommendation",
        [](Traversal& run) { run.recommendation.reset(); }},
       {"/recommendation/hit_capacity: hit_capacity is 2, and the least that a launch has is 1",
        [](Traversal& run) { run.recommendation->hit_capacity = 2; }},
       {"/recommendation/execution_mode: fused waves need a promotion, and promotions compile the queue",
        [](Traversal& run) { run.recommendation->promote_hot_windows = true; }},
       {"/recommendation/estimated_peak_device_bytes: estimated_peak_device_bytes is 40, and not 48 and as many bytes for each "
        "of 1 hit",
        [](Traversal& run) { run.recommendation->estimated_peak_device_bytes = 40; }},
       {"/telemetry/topology: topology is dense_frontier, and that of the waves sparse_frontier",
        [](Traversal& run) { run.telemetry.topology = policy::Topology::dense_frontier; }},
       {"/telemetry/execution_mode: execution_mode is interpreter, and that of the waves jit",
        [](Traversal& run) { run.telemetry.execution_mode = policy::ExecutionMode::interpreter; }},
       {"/telemetry/hit_capacity: hit_capacity is 5, and traversals have 0",
        [](Traversal& run) { run.telemetry.hit_capacity = 5; }},
       {"/telemetry/occupancy_proxy_bps: occupancy_proxy_bps is 4999, and that of the waves 5000",
        [](Traversal& run) { run.telemetry.occupancy_proxy_bps = 4999; }},
       {"/telemetry/readback_buffers: readback_buffers is 2, and results in the memory: 1",
        [](Traversal& run) { run.telemetry.readback_buffers = 2; }},
       {"/telemetry/kernel_launches: waves of all work-groups is 3, and kernel_launches only 2",
        [](Traversal& run) { run.telemetry.kernel_launches = 2; }},
       {"/next_request/graph_node_count: graph_node_count is 0, and of this run it is 3",
        [](Traversal& run) { run.next_request.emplace(); }},
       {"/semiring: the semiring is not that of the algorithm",
        [](Traversal& run) { run.semiring = "or_and"; }},
       {"/algorithm: only a program's own algorithm has a source, and only sssp has distances",
        [](Traversal& run) { run.source = "own.cl"; }},
       {"/answer: the answer is that of another algorithm",
        [](Traversal& run) { run.answer->components = 1; }},
       {"/files_written/0/what: no run of this algorithm writes such a file",
        [](Traversal& run) {
          run.files_written = {{"none.raw", "distances", 12}};
        }},
       {"/files_written/0/bytes: the file has 24 bytes for 3 values",
        [](Traversal& run) {
          run.files_written = {{"none.raw", "levels", 24}};
        }},
       {"/telemetry/bytes_read_back: bytes of the results is 12, and bytes_read_back only 11",
        [](Traversal& run) { run.telemetry.bytes_read_back = 11; }},
       {"/wall_time_ns: times of all passes together is 2, and wall_time_ns only 1",
        [](Traversal& run) {
          run.load_ns = run.verify_ns = 1;
          run.wall_time_ns = 1;
        }},
       {"/lineage_items: lineage_items is 1, and those of the rules are 0",
        [](Traversal& run) { run.lineage_items = 1; }},
       {"/deduped_items: deduped_items is 1, and traversals have 0",
        [](Traversal& run) { run.deduped_items = 1; }},
       {"/waves/1/density_bps: density_bps is 3334, and that of its vertices 3333",
        [](Traversal& run) { run.waves[1].density_bps = 3334; }},
       {"/waves/2/dense_waves: dense_waves is 0, and the dense waves directly before it are 1",
        [](Traversal& run) { run.waves[1].topology = policy::Topology::dense_frontier; }},
       {"/waves/0/previous_topology: previous_topology is not that of the wave before",
        [](Traversal& run) { run.waves[0].previous_topology = policy::Topology::dense_frontier; }},
       {"/waves/0/previous_edges: previous_edges is 1, and frontier_edges before it are 0",
        [](Traversal& run) { run.waves[0].previous_edges = 1; }},
       {"/waves/1/trend: trend is not that of frontier_edges and previous_edges",
        [](Traversal& run) { run.waves[1].trend = traversal::Trend::growing; }},
       {"/waves/0/unexplored_edges: unexplored_edges is 1, and before the first wave it is all edges: 2",
        [](Traversal& run) { run.waves[0].unexplored_edges = 1; }},
       {"/waves/1/unexplored_edges: unexplored_edges is 2; the wave before had 2 and explored 1 of them",
        [](Traversal& run) { run.waves[1].unexplored_edges = 2; }},
       {"/converged: the report has no converged and rank_change of PageRank",
        [](Traversal& run) { run.algorithm = graphs::Algorithm::pagerank; }},
       {"/converged: a run of PageRank warns if it has not converged, and only then",
        [](Traversal& run) {
          run.algorithm = graphs::Algorithm::pagerank;
          run.converged = false;
          run.rank_change = 0.5;
        }},
       {"/rank_change: rank_change is 1, above allowed_change, 0.5", [](Traversal& run) {
          run.algorithm = graphs::Algorithm::pagerank;
          run.converged = true;
          run.rank_change = 1;
          run.verification->allowed_change = 0.5;
        }}});
}

TEST_CASE("a report of several ranks with one figure changed") {
  using Run = documents::RunReportDocument;
  Run sound = sound_run();
  sound.report.dispatch_ns = sound.report.wall_time_ns = 9;
  const auto rank = [](std::uint32_t i, std::uint64_t waiting_ns) {
    return engine::RankReport{.rank = i,
                              .host = "a",
                              .device = "cpu",
                              .dispatch_ns = 9,
                              .waiting_ns = waiting_ns,
                              .bytes_sent = 4,
                              .messages = 1};
  };
  sound.report.ranks =
      engine::RanksReport{.ranks = {rank(0, 5), rank(1, 2)},
                          .slowest = 1,
                          .bytes_sent = 8,
                          .messages = 2,
                          .waves = {{.wave = "w", .runs_on = engine::RunsOn::parts}},
                          .buffers = {{.buffer = "b", .split = true, .in_parts = true, .bytes_sent = 6}}};
  check_all<Run>(
      sound, {{"/ranks/bytes_sent: bytes_sent is 9, and those of the ranks are 8",
               [](Run& run) { ++run.report.ranks->bytes_sent; }},
              {"/ranks/messages: messages is 0, and those of the ranks are 2",
               [](Run& run) { run.report.ranks->messages = 0; }},
              {"/ranks/slowest: slowest is 0, and by dispatch_ns and waiting_ns it is 1",
               [](Run& run) { run.report.ranks->slowest = 0; }},
              {"/backend_dispatch_ns: backend_dispatch_ns is 8, and dispatch_ns of rank 0 9",
               [](Run& run) { run.report.dispatch_ns = 8; }},
              {"/ranks/ranks/0/rank: rank is 1, and its place is 0",
               [](Run& run) { run.report.ranks->ranks.front().rank = 1; }},
              {"/ranks/waves/0/reason: a wave that does not run in parts has a reason, and no other has one",
               [](Run& run) { run.report.ranks->waves.front().runs_on = engine::RunsOn::one; }},
              {"/ranks/bytes_sent: bytes_sent of buffers is 9, and bytes_sent only 8",
               [](Run& run) { run.report.ranks->buffers.front().bytes_sent = 9; }},
              {"/ranks/buffers/0/in_parts: a buffer that is not split is in parts",
               [](Run& run) { run.report.ranks->buffers.front().split = false; }},
              {"/ranks/buffers/0/in_parts: in_parts and reason differ on whether each rank has a part alone",
               [](Run& run) { run.report.ranks->buffers.front().in_parts = false; }}});
  auto& one_alone = *sound.report.ranks; // reports a run that ended early
  one_alone.ranks.erase(one_alone.ranks.begin());
  one_alone.bytes_sent = 4;
  one_alone.messages = 1;
  check_all<Run>(sound, {{"/ranks/slowest: slowest is 0, and by dispatch_ns and waiting_ns it is 1",
                          [](Run& run) { run.report.ranks->slowest = 0; }}});
}
