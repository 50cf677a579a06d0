// The launch policy: maps one launch request to one recommendation, with the evidence and the reasons of each choice.
// Pure integer functions without global state; densities and pressures are in basis points (bps, 10 000 = 100 %).
#pragma once
#include <tidegate/core/error.hpp>

#include <list>

namespace tidegate::policy {

inline constexpr std::uint16_t full_scale_bps = 10'000;

// Limits of a device; 0 is an error where the policy needs the field.
struct AdapterLimits {
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
};

struct LaunchRequest {
  std::uint32_t queue_len = 0;
  std::uint32_t requested_worker_groups = 0; // 0 = derive from the adapter limits
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
  std::uint32_t requested_hit_capacity = 0; // 0 = derive
  std::uint32_t expected_hits_per_item = 1; // 0 counts as 1
  std::uint32_t hot_opcode_count = 0;
  std::uint32_t hot_window_count = 0;
  std::uint64_t requeue_count = 0;
  std::uint32_t max_priority_age = 0; // ticks
  std::uint32_t graph_node_count = 0;
  std::uint32_t graph_edge_count = 0;
  std::uint16_t frontier_density_bps = 0; // 0 = infer from queue and nodes
  std::uint16_t memory_pressure_bps = 0;  // 0 = infer from resident bytes and budget
  std::uint64_t resident_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0; // 0 = unbounded

  // Makes a request from the queue length and two limits: the per-dimension limit equals the requested worker
  // groups, the invocation limit the work-group size.
  static LaunchRequest direct(std::uint32_t queue_len, std::uint32_t requested_worker_groups,
                              std::uint32_t max_workgroup_size_x) {
    return {.queue_len = queue_len,
            .requested_worker_groups = requested_worker_groups,
            .max_workgroup_size_x = max_workgroup_size_x,
            .max_compute_workgroups_per_dimension = requested_worker_groups,
            .max_compute_invocations_per_workgroup = max_workgroup_size_x};
  }

  friend bool operator==(const LaunchRequest&, const LaunchRequest&) = default;
};

struct SizingPolicy {
  std::uint32_t default_worker_count = 64;
  std::uint32_t occupancy_worker_divisor = 256; // 0 counts as 1
  std::uint32_t max_dispatch_workgroups = 1024; // 0 counts as 1
  std::uint32_t powerful_invocation_threshold = 4096;
  std::uint32_t powerful_min_worker_groups = 64;

  friend bool operator==(const SizingPolicy&, const SizingPolicy&) = default;
};

struct LaunchPolicy {
  std::uint32_t min_hit_capacity = 1024;
  std::uint32_t hit_capacity_multiplier = 2;
  std::uint32_t saturated_waves = 4;
  std::uint32_t hot_opcode_threshold = 8;
  std::uint32_t hot_window_threshold = 4;
  std::uint32_t jit_queue_len_threshold = 4096;
  std::uint32_t priority_age_threshold = 32; // ticks
  std::uint16_t sparse_frontier_threshold_bps = 500;
  std::uint16_t dense_frontier_threshold_bps = 4000;
  std::uint16_t memory_pressure_threshold_bps = 8500;
  std::uint32_t fusion_edge_threshold = 65'536;
  std::uint32_t scratch_bytes_per_hit = 16;
  SizingPolicy sizing;

  friend bool operator==(const LaunchPolicy&, const LaunchPolicy&) = default;
};

// The output of the launch policy. Plain data; each enumeration has its names in documents.

enum class Topology : std::uint8_t {
  empty,
  sparse_frontier,
  hybrid_frontier,
  dense_frontier,
  fused_dense,
  memory_constrained,
};
inline constexpr std::array<std::string_view, 6> topology_names{
    "empty", "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"};

enum class QueuePressure : std::uint8_t { empty, light, balanced, saturated };
inline constexpr std::array<std::string_view, 4> queue_pressure_names{"empty", "light", "balanced",
                                                                      "saturated"};

enum class ExecutionMode : std::uint8_t { interpreter, jit };
inline constexpr std::array<std::string_view, 2> execution_mode_names{"interpreter", "jit"};

inline std::string_view name(Topology value) {
  return topology_names[static_cast<std::size_t>(value)];
}
inline std::string_view name(QueuePressure value) {
  return queue_pressure_names[static_cast<std::size_t>(value)];
}
inline std::string_view name(ExecutionMode value) {
  return execution_mode_names[static_cast<std::size_t>(value)];
}

// All that the policy is asked.
struct LaunchQuestion {
  LaunchRequest request;
  std::optional<Topology> previous_topology;
  LaunchPolicy policy;
};

struct LaunchGeometry {
  std::uint32_t workgroup_size_x = 0;
  std::uint32_t slot_count = 0; // queue slots, a multiple of workgroup_size_x
  std::array<std::uint32_t, 3> dispatch_grid{};

  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
};

struct LaunchRecommendation {
  LaunchGeometry geometry;
  std::uint32_t worker_groups = 0;
  std::uint32_t hit_capacity = 0; // sparse hits that the launch can store
  QueuePressure pressure = QueuePressure::empty;
  ExecutionMode execution_mode = ExecutionMode::interpreter;
  Topology topology = Topology::empty;
  bool promote_hot_opcodes = false;
  bool promote_hot_windows = false;
  bool age_priority_work = false;
  std::uint64_t estimated_peak_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0; // 0 = unbounded

  friend bool operator==(const LaunchRecommendation&, const LaunchRecommendation&) = default;
};

// The traversal's topology, from the density of the frontier and the memory pressure.

inline constexpr std::uint16_t hysteresis_band_bps = 250; // TG_BAND_BPS

// Step 2: fills in a missing density and a missing pressure. Idempotent.
LaunchRequest infer_missing_signals(const LaunchRequest& request);

// The signal of a traversal's rules: the frontier's share of the vertices, or the edges of the frontier.
enum class SwitchRule : std::uint8_t { density, edges };
inline constexpr std::array<std::string_view, 2> switch_rule_names{"density", "edges"};

// The rule that decided the topology, in the order in which rules are tried. The numbers equal those of
// kernels/frontier/policy.h, which implements the rules.
// clang-format off
#define TIDEGATE_TOPOLOGY_RULES(X)                                                                           \
  /* raw rules (step 4) */                                                                                   \
  X(queue_empty) X(memory_pressure) X(sparse_density) X(dense_density_fused) X(dense_density)                \
  X(between_densities)                                                                                       \
  /* hysteresis rules (step 5) */                                                                            \
  X(hold_memory_constrained) X(hold_sparse) X(hold_hybrid_from_sparse) X(hold_hybrid_from_dense)             \
  X(hold_dense) X(hold_fused)                                                                                \
  /* rules of traversals, which use the frontier's edges */                                                  \
  X(few_vertices) X(many_edges_fused) X(many_edges) X(hold_pull) X(some_edges) X(hold_some_edges)            \
  X(few_edges) X(forced)
// clang-format on
#define TIDEGATE_TOPOLOGY_RULE(rule) rule,
enum class TopologyRule : std::uint8_t { TIDEGATE_TOPOLOGY_RULES(TIDEGATE_TOPOLOGY_RULE) };
#undef TIDEGATE_TOPOLOGY_RULE
#define TIDEGATE_TOPOLOGY_RULE(rule) #rule,
inline constexpr auto topology_rule_names =
    std::to_array<std::string_view>({TIDEGATE_TOPOLOGY_RULES(TIDEGATE_TOPOLOGY_RULE)});
#undef TIDEGATE_TOPOLOGY_RULE

inline std::string_view name(TopologyRule rule) {
  return topology_rule_names[static_cast<std::size_t>(rule)];
}

struct TopologyChoice {
  Topology topology = Topology::empty;
  TopologyRule rule = TopologyRule::queue_empty;
};

// Step 6: requested worker groups after shedding.
enum class SheddingRule : std::uint8_t { none, memory_pressure, sparse_frontier };

struct Shedding {
  std::uint32_t worker_groups = 0;
  SheddingRule rule = SheddingRule::none;
  std::uint32_t shed_bps = 0; // share removed by memory pressure
};

// Errors: policy_out_of_range if the memory threshold is above 10000 bps and shedding needs its span.
Result<Shedding> shed_workers(const LaunchPolicy& policy, const LaunchRequest& effective, Topology topology);

// Launch geometry: how many work-groups of which width, and how many queue slots they own.

// Width of a worker work-group: the worker count, capped by the adapter; at least 1.
std::uint32_t worker_workgroup_size(std::uint32_t worker_count, std::uint32_t max_workgroup_size_x);

// `slot_count`, at least 1, rounded up to a multiple of the width. The rounding saturates at u32 max before
// the final division, so a count within one width of the maximum may round down.
std::uint32_t padded_slot_count(std::uint32_t slot_count, std::uint32_t workgroup_size_x);

// Work-groups for `queue_len` items: one per worker_workgroup_size items, at most `worker_count` and at most
// the policy's max_dispatch_workgroups; at least 1.
std::array<std::uint32_t, 3> dispatch_grid_for(std::uint32_t worker_count, std::uint32_t queue_len,
                                               std::uint32_t max_workgroup_size_x,
                                               const SizingPolicy& sizing = {});

// Worker groups that fill an adapter: its per-dimension limit over the occupancy divisor, within
// [1, max_dispatch_workgroups]; a powerful adapter gets at least powerful_min_worker_groups.
std::uint32_t default_worker_groups_from_limits(std::uint32_t max_compute_workgroups_per_dimension,
                                                std::uint32_t max_compute_invocations_per_workgroup,
                                                const SizingPolicy& sizing = {});

// Geometry for a 64-bit item count. Errors: queue_too_long, with queue_len if the count exceeds u32, with
// slot_count if its padding does.
Result<LaunchGeometry> geometry_from_item_count(std::uint64_t item_count, std::uint32_t worker_count,
                                                std::uint32_t max_workgroup_size_x,
                                                const SizingPolicy& sizing = {});

struct Grid {
  LaunchGeometry geometry;
  std::uint32_t worker_groups = 0;
};

// Step 7: geometry and worker groups for a request's queue. Errors: zero_adapter_limit with the first limit that is 0.
Result<Grid> grid_for(const LaunchRequest& request, const SizingPolicy& sizing = {});

// A recommendation with every intermediate choice, so that evidence and explanations read the deciding
// numbers instead of computing them again.
struct LaunchDecision {
  LaunchRequest effective; // the request with inferred signals
  std::optional<Topology> previous_topology;
  TopologyChoice raw;    // step 4
  TopologyChoice chosen; // step 5: the previous topology stays while the signals are within its band
  Shedding shedding;
  std::uint64_t lanes = 0;          // work-items of the whole dispatch
  std::uint32_t hit_multiplier = 0; // 0 if the capacity was requested
  LaunchRecommendation recommendation;
};

// Errors: zero_adapter_limit, policy_out_of_range, overflow {hit_capacity, estimated_peak_device_bytes},
// device_out_of_memory. `previous_topology` switches hysteresis on.
Result<LaunchDecision> decide(const LaunchPolicy& policy, const LaunchRequest& request,
                              std::optional<Topology> previous_topology = {});

// Step 8: the class of a queue on the lanes of a dispatch, which fit 32 bits.
QueuePressure pressure_class(const LaunchPolicy& policy, const LaunchRequest& effective, std::uint64_t lanes);

Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request,
                                       std::optional<Topology> previous_topology = {});

struct CacheStatistics {
  std::uint64_t entries = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0; // errors count as misses and are not cached

  friend bool operator==(const CacheStatistics&, const CacheStatistics&) = default;
};

// The recommendations of the last `capacity` distinct pairs of policy and request. Not thread-safe.
class RecommendationCache {
public:
  static constexpr std::size_t capacity = 128;

  // For evidence, callers pass the effective request (infer_missing_signals), which is another key than a raw one without
  // signals.
  Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request);

  [[nodiscard]] CacheStatistics statistics() const { return {entries_.size(), hits_, misses_}; }
  void clear() { *this = {}; }

private:
  struct Entry {
    LaunchPolicy policy;
    LaunchRequest request;
    LaunchRecommendation recommendation;
  };
  std::list<Entry> entries_; // the most recent one first
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

// A step of a decision and its reason.
struct ExplanationStep {
  std::string step;    // the decision: "topology", "worker_groups", …
  std::string outcome; // the resulting value
  std::string rule;    // stable name of the rule that decided
  std::string because; // one sentence with the numbers
};

std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision);

// Evidence: the values that a launch reports in addition to its recommendation so that a later reader can
// check the choice. It repeats the inputs of the rules under their names in the request and the policy.

inline constexpr std::uint32_t evidence_schema_version = 1;

enum class GraphblasSwitchClass : std::uint8_t { empty, sparse, hybrid, dense, memory_constrained };
inline constexpr std::array<std::string_view, 5> graphblas_switch_class_names{"empty", "sparse", "hybrid",
                                                                              "dense", "memory_constrained"};

enum class PromotionRoute : std::uint8_t {
  interpreter,
  queue_jit,
  opcode_jit,
  window_jit,
  opcode_and_window_jit
};
inline constexpr std::array<std::string_view, 5> promotion_route_names{
    "interpreter", "queue_jit", "opcode_jit", "window_jit", "opcode_and_window_jit"};

GraphblasSwitchClass switch_class(Topology topology);
PromotionRoute promotion_route(const LaunchRecommendation& recommendation);

struct TopologyEvidence {
  std::uint32_t schema_version = evidence_schema_version;
  QueuePressure queue_pressure = QueuePressure::empty;
  std::uint16_t frontier_density_bps = 0;
  std::uint16_t semiring_frontier_density_bps = 0;
  Topology selected_topology = Topology::empty;
  GraphblasSwitchClass graphblas_switch_class = GraphblasSwitchClass::empty;
  std::uint64_t resident_device_bytes = 0;
  std::uint64_t estimated_peak_device_bytes = 0;
  bool output_parity_required = true;
};

struct PromotionEvidence {
  std::uint32_t schema_version = evidence_schema_version;
  std::uint32_t queue_len = 0;
  std::uint32_t jit_queue_len_threshold = 0;
  std::uint32_t hot_opcode_count = 0;
  std::uint32_t hot_opcode_threshold = 0;
  std::uint32_t hot_window_count = 0;
  std::uint32_t hot_window_threshold = 0;
  ExecutionMode execution_mode = ExecutionMode::interpreter;
  bool promote_hot_opcodes = false;
  bool promote_hot_windows = false;
  PromotionRoute promotion_route = PromotionRoute::interpreter;
  bool fused_descriptor_window_required = false;
  bool output_parity_required = true;
};

// `effective` is the request with inferred signals (infer_missing_signals), `recommendation` its answer.
TopologyEvidence topology_evidence(const LaunchRequest& effective,
                                   const LaunchRecommendation& recommendation);
PromotionEvidence promotion_evidence(const LaunchPolicy& policy, const LaunchRequest& effective,
                                     const LaunchRecommendation& recommendation);

// Returns the field that makes the evidence incomplete, or nothing if it is complete.
std::optional<std::string_view> incomplete_field(const TopologyEvidence& evidence);
std::optional<std::string_view> incomplete_field(const PromotionEvidence& evidence);

} // namespace tidegate::policy
