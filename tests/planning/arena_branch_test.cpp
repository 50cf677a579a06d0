// Branches of the exact search on small examples: consequences of a decision, failures, and their conflicts.
#include "planning/arena/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidegate::planning {
namespace {

// One component; buffers are named by their index in the problem.
struct Branch {
  Branch(const std::vector<ArenaBuffer>& buffers, std::uint64_t capacity,
         const ArenaTechniques& techniques = {})
      : model(make_arena_model({.buffers = buffers, .capacity_bytes = capacity}).value()),
        component(model.components.front()), overlaps(arena_overlaps(component)),
        state(component, overlaps, capacity, techniques) {
    REQUIRE(model.components.size() == 1);
  }

  [[nodiscard]] std::uint32_t item(std::uint32_t buffer) const {
    const auto found = std::find_if(component.items.begin(), component.items.end(),
                                    [&](const ArenaItem& candidate) { return candidate.buffer == buffer; });
    return static_cast<std::uint32_t>(found - component.items.begin());
  }
  bool place(std::uint32_t buffer) { return state.place(item(buffer)); }
  bool skip(std::uint32_t buffer) { return state.skip(item(buffer)); }
  [[nodiscard]] std::uint64_t rest(std::uint32_t buffer) const { return state.rest(item(buffer)); }
  [[nodiscard]] std::vector<std::uint32_t> conflict() const {
    std::vector<std::uint32_t> buffers;
    for (std::uint32_t i = 0; i < component.items.size(); ++i) {
      if (state.conflict().has(item(i))) {
        buffers.push_back(i);
      }
    }
    return buffers;
  }

  ArenaModel model;
  const ArenaComponent& component;
  ArenaOverlaps overlaps;
  ArenaBranch state;
};

using Buffers = std::vector<std::uint32_t>;

TEST_CASE("a placed buffer lifts those that overlap it, and undoing it lowers them again") {
  Branch branch({{0, 2, 3}, {1, 3, 5, 4}, {2, 4, 1}}, 20);
  const std::size_t before = branch.state.mark();
  CHECK(branch.place(0));
  CHECK(branch.rest(1) == 4);
  CHECK(branch.rest(2) == 0);
  CHECK(branch.state.top(0) == 3);
  CHECK(branch.place(1));
  CHECK(branch.rest(2) == 9);
  CHECK(branch.state.top(branch.component.items[branch.item(1)].end_section - 1) == 9);
  branch.state.undo(before);
  CHECK(branch.rest(1) == 0);
  CHECK(branch.rest(2) == 0);
  CHECK(branch.state.top(0) == 0);
  CHECK(branch.state.stage(branch.item(0)) == ArenaBranch::Stage::undecided);
}

TEST_CASE("a section overflows if every remaining buffer there is too high") {
  const std::vector<ArenaBuffer> buffers{{0, 1, 1}, {0, 3, 3, 4}, {0, 3, 3, 4}};
  Branch branch(buffers, 9);
  CHECK_FALSE(branch.place(0)); // each of the others fits from 4 on, but not both
  CHECK(branch.conflict() == Buffers{0});
  Branch higher(buffers, 10);
  CHECK(higher.place(0));
}

TEST_CASE("a skipped buffer rests on another one") {
  Branch high({{0, 2, 3}, {0, 2, 4}}, 7);
  CHECK(high.skip(1));
  Branch low({{0, 2, 3}, {0, 2, 4}}, 7);
  CHECK(low.skip(0));
  CHECK_FALSE(low.skip(1)); // each waits for the other
  CHECK(low.conflict() == Buffers{0, 1});
}

TEST_CASE("a buffer is not skipped for one that it would slip under") {
  const std::vector<ArenaBuffer> buffers{{1, 2, 5}, {0, 1, 4}, {0, 2, 3}};
  Branch branch(buffers, 20);
  CHECK(branch.place(0));
  CHECK(branch.rest(2) == 5);
  CHECK_FALSE(branch.skip(1)); // only 2 could lift it, and it is above
  CHECK(branch.conflict() == Buffers{0, 1});
  Branch without(buffers, 20, {.dominance = false});
  CHECK(without.place(0));
  CHECK(without.skip(1));
}

TEST_CASE("decisions unrelated to a failure are not in the conflict") {
  Branch branch({{0, 1, 4}, {0, 10, 3}, {5, 6, 1}, {9, 10, 2}}, 7);
  CHECK(branch.place(2));
  CHECK(branch.place(3));
  CHECK(branch.rest(1) == 2);
  CHECK_FALSE(branch.skip(0)); // 1 ends at 5, and 0 does not fit above it
  CHECK(branch.conflict() == Buffers{0, 3});
}

TEST_CASE("a branch in which all buffers wait is not complete") {
  Branch branch({{0, 1, 1}, {0, 1, 1}}, 9, {.lifted_floor = false});
  CHECK(branch.skip(0));
  CHECK(branch.skip(1));
  CHECK_FALSE(branch.state.complete());
  CHECK(branch.conflict() == Buffers{0, 1});
  branch.state.undo(0);
  CHECK(branch.place(0));
  CHECK(branch.place(1));
  CHECK(branch.state.complete());
  CHECK(branch.state.offsets() == std::vector<std::uint64_t>{0, 1});
}

} // namespace
} // namespace tidegate::planning
