// `tidegate check`: is a document well formed, does its evidence hold, and is a plan right?
#include "app/check.hpp"

#include "app/arena.hpp"
#include "app/command_line.hpp"
#include "app/lint.hpp"
#include "app/options.hpp"
#include "app/plan.hpp"
#include "app/run.hpp"
#include "app/serve.hpp"
#include "app/terminal.hpp"
#include "core/catalogue.hpp"
#include "core/files.hpp"
#include "core/statistics.hpp"
#include "core/table.hpp"
#include "engine/documents.hpp"
#include "engine/traversal/documents.hpp"
#include "work/documents.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/documents.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

namespace tidegate::app {
namespace {

using documents::CheckedDocument;
using documents::Document;
using documents::LaunchRecommendationDocument;
using documents::Verdict;

tl::unexpected<Error> incomplete(std::string_view what, std::string_view document, std::string pointer,
                                 std::string_view field) {
  return tl::unexpected(Error{
      .code = ErrorCode::incomplete_evidence,
      .message = fmt::format("the {} is not complete: {} is not as it must be", what, field),
      .fix = fmt::format("`tidegate schema {} --format table` says what completes each field", document),
      .pointer = std::move(pointer),
      .field = std::string(field)});
}

tl::unexpected<Error>
inconsistent(std::string pointer, std::string_view field, std::string message,
             std::string fix = "make the recommendation and its evidence anew from the same request") {
  return tl::unexpected(Error{.code = ErrorCode::inconsistent_evidence,
                              .message = std::move(message),
                              .fix = std::move(fix),
                              .pointer = std::move(pointer),
                              .field = std::string(field)});
}

std::string contradicts(std::string_view field) {
  return fmt::format("{} contradicts the rest of the document", field);
}

// Returns the fault of one kind of evidence: it contradicts the recommendation, misstates its type, or is incomplete.
template <class EvidenceType>
Result<void> judge(std::string_view which, const std::optional<EvidenceType>& evidence,
                   std::optional<bool> claimed_complete, const policy::LaunchRecommendation& recommendation) {
  const auto at = [which](std::string_view field) { return fmt::format("/evidence/{}/{}", which, field); };
  if (evidence) {
    if (const auto field = policy::contradicted_field(*evidence, recommendation)) {
      return inconsistent(at(*field), *field, contradicts(*field));
    }
  }
  const auto field = evidence ? policy::incomplete_field(*evidence) : std::nullopt;
  if (field && claimed_complete == true) {
    return inconsistent(
        at(*field), *field,
        fmt::format("the {} evidence is said to be complete, but {} is not as it must be", which, *field));
  }
  if (claimed_complete.has_value() != evidence.has_value() ||
      (evidence && *claimed_complete == field.has_value())) {
    return inconsistent(fmt::format("/evidence/complete/{}", which), which, contradicts(which));
  }
  if (field) {
    return incomplete(fmt::format("{} evidence", which), "launch_recommendation", at(*field), *field);
  }
  return {};
}

Result<void> judge(const LaunchRecommendationDocument& document) {
  const auto& [recommendation, evidence, explanation, device] = document;
  if (!evidence) {
    return {};
  }
  TIDEGATE_CHECK(judge("topology", evidence->topology, evidence->complete.topology, recommendation));
  return judge("promotion", evidence->promotion, evidence->complete.promotion, recommendation);
}

tl::unexpected<Error> invalid_plan(std::string violation, std::string_view planner) {
  return failure(ErrorCode::invalid_plan, std::move(violation),
                 fmt::format("make the plan anew with `tidegate {}`, from the same input", planner));
}

// Checks the fields that follow from the plan itself.
Result<void> judge(const documents::FrontierMemoryPlan& document) {
  const std::size_t groups = document.barriers.groups.size();
  if (document.barriers.global_barriers != (groups == 0 ? 0 : groups - 1)) {
    return invalid_plan(fmt::format("global_barriers is given as {}, and there are {} groups",
                                    document.barriers.global_barriers, groups),
                        "plan");
  }
  if (document.objective.has_value() != (document.planner == documents::Planner::compact)) {
    return invalid_plan("the objective belongs to the strategy compact and to no other", "plan");
  }
  std::vector<std::uint32_t> waves;
  std::size_t widest = 0;
  std::uint64_t most_bytes = 0;
  for (const auto& group : document.barriers.groups) {
    waves.insert(waves.end(), group.waves.begin(), group.waves.end());
    widest = std::max(widest, group.waves.size());
    most_bytes = std::max(most_bytes, group.fused_bytes);
  }
  std::ranges::sort(waves);
  for (std::size_t i = 0; i < waves.size(); ++i) {
    if (waves[i] != i) {
      return invalid_plan(fmt::format("of {} waves, wave {} is not in exactly one group", waves.size(), i),
                          "plan");
    }
  }
  const planning::MemoryPlan& plan = document.plan;
  if (plan.max_group_width > widest || // less where windows are one wave
      plan.lower_bound_groups > groups ||
      std::max({plan.peak_frontier_bytes, plan.peak_scratch_bytes, plan.peak_output_bytes}) > most_bytes) {
    return invalid_plan("max_group_width, lower_bound_groups or the peaks are not what the groups allow",
                        "plan");
  }
  return {};
}

Result<void> judge(const documents::FrontierMemoryPlan& document, const planning::WaveDag& dag) {
  if (auto violation = planning::first_violation(dag, memory_plan(document))) {
    return invalid_plan(*std::move(violation), "plan");
  }
  return judge(document);
}

Result<void> judge(const documents::ArenaPlanDocument& document,
                   const documents::BufferLifetimes& lifetimes) {
  TIDEGATE_TRY(const BufferIndex index, index_buffers(lifetimes));
  planning::ArenaPlan plan = document.plan;
  plan.offsets.assign(lifetimes.buffers.size(), 0);
  std::vector<bool> placed(lifetimes.buffers.size(), false);
  for (const documents::ArenaOffset& buffer : document.buffers) {
    const auto found = index.find(buffer_key(buffer.id));
    if (found == index.end()) {
      return invalid_plan(fmt::format("the lifetimes have no buffer {}", describe(buffer.id)), "arena");
    }
    if (placed[found->second]) {
      return invalid_plan(fmt::format("buffer {} has two offsets", describe(buffer.id)), "arena");
    }
    placed[found->second] = true;
    plan.offsets[found->second] = buffer.offset;
  }
  if (const auto left = std::ranges::find(placed, false); left != placed.end()) {
    const auto& buffer = lifetimes.buffers[static_cast<std::size_t>(left - placed.begin())];
    return invalid_plan(fmt::format("buffer {} has no offset", describe(buffer.id)), "arena");
  }
  if (auto violation = planning::check_arena(arena_problem(lifetimes), plan)) {
    return invalid_plan(*violation + " (buffers are counted from 0)", "arena");
  }
  return {};
}

// Figures of a run report that follow from others of it.
class Sums {
public:
  explicit Sums(ErrorList& errors) : errors_(&errors) {}

  void hold(bool holds, std::string pointer, std::string message) {
    if (!holds) {
      errors_->add({.code = ErrorCode::inconsistent_evidence,
                    .message = std::move(message),
                    .fix = "run the program anew: all figures of a report are of one run",
                    .pointer = std::move(pointer)});
    }
  }
  void equal(std::string pointer, std::string_view what, std::uint64_t given, std::string_view other,
             std::uint64_t expected) {
    hold(given == expected, std::move(pointer),
         fmt::format("{} {}, and {} {}", what, given, other, expected));
  }
  void at_most(std::string pointer, std::string_view what, std::uint64_t given, std::string_view other,
               std::uint64_t most) {
    hold(given <= most, std::move(pointer),
         fmt::format("{} is {}, and {} only {}", what, given, other, most));
  }

private:
  ErrorList* errors_;
};

// Counts that reports of all runs have.
void check_counts(const engine::ReportHead& report, const policy::LaunchRecommendation* recommendation,
                  Sums& sums) {
  const engine::Telemetry& telemetry = report.telemetry;
  if (recommendation != nullptr) {
    const policy::LaunchGeometry& geometry = recommendation->geometry;
    sums.equal("/recommended_geometry/workgroup_size", "workgroup_size is",
               report.recommended_geometry.workgroup_size, "that of the recommendation",
               geometry.workgroup_size_x);
    sums.equal("/recommended_geometry/worker_groups", "worker_groups is",
               report.recommended_geometry.worker_groups, "that of the recommendation",
               recommendation->worker_groups);
  }
  sums.at_most("/wall_time_ns", "build_ns, backend_dispatch_ns or traversal_ns, and read_back_ns together",
               report.build_ns + report.dispatch_ns + report.read_back_ns, "wall_time_ns",
               report.wall_time_ns);
  sums.at_most("/slices_ns", "number of slices", report.slices_ns.size(), "kernel_launches",
               telemetry.kernel_launches);
  sums.equal("/telemetry/bytes_moved", "bytes_moved is", telemetry.bytes_moved,
             "bytes_uploaded and bytes_read_back are together",
             telemetry.bytes_uploaded + telemetry.bytes_read_back);
  sums.at_most("/telemetry/recorded_launches", "recorded_launches", telemetry.recorded_launches,
               "kernel_launches", telemetry.kernel_launches);
  sums.hold(!report.region_lineage.empty() || report.lineage_items == 0, "/lineage_items",
            "items derive from rules, and region_lineage is empty");
  sums.at_most("/lineage_items", "lineage_items", report.lineage_items, "items_processed",
               report.items_processed);
}

// Checks that the evidence of every chosen topology follows from the waves of the same report.
Result<void> judge_evidence(const traversal::FrontierReport& report) {
  const engine::Geometry& geometry = report.geometry;
  const auto flaw = traversal::first_flaw(report.evidence, report.waves, report.memory,
                                          geometry.worker_groups * geometry.workgroup_size);
  if (!flaw) {
    return {};
  }
  const bool whole = flaw->item >= report.evidence.size();
  std::string pointer = whole ? "/evidence" : fmt::format("/evidence/{}/{}", flaw->item, flaw->field);
  if (!flaw->incomplete) {
    return inconsistent(std::move(pointer), flaw->field, contradicts(flaw->field),
                        "run the program anew: evidence and waves are of one run");
  }
  return incomplete("evidence of a topology", "frontier_report", std::move(pointer), flaw->field);
}

// Figures that follow from the waves.
void check_waves(const traversal::FrontierReport& report, Sums& sums) {
  const engine::Telemetry& telemetry = report.telemetry;
  const traversal::WaveSummary& summary = report.summary;
  const bool done = report.status == engine::RunStatus::done;
  traversal::WaveSummary expected{.waves = report.waves.size()};
  std::uint64_t vertices = 0;
  std::uint32_t density_bps = 0;
  for (std::size_t i = 0; i < report.waves.size(); ++i) {
    const traversal::WaveRecord& wave = report.waves[i];
    vertices += wave.vertices;
    density_bps = std::max(density_bps, wave.density_bps);
    expected.alone_waves += wave.alone ? 1 : 0;
    expected.topology_changes += i != 0 && wave.topology != report.waves[i - 1].topology ? 1 : 0;
    expected.frontier_edges += wave.frontier_edges;
    expected.scanned_edges += wave.scanned_edges;
    if (wave.vertices > expected.widest_vertices) {
      expected.widest_vertices = wave.vertices;
      expected.widest_wave = wave.wave;
    }
    const std::string pointer = fmt::format("/waves/{}/", i);
    sums.equal(pointer + "wave", "wave is", wave.wave, "its place is", i);
    sums.equal(pointer + "previous_edges", "previous_edges is", wave.previous_edges,
               "frontier_edges before it are",
               i == 0 ? wave.previous_edges : report.waves[i - 1].frontier_edges);
    sums.at_most(pointer + "vertices", "vertices", wave.vertices, "vertices of the graph",
                 report.graph.vertices);
  }
  const auto equal = [&](std::string_view field, std::uint64_t given, std::uint64_t of_waves) {
    sums.equal(fmt::format("/summary/{}", field), fmt::format("{} is", field), given, "of the waves it is",
               of_waves);
  };
  equal("waves", summary.waves, expected.waves);
  equal("alone_waves", summary.alone_waves, expected.alone_waves);
  equal("topology_changes", summary.topology_changes, expected.topology_changes);
  equal("frontier_edges", summary.frontier_edges, expected.frontier_edges);
  equal("scanned_edges", summary.scanned_edges, expected.scanned_edges);
  equal("widest_vertices", summary.widest_vertices, expected.widest_vertices);
  equal("widest_wave", summary.widest_wave, expected.widest_wave);
  const double edges_per_ns =
      static_cast<double>(expected.frontier_edges) / static_cast<double>(report.dispatch_ns);
  sums.hold(report.dispatch_ns == 0 ||
                std::abs(summary.edges_per_second - 1e9 * edges_per_ns) <= edges_per_ns,
            "/summary/edges_per_second", "edges_per_second is not frontier_edges by traversal_ns");
  if (done || !report.waves.empty()) { // a device that did not come back has shown no waves
    sums.equal("/items_processed", "items_processed is", report.items_processed, "vertices of the waves are",
               vertices);
    sums.equal("/telemetry/frontier_density_bps", "frontier_density_bps is", telemetry.frontier_density_bps,
               "that of the widest frontier", density_bps);
  }
  if (done) {
    sums.equal("/items_remaining", "items_remaining is", report.items_remaining,
               "of a run that is done it is", 0);
    sums.hold(report.replay && report.replay->waves == report.waves.size(), "/replay",
              "the host has not replayed the choices of all waves");
  }
  sums.equal("/published_items", "published_items is", report.published_items,
             "items_processed and items_remaining are together",
             report.items_processed + report.items_remaining);
  std::uint64_t bytes = 0;
  for (const traversal::MemoryPart& part : report.memory.parts) {
    bytes += part.bytes;
  }
  sums.equal("/memory/bytes", "bytes is", report.memory.bytes, "the parts have together", bytes);
  sums.equal("/memory", "bytes is", report.memory.bytes, "that of the layout is",
             report.memory.constrained ? report.memory.constrained_bytes : report.memory.full_bytes);
  sums.equal("/telemetry/estimated_peak_device_bytes", "estimated_peak_device_bytes is",
             telemetry.estimated_peak_device_bytes, "bytes of the memory are", report.memory.bytes);
  sums.equal("/telemetry/device_memory_budget_bytes", "device_memory_budget_bytes is",
             telemetry.device_memory_budget_bytes, "that of the memory", report.memory.budget_bytes);
}

// A frontier report: the result was right where it was checked, the host made the choices of the device, and what
// follows from the waves does.
Result<void> judge(const traversal::FrontierReport& report) {
  ErrorList errors;
  errors.check(judge_evidence(report));
  Sums sums(errors);
  const bool wrong = report.verification && !report.verification->right;
  const bool replayed =
      !report.replay || (!report.replay->first_difference && report.replay->agreed == report.replay->waves);
  if (wrong || !replayed) {
    errors.add({.code = ErrorCode::outputs_differ,
                .message = wrong ? "the result is not what the serial algorithm computes"
                                 : "the policy makes other choices of the logged numbers than the device",
                .fix = "error in the report says where to look",
                .pointer = wrong ? "/verification/right" : "/replay/first_difference"});
  }
  const bool good = report.status == engine::RunStatus::done || report.status == engine::RunStatus::planned;
  sums.hold(good != report.error.has_value(), "/status",
            fmt::format("the status is {}, and there is {} error",
                        engine::run_status_names[static_cast<std::size_t>(report.status)],
                        report.error ? "an" : "no"));
  check_counts(report, report.recommendation ? &*report.recommendation : nullptr, sums);
  if (report.status != engine::RunStatus::planned) {
    check_waves(report, sums);
  }
  return errors.result();
}

void check_items(const engine::RunReport& report, Sums& sums) {
  const auto of_queues = [&report](auto member) {
    std::uint64_t sum = 0;
    for (const engine::QueueReport& queue : report.queues) {
      sum += queue.*member;
    }
    return sum;
  };
  const bool done = report.status == engine::RunStatus::done;
  if (done) {
    sums.equal("/items_remaining", "items_remaining is", report.items_remaining,
               "of a run that is done it is", 0);
  }
  sums.at_most("/queues", "items_processed of the queues", of_queues(&engine::QueueReport::items_processed),
               "items_processed", report.items_processed);
  sums.at_most("/queues", "items_remaining of the queues", of_queues(&engine::QueueReport::items_remaining),
               "items_remaining", report.items_remaining);
  if (report.converged == true) {
    sums.at_most("/items_processed", "items_processed", report.items_processed, "items_in_all",
                 report.items_in_all);
  } else {
    sums.equal("/items_processed", "items_processed and items_remaining are together",
               report.items_processed + report.items_remaining, "items_in_all is", report.items_in_all);
  }
  sums.equal("/deduped_items", "deduped_items is", report.deduped_items, "that of the queues",
             of_queues(&engine::QueueReport::deduped_items));
  for (std::size_t i = 0; i < report.queues.size(); ++i) {
    const engine::QueueReport& queue = report.queues[i];
    const std::string pointer = fmt::format("/queues/{}/", i);
    sums.equal(pointer + "items", "deduped_items and published_items are together",
               queue.deduped_items + queue.published_items, "items is", queue.items);
    if (queue.publishing) {
      const engine::PublishingReport& counted = *queue.publishing;
      sums.equal(pointer + "items_processed", "items_processed is", queue.items_processed,
                 "executed_items is", counted.executed_items);
      const std::uint64_t accounted = counted.executed_items + queue.items_remaining;
      const std::uint64_t known = counted.given_items + counted.published_items;
      sums.hold(done ? accounted == known : accounted >= known, // later iterations have not been given theirs
                pointer + "publishing/executed_items",
                fmt::format("executed_items and items_remaining are together {}, and given_items and "
                            "published_items are {}",
                            accounted, known));
      if (done) {
        sums.at_most(pointer + "publishing/needed_capacity", "needed_capacity", counted.needed_capacity,
                     "capacity", counted.capacity);
      }
    } else if (report.converged != true) {
      sums.hold(queue.published_items != 0 &&
                    (queue.items_processed + queue.items_remaining) % queue.published_items == 0,
                pointer + "items_processed",
                fmt::format(
                    "items_processed and items_remaining are together {}, no multiple of published_items {}",
                    queue.items_processed + queue.items_remaining, queue.published_items));
    }
  }
  if (report.priority) {
    sums.equal("/priority/requeue_count", "requeue_count is", report.priority->accounting.requeue_count,
               "that of the queues", of_queues(&engine::QueueReport::requeue_count));
    sums.equal("/priority/aged_promotions", "aged_promotions is", report.priority->accounting.aged_promotions,
               "that of the queues", of_queues(&engine::QueueReport::aged_promotions));
    std::uint64_t oldest = 0;
    for (const engine::QueueReport& queue : report.queues) {
      oldest = std::max<std::uint64_t>(oldest, queue.max_priority_age);
    }
    sums.equal("/priority/max_priority_age", "max_priority_age is",
               report.priority->accounting.max_priority_age, "the largest of the queues", oldest);
    sums.hold(report.priority == policy::drain_recommendation(report.priority->accounting), "/priority",
              "the advice is not what follows from the counters");
  }
}

void check_hits(const engine::RunReport& report, const documents::Evidence& evidence, Sums& sums) {
  if (!report.hits) {
    return;
  }
  const bool counted = report.status == engine::RunStatus::done ||
                       report.status == engine::RunStatus::outputs_differ ||
                       report.status == engine::RunStatus::hits_overflow;
  std::uint64_t capacity = 0;
  bool overflow = false;
  for (std::size_t i = 0; i < report.hits->size(); ++i) {
    const engine::HitsReport& hits = (*report.hits)[i];
    const std::string pointer = fmt::format("/hits/{}/", i);
    capacity += hits.capacity;
    overflow |= overflows(hits);
    if (hits.rule && !hits.grown_from) {
      const engine::HitCapacityRule& rule = *hits.rule;
      sums.equal(
          pointer + "capacity", "capacity is", hits.capacity, "by its rule it is",
          std::max<std::uint64_t>(rule.items * rule.expected_hits_per_item * rule.multiplier, rule.least));
      if (evidence.promotion) {
        sums.equal(pointer + "rule/items", "items is", rule.items, "queue_len of the evidence is",
                   evidence.promotion->queue_len);
      }
    }
    sums.hold(!counted || hits.hits, pointer + "hits", "the run was done, and has no count of hits");
    if (hits.hits) {
      sums.equal(pointer + "dropped", "dropped is", hits.dropped.value_or(0),
                 "hits without room:", *hits.hits - std::min(*hits.hits, hits.capacity));
      sums.equal(pointer + "needed_capacity", "needed_capacity is", hits.needed_capacity.value_or(0),
                 "hits, and at least 1:", std::max<std::uint64_t>(*hits.hits, 1));
    }
  }
  sums.equal("/telemetry/hit_capacity", "hit_capacity is", report.telemetry.hit_capacity,
             "capacities of the lists are together",
             std::min<std::uint64_t>(capacity, std::numeric_limits<std::uint32_t>::max()));
  sums.hold(overflow == (report.status == engine::RunStatus::hits_overflow), "/hits",
            fmt::format("{} list overflowed, and the status is {}", overflow ? "a" : "no",
                        engine::run_status_names[static_cast<std::size_t>(report.status)]));
}

void check_active(const engine::RunReport& report, Sums& sums) {
  for (std::size_t i = 0; report.active && i < report.active->size(); ++i) {
    const engine::ActiveReport& wave = (*report.active)[i];
    const std::string pointer = fmt::format("/active/{}/", i);
    std::uint64_t active_tiles = 0;
    for (std::size_t k = 0; k < wave.choices.size(); ++k) {
      active_tiles += wave.choices[k].active_tiles;
      sums.hold(wave.choices[k].iteration == wave.iterations - wave.choices.size() + k,
                fmt::format("{}choices/{}/iteration", pointer, k),
                "the iterations are not the last ones, one after another");
      sums.at_most(fmt::format("{}choices/{}/active_tiles", pointer, k), "active_tiles",
                   wave.choices[k].active_tiles, "tiles", wave.tiles);
    }
    const auto different = engine::first_difference(wave);
    sums.hold(!different, fmt::format("{}choices/{}", pointer, different.value_or(0)),
              "the rules of the launch policy choose otherwise for this count after this topology");
    sums.equal(pointer + "reproduced", "reproduced is", wave.reproduced, "choices:", wave.choices.size());
    sums.at_most(pointer + "active_tiles", "active_tiles", wave.active_tiles, "tiles of all iterations",
                 wave.tiles * wave.iterations);
    if (wave.choices.size() == wave.iterations) {
      sums.equal(pointer + "active_tiles", "active_tiles is", wave.active_tiles, "those of the choices are",
                 active_tiles);
    } else {
      sums.at_most(pointer + "active_tiles", "active_tiles of the choices", active_tiles, "active_tiles",
                   wave.active_tiles);
    }
  }
}

void check_rounds(const engine::Comparison& comparison, Sums& sums) {
  const auto side = [&](std::string_view name, std::vector<double> rounds, double least, double median,
                        double most) {
    const std::string pointer = fmt::format("/comparison/{}_rounds_ns", name);
    sums.equal(pointer, "elements:", rounds.size(), "rounds is", comparison.rounds);
    if (rounds.empty()) {
      return;
    }
    std::ranges::sort(rounds);
    const bool middle = rounds[(rounds.size() - 1) / 2] <= median && median <= rounds[rounds.size() / 2];
    sums.hold(
        rounds.front() == least && middle && rounds.back() == most, pointer,
        fmt::format("{0}_min_ns, {0}_ns and {0}_max_ns are not the least, the median and the largest of "
                    "{0}_rounds_ns",
                    name));
  };
  side("plain", comparison.plain_rounds_ns, comparison.plain_min_ns, comparison.plain_ns,
       comparison.plain_max_ns);
  side("run", comparison.run_rounds_ns, comparison.run_min_ns, comparison.run_ns, comparison.run_max_ns);
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
    sums.hold(std::abs(given - expected) <= 1e-9 * expected, fmt::format("/comparison/{}", field),
              fmt::format("{} is {}, and that of the rounds' ratios {}", field, given, expected));
  }
}

void check_telemetry(const engine::RunReport& report, Sums& sums) {
  const engine::Telemetry& telemetry = report.telemetry;
  const policy::LaunchRecommendation& recommendation = report.recommendation;
  const auto same = [&](std::string_view field, std::string_view given, std::string_view recommended) {
    sums.hold(given == recommended, fmt::format("/telemetry/{}", field),
              fmt::format("{} is {}, and that of the recommendation {}", field, given, recommended));
  };
  same("topology", policy::name(telemetry.topology), policy::name(recommendation.topology));
  same("pressure", policy::name(telemetry.pressure), policy::name(recommendation.pressure));
  sums.hold(telemetry.execution_mode == report.mode, "/telemetry/execution_mode",
            fmt::format("execution_mode is {}, and that of the run {}",
                        policy::name(telemetry.execution_mode), policy::name(report.mode)));
  sums.equal("/telemetry/hit_capacity", "hit_capacity is", telemetry.hit_capacity,
             "that of the recommendation", recommendation.hit_capacity);
  sums.equal("/telemetry/estimated_peak_device_bytes", "estimated_peak_device_bytes is",
             telemetry.estimated_peak_device_bytes, "that of the recommendation",
             recommendation.estimated_peak_device_bytes);
  sums.equal("/telemetry/device_memory_budget_bytes", "device_memory_budget_bytes is",
             telemetry.device_memory_budget_bytes, "that of the recommendation",
             recommendation.device_memory_budget_bytes);
}

// Checks the arena as `check arena` does: reports of older versions do not say how long buffers are.
void check_memory(const engine::MemoryReport& memory, Sums& sums) {
  planning::ArenaProblem problem;
  planning::ArenaPlan plan{.height_bytes = memory.arena_bytes,
                           .lower_bound_bytes = memory.lower_bound_bytes,
                           .optimal = memory.optimal,
                           .gave_up = !memory.optimal};
  std::uint64_t sum = 0;
  for (const engine::BufferOffset& buffer : memory.offsets) {
    if (!buffer.alive || !std::has_single_bit(buffer.alive->alignment)) {
      sums.hold(!buffer.alive, "/memory/offsets", "an alignment is no power of two");
      sums.at_most("/memory/lower_bound_bytes", "lower_bound_bytes", memory.lower_bound_bytes, "arena_bytes",
                   memory.arena_bytes);
      return;
    }
    problem.buffers.push_back(*buffer.alive);
    plan.offsets.push_back(buffer.offset);
    sum += (buffer.alive->size + buffer.alive->alignment - 1) & ~(buffer.alive->alignment - 1);
  }
  if (plan.optimal) {
    const bool meets = plan.height_bytes == plan.lower_bound_bytes;
    plan.proof = meets ? planning::ArenaProof::meets_bound : planning::ArenaProof::exhausted_search;
    plan.search_nodes = meets ? 0 : 1;
  }
  sums.equal("/memory/sum_bytes", "sum_bytes is", memory.sum_bytes, "the buffers have together", sum);
  const auto violation = planning::check_arena(problem, plan);
  sums.hold(!violation, "/memory", violation.value_or(""));
}

void check_choices(const engine::RunReport& report, Sums& sums) {
  std::size_t taken = 0;
  for (std::size_t i = 0; report.candidates && i < report.candidates->size(); ++i) {
    const engine::CandidateReport& candidate = (*report.candidates)[i];
    const double parts = candidate.estimated_parts_ns.sum();
    sums.hold(
        std::abs(candidate.estimated_ns - parts) <= 1e-9 * parts,
        fmt::format("/candidates/{}/estimated_ns", i),
        fmt::format("estimated_ns is {}, and its parts are together {}", candidate.estimated_ns, parts));
    taken += candidate.taken ? 1 : 0;
    sums.hold(!candidate.taken || candidate.strategy == report.strategy,
              fmt::format("/candidates/{}/taken", i), "the strategy of the run is another one");
  }
  sums.at_most("/candidates", "candidates taken", taken, "there can be", 1);
  if (report.wave_times) {
    std::uint64_t critical_ns = report.wave_times->synchronization_ns;
    for (const engine::WaveTime& wave : report.wave_times->waves) {
      critical_ns += wave.critical_ns;
    }
    sums.equal("/wave_times/critical_path_ns", "critical_path_ns is", report.wave_times->critical_path_ns,
               "its parts are together", critical_ns);
  }
}

// Derives the outcome of a run from its parts.
void check_end(const engine::RunReport& report, bool differs, Sums& sums) {
  using enum engine::RunStatus;
  const std::string_view status = engine::run_status_names[static_cast<std::size_t>(report.status)];
  const bool good = report.status == done || report.status == planned || report.status == checked;
  sums.hold(good != report.error.has_value(), "/status",
            fmt::format("the status is {}, and there is {} error", status, report.error ? "an" : "no"));
  sums.hold((report.status == outputs_differ) == differs, "/status",
            fmt::format("the status is {}, and output_parity says {}", status,
                        differs ? "that outputs differ" : "of no outputs that they differ"));
  sums.hold(report.converged.has_value() == report.until.has_value() &&
                (!report.until || report.until->reached == report.converged),
            "/converged", "converged is not what until says");
}

Result<void> judge(const engine::OutputParity& parity) {
  if (!parity.equal) {
    return failure(ErrorCode::outputs_differ,
                   fmt::format("{} of the outputs are not as plain launches leave them",
                               plural(parity.differing_elements, "element")),
                   "likely_cause in its output_parity says where to look", "/output_parity/equal");
  }
  if (parity.differing_elements != 0 || parity.first_difference) {
    return inconsistent("/output_parity/equal", "equal", contradicts("equal"));
  }
  return {};
}

// A run report: outputs that were compared were equal, the evidence is complete, and what follows from
// something else in it does. A run that ended before its time, and says so, is a sound report.
Result<void> judge(const documents::RunReportDocument& document) {
  const engine::RunReport& report = document.report;
  ErrorList errors;
  const bool under_stress = report.stress && report.stress->failure;
  bool differs = (report.output_parity && !report.output_parity->equal) || under_stress;
  const auto expected = report.expected.value_or(std::vector<engine::ExpectedReport>());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    differs |= !expected[i].equal;
    if (!expected[i].equal) {
      errors.add(
          {.code = ErrorCode::outputs_differ,
           .message = fmt::format("{} of {} of {} are not as expected", expected[i].outside,
                                  plural(expected[i].elements, "element"), in_quotes(expected[i].buffer)),
           .fix = "look at the worst of them",
           .pointer = fmt::format("/expected/{}/equal", i)});
    }
  }
  if (report.output_parity) {
    errors.check(judge(*report.output_parity));
  }
  if (under_stress) {
    errors.add({.code = ErrorCode::outputs_differ,
                .message = fmt::format("a run under stress failed: {}", report.stress->failure->variation),
                .fix = "look at the waves that it names",
                .pointer = "/stress/failure"});
  }
  const documents::Evidence& evidence = document.evidence;
  errors.check(judge("topology", evidence.topology, evidence.complete.topology, report.recommendation));
  errors.check(judge("promotion", evidence.promotion, evidence.complete.promotion, report.recommendation));
  for (const auto& [which, there] : {std::pair("topology", evidence.topology.has_value()),
                                     std::pair("promotion", evidence.promotion.has_value())}) {
    if (!there) {
      errors.add({.code = ErrorCode::incomplete_evidence,
                  .message = fmt::format("the report has no {} evidence", which),
                  .fix = "run the program anew: every run writes it",
                  .pointer = "/evidence"});
    }
  }
  errors.check(judge(document.plan));
  Sums sums(errors);
  check_end(report, differs, sums);
  check_counts(report, &report.recommendation, sums);
  check_items(report, sums);
  check_hits(report, evidence, sums);
  check_active(report, sums);
  check_telemetry(report, sums);
  if (report.comparison) {
    check_rounds(*report.comparison, sums);
  }
  check_choices(report, sums);
  check_memory(report.memory, sums);
  return errors.result();
}

template <class T>
bool is(const Document& document) {
  return &document == &documents::DocumentOf<T>::document;
}

// A premise that no document of this type is held against would make its verdict look like more than it is.
Result<void> idle_premise(const Document& document, const Premises& premises) {
  const bool used = (premises.dag && is<documents::FrontierMemoryPlan>(document)) ||
                    (premises.lifetimes && is<documents::ArenaPlanDocument>(document));
  if (used || (!premises.dag && !premises.lifetimes)) {
    return {};
  }
  return failure(ErrorCode::wrong_kind,
                 fmt::format("a {} is not held against {}", document.kind,
                             premises.dag ? "a wave DAG" : "buffer lifetimes"),
                 fmt::format("check it without {}", premises.dag ? "--dag" : "--lifetimes"));
}

// Returns the place of the first value that a document has a second time, with another value: decoding keeps one of them.
std::optional<std::string> twofold(std::string_view json, const Document& document, const void* object) {
  std::string kept;
  documents::encode(document, object, documents::Style::compact, kept);
  const nlohmann::json given = nlohmann::json::parse(json).flatten();
  const nlohmann::json decoded = nlohmann::json::parse(kept).flatten();
  for (const auto& [pointer, value] : given.items()) {
    if (const auto found = decoded.find(pointer); found != decoded.end() && *found != value) {
      return pointer;
    }
  }
  return std::nullopt;
}

// Decodes it as the type that it is of, and says what the schema cannot.
Result<void> judge(const Document& document, std::string_view json, const Premises& premises,
                   CheckedDocument& entry) {
  if (is<engine::WaveProgram>(document)) {
    TIDEGATE_TRY(const engine::WaveProgram program,
                 read_program(json, program_folder(entry.file), premises.scope, engine::FileCheck::contents));
    TIDEGATE_TRY(std::vector<engine::Warning> warnings, lint(program, entry.file, premises.scope));
    if (!warnings.empty()) {
      entry.warnings = std::move(warnings);
    }
    return {};
  }
  if (is<documents::NamedWaveDag>(document)) {
    return read_wave_dag(json).and_then([](documents::NamedWaveDag&& dag) { return lint(std::move(dag)); });
  }
  if (is<documents::BufferLifetimes>(document)) {
    return read_lifetimes(json).and_then([](const auto& lifetimes) { return lint(lifetimes); });
  }
  if (is<graphs::FrontierProgram>(document)) {
    return read_frontier_program(json).and_then(
        [&](const auto& program) { return lint(program, entry.file, premises.scope); });
  }
  // A document with errors of form is not checked further.
  const documents::Record::Object object = document.record->object();
  TIDEGATE_CHECK(documents::Decoder().decode(document, json, object.get()));
  if (is<documents::RunReportDocument>(document) || is<traversal::FrontierReport>(document)) {
    if (const auto pointer = twofold(json, document, object.get())) {
      return inconsistent(*pointer, *pointer,
                          "the report has this figure in two places, with different values",
                          "run the program anew: all figures of a report are of one run");
    }
  }
  if (is<LaunchRecommendationDocument>(document)) {
    return judge(*static_cast<const LaunchRecommendationDocument*>(object.get()));
  }
  if (is<documents::RunReportDocument>(document)) {
    return judge(*static_cast<const documents::RunReportDocument*>(object.get()));
  }
  if (is<documents::FrontierMemoryPlan>(document)) {
    const auto& plan = *static_cast<const documents::FrontierMemoryPlan*>(object.get());
    return premises.dag ? judge(plan, *premises.dag) : judge(plan);
  }
  if (is<documents::ArenaPlanDocument>(document) && premises.lifetimes) {
    return judge(*static_cast<const documents::ArenaPlanDocument*>(object.get()), *premises.lifetimes);
  }
  if (is<traversal::FrontierReport>(document)) {
    return judge(*static_cast<const traversal::FrontierReport*>(object.get()));
  }
  return {};
}

Verdict verdict_of(ErrorCode code) {
  switch (code) {
  case ErrorCode::incomplete_evidence: return Verdict::incomplete;
  case ErrorCode::inconsistent_evidence:
  case ErrorCode::invalid_plan: return Verdict::inconsistent;
  default: return Verdict::invalid;
  }
}

Result<void> find_faults(std::string_view json, const std::optional<std::string>& name,
                         const Premises& premises, CheckedDocument& entry) {
  TIDEGATE_TRY(const Document* const document,
               name ? documents::find_document(*name) : documents::recognise(json));
  entry.document = document->kind;
  TIDEGATE_CHECK(idle_premise(*document, premises));
  return judge(*document, json, premises, entry);
}

} // namespace

CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                               const std::string& file, std::optional<std::uint64_t> line,
                               const Premises& premises, std::string_view written) {
  CheckedDocument checked{.file = file, .line = line, .document = {}, .verdict = Verdict::valid, .error = {}};
  if (auto sound = find_faults(json, document, premises, checked); !sound) {
    checked.error = at_document(std::move(sound.error()), file, json, written);
    checked.verdict = verdict_of(checked.error->code);
    checked.others = documents::take_others(*checked.error);
    const auto locate_line = [&](Error& error) {
      if (line && error.source == display_name(file)) {
        error.line = line; // a document of a stream is one line of its file
      }
    };
    locate_line(*checked.error);
    if (checked.others) {
      std::ranges::for_each(*checked.others, locate_line);
    }
  }
  return checked;
}

namespace {

struct CheckSettings {
  std::optional<std::string> document;          // the type of every document; without it each says its own
  std::vector<std::string> files;               // paths, or - for standard input
  bool stream = false;                          // each line of a file is a document
  std::optional<std::string> dag;               // path of a wave_dag, or of a wave_program
  std::optional<std::uint64_t> budget_bytes;    // instead of that document's
  std::optional<std::string> lifetimes;         // path of buffer_lifetimes
  std::optional<std::uint64_t> capacity_bytes;  // instead of that document's
  std::vector<documents::Parameter> parameters; // of the premise, where there is one, else of every document
  PathScope scope = PathScope::folder;          // of the paths of programs
  std::string output = "-";
  std::string_view format{};
  bool quiet = false;
};

// Reads a premise from a file.
template <class Read>
auto read_premise(const std::string& file, const CheckSettings& request, Read read)
    -> decltype(read(std::string())) {
  TIDEGATE_TRY(const auto text, read_document(file, request.parameters));
  auto premise = read(text.json);
  if (!premise) {
    return tl::unexpected(at_document(std::move(premise.error()), file, text.json, text.written));
  }
  return premise;
}

Result<planning::WaveDag> read_sound_dag(const std::string& json, const CheckSettings& request) {
  TIDEGATE_TRY(NamedDag named, read_dag(json, {.budget_bytes = request.budget_bytes,
                                               .folder = program_folder(*request.dag),
                                               .scope = request.scope}));
  return std::move(named.dag);
}

Result<documents::BufferLifetimes> read_sound_lifetimes(const std::string& json,
                                                        const CheckSettings& request) {
  TIDEGATE_TRY(documents::BufferLifetimes lifetimes, read_lifetimes(json));
  TIDEGATE_CHECK(index_buffers(lifetimes));
  lifetimes.capacity_bytes = request.capacity_bytes ? request.capacity_bytes : lifetimes.capacity_bytes;
  return lifetimes;
}

Result<Premises> read_premises(const CheckSettings& request) {
  Premises premises{.scope = request.scope};
  if (request.dag) {
    TIDEGATE_TRY(premises.dag, read_premise(*request.dag, request, [&](const std::string& json) {
                   return read_sound_dag(json, request);
                 }));
  }
  if (request.lifetimes) {
    TIDEGATE_TRY(premises.lifetimes, read_premise(*request.lifetimes, request, [&](const std::string& json) {
                   return read_sound_lifetimes(json, request);
                 }));
  }
  return premises;
}

// Calls `visit` for every line that is not blank, with its number from 1.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      visit(line, number);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Checks every document of every file. A file that cannot be read is a verdict like any other; premises that cannot
// be read are an error.
Result<documents::CheckReport> check_documents(const CheckSettings& request) {
  TIDEGATE_TRY(const auto premises, read_premises(request));
  documents::CheckReport report;
  const auto add = [&report](CheckedDocument checked) {
    count_verdict(report, report.documents, std::move(checked));
  };
  for (const std::string& file : request.files) {
    const auto text =
        read_document(file, premises.dag || premises.lifetimes ? std::span<const documents::Parameter>()
                                                               : request.parameters);
    if (!text) {
      add({.file = file, .document = request.document, .verdict = Verdict::invalid, .error = text.error()});
    } else if (request.stream) {
      for_each_line(text->json, [&](std::string_view line, std::uint64_t number) {
        add(check_document(line, request.document, file, number, premises));
      });
    } else {
      add(check_document(text->json, request.document, file, {}, premises, text->written));
    }
  }
  return report;
}

std::string check_table(const documents::CheckReport& report, bool colour) {
  std::vector<std::vector<std::string>> rows;
  for (const CheckedDocument& checked : report.documents) {
    std::string location = display_name(checked.file);
    if (checked.line) {
      location += fmt::format(":{}", *checked.line);
    }
    const std::string verdict(documents::verdict_names[static_cast<std::size_t>(checked.verdict)]);
    std::string why = checked.error ? checked.error->message : "";
    if (checked.others) {
      why += fmt::format(" (and {})", plural(checked.others->size(), "more error"));
    }
    rows.push_back({location, checked.document.value_or("?"), verdict, std::move(why)});
  }
  return render_table(rows) + verdict_counts(report, colour);
}

// Short names of document types on the command line, and the option whose document a plan is checked against.
struct PlanType {
  std::string_view word;
  std::string_view document;
  std::string_view option;
  std::optional<std::string> CheckSettings::*premise;
};
constexpr std::array<PlanType, 2> plan_types{
    PlanType{"plan", "frontier_memory_plan", "--dag", &CheckSettings::dag},
    PlanType{"arena", "arena_plan", "--lifetimes", &CheckSettings::lifetimes}};

// Takes the type off the front of the words, where one stands there, and requires for plans what they are
// held against.
Result<void> take_type(CheckSettings& request) {
  const std::string first = request.files.empty() ? std::string() : request.files.front();
  const auto* const type = std::ranges::find(plan_types, first, &PlanType::word);
  if (type != plan_types.end()) {
    if (!(request.*(type->premise))) {
      return failure(
          ErrorCode::invalid_usage,
          fmt::format("check {} holds a plan against its input and needs {}", type->word, type->option),
          fmt::format("`tidegate check {} {} FILE PLAN`; `tidegate check {} PLAN` looks at the "
                      "document alone",
                      type->word, type->option, type->document));
    }
    request.document = std::string(type->document);
  } else if (documents::find_document(first)) {
    request.document = first;
  }
  if (request.document) {
    request.files.erase(request.files.begin());
  }
  for (const PlanType& plan : plan_types) {
    if (request.*(plan.premise) && request.document && *request.document != plan.document) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("{} is for plans of type {}", plan.option, plan.document),
                     fmt::format("leave it out, or check {}", plan.word));
    }
  }
  return {};
}

// Refuses options that have no effect on `check graph`.
Result<void> refuse_document_options(const CheckSettings& request) {
  const std::string_view option = request.stream                ? "--stream"
                                  : request.dag                 ? "--dag"
                                  : request.lifetimes           ? "--lifetimes"
                                  : !request.parameters.empty() ? "--param"
                                                                : "";
  if (option.empty()) {
    return {};
  }
  return failure(ErrorCode::invalid_usage,
                 fmt::format("{} is for documents, and check graph reads graphs", option), "leave it out");
}

// A mistyped document type looks like a file that does not exist, and standard input can be read once.
Result<void> refuse_words(const CheckSettings& request) {
  const auto inputs = std::ranges::count(request.files, "-") + (request.dag == "-" ? 1 : 0) +
                      (request.lifetimes == "-" ? 1 : 0);
  if (inputs > 1) {
    return failure(ErrorCode::invalid_usage, "standard input can be read once",
                   "give - once; with --stream each of its lines is a document");
  }
  const std::string& first = request.files.front();
  const auto found = documents::find_document(first);
  if (!request.document && !found && found.error().nearest && ::access(first.c_str(), F_OK) != 0) {
    Error error = found.error();
    error.code = ErrorCode::invalid_usage;
    return tl::unexpected(std::move(error));
  }
  return {};
}

// Refuses words that are no files, and an output that would replace an input.
Result<void> check_files(const CheckSettings& settings) {
  TIDEGATE_CHECK(refuse_words(settings));
  FileUses files{.inputs = {}, .outputs = {{settings.output, "-o", {}}}};
  for (const std::string& file : settings.files) {
    files.inputs.push_back({file, "a document that is checked", {}});
  }
  for (const auto& premise : {settings.dag, settings.lifetimes}) {
    if (premise) {
      files.inputs.push_back({*premise, "what plans are held against", {}});
    }
  }
  return refuse_overwriting(files);
}

// The error of a verdict, with the others of its document.
Error error_of(const documents::CheckedGraph& checked) {
  return *checked.error;
}
Error error_of(const CheckedDocument& checked) {
  Error error = *checked.error;
  error.others = checked.others.value_or(std::vector<Error>());
  return error;
}

// Writes the report, and the errors in it to standard error. The exit code is the worst of theirs.
template <class Report, class Table>
Result<ExitCode> answer(const CheckSettings& settings, const Report& report, const auto& verdicts,
                        Table table) {
  ExitCode code = ExitCode::done;
  for (const auto& verdict : verdicts) {
    if (verdict.error) {
      const Error error = error_of(verdict);
      print_error(error);
      code = worst(code, exit_code(error));
    }
    if constexpr (requires { verdict.warnings; }) {
      for (const engine::Warning& warning : verdict.warnings.value_or(std::vector<engine::Warning>())) {
        if (!settings.quiet) {
          print_warning(warning, verdict.file);
        }
      }
    }
  }
  TIDEGATE_CHECK(write_document(settings.output, settings.format, report, table));
  return code;
}

Result<ExitCode> run_check(CheckSettings& settings) {
  const bool graphs = !settings.files.empty() && settings.files.front() == "graph";
  if (graphs) {
    settings.files.erase(settings.files.begin());
    settings.document = "graph_report"; // no word of the command line is one
  } else {
    TIDEGATE_CHECK(take_type(settings));
  }
  if (settings.files.empty()) {
    settings.files.emplace_back("-");
  }
  if (graphs) {
    TIDEGATE_CHECK(refuse_document_options(settings));
  }
  TIDEGATE_CHECK(refuse_parameters(settings.stream, settings.parameters));
  TIDEGATE_CHECK(check_files(settings));
  if (graphs) {
    const documents::GraphReport report = check_graphs(settings.files);
    return answer(settings, report, report.graphs, graph_table);
  }
  TIDEGATE_TRY(const documents::CheckReport report, check_documents(settings));
  return answer(settings, report, report.documents, check_table);
}

OptionModel needing(std::string other, OptionModel option) {
  option.needs = std::move(other);
  return option;
}

} // namespace

CommandModel check_command() {
  const auto settings = std::make_shared<CheckSettings>();
  CheckSettings& request = *settings;
  OptionModel files = files_positional(
      "[KIND] FILE...", request.files,
      "Documents to check; - or none is standard input. A type before them (see `tidegate schema`) is that of all; "
      "plan and arena hold plans against their input; graph reports what graph files hold");
  files.choices = document_kinds();
  return {
      .options = {flag("--stream", request.stream, "Each line of a file is a document"),
                  file_option("--dag", request.dag, "Wave DAG, or wave program, that plans are held against"),
                  needing("--dag",
                          bytes_option("--budget", request.budget_bytes, "Budget instead of the wave DAG's")),
                  file_option("--lifetimes", request.lifetimes,
                              "Buffer lifetimes that arena plans are held against"),
                  needing("--lifetimes", bytes_option("--capacity", request.capacity_bytes,
                                                      "Capacity instead of the lifetimes'")),
                  parameter_option(request.parameters), path_scope_option(request.scope),
                  short_flag("-q", "--quiet", settings->quiet, "Print errors only, no warnings"),
                  format_option(settings->format), output_option(settings->output)},
      .positionals = {std::move(files)},
      .examples = {{"Is the evidence complete?",
                    "tidegate recommend examples/bfs_wave.json --evidence all | tidegate check -"},
                   {"Does a plan keep what it promises?",
                    "tidegate plan examples/stereo_camera.json | tidegate check plan --dag "
                    "examples/stereo_camera.json -"}},
      .run = [settings] { return run_check(*settings); }};
}

} // namespace tidegate::app
