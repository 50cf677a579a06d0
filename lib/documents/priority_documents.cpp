#include <tidegate/documents/priority_documents.hpp>

namespace tidegate::documents {

using policy::DrainRecommendation;
using policy::RequeueAccounting;

template <>
struct Description<RequeueAccounting> {
  static const Record record;
};
template <>
struct Description<SiblingDiffusion> {
  static const Record record;
};
template <>
struct Description<DiffusedPriorities> {
  static const Record record;
};

namespace {

constexpr std::string_view requeue_count_meaning = "requeues recorded";
constexpr std::string_view aged_promotions_meaning = "promotions of items for their age";
constexpr std::string_view max_priority_age_meaning = "longest wait recorded, in ticks";

constexpr Field accounting_fields[] = {
    required<&RequeueAccounting::requeue_count>("requeue_count", requeue_count_meaning),
    required<&RequeueAccounting::aged_promotions>("aged_promotions", aged_promotions_meaning),
    required<&RequeueAccounting::max_priority_age>("max_priority_age", max_priority_age_meaning),
};

constexpr Field drain_fields[] = {
    required<&DrainRecommendation::should_drain>("should_drain", "true unless the reason is none"),
    required<&DrainRecommendation::reason>("reason", "the first reason that applies"),
    required<&DrainRecommendation::accounting, &RequeueAccounting::requeue_count>("requeue_count",
                                                                                  requeue_count_meaning),
    required<&DrainRecommendation::accounting, &RequeueAccounting::aged_promotions>("aged_promotions",
                                                                                    aged_promotions_meaning),
    required<&DrainRecommendation::accounting, &RequeueAccounting::max_priority_age>(
        "max_priority_age", max_priority_age_meaning),
    required<&DrainRecommendation::requeue_counter_headroom>("requeue_counter_headroom",
                                                             "requeues left before the counter is full"),
    required<&DrainRecommendation::aged_promotion_counter_headroom>(
        "aged_promotion_counter_headroom", "aged promotions left before the counter is full"),
    required<&DrainRecommendation::fix>("fix", "what to do, in one line"),
};

constexpr Field diffusion_fields[] = {
    required<&SiblingDiffusion::priority_stalks>("priority_stalks", "priorities of the siblings"),
    required<&SiblingDiffusion::restriction_diag>(
        "restriction_diag",
        "diagonal of the restriction map; another length leaves the priorities as they are"),
    required<&SiblingDiffusion::damping>("damping", "step size"),
    required<&SiblingDiffusion::iterations>("iterations", "steps to take"),
};

constexpr Field diffused_fields[] = {
    required<&DiffusedPriorities::output>("output", "priorities after the last step"),
    optional<&DiffusedPriorities::diagnostics>("diagnostics", diagnostics_meaning),
};

} // namespace

constinit const Record Description<RequeueAccounting>::record =
    record_of<RequeueAccounting>("requeue_accounting", accounting_fields);
constinit const Record Description<DrainRecommendation>::record =
    record_of<DrainRecommendation>("drain_recommendation", drain_fields);
constinit const Record Description<SiblingDiffusion>::record =
    record_of<SiblingDiffusion>("sibling_diffusion", diffusion_fields);
constinit const Record Description<DiffusedPriorities>::record =
    record_of<DiffusedPriorities>("diffused_priorities", diffused_fields);

constinit const Document DocumentOf<RequeueAccounting>::document{
    .kind = "requeue_accounting",
    .title = "Counters of requeued and aged work items",
    .direction = Direction::input,
    .record = &Description<RequeueAccounting>::record};
constinit const Document DocumentOf<DrainRecommendation>::document{
    .kind = "drain_recommendation",
    .title = "Whether the requeue counters should be read out and reset",
    .direction = Direction::output,
    .record = &Description<DrainRecommendation>::record};
constinit const Document DocumentOf<SiblingDiffusion>::document{
    .kind = "sibling_diffusion",
    .title = "Priorities of siblings and how far they diffuse",
    .direction = Direction::input,
    .record = &Description<SiblingDiffusion>::record};
constinit const Document DocumentOf<DiffusedPriorities>::document{
    .kind = "diffused_priorities",
    .title = "Priorities after diffusion",
    .direction = Direction::output,
    .record = &Description<DiffusedPriorities>::record};

} // namespace tidegate::documents
