// The whole launch policy: which error wins, where products overflow, and the steps after the topology.
#include "support.hpp"
#include <tidegate/policy/launch_policy.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tidegate::policy {
namespace {

using namespace test;

LaunchDecision decided(const LaunchPolicy& policy, const LaunchRequest& request,
                       std::optional<Topology> previous_topology = {}) {
  const auto decision = decide(policy, request, previous_topology);
  REQUIRE(error_of(decision) == "none");
  return *decision;
}

TEST_CASE("a direct request takes its missing limits from the two it has") {
  CHECK((LaunchRequest::direct(300, 64, 256) == LaunchRequest{.queue_len = 300,
                                                              .requested_worker_groups = 64,
                                                              .max_workgroup_size_x = 256,
                                                              .max_compute_workgroups_per_dimension = 64,
                                                              .max_compute_invocations_per_workgroup = 256,
                                                              .expected_hits_per_item = 1}));
  CHECK(error_of(recommend({}, LaunchRequest::direct(300, 0, 256))) ==
        "zero_adapter_limit {max_compute_workgroups_per_dimension}");
}

TEST_CASE("a request that is wrong in every way gives its errors in the order of the steps") {
  LaunchPolicy policy{.memory_pressure_threshold_bps = 10'001};
  LaunchRequest request{.queue_len = u32_max,
                        .requested_worker_groups = 64,
                        .expected_hits_per_item = 2,
                        .memory_pressure_bps = u16_max,
                        .resident_device_bytes = u64_max,
                        .device_memory_budget_bytes = 1};
  struct Case {
    std::string_view error;
    std::function<void()> repair;
  };
  for (const Case& c : {
           Case{"policy_out_of_range {memory_pressure_threshold_bps}",
                [&] { policy.memory_pressure_threshold_bps = 10'000; }},
           Case{"zero_adapter_limit {max_workgroup_size_x}", [&] { request.max_workgroup_size_x = 64; }},
           Case{"zero_adapter_limit {max_compute_workgroups_per_dimension}",
                [&] { request.max_compute_workgroups_per_dimension = 64; }},
           Case{"zero_adapter_limit {max_compute_invocations_per_workgroup}",
                [&] { request.max_compute_invocations_per_workgroup = 64; }},
           Case{"overflow {hit_capacity}", [&] { request.expected_hits_per_item = 1; }},
           Case{"overflow {estimated_peak_device_bytes}", [&] { request.resident_device_bytes = 5; }},
           Case{"device_out_of_memory {68719476725 > 1}",
                [&] { request.device_memory_budget_bytes = 68'719'476'725; }},
       }) {
    CHECK(error_of(decide(policy, request)) == c.error);
    CHECK(error_of(recommend(policy, request)) == c.error);
    c.repair();
  }
  CHECK(error_of(decide(policy, request)) == "none");
}

// 64 groups of width 64 on an adapter that bounds nothing.
LaunchRequest queue_of(std::uint32_t queue_len) {
  return LaunchRequest::direct(queue_len, 64, 64);
}

TEST_CASE("pressure: waves over the lanes of the dispatch") {
  struct Case {
    std::string_view what;
    std::uint32_t queue_len;
    std::uint64_t lanes;
    std::uint32_t saturated_waves;
    std::uint64_t requeues;
    QueuePressure pressure;
  };
  using enum QueuePressure;
  for (const Case& c : {Case{"an empty queue, even with requeues", 0, 64, 0, 1, empty},
                        Case{"one item less than the lanes", 319, 320, 4, 0, light},
                        Case{"as many items as lanes", 320, 320, 4, 0, balanced},
                        Case{"one item less than 4 full waves", 16'383, 4'096, 4, 0, balanced},
                        Case{"4 full waves", 16'384, 4'096, 4, 0, saturated},
                        Case{"a single requeue", 1, 64, 4, 1, saturated},
                        Case{"the most requeues", 1, 64, 4, u64_max, saturated},
                        Case{"saturated from 0 waves on", 1, 64, 0, 0, saturated},
                        Case{"saturated from 1 wave on", 320, 320, 1, 0, saturated},
                        Case{"still light below it", 319, 320, 1, 0, light}}) {
    CAPTURE(c.what);
    LaunchRequest request = queue_of(c.queue_len);
    request.requeue_count = c.requeues;
    const LaunchDecision decision = decided({.saturated_waves = c.saturated_waves}, request);
    CHECK(decision.lanes == c.lanes);
    CHECK(name(decision.recommendation.pressure) == name(c.pressure));
  }
}

TEST_CASE("pressure: lanes times waves is exact where the product leaves 32 bits") {
  struct Case {
    std::uint32_t saturated_waves;
    QueuePressure pressure;
  };
  // 65535 groups of width 65536: 4294901760 lanes for as many items. In 32 bits 2 waves would wrap to less
  // than that, and 65537 waves to exactly that.
  const LaunchPolicy wide{.hit_capacity_multiplier = 1, .sizing = {.max_dispatch_workgroups = u32_max}};
  for (const Case& c : {Case{1, QueuePressure::saturated}, Case{2, QueuePressure::balanced},
                        Case{65'537, QueuePressure::balanced}, Case{u32_max, QueuePressure::balanced}}) {
    CAPTURE(c.saturated_waves);
    LaunchPolicy policy = wide;
    policy.saturated_waves = c.saturated_waves;
    const LaunchDecision decision = decided(policy, LaunchRequest::direct(4'294'901'760, 65'536, 65'536));
    CHECK(decision.lanes == 4'294'901'760);
    CHECK(name(decision.recommendation.pressure) == name(c.pressure));
  }
}

TEST_CASE("pressure: the class follows its definition in 128 bits") {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t used_seed = seed();
  INFO("TIDEGATE_SEED=", used_seed);
  Random random(used_seed);
  for (int round = 0; round < 5'000; ++round) {
    const LaunchPolicy policy{.hit_capacity_multiplier = 1,
                              .saturated_waves = random.magnitude(32),
                              .sizing = {.max_dispatch_workgroups = random.magnitude(32)}};
    const auto request =
        LaunchRequest::direct(random.magnitude(32), random.magnitude(32) | 1U, random.magnitude(32) | 1U);
    CAPTURE(request.queue_len);
    CAPTURE(request.requested_worker_groups);
    CAPTURE(request.max_workgroup_size_x);
    CAPTURE(policy.saturated_waves);
    CAPTURE(policy.sizing.max_dispatch_workgroups);
    const LaunchRecommendation made = decided(policy, request).recommendation;
    const Wide lanes = Wide{made.geometry.dispatch_grid[0]} * made.geometry.workgroup_size_x;
    const QueuePressure expected = request.queue_len == 0 ? QueuePressure::empty
                                   : request.queue_len >= lanes * policy.saturated_waves
                                       ? QueuePressure::saturated
                                   : request.queue_len >= lanes ? QueuePressure::balanced
                                                                : QueuePressure::light;
    REQUIRE(name(made.pressure) == name(expected));
  }
}

TEST_CASE("hit capacity: requested, or derived and checked in u32") {
  struct Case {
    std::string_view what;
    std::uint32_t queue_len, hits_per_item, multiplier, requested;
    std::string_view error;
    std::uint32_t capacity;
  };
  constexpr std::string_view overflow = "overflow {hit_capacity}";
  for (const Case& c : {Case{"derived", 1'000, 3, 2, 0, "none", 6'000},
                        Case{"0 hits per item count as 1", 1'000, 0, 2, 0, "none", 2'000},
                        Case{"at least the minimum", 511, 1, 2, 0, "none", 1'024},
                        Case{"just above the minimum", 513, 1, 2, 0, "none", 1'026},
                        Case{"an empty queue", 0, u32_max, u32_max, 0, "none", 1'024},
                        Case{"a multiplier of 0", 1'000, 3, 0, 0, "none", 1'024},
                        Case{"requested below the minimum", 1'000, 3, 2, 1, "none", 1},
                        Case{"exactly u32 max", u32_max, 1, 1, 0, "none", u32_max},
                        Case{"the last even product", u32_max / 2, 1, 2, 0, "none", u32_max - 1},
                        Case{"the multiplier overflows", u32_max / 2 + 1, 1, 2, 0, overflow, 0},
                        Case{"the hits overflow", 65'536, 65'536, 1, 0, overflow, 0},
                        Case{"the hits overflow before a multiplier of 0", 65'536, 65'536, 0, 0, overflow, 0},
                        Case{"a request is never derived", u32_max, u32_max, u32_max, 7, "none", 7}}) {
    CAPTURE(c.what);
    LaunchRequest request = queue_of(c.queue_len);
    request.expected_hits_per_item = c.hits_per_item;
    request.requested_hit_capacity = c.requested;
    const auto decision = decide({.hit_capacity_multiplier = c.multiplier}, request);
    REQUIRE(error_of(decision) == c.error);
    if (decision) {
      CHECK(decision->recommendation.hit_capacity == c.capacity);
      CHECK(decision->hit_multiplier == (c.requested == 0 ? c.multiplier : 0));
    }
  }
}

TEST_CASE("hit capacity: the multiplier is 1 from the memory threshold on, measured and not held") {
  struct Case {
    std::string_view what;
    std::uint16_t pressure;
    std::optional<Topology> previous;
    Topology topology;
    std::uint32_t multiplier;
  };
  for (const Case& c : {
           Case{"below the threshold", 8'499, {}, Topology::sparse_frontier, 2},
           Case{"at the threshold", 8'500, {}, Topology::memory_constrained, 1},
           Case{"held by hysteresis", 8'300, Topology::memory_constrained, Topology::memory_constrained, 2},
       }) {
    CAPTURE(c.what);
    LaunchRequest request = queue_of(10'000);
    request.memory_pressure_bps = c.pressure;
    const LaunchDecision decision = decided({}, request, c.previous);
    CHECK(name(decision.recommendation.topology) == name(c.topology));
    CHECK(decision.hit_multiplier == c.multiplier);
    CHECK(decision.recommendation.hit_capacity == 10'000 * c.multiplier);
  }
  LaunchRequest empty = queue_of(0);
  empty.memory_pressure_bps = 8'500;
  CHECK(decided({}, empty).hit_multiplier == 1); // the topology is empty, the memory is full all the same
}

TEST_CASE("peak bytes: resident plus scratch, checked in u64, and the budget") {
  constexpr std::uint64_t most_scratch = std::uint64_t{u32_max} * u32_max;
  struct Case {
    std::string_view what;
    std::uint32_t hits, bytes_per_hit;
    std::uint64_t resident, budget;
    std::string_view error;
    std::uint64_t peak;
  };
  for (const Case& c :
       {Case{"no budget", 100, 16, 1'000, 0, "none", 2'600},
        Case{"exactly the budget", 100, 16, 1'000, 2'600, "none", 2'600},
        Case{"one byte over it", 100, 16, 1'000, 2'599, "device_out_of_memory {2600 > 2599}", 0},
        Case{"resident bytes alone over it", 100, 0, 2, 1, "device_out_of_memory {2 > 1}", 0},
        Case{"free scratch", 100, 0, 1'000, 0, "none", 1'000},
        Case{"the most scratch", u32_max, u32_max, 0, 0, "none", most_scratch},
        Case{"up to u64 max", u32_max, u32_max, u64_max - most_scratch, u64_max, "none", u64_max},
        Case{"one byte beyond", u32_max, u32_max, u64_max - most_scratch + 1, u64_max,
             "overflow {estimated_peak_device_bytes}", 0}}) {
    CAPTURE(c.what);
    LaunchRequest request = queue_of(1);
    request.requested_hit_capacity = c.hits;
    request.resident_device_bytes = c.resident;
    request.device_memory_budget_bytes = c.budget;
    const auto made = recommend({.scratch_bytes_per_hit = c.bytes_per_hit}, request);
    REQUIRE(error_of(made) == c.error);
    if (made) {
      CHECK(made->estimated_peak_device_bytes == c.peak);
      CHECK(made->device_memory_budget_bytes == c.budget);
    }
  }
}

TEST_CASE("execution mode: compiled for a long queue or anything hot") {
  struct Case {
    std::string_view what;
    std::uint32_t queue_len, opcodes, windows;
    ExecutionMode mode;
  };
  for (const Case& c :
       {Case{"short and cold", 4'095, 7, 3, ExecutionMode::interpreter},
        Case{"a long queue", 4'096, 7, 3, ExecutionMode::jit},
        Case{"hot opcodes", 1, 8, 3, ExecutionMode::jit}, Case{"hot windows", 1, 7, 4, ExecutionMode::jit},
        Case{"hot opcodes and an empty queue", 0, 8, 0, ExecutionMode::jit},
        Case{"an empty queue", 0, 0, 0, ExecutionMode::interpreter}}) {
    CAPTURE(c.what);
    LaunchRequest request = queue_of(c.queue_len);
    request.hot_opcode_count = c.opcodes;
    request.hot_window_count = c.windows;
    CHECK(name(decided({}, request).recommendation.execution_mode) == name(c.mode));
  }
}

TEST_CASE("priority work ages after a requeue or from the age threshold on") {
  const auto ages = [](std::uint64_t requeues, std::uint32_t ticks, std::uint32_t threshold) {
    LaunchRequest request = queue_of(1);
    request.requeue_count = requeues;
    request.max_priority_age = ticks;
    return decided({.priority_age_threshold = threshold}, request).recommendation.age_priority_work;
  };
  CHECK_FALSE(ages(0, 31, 32));
  CHECK(ages(0, 32, 32));
  CHECK(ages(1, 0, 32));
  CHECK(ages(0, 0, 0));
}

TEST_CASE("a decision keeps every intermediate choice") {
  const LaunchRequest request{.queue_len = 1'000,
                              .requested_worker_groups = 100,
                              .max_workgroup_size_x = 64,
                              .max_compute_workgroups_per_dimension = 70,
                              .max_compute_invocations_per_workgroup = 64,
                              .graph_node_count = 5'000,
                              .resident_device_bytes = 8'300,
                              .device_memory_budget_bytes = 10'000};
  const LaunchDecision decision =
      decided({.scratch_bytes_per_hit = 0}, request, Topology::memory_constrained);
  CHECK((decision.effective == infer_missing_signals(request)));
  CHECK(decision.effective.frontier_density_bps == 2'000);
  CHECK(decision.effective.memory_pressure_bps == 8'300);
  CHECK((decision.previous_topology == Topology::memory_constrained));
  CHECK(decision.raw.rule == TopologyRule::between_densities);
  CHECK(decision.chosen.rule == TopologyRule::hold_memory_constrained);
  CHECK(decision.shedding.worker_groups == 75); // before the adapter's limit
  CHECK(decision.recommendation.worker_groups == 70);
  CHECK(decision.lanes == 16 * 64);
  CHECK(decision.hit_multiplier == 2);
}

TEST_CASE("a recommendation is its decision's, and hysteresis without effect changes nothing") {
  const std::uint64_t used_seed = seed();
  INFO("TIDEGATE_SEED=", used_seed);
  Random random(used_seed);
  int answered = 0;
  for (int round = 0; round < 5'000; ++round) {
    CAPTURE(round);
    const LaunchPolicy policy = random.policy();
    const LaunchRequest request = random.request();
    const std::optional<Topology> previous = random.previous_topology();
    const auto decision = decide(policy, request, previous);
    const auto made = recommend(policy, request, previous);
    REQUIRE(error_of(made) == error_of(decision));
    if (!decision) {
      REQUIRE((made.error() == decision.error()));
      continue;
    }
    ++answered;
    REQUIRE((*made == decision->recommendation));
    REQUIRE((made->topology == decision->chosen.topology));
    if (decision->chosen.rule == decision->raw.rule) {
      REQUIRE((*made == decided(policy, request).recommendation));
    } else {
      REQUIRE((previous == decision->chosen.topology));
    }
  }
  CHECK(answered > 2'500);
}

} // namespace
} // namespace tidegate::policy
