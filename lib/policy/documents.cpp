// Describes the documents of the policy.
#include "core/prelude.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

using namespace policy;

constexpr std::uint64_t u32_max = std::numeric_limits<std::uint32_t>::max();

constexpr Field sizing_fields[] = {
    defaulted<&SizingPolicy::default_worker_count>("no step of the policy reads it, and `run` warns of it"),
    defaulted<&SizingPolicy::occupancy_worker_divisor>(
        "derived worker groups are the per-dimension limit over this")
        .between(1, u32_max),
    defaulted<&SizingPolicy::max_dispatch_workgroups>(
        "ceiling of the dispatch grid and of derived worker groups")
        .between(1, u32_max),
    defaulted<&SizingPolicy::powerful_invocation_threshold>(
        "invocations per work-group from which an adapter counts as powerful"),
    defaulted<&SizingPolicy::powerful_min_worker_groups>(
        "minimum of derived worker groups on a powerful adapter"),
};
TIDEGATE_RECORD(SizingPolicy, sizing_fields);

constexpr auto policy_fields = launch_policy_fields<>();
TIDEGATE_RECORD(LaunchPolicy, policy_fields);

// A field of the launch request inside its document.
template <auto Member>
constexpr Field request_field(std::string_view meaning, Presence presence = Presence::defaulted) {
  return field_of<LaunchRequestDocument, &LaunchRequestDocument::request, Member>(meaning, presence);
}

constexpr Field request_fields[] = {
    request_field<&LaunchRequest::queue_len>("logical work items queued for this launch", Presence::required),
    request_field<&LaunchRequest::requested_worker_groups>(
        "worker work-group ceiling; 0 derives it from the adapter limits", Presence::required),
    request_field<&LaunchRequest::max_workgroup_size_x>("adapter limit: work-items of a work-group in x",
                                                        Presence::required),
    request_field<&LaunchRequest::max_compute_workgroups_per_dimension>(
        "adapter limit: work-groups in one dimension")
        .or_value_of("requested_worker_groups"),
    request_field<&LaunchRequest::max_compute_invocations_per_workgroup>(
        "adapter limit: work-items of a work-group")
        .or_value_of("max_workgroup_size_x"),
    request_field<&LaunchRequest::requested_hit_capacity>("explicit sparse-hit capacity; 0 derives it"),
    request_field<&LaunchRequest::expected_hits_per_item>("hits expected of one item; 0 counts as 1"),
    request_field<&LaunchRequest::hot_opcode_count>("telemetry: opcodes seen hot"),
    request_field<&LaunchRequest::hot_window_count>("telemetry: windows seen hot"),
    request_field<&LaunchRequest::requeue_count>("telemetry: requeues seen"),
    request_field<&LaunchRequest::max_priority_age>("telemetry: oldest waiting item, in ticks"),
    request_field<&LaunchRequest::graph_node_count>("nodes of the resident graph"),
    request_field<&LaunchRequest::graph_edge_count>("edges of the resident graph"),
    request_field<&LaunchRequest::frontier_density_bps>(
        "active share of the nodes; 0 infers it from the queue"),
    request_field<&LaunchRequest::memory_pressure_bps>(
        "share of the budget in use; 0 infers it from the resident bytes"),
    request_field<&LaunchRequest::resident_device_bytes>("bytes already on the device"),
    request_field<&LaunchRequest::device_memory_budget_bytes>("hard memory budget; 0 is unbounded"),
    optional<&LaunchRequestDocument::previous_topology>(
        "topology of the previous launch; switches hysteresis on"),
    defaulted<&LaunchRequestDocument::policy>("overrides of the standard policy"),
};
TIDEGATE_RECORD(LaunchRequestDocument, request_fields);

constexpr Field geometry_fields[] = {
    required<&LaunchGeometry::workgroup_size_x>("work-items of a work-group"),
    required<&LaunchGeometry::slot_count>("queue slots, a multiple of the work-group size"),
    required<&LaunchGeometry::dispatch_grid>("work-groups in x, y and z"),
};
TIDEGATE_RECORD(LaunchGeometry, geometry_fields);

constexpr Field recommendation_fields[] = {
    required<&LaunchRecommendation::geometry>("shape of the dispatch"),
    required<&LaunchRecommendation::worker_groups>("worker work-groups after shedding and limits"),
    required<&LaunchRecommendation::hit_capacity>("sparse hits to make room for"),
    required<&LaunchRecommendation::pressure>("queue length over the lanes of the dispatch"),
    required<&LaunchRecommendation::execution_mode>("interpret the queue or compile for it"),
    required<&LaunchRecommendation::topology>("shape of the traversal"),
    required<&LaunchRecommendation::promote_hot_opcodes>("specialise the hot opcodes"),
    required<&LaunchRecommendation::promote_hot_windows>("fuse the hot windows"),
    required<&LaunchRecommendation::age_priority_work>("raise the priority of waiting items"),
    required<&LaunchRecommendation::estimated_peak_device_bytes>("resident bytes and hit scratch"),
    required<&LaunchRecommendation::device_memory_budget_bytes>("the request's budget; 0 is unbounded"),
};
TIDEGATE_RECORD(LaunchRecommendation, recommendation_fields);

constexpr Field topology_evidence_fields[] = {
    required<&TopologyEvidence::schema_version>("version of the evidence; complete when 1"),
    required<&TopologyEvidence::queue_pressure>("the recommendation's pressure"),
    required<&TopologyEvidence::frontier_density_bps>("density that decided; complete when at most 10000"),
    required<&TopologyEvidence::semiring_frontier_density_bps>("the same density, as the semiring sees it"),
    required<&TopologyEvidence::selected_topology>("the recommendation's topology"),
    required<&TopologyEvidence::graphblas_switch_class>("traversal class; dense covers fused_dense"),
    required<&TopologyEvidence::resident_device_bytes>("bytes already on the device"),
    required<&TopologyEvidence::estimated_peak_device_bytes>("the recommendation's peak"),
    required<&TopologyEvidence::output_parity_required>(
        "every topology must give equal output; complete when true"),
};
TIDEGATE_RECORD(TopologyEvidence, topology_evidence_fields);

constexpr Field promotion_evidence_fields[] = {
    required<&PromotionEvidence::schema_version>("version of the evidence; complete when 1"),
    required<&PromotionEvidence::queue_len>("items queued"),
    required<&PromotionEvidence::jit_queue_len_threshold>("the policy's; complete when not 0"),
    required<&PromotionEvidence::hot_opcode_count>("opcodes seen hot"),
    required<&PromotionEvidence::hot_opcode_threshold>("the policy's; complete when not 0"),
    required<&PromotionEvidence::hot_window_count>("windows seen hot"),
    required<&PromotionEvidence::hot_window_threshold>("the policy's; complete when not 0"),
    required<&PromotionEvidence::execution_mode>("the recommendation's mode"),
    required<&PromotionEvidence::promote_hot_opcodes>("hot opcodes are specialised"),
    required<&PromotionEvidence::promote_hot_windows>("hot windows are fused"),
    required<&PromotionEvidence::promotion_route>("interpreter, or what the kernel is compiled for"),
    required<&PromotionEvidence::fused_descriptor_window_required>(
        "complete when equal to promote_hot_windows"),
    required<&PromotionEvidence::output_parity_required>(
        "every route must give equal output; complete when true"),
};
TIDEGATE_RECORD(PromotionEvidence, promotion_evidence_fields);

constexpr Field complete_fields[] = {
    optional<&EvidenceComplete::topology>("the topology evidence is complete"),
    optional<&EvidenceComplete::promotion>("the promotion evidence is complete"),
};
TIDEGATE_RECORD(EvidenceComplete, complete_fields);

constexpr Field evidence_fields[] = {
    optional<&Evidence::topology>("values that decided the topology"),
    optional<&Evidence::promotion>("values that decided the mode and the promotions"),
    required<&Evidence::complete>("which evidence is complete"),
};
TIDEGATE_RECORD(Evidence, evidence_fields);

constexpr Field trace_step_fields[] = {
    required<&ExplanationStep::step>("the decision"),
    required<&ExplanationStep::outcome>("its result"),
    required<&ExplanationStep::rule>("name of the rule that decided"),
    required<&ExplanationStep::because>("the rule with its numbers, in words"),
};
TIDEGATE_RECORD(ExplanationStep, trace_step_fields);

constexpr Field recommendation_document_fields[] = {
    required<&LaunchRecommendationDocument::recommendation>("the answer"),
    optional<&LaunchRecommendationDocument::evidence>("with --evidence: the values that decided"),
    optional<&LaunchRecommendationDocument::explanation>("with --explain: each step and its reason"),
    optional<&LaunchRecommendationDocument::device>("the device that --device took the limits from"),
};
TIDEGATE_RECORD(LaunchRecommendationDocument, recommendation_document_fields);

TIDEGATE_DOCUMENT(LaunchRequestDocument, "launch_request",
                  "Request for a launch recommendation: queue, adapter limits, telemetry and policy",
                  Direction::input);
TIDEGATE_DOCUMENT(LaunchPolicy, "launch_policy",
                  "Thresholds of the launch policy; fields left out keep their standard values",
                  Direction::input);
TIDEGATE_DOCUMENT(LaunchRecommendationDocument, "launch_recommendation",
                  "Launch recommendation: geometry, topology, mode, hit capacity and memory",
                  Direction::output);

constexpr std::string_view requeue_count_meaning = "requeues recorded";
constexpr std::string_view aged_promotions_meaning = "priorities raised by age";
constexpr std::string_view max_priority_age_meaning = "longest wait recorded, in ticks";

constexpr Field accounting_fields[] = {
    required<&RequeueAccounting::requeue_count>(requeue_count_meaning),
    required<&RequeueAccounting::aged_promotions>(aged_promotions_meaning),
    required<&RequeueAccounting::max_priority_age>(max_priority_age_meaning),
};
TIDEGATE_RECORD(RequeueAccounting, accounting_fields);

constexpr Field drain_fields[] = {
    required<&DrainRecommendation::should_drain>("true unless the reason is none"),
    required<&DrainRecommendation::reason>("the first reason that applies"),
    required<&DrainRecommendation::accounting, &RequeueAccounting::requeue_count>(requeue_count_meaning),
    required<&DrainRecommendation::accounting, &RequeueAccounting::aged_promotions>(aged_promotions_meaning),
    required<&DrainRecommendation::accounting, &RequeueAccounting::max_priority_age>(
        max_priority_age_meaning),
    required<&DrainRecommendation::requeue_counter_headroom>("requeues left before the counter is full"),
    required<&DrainRecommendation::aged_promotion_counter_headroom>(
        "aged promotions left before the counter is full"),
    required<&DrainRecommendation::fix>("what to do, in one line"),
};
TIDEGATE_RECORD(DrainRecommendation, drain_fields);

constexpr Field diffusion_fields[] = {
    required<&SiblingDiffusion::priority_stalks>("priorities of the siblings"),
    required<&SiblingDiffusion::restriction_diag>(
        "diagonal of the restriction map; with another length, the priorities do not change"),
    required<&SiblingDiffusion::damping>("step size"),
    required<&SiblingDiffusion::iterations>("steps to take"),
};
TIDEGATE_RECORD(SiblingDiffusion, diffusion_fields);

constexpr std::string_view diagnostics_meaning = "notes on the values, such as null for a non-finite number";

constexpr Field diagnostic_fields[] = {
    required<&Diagnostic::code>("stable name"),
    required<&Diagnostic::pointer>("the value, as an RFC 6901 pointer into this document"),
    required<&Diagnostic::message>("the original value"),
};
TIDEGATE_RECORD(Diagnostic, diagnostic_fields);

std::optional<std::vector<Diagnostic>> non_finite_diagnostics(std::string_view pointer,
                                                              std::span<const double> values) {
  std::vector<Diagnostic> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      const std::string_view what = std::isnan(values[i]) ? "not a number"
                                    : values[i] > 0       ? "+infinity"
                                                          : "-infinity";
      found.push_back({.code = "non_finite",
                       .pointer = fmt::format("{}/{}", pointer, i),
                       .message = fmt::format("the value is {}, which JSON cannot hold", what)});
    }
  }
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

constexpr Field diffused_fields[] = {
    required<&DiffusedPriorities::output>("priorities after the last step"),
    optional<&DiffusedPriorities::diagnostics>(diagnostics_meaning),
};
TIDEGATE_RECORD(DiffusedPriorities, diffused_fields);

TIDEGATE_DOCUMENT(RequeueAccounting, "requeue_accounting", "Counters of requeued and aged work items",
                  Direction::input);
TIDEGATE_DOCUMENT(DrainRecommendation, "drain_recommendation",
                  "Recommendation to read out and reset the requeue counters", Direction::output);
TIDEGATE_DOCUMENT(SiblingDiffusion, "sibling_diffusion",
                  "Priorities of siblings and the parameters of their diffusion", Direction::input);
TIDEGATE_DOCUMENT(DiffusedPriorities, "diffused_priorities", "Priorities after diffusion", Direction::output);

constexpr Sequence costs_or_null = [] {
  Sequence list = detail::sequence<std::vector<double>>;
  list.element.or_null = true;
  return list;
}();

constexpr Field measured_costs_fields[] = {
    required<&MeasuredCosts::candidates>("values that were tried"),
    required<&MeasuredCosts::costs>("cost of each, in any single unit; null for a candidate that failed; "
                                    "surplus values are ignored")
        .of(costs_or_null),
    optional<&MeasuredCosts::current>("the value in use; kept, and needed, if no candidate has a cost"),
};
TIDEGATE_RECORD(MeasuredCosts, measured_costs_fields);

constexpr Field choice_fields[] = {
    required<&TuningChoice::value>(
        "the candidate with the lowest cost, the first of equals; or the current value"),
};
TIDEGATE_RECORD(TuningChoice, choice_fields);

constexpr Field gradient_fields[] = {
    required<&NaturalGradient::m_inv_sqrt>("the preconditioner, n times n, row by row"),
    required<&NaturalGradient::grad>("the gradient, n values"),
    required<&NaturalGradient::n>("dimension"),
    required<&NaturalGradient::learning_rate>("step size"),
};
TIDEGATE_RECORD(NaturalGradient, gradient_fields);

constexpr Field step_fields[] = {
    required<&NaturalGradientStep::output>("the step; empty when the matrix or the gradient is too short"),
    optional<&NaturalGradientStep::diagnostics>(diagnostics_meaning),
};
TIDEGATE_RECORD(NaturalGradientStep, step_fields);

TIDEGATE_DOCUMENT(MeasuredCosts, "measured_costs", "Candidates and their costs", Direction::input);
TIDEGATE_DOCUMENT(TuningChoice, "tuning_choice", "The cheapest candidate", Direction::output);
TIDEGATE_DOCUMENT(NaturalGradient, "natural_gradient", "A gradient and its preconditioner", Direction::input);
TIDEGATE_DOCUMENT(NaturalGradientStep, "natural_gradient_step", "A natural-gradient step", Direction::output);

} // namespace tidegate::documents
