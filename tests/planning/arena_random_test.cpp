// Generated arena problems: checks every plan, compares every claim of optimality with brute force, and
// disables each technique of the search in turn.
#include "arena_families.hpp"
#include "dag_support.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::planning {
namespace {

class Generator : public test::Random {
public:
  using test::Random::Random;

  // Some buffers over a few moments; one family in four has alignments, one in four coarse sizes.
  ArenaProblem problem(std::uint64_t most_buffers, std::uint64_t most_moments, std::uint64_t most_bytes) {
    ArenaProblem result;
    const std::uint64_t moments = between(1, most_moments);
    const std::uint64_t longest = between(1, moments);
    const bool aligned = between(0, 3) == 0;
    const std::uint64_t grain = between(0, 3) == 0 ? 64 : 1;
    for (std::uint64_t count = between(0, most_buffers); count > 0; --count) {
      const std::uint64_t lower = between(0, moments - 1);
      result.buffers.push_back({.lower = lower,
                                .upper = lower + between(1, longest),
                                .size = between(between(0, 9) == 0 ? 0 : 1, most_bytes) * grain,
                                .alignment = aligned ? std::uint64_t{1} << between(0, 3) : 1});
    }
    return result;
  }

  // A block that was cut into about so many buffers: the bound is reachable but hard to reach.
  ArenaProblem guillotine(std::uint64_t buffers) {
    ArenaProblem cut =
        test::ArenaFamily(between(0, test::u64_max)).problem("guillotine", buffers, between(2, 60), 1);
    cut.capacity_bytes.reset();
    return cut;
  }
};

std::string dump(const ArenaProblem& problem) {
  std::string text;
  for (const ArenaBuffer& b : problem.buffers) {
    text += "{" + std::to_string(b.lower) + ", " + std::to_string(b.upper) + ", " + std::to_string(b.size) +
            ", " + std::to_string(b.alignment) + "}, ";
  }
  return text + (problem.capacity_bytes ? "capacity " + std::to_string(*problem.capacity_bytes) : "");
}

// Returns true if some offsets keep all buffers from `next` on within the height; tries them one by one.
bool can_be_laid_out(const std::vector<ArenaBuffer>& buffers, std::uint64_t height,
                     std::vector<std::uint64_t>& offsets) {
  const std::size_t next = offsets.size();
  if (next == buffers.size()) {
    return true;
  }
  const ArenaBuffer& buffer = buffers[next];
  for (std::uint64_t offset = 0; offset + buffer.size <= height; offset += buffer.alignment) {
    bool is_free = true;
    for (std::size_t other = 0; other < next && is_free; ++other) {
      const bool together = buffers[other].lower < buffer.upper && buffer.lower < buffers[other].upper;
      is_free = !together || offset + buffer.size <= offsets[other] ||
                offsets[other] + buffers[other].size <= offset;
    }
    if (is_free) {
      offsets.push_back(offset);
      if (can_be_laid_out(buffers, height, offsets)) {
        return true;
      }
      offsets.pop_back();
    }
  }
  return false;
}

bool exists_within(const ArenaProblem& problem, std::uint64_t height) {
  std::vector<std::uint64_t> offsets;
  return can_be_laid_out(problem.buffers, height, offsets);
}

TEST_CASE("20 000 generated problems are planned and pass the checker") {
  Generator generator(test::seed());
  std::size_t optimal = 0;
  constexpr std::size_t instances = 20'000;
  for (std::size_t i = 0; i < instances; ++i) {
    const ArenaProblem problem = i % 4 == 0 ? generator.guillotine(generator.between(1, 40))
                                            : generator.problem(i % 4 == 1 ? 60 : 15, 20, 30);
    INFO("problem ", i, ": ", dump(problem));
    const auto plan = plan_arena(problem, {.effort = 2000});
    REQUIRE(plan);
    REQUIRE(check_arena(problem, *plan).value_or("") == "");
    if (i % 4 == 0) {
      CHECK((plan->optimal || plan->gave_up));
    }
    optimal += plan->optimal ? 1 : 0;
  }
  CHECK(optimal > instances * 9 / 10);
  MESSAGE(optimal, " of ", instances, " proved optimal");
}

TEST_CASE("tiny problems are planned as brute force does") {
  Generator generator(test::seed());
  std::size_t above_bound = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    ArenaProblem problem = generator.problem(6, 6, 4);
    INFO("problem ", i, ": ", dump(problem));
    const auto plan = plan_arena(problem);
    REQUIRE(plan);
    REQUIRE(check_arena(problem, *plan).value_or("") == "");
    REQUIRE(plan->optimal);
    if (plan->height_bytes > plan->lower_bound_bytes) {
      ++above_bound;
      REQUIRE_FALSE(exists_within(problem, plan->height_bytes - 1));
    }
    // With one byte less there is no plan, and the error states the required bytes.
    if (plan->height_bytes > 0) {
      problem.capacity_bytes = plan->height_bytes - 1;
      const auto refused = plan_arena(problem);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == ErrorCode::arena_over_capacity);
      CHECK(refused.error().required_bytes <= plan->height_bytes);
      CHECK(refused.error().required_bytes > *problem.capacity_bytes);
    }
    problem.capacity_bytes = plan->height_bytes;
    const auto fitting = plan_arena(problem);
    REQUIRE(fitting);
    REQUIRE(check_arena(problem, *fitting).value_or("") == "");
  }
  CHECK(above_bound > 150);
}

// Each was cut from a full block, so a plan without a free byte exists.
TEST_CASE("blocks of tens and hundreds of buffers are reassembled") {
  struct Case {
    std::string_view family;
    std::size_t buffers;
    std::uint64_t seed;
  };
  std::vector<Case> cases{{"slabs", 400, 3}};
  for (std::uint64_t seed = 10; seed < 60; ++seed) {
    cases.push_back({"guillotine", 35, seed});
  }
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    for (const std::string_view family : test::arena_families) {
      cases.push_back({family, 200, seed});
    }
    cases.push_back({"guillotine", 400, seed});
    if (seed != 3) { // takes more than the usual effort
      cases.push_back({"loose", 400, seed});
    }
  }
  for (const std::uint64_t seed : {1, 2}) {
    cases.push_back({"slabs", 300, seed});
    cases.push_back({"staircase", 600, seed});
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [family, buffers, seed] = cases[i];
    CAPTURE(i);
    const ArenaProblem problem = test::ArenaFamily(seed).problem(family, buffers, 1U << 20U, 1U << 10U);
    const auto plan = plan_arena(problem);
    REQUIRE(plan);
    CHECK(check_arena(problem, *plan).value_or("") == "");
  }
}

} // namespace
} // namespace tidegate::planning
