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
                  .budget_bytes = 1}) == "the resident graph bytes are 2 and the budget is 1 bytes");
  CHECK(describe({.code = PlanErrorCode::group_over_budget,
                  .field = single_wave_bytes,
                  .wave = 3,
                  .required_bytes = 20,
                  .budget_bytes = 10}) == "wave 3 alone needs 20 bytes and a group may have 10");
  CHECK(describe({.code = PlanErrorCode::byte_count_overflow, .field = "output wave bytes", .wave = 1}) ==
        "the output wave bytes do not fit 64 bits once wave 1 is counted");
  const WaveText letters = [](std::uint64_t index) { return std::string(1, static_cast<char>('a' + index)); };
  CHECK(describe(
            {.code = PlanErrorCode::cycle, .before = 2, .after = 0, .unscheduled_waves = 4, .cycle = {0, 2}},
            letters) == "the dependencies form a cycle, a -> c -> a, and keep 4 waves from running; "
                        "without the dependency of a on c this cycle is gone");
}

} // namespace
} // namespace tidegate::planning
