// Each step_* function words one step of the policy from the numbers in the decision; nothing is decided
// again here.
#include "core/prelude.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {
namespace {

struct Context {
  const LaunchPolicy& policy;
  const LaunchRequest& request;
  const LaunchDecision& decision;

  [[nodiscard]] const LaunchRequest& effective() const { return decision.effective; }
  [[nodiscard]] const LaunchRecommendation& answer() const { return decision.recommendation; }
};

// "1 hot opcode stays below", "5 edges reach"
std::string against_threshold(std::uint64_t count, std::string_view noun, std::uint64_t threshold) {
  const bool reached = count >= threshold;
  const std::string_view verb =
      count == 1 ? (reached ? "reaches" : "stays below") : (reached ? "reach" : "stay below");
  return fmt::format("{} {}", plural(count, noun), verb);
}

// 1250 -> "12.5%"
std::string percent(std::uint64_t bps) {
  return fmt::format("{}%", static_cast<double>(bps) / 100.0);
}

std::string_view promoted(const LaunchRecommendation& answer) {
  if (answer.promote_hot_opcodes) {
    return answer.promote_hot_windows ? "opcodes and windows" : "opcodes";
  }
  return answer.promote_hot_windows ? "windows" : "none";
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

ExplanationStep step_density(const Context& c) {
  const std::uint64_t density = c.effective().frontier_density_bps;
  const std::uint64_t queue = c.effective().queue_len;
  const std::uint64_t nodes = c.effective().graph_node_count;
  return step_signal("frontier_density_bps", density, c.request.frontier_density_bps != 0, density != 0,
                     fmt::format("{} over {}", plural(queue, "queued item"), plural(nodes, "node")),
                     "a queue and a graph");
}

ExplanationStep step_memory(const Context& c) {
  const std::uint64_t resident = c.effective().resident_device_bytes;
  const std::uint64_t budget = c.effective().device_memory_budget_bytes;
  return step_signal("memory_pressure_bps", c.effective().memory_pressure_bps,
                     c.request.memory_pressure_bps != 0, resident != 0 && budget != 0,
                     fmt::format("{} resident of a budget of {}", bytes_text(resident), bytes_text(budget)),
                     "resident bytes and a budget");
}

ExplanationStep step_promotion(const Context& c) {
  return {"promotion", std::string(promoted(c.answer())), "hot_thresholds",
          fmt::format(
              "{} the threshold {}; {} the threshold {}",
              against_threshold(c.effective().hot_opcode_count, "hot opcode", c.policy.hot_opcode_threshold),
              c.policy.hot_opcode_threshold,
              against_threshold(c.effective().hot_window_count, "hot window", c.policy.hot_window_threshold),
              c.policy.hot_window_threshold)};
}

std::string why_not_fused(const Context& c) {
  if (c.effective().graph_node_count == 0) {
    return "there is no graph";
  }
  if (c.effective().graph_edge_count < c.policy.fusion_edge_threshold) {
    return fmt::format(
        "{} the fusion threshold {}",
        against_threshold(c.effective().graph_edge_count, "edge", c.policy.fusion_edge_threshold),
        c.policy.fusion_edge_threshold);
  }
  return "no opcodes or windows are hot";
}

// Words a rule. For a held topology, names the crossed threshold and the end of the hysteresis band.
std::string word_topology(const Context& c, TopologyRule rule) {
  const std::string density = percent(c.effective().frontier_density_bps);
  const std::string pressure = percent(c.effective().memory_pressure_bps);
  const std::uint64_t sparse = c.policy.sparse_frontier_threshold_bps;
  const std::uint64_t dense = c.policy.dense_frontier_threshold_bps;
  const std::uint64_t memory = c.policy.memory_pressure_threshold_bps;
  const std::string_view raw = name(c.decision.raw.topology);
  const auto lower_end = [](std::uint64_t threshold) {
    return percent(threshold - std::min<std::uint64_t>(threshold, hysteresis_band_bps));
  };
  const auto upper_end = [](std::uint64_t threshold) { return percent(threshold + hysteresis_band_bps); };

  switch (rule) {
  case TopologyRule::queue_empty: return "the queue is empty";
  case TopologyRule::memory_pressure:
    return fmt::format("memory pressure {} is at or above the threshold {}", pressure, percent(memory));
  case TopologyRule::sparse_density:
    return fmt::format("density {} is at or below the sparse threshold {}", density, percent(sparse));
  case TopologyRule::dense_density_fused:
    return fmt::format(
        "density {} is at or above the dense threshold {}, {} the fusion threshold {}, and {} are hot",
        density, percent(dense),
        against_threshold(c.effective().graph_edge_count, "edge", c.policy.fusion_edge_threshold),
        c.policy.fusion_edge_threshold, promoted(c.answer()));
  case TopologyRule::dense_density:
    return fmt::format("density {} is at or above the dense threshold {}; not fused, because {}", density,
                       percent(dense), why_not_fused(c));
  case TopologyRule::between_densities:
    return fmt::format("density {} is between the sparse threshold {} and the dense threshold {}", density,
                       percent(sparse), percent(dense));
  case TopologyRule::hold_memory_constrained:
    return fmt::format(
        "memory pressure {} is below the threshold {} and would give {}; memory_constrained is kept "
        "down to {}",
        pressure, percent(memory), raw, lower_end(memory));
  case TopologyRule::hold_sparse:
    return fmt::format(
        "density {} is above the sparse threshold {} and would give {}; sparse_frontier is kept up to {}",
        density, percent(sparse), raw, upper_end(sparse));
  case TopologyRule::hold_hybrid_from_sparse:
    return fmt::format(
        "density {} is at or below the sparse threshold {} and would give {}; hybrid_frontier is kept "
        "down to {}",
        density, percent(sparse), raw, lower_end(sparse));
  case TopologyRule::hold_hybrid_from_dense:
    return fmt::format(
        "density {} is at or above the dense threshold {} and would give {}; hybrid_frontier is kept "
        "up to {}",
        density, percent(dense), raw, upper_end(dense));
  default: break; // hold_dense and hold_fused; launches use no other rule
  }
  return fmt::format("density {} is below the dense threshold {} and would give {}; {} is kept down to {}",
                     density, percent(dense), raw, name(c.answer().topology), lower_end(dense));
}

ExplanationStep step_topology(const Context& c) {
  const TopologyRule rule = c.decision.chosen.rule;
  ExplanationStep step{.step = "topology",
                       .outcome = std::string(name(c.answer().topology)),
                       .rule = std::string(name(rule)),
                       .because = word_topology(c, rule)};
  const auto previous = c.decision.previous_topology;
  if (previous && *previous != c.answer().topology) {
    step.because += fmt::format("; the previous topology {} is not kept", name(*previous));
  }
  return step;
}

ExplanationStep step_worker_groups(const Context& c) {
  const Shedding& shedding = c.decision.shedding;
  const SizingPolicy& sizing = c.policy.sizing;
  const std::uint32_t asked = c.effective().requested_worker_groups;
  const std::uint32_t limit = c.effective().max_compute_workgroups_per_dimension;
  ExplanationStep step{.step = "worker_groups",
                       .outcome = std::to_string(c.answer().worker_groups),
                       .rule = "requested",
                       .because = fmt::format("{} requested", asked)};
  std::uint32_t wanted = shedding.worker_groups;
  if (shedding.rule == SheddingRule::memory_pressure) {
    step.rule = "shed_under_memory_pressure";
    step.because +=
        fmt::format("; memory pressure sheds {} of them and leaves {}", percent(shedding.shed_bps), wanted);
  } else if (shedding.rule == SheddingRule::sparse_frontier) {
    step.rule = "scaled_to_sparse_frontier";
    step.because += fmt::format(", times density {} over the sparse threshold {}, never below 32: {}",
                                percent(c.effective().frontier_density_bps),
                                percent(c.policy.sparse_frontier_threshold_bps), wanted);
  } else if (asked == 0) {
    wanted =
        default_worker_groups_from_limits(limit, c.effective().max_compute_invocations_per_workgroup, sizing);
    const bool powerful =
        c.effective().max_compute_invocations_per_workgroup >= sizing.powerful_invocation_threshold;
    step.rule = "derived_from_limits";
    step.because = fmt::format(
        "none requested; {} per dimension over {}, at most {} and at least {}{}: {}",
        plural(limit, "work-group"), sizing.occupancy_worker_divisor, sizing.max_dispatch_workgroups,
        powerful ? sizing.powerful_min_worker_groups : 1, powerful ? " on a powerful adapter" : "", wanted);
  }
  if (wanted > c.answer().worker_groups) {
    step.because += fmt::format("; the adapter allows {} per dimension", limit);
  }
  return step;
}

ExplanationStep step_geometry(const Context& c) {
  const LaunchGeometry& geometry = c.answer().geometry;
  const std::uint64_t width = geometry.workgroup_size_x;
  const std::uint64_t grid = geometry.dispatch_grid[0];
  const std::uint64_t needed = geometry.slot_count / width;
  ExplanationStep step{.step = "geometry", .outcome = fmt::format("{} x {}", grid, width), .rule = "grid"};
  step.because = fmt::format("{} wide, the smaller of {} and the adapter's {}; {} in {}: {}", width,
                             plural(c.answer().worker_groups, "worker group"),
                             c.effective().max_workgroup_size_x, plural(c.effective().queue_len, "item"),
                             plural(geometry.slot_count, "slot"), plural(needed, "work-group"));
  if (grid < needed) {
    step.because +=
        fmt::format(", of which {} are dispatched at once (capped by the {})", grid,
                    grid == c.answer().worker_groups ? "worker groups" : "policy's largest dispatch");
  }
  return step;
}

ExplanationStep step_pressure(const Context& c) {
  const std::uint64_t lanes = c.decision.lanes;
  const std::uint64_t queue = c.effective().queue_len;
  const std::uint64_t requeues = c.effective().requeue_count;
  const bool seen = queue != 0 && requeues > 0;
  return {"pressure", std::string(name(c.answer().pressure)), seen ? "requeues_seen" : "queue_over_lanes",
          queue == 0 ? "the queue is empty"
          : seen     ? fmt::format("{} seen: any requeue counts as saturated", plural(requeues, "requeue"))
                 : fmt::format("{} over {}; balanced from {} items, saturated from {}", plural(queue, "item"),
                               plural(lanes, "lane"), lanes, lanes * c.policy.saturated_waves)};
}

ExplanationStep step_hit_capacity(const Context& c) {
  const std::uint64_t requested = c.effective().requested_hit_capacity;
  const std::string outcome = std::to_string(c.answer().hit_capacity);
  if (requested != 0) {
    return {"hit_capacity", outcome, "requested", fmt::format("{} requested", requested)};
  }
  const std::uint64_t queue = c.effective().queue_len;
  const std::uint64_t hits = std::max(c.effective().expected_hits_per_item, 1U);
  const std::uint64_t multiplier = c.decision.hit_multiplier;
  const bool constrained = c.effective().memory_pressure_bps >= c.policy.memory_pressure_threshold_bps;
  return {"hit_capacity", outcome, "derived",
          fmt::format("{} times {} times {}{} is {}; the minimum is {}", plural(queue, "item"),
                      plural(hits, "expected hit"), multiplier,
                      constrained ? " (memory pressure switches the multiplier off)" : "",
                      queue * hits * multiplier, c.policy.min_hit_capacity)};
}

ExplanationStep step_peak(const Context& c) {
  const std::uint64_t budget = c.effective().device_memory_budget_bytes;
  return {
      "estimated_peak_device_bytes", std::to_string(c.answer().estimated_peak_device_bytes),
      "resident_plus_scratch",
      fmt::format("{} resident and {} of {} each: {}; {}", bytes_text(c.effective().resident_device_bytes),
                  plural(c.answer().hit_capacity, "hit"), bytes_text(c.policy.scratch_bytes_per_hit),
                  bytes_text(c.answer().estimated_peak_device_bytes),
                  budget == 0 ? "no budget is set" : fmt::format("the budget is {}", bytes_text(budget)))};
}

// A fused topology requires a promotion, so it never decides the mode alone.
ExplanationStep step_mode(const Context& c) {
  const std::uint64_t queue = c.effective().queue_len;
  const std::uint64_t threshold = c.policy.jit_queue_len_threshold;
  const bool is_long = queue >= threshold;
  const bool compiled = c.answer().execution_mode == ExecutionMode::jit;
  const std::string length =
      fmt::format("{} the JIT threshold {}", against_threshold(queue, "item", threshold), threshold);
  return {"execution_mode", std::string(name(c.answer().execution_mode)),
          is_long    ? "long_queue"
          : compiled ? "promotion"
                     : "short_cold_queue",
          is_long    ? length
          : compiled ? fmt::format("hot {} are promoted", promoted(c.answer()))
                     : length + ", and nothing is promoted"};
}

ExplanationStep step_ageing(const Context& c) {
  const std::uint64_t requeues = c.effective().requeue_count;
  const std::uint64_t age = c.effective().max_priority_age;
  const std::uint64_t threshold = c.policy.priority_age_threshold;
  return {"age_priority_work", c.answer().age_priority_work ? "yes" : "no",
          requeues > 0 ? "requeues_seen" : "oldest_item",
          requeues > 0 ? fmt::format("{} seen", plural(requeues, "requeue"))
                       : fmt::format("the oldest item waited {}, {} the threshold {}", plural(age, "tick"),
                                     age >= threshold ? "at or above" : "below", threshold)};
}

} // namespace

std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision) {
  const Context c{policy, request, decision};
  return {step_density(c),       step_memory(c),   step_promotion(c), step_topology(c),
          step_worker_groups(c), step_geometry(c), step_pressure(c),  step_hit_capacity(c),
          step_peak(c),          step_mode(c),     step_ageing(c)};
}

} // namespace tidegate::policy
