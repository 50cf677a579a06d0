// Words each step of the policy from the numbers in the decision; nothing is decided again here.
#include "core/prelude.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {
namespace {

// "1 hot opcode stays below the threshold 8", "5 edges reach the fusion threshold 5"
std::string against(std::uint64_t count, std::string_view noun, std::string_view what,
                    std::uint64_t threshold) {
  const bool reached = count >= threshold;
  return fmt::format("{} {}{} {} {}", plural(count, noun), reached ? "reach" : "stay",
                     count != 1 ? (reached ? "" : " below") : (reached ? "es" : "s below"), what, threshold);
}

// 1250 -> "12.5%"
std::string percent(std::uint64_t bps) {
  return fmt::format("{}%", static_cast<double>(bps) / 100.0);
}

std::string_view promoted(const LaunchRecommendation& answer) {
  return answer.promote_hot_opcodes   ? (answer.promote_hot_windows ? "opcodes and windows" : "opcodes")
         : answer.promote_hot_windows ? "windows"
                                      : "none";
}

// A signal in basis points is given in the request, inferred from two other numbers, or unknown.
ExplanationStep step_signal(std::string name, std::uint64_t bps, bool given, bool inferred,
                            const std::string& source, std::string_view inputs) {
  return {std::move(name), std::to_string(bps),
          given      ? "given"
          : inferred ? "inferred"
                     : "unknown",
          given ? fmt::format("given in the request: {}", percent(bps))
          : inferred
              ? fmt::format("{}: {}", source, percent(bps))
              : fmt::format("not given, and without both {} it cannot be inferred; it counts as 0%", inputs)};
}

// The rules of launches, by TopologyRule. For a held topology: the crossed threshold, and the end of its band.
constexpr std::string_view hold_dense =
    "density {density} is below the dense threshold {dense} and would give {raw}; "
    "{chosen} is kept down to {dense_low}";
constexpr std::array<std::string_view, 12> topology_sentences{
    "the queue is empty",
    "memory pressure {pressure} is at or above the threshold {memory}",
    "density {density} is at or below the sparse threshold {sparse}",
    "density {density} is at or above the dense threshold {dense}, {edges}, and {hot} are hot",
    "density {density} is at or above the dense threshold {dense}; not fused, because {not_fused}",
    "density {density} is between the sparse threshold {sparse} and the dense threshold {dense}",
    "memory pressure {pressure} is below the threshold {memory} and would give {raw}; memory_constrained is kept down "
    "to {memory_low}",
    "density {density} is above the sparse threshold {sparse} and would give {raw}; sparse_frontier is kept up to "
    "{sparse_high}",
    "density {density} is at or below the sparse threshold {sparse} and would give {raw}; hybrid_frontier is kept "
    "down to {sparse_low}",
    "density {density} is at or above the dense threshold {dense} and would give {raw}; hybrid_frontier is kept up to "
    "{dense_high}",
    hold_dense,
    hold_dense};

ExplanationStep step_topology(const LaunchPolicy& policy, const LaunchDecision& decision) {
  const LaunchRequest& effective = decision.effective;
  const LaunchRecommendation& answer = decision.recommendation;
  const auto lower_end = [](std::uint64_t threshold) {
    return percent(threshold - std::min<std::uint64_t>(threshold, hysteresis_band_bps));
  };
  const auto upper_end = [](std::uint64_t threshold) { return percent(threshold + hysteresis_band_bps); };
  const std::uint16_t sparse = policy.sparse_frontier_threshold_bps;
  const std::uint16_t dense = policy.dense_frontier_threshold_bps;
  const std::uint16_t memory = policy.memory_pressure_threshold_bps;
  const std::string edges =
      against(effective.graph_edge_count, "edge", "the fusion threshold", policy.fusion_edge_threshold);
  const auto rule = static_cast<std::size_t>(decision.chosen.rule);
  std::string because = fmt::format(
      fmt::runtime(topology_sentences[rule]), fmt::arg("density", percent(effective.frontier_density_bps)),
      fmt::arg("pressure", percent(effective.memory_pressure_bps)), fmt::arg("sparse", percent(sparse)),
      fmt::arg("dense", percent(dense)), fmt::arg("memory", percent(memory)),
      fmt::arg("sparse_low", lower_end(sparse)), fmt::arg("sparse_high", upper_end(sparse)),
      fmt::arg("dense_low", lower_end(dense)), fmt::arg("dense_high", upper_end(dense)),
      fmt::arg("memory_low", lower_end(memory)), fmt::arg("edges", edges), fmt::arg("hot", promoted(answer)),
      fmt::arg("not_fused", effective.graph_node_count == 0 ? "there is no graph"
                            : effective.graph_edge_count < policy.fusion_edge_threshold
                                ? edges
                                : "no opcodes or windows are hot"),
      fmt::arg("raw", name(decision.raw.topology)), fmt::arg("chosen", name(answer.topology)));
  if (const auto previous = decision.previous_topology; previous && *previous != answer.topology) {
    because += fmt::format("; the previous topology {} is not kept", name(*previous));
  }
  return {"topology", std::string(name(answer.topology)), std::string(name(decision.chosen.rule)), because};
}

ExplanationStep step_worker_groups(const LaunchPolicy& policy, const LaunchDecision& decision) {
  const LaunchRequest& effective = decision.effective;
  const std::uint32_t asked = effective.requested_worker_groups;
  const std::uint32_t limit = effective.max_compute_workgroups_per_dimension;
  ExplanationStep step{.step = "worker_groups",
                       .outcome = std::to_string(decision.recommendation.worker_groups),
                       .rule = "requested",
                       .because = fmt::format("{} requested", asked)};
  std::uint32_t wanted = decision.shedding.worker_groups;
  if (decision.shedding.rule == SheddingRule::memory_pressure) {
    step.rule = "shed_under_memory_pressure";
    step.because += fmt::format("; memory pressure sheds {} of them and leaves {}",
                                percent(decision.shedding.shed_bps), wanted);
  } else if (decision.shedding.rule == SheddingRule::sparse_frontier) {
    step.rule = "scaled_to_sparse_frontier";
    step.because += fmt::format(", times density {} over the sparse threshold {}, never below 32: {}",
                                percent(effective.frontier_density_bps),
                                percent(policy.sparse_frontier_threshold_bps), wanted);
  } else if (asked == 0) {
    const SizingPolicy& sizing = policy.sizing;
    const std::uint32_t invocations = effective.max_compute_invocations_per_workgroup;
    const bool powerful = invocations >= sizing.powerful_invocation_threshold;
    wanted = default_worker_groups_from_limits(limit, invocations, sizing);
    step.rule = "derived_from_limits";
    step.because = fmt::format(
        "none requested; {} per dimension over {}, at most {} and at least {}{}: {}",
        plural(limit, "work-group"), sizing.occupancy_worker_divisor, sizing.max_dispatch_workgroups,
        powerful ? sizing.powerful_min_worker_groups : 1, powerful ? " on a powerful adapter" : "", wanted);
  }
  if (wanted > decision.recommendation.worker_groups) {
    step.because += fmt::format("; the adapter allows {} per dimension", limit);
  }
  return step;
}

ExplanationStep step_geometry(const LaunchRequest& effective, const LaunchRecommendation& answer) {
  const std::uint32_t width = answer.geometry.workgroup_size_x;
  const std::uint32_t grid = answer.geometry.dispatch_grid[0];
  const std::uint32_t needed = answer.geometry.slot_count / width;
  return {"geometry", fmt::format("{} x {}", grid, width), "grid",
          fmt::format("{} wide, the smaller of {} and the adapter's {}; {} in {}: {}{}", width,
                      plural(answer.worker_groups, "worker group"), effective.max_workgroup_size_x,
                      plural(effective.queue_len, "item"), plural(answer.geometry.slot_count, "slot"),
                      plural(needed, "work-group"),
                      grid >= needed
                          ? ""
                          : fmt::format(", of which {} are dispatched at once (capped by the {})", grid,
                                        grid == answer.worker_groups ? "worker groups"
                                                                     : "policy's largest dispatch"))};
}

} // namespace

std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision) {
  const LaunchRequest& effective = decision.effective;
  const LaunchRecommendation& answer = decision.recommendation;
  const std::string items = plural(effective.queue_len, "item");
  const std::string seen = fmt::format("{} seen", plural(effective.requeue_count, "requeue"));
  const std::uint64_t budget = effective.device_memory_budget_bytes;
  const std::uint64_t resident = effective.resident_device_bytes;
  const std::uint64_t hits = std::max(effective.expected_hits_per_item, 1U);
  const bool requeued = effective.requeue_count > 0;
  const bool seen_in_queue = requeued && effective.queue_len != 0;
  const bool short_of_memory = effective.memory_pressure_bps >= policy.memory_pressure_threshold_bps;
  const bool is_long = effective.queue_len >= policy.jit_queue_len_threshold;
  const bool compiled = answer.execution_mode == ExecutionMode::jit; // a fused topology requires a promotion
  const std::string length =
      against(effective.queue_len, "item", "the JIT threshold", policy.jit_queue_len_threshold);
  return {
      step_signal("frontier_density_bps", effective.frontier_density_bps, request.frontier_density_bps != 0,
                  effective.frontier_density_bps != 0,
                  fmt::format("{} over {}", plural(effective.queue_len, "queued item"),
                              plural(effective.graph_node_count, "node")),
                  "a queue and a graph"),
      step_signal("memory_pressure_bps", effective.memory_pressure_bps, request.memory_pressure_bps != 0,
                  resident != 0 && budget != 0,
                  fmt::format("{} resident of a budget of {}", bytes_text(resident), bytes_text(budget)),
                  "resident bytes and a budget"),
      {"promotion", std::string(promoted(answer)), "hot_thresholds",
       against(effective.hot_opcode_count, "hot opcode", "the threshold", policy.hot_opcode_threshold) +
           "; " +
           against(effective.hot_window_count, "hot window", "the threshold", policy.hot_window_threshold)},
      step_topology(policy, decision),
      step_worker_groups(policy, decision),
      step_geometry(effective, answer),
      {"pressure", std::string(name(answer.pressure)), seen_in_queue ? "requeues_seen" : "queue_over_lanes",
       effective.queue_len == 0 ? "the queue is empty"
       : requeued               ? seen + ": any requeue counts as saturated"
                                : fmt::format("{} over {}; balanced from {} items, saturated from {}", items,
                                              plural(decision.lanes, "lane"), decision.lanes,
                                              decision.lanes * policy.saturated_waves)},
      effective.requested_hit_capacity != 0
          ? ExplanationStep{"hit_capacity", std::to_string(answer.hit_capacity), "requested",
                            fmt::format("{} requested", effective.requested_hit_capacity)}
          : ExplanationStep{"hit_capacity", std::to_string(answer.hit_capacity), "derived",
                            fmt::format("{} times {} times {}{} is {}; the minimum is {}", items,
                                        plural(hits, "expected hit"), decision.hit_multiplier,
                                        short_of_memory ? " (memory pressure switches the multiplier off)"
                                                        : "",
                                        effective.queue_len * hits * decision.hit_multiplier,
                                        policy.min_hit_capacity)},
      {"estimated_peak_device_bytes", std::to_string(answer.estimated_peak_device_bytes),
       "resident_plus_scratch",
       fmt::format("{} resident and {} of {} each: {}; {}", bytes_text(resident),
                   plural(answer.hit_capacity, "hit"), bytes_text(policy.scratch_bytes_per_hit),
                   bytes_text(answer.estimated_peak_device_bytes),
                   budget == 0 ? "no budget is set" : fmt::format("the budget is {}", bytes_text(budget)))},
      {"execution_mode", std::string(name(answer.execution_mode)),
       is_long    ? "long_queue"
       : compiled ? "promotion"
                  : "short_cold_queue",
       is_long    ? length
       : compiled ? fmt::format("hot {} are promoted", promoted(answer))
                  : length + ", and nothing is promoted"},
      {"age_priority_work", answer.age_priority_work ? "yes" : "no",
       requeued ? "requeues_seen" : "oldest_item",
       requeued
           ? seen
           : fmt::format(
                 "the oldest item waited {}, {} the threshold {}", plural(effective.max_priority_age, "tick"),
                 effective.max_priority_age >= policy.priority_age_threshold ? "at or above" : "below",
                 policy.priority_age_threshold)},
  };
}

} // namespace tidegate::policy
