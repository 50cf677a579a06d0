// Two ways timed in pairs: what is said of them, and how often that is wrong.
#include "tune/report.hpp"

using namespace tidegate::tuning;

namespace {

const TimeIsUp never = [] { return false; };

// Times scatter by a fifth.
std::uint64_t wins(double ratio, std::uint64_t rounds, int duels, std::uint64_t more_rounds = 0) {
  std::mt19937_64 random(7);
  const Timer time = [&](std::size_t configuration) -> std::optional<double> {
    return (configuration == 0 ? 100 : 100 * ratio) * std::lognormal_distribution<double>(0, 0.2)(random);
  };
  std::uint64_t won = 0;
  for (int i = 0; i < duels; ++i) {
    won += duel(1, 0, rounds, time, never, more_rounds).won() ? 1 : 0;
  }
  return won;
}

} // namespace

TEST_CASE("the sign test, and the median with its interval") {
  for (const auto& [ratios, confidence] : std::initializer_list<std::pair<std::vector<double>, double>>{
           {{}, 0},
           {{0.5, 0.5, 0.5, 0.5}, 1 - 1.0 / 16},
           {std::vector<double>(11, 0.5), 1 - 1.0 / 2048},
           {{0.5, 0.5, 0.5, 2.0}, 1 - 5.0 / 16},
           {{2, 2, 2}, 0},
           {{1, 1, 1}, 0}}) { // as fast as each other
    CHECK(judge(ratios).confidence == doctest::Approx(confidence));
  }
  const Duel eleven = judge({11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(eleven.ratio == 6);
  CHECK(eleven.ratio_low == 2); // 1 - 2 * (1 + 11) / 2048 = 98.8 %, without the next 93.5 %
  CHECK(eleven.ratio_high == 10);
  CHECK(judge({1, 2, 3, 4, 5}).ratio_high == 5);
}

TEST_CASE("what is faster wins, what is not does not") {
  CHECK(wins(0.5, 11, 200) == 200);
  CHECK(wins(0.8, 11, 200) > 30);
  CHECK(wins(1.0, 11, 1000) < 12); // 6 are expected
  CHECK(wins(1.2, 11, 1000) < 2);
  CHECK(wins(0.5, 6, 100) == 0);                            // no six rounds say anything with 99 %
  CHECK_FALSE(judge(std::vector<double>(11, 0.995)).won()); // certain, and not worth it
}

TEST_CASE("a duel in doubt goes on") {
  const auto once = wins(0.8, 11, 200);
  CHECK(wins(0.8, 11, 200, 22) > 3 * once / 2);
  CHECK(wins(1.0, 11, 1000, 22) < 15);
  CHECK(wins(1.2, 11, 1000, 22) < 2);
  const auto duel_of = [](double challenger) {
    return duel(
        1, 0, 5,
        [=](std::size_t configuration) { return std::optional(configuration == 1 ? challenger : 1.0); },
        never, 3);
  };
  CHECK(duel_of(0.5).rounds == 8); // five rounds cannot win with 99 %, eight can
  CHECK(duel_of(0.5).won());
  CHECK(duel_of(0.5).confidence == doctest::Approx(1 - 2.0 / 256)); // chance had two turns at eight coins
  CHECK(duel_of(1.0).rounds == 5);                                  // not ahead
}

TEST_CASE("a duel takes turns, and ends when time is up or a run fails") {
  std::vector<std::size_t> order;
  const Timer note = [&](std::size_t configuration) {
    order.push_back(configuration);
    return std::optional(configuration == 1 ? 1.0 : 2.0);
  };
  CHECK(duel(1, 0, 3, note, never).ratio == 0.5);
  CHECK(order == std::vector<std::size_t>{0, 1, 1, 0, 0, 1});
  int left = 2;
  CHECK(duel(1, 0, 9, note, [&] { return left-- == 0; }).rounds == 2);
  const Timer failing = [](std::size_t configuration) {
    return configuration == 1 ? std::nullopt : std::optional(1.0);
  };
  CHECK(duel(1, 0, 9, failing, never).rounds == 0);
}
