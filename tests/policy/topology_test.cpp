// Inferred signals, promotion, every topology rule on both sides of its band, and worker shedding.
#include "support.hpp"
#include <tidegate/policy/topology.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::policy {
namespace {

using namespace test;
using Rule = TopologyRule;

TEST_CASE("a missing density is inferred from queue and graph, within 1 and 10000") {
  struct Case {
    std::string_view what;
    std::uint16_t measured;
    std::uint32_t queue_len, nodes;
    std::uint16_t density;
  };
  for (const Case& c :
       {Case{"a measured density stays", 4321, 10, 100, 4321},
        Case{"even beyond full scale", u16_max, 10, 100, u16_max}, Case{"no queue", 0, 0, 100, 0},
        Case{"no graph", 0, 100, 0, 0}, Case{"rounded down", 0, 1, 3, 3333},
        Case{"exactly 1 bps", 0, 1, 10'000, 1}, Case{"less than 1 bps counts as 1", 0, 1, 10'001, 1},
        Case{"one item in the largest graph", 0, 1, u32_max, 1},
        Case{"one node is missing", 0, 9'999, 10'000, 9'999}, Case{"every node", 0, 10'000, 10'000, 10'000},
        Case{"more items than nodes", 0, u32_max, 1, 10'000},
        Case{"the product leaves 32 bits", 0, u32_max, u32_max, 10'000},
        Case{"half of the largest graph", 0, 1U << 31U, u32_max, 5'000}}) {
    CAPTURE(c.what);
    const LaunchRequest effective = infer_missing_signals(
        {.queue_len = c.queue_len, .graph_node_count = c.nodes, .frontier_density_bps = c.measured});
    CHECK(effective.frontier_density_bps == c.density);
  }
}

TEST_CASE("a missing pressure is inferred from resident bytes and budget, at most 10000") {
  struct Case {
    std::string_view what;
    std::uint16_t measured;
    std::uint64_t resident, budget;
    std::uint16_t pressure;
  };
  constexpr std::uint64_t last_narrow = u64_max / 10'000; // the largest share whose product fits 64 bits
  for (const Case& c :
       {Case{"a measured pressure stays", 4321, 1, 2, 4321},
        Case{"even beyond full scale", u16_max, 1, 2, u16_max}, Case{"nothing resident", 0, 0, 100, 0},
        Case{"no budget", 0, 100, 0, 0}, Case{"rounded down", 0, 1, 3, 3'333},
        Case{"less than 1 bps stays 0", 0, 1, 10'001, 0}, Case{"the budget is used up", 0, 100, 100, 10'000},
        Case{"more than the budget", 0, u64_max, 1, 10'000},
        Case{"one byte short of the largest budget", 0, u64_max - 1, u64_max, 9'999},
        Case{"half of the largest budget", 0, u64_max / 2 + 1, u64_max, 5'000},
        Case{"just below half of it", 0, u64_max / 2, u64_max, 4'999},
        Case{"the product just fits 64 bits", 0, last_narrow, last_narrow + 1, 9'999},
        Case{"the product just leaves them", 0, last_narrow + 1, last_narrow + 2, 9'999}}) {
    CAPTURE(c.what);
    const LaunchRequest effective = infer_missing_signals({.memory_pressure_bps = c.measured,
                                                           .resident_device_bytes = c.resident,
                                                           .device_memory_budget_bytes = c.budget});
    CHECK(effective.memory_pressure_bps == c.pressure);
  }
}

TEST_CASE("an inferred pressure is the exact quotient in 128 bits") {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t used_seed = seed();
  INFO("TIDEGATE_SEED=", used_seed);
  Random random(used_seed);
  for (int round = 0; round < 5'000; ++round) {
    const std::uint64_t resident = random.between(1, u64_max) >> random.between(0, 63) | 1U;
    const std::uint64_t budget = random.between(1, u64_max) >> random.between(0, 63) | 1U;
    CAPTURE(resident);
    CAPTURE(budget);
    const LaunchRequest effective =
        infer_missing_signals({.resident_device_bytes = resident, .device_memory_budget_bytes = budget});
    REQUIRE(effective.memory_pressure_bps ==
            static_cast<std::uint16_t>(std::min<Wide>(Wide{resident} * 10'000 / budget, 10'000)));
  }
}

TEST_CASE("inferring changes only the two missing signals, and only once") {
  const std::uint64_t used_seed = seed();
  INFO("TIDEGATE_SEED=", used_seed);
  Random random(used_seed);
  for (int round = 0; round < 2'000; ++round) {
    const LaunchRequest request = random.request();
    const LaunchRequest effective = infer_missing_signals(request);
    REQUIRE((infer_missing_signals(effective) == effective));
    LaunchRequest back = effective;
    back.frontier_density_bps = request.frontier_density_bps;
    back.memory_pressure_bps = request.memory_pressure_bps;
    REQUIRE((back == request));
  }
}

TEST_CASE("opcodes and windows are promoted from their thresholds on") {
  struct Case {
    std::uint32_t opcodes, windows;
    bool hot_opcodes, hot_windows;
  };
  const LaunchPolicy policy; // 8 opcodes, 4 windows
  for (const Case& c :
       {Case{7, 3, false, false}, Case{8, 3, true, false}, Case{7, 4, false, true}, Case{8, 4, true, true}}) {
    CAPTURE(c.opcodes);
    CAPTURE(c.windows);
    const Promotion promotion =
        promotion_for(policy, {.hot_opcode_count = c.opcodes, .hot_window_count = c.windows});
    CHECK(promotion.hot_opcodes == c.hot_opcodes);
    CHECK(promotion.hot_windows == c.hot_windows);
    CHECK(promotion.any() == (c.hot_opcodes || c.hot_windows));
  }
}

TEST_CASE("a threshold of 0 promotes what was never seen hot") {
  const Promotion promotion = promotion_for({.hot_opcode_threshold = 0, .hot_window_threshold = 0}, {});
  CHECK(promotion.hot_opcodes);
  CHECK(promotion.hot_windows);
}

constexpr Promotion cold{};
constexpr Promotion hot_opcodes{.hot_opcodes = true};
constexpr Promotion hot_windows{.hot_windows = true};

// What a topology is decided from; the defaults could be fused if they were dense enough.
struct Signals {
  std::uint16_t density = 0;
  std::uint16_t pressure = 0;
  Promotion promotion = hot_opcodes;
  std::uint32_t edges = 65'536;
  std::uint32_t nodes = 1;
  std::uint32_t queue_len = 1;

  [[nodiscard]] LaunchRequest request() const {
    return {.queue_len = queue_len,
            .graph_node_count = nodes,
            .graph_edge_count = edges,
            .frontier_density_bps = density,
            .memory_pressure_bps = pressure};
  }
};

// The topology that each rule decides on, by TopologyRule.
constexpr std::array<std::string_view, 12> topology_of_rule{
    "empty",           "memory_constrained", "sparse_frontier",    "fused_dense",
    "dense_frontier",  "hybrid_frontier",    "memory_constrained", "sparse_frontier",
    "hybrid_frontier", "hybrid_frontier",    "dense_frontier",     "fused_dense"};

void check_rule(const TopologyChoice& choice, Rule rule) {
  CHECK(choice.rule == rule);
  CHECK(name(choice.topology) == topology_of_rule.at(static_cast<std::size_t>(rule)));
}

TEST_CASE("raw topology: every rule on both sides of its threshold") {
  struct Case {
    std::string_view what;
    Signals signals;
    Rule rule;
  };
  const LaunchPolicy policy; // sparse 500, dense 4000, memory 8500 bps, 65536 edges
  using enum TopologyRule;
  for (const Case& c : {
           Case{"an empty queue, whatever else",
                {.density = 9'000, .pressure = 10'000, .queue_len = 0},
                queue_empty},
           Case{"pressure at its threshold", {.density = 9'000, .pressure = 8'500}, memory_pressure},
           Case{"pressure below it", {.density = 9'000, .pressure = 8'499}, dense_density_fused},
           Case{"pressure beats sparseness", {.density = 1, .pressure = u16_max}, memory_pressure},
           Case{"unknown density", {.density = 0}, sparse_density},
           Case{"density at the sparse threshold", {.density = 500}, sparse_density},
           Case{"density above it", {.density = 501}, between_densities},
           Case{"density below the dense threshold", {.density = 3'999}, between_densities},
           Case{"density at it", {.density = 4'000}, dense_density_fused},
           Case{"fused by hot windows alone",
                {.density = 4'000, .promotion = hot_windows},
                dense_density_fused},
           Case{"nothing is hot", {.density = 4'000, .promotion = cold}, dense_density},
           Case{"one edge short", {.density = 4'000, .edges = 65'535}, dense_density},
           Case{"no nodes", {.density = 4'000, .nodes = 0}, dense_density},
       }) {
    CAPTURE(c.what);
    check_rule(raw_topology(policy, c.signals.request(), c.signals.promotion), c.rule);
  }
}

TEST_CASE("raw topology: the first rule wins where thresholds cross or are extreme") {
  const LaunchPolicy crossed{.sparse_frontier_threshold_bps = 5'000, .dense_frontier_threshold_bps = 4'000};
  CHECK(raw_topology(crossed, Signals{.density = 5'000}.request(), cold).rule == Rule::sparse_density);
  CHECK(raw_topology(crossed, Signals{.density = 5'001}.request(), cold).rule == Rule::dense_density);

  const LaunchPolicy always_short{.memory_pressure_threshold_bps = 0};
  CHECK(raw_topology(always_short, Signals{}.request(), cold).rule == Rule::memory_pressure);
}

// The choice after hysteresis, starting from the raw one.
TopologyChoice choice(const LaunchPolicy& policy, const Signals& signals, Topology previous) {
  const LaunchRequest effective = signals.request();
  return with_hysteresis(policy, effective, signals.promotion,
                         raw_topology(policy, effective, signals.promotion), previous);
}

TEST_CASE("hysteresis: every rule on both sides of its band") {
  struct Case {
    std::string_view what;
    Topology previous;
    Signals signals;
    Rule rule;
  };
  const LaunchPolicy policy; // bands: sparse 250…750, dense 3750…4250, memory from 8250
  constexpr auto memory = Topology::memory_constrained;
  constexpr auto sparse = Topology::sparse_frontier;
  constexpr auto hybrid = Topology::hybrid_frontier;
  constexpr auto dense = Topology::dense_frontier;
  constexpr auto fused = Topology::fused_dense;
  using enum TopologyRule;
  for (const Case& c : {
           Case{"memory: at the end of the band, over sparse", memory, {0, 8'250}, hold_memory_constrained},
           Case{"memory: over hybrid", memory, {2'000, 8'250}, hold_memory_constrained},
           Case{"memory: over fused", memory, {9'000, 8'499}, hold_memory_constrained},
           Case{"memory: beyond the band", memory, {2'000, 8'249}, between_densities},

           Case{"sparse: at the end of the band", sparse, {750}, hold_sparse},
           Case{"sparse: beyond the band", sparse, {751}, between_densities},
           Case{"sparse: still sparse", sparse, {500}, sparse_density},

           Case{"hybrid: at the lower end of the band", hybrid, {250}, hold_hybrid_from_sparse},
           Case{"hybrid: below the band", hybrid, {249}, sparse_density},
           Case{"hybrid: still hybrid", hybrid, {2'000}, between_densities},
           Case{"hybrid: at the upper end, over fused", hybrid, {4'250}, hold_hybrid_from_dense},
           Case{"hybrid: at the upper end, over dense", hybrid, {4'250, 0, cold}, hold_hybrid_from_dense},
           Case{"hybrid: above the band, fused", hybrid, {4'251}, dense_density_fused},
           Case{"hybrid: above the band, dense", hybrid, {4'251, 0, cold}, dense_density},

           Case{"dense: at the end of the band", dense, {3'750}, hold_dense},
           Case{"dense: beyond the band", dense, {3'749}, between_densities},
           Case{"dense: does not hold back fusion", dense, {4'000}, dense_density_fused},
           Case{"dense: does not hold back sparse", dense, {500}, sparse_density},

           Case{"fused: at the end of the band", fused, {3'750}, hold_fused},
           Case{"fused: by hot windows alone", fused, {3'750, 0, hot_windows}, hold_fused},
           Case{"fused: held without nodes too", fused, {3'750, 0, hot_opcodes, 65'536, 0}, hold_fused},
           Case{"fused: beyond the band", fused, {3'749}, between_densities},
           Case{"fused: nothing is hot any more", fused, {3'750, 0, cold}, between_densities},
           Case{"fused: one edge short", fused, {3'750, 0, hot_opcodes, 65'535}, between_densities},
           Case{"fused: does not hold back dense", fused, {4'000, 0, cold}, dense_density},

           Case{"empty: holds nothing", Topology::empty, {2'000}, between_densities},
       }) {
    CAPTURE(c.what);
    check_rule(choice(policy, c.signals, c.previous), c.rule);
  }
}

TEST_CASE("hysteresis: raw empty and raw memory_constrained stand against every previous topology") {
  for (std::size_t i = 0; i < topology_names.size(); ++i) {
    CAPTURE(topology_names[i]);
    const auto previous = static_cast<Topology>(i);
    CHECK(choice({}, {.density = 700, .queue_len = 0}, previous).rule == Rule::queue_empty);
    CHECK(choice({}, {.density = 700, .pressure = 8'500}, previous).rule == Rule::memory_pressure);
  }
}

TEST_CASE("hysteresis: with close thresholds a band reaches across the hybrid range") {
  const LaunchPolicy close{.sparse_frontier_threshold_bps = 500, .dense_frontier_threshold_bps = 600};
  CHECK(choice(close, {700}, Topology::sparse_frontier).rule == Rule::hold_sparse); // raw fused
  // dense holds against hybrid only
  CHECK(choice(close, {450}, Topology::dense_frontier).rule == Rule::sparse_density);
}

TEST_CASE("hysteresis: bands saturate at both ends of u16") {
  const auto with = [](std::uint16_t sparse, std::uint16_t dense, std::uint16_t memory) {
    return LaunchPolicy{.sparse_frontier_threshold_bps = sparse,
                        .dense_frontier_threshold_bps = dense,
                        .memory_pressure_threshold_bps = memory};
  };
  using enum Topology;
  // Upper end: from a threshold of 65285 on, the band reaches 65535.
  CHECK(choice(with(65'284, u16_max, u16_max), {u16_max - 1}, sparse_frontier).rule == Rule::hold_sparse);
  CHECK(choice(with(65'283, u16_max, u16_max), {u16_max - 1}, sparse_frontier).rule ==
        Rule::between_densities);
  CHECK(choice(with(u16_max - 1, u16_max, u16_max), {u16_max}, sparse_frontier).rule == Rule::hold_sparse);
  CHECK(choice(with(0, 65'286, u16_max), {u16_max}, hybrid_frontier).rule == Rule::hold_hybrid_from_dense);
  CHECK(choice(with(0, 65'284, u16_max), {u16_max}, hybrid_frontier).rule == Rule::dense_density_fused);
  // Lower end: up to a threshold of 250, the band reaches 0.
  CHECK(choice(with(100, 4'000, 8'500), {0}, hybrid_frontier).rule == Rule::hold_hybrid_from_sparse);
  CHECK(choice(with(250, 4'000, 8'500), {0}, hybrid_frontier).rule == Rule::hold_hybrid_from_sparse);
  CHECK(choice(with(251, 4'000, 8'500), {0}, hybrid_frontier).rule == Rule::sparse_density);
  CHECK(choice(with(0, 100, 8'500), {1, 0, cold}, dense_frontier).rule == Rule::hold_dense);
  CHECK(choice(with(0, 100, 8'500), {1}, fused_dense).rule == Rule::hold_fused);
  CHECK(choice(with(500, 4'000, 250), {0, 0}, memory_constrained).rule == Rule::hold_memory_constrained);
  CHECK(choice(with(500, 4'000, 251), {0, 0}, memory_constrained).rule == Rule::sparse_density);
}

TEST_CASE("shedding under memory pressure: a quarter at the threshold, a half at full scale") {
  struct Case {
    std::string_view what;
    std::uint16_t threshold, pressure;
    std::uint32_t requested;
    std::uint32_t shed_bps, groups;
  };
  for (const Case& c :
       {Case{"at the threshold", 8'500, 8'500, 100, 2'500, 75},
        Case{"one step above it", 8'500, 8'501, 10'000, 2'501, 7'499},
        Case{"half of the way, rounded down", 8'500, 9'250, 100, 3'750, 62},
        Case{"at full scale", 8'500, 10'000, 100, 5'000, 50},
        Case{"a measurement beyond full scale counts as full", 8'500, u16_max, 100, 5'000, 50},
        Case{"a held topology sheds the minimum", 8'500, 8'250, 100, 2'500, 75},
        Case{"two groups", 8'500, 8'500, 2, 2'500, 1},
        Case{"the product leaves 32 bits", 8'500, 8'500, u32_max, 2'500, 3'221'225'471},
        Case{"a threshold of 0", 0, 5'000, 100, 3'750, 62},
        Case{"a threshold of full scale", 10'000, 10'000, 100, 2'500, 75},
        Case{"and one step above it", 10'000, 10'001, 100, 5'000, 50}}) {
    CAPTURE(c.what);
    const auto shed =
        shed_workers({.memory_pressure_threshold_bps = c.threshold},
                     {.requested_worker_groups = c.requested, .memory_pressure_bps = c.pressure},
                     Topology::memory_constrained);
    REQUIRE(error_of(shed) == "none");
    CHECK(shed->rule == SheddingRule::memory_pressure);
    CHECK(shed->shed_bps == c.shed_bps);
    CHECK(shed->worker_groups == c.groups);
  }
}

TEST_CASE("shedding on a sparse frontier: by density, but not below 32 or what was asked for") {
  struct Case {
    std::string_view what;
    std::uint16_t threshold, density;
    std::uint32_t requested, groups;
  };
  for (const Case& c :
       {Case{"half of the threshold", 500, 250, 128, 64}, Case{"at the threshold", 500, 500, 128, 128},
        Case{"held above the threshold", 500, 750, 128, 128}, Case{"rounded down", 500, 499, 128, 127},
        Case{"the floor of 32", 500, 1, 128, 32}, Case{"just above the floor", 500, 33, 500, 33},
        Case{"fewer requested than the floor", 500, 1, 31, 31},
        Case{"the product leaves 32 bits", 500, 499, u32_max, 4'286'377'360},
        Case{"a threshold of 0 counts as 1", 0, 1, 128, 128}}) {
    CAPTURE(c.what);
    const auto shed = shed_workers(
        {.sparse_frontier_threshold_bps = c.threshold},
        {.requested_worker_groups = c.requested, .graph_node_count = 1, .frontier_density_bps = c.density},
        Topology::sparse_frontier);
    REQUIRE(error_of(shed) == "none");
    CHECK(shed->rule == SheddingRule::sparse_frontier);
    CHECK(shed->shed_bps == 0);
    CHECK(shed->worker_groups == c.groups);
  }
}

TEST_CASE("nothing is shed without a reason, and then an impossible threshold is no error") {
  struct Case {
    std::string_view what;
    Topology topology;
    std::uint32_t requested, nodes;
    std::uint16_t density, pressure;
  };
  using enum Topology;
  for (const Case& c :
       {Case{"no worker groups requested", memory_constrained, 0, 1, 100, 9'000},
        Case{"a single one", memory_constrained, 1, 1, 100, 9'000},
        Case{"held by a band that reaches 0", memory_constrained, 64, 1, 100, 0},
        Case{"none requested, sparse", sparse_frontier, 0, 1, 100, 0},
        Case{"a single one, sparse", sparse_frontier, 1, 1, 100, 0},
        Case{"sparse without a graph", sparse_frontier, 64, 0, 100, 0},
        Case{"sparse of unknown density", sparse_frontier, 64, 1, 0, 0},
        Case{"empty", empty, 64, 1, 100, 9'000}, Case{"hybrid", hybrid_frontier, 64, 1, 100, 9'000},
        Case{"dense", dense_frontier, 64, 1, 100, 9'000}, Case{"fused", fused_dense, 64, 1, 100, 9'000}}) {
    CAPTURE(c.what);
    const auto shed = shed_workers({.memory_pressure_threshold_bps = 10'001},
                                   {.requested_worker_groups = c.requested,
                                    .graph_node_count = c.nodes,
                                    .frontier_density_bps = c.density,
                                    .memory_pressure_bps = c.pressure},
                                   c.topology);
    REQUIRE(error_of(shed) == "none");
    CHECK(shed->rule == SheddingRule::none);
    CHECK(shed->shed_bps == 0);
    CHECK(shed->worker_groups == c.requested);
  }
}

TEST_CASE("a memory threshold above full scale has no span to shed over") {
  const auto shed =
      shed_workers({.memory_pressure_threshold_bps = 10'001},
                   {.requested_worker_groups = 2, .memory_pressure_bps = 1}, Topology::memory_constrained);
  CHECK(error_of(shed) == "policy_out_of_range {memory_pressure_threshold_bps}");
}

} // namespace
} // namespace tidegate::policy
