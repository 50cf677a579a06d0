// A program as input of the launch policy, and which ops and waves are promoted.
#include "../program_support.hpp"
#include "engine/kinds.hpp"
#include "engine/recommend.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

constexpr policy::AdapterLimits adapter{.max_workgroup_size_x = 256,
                                        .max_compute_workgroups_per_dimension = 1000,
                                        .max_compute_invocations_per_workgroup = 512};

// An op for each number of tiles.
Job with_tiles(const std::vector<std::uint32_t>& tiles) {
  Job program = program_of(static_cast<std::uint32_t>(tiles.size()), {});
  for (std::uint32_t op = 0; op < tiles.size(); ++op) {
    program.waves.push_back(wave_of(op, {}, range_of(tiles[op], 1)));
  }
  return program;
}

} // namespace

TEST_CASE(
    "tiles are items and nodes, dependencies are edges between them, counts are cut at what the fields hold") {
  constexpr std::uint32_t most_tiles = 0x7fffffff;
  constexpr std::uint32_t most = ~std::uint32_t{0};
  const ResolvedDependency any{.before = 0, .after = 1};
  const ResolvedDependency local{.before = 0, .after = 1, .halo = {{0, 0, 0}}};
  struct Row {
    std::vector<std::uint32_t> tiles;
    std::uint32_t iterations;
    std::vector<ResolvedDependency> dependencies;
    std::uint32_t items, nodes, edges;
  };
  for (const Row& row : {Row{{3, 4}, 1, {}, 7, 7, 0},
                         Row{{3, 4}, 10, {any}, 70, 7, 12}, // of all iterations; the graph has one
                         Row{{5, 5}, 1, {local}, 10, 10, 5}, Row{{5, 5}, 1, {local, any}, 10, 10, 30},
                         Row{{most_tiles, most_tiles}, 1, {5, any}, 2 * most_tiles, 2 * most_tiles, most},
                         // Of one iteration, as 32 bits do not hold all.
                         Row{{most_tiles, most_tiles}, most, {}, 2 * most_tiles, 2 * most_tiles, 0}}) {
    Job program = with_tiles(row.tiles);
    program.iterations = row.iterations;
    program.dependencies = row.dependencies;
    policy::LaunchRequest expected;
    expected.queue_len = row.items;
    expected.graph_node_count = row.nodes;
    expected.graph_edge_count = row.edges;
    expected.max_workgroup_size_x = 256;
    expected.max_compute_workgroups_per_dimension = 1000;
    expected.max_compute_invocations_per_workgroup = 512;
    expected.requested_hit_capacity = 1;
    expected.device_memory_budget_bytes = 22;
    CHECK(launch_request(program, adapter, 22) == expected);
    CHECK(policy::decide({}, *launch_request(program, adapter, 0)).has_value());
  }
  const auto refused = launch_request(with_tiles({most_tiles, most_tiles, most_tiles}), adapter, 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::overflow);
}

TEST_CASE("the memory of the plan decides on the pressure") {
  Job program = with_tiles({3, 4});
  const auto asked = recommend(program, adapter, 1000);
  REQUIRE(asked);
  CHECK(asked->launch.topology != policy::Topology::memory_constrained);
  const auto planned = with_memory(*asked, program, 900);
  REQUIRE(planned);
  CHECK(planned->launch.topology == policy::Topology::memory_constrained);
  CHECK(planned->effective.resident_device_bytes == 900);
  CHECK(with_memory(*asked, program, 1000)->launch.estimated_peak_device_bytes ==
        1000); // still a layout that fits
}

TEST_CASE("hot ops of queues are counted by their items") {
  Job program = program_of(3, {});
  ProgramQueue queue;
  queue.op_names = {"a", "b", "c"};
  for (std::uint32_t i = 0; i < 100; ++i) {
    queue.items.push_back({.op_handle = i < 60 ? 0U : i < 97 ? 1U : 2U});
  }
  program.waves = {wave_of(0, {}, range_of(1, 1))};
  program.waves[0].queue = std::make_shared<const ProgramQueue>(queue);
  program.waves[0].listed_items = 100;
  CHECK(hot_counts(program, {}).opcodes == 2);
  program.waves.push_back(wave_of(1, {}, range_of(50, 1)));
  CHECK(hot_counts(program, {}).opcodes == 3);
}

TEST_CASE("ops are hot that run a tenth of the tiles, or as many as compiling takes; the hottest first") {
  const auto hot = [](const std::vector<std::uint32_t>& tiles) { return hot_opcodes(with_tiles(tiles)); };
  CHECK(hot({10, 89, 1}) == std::vector{1U, 0U});
  CHECK(hot({4095, 4096, 1'000'000}) == std::vector{2U, 1U});
  CHECK(hot({}).empty());
  Job program = with_tiles({10, 89, 1});
  program.iterations = 100;
  program.waves[1].section = Section::after; // once
  CHECK(hot_opcodes(program) == std::vector{0U});
}

TEST_CASE("the policy gets hot ops and pairs of waves of all iterations") {
  Job program = with_tiles({5, 5, 5, 5, 5});
  program.iterations = 7;
  program.waves[3].section = program.waves[4].section = Section::after;
  const std::vector<Window> windows{{.waves = {0, 1, 2}, .meets = {false, false, false}},
                                    {.waves = {3, 4}, .meets = {false, false}}};
  const HotCounts counts = hot_counts(program, windows);
  CHECK(counts.windows == 2 * 7 + 1);
  CHECK(counts.opcodes == 3);
  const policy::LaunchRequest request = *launch_request(program, {}, 0, counts);
  CHECK(request.hot_window_count == 15);
  CHECK(request.hot_opcode_count == 3);
}

TEST_CASE("an explicit choice wins, otherwise the policy") {
  const std::vector<Window> windows{{.waves = {0, 1}, .meets = {false, false}}};
  const std::vector<std::uint32_t> ops{0};
  struct Row {
    std::optional<Promotion> asked_for;
    bool policys_windows, policys_ops;
    bool has_windows;
    Promotion promoted;
    std::string reason;
  };
  const std::string by_policy = "as the launch policy says, by the counts of its evidence";
  for (const Row& row : {Row{Promotion::none, true, true, true, Promotion::none, "requested"},
                         Row{Promotion::all, false, false, true, Promotion::all, "requested"},
                         Row{Promotion::windows, false, true, true, Promotion::windows, "requested"},
                         Row{Promotion::opcodes, true, false, true, Promotion::opcodes, "requested"},
                         Row{{}, true, false, true, Promotion::windows, by_policy},
                         Row{{}, false, true, true, Promotion::opcodes, by_policy},
                         Row{{}, false, false, true, Promotion::none, by_policy},
                         Row{Promotion::all, false, false, false, Promotion::opcodes,
                             "requested; no waves go on with each other's tiles"}}) {
    Recommendation recommendation;
    recommendation.launch.promote_hot_windows = row.policys_windows;
    recommendation.launch.promote_hot_opcodes = row.policys_ops;
    const PromotionChoice choice = choose_promotion(row.asked_for, recommendation,
                                                    row.has_windows ? windows : std::vector<Window>(), ops);
    CHECK(choice.promoted == row.promoted);
    CHECK(choice.windows.empty() != includes(row.promoted, Promotion::windows));
    CHECK(choice.ops.empty() != includes(row.promoted, Promotion::opcodes));
    CHECK(choice.reason == row.reason);
  }
}
