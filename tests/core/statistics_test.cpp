// Intervals of ratios hold the truth as often as they say.
#include "core/statistics.hpp"

using namespace tidegate;

namespace {

// Times that scatter by a tenth.
std::vector<double> times(std::mt19937_64& random, double mean, std::size_t count) {
  std::lognormal_distribution<double> scatter(0, 0.1);
  std::vector<double> found(count);
  for (double& time : found) {
    time = mean * scatter(random);
  }
  return found;
}

} // namespace

TEST_CASE("an interval holds the truth as often as it says, with pairs and without") {
  std::mt19937_64 random(5);
  const auto check = [&](double truth, const std::function<RatioEstimate()>& estimated) {
    int held = 0;
    for (int i = 0; i < 1000; ++i) {
      const RatioEstimate estimate = estimated();
      CHECK(estimate.certain);
      held += estimate.low <= truth && truth <= estimate.high ? 1 : 0;
    }
    CHECK(held > 935); // 950 are promised
  };
  for (const std::size_t rounds : {6U, 9U, 13U, 20U}) {
    check(1.3, [&] { return paired_ratio(times(random, 1.3, rounds)); });
  }
  for (const auto& [before, after] : {std::pair(4U, 4U), std::pair(9U, 5U), std::pair(12U, 15U)}) {
    check(1.5, [&, before = before, after = after] {
      return unpaired_ratio(times(random, 2, before), times(random, 3, after));
    });
  }
}

TEST_CASE("few rounds allow no verdict") {
  const RatioEstimate five = paired_ratio({5, 1, 4, 2, 3});
  CHECK_FALSE(five.certain);
  CHECK(five.low == 1);
  CHECK(five.high == 5);
  CHECK(verdict_of(five) == SpeedVerdict::too_few_rounds);
  CHECK_FALSE(unpaired_ratio({1, 2, 3}, {1, 2, 3}).certain);
  CHECK_FALSE(unpaired_ratio({}, {1}).certain);
  CHECK_FALSE(paired_ratio({}).certain);
}

TEST_CASE("verdicts") {
  CHECK(verdict_of(paired_ratio({1.1, 1.2, 1.3, 1.2, 1.1, 1.2})) == SpeedVerdict::faster);
  CHECK(verdict_of(paired_ratio({0.1, 0.2, 0.3, 0.2, 0.1, 0.9})) == SpeedVerdict::slower);
  CHECK(verdict_of(paired_ratio({0.9, 1.2, 1.3, 1.2, 1.1, 1.2})) == SpeedVerdict::no_difference);
  CHECK(verdict_of(paired_ratio({1, 1, 1, 1, 1, 1})) == SpeedVerdict::no_difference);
}
