// Counts how often the arena planner finds a plan that is known to exist, at the default effort: for instances from
// files (those of google/minimalloc, 1 MiB), each also mirrored in time, and for the generated families of
// the tests; then for all of them with one technique of the search turned off at a time. Rows divided by
// tabs.
#include "../../tests/planning/arena_families.hpp"
#include <tidegate/planning/arena.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace tidegate::planning;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

struct ProblemSet {
  std::string name;
  std::vector<ArenaProblem> problems;
  bool with_techniques_off = true; // that would take minutes for the larger ones
};

ArenaProblem instance(const char* path) {
  ArenaProblem problem{.buffers = {}, .capacity_bytes = mebibyte};
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  unsigned long long lower = 0;
  unsigned long long upper = 0;
  unsigned long long size = 0;
  while (std::getline(file, line) &&
         std::sscanf(line.c_str(), "%*[^,],%llu,%llu,%llu", &lower, &upper, &size) == 3) {
    problem.buffers.push_back({lower, upper, size});
  }
  return problem;
}

ArenaProblem mirrored(ArenaProblem problem) {
  std::uint64_t end = 0;
  for (const ArenaBuffer& buffer : problem.buffers) {
    end = std::max(end, buffer.upper);
  }
  for (ArenaBuffer& buffer : problem.buffers) {
    buffer.lower = end - std::exchange(buffer.upper, end - buffer.lower);
  }
  return problem;
}

void print(const std::string& what, const std::vector<ProblemSet>& sets, const ArenaTechniques& techniques) {
  int found = 0;
  int all = 0;
  std::uint64_t nodes = 0;
  const std::clock_t start = std::clock();
  for (const ProblemSet& set : sets) {
    for (const ArenaProblem& problem : set.problems) {
      const auto plan = plan_arena(problem, {.techniques = techniques});
      found += plan ? 1 : 0;
      nodes += plan ? plan->search_nodes : plan.error().search_nodes;
      ++all;
    }
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("arena: %s\tfound %d of %d, %.1f s of processor time, %llu nodes\t\n", what.c_str(), found, all,
              seconds, static_cast<unsigned long long>(nodes));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<ProblemSet> sets;
  ProblemSet instances{.name = "minimalloc and mirrored", .problems = {}};
  for (int i = 1; i < argc; ++i) {
    instances.problems.push_back(instance(argv[i]));
    instances.problems.push_back(mirrored(instances.problems.back()));
  }
  sets.push_back(std::move(instances));
  for (const std::string_view family : test::arena_families) {
    for (const std::size_t buffers : {200, 400, 600}) {
      ProblemSet set{.name = std::string(family) + ", " + std::to_string(buffers) + " buffers",
                     .problems = {},
                     .with_techniques_off = buffers == 200};
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        set.problems.push_back(test::ArenaFamily(seed).problem(family, buffers, mebibyte, 1024));
      }
      sets.push_back(std::move(set));
    }
  }
  for (const ProblemSet& set : sets) {
    print(set.name, {set}, {});
  }
  std::erase_if(sets, [](const ProblemSet& set) { return !set.with_techniques_off; });
  print("minimalloc and 200 buffers", sets, {});
  print("the same without section_bound", sets, {.section_bound = false});
  print("the same without lifted_floor", sets, {.lifted_floor = false});
  print("the same without dominance", sets, {.dominance = false});
  print("the same without backjumping", sets, {.backjumping = false});
  print("the same without niche", sets, {.niche = false});
  print("the same without portfolio", sets, {.portfolio = false});
}
