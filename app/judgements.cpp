// Checks documents for faults that their schemas cannot express: incomplete evidence, invalid plans, wrong sums.
#include "app/arena.hpp"
#include "app/check.hpp"
#include "app/plan.hpp"
#include "core/files.hpp"
#include "core/npy.hpp"
#include "core/statistics.hpp"
#include "engine/documents.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

namespace tidegate::app {
namespace {

using documents::LaunchRecommendationDocument;

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
             std::string fix = "make the recommendation and its evidence again from the same request") {
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
// `further`: additional arguments of contradicted_field().
template <class EvidenceType, class... Further>
Result<void> judge_kind(std::string_view which, const std::optional<EvidenceType>& evidence,
                        std::optional<bool> claimed_complete,
                        const policy::LaunchRecommendation& recommendation, Further... further) {
  const auto at = [which](std::string_view field) { return fmt::format("/evidence/{}/{}", which, field); };
  if (evidence) {
    if (const auto field = policy::contradicted_field(*evidence, recommendation, further...)) {
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

} // namespace

Result<void> judge(const LaunchRecommendationDocument& document) {
  const auto& [recommendation, evidence, explanation, device] = document;
  if (!evidence) {
    return {};
  }
  TIDEGATE_CHECK(judge_kind("topology", evidence->topology, evidence->complete.topology, recommendation));
  return judge_kind("promotion", evidence->promotion, evidence->complete.promotion, recommendation);
}

namespace {

tl::unexpected<Error> invalid_plan(std::string violation, std::string_view planner) {
  return failure(ErrorCode::invalid_plan, std::move(violation),
                 fmt::format("make the plan again with `tidegate {}`, from the same input", planner));
}

} // namespace

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
  if (plan.max_group_width > widest || // it is smaller if windows count as one wave
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

namespace {

// Collects errors about numbers of a report that contradict other numbers of the same report.
class Sums {
public:
  explicit Sums(ErrorList& errors) : errors_(&errors) {}

  void hold(bool holds, std::string pointer, std::string message) {
    if (!holds) {
      errors_->add({.code = ErrorCode::inconsistent_evidence,
                    .message = std::move(message),
                    .fix = "run the program again: all figures of a report are of one run",
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

// Checks the counts that the reports of wave programs and of traversals share.
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
  // Of a run that was stopped, no region may have ended yet.
  sums.hold(!report.region_lineage.empty() || report.lineage_items == 0 ||
                report.status != engine::RunStatus::done,
            "/lineage_items", "items derive from rules, and region_lineage is empty");
  sums.at_most("/lineage_items", "lineage_items", report.lineage_items, "items_processed",
               report.items_processed);
}

// Returns an output as the run left it; nothing if it is no such array any more.
std::optional<NpyArray> read_output(const engine::WrittenFile& written, const std::string& report) {
  std::error_code unknown;
  const std::filesystem::path path = written.file;
  if (path.extension() != ".npy" || !std::filesystem::is_regular_file(path, unknown) ||
      std::filesystem::file_size(path, unknown) != written.bytes || unknown) {
    return {};
  }
  const auto output_time = std::filesystem::last_write_time(path, unknown);
  const auto report_time = std::filesystem::last_write_time(report, unknown);
  if (unknown || output_time > report_time) { // by a later run, or perhaps: standard input has no time
    return {};
  }
  const auto text = read_all(written.file, written.bytes);
  auto array = text ? parse_npy(*text) : tl::unexpected(text.error());
  return array ? std::optional(std::move(*array)) : std::nullopt;
}

// Makes the answer once more, of the output.
void check_answer(const traversal::FrontierReport& report, const std::string& file, Sums& sums) {
  for (const engine::WrittenFile& written : report.files_written) {
    const auto array = written.what == "parents" ? std::nullopt : read_output(written, file);
    if (!report.answer || !array || report.algorithm == graphs::Algorithm::own) {
      continue;
    }
    traversal::TraversalResults results{.values = std::vector<std::uint32_t>(array->bytes.size() / 4),
                                        .wide = element_bytes(array->type) == 8};
    std::memcpy(results.values.data(), array->bytes.data(), results.values.size() * 4);
    sums.hold(traversal::answer_of(report.algorithm, array->type == ElementType::f32, results,
                                   report.graph.first_id) == report.answer,
              "/answer", fmt::format("the answer is not that of {}", in_quotes(written.file)));
  }
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
                        "run the program again: evidence and waves are of one run");
  }
  return incomplete("evidence of a topology", "frontier_report", std::move(pointer), flaw->field);
}

// Checks the numbers of the report that follow from its waves.
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
  const bool in_place = std::ranges::any_of(report.waves, [](const traversal::WaveRecord& wave) {
    return wave.topology == policy::Topology::fused_dense; // several levels
  });
  if (done && report.algorithm == graphs::Algorithm::bfs && report.answer && !in_place) {
    sums.equal("/answer/reached", "reached is", report.answer->reached.value_or(0),
               "vertices of the waves are", vertices);
    sums.hold(report.answer->distance == static_cast<double>(report.waves.size()) - 1, "/answer/distance",
              fmt::format("distance is {}, and there are {}", report.answer->distance.value_or(0),
                          plural(report.waves.size(), "wave")));
  }
  const double edges_per_ns =
      static_cast<double>(expected.frontier_edges) / static_cast<double>(report.dispatch_ns);
  sums.hold(report.dispatch_ns == 0 ||
                std::abs(summary.edges_per_second - 1e9 * edges_per_ns) <= edges_per_ns,
            "/summary/edges_per_second", "edges_per_second is not frontier_edges by traversal_ns");
  if (done || !report.waves.empty()) { // after a hang the report lists no waves
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

} // namespace

// Checks a frontier report: the result was correct if it was checked, the host has reproduced the choices of the device, and
// all numbers that follow from the waves agree with them.
Result<void> judge(const traversal::FrontierReport& report, const std::string& file) {
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
  check_answer(report, file, sums);
  return errors.result();
}

namespace {

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
  // Each wave ran once or in each iteration; items that ops publish come on top.
  std::uint64_t published = 0;
  for (const engine::QueueReport& queue : report.queues) {
    published += queue.publishing ? queue.publishing->published_items : 0;
  }
  const std::uint64_t once = report.published_items - std::min(report.published_items, published);
  const std::uint64_t iterations = std::max<std::uint64_t>(report.iterations, 1);
  std::uint64_t most = 0;
  if (done && !__builtin_mul_overflow(once, iterations, &most)) {
    sums.at_most("/items_processed", "items_processed", report.items_processed,
                 "published_items in all iterations are", most + published);
    if (!report.active) {
      sums.at_most("/items_processed", "published_items", report.published_items, "items_processed is",
                   report.items_processed);
    }
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
      sums.hold(done ? accounted == known
                     : accounted >= known, // items of later iterations remain, not yet given
                pointer + "publishing/executed_items",
                fmt::format("executed_items and items_remaining are together {}, and given_items and "
                            "published_items are {}",
                            accounted, known));
      if (done) {
        sums.at_most(pointer + "publishing/needed_capacity", "needed_capacity", counted.needed_capacity,
                     "capacity", counted.capacity);
      }
    } else if (done) {
      sums.hold(queue.items_processed == queue.published_items ||
                    queue.items_processed == queue.published_items * iterations,
                pointer + "items_processed",
                fmt::format("items_processed is {}, and published_items is {}, once or in {}",
                            queue.items_processed, queue.published_items, plural(iterations, "iteration")));
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

void check_hits(const engine::RunReport& report, const documents::Evidence& evidence, const std::string& file,
                Sums& sums) {
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
      const auto written = std::ranges::find(report.files_written, "buffer " + in_quotes(hits.list),
                                             &engine::WrittenFile::what);
      const auto array = written != report.files_written.end() ? read_output(*written, file) : std::nullopt;
      if (array && !array->shape.empty()) {
        sums.equal(pointer + "hits", "hits that have room:", std::min(*hits.hits, hits.capacity),
                   fmt::format("{} has", in_quotes(written->file)), array->shape[0]);
      }
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
  std::uint64_t of_all = 0;
  std::uint64_t tiles = 0;
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
    of_all += wave.active_tiles;
    tiles += wave.tiles * wave.iterations;
    sums.equal(pointer + "iterations", "iterations is", wave.iterations, "that of the run",
               report.iterations);
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
  if (report.items_processed != 0) {
    sums.equal("/telemetry/frontier_density_bps", "frontier_density_bps is",
               report.telemetry.frontier_density_bps, "that of the active tiles",
               tiles == 0 ? policy::full_scale_bps : of_all * policy::full_scale_bps / tiles);
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
  sums.hold(comparison.verdict == SpeedVerdict::same_launches || comparison.verdict == verdict_of(estimated),
            "/comparison/verdict", "the verdict is not that of the interval");
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

// Checks the arena as `check arena` does. Reports of older versions lack the lifetimes of buffers; of these only the bound is
// checked.
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

// Checks that the status, the error and `converged` of a report agree with its other parts.
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

Result<void> judge_parity(const engine::OutputParity& parity) {
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

} // namespace

// Checks a run report: compared outputs were equal, the evidence is complete, and numbers that follow from others agree with
// them. The report of a run that ended early is valid if it says so.
Result<void> judge(const documents::RunReportDocument& document, const std::string& file) {
  const engine::RunReport& report = document.report;
  ErrorList errors;
  const bool under_stress = report.stress && report.stress->failure;
  bool differs = (report.output_parity && !report.output_parity->equal) || under_stress;
  const auto expected = report.expected.value_or(std::vector<engine::ExpectedReport>());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool equal = expected[i].equal && expected[i].outside == 0;
    differs |= !equal;
    if (!equal) {
      errors.add(
          {.code = ErrorCode::outputs_differ,
           .message = fmt::format("{} of {} of {} are not as expected", expected[i].outside,
                                  plural(expected[i].elements, "element"), in_quotes(expected[i].buffer)),
           .fix = "look at the worst of them",
           .pointer = fmt::format("/expected/{}/equal", i)});
    }
  }
  if (report.output_parity) {
    errors.check(judge_parity(*report.output_parity));
  }
  if (under_stress) {
    errors.add({.code = ErrorCode::outputs_differ,
                .message = fmt::format("a run under stress failed: {}", report.stress->failure->variation),
                .fix = "look at the waves that it names",
                .pointer = "/stress/failure"});
  }
  const documents::Evidence& evidence = document.evidence;
  errors.check(judge_kind("topology", evidence.topology, evidence.complete.topology, report.recommendation));
  const policy::LaunchRecommendation ran =
      engine::as_promoted(report.recommendation, report.mode, report.promotion.promoted);
  errors.check(judge_kind("promotion", evidence.promotion, evidence.complete.promotion, ran,
                          ran == report.recommendation));
  for (const auto& [which, there] : {std::pair("topology", evidence.topology.has_value()),
                                     std::pair("promotion", evidence.promotion.has_value())}) {
    if (!there) {
      errors.add({.code = ErrorCode::incomplete_evidence,
                  .message = fmt::format("the report has no {} evidence", which),
                  .fix = "run the program again: every run writes it",
                  .pointer = "/evidence"});
    }
  }
  errors.check(judge(document.plan));
  Sums sums(errors);
  check_end(report, differs, sums);
  check_counts(report, &report.recommendation, sums);
  check_items(report, sums);
  check_hits(report, evidence, file, sums);
  check_active(report, sums);
  check_telemetry(report, sums);
  if (report.comparison) {
    check_rounds(*report.comparison, sums);
  }
  check_choices(report, sums);
  check_memory(report.memory, sums);
  return errors.result();
}

} // namespace tidegate::app
