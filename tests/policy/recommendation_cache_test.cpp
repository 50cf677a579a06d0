// The recommendation cache: hits, misses, keys and the order of eviction.
#include "support.hpp"
#include <tidegate/policy/launch_policy.hpp>

#include <doctest/doctest.h>

namespace tidegate::policy {
namespace {

using namespace test;

constexpr auto capacity = static_cast<std::uint32_t>(RecommendationCache::capacity);

LaunchRequest queue_of(std::uint32_t queue_len) {
  return LaunchRequest::direct(queue_len, 64, 256);
}

// Returns true if the cache answered from an entry.
bool hits(RecommendationCache& cache, const LaunchRequest& request, const LaunchPolicy& policy = {}) {
  const std::uint64_t before = cache.statistics().hits;
  const auto cached = cache.recommend(policy, request);
  const auto fresh = recommend(policy, request);
  REQUIRE(error_of(cached) == error_of(fresh));
  REQUIRE((!cached || *cached == *fresh));
  return cache.statistics().hits != before;
}

void fill(RecommendationCache& cache, std::uint32_t first_queue_len, std::uint32_t last_queue_len) {
  for (std::uint32_t queue_len = first_queue_len; queue_len <= last_queue_len; ++queue_len) {
    CHECK_FALSE(hits(cache, queue_of(queue_len)));
  }
}

TEST_CASE("the second look-up of a pair is a hit") {
  RecommendationCache cache;
  CHECK((cache.statistics() == CacheStatistics{0, 0, 0}));
  CHECK_FALSE(hits(cache, queue_of(300)));
  CHECK((cache.statistics() == CacheStatistics{1, 0, 1}));
  CHECK(hits(cache, queue_of(300)));
  CHECK((cache.statistics() == CacheStatistics{1, 1, 1}));
}

TEST_CASE("every field of the request and of the policy is part of the key") {
  std::vector<LaunchRequest> requests{queue_of(300)};
  const auto change_request = [&](auto... fields) {
    ((requests.push_back(requests.front()), ++(requests.back().*fields)), ...);
  };
  change_request(&LaunchRequest::queue_len, &LaunchRequest::requested_worker_groups,
                 &LaunchRequest::max_workgroup_size_x, &LaunchRequest::max_compute_workgroups_per_dimension,
                 &LaunchRequest::max_compute_invocations_per_workgroup,
                 &LaunchRequest::requested_hit_capacity, &LaunchRequest::expected_hits_per_item,
                 &LaunchRequest::hot_opcode_count, &LaunchRequest::hot_window_count,
                 &LaunchRequest::requeue_count, &LaunchRequest::max_priority_age,
                 &LaunchRequest::graph_node_count, &LaunchRequest::graph_edge_count,
                 &LaunchRequest::frontier_density_bps, &LaunchRequest::memory_pressure_bps,
                 &LaunchRequest::resident_device_bytes);
  requests.push_back(requests.front());
  requests.back().device_memory_budget_bytes = u64_max; // a budget of one byte would be an error

  std::vector<LaunchPolicy> policies{LaunchPolicy{}};
  const auto change_policy = [&](auto... fields) {
    ((policies.push_back(policies.front()), ++(policies.back().*fields)), ...);
  };
  change_policy(&LaunchPolicy::min_hit_capacity, &LaunchPolicy::hit_capacity_multiplier,
                &LaunchPolicy::saturated_waves, &LaunchPolicy::hot_opcode_threshold,
                &LaunchPolicy::hot_window_threshold, &LaunchPolicy::jit_queue_len_threshold,
                &LaunchPolicy::priority_age_threshold, &LaunchPolicy::sparse_frontier_threshold_bps,
                &LaunchPolicy::dense_frontier_threshold_bps, &LaunchPolicy::memory_pressure_threshold_bps,
                &LaunchPolicy::fusion_edge_threshold, &LaunchPolicy::scratch_bytes_per_hit);
  const auto change_sizing = [&](auto... fields) {
    ((policies.push_back(policies.front()), ++(policies.back().sizing.*fields)), ...);
  };
  change_sizing(&SizingPolicy::default_worker_count, &SizingPolicy::occupancy_worker_divisor,
                &SizingPolicy::max_dispatch_workgroups, &SizingPolicy::powerful_invocation_threshold,
                &SizingPolicy::powerful_min_worker_groups);
  REQUIRE(requests.size() == 1 + 17);
  REQUIRE(policies.size() == 1 + 12 + 5);

  RecommendationCache cache;
  for (const bool second_time : {false, true}) {
    CAPTURE(second_time);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(i);
      CHECK(hits(cache, requests[i]) == second_time);
    }
    for (std::size_t i = 1; i < policies.size(); ++i) {
      CAPTURE(i);
      CHECK(hits(cache, requests.front(), policies[i]) == second_time);
    }
  }
}

TEST_CASE("a raw request and its effective form are different keys") {
  RecommendationCache cache;
  LaunchRequest raw = queue_of(300);
  raw.graph_node_count = 10'000;
  CHECK_FALSE(hits(cache, raw));
  CHECK_FALSE(hits(cache, infer_missing_signals(raw)));
  CHECK(hits(cache, infer_missing_signals(raw)));
  CHECK(cache.statistics().entries == 2);
}

TEST_CASE("a recommendation with a previous topology neither reads nor fills the cache") {
  RecommendationCache cache;
  LaunchRequest request = queue_of(300);
  request.frontier_density_bps = 700;
  const auto held = recommend({}, request, Topology::sparse_frontier);
  REQUIRE(held.has_value());
  CHECK((cache.statistics() == CacheStatistics{0, 0, 0}));
  const auto cached = cache.recommend({}, request);
  REQUIRE(cached.has_value());
  CHECK(name(held->topology) == "sparse_frontier");
  CHECK(name(cached->topology) == "hybrid_frontier");
  CHECK(name(recommend({}, request, Topology::sparse_frontier)->topology) == "sparse_frontier");
  CHECK((cache.statistics() == CacheStatistics{1, 0, 1}));
}

TEST_CASE("a cleared cache is empty, and two caches share nothing") {
  RecommendationCache cache;
  RecommendationCache other;
  fill(cache, 1, 10);
  CHECK_FALSE(hits(other, queue_of(1)));
  cache.clear();
  CHECK((cache.statistics() == CacheStatistics{0, 0, 0}));
  CHECK_FALSE(hits(cache, queue_of(1)));
  CHECK(hits(other, queue_of(1)));
}

TEST_CASE("the pair that was looked up longest ago makes room") {
  RecommendationCache cache;
  fill(cache, 1, capacity);
  CHECK(hits(cache, queue_of(1))); // is the most recent one now
  CHECK_FALSE(hits(cache, queue_of(capacity + 1)));
  CHECK((cache.statistics() == CacheStatistics{capacity, 1, capacity + 1}));
  CHECK(hits(cache, queue_of(1)));
  CHECK_FALSE(hits(cache, queue_of(2)));
  CHECK_FALSE(hits(cache, queue_of(3)));
  CHECK(hits(cache, queue_of(capacity)));
}

TEST_CASE("errors are misses, and are not kept") {
  RecommendationCache cache;
  LaunchRequest request = queue_of(300);
  request.device_memory_budget_bytes = 1;
  CHECK_FALSE(hits(cache, request));
  CHECK_FALSE(hits(cache, request));
  CHECK((cache.statistics() == CacheStatistics{0, 0, 2}));
}

} // namespace
} // namespace tidegate::policy
