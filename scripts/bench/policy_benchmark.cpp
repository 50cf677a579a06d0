// Measures the time of a recommendation: uncached, uncached with a previous topology, and from the cache.
#include <tidegate/policy/launch_policy.hpp>
#include <tidegate/policy/recommendation_cache.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace tidegate::policy;

// Returns requests that reach every topology. About half of them state a frontier density, and about half a memory budget;
// none states the memory pressure, so the policy infers what is missing.
std::vector<LaunchRequest> mixed_requests(std::size_t count) {
  std::mt19937_64 random(1);
  const auto below = [&random](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  std::vector<LaunchRequest> requests(count);
  for (LaunchRequest& request : requests) {
    request = LaunchRequest::direct(below(1'000'000), 1 + below(2000), 32U << below(6));
    request.max_compute_workgroups_per_dimension = 65'535;
    request.hot_window_count = below(8);
    request.graph_node_count = below(2'000'000);
    request.graph_edge_count = below(20'000'000);
    request.frontier_density_bps = static_cast<std::uint16_t>(below(2) * below(10'000));
    request.resident_device_bytes = random() >> (24 + below(16));
    request.device_memory_budget_bytes = below(2) * (request.resident_device_bytes * 2 + 1'000'000'000);
  }
  return requests;
}

void uncached_recommendation(benchmark::State& state) {
  const std::vector<LaunchRequest> requests = mixed_requests(1024);
  const LaunchPolicy policy;
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(recommend(policy, requests[i++ % requests.size()]));
  }
}
BENCHMARK(uncached_recommendation);

void uncached_recommendation_with_hysteresis(benchmark::State& state) {
  const std::vector<LaunchRequest> requests = mixed_requests(1024);
  const LaunchPolicy policy;
  std::size_t i = 0;
  for (auto _ : state) {
    const auto previous = static_cast<Topology>(i % topology_names.size());
    benchmark::DoNotOptimize(recommend(policy, requests[i++ % requests.size()], previous));
  }
}
BENCHMARK(uncached_recommendation_with_hysteresis);

void cached_recommendation(benchmark::State& state) {
  const std::vector<LaunchRequest> requests = mixed_requests(64);
  const LaunchPolicy policy;
  RecommendationCache cache;
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache.recommend(policy, requests[i++ % requests.size()]));
  }
}
BENCHMARK(cached_recommendation);

} // namespace

BENCHMARK_MAIN();
