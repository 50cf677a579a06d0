// The arena checker: a correct plan with one fault at a time, and the message for each.
#include "dag_support.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::planning {
namespace {

using test::u64_max;

//   7 +-------+
//     |   1   |---+
//   4 +---+---+   |      buffer 3 has no bytes
//     |   0   | 2 |
//   0 +-------+---+--> time 0 to 3
const ArenaProblem problem{.buffers = {{0, 2, 4, 4}, {0, 2, 3, 1}, {2, 3, 6, 2}, {1, 3, 0, 8}},
                           .capacity_bytes = 7};
const ArenaPlan right{.offsets = {0, 4, 0, 0},
                      .height_bytes = 7,
                      .lower_bound_bytes = 7,
                      .optimal = true,
                      .proof = ArenaProof::meets_bound};

std::string verdict(const ArenaProblem& asked, const ArenaPlan& plan) {
  return check_arena(asked, plan).value_or("right");
}

std::string contradiction(std::string_view claims, std::uint64_t nodes = 0, std::uint64_t height = 7,
                          std::uint64_t bound = 7) {
  return fmt::format(
      "optimal {} and search_nodes {} contradict each other, or the height of {} bytes and the "
      "lower bound of {}",
      claims, nodes, height, bound);
}

TEST_CASE("one fault in a correct plan is named") {
  struct Case {
    std::string verdict;
    std::function<void(ArenaPlan&)> spoil;
  };
  for (const auto& [expected, spoil] : std::initializer_list<Case>{
           {"right", [](auto&) {}},
           {"right", [](auto& plan) { plan.offsets[2] = 0; }},
           {"the plan has 3 offsets and the problem 4 buffers", [](auto& plan) { plan.offsets.pop_back(); }},
           {"the plan has 5 offsets and the problem 4 buffers",
            [](auto& plan) { plan.offsets.push_back(0); }},
           {"buffer 0 is at offset 2, which is not a multiple of its alignment 4",
            [](auto& plan) { plan.offsets[0] = 2; }},
           {"buffers 0 and 1 are alive together at 0 and share bytes: [4, 8) and [4, 7)",
            [](auto& plan) { plan.offsets[0] = 4; }},
           {"buffers 0 and 1 are alive together at 0 and share bytes: [0, 4) and [3, 6)",
            [](auto& plan) { plan.offsets[1] = 3; }},
           {"buffer 1 at offset 18446744073709551613 with 3 bytes ends above 64 bits",
            [](auto& plan) { plan.offsets[1] = u64_max - 2; }},
           {"buffer 3 of 0 bytes is at offset 8, above the height of 7 bytes",
            [](auto& plan) { plan.offsets[3] = 8; }},
           {"the stated height is 8 bytes, but the topmost buffer ends at 7",
            [](auto& plan) { plan.height_bytes = 8; }},
           {"the stated height is 7 bytes, but the topmost buffer ends at 8",
            [](auto& plan) { plan.offsets[2] = 2; }},
           {"the height of 8 bytes is above the capacity of 7 bytes",
            [](auto& plan) { plan.offsets[2] = 2, plan.height_bytes = 8; }},
           {"the stated lower bound is 6 bytes, but at most 7 bytes are alive at one moment",
            [](auto& plan) { plan.lower_bound_bytes = 6; }},
           // Half-open: a buffer that ends at 2 is not alive together with one that starts at 2.
           {"the stated lower bound is 13 bytes, but at most 7 bytes are alive at one moment",
            [](auto& plan) { plan.lower_bound_bytes = 13; }},
           {contradiction("false, proof meets_bound, gave_up false"),
            [](auto& plan) { plan.optimal = false; }},
           {contradiction("true, proof none, gave_up false"),
            [](auto& plan) { plan.proof = ArenaProof::none; }},
           {contradiction("true, proof exhausted_search, gave_up false"),
            [](auto& plan) { plan.proof = ArenaProof::exhausted_search; }},
           {contradiction("true, proof meets_bound, gave_up true"),
            [](auto& plan) { plan.gave_up = true; }}}) {
    ArenaPlan plan = right;
    spoil(plan);
    CHECK(verdict(problem, plan) == expected);
  }
  CHECK(verdict({}, {.optimal = true, .proof = ArenaProof::meets_bound}) == "right");
}

TEST_CASE("a buffer that starts late runs into one below it, or into one above it") {
  const ArenaProblem asked{.buffers = {{0, 9, 2}, {0, 9, 2}, {5, 6, 3}}};
  ArenaPlan plan{.offsets = {0, 6, 3}, .height_bytes = 8, .lower_bound_bytes = 7, .gave_up = true};
  CHECK(verdict(asked, plan) == "right");
  plan.offsets[2] = 1;
  CHECK(verdict(asked, plan) == "buffers 0 and 2 are alive together at 5 and share bytes: [0, 2) and [1, 4)");
  plan.offsets[2] = 4;
  CHECK(verdict(asked, plan) == "buffers 1 and 2 are alive together at 5 and share bytes: [6, 8) and [4, 7)");
}

TEST_CASE("the lower bound is rounded up to the alignment") {
  const ArenaProblem aligned{.buffers = {{0, 1, 3, 4}, {0, 1, 3, 8}}};
  CHECK(
      verdict(aligned, {.offsets = {4, 0}, .height_bytes = 7, .lower_bound_bytes = 6, .optimal = true}) ==
      "the stated lower bound is 6 bytes, but at most 7 bytes are alive at one moment, rounded up to their alignment");
}

TEST_CASE("optimality above the bound") {
  const ArenaProblem asked{.buffers = {{0, 1, 3, 1}, {0, 1, 3, 4}}};
  ArenaPlan plan{.offsets = {0, 4}, .height_bytes = 7, .lower_bound_bytes = 6, .gave_up = true};
  CHECK(verdict(asked, plan) == "right");
  const auto refused = [&](std::string_view claims) {
    return verdict(asked, plan) == contradiction(claims, plan.search_nodes, 7, 6);
  };
  plan.optimal = true;
  CHECK(refused("true, proof none, gave_up true"));
  plan.proof = ArenaProof::meets_bound;
  CHECK(refused("true, proof meets_bound, gave_up true"));
  plan.proof = ArenaProof::exhausted_search;
  CHECK(refused("true, proof exhausted_search, gave_up true"));
  plan.gave_up = false;
  CHECK(refused("true, proof exhausted_search, gave_up false"));
  plan.search_nodes = 1;
  CHECK(verdict(asked, plan) == "right");
  plan.optimal = false;
  CHECK(refused("false, proof exhausted_search, gave_up false"));
  plan.proof = ArenaProof::none;
  CHECK(refused("false, proof none, gave_up false"));
  CHECK(verdict({.buffers = asked.buffers, .capacity_bytes = 7}, plan) == "right");
}

TEST_CASE("an invalid problem has no correct plan") {
  const ArenaPlan plan{.offsets = {0}, .height_bytes = 1, .lower_bound_bytes = 1};
  CHECK(verdict({.buffers = {{4, 4, 1}}}, plan) == "buffer 0 is never alive: its lifetime is [4, 4)");
  CHECK(verdict({.buffers = {{0, 1, 1, 0}}}, plan) == "the alignment 0 of buffer 0 is not a power of two");
  CHECK(verdict({.buffers = {{0, 1, 1, 6}}}, plan) == "the alignment 6 of buffer 0 is not a power of two");
}

TEST_CASE("a buffer moved onto another one is found") {
  std::mt19937_64 random(1);
  for (std::size_t round = 0; round < 50; ++round) {
    const std::size_t count = 2 + random() % 100;
    ArenaProblem asked;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t lower = random() % 100;
      asked.buffers.push_back({lower, lower + 1 + random() % 50, 1 + random() % 1000});
    }
    auto plan = plan_arena(asked, {.effort = 100});
    REQUIRE(plan);
    REQUIRE(verdict(asked, *plan) == "right");
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t other = random() % count;
      const bool together = asked.buffers[i].lower < asked.buffers[other].upper &&
                            asked.buffers[other].lower < asked.buffers[i].upper;
      if (i != other && together) {
        ArenaPlan moved = *plan;
        moved.offsets[i] = moved.offsets[other] + random() % asked.buffers[other].size;
        CHECK(verdict(asked, moved).find(" are alive together at ") != std::string::npos);
      }
    }
  }
}

} // namespace
} // namespace tidegate::planning
