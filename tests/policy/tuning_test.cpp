// Choosing the cheapest candidate by total order, and the natural-gradient step in its order of summation.
#include "support.hpp"
#include <tidegate/policy/tuning.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace tidegate::policy {
namespace {

using namespace test;
using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("the cheapest candidate wins, the first of equals") {
  constexpr std::uint32_t current = 99;
  struct Case {
    std::string_view what;
    std::vector<std::uint32_t> candidates;
    Values costs;
    std::uint32_t choice;
  };
  for (const Case& c : {Case{"the lowest", {1, 2, 4, 8}, {9.0, 5.0, 1.0, 3.0}, 4},
                        Case{"the first of equals", {7, 8, 9}, {2.0, 1.0, 1.0}, 8},
                        Case{"negative costs", {1, 2}, {-1.0, -2.0}, 2},
                        Case{"-0.0 comes before 0.0", {1, 2}, {0.0, -0.0}, 2},
                        Case{"0.0 does not come before -0.0", {1, 2}, {-0.0, 0.0}, 1},
                        Case{"infinity comes before nan", {1, 2}, {nan, infinity}, 2},
                        Case{"negative nan comes before everything", {1, 2}, {-infinity, -nan}, 2},
                        Case{"only nan", {1, 2}, {nan, nan}, 1},
                        Case{"costs without a candidate do not count", {1, 2}, {2.0, 3.0, 1.0}, 1},
                        Case{"nor candidates without a cost", {1, 2, 3}, {2.0, 1.0}, 2},
                        Case{"one pair", {u32_max}, {infinity}, u32_max},
                        Case{"no candidates: the current value", {}, {1.0}, current},
                        Case{"no costs: the current value", {1}, {}, current},
                        Case{"neither: the current value", {}, {}, current}}) {
    CAPTURE(c.what);
    CHECK(choose_cheapest(c.candidates, c.costs, current) == c.choice);
  }
}

bool same_bits(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

TEST_CASE("a natural-gradient step is minus the rate times the matrix times the gradient") {
  struct Case {
    std::string_view what;
    Values matrix, gradient;
    std::uint32_t n;
    double rate;
    Values step;
  };
  for (const Case& c :
       {Case{"the identity", {1.0, 0.0, 0.0, 1.0}, {3.0, -2.0}, 2, 0.5, {-1.5, 1.0}},
        Case{"row by row", {1.0, 2.0, 3.0, 4.0}, {1.0, 10.0}, 2, 1.0, {-21.0, -43.0}},
        Case{"summed from the left",
             {1.0, 1e16, -1e16, 0, 0, 0, 0, 0, 0},
             {1.0, 1.0, 1.0},
             3,
             1.0,
             {-0.0, -0.0, -0.0}},
        Case{"summed from the left, the 1 last",
             {1e16, -1e16, 1.0, 0, 0, 0, 0, 0, 0},
             {1.0, 1.0, 1.0},
             3,
             1.0,
             {-1.0, -0.0, -0.0}},
        Case{"the sum starts at 0.0, not at -0.0", {1.0}, {-0.0}, 1, 1.0, {-0.0}},
        Case{"a negative rate", {1.0}, {0.0}, 1, -1.0, {0.0}},
        Case{"the rate scales the sum, not its terms",
             {1e200, -1e200, 0, 0},
             {1.0, 1.0},
             2,
             1e200,
             {-0.0, -0.0}},
        Case{"values beyond the shape are ignored", {2.0, 9.0, 9.0}, {3.0, 9.0}, 1, 1.0, {-6.0}},
        Case{"no dimensions", {}, {}, 0, 1.0, {}}, Case{"no dimensions of some", {1.0}, {1.0}, 0, 1.0, {}},
        Case{"one value of the matrix is missing", {1.0, 0.0, 0.0}, {1.0, 1.0}, 2, 1.0, {}},
        Case{"one value of the gradient is missing", {1.0, 0.0, 0.0, 1.0}, {1.0}, 2, 1.0, {}},
        Case{"the largest shape, whose square leaves 32 bits", {1.0}, {1.0}, u32_max, 1.0, {}},
        Case{"a shape whose square is 0 in 32 bits", {}, Values(65'536), 65'536, 1.0, {}}}) {
    CAPTURE(c.what);
    CHECK(same_bits(natural_gradient_step(c.matrix, c.gradient, c.n, c.rate), c.step));
  }
}

} // namespace
} // namespace tidegate::policy
