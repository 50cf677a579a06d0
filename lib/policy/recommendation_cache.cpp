// The cache is a list by recency with a hash index.
#include <tidegate/policy/recommendation_cache.hpp>

namespace tidegate::policy {
namespace {

constexpr std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32U;
}

// Folds one word into a 64-bit hash: the two halves of a 128-bit product, as in wyhash (Wang Yi, 2019).
std::uint64_t fold(std::uint64_t hash, std::uint64_t word) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{hash ^ 0x9e3779b97f4a7c15U} * (word ^ 0xe7037ed1a0b428dbU);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

} // namespace

std::size_t RecommendationCache::KeyHash::operator()(const Key& key) const {
  // Requests differ far more often than policies, and equality is checked afterwards: of the policy only the most decisive
  // fields count.
  const auto& [policy, request] = key;
  std::uint64_t hash = 0;
  for (const std::uint64_t word :
       {pair_of(request.queue_len, request.requested_worker_groups),
        pair_of(request.max_workgroup_size_x, request.max_compute_workgroups_per_dimension),
        pair_of(request.max_compute_invocations_per_workgroup, request.requested_hit_capacity),
        pair_of(request.expected_hits_per_item, request.hot_opcode_count),
        pair_of(request.hot_window_count, request.max_priority_age), request.requeue_count,
        pair_of(request.graph_node_count, request.graph_edge_count),
        pair_of(request.frontier_density_bps, request.memory_pressure_bps), request.resident_device_bytes,
        request.device_memory_budget_bytes,
        pair_of(policy.sparse_frontier_threshold_bps, policy.dense_frontier_threshold_bps),
        pair_of(policy.memory_pressure_threshold_bps, policy.hit_capacity_multiplier)}) {
    hash = fold(hash, word);
  }
  return hash;
}

Result<LaunchRecommendation> RecommendationCache::recommend(const LaunchPolicy& policy,
                                                            const LaunchRequest& request) {
  const Key key{policy, request};
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    ++hits_;
    by_recency_.splice(by_recency_.begin(), by_recency_, found->second);
    return found->second->recommendation;
  }
  ++misses_;
  const auto answer = policy::recommend(policy, request);
  if (!answer) {
    return answer;
  }
  if (by_recency_.size() == capacity) {
    by_key_.erase(by_recency_.back().key);
    by_recency_.pop_back();
  }
  by_recency_.push_front({key, *answer});
  by_key_.emplace(key, by_recency_.begin());
  return answer;
}

CacheStatistics RecommendationCache::statistics() const {
  return {.entries = by_recency_.size(), .hits = hits_, .misses = misses_};
}

void RecommendationCache::clear() {
  by_key_.clear();
  by_recency_.clear();
  hits_ = 0;
  misses_ = 0;
}

} // namespace tidegate::policy
