// Factors for the cost model's parts, from times.
#include "tune/statistics.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tidegate;
using namespace tidegate::tuning;
using device::CostParts;

namespace {

std::vector<Sample> taken(const CostParts& scales, const std::vector<CostParts>& estimates) {
  std::vector<Sample> samples;
  for (const CostParts& parts : estimates) {
    samples.push_back({.estimated = parts, .measured_ns = product(scales, parts).sum()});
  }
  return samples;
}

} // namespace

TEST_CASE("factors are found where the samples tell the parts apart") {
  const CostParts scales{.start = 0.5, .launches = 2, .barriers = 1.5, .waits = 3, .work = 40};
  const std::vector<CostParts> estimates{
      {.start = 10, .launches = 450, .work = 1}, {.start = 10, .launches = 450, .work = 20},
      {.start = 24, .barriers = 90, .work = 30}, {.start = 24, .barriers = 200, .work = 15},
      {.start = 240, .barriers = 20, .work = 3}, {.start = 24, .waits = 85, .work = 30},
      {.start = 24, .waits = 85, .work = 5}};
  const CostParts found = fit_scales(taken(scales, estimates));
  CHECK(found.start == doctest::Approx(scales.start).epsilon(0.05));
  CHECK(found.launches == doctest::Approx(scales.launches).epsilon(0.05));
  CHECK(found.barriers == doctest::Approx(scales.barriers).epsilon(0.05));
  CHECK(found.waits == doctest::Approx(scales.waits).epsilon(0.05));
  CHECK(found.work == doctest::Approx(scales.work).epsilon(0.05));
}

TEST_CASE("what no sample has stays as it is") {
  const CostParts found = fit_scales(taken({1, 1, 1, 1, 5}, {{.work = 10}, {.work = 3}}));
  CHECK(found.work == doctest::Approx(5).epsilon(0.01));
  CHECK(found.launches == 1);
  CHECK(fit_scales({}) == CostParts{1, 1, 1, 1, 1});
}

TEST_CASE("no part takes less than nothing") {
  // The second takes less, though it has more of everything.
  const CostParts found = fit_scales({{.estimated = {.start = 1, .work = 1}, .measured_ns = 100},
                                      {.estimated = {.start = 2, .work = 1}, .measured_ns = 50}});
  CHECK(found.start > 0);
  CHECK(found.work > 0);
  CHECK(found.work > found.start);
}
