// Source rules, traced from waves to their descendants.
#include "../program_support.hpp"
#include "engine/groups.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

Job with_rules(const std::vector<std::uint32_t>& rules) {
  Job program = program_of(1, {});
  for (const std::uint32_t mask : rules) {
    program.waves.push_back(wave_of(0, {}));
    program.waves.back().rules = mask;
  }
  return program;
}

using Regions = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("without rules nothing descends from any") {
  const Lineage lineage = trace_lineage(with_rules({0, 0}), groups_of({{0}, {1}}));
  CHECK(lineage.regions == Regions{0, 0});
  CHECK(lineage.items == 0);
  CHECK(trace_lineage(with_rules({}), groups_of({})).regions.empty());
}

TEST_CASE("a group is of the rules of its waves and of all their ancestors") {
  Job program = with_rules({1, 2, 0, 4, 0});
  program.dependencies = {{.before = 0, .after = 2}, {.before = 2, .after = 3}, {.before = 1, .after = 3}};
  const Lineage lineage = trace_lineage(program, groups_of({{0, 1, 4}, {2}, {3}}));
  CHECK(lineage.regions == Regions{1 | 2, 1, 1 | 2 | 4});
  CHECK(lineage.items == 4); // all but wave 4
}

TEST_CASE("rules flow along dependencies and nowhere else") {
  Job program = with_rules({1U << 31U, 0, 0});
  program.dependencies = {{.before = 1, .after = 2}};
  const Lineage lineage = trace_lineage(program, groups_of({{0, 1}, {2}}));
  CHECK(lineage.regions == Regions{1U << 31U, 0});
  CHECK(lineage.items == 1);
}

TEST_CASE("random programs, against every path") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Numbers random(start);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> rules;
    for (std::uint32_t count = 1 + random.below(20); count > 0; --count) {
      rules.push_back(random.chance(30) ? 1U << random.below(32) : 0);
    }
    Job program = with_rules(rules);
    for (std::uint32_t after = 1; after < rules.size(); ++after) {
      for (std::uint32_t edges = random.below(3); edges > 0; --edges) {
        program.dependencies.push_back({.before = random.below(after), .after = after});
      }
    }
    const auto groups = layers_of(program);
    std::vector<std::uint32_t> inherited = rules;
    for (std::size_t pass = 0; pass < rules.size(); ++pass) {
      for (const ResolvedDependency& dependency : program.dependencies) {
        inherited[dependency.after] |= inherited[dependency.before];
      }
    }
    const Lineage lineage = trace_lineage(program, groups);
    INFO("TIDEGATE_SEED=", start, " round ", round);
    REQUIRE(lineage.regions.size() == groups.group_count());
    std::uint64_t items = 0;
    for (std::size_t group = 0; group < groups.group_count(); ++group) {
      std::uint32_t region = 0;
      for (const std::uint32_t wave : groups.group(group)) {
        region |= inherited[wave];
        items += inherited[wave] != 0 ? 1U : 0U;
      }
      CHECK(lineage.regions[group] == region);
    }
    CHECK(lineage.items == items);
  }
}
