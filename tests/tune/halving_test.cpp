// Successive halving on made-up times.
#include "tune/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace tidegate::tuning;

namespace {

const TimeIsUp time_is_left = [] { return false; };

} // namespace

TEST_CASE("the fastest is left, and most runs go to the last ones") {
  std::mt19937_64 random(11);
  int right = 0;
  constexpr int searches = 100;
  for (int search = 0; search < searches; ++search) {
    std::vector<double> means{100, 90, 80, 60, 95, 110, 85, 70, 120}; // 0 is the incumbent
    std::shuffle(means.begin() + 1, means.end(), random);
    std::vector<int> runs(means.size());
    const Timer time = [&](std::size_t configuration) {
      ++runs[configuration];
      return std::optional(means[configuration] * std::lognormal_distribution<double>(0, 0.03)(random));
    };
    std::vector<std::size_t> configurations(8);
    std::iota(configurations.begin(), configurations.end(), 1);
    const Halving halving = halve(0, configurations, time, time_is_left);
    CHECK(halving.rounds_by_rung == std::vector<std::size_t>{3, 6, 12});
    CHECK(runs[0] == 21); // the incumbent is in every round
    CHECK(std::accumulate(runs.begin() + 1, runs.end(), 0) == 8 * 3 + 4 * 6 + 2 * 12);
    CHECK(runs[halving.best] == 21);
    right += means[halving.best] == 60 ? 1 : 0;
  }
  CHECK(right >= 95);
}

TEST_CASE("the last two go on while it is not clear which is slower") {
  std::mt19937_64 random(12);
  int right = 0;
  constexpr int searches = 200;
  for (int search = 0; search < searches; ++search) {
    const std::vector<double> means{100, 70, 73};
    const Timer time = [&](std::size_t configuration) {
      return std::optional(means[configuration] * std::lognormal_distribution<double>(0, 0.05)(random));
    };
    const Halving halving = halve(0, {1, 2}, time, time_is_left);
    const std::vector<std::size_t> all{3, 6, 12, 24};
    CHECK(halving.rounds_by_rung ==
          std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(halving.rounds_by_rung.size())));
    CHECK(halving.rounds_by_rung.size() > 1); // three rounds show nothing
    right += halving.best == 1 ? 1 : 0;
  }
  CHECK(right >= 180);
}

TEST_CASE("what drifts drifts for all: ratios are taken in a round") {
  double machine = 1; // slows down with every run
  const std::vector<double> means{100, 90, 80};
  const Timer time = [&](std::size_t configuration) {
    return std::optional(means[configuration] * (machine *= 1.001));
  };
  CHECK(halve(0, {1, 2}, time, time_is_left).best == 2);
}

TEST_CASE("one configuration needs no rounds, and none leaves the incumbent") {
  const Timer none = [](std::size_t) -> std::optional<double> {
    FAIL("nothing is to be timed");
    return {};
  };
  CHECK(halve(0, {5}, none, time_is_left).best == 5);
  CHECK(halve(3, {}, none, time_is_left).best == 3);
}

TEST_CASE("candidates that fail are out, and so is the search when time is up") {
  const Timer time = [](std::size_t configuration) {
    return configuration == 1 ? std::nullopt : std::optional(100.0 - static_cast<double>(configuration));
  };
  const Halving halving = halve(0, {1, 2, 3}, time, time_is_left);
  CHECK(halving.best == 3);
  CHECK(halving.contenders[0].failed);
  CHECK(halving.contenders[0].ratios.empty());
  CHECK(halve(0, {1, 2, 3}, time, [] { return true; }).best == 0);
  const Timer incumbent_fails = [](std::size_t configuration) {
    return configuration == 0 ? std::nullopt : std::optional(1.0);
  };
  CHECK(halve(0, {1, 2}, incumbent_fails, time_is_left).best == 0);
}
