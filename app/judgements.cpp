// Checks documents for faults that their schemas cannot express: incomplete evidence, invalid plans, wrong sums.
#include "app/arena.hpp"
#include "app/check.hpp"
#include "app/plan.hpp"
#include "engine/documents.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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

// Checks one kind of evidence: it must agree with the recommendation, name its own type, and be complete if it says so.
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

// A group's bytes are frontier + 4 * scratch + output. The peaks are of any groups; of one alone they are its own.
bool peaks_fit(const planning::MemoryPlan& plan, std::uint64_t most_bytes, std::size_t groups) {
  const std::uint64_t frontier = plan.peak_frontier_bytes;
  const std::uint64_t scratch = plan.peak_scratch_bytes;
  const std::uint64_t output = plan.peak_output_bytes;
  if (frontier > most_bytes || scratch > most_bytes / 4 || output > most_bytes ||
      plan.amortized_readback_bytes < output) {
    return false;
  }
  const std::uint64_t rest = most_bytes - frontier;
  const std::uint64_t of_output = rest - std::min(rest, 4 * scratch); // in the largest group, at least
  return groups == 1 ? rest >= 4 * scratch && output == of_output : output >= of_output;
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
      plan.lower_bound_groups > groups || !peaks_fit(plan, most_bytes, groups)) {
    return invalid_plan("max_group_width, lower_bound_groups or the peaks are not what the groups allow",
                        "plan");
  }
  if (plan.optimal != (plan.lower_bound_groups == groups)) {
    return invalid_plan(fmt::format("optimal is {}, with {} and lower_bound_groups {}", plan.optimal,
                                    plural(groups, "group"), plan.lower_bound_groups),
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

// A run that ended early or found a fault is a negative answer, with the run's own error. The statuses of a success are
// listed, so that an unknown one is none.
Result<void> judge_status(const engine::ReportHead& report) {
  using engine::RunStatus;
  if (report.status == RunStatus::done || report.status == RunStatus::planned ||
      report.status == RunStatus::checked) {
    return {};
  }
  const std::string_view status = engine::run_status_names[static_cast<std::size_t>(report.status)];
  const bool negative = report.error && exit_code(report.error->code) == ExitCode::negative;
  return failure(negative ? report.error->code : ErrorCode::incomplete_evidence,
                 fmt::format("the status of the run is {}{}{}", status, report.error ? ": " : "",
                             report.error ? report.error->message : ""),
                 report.error ? report.error->fix : "run the program again", "/status");
}

Result<void> differ(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::outputs_differ, std::move(message), std::move(fix), std::move(pointer));
}

Result<void> judge_parity(const engine::RunReport& report) {
  if (const auto& parity = report.output_parity; parity && !parity->equal) {
    return differ(fmt::format("{} of the outputs are not as plain launches leave them",
                              plural(parity->differing_elements, "element")),
                  "likely_cause in its output_parity says where to look", "/output_parity/equal");
  }
  const auto expected = report.expected.value_or(std::vector<engine::ExpectedReport>());
  if (const auto wrong = std::ranges::find(expected, false, &engine::ExpectedReport::equal);
      wrong != expected.end()) {
    return differ(fmt::format("{} of {} of {} are not as expected", wrong->outside,
                              plural(wrong->elements, "element"), in_quotes(wrong->buffer)),
                  "look at the worst of them", fmt::format("/expected/{}/equal", wrong - expected.begin()));
  }
  if (report.stress && report.stress->failure) {
    return differ(fmt::format("a run under stress failed: {}", report.stress->failure->variation),
                  "look at the waves that it names", "/stress/failure");
  }
  return {};
}

} // namespace

Result<void> judge(const traversal::FrontierReport& report) {
  if (report.verification && !report.verification->right) {
    return differ("the result is not what the serial algorithm computes",
                  "error in the report says where to look", "/verification/right");
  }
  return judge_status(report);
}

Result<void> judge(const documents::RunReportDocument& document) {
  const engine::RunReport& report = document.report;
  ErrorList errors;
  if (const auto equal = judge_parity(report); !equal) {
    errors.check(equal);
  } else {
    errors.check(judge_status(report));
  }
  const documents::Evidence& evidence = document.evidence;
  if (!evidence.topology || !evidence.promotion) {
    const std::string_view missing = evidence.topology ? "promotion" : "topology";
    errors.add(incomplete("evidence", "run_report", "/evidence", missing).value());
  }
  errors.check(judge_kind("topology", evidence.topology, evidence.complete.topology, report.recommendation));
  const policy::LaunchRecommendation ran =
      engine::as_promoted(report.recommendation, report.mode, report.promotion.promoted);
  errors.check(judge_kind("promotion", evidence.promotion, evidence.complete.promotion, ran,
                          ran == report.recommendation));
  return errors.result();
}

} // namespace tidegate::app
