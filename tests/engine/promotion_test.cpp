// Hot ops and waves, and which source decides about their promotion.
#include "../program_support.hpp"
#include "engine/recommend.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

// An op for each number of tiles.
Job with_tiles(const std::vector<std::uint32_t>& tiles) {
  Job program = program_of(static_cast<std::uint32_t>(tiles.size()), {});
  for (std::uint32_t op = 0; op < tiles.size(); ++op) {
    program.waves.push_back(wave_of(op, {}, range_of(tiles[op], 1)));
  }
  return program;
}

Recommendation recommended(bool windows, bool opcodes) {
  Recommendation recommendation;
  recommendation.launch.promote_hot_windows = windows;
  recommendation.launch.promote_hot_opcodes = opcodes;
  return recommendation;
}

} // namespace

TEST_CASE("ops that run a tenth of the tiles are hot, the hottest first") {
  CHECK(hot_opcodes(with_tiles({10, 89, 1})) ==
        std::vector<HotOp>{{.op = 1, .tiles = 89}, {.op = 0, .tiles = 10}});
  Job program = with_tiles({10, 89, 1});
  program.iterations = 100;
  program.waves[1].section = Section::after; // once
  CHECK(hot_opcodes(program) == std::vector<HotOp>{{.op = 0, .tiles = 1000}});
}

TEST_CASE("as many tiles as compiling takes are enough in any company") {
  const Job program = with_tiles({4095, 4096, 1'000'000});
  CHECK(hot_opcodes(program) == std::vector<HotOp>{{.op = 2, .tiles = 1'000'000}, {.op = 1, .tiles = 4096}});
  CHECK(hot_opcodes(program_of(3, {})).empty());
}

TEST_CASE("the policy gets hot ops and pairs of waves of all iterations") {
  Job program = with_tiles({5, 5, 5, 5, 5});
  program.iterations = 7;
  program.waves[3].section = program.waves[4].section = Section::after;
  const std::vector<Window> windows{{.waves = {0, 1, 2}, .meets = {false, false, false}, .registers = {}},
                                    {.waves = {3, 4}, .meets = {false, false}, .registers = {}}};
  const HotCounts counts = hot_counts(program, windows);
  CHECK(counts.windows == 2 * 7 + 1);
  CHECK(counts.opcodes == 3);
  const policy::LaunchRequest request = *launch_request(program, {}, 0, 0, counts);
  CHECK(request.hot_window_count == 15);
  CHECK(request.hot_opcode_count == 3);
}

TEST_CASE("an explicit choice wins, otherwise the policy") {
  const std::vector<Window> windows{{.waves = {0, 1}, .meets = {false, false}, .registers = {}}};
  const std::vector<HotOp> ops{{.op = 0, .tiles = 3}};
  const auto choice = [&](std::optional<Promotion> asked_for, const Recommendation& recommendation) {
    return choose_promotion(asked_for, recommendation, windows, ops);
  };
  CHECK(choice(Promotion::none, recommended(true, true)).promoted == Promotion::none);
  CHECK(choice(Promotion::none, recommended(true, true)).windows.empty());
  CHECK(choice(Promotion::all, recommended(false, false)).promoted == Promotion::all);
  CHECK(choice(Promotion::windows, recommended(false, true)).ops.empty());
  CHECK(choice(Promotion::opcodes, recommended(true, false)).windows.empty());
  CHECK(choice({}, recommended(true, false)).promoted == Promotion::windows);
  CHECK(choice({}, recommended(false, true)).promoted == Promotion::opcodes);
  CHECK(choice({}, recommended(false, false)).reason ==
        "as the launch policy says, by the counts of its evidence");
  const PromotionChoice none = choose_promotion(Promotion::all, recommended(false, false), {}, ops);
  CHECK(none.promoted == Promotion::opcodes);
  CHECK(none.reason == "requested; no waves go on with each other's tiles");
}
