// The complete arena planner: google/minimalloc's instances, errors and their texts, and extremes. Checks
// every plan.
#include "../skipped.hpp"
#include "dag_support.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::planning {
namespace {

using test::u64_max;
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63U;

constexpr std::size_t many_buffers = 100'000;

ArenaPlan planned(const ArenaProblem& problem, const ArenaOptions& options = {}) {
  const auto plan = plan_arena(problem, options);
  if (!plan) {
    FAIL(plan.error().message);
  }
  CHECK(check_arena(problem, *plan).value_or("") == "");
  return *plan;
}

std::string refusal(const ArenaProblem& problem, const ArenaOptions& options = {}) {
  const auto plan = plan_arena(problem, options);
  return plan ? "none" : std::string(name(plan.error().code)) + ": " + plan.error().message;
}

ArenaProblem minimalloc_instance(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  REQUIRE(line == "id,lower,upper,size");
  ArenaProblem problem;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string id;
    char comma = ' ';
    ArenaBuffer buffer;
    std::getline(fields, id, ',');
    fields >> buffer.lower >> comma >> buffer.upper >> comma >> buffer.size;
    REQUIRE(fields);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

TEST_CASE("every instance of google/minimalloc fits its capacity") {
  const auto folder = tidegate::test::shared_folder("minimalloc");
  if (!folder) {
    return;
  }
  for (const std::string letter : {"A", "B", "C", "D", "E", "F"}) {
    CAPTURE(letter);
    ArenaProblem problem = minimalloc_instance(*folder / (letter + ".1048576.csv"));
    problem.capacity_bytes = 1'048'576;
    const ArenaPlan plan = planned(problem);
    CHECK(plan.height_bytes <= 1'048'576);
    CHECK(plan == planned(problem));
  }
}

TEST_CASE(
    "without a capacity the arena is as low as the largest sum alive where that can be reached; else any plan ends the search") {
  const ArenaPlan plan = planned({.buffers = {{0, 4, 2}, {2, 8, 2}, {0, 2, 2}, {4, 8, 2}, {6, 9, 3}}});
  CHECK(plan.proof == ArenaProof::meets_bound);
  CHECK_FALSE(plan.gave_up);
  CHECK(planned({.buffers = {{0, 2, 1}, {1, 3, 1}}, .capacity_bytes = u64_max}).height_bytes == 2);
}

// 16 bytes are alive at once, but every layout needs 17, even without alignments.
const std::vector<ArenaBuffer> above_their_bound{{0, 4, 7}, {3, 5, 7},  {4, 6, 4}, {4, 7, 5},
                                                 {5, 7, 4}, {6, 10, 6}, {8, 9, 7}};

TEST_CASE("an arena that must exceed the largest sum alive is proved optimal") {
  const ArenaPlan plan = planned({.buffers = above_their_bound});
  CHECK(plan.lower_bound_bytes == 16);
  CHECK(plan.height_bytes == 17);
  CHECK(plan.optimal);
  CHECK(plan.proof == ArenaProof::exhausted_search);
  CHECK(plan.search_nodes > 0);

  const auto refused = plan_arena({.buffers = above_their_bound, .capacity_bytes = 16});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::arena_over_capacity);
  CHECK(refused.error().message.starts_with(
      "the arena needs at least 17 bytes and the capacity is 16 bytes; an exhaustive search of "));

  const ArenaPlan aligned = planned({.buffers = {{0, 1, 3, 4}, {0, 1, 3, 4}}});
  CHECK(aligned.lower_bound_bytes == 7);
  CHECK(aligned.proof == ArenaProof::meets_bound);
  CHECK(aligned.search_nodes == 0);
}

TEST_CASE("sizes rounded up to the least alignment prove a plan at once") {
  struct {
    std::vector<ArenaBuffer> buffers;
    std::uint64_t bound;
  } const cases[]{
      {{{0, 1, 100, 256}, {0, 1, 100, 256}, {0, 1, 100, 256}}, 2 * 256 + 100},
      {{{0, 1, 100, 256}, {0, 1, 100, 512}, {0, 1, 100, 64}}, 2 * 128 + 100},
      {{{0, 1, 100, 256}, {0, 1, 100, 1}}, 200},             // the second may be anywhere
      {{{0, 1, 100, 256}, {1, 2, 300, 256}}, 300},           // never alive together
      {{{0, 1, 100, 256}, {0, 1, 0, 1}}, 100},               // takes no byte
      {{{0, 1, 256, 256}, {0, 1, 100, 256}}, 2 * 256 - 156}, // the topmost is not rounded
  };
  for (const auto& [buffers, bound] : cases) {
    CHECK(planned({.buffers = buffers}).lower_bound_bytes == bound);
  }
  CHECK(
      refusal({.buffers = cases[0].buffers, .capacity_bytes = 611}) ==
      "arena_over_capacity: 612 bytes are alive at one moment, rounded up to their alignment, and the capacity is "
      "611 bytes");
}

TEST_CASE("a search that ran out of effort says so") {
  CHECK(
      refusal({.buffers = above_their_bound, .capacity_bytes = 16}, {.effort = 0}) ==
      "arena_search_exhausted: no plan within the capacity of 16 bytes was found and none was proved "
      "impossible: the search gave up after 0 nodes; the best plan found needs 17 bytes, and at least 16 are "
      "needed");
  const ArenaPlan plan = planned({.buffers = above_their_bound}, {.effort = 0});
  CHECK(plan.height_bytes == 17);
  CHECK(plan.gave_up);
  CHECK_FALSE(plan.optimal);
}

TEST_CASE("the highest component decides, and those below it are not searched") {
  ArenaProblem problem{.buffers = above_their_bound};
  problem.buffers.push_back({20, 21, 18});
  const ArenaPlan plan = planned(problem);
  CHECK(plan.height_bytes == 18);
  CHECK(plan.proof == ArenaProof::meets_bound);
  CHECK(plan.search_nodes == 0);
}

TEST_CASE("nothing to place") {
  CHECK(planned({}) == ArenaPlan{.optimal = true, .proof = ArenaProof::meets_bound});
  CHECK(planned({.buffers = {{0, 9, 0}, {1, 2, 0, 64}}, .capacity_bytes = 0}) ==
        ArenaPlan{.offsets = {0, 0}, .optimal = true, .proof = ArenaProof::meets_bound});
  CHECK(refusal({.buffers = {{0, 1, 1}}, .capacity_bytes = 0}) ==
        "arena_over_capacity: 1 bytes are alive at one moment and the capacity is 0 bytes");
}

// Nine single free bytes at odd offsets precede the three at the top; the last buffer takes the middle one of
// those.
TEST_CASE("a buffer in the free bytes at the top does not lower the height reached before") {
  ArenaProblem problem;
  for (std::uint64_t offset = 0; offset < 22; ++offset) {
    const bool stays = offset < 19 && offset % 2 == 0;
    problem.buffers.push_back({0, stays ? std::uint64_t{2} : std::uint64_t{1}, 1});
  }
  problem.buffers.push_back({1, 2, 1, 4});
  for (const std::uint64_t effort : {0, 2000}) {
    CAPTURE(effort);
    const ArenaPlan plan = planned(problem, {.effort = effort});
    CHECK(plan.height_bytes == 22);
    CHECK(plan.lower_bound_bytes == 22);
  }
}

TEST_CASE("sizes, times and alignments at the end of 64 bits") {
  CHECK(planned({.buffers = {{0, u64_max, u64_max}}}).height_bytes == u64_max);
  CHECK(planned({.buffers = {{0, 1, u64_max}, {1, u64_max, u64_max}}}).height_bytes == u64_max);
  CHECK(planned({.buffers = {{0, 2, u64_max - 1}, {1, 3, 1}}}).height_bytes == u64_max);
  CHECK(planned({.buffers = {{0, 2, 1, top_bit}, {1, 3, top_bit - 1}, {2, 4, top_bit, top_bit}}})
            .height_bytes >= top_bit);
  // There are only two multiples of 2^63.
  CHECK(planned({.buffers = {{0, 1, 1, top_bit}, {0, 1, 1, top_bit}}}).height_bytes == top_bit + 1);
  CHECK(refusal({.buffers = {{0, 1, 1, top_bit}, {0, 1, 1, top_bit}, {0, 1, 1, top_bit}}}) ==
        "byte_count_overflow: buffer 0 and those alive around it were not laid out within 64-bit offsets");
}

TEST_CASE(
    "a hundred thousand buffers, in components of a thousand, sparse, dense, all at once and all apart") {
  for (const std::uint64_t lifetime : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100},
                                       std::uint64_t{1000}, std::uint64_t{many_buffers}}) {
    CAPTURE(lifetime);
    std::mt19937_64 random(lifetime + 1);
    ArenaProblem problem;
    for (std::size_t i = 0; i < many_buffers; ++i) {
      const std::uint64_t lower = lifetime == 0 ? i / 1000 * 2000 + random() % 1000 : random() % many_buffers;
      problem.buffers.push_back({lower, lower + 1 + random() % (lifetime == 0 ? 100 : lifetime),
                                 1 + random() % (1U << 20U),
                                 lifetime == 0 ? 1 : std::uint64_t{1} << random() % 9});
    }
    const ArenaPlan plan = planned(problem);
    CHECK(plan.height_bytes < plan.lower_bound_bytes / 4 * 5);
    if (lifetime == 0) { // the search is spent on the highest components, and finds a plan directly if it can
      CHECK(plan.proof == ArenaProof::meets_bound);
      CHECK(plan.search_nodes < many_buffers);
    }
  }
}

} // namespace
} // namespace tidegate::planning
