// The topology rules that kernels and host share, held against the launch policy and against what they say.
#include "support.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::traversal {
namespace {

using policy::Topology;

// A device's policy with the thresholds of a launch policy.
tg_policy policy_of(graphs::SwitchRule rule, const policy::LaunchPolicy& launch = {}) {
  return {.switch_rule = static_cast<tg_u32>(rule),
          .sparse_bps = launch.sparse_frontier_threshold_bps,
          .dense_bps = launch.dense_frontier_threshold_bps,
          .memory_bps = launch.memory_pressure_threshold_bps,
          .fusion_edges = launch.fusion_edge_threshold,
          .hot_waves = launch.hot_window_threshold,
          .monotone = 1,
          .leaves_early = 1};
}

} // namespace

TEST_CASE("the density rules are the launch policy's, for any numbers") {
  std::mt19937 random(7);
  const auto below = [&random](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int i = 0; i < 20'000; ++i) {
    policy::LaunchPolicy launch;
    launch.sparse_frontier_threshold_bps = static_cast<std::uint16_t>(below(1200));
    launch.dense_frontier_threshold_bps = static_cast<std::uint16_t>(below(10'001));
    tg_policy policy = policy_of(graphs::SwitchRule::density, launch);
    policy.vertices = 1 + below(5000);
    policy.edges = below(140'000);
    policy.pressure_bps = below(3) == 0 ? 8000 + below(2001) : 0;
    const WaveRecord wave{.previous_topology = static_cast<Topology>(below(6)),
                          .vertices = below(policy.vertices + 1),
                          .dense_waves = below(8)};
    auto request = policy::LaunchRequest::direct(wave.vertices, 1, 1);
    request.graph_node_count = policy.vertices;
    request.graph_edge_count = static_cast<std::uint32_t>(policy.edges);
    request.hot_window_count = wave.dense_waves;
    request.memory_pressure_bps = static_cast<std::uint16_t>(policy.pressure_bps);
    const auto expected = policy::decide(launch, request, wave.previous_topology).value();
    const WaveRecord got = test::choose(policy, wave);
    CAPTURE(i);
    REQUIRE(got.topology == expected.chosen.topology);
    REQUIRE(name(expected.chosen.rule) == name(got.rule));
  }
}

TEST_CASE("a queue is never of density 0") {
  const policy::LaunchRequest one{.queue_len = 1, .graph_node_count = 4'000'000};
  CHECK(policy::infer_missing_signals(one).frontier_density_bps == 1);
}

TEST_CASE("the edge rules") {
  tg_policy plain = policy_of(graphs::SwitchRule::edges);
  plain.edges = 1'000'000;
  plain.vertices = 51'200; // few: 100, slim: 800, push: 2844
  const auto with = [&plain](auto change) {
    tg_policy policy = plain;
    change(policy);
    return policy;
  };
  using P = tg_policy;
  const P alone =
      with([](P& p) { p.alone_vertices = 101; }); // one group is done with them sooner than all of them meet
  const P distances = with([](P& p) { p.leaves_early = false; });
  const P lightest = with([](P& p) { p.leaves_early = false, p.lightest_first = true; });
  const P in_place = with([](P& p) { p.leaves_early = false, p.pulls_in_place = true; });
  const P small_in_place = with([](P& p) { p.pulls_in_place = true, p.always_pushes = TG_HYBRID; });
  const P on_cpu = with([](P& p) { p.pushes_bitmaps = true; });
  const P small = with([](P& p) { p.always_pushes = TG_HYBRID; });
  const P smaller = with([](P& p) { p.always_pushes = TG_SPARSE; });
  constexpr auto sparse = Topology::sparse_frontier, hybrid = Topology::hybrid_frontier,
                 dense = Topology::dense_frontier, fused = Topology::fused_dense,
                 constrained = Topology::memory_constrained;
  struct Row {
    const tg_policy& policy;
    Topology previous;
    std::uint32_t vertices;
    std::uint64_t edges, previous_edges;
    Topology topology;
    const char* rule;
    std::uint64_t threshold;
    std::uint32_t dense_waves = 0;
  };
  const std::vector<Row> rows{
      {plain, sparse, 100, 90'000, 10, dense, "many_edges", 60'000}, // hubs
      {plain, sparse, 100, 51'200, 10, sparse, "few_vertices", 100},
      {alone, sparse, 101, 90'000, 10, dense, "many_edges", 60'000},
      {alone, sparse, 101, 51'200, 10, sparse, "few_vertices", 101},
      {plain, sparse, 101, 90'000, 10, dense, "many_edges", 60'000},
      {distances, sparse, 101, 90'000, 10, sparse, "few_edges", 1'000'000}, // as many as there are
      {lightest, sparse, 101, 90'000, 10, dense, "many_edges", 62'500},     // more than 1/16 of the graph's
      {lightest, sparse, 101, 62'500, 10, sparse, "few_edges", 1'000'000},
      {in_place, sparse, 101, 125'000, 10, sparse, "few_edges", 1'000'000}, // an eighth of the graph's
      {in_place, sparse, 101, 125'001, 10, fused, "many_edges_fused", 125'000},
      {small_in_place, sparse, 101, 125'001, 10, fused, "many_edges_fused", 125'000},
      {on_cpu, sparse, 101, 62'500, 10, constrained, "some_edges", 100},
      {on_cpu, dense, 101, 250'000, 10, constrained, "some_edges", 100}, // a pull is not kept
      {on_cpu, dense, 101, 250'001, 10, dense, "many_edges", 250'000},   // a quarter of the graph's
      {small, dense, 101, 90'000, 10, hybrid, "some_edges", 0},          // where others pull
      {small, dense, 100, 20, 10, sparse, "few_vertices", 100},          // no longer doubles
      {small, dense, 100, 21, 10, hybrid, "some_edges", 0},
      {small, sparse, 100, 21, 10, sparse, "few_vertices", 100}, // has no bitmap
      {smaller, sparse, 101, 21, 10, sparse, "some_edges", 0},
      {plain, sparse, 101, 90'000, 90'000, hybrid, "some_edges", 7031}, // no longer growing
      {plain, sparse, 101, 7031, 90'000, sparse, "few_edges", 7031},    // 1/128 of what is left
      {plain, hybrid, 101, 7031, 90'000, hybrid, "hold_some_edges", 3515},
      {plain, dense, 2845, 7031, 90'000, dense, "hold_pull", 2844},
      {plain, dense, 2844, 7031, 90'000, sparse, "few_edges", 7031},
      {plain, dense, 2844, 7031, 0, fused, "hold_pull", 2844, 4}, // grows again
      {plain, sparse, 800, 6400, 0, sparse, "few_vertices", 800}, // slim
      {plain, sparse, 800, 6401, 0, sparse, "few_edges", 7031},
      {plain, sparse, 0, 6401, 0, Topology::empty, "queue_empty", 0}};
  for (const Row& row : rows) {
    CAPTURE(&row - rows.data());
    const WaveRecord got = test::choose(row.policy, {.previous_topology = row.previous,
                                                     .vertices = row.vertices,
                                                     .frontier_edges = row.edges,
                                                     .previous_edges = row.previous_edges,
                                                     .unexplored_edges = 900'000,
                                                     .dense_waves = row.dense_waves});
    CHECK(got.topology == row.topology);
    CHECK(name(got.rule) == row.rule);
    CHECK(got.threshold == row.threshold);
  }
}

TEST_CASE("a forced topology stands, and memory pressure comes before the edges") {
  tg_policy policy = policy_of(graphs::SwitchRule::edges);
  policy.forced = TG_HYBRID;
  policy.edges = policy.vertices = 10;
  const WaveRecord wave{.vertices = 1, .frontier_edges = 1, .unexplored_edges = 10};
  CHECK(test::choose(policy, wave).rule == policy::TopologyRule::forced);
  CHECK(test::choose(policy, wave).topology == Topology::hybrid_frontier);
  policy.forced = TG_EMPTY;
  policy.pressure_bps = 8500;
  CHECK(test::choose(policy, wave).rule == policy::TopologyRule::memory_pressure);
}

TEST_CASE("what is surely sparse is, and one vertex more may be something else") {
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  std::size_t tight = 0;
  std::size_t slims = 0;
  for (int i = 0; i < 20'000; ++i) {
    tg_policy policy = policy_of(below(2) == 0 ? graphs::SwitchRule::density : graphs::SwitchRule::edges);
    if (below(4) == 0) {
      policy.forced = 1 + below(5);
    }
    policy.vertices = 1 + below(5000);
    policy.edges = below(140'000);
    policy.alone_vertices = below(2) == 0 ? below(3000) : 0;
    policy.always_pushes = below(3); // empty, sparse or hybrid
    policy.leaves_early = below(2) == 0;
    policy.lightest_first = below(2) == 0;
    policy.pushes_bitmaps = below(4) == 0;
    policy.pulls_in_place = below(4) == 0;
    policy.pressure_bps = below(8) == 0 ? 8000 + below(2001) : 0;
    policy.sparse_bps = below(1200);
    const std::uint32_t sure = policy::tg_surely_sparse(policy);
    WaveRecord wave{.previous_topology = Topology::sparse_frontier,
                    .vertices = sure == 0 ? 0 : 1 + below(sure),
                    .frontier_edges = below(policy.vertices + 1),
                    .previous_edges = below(100'000),
                    .unexplored_edges = below(1'000'000)};
    CAPTURE(i);
    REQUIRE(test::choose(policy, wave).topology == (sure == 0 ? Topology::empty : Topology::sparse_frontier));
    WaveRecord slim = wave;
    slim.vertices = 1 + below(policy.vertices);
    slim.frontier_edges = below(140'000) >> below(12);
    if (policy::tg_surely_slim(policy, slim.vertices, slim.frontier_edges) != 0) {
      ++slims;
      REQUIRE(test::choose(policy, slim).topology == Topology::sparse_frontier);
    }
    wave.vertices = sure + 1;
    tight +=
        sure < policy.vertices && test::choose(policy, wave).topology != Topology::sparse_frontier ? 1 : 0;
  }
  CHECK(tight > 5000);
  CHECK(slims > 300);
}

TEST_CASE("a log lists its first waves and counts them all") {
  WaveLog log{.group_size = 4, .workers = 2};
  constexpr std::uint32_t more = 10;
  for (std::uint32_t i = 0; i < WaveLog::most_records + more; ++i) {
    log.add({.wave = i,
             .topology = i == 7 ? Topology::dense_frontier : Topology::sparse_frontier,
             .vertices = i == WaveLog::most_records + 1 ? 9U : 1U,
             .density_bps = i == 7 ? 800U : 2U,
             .frontier_edges = 2,
             .scanned_edges = 3,
             .alone = i == 3});
  }
  CHECK(log.records.size() == WaveLog::most_records);
  CHECK(log.records.size() < log.sums.waves);
  CHECK(log.sums.waves == WaveLog::most_records + more);
  CHECK(log.sums.alone_waves == 1);
  CHECK(log.sums.topology_changes == 2);
  CHECK(log.sums.widest_wave == WaveLog::most_records + 1);
  CHECK(log.sums.widest_vertices == 9);
  CHECK(log.sums.frontier_edges == 2 * log.sums.waves);
  CHECK(log.vertices == log.sums.waves + 8);
  CHECK(log.work_items == 8 * log.sums.waves + 8 - 4); // a second pass, and one by a single group
  CHECK(log.densest.topology == Topology::dense_frontier);
}

} // namespace tidegate::traversal
