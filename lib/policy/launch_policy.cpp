// The steps of the policy, the arithmetic of launch geometry, and decide(), which takes the steps in order; each reads the
// effective request and earlier results. Then the evidence of a decision.
#include "policy/topology_layout.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {

namespace {

static_assert(full_scale_bps == TG_FULL_BPS && hysteresis_band_bps == TG_BAND_BPS);
static_assert(static_cast<tg_u32>(Topology::memory_constrained) == TG_CONSTRAINED);
static_assert(static_cast<tg_u32>(TopologyRule::hold_fused) == TG_RULE_HOLD_FUSED);
static_assert(static_cast<tg_u32>(TopologyRule::forced) == TG_RULE_FORCED);
static_assert(topology_rule_names.size() == TG_RULES);
static_assert(static_cast<tg_u32>(SwitchRule::edges) == TG_BY_EDGES);

std::uint16_t share_of_budget_bps(std::uint64_t resident_bytes, std::uint64_t budget_bytes) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint16_t>(Wide{std::min(resident_bytes, budget_bytes)} * full_scale_bps /
                                    budget_bytes);
}

tg_densities densities_of(const LaunchPolicy& policy, const LaunchRequest& effective, bool any_promotion) {
  const bool fuses = effective.graph_edge_count >= policy.fusion_edge_threshold && any_promotion;
  return {.queue_len = effective.queue_len,
          .density_bps = effective.frontier_density_bps,
          .pressure_bps = effective.memory_pressure_bps,
          .sparse_bps = policy.sparse_frontier_threshold_bps,
          .dense_bps = policy.dense_frontier_threshold_bps,
          .memory_bps = policy.memory_pressure_threshold_bps,
          .may_fuse = fuses ? 1U : 0U,
          .has_graph = effective.graph_node_count};
}

TopologyChoice choice_of(const tg_choice& choice) {
  return {static_cast<Topology>(choice.topology), static_cast<TopologyRule>(choice.rule)};
}

tl::unexpected<Error> refused(ErrorCode code, std::string_view field, std::string message, std::string fix,
                              std::optional<std::string> pointer = {}) {
  auto error = failure(code, std::move(message), std::move(fix), std::move(pointer));
  error.value().field = field;
  return error;
}

tl::unexpected<Error> overflow(std::string_view field, std::string fix) {
  return refused(ErrorCode::overflow, field, fmt::format("{} does not fit its integer type", field),
                 std::move(fix));
}

} // namespace

LaunchRequest infer_missing_signals(const LaunchRequest& request) {
  LaunchRequest effective = request;
  if (request.frontier_density_bps == 0 && request.queue_len != 0 && request.graph_node_count != 0) {
    effective.frontier_density_bps =
        static_cast<std::uint16_t>(tg_density_bps(request.queue_len, request.graph_node_count));
  }
  if (request.memory_pressure_bps == 0 && request.device_memory_budget_bytes != 0 &&
      request.resident_device_bytes != 0) {
    effective.memory_pressure_bps =
        share_of_budget_bps(request.resident_device_bytes, request.device_memory_budget_bytes);
  }
  return effective;
}

Result<Shedding> shed_workers(const LaunchPolicy& policy, const LaunchRequest& effective, Topology topology) {
  const std::uint64_t requested = effective.requested_worker_groups;
  Shedding result{.worker_groups = effective.requested_worker_groups};
  if (requested <= 1) {
    return result;
  }

  if (topology == Topology::memory_constrained && effective.memory_pressure_bps != 0) {
    const std::uint32_t threshold = policy.memory_pressure_threshold_bps;
    if (threshold > full_scale_bps) {
      return refused(ErrorCode::policy_out_of_range, "memory_pressure_threshold_bps",
                     "the policy's memory_pressure_threshold_bps is above 10000 bps (100 %)",
                     "set it to at most 10000", "/policy/memory_pressure_threshold_bps");
    }
    const std::uint32_t span = std::max<std::uint32_t>(full_scale_bps - threshold, 1);
    const std::uint32_t pressure = effective.memory_pressure_bps;
    const std::uint32_t over = std::min(pressure > threshold ? pressure - threshold : 0, span);
    result.rule = SheddingRule::memory_pressure;
    result.shed_bps = 2500 + over * 2500 / span; // 25 % at the threshold, 50 % at full pressure
    result.worker_groups = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(requested * (full_scale_bps - result.shed_bps) / full_scale_bps, 1));
  } else if (topology == Topology::sparse_frontier && effective.graph_node_count != 0 &&
             effective.frontier_density_bps != 0) {
    constexpr std::uint64_t floor_groups = 32; // a sparse wave keeps up to this many requested workers
    const std::uint64_t span = std::max<std::uint64_t>(policy.sparse_frontier_threshold_bps, 1);
    const std::uint64_t density = std::clamp<std::uint64_t>(effective.frontier_density_bps, 1, span);
    const std::uint64_t scaled = requested * density / span;
    result.rule = SheddingRule::sparse_frontier;
    result.worker_groups =
        static_cast<std::uint32_t>(std::min(requested, std::max(scaled, std::min(requested, floor_groups))));
  }
  return result;
}

// Launch geometry in saturating 32-bit arithmetic.

namespace {

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();

tl::unexpected<Error> too_long(std::string_view field) {
  return refused(ErrorCode::queue_too_long, field, fmt::format("{} does not fit 32 bits", field),
                 "split the queue into several launches");
}

constexpr std::uint32_t saturating_add(std::uint32_t a, std::uint32_t b) {
  return a > u32_max - b ? u32_max : a + b;
}

std::uint32_t most_workgroups(const SizingPolicy& sizing) {
  return std::max(sizing.max_dispatch_workgroups, 1U);
}

// Work-groups of `width` that cover `items`, at least 1 and at most the two upper bounds.
std::uint32_t workgroups_for(std::uint32_t items, std::uint32_t width, std::uint32_t worker_groups,
                             const SizingPolicy& sizing) {
  const std::uint32_t needed = std::max(saturating_add(items, width - 1) / width, 1U);
  return std::min({needed, std::max(worker_groups, 1U), most_workgroups(sizing)});
}

} // namespace

std::uint32_t worker_workgroup_size(std::uint32_t worker_count, std::uint32_t max_workgroup_size_x) {
  return std::min(std::max(worker_count, 1U), std::max(max_workgroup_size_x, 1U));
}

std::uint32_t padded_slot_count(std::uint32_t slot_count, std::uint32_t workgroup_size_x) {
  const std::uint32_t width = std::max(workgroup_size_x, 1U);
  const std::uint32_t count = std::max(slot_count, 1U);
  // The quotient times the width never exceeds the saturated sum, so the product cannot overflow.
  return saturating_add(count, width - 1) / width * width;
}

std::array<std::uint32_t, 3> dispatch_grid_for(std::uint32_t worker_count, std::uint32_t queue_len,
                                               std::uint32_t max_workgroup_size_x,
                                               const SizingPolicy& sizing) {
  const std::uint32_t width = std::max(max_workgroup_size_x, 1U);
  return {workgroups_for(queue_len, width, worker_count, sizing), 1, 1};
}

std::uint32_t default_worker_groups_from_limits(std::uint32_t max_compute_workgroups_per_dimension,
                                                std::uint32_t max_compute_invocations_per_workgroup,
                                                const SizingPolicy& sizing) {
  const std::uint32_t divisor = std::max(sizing.occupancy_worker_divisor, 1U);
  const std::uint32_t share =
      std::clamp(max_compute_workgroups_per_dimension / divisor, 1U, most_workgroups(sizing));
  const bool powerful = max_compute_invocations_per_workgroup >= sizing.powerful_invocation_threshold;
  return std::max(share, powerful ? sizing.powerful_min_worker_groups : 1U);
}

Result<LaunchGeometry> geometry_from_item_count(std::uint64_t item_count, std::uint32_t worker_count,
                                                std::uint32_t max_workgroup_size_x,
                                                const SizingPolicy& sizing) {
  if (item_count > u32_max) {
    return too_long("queue_len");
  }
  const auto count = static_cast<std::uint32_t>(item_count);
  const std::uint32_t width = worker_workgroup_size(worker_count, max_workgroup_size_x);
  const std::uint64_t items = std::max<std::uint64_t>(item_count, 1);
  const std::uint64_t slots = (items + width - 1) / width * width;
  if (slots > u32_max) {
    return too_long("slot_count");
  }
  return LaunchGeometry{.workgroup_size_x = width,
                        .slot_count = static_cast<std::uint32_t>(slots),
                        .dispatch_grid = {workgroups_for(count, width, worker_count, sizing), 1, 1}};
}

Result<Grid> grid_for(const LaunchRequest& request, const SizingPolicy& sizing) {
  const std::uint32_t most_groups = request.max_compute_workgroups_per_dimension;
  const std::uint32_t invocations = request.max_compute_invocations_per_workgroup;
  constexpr std::string_view per_dimension = "max_compute_workgroups_per_dimension";
  for (const auto& [field, limit] :
       {std::pair(std::string_view("max_workgroup_size_x"), request.max_workgroup_size_x),
        std::pair(per_dimension, most_groups),
        std::pair(std::string_view("max_compute_invocations_per_workgroup"), invocations)}) {
    if (limit == 0) {
      return refused(ErrorCode::zero_adapter_limit, field, fmt::format("the adapter limit {} is 0", field),
                     fmt::format("give the device's limit{}",
                                 field == per_dimension
                                     ? "; left out, it is requested_worker_groups, which may be 0"
                                     : ""),
                     fmt::format("/{}", field));
    }
  }
  const std::uint32_t wanted = request.requested_worker_groups != 0
                                   ? request.requested_worker_groups
                                   : default_worker_groups_from_limits(most_groups, invocations, sizing);
  const std::uint32_t worker_groups = std::max(std::min(wanted, most_groups), 1U);
  const std::uint32_t width = worker_workgroup_size(worker_groups, request.max_workgroup_size_x);
  const std::uint32_t slots = padded_slot_count(request.queue_len, width);
  return Grid{.geometry = {.workgroup_size_x = width,
                           .slot_count = slots,
                           .dispatch_grid = {workgroups_for(slots, width, worker_groups, sizing), 1, 1}},
              .worker_groups = worker_groups};
}

QueuePressure pressure_class(const LaunchPolicy& policy, const LaunchRequest& effective,
                             std::uint64_t lanes) {
  if (effective.queue_len == 0) {
    return QueuePressure::empty;
  }
  if (effective.requeue_count > 0 || effective.queue_len >= lanes * policy.saturated_waves) {
    return QueuePressure::saturated;
  }
  return effective.queue_len >= lanes ? QueuePressure::balanced : QueuePressure::light;
}

Result<LaunchDecision> decide(const LaunchPolicy& policy, const LaunchRequest& request,
                              std::optional<Topology> previous_topology) {
  LaunchDecision decision{.effective = infer_missing_signals(request),
                          .previous_topology = previous_topology};
  const LaunchRequest& effective = decision.effective;
  LaunchRecommendation& answer = decision.recommendation;

  answer.promote_hot_opcodes = effective.hot_opcode_count >= policy.hot_opcode_threshold;
  answer.promote_hot_windows = effective.hot_window_count >= policy.hot_window_threshold;
  const bool any_promotion = answer.promote_hot_opcodes || answer.promote_hot_windows;

  const tg_densities densities = densities_of(policy, effective, any_promotion);
  const tg_choice raw = tg_raw_topology(densities);
  decision.raw = choice_of(raw);
  decision.chosen =
      previous_topology
          ? choice_of(tg_with_hysteresis(densities, raw, static_cast<tg_u32>(*previous_topology)))
          : decision.raw;
  answer.topology = decision.chosen.topology;

  TIDEGATE_TRY(decision.shedding, shed_workers(policy, effective, answer.topology));
  LaunchRequest shed = effective;
  shed.requested_worker_groups = decision.shedding.worker_groups;
  TIDEGATE_TRY(const Grid grid, grid_for(shed, policy.sizing));
  answer.geometry = grid.geometry;
  answer.worker_groups = grid.worker_groups;

  decision.lanes = std::uint64_t{answer.geometry.dispatch_grid[0]} * answer.geometry.workgroup_size_x;
  answer.pressure = pressure_class(policy, effective, decision.lanes);

  if (effective.requested_hit_capacity != 0) {
    answer.hit_capacity = effective.requested_hit_capacity;
  } else {
    const bool short_of_memory = effective.memory_pressure_bps >= policy.memory_pressure_threshold_bps;
    decision.hit_multiplier = short_of_memory ? 1 : policy.hit_capacity_multiplier;
    std::uint32_t& capacity = answer.hit_capacity;
    if (__builtin_mul_overflow(effective.queue_len, std::max(effective.expected_hits_per_item, 1U),
                               &capacity) ||
        __builtin_mul_overflow(capacity, decision.hit_multiplier, &capacity)) {
      return overflow("hit_capacity", "lower queue_len, expected_hits_per_item or the policy's "
                                      "hit_capacity_multiplier, or set requested_hit_capacity");
    }
    capacity = std::max(capacity, policy.min_hit_capacity);
  }

  const std::uint64_t scratch_bytes = std::uint64_t{answer.hit_capacity} * policy.scratch_bytes_per_hit;
  if (__builtin_add_overflow(effective.resident_device_bytes, scratch_bytes,
                             &answer.estimated_peak_device_bytes)) {
    return overflow("estimated_peak_device_bytes",
                    "lower resident_device_bytes, the hit capacity or the policy's scratch_bytes_per_hit");
  }
  answer.device_memory_budget_bytes = effective.device_memory_budget_bytes;
  if (effective.device_memory_budget_bytes != 0 &&
      answer.estimated_peak_device_bytes > effective.device_memory_budget_bytes) {
    return tl::unexpected(Error{
        .code = ErrorCode::device_out_of_memory,
        .message =
            fmt::format("the launch needs {} bytes at its peak and the device memory budget is {} bytes",
                        answer.estimated_peak_device_bytes, effective.device_memory_budget_bytes),
        .fix = "raise device_memory_budget_bytes, or lower requested_hit_capacity, queue_len or "
               "resident_device_bytes",
        .pointer = "/device_memory_budget_bytes",
        .requested = answer.estimated_peak_device_bytes,
        .available = effective.device_memory_budget_bytes});
  }

  const bool compiled = effective.queue_len >= policy.jit_queue_len_threshold || any_promotion ||
                        answer.topology == Topology::fused_dense;
  answer.execution_mode = compiled ? ExecutionMode::jit : ExecutionMode::interpreter;
  answer.age_priority_work =
      effective.requeue_count > 0 || effective.max_priority_age >= policy.priority_age_threshold;
  return decision;
}

Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request,
                                       std::optional<Topology> previous_topology) {
  return decide(policy, request, previous_topology).map([](const LaunchDecision& decision) {
    return decision.recommendation;
  });
}

Result<LaunchRecommendation> RecommendationCache::recommend(const LaunchPolicy& policy,
                                                            const LaunchRequest& request) {
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& each) { return each.request == request && each.policy == policy; });
  if (known != entries_.end()) {
    ++hits_;
    entries_.splice(entries_.begin(), entries_, known);
    return entries_.front().recommendation;
  }
  ++misses_;
  TIDEGATE_TRY(const LaunchRecommendation answer, policy::recommend(policy, request));
  entries_.push_front({policy, request, answer});
  if (entries_.size() > capacity) {
    entries_.pop_back();
  }
  return answer;
}

GraphblasSwitchClass switch_class(Topology topology) {
  using enum GraphblasSwitchClass;
  constexpr std::array classes{empty, sparse, hybrid, dense, dense, memory_constrained}; // by Topology
  return classes[static_cast<std::size_t>(topology)];
}

PromotionRoute promotion_route(const LaunchRecommendation& recommendation) {
  if (recommendation.execution_mode == ExecutionMode::interpreter) {
    return PromotionRoute::interpreter;
  }
  if (recommendation.promote_hot_opcodes) {
    return recommendation.promote_hot_windows ? PromotionRoute::opcode_and_window_jit
                                              : PromotionRoute::opcode_jit;
  }
  return recommendation.promote_hot_windows ? PromotionRoute::window_jit : PromotionRoute::queue_jit;
}

TopologyEvidence topology_evidence(const LaunchRequest& effective,
                                   const LaunchRecommendation& recommendation) {
  return {.queue_pressure = recommendation.pressure,
          .frontier_density_bps = effective.frontier_density_bps,
          .semiring_frontier_density_bps = effective.frontier_density_bps,
          .selected_topology = recommendation.topology,
          .graphblas_switch_class = switch_class(recommendation.topology),
          .resident_device_bytes = effective.resident_device_bytes,
          .estimated_peak_device_bytes = recommendation.estimated_peak_device_bytes};
}

PromotionEvidence promotion_evidence(const LaunchPolicy& policy, const LaunchRequest& effective,
                                     const LaunchRecommendation& recommendation) {
  return {.queue_len = effective.queue_len,
          .jit_queue_len_threshold = policy.jit_queue_len_threshold,
          .hot_opcode_count = effective.hot_opcode_count,
          .hot_opcode_threshold = policy.hot_opcode_threshold,
          .hot_window_count = effective.hot_window_count,
          .hot_window_threshold = policy.hot_window_threshold,
          .execution_mode = recommendation.execution_mode,
          .promote_hot_opcodes = recommendation.promote_hot_opcodes,
          .promote_hot_windows = recommendation.promote_hot_windows,
          .promotion_route = promotion_route(recommendation),
          .fused_descriptor_window_required = recommendation.promote_hot_windows};
}

namespace {

// Fields and whether each is at fault.
std::optional<std::string_view> first_fault(std::initializer_list<std::pair<std::string_view, bool>> fields) {
  const auto* const found = std::ranges::find(fields, true, &std::pair<std::string_view, bool>::second);
  return found == fields.end() ? std::nullopt : std::optional(found->first);
}

} // namespace

std::optional<std::string_view> incomplete_field(const TopologyEvidence& evidence) {
  return first_fault(
      {{"schema_version", evidence.schema_version != evidence_schema_version},
       {"frontier_density_bps", evidence.frontier_density_bps > full_scale_bps},
       {"semiring_frontier_density_bps", evidence.semiring_frontier_density_bps > full_scale_bps},
       {"output_parity_required", !evidence.output_parity_required}});
}

std::optional<std::string_view> incomplete_field(const PromotionEvidence& evidence) {
  return first_fault({{"schema_version", evidence.schema_version != evidence_schema_version},
                      {"jit_queue_len_threshold", evidence.jit_queue_len_threshold == 0},
                      {"hot_opcode_threshold", evidence.hot_opcode_threshold == 0},
                      {"hot_window_threshold", evidence.hot_window_threshold == 0},
                      {"fused_descriptor_window_required",
                       evidence.fused_descriptor_window_required != evidence.promote_hot_windows},
                      {"output_parity_required", !evidence.output_parity_required}});
}

} // namespace tidegate::policy
