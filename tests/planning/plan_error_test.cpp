#include <tidegate/planning/plan_error.hpp>

#include <doctest/doctest.h>

namespace tidegate::planning {
namespace {

TEST_CASE("every code has its name") {
  CHECK(name(PlanErrorCode::invalid_wave) == "invalid_wave");
  CHECK(name(PlanErrorCode::self_dependency) == "self_dependency");
  CHECK(name(PlanErrorCode::cycle) == "cycle");
  CHECK(name(PlanErrorCode::group_over_budget) == "group_over_budget");
  CHECK(name(PlanErrorCode::byte_count_overflow) == "byte_count_overflow");
}

TEST_CASE("errors read as sentences") {
  CHECK(describe({.code = PlanErrorCode::invalid_wave, .wave_count = 3, .before = 1, .after = 7}) ==
        "the dependency of wave 7 on wave 1 leaves the 3 waves of the DAG");
  CHECK(describe({.code = PlanErrorCode::self_dependency, .wave = 4}) == "wave 4 depends on itself");
  CHECK(describe({.code = PlanErrorCode::group_over_budget,
                  .field = "resident graph bytes",
                  .required_bytes = 2,
                  .budget_bytes = 1}) ==
        "the resident graph bytes need 2 bytes and 1 bytes are left for them");
  CHECK(describe({.code = PlanErrorCode::byte_count_overflow, .field = "output wave bytes"}) ==
        "the output wave bytes do not fit 64 bits");
}

} // namespace
} // namespace tidegate::planning
