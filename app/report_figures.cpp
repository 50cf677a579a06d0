// Figures of run reports that follow from others of the same report: checks, bounds, and what the launch policy makes
// of its evidence. A figure that neither follows from others nor bounds them is taken as it is.
#include "app/report_figures.hpp"

#include "app/check.hpp"
#include "app/plan.hpp"
#include "core/statistics.hpp"
#include "engine/documents.hpp"
#include "policy/sizing.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace tidegate::app {

void check_recommendation(const policy::LaunchRecommendation& given, std::optional<std::uint32_t> queue_len,
                          std::uint64_t resident_bytes, FigureChecks& checks) {
  const auto at = [](std::string_view field) { return fmt::format("/recommendation/{}", field); };
  const policy::LaunchGeometry& geometry = given.geometry;
  const std::uint32_t width = std::max(geometry.workgroup_size_x, 1U);
  checks.at_most(at("geometry/workgroup_size_x"), "workgroup_size_x", geometry.workgroup_size_x,
                 "worker_groups is", given.worker_groups);
  const std::uint32_t slots = policy::padded_slot_count(queue_len.value_or(geometry.slot_count), width);
  checks.equal(at("geometry/slot_count"), "slot_count is", geometry.slot_count,
               "the queue's length in whole work-groups", slots);
  checks.require(
      geometry.dispatch_grid[0] != 0 && geometry.dispatch_grid[1] == 1 && geometry.dispatch_grid[2] == 1 &&
          geometry.dispatch_grid[0] <= std::min(slots / width, given.worker_groups),
      at("geometry/dispatch_grid"), "dispatch_grid is not what slot_count and worker_groups allow");
  const std::uint64_t lanes = std::uint64_t{geometry.dispatch_grid[0]} * width;
  const std::uint32_t least = queue_len.value_or(slots == width ? 0 : slots - width + 1); // of the queue
  const std::uint32_t most = queue_len.value_or(slots);
  const bool possible = given.pressure == policy::QueuePressure::empty ? least == 0
                        : given.pressure == policy::QueuePressure::light
                            ? least < lanes && most != 0
                            : most >= std::min<std::uint64_t>(lanes, 1);
  const bool balanced = given.pressure != policy::QueuePressure::balanced || most >= lanes;
  checks.require(possible && balanced, at("pressure"), "pressure is not that of this queue on these lanes");
  checks.require((given.topology != policy::Topology::empty || least == 0) &&
                     (given.topology == policy::Topology::empty || most != 0),
                 at("topology"), "topology is not that of a queue of this length");
  const bool promotes = given.promote_hot_opcodes || given.promote_hot_windows;
  checks.require((given.topology != policy::Topology::fused_dense || promotes) &&
                     (!promotes || given.execution_mode == policy::ExecutionMode::jit),
                 at("execution_mode"), "fused waves need a promotion, and promotions compile the queue");
  const std::uint64_t hits = std::max(given.hit_capacity, 1U);
  checks.require(given.estimated_peak_device_bytes >= resident_bytes &&
                     (given.estimated_peak_device_bytes - resident_bytes) % hits == 0,
                 at("estimated_peak_device_bytes"),
                 fmt::format("estimated_peak_device_bytes is {}, and not {} and as many bytes for each of {}",
                             given.estimated_peak_device_bytes, resident_bytes, plural(hits, "hit")));
  if (given.device_memory_budget_bytes != 0) {
    checks.at_most(at("estimated_peak_device_bytes"), "estimated_peak_device_bytes",
                   given.estimated_peak_device_bytes, "the budget is", given.device_memory_budget_bytes);
  }
}

namespace {

// Checks the times of --compare: minimum, median and maximum follow from the rounds, ratio and verdict from both.
void check_comparison(const engine::ReportHead& report, FigureChecks& checks) {
  if (!report.comparison) {
    return;
  }
  const engine::Comparison& comparison = *report.comparison;
  const auto side = [&](std::string_view name, std::vector<double> rounds, double least, double median,
                        double most, const std::vector<std::uint32_t>& unusual) {
    const std::string pointer = fmt::format("/comparison/{}_rounds_ns", name);
    checks.equal(pointer, "elements:", rounds.size(), "rounds is", comparison.rounds);
    if (rounds.empty()) {
      return;
    }
    checks.require(unusual == outliers(rounds), fmt::format("/comparison/{}_outliers", name),
                   fmt::format("{0}_outliers are not those of {0}_rounds_ns", name));
    std::ranges::sort(rounds);
    const bool middle = rounds[(rounds.size() - 1) / 2] <= median && median <= rounds[rounds.size() / 2];
    checks.require(
        rounds.front() == least && middle && rounds.back() == most, pointer,
        fmt::format("{0}_min_ns, {0}_ns and {0}_max_ns are not the least, the median and the largest of "
                    "{0}_rounds_ns",
                    name));
  };
  side("plain", comparison.plain_rounds_ns, comparison.plain_min_ns, comparison.plain_ns,
       comparison.plain_max_ns, comparison.plain_outliers);
  side("run", comparison.run_rounds_ns, comparison.run_min_ns, comparison.run_ns, comparison.run_max_ns,
       comparison.run_outliers);
  const std::size_t rounds = std::min(comparison.plain_rounds_ns.size(), comparison.run_rounds_ns.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) {
    ratios.push_back(comparison.plain_rounds_ns[i] / comparison.run_rounds_ns[i]);
  }
  const RatioEstimate estimated = paired_ratio(std::move(ratios));
  for (const auto& [field, given, expected] :
       {std::tuple("speedup", comparison.speedup, estimated.ratio),
        std::tuple("speedup_low", comparison.speedup_low, estimated.low),
        std::tuple("speedup_high", comparison.speedup_high, estimated.high)}) {
    checks.require(std::abs(given - expected) <= 1e-9 * expected, fmt::format("/comparison/{}", field),
                   fmt::format("{} is {}, and that of the rounds' ratios {}", field, given, expected));
  }
  checks.require(comparison.verdict == SpeedVerdict::same_launches ||
                     comparison.verdict == verdict_of(estimated),
                 "/comparison/verdict", "the verdict is not that of the interval");
}

// Checks bounds of what was counted, and the sections that a run always writes.
void check_telemetry(const engine::ReportHead& report, FigureChecks& checks) {
  const engine::Telemetry& telemetry = report.telemetry;
  for (const auto& [field, bps] : {std::pair("occupancy_proxy_bps", telemetry.occupancy_proxy_bps),
                                   std::pair("frontier_density_bps", telemetry.frontier_density_bps)}) {
    checks.at_most(fmt::format("/telemetry/{}", field), field, bps, "the whole is", policy::full_scale_bps);
  }
  const std::string sync_points = "/telemetry/sync_points";
  checks.at_most(sync_points, "number of slices", report.slices_ns.size(), "sync_points",
                 telemetry.sync_points);
  checks.at_most(sync_points, "readback_buffers", telemetry.readback_buffers, "sync_points",
                 telemetry.sync_points);
  if (report.status != engine::RunStatus::done) {
    return;
  }
  const bool persistent = engine::is_persistent(report.strategy);
  const bool counted = !report.ranks; // several ranks do not count the buffers of waves
  checks.require_section(report.device.has_value(), "/device", "device");
  checks.require_section(report.geometry_reason.has_value(), "/geometry_reason", "geometry_reason");
  checks.require_section(report.ordering || !persistent, "/ordering", "ordering of its persistent launch");
  checks.require(!report.ordering || persistent, "/ordering", "the strategy has no persistent launch");
  checks.require((report.lineage_iterations != 0) == !report.region_lineage.empty(), "/lineage_iterations",
                 "lineage_iterations and region_lineage differ on whether there are rules");
  checks.require(!counted || telemetry.resident_allocations != 0 || report.items_processed == 0,
                 "/telemetry/resident_allocations", "items were processed without any memory on the device");
}

// Checks times: the passes of a run come one after another, and their times are parts of its wall time. `further_ns`:
// that of passes which only one kind of program has.
void check_times(const engine::ReportHead& report, std::uint64_t further_ns, FigureChecks& checks) {
  checks.at_most("/upload_ns", "upload_ns", report.upload_ns, "queue_publish_ns", report.queue_publish_ns);
  constexpr double longest_ns = 1e18;
  double rounds_ns = 0;
  if (report.comparison) {
    for (const auto* const rounds :
         {&report.comparison->plain_rounds_ns, &report.comparison->run_rounds_ns}) {
      rounds_ns = std::accumulate(rounds->begin(), rounds->end(), rounds_ns);
    }
  }
  const bool done = report.status == engine::RunStatus::done;
  const std::uint64_t lineage_ns = done && !report.ranks ? report.lineage_ns : 0; // reported later otherwise
  checks.at_most("/wall_time_ns", "times of all passes together",
                 report.queue_plan_ns + report.queue_publish_ns + report.build_ns + report.dispatch_ns +
                     report.read_back_ns + lineage_ns + further_ns +
                     static_cast<std::uint64_t>(std::clamp(rounds_ns, 0.0, longest_ns)),
                 "wall_time_ns", report.wall_time_ns);
  checks.at_most("/slices_ns", "slices_ns together",
                 std::accumulate(report.slices_ns.begin(), report.slices_ns.end(), std::uint64_t{0}),
                 "backend_dispatch_ns", report.dispatch_ns);
}

// Checks the geometry of the launches by the reason for it.
void check_geometry(const engine::ReportHead& report, FigureChecks& checks) {
  const std::uint32_t groups = report.geometry.worker_groups;
  const auto says = [&](std::string_view after) {
    return report.geometry_reason->find(fmt::format("; {} {}", groups, after)) != std::string::npos;
  };
  checks.require(!report.geometry_reason || groups == 0 || says("of ") || says("in each launch"),
                 "/effective_geometry/worker_groups",
                 fmt::format("worker_groups is {}, and geometry_reason says otherwise", groups));
}

void check_ranks(const engine::RanksReport& report, FigureChecks& checks) {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::uint32_t slowest = 0;
  const bool one_alone = report.ranks.size() == 1; // reports a run that ended early
  const auto working = [](const engine::RankReport& rank) {
    return rank.dispatch_ns - std::min(rank.dispatch_ns, rank.waiting_ns);
  };
  for (std::uint32_t i = 0; i < report.ranks.size(); ++i) {
    const engine::RankReport& rank = report.ranks[i];
    if (!one_alone) {
      checks.equal(fmt::format("/ranks/ranks/{}/rank", i), "rank is", rank.rank, "its place is", i);
    }
    bytes += rank.bytes_sent;
    messages += rank.messages;
    slowest = working(rank) > working(report.ranks[slowest]) ? i : slowest;
  }
  checks.equal("/ranks/bytes_sent", "bytes_sent is", report.bytes_sent, "those of the ranks are", bytes);
  checks.equal("/ranks/messages", "messages is", report.messages, "those of the ranks are", messages);
  checks.equal("/ranks/slowest", "slowest is", report.slowest, "by dispatch_ns and waiting_ns it is",
               report.ranks.empty() ? 0 : report.ranks[slowest].rank);
  std::uint64_t of_buffers = 0;
  for (std::size_t i = 0; i < report.buffers.size(); ++i) {
    const engine::RankBufferReport& buffer = report.buffers[i];
    of_buffers += buffer.bytes_sent;
    const std::string at = fmt::format("/ranks/buffers/{}/in_parts", i);
    checks.require(buffer.split || !buffer.in_parts, at, "a buffer that is not split is in parts");
    checks.require(buffer.in_parts == buffer.reason.empty(), at,
                   "in_parts and reason differ on whether each rank has a part alone");
  }
  for (std::size_t i = 0; i < report.waves.size(); ++i) {
    const engine::RankWaveReport& wave = report.waves[i];
    checks.require(wave.reason.empty() == (wave.runs_on == engine::RunsOn::parts),
                   fmt::format("/ranks/waves/{}/reason", i),
                   "a wave that does not run in parts has a reason, and no other has one");
  }
  if (!one_alone) {
    checks.at_most("/ranks/bytes_sent", "bytes_sent of buffers", of_buffers, "bytes_sent", report.bytes_sent);
  }
}

} // namespace

void check_counts(const engine::ReportHead& report, const policy::LaunchRecommendation* recommendation,
                  std::uint64_t further_ns, FigureChecks& checks) {
  if (report.ranks) {
    check_ranks(*report.ranks, checks);
    if (!report.ranks->ranks.empty()) {
      checks.equal("/backend_dispatch_ns", "backend_dispatch_ns is", report.dispatch_ns,
                   "dispatch_ns of rank 0", report.ranks->ranks.front().dispatch_ns);
    }
  }
  const engine::Telemetry& telemetry = report.telemetry;
  if (recommendation != nullptr) {
    const policy::LaunchGeometry& geometry = recommendation->geometry;
    checks.equal("/recommended_geometry/workgroup_size", "workgroup_size is",
                 report.recommended_geometry.workgroup_size, "that of the recommendation",
                 geometry.workgroup_size_x);
    checks.equal("/recommended_geometry/worker_groups", "worker_groups is",
                 report.recommended_geometry.worker_groups, "that of the recommendation",
                 recommendation->worker_groups);
  }
  check_telemetry(report, checks);
  check_geometry(report, checks);
  check_comparison(report, checks);
  check_times(report, further_ns, checks);
  checks.at_most("/slices_ns", "number of slices", report.slices_ns.size(), "kernel_launches",
                 telemetry.kernel_launches);
  checks.equal("/telemetry/bytes_moved", "bytes_moved is", telemetry.bytes_moved,
               "bytes_uploaded and bytes_read_back are together",
               telemetry.bytes_uploaded + telemetry.bytes_read_back);
  checks.at_most("/telemetry/recorded_launches", "recorded_launches", telemetry.recorded_launches,
                 "kernel_launches", telemetry.kernel_launches);
  checks.at_most("/lineage_items", "lineage_items", report.lineage_items, "items_processed",
                 report.items_processed);
}

namespace {

// Checks the rounds of a queue, which one has whose ops requeue or publish.
void check_rounds(const engine::RunReport& report, const engine::QueueReport& queue,
                  const std::string& pointer, FigureChecks& checks) {
  const bool in_rounds = queue.requeues || queue.publishing;
  const bool done = report.status == engine::RunStatus::done;
  checks.require(queue.requeues || queue.requeue_count == 0, pointer + "requeue_count",
                 "no op of the queue requeues items");
  checks.require(in_rounds || (queue.rounds == 0 && queue.aged_promotions == 0), pointer + "rounds",
                 "no op of the queue requeues or publishes items, and there are rounds");
  checks.at_most(pointer + "max_priority_age", "max_priority_age", queue.max_priority_age, "rounds",
                 queue.rounds);
  if (done && in_rounds && queue.items_processed != 0) { // a round runs an item
    checks.at_most(pointer + "rounds", "iterations", std::max<std::uint64_t>(report.iterations, 1), "rounds",
                   queue.rounds);
    checks.at_most(pointer + "rounds", "rounds", queue.rounds,
                   "requeue_count and items_processed are together",
                   queue.requeue_count + queue.items_processed);
  }
  const bool differs = (queue.aged_promotions != 0) != report.recommendation.age_priority_work;
  checks.require(
      !done || queue.ageing_reason.has_value() == (in_rounds && differs), pointer + "ageing_reason",
      "ageing_reason is for queues that aged items where age_priority_work is false, or the reverse");
}

// Checks that each wave ran once or in each iteration.
void check_iterations(const engine::RunReport& report, std::uint64_t published_by_ops, FigureChecks& checks) {
  const std::uint64_t once = report.published_items - std::min(report.published_items, published_by_ops);
  const std::uint64_t processed = report.items_processed - std::min(report.items_processed, published_by_ops);
  const std::uint64_t more = processed - std::min(processed, once);
  const std::uint64_t further = std::max<std::uint64_t>(report.iterations, 1) - 1;
  const std::uint64_t each = further == 0 ? 0 : more / further;
  const bool repeats = further == 0 || once == 0 || each != 0;
  checks.require(processed >= once && each <= once && more == each * further && repeats, "/items_processed",
                 fmt::format("items_processed is {}, and {}, each once or in all of {}, cannot be as many",
                             report.items_processed, plural(once, "item"), plural(further + 1, "iteration")));
  if (each != 0 && report.items_in_all != std::numeric_limits<std::uint64_t>::max()) {
    const std::uint64_t in_all = report.items_in_all - std::min(report.items_in_all, report.items_processed);
    checks.require(in_all % each == 0, "/items_in_all",
                   fmt::format("items_in_all is {}, and an iteration has {}", report.items_in_all,
                               plural(each, "item")));
  }
}

void check_items(const engine::RunReport& report, FigureChecks& checks) {
  const auto of_queues = [&report](auto member) {
    std::uint64_t sum = 0;
    for (const engine::QueueReport& queue : report.queues) {
      sum += queue.*member;
    }
    return sum;
  };
  const bool done = report.status == engine::RunStatus::done;
  if (done) {
    checks.equal("/items_remaining", "items_remaining is", report.items_remaining,
                 "of a run that is done it is", 0);
  }
  checks.at_most("/queues", "items_processed of the queues", of_queues(&engine::QueueReport::items_processed),
                 "items_processed", report.items_processed);
  checks.at_most("/queues", "items_remaining of the queues", of_queues(&engine::QueueReport::items_remaining),
                 "items_remaining", report.items_remaining);
  if (report.converged == true) {
    checks.at_most("/items_processed", "items_processed", report.items_processed, "items_in_all",
                   report.items_in_all);
  } else {
    checks.equal("/items_processed", "items_processed and items_remaining are together",
                 report.items_processed + report.items_remaining, "items_in_all is", report.items_in_all);
  }
  std::uint64_t published = 0;
  for (const engine::QueueReport& queue : report.queues) {
    published += queue.publishing ? queue.publishing->published_items : 0;
  }
  if (done && !report.active) {
    check_iterations(report, published, checks);
  }
  const std::uint64_t iterations = std::max<std::uint64_t>(report.iterations, 1);
  checks.require(!done || report.iterations != 0, "/iterations",
                 "a run that is done has an iteration or more");
  if (!report.active) {
    const auto without = [&](std::uint64_t items) { return items - std::min(items, published); };
    checks.at_most("/iterations", "items_processed without those that ops published",
                   without(report.items_processed), "in the iterations begun there are",
                   without(report.published_items) * (report.iterations + 1));
    checks.at_most("/published_items", "published_items", report.published_items, "items_in_all",
                   report.items_in_all);
  }
  checks.at_most("/tiles_processed", "tiles_processed", report.tiles_processed, "items_processed",
                 report.items_processed);
  checks.equal("/deduped_items", "deduped_items is", report.deduped_items, "that of the queues",
               of_queues(&engine::QueueReport::deduped_items));
  for (std::size_t i = 0; i < report.queues.size(); ++i) {
    const engine::QueueReport& queue = report.queues[i];
    const std::string pointer = fmt::format("/queues/{}/", i);
    checks.equal(pointer + "items", "deduped_items and published_items are together",
                 queue.deduped_items + queue.published_items, "items is", queue.items);
    check_rounds(report, queue, pointer, checks);
    if (queue.publishing) {
      const engine::PublishingReport& counted = *queue.publishing;
      checks.equal(pointer + "items_processed", "items_processed is", queue.items_processed,
                   "executed_items is", counted.executed_items);
      const std::uint64_t accounted = counted.executed_items + queue.items_remaining;
      const std::uint64_t known = counted.given_items + counted.published_items;
      checks.require(done ? accounted == known
                          : accounted >= known, // items of later iterations remain, not yet given
                     pointer + "publishing/executed_items",
                     fmt::format("executed_items and items_remaining are together {}, and given_items and "
                                 "published_items are {}",
                                 accounted, known));
      if (done) {
        checks.at_most(pointer + "publishing/needed_capacity", "needed_capacity", counted.needed_capacity,
                       "capacity", counted.capacity);
        checks.require(counted.needed_capacity >= queue.published_items &&
                           counted.needed_capacity <= std::max<std::uint64_t>(known, 1),
                       pointer + "publishing/needed_capacity",
                       fmt::format("needed_capacity is {}, and the queue began with {} of {}",
                                   counted.needed_capacity, queue.published_items, plural(known, "item")));
      }
    } else if (done) {
      checks.require(queue.items_processed == queue.published_items ||
                         queue.items_processed == queue.published_items * iterations,
                     pointer + "items_processed",
                     fmt::format("items_processed is {}, and published_items is {}, once or in {}",
                                 queue.items_processed, queue.published_items,
                                 plural(iterations, "iteration")));
    } else if (report.converged != true) {
      checks.require(
          queue.published_items != 0 &&
              (queue.items_processed + queue.items_remaining) % queue.published_items == 0,
          pointer + "items_processed",
          fmt::format(
              "items_processed and items_remaining are together {}, no multiple of published_items {}",
              queue.items_processed + queue.items_remaining, queue.published_items));
    }
  }
  checks.require_section(!done || report.queues.empty() || report.priority, "/priority",
                         "priority of its queues");
  checks.require(!report.priority || !report.queues.empty(), "/queues",
                 "priority counts requeues of queues, and there is none");
  if (report.priority) {
    checks.equal("/priority/requeue_count", "requeue_count is", report.priority->accounting.requeue_count,
                 "that of the queues", of_queues(&engine::QueueReport::requeue_count));
    checks.equal("/priority/aged_promotions", "aged_promotions is",
                 report.priority->accounting.aged_promotions, "that of the queues",
                 of_queues(&engine::QueueReport::aged_promotions));
    std::uint64_t oldest = 0;
    for (const engine::QueueReport& queue : report.queues) {
      oldest = std::max<std::uint64_t>(oldest, queue.max_priority_age);
    }
    checks.equal("/priority/max_priority_age", "max_priority_age is",
                 report.priority->accounting.max_priority_age, "the largest of the queues", oldest);
    checks.require(report.priority == policy::drain_recommendation(report.priority->accounting), "/priority",
                   "the advice is not what follows from the counters");
  }
}

void check_active(const engine::RunReport& report, FigureChecks& checks) {
  std::uint64_t of_all = 0;
  std::uint64_t tiles = 0;
  std::uint64_t of_iteration = 0;
  for (std::size_t i = 0; report.active && i < report.active->size(); ++i) {
    const engine::ActiveReport& wave = (*report.active)[i];
    const std::string pointer = fmt::format("/active/{}/", i);
    std::uint64_t active_tiles = 0;
    for (std::size_t k = 0; k < wave.choices.size(); ++k) {
      active_tiles += wave.choices[k].active_tiles;
      checks.require(wave.choices[k].iteration == wave.iterations - wave.choices.size() + k,
                     fmt::format("{}choices/{}/iteration", pointer, k),
                     "the iterations are not the last ones, one after another");
      checks.at_most(fmt::format("{}choices/{}/active_tiles", pointer, k), "active_tiles",
                     wave.choices[k].active_tiles, "tiles", wave.tiles);
    }
    const auto different = engine::first_difference(wave);
    checks.require(!different, fmt::format("{}choices/{}", pointer, different.value_or(0)),
                   "the rules of the launch policy choose otherwise for this count after this topology");
    of_all += wave.active_tiles;
    tiles += wave.tiles * wave.iterations;
    of_iteration += wave.tiles;
    if (report.status != engine::RunStatus::done) { // the wave may have ended in an iteration that has not
      checks.at_most("/iterations", "iterations", report.iterations, "those of active tiles",
                     wave.iterations);
    } else {
      checks.equal(pointer + "iterations", "iterations is", wave.iterations, "that of the run",
                   report.iterations);
      constexpr std::uint64_t kept_choices = 65535;
      checks.equal(pointer + "choices", "choices:", wave.choices.size(), "of the last iterations there are",
                   std::min(wave.iterations, kept_choices));
    }
    checks.equal(pointer + "reproduced", "reproduced is", wave.reproduced, "choices:", wave.choices.size());
    checks.at_most(pointer + "active_tiles", "active_tiles", wave.active_tiles, "tiles of all iterations",
                   wave.tiles * wave.iterations);
    if (wave.choices.size() == wave.iterations) {
      checks.equal(pointer + "active_tiles", "active_tiles is", wave.active_tiles, "those of the choices are",
                   active_tiles);
    } else {
      checks.at_most(pointer + "active_tiles", "active_tiles of the choices", active_tiles, "active_tiles",
                     wave.active_tiles);
    }
  }
  checks.at_most("/published_items", "tiles of active waves", of_iteration, "published_items",
                 report.published_items);
  if (report.active &&
      report.status == engine::RunStatus::done) { // a tile that did not run has an item or more
    const std::uint64_t iterations = std::max<std::uint64_t>(report.iterations, 1);
    const std::uint64_t idle = tiles - std::min(tiles, of_all);
    checks.require((report.items_processed + idle + iterations - 1) / iterations <= report.published_items,
                   "/published_items",
                   fmt::format("published_items is {}, and in {} {} ran, and {} did not",
                               report.published_items, plural(iterations, "iteration"),
                               plural(report.items_processed, "item"), plural(idle, "tile")));
  }
  if (report.items_processed != 0) {
    checks.equal("/telemetry/frontier_density_bps", "frontier_density_bps is",
                 report.telemetry.frontier_density_bps, "that of the active tiles",
                 tiles == 0 ? policy::full_scale_bps : of_all * policy::full_scale_bps / tiles);
  }
}

// Checks the launches of a run by its slices or its waves. Waves that cannot share a launch, rounds of queues and lists
// that grew have separate launches.
void check_launches(const engine::RunReport& report, const planning::BarrierGroups& groups,
                    FigureChecks& checks) {
  const std::uint64_t launches = report.telemetry.kernel_launches;
  const auto hits = report.hits.value_or(std::vector<engine::HitsReport>());
  if (report.status != engine::RunStatus::done || report.ranks ||
      std::ranges::any_of(hits, [](const auto& list) { return list.grown_from.has_value(); }) ||
      std::ranges::any_of(report.queues, [](const auto& queue) {
        return queue.publishing && queue.publishing->grown_from;
      })) {
    return;
  }
  if (!engine::is_persistent(report.strategy)) {
    // A round has a launch for its items and one that decides about the next round. Where ops publish, one round or two
    // that are not counted prepare the queue. Other waves and counts of flags have one launch at most, once or in each
    // iteration.
    std::uint64_t of_rounds = 0;
    std::uint64_t preparing = 0; // at least, and at most twice as many
    std::uint64_t waves = groups.order.size() + (report.active ? report.active->size() : 0);
    for (const engine::QueueReport& queue : report.queues) {
      preparing += queue.publishing ? 2 : 0;
      if (queue.published_items == 0) { // may have the launches of a round that is not counted
        ++waves;
      } else if (queue.requeues || queue.publishing) {
        of_rounds += 2 * queue.rounds;
        waves -= std::min<std::uint64_t>(waves, 1);
      }
    }
    const bool in_pairs = waves == 0;
    waves += 2 * preparing;
    const std::uint64_t iterations = std::max<std::uint64_t>(report.iterations, 1);
    const std::uint64_t others = launches - std::min(launches, of_rounds);
    const std::uint64_t each = std::min(waves, others / iterations); // those that repeat, at most
    const bool possible = launches >= of_rounds + preparing && others - each * iterations <= waves - each &&
                          (!in_pairs || launches % 2 == 0);
    checks.require(possible, "/telemetry/kernel_launches",
                   fmt::format("kernel_launches is {}, and {}, {} and {} cannot need as many", launches,
                               plural(groups.order.size(), "wave"), plural(iterations, "iteration"),
                               plural(of_rounds / 2, "round")));
  } else if (report.fallbacks.empty() && !report.new_launches) {
    checks.equal("/telemetry/kernel_launches", "kernel_launches is", launches,
                 "slices:", report.slices_ns.size());
  }
}

// Checks `lineage_items` against the rules of each group (`region_lineage`).
void check_lineage(const engine::RunReport& report, const planning::BarrierGroups& groups,
                   FigureChecks& checks) {
  const auto has_none = [](std::uint32_t rules) { return rules == 0; };
  const bool any = !std::ranges::all_of(report.region_lineage, has_none);
  checks.at_most("/region_lineage", "groups with rules", report.region_lineage.size(),
                 "groups that are listed are",
                 groups.group_count() * std::max<std::uint64_t>(report.lineage_iterations, 1));
  const bool done = report.status == engine::RunStatus::done;
  if (report.geometry_reason) { // otherwise nothing ran, or a silent device has not said how far it came
    checks.at_most("/lineage_iterations", "lineage_iterations", report.lineage_iterations, "iterations",
                   done ? std::max<std::uint64_t>(report.iterations, 1) : report.iterations + 1);
  }
  if (!done) {
    return;
  }
  const bool all = any && std::ranges::none_of(report.region_lineage, has_none) &&
                   groups.group_count() == groups.order.size();
  if (all) { // each wave is a group
    checks.equal("/lineage_items", "lineage_items is", report.lineage_items,
                 "all waves have rules, with items", report.items_processed);
  } else {
    checks.require(any == (report.lineage_items != 0), "/lineage_items",
                   "region_lineage and lineage_items differ on whether waves have rules");
  }
}

// Recomputes the recommendation from the counts in the promotion evidence.
void check_promotion(const engine::RunReport& report, const policy::PromotionEvidence& ran,
                     std::uint64_t resident_bytes, FigureChecks& checks) {
  const policy::LaunchRecommendation& given = report.recommendation;
  check_recommendation(given, ran.queue_len, resident_bytes, checks);
  policy::PromotionEvidence recommended = ran;
  recommended.execution_mode = given.execution_mode;
  recommended.promote_hot_opcodes = given.promote_hot_opcodes;
  recommended.promote_hot_windows = given.promote_hot_windows;
  recommended.promotion_route = policy::promotion_route(given);
  const auto field = policy::contradicted_field(recommended, given);
  checks.require(
      !field, fmt::format("/recommendation/{}", field.value_or("")),
      fmt::format("{} is not what the policy makes of the counts in the evidence", field.value_or("")));
}

// Checks the lanes that had an item: a persistent launch has the lanes of its work-groups in each turn. The report does
// not say how many turns there were; where they are few, few numbers of bps are possible.
void check_occupancy(const engine::RunReport& report, FigureChecks& checks) {
  const bool plain = report.strategy == engine::Strategy::plain && report.queues.empty();
  if (report.status != engine::RunStatus::done || report.ranks || report.active || report.new_launches ||
      !report.fallbacks.empty() || !report.promotion.windows.empty() ||
      (!plain &&
       !engine::is_persistent(report.strategy))) { // launches of stages have the lanes of their waves
    return;
  }
  std::uint64_t items = report.items_processed;
  for (const engine::QueueReport& queue : report.queues) {
    items += queue.requeue_count;
  }
  const std::uint64_t given = report.telemetry.occupancy_proxy_bps;
  const std::uint64_t lanes = std::uint64_t{std::max(report.geometry.workgroup_size, 1U)} *
                              std::max(report.geometry.worker_groups, 1U);
  const auto bps_of = [&](double turns) {
    return static_cast<std::uint64_t>(
        std::min(static_cast<double>(items) / (turns * static_cast<double>(lanes)), 1.0) *
        policy::full_scale_bps);
  };
  bool possible = given == 0;
  if (plain) {
    possible = possible || given == policy::full_scale_bps; // a work-item has an item
  } else if (given != 0) {
    const double turns =
        std::floor(static_cast<double>(items) * policy::full_scale_bps / static_cast<double>(given * lanes));
    for (const double near : {turns - 1, turns, turns + 1}) {
      possible = possible || (near >= 1 && bps_of(near) == given);
    }
  }
  checks.require(possible, "/telemetry/occupancy_proxy_bps",
                 fmt::format("occupancy_proxy_bps is {}, and turns of {} cannot have {} so", given,
                             plural(lanes, "lane"), plural(items, "item")));
}

// Checks the request for the next run, which has what this one measured.
void check_next_request(const engine::RunReport& report, const documents::Evidence& evidence,
                        FigureChecks& checks) {
  if (!report.next_request || report.status != engine::RunStatus::done) {
    return;
  }
  const auto& [request, topology, policy] = *report.next_request;
  const auto equal = [&](std::string_view field, std::uint64_t given, std::uint64_t measured) {
    checks.equal(fmt::format("/next_request/{}", field), fmt::format("{} is", field), given,
                 "of this run it is", measured);
  };
  equal("requested_worker_groups", request.requested_worker_groups, report.geometry.worker_groups);
  equal("device_memory_budget_bytes", request.device_memory_budget_bytes,
        report.telemetry.device_memory_budget_bytes);
  const policy::RequeueAccounting requeues =
      report.priority ? report.priority->accounting : policy::RequeueAccounting();
  equal("requeue_count", request.requeue_count, requeues.requeue_count);
  equal("max_priority_age", request.max_priority_age, requeues.max_priority_age);
  if (report.active) {
    equal("frontier_density_bps", request.frontier_density_bps, report.telemetry.frontier_density_bps);
  }
  if (evidence.topology) {
    equal("resident_device_bytes", request.resident_device_bytes, evidence.topology->resident_device_bytes);
  }
  if (evidence.promotion) {
    const policy::PromotionEvidence& asked = *evidence.promotion;
    equal("policy/jit_queue_len_threshold", policy.jit_queue_len_threshold, asked.jit_queue_len_threshold);
    equal("policy/hot_opcode_threshold", policy.hot_opcode_threshold, asked.hot_opcode_threshold);
    equal("policy/hot_window_threshold", policy.hot_window_threshold, asked.hot_window_threshold);
  }
}

void check_policy_fields(const engine::RunReport& report, FigureChecks& checks) {
  const engine::Telemetry& telemetry = report.telemetry;
  const policy::LaunchRecommendation& recommendation = report.recommendation;
  const auto same = [&](std::string_view field, std::string_view given, std::string_view recommended) {
    checks.require(given == recommended, fmt::format("/telemetry/{}", field),
                   fmt::format("{} is {}, and that of the recommendation {}", field, given, recommended));
  };
  same("topology", policy::name(telemetry.topology), policy::name(recommendation.topology));
  same("pressure", policy::name(telemetry.pressure), policy::name(recommendation.pressure));
  checks.require(telemetry.execution_mode == report.mode, "/telemetry/execution_mode",
                 fmt::format("execution_mode is {}, and that of the run {}",
                             policy::name(telemetry.execution_mode), policy::name(report.mode)));
  checks.equal("/telemetry/hit_capacity", "hit_capacity is", telemetry.hit_capacity,
               "that of the recommendation", recommendation.hit_capacity);
  checks.equal("/telemetry/estimated_peak_device_bytes", "estimated_peak_device_bytes is",
               telemetry.estimated_peak_device_bytes, "that of the recommendation",
               recommendation.estimated_peak_device_bytes);
  checks.equal("/telemetry/device_memory_budget_bytes", "device_memory_budget_bytes is",
               telemetry.device_memory_budget_bytes, "that of the recommendation",
               recommendation.device_memory_budget_bytes);
}

// Checks the arena as `check arena` does. Reports of older versions lack the lifetimes of buffers; of these only the
// bound is checked.
void check_memory(const engine::MemoryReport& memory, std::uint64_t groups, FigureChecks& checks) {
  planning::ArenaProblem problem;
  planning::ArenaPlan plan{.height_bytes = memory.arena_bytes,
                           .lower_bound_bytes = memory.lower_bound_bytes,
                           .optimal = memory.optimal,
                           .gave_up = !memory.optimal};
  std::uint64_t sum = 0;
  for (const engine::BufferOffset& buffer : memory.offsets) {
    if (!buffer.alive || !std::has_single_bit(buffer.alive->alignment)) {
      checks.require(!buffer.alive, "/memory/offsets", "an alignment is not a power of two");
      checks.at_most("/memory/lower_bound_bytes", "lower_bound_bytes", memory.lower_bound_bytes,
                     "arena_bytes", memory.arena_bytes);
      return;
    }
    checks.at_most("/memory/offsets", "end of a buffer", buffer.alive->upper, "groups of the plan are",
                   std::max<std::uint64_t>(groups, 1));
    problem.buffers.push_back(*buffer.alive);
    plan.offsets.push_back(buffer.offset);
    sum += (buffer.alive->size + buffer.alive->alignment - 1) & ~(buffer.alive->alignment - 1);
  }
  if (plan.optimal) {
    const bool meets = plan.height_bytes == plan.lower_bound_bytes;
    plan.proof = meets ? planning::ArenaProof::meets_bound : planning::ArenaProof::exhausted_search;
    plan.search_nodes = meets ? 0 : 1;
  }
  checks.equal("/memory/sum_bytes", "sum_bytes is", memory.sum_bytes, "the buffers have together", sum);
  const auto violation = planning::check_arena(problem, plan);
  checks.require(!violation, "/memory", violation.value_or(""));
}

void check_choices(const engine::RunReport& report, FigureChecks& checks) {
  std::size_t taken = 0;
  for (std::size_t i = 0; report.candidates && i < report.candidates->size(); ++i) {
    const engine::CandidateReport& candidate = (*report.candidates)[i];
    const double parts = candidate.estimated_parts_ns.sum();
    checks.require(
        std::abs(candidate.estimated_ns - parts) <= 1e-9 * parts,
        fmt::format("/candidates/{}/estimated_ns", i),
        fmt::format("estimated_ns is {}, and its parts are together {}", candidate.estimated_ns, parts));
    taken += candidate.taken ? 1 : 0;
    checks.require(!candidate.taken || candidate.strategy == report.strategy,
                   fmt::format("/candidates/{}/taken", i), "the strategy of the run is another one");
    if (candidate.taken && report.status == engine::RunStatus::done) {
      checks.require(candidate.workgroup_size == report.geometry.workgroup_size &&
                         (candidate.worker_groups == report.geometry.worker_groups ||
                          (report.geometry.worker_groups == 0 && !report.fallbacks.empty())),
                     fmt::format("/candidates/{}/worker_groups", i),
                     "the geometry of the run is another one");
      const double ran_ns =
          report.comparison ? report.comparison->run_ns : static_cast<double>(report.dispatch_ns);
      checks.require(candidate.measured_ns == ran_ns, fmt::format("/candidates/{}/measured_ns", i),
                     "the time of the run is another one");
    }
  }
  checks.require(!report.candidates || taken == 1, "/candidates",
                 fmt::format("{} taken, and a run takes one", plural(taken, "candidate")));
  if (report.wave_times) {
    std::uint64_t critical_ns = report.wave_times->synchronization_ns;
    for (const engine::WaveTime& wave : report.wave_times->waves) {
      critical_ns += wave.critical_ns;
    }
    checks.equal("/wave_times/critical_path_ns", "critical_path_ns is", report.wave_times->critical_path_ns,
                 "its parts are together", critical_ns);
  }
}

// Checks that the status, the error and `converged` of a report agree with its other parts.
void check_end(const engine::RunReport& report, bool differs, FigureChecks& checks) {
  using enum engine::RunStatus;
  const std::string_view status = engine::run_status_names[static_cast<std::size_t>(report.status)];
  const bool good = report.status == done || report.status == planned || report.status == checked;
  checks.require(good != report.error.has_value(), "/status",
                 fmt::format("the status is {}, and there is {} error", status, report.error ? "an" : "no"));
  checks.require((report.status == outputs_differ) == differs, "/status",
                 fmt::format("the status is {}, and output_parity says {}", status,
                             differs ? "that outputs differ" : "of no outputs that they differ"));
  checks.require(report.converged.has_value() == report.until.has_value() &&
                     (!report.until || report.until->reached == report.converged),
                 "/converged", "converged is not what until says");
}

} // namespace

void check_figures(const documents::RunReportDocument& document, bool differs, const std::string& file,
                   ErrorList& errors) {
  const engine::RunReport& report = document.report;
  const documents::Evidence& evidence = document.evidence;
  FigureChecks checks(errors);
  checks.require_section(evidence.topology.has_value(), "/evidence", "topology evidence");
  checks.require_section(evidence.promotion.has_value(), "/evidence", "promotion evidence");
  check_end(report, differs, checks);
  check_counts(report, &report.recommendation, 0, checks);
  if (evidence.topology && evidence.promotion) {
    const std::uint64_t resident = evidence.topology->resident_device_bytes;
    check_promotion(report, *evidence.promotion, resident, checks);
  }
  check_items(report, checks);
  const planning::MemoryPlan plan = memory_plan(document.plan);
  check_lineage(report, plan, checks);
  check_launches(report, plan, checks);
  check_output_figures(report, evidence, file, checks);
  check_active(report, checks);
  check_occupancy(report, checks);
  check_next_request(report, evidence, checks);
  const bool persistent = engine::is_persistent(report.strategy);
  checks.require(
      report.status != engine::RunStatus::done ||
          (report.geometry.worker_groups != 0 ? persistent : !persistent || !report.fallbacks.empty()),
      "/effective_geometry/worker_groups", "only a persistent launch has a number of work-groups");
  check_policy_fields(report, checks);
  check_choices(report, checks);
  check_memory(report.memory, plan.group_count(), checks);
}

} // namespace tidegate::app
