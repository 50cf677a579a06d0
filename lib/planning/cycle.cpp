#include <tidegate/planning/cycle.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t no_wave = 0xFFFF'FFFF;

// Every stuck wave waits for a stuck wave, so walking backwards from any of them must come round.
std::vector<std::uint32_t> any_cycle(std::span<const Dependency> dependencies,
                                     std::span<const std::uint32_t> waiting_for) {
  std::vector<std::uint32_t> predecessor(waiting_for.size(), no_wave);
  for (const auto& [before, after] : dependencies) {
    if (waiting_for[before] != 0 && waiting_for[after] != 0 && predecessor[after] == no_wave) {
      predecessor[after] = before;
    }
  }
  std::vector<bool> seen(waiting_for.size());
  auto wave = static_cast<std::uint32_t>(
      std::find_if(waiting_for.begin(), waiting_for.end(), [](std::uint32_t open) { return open != 0; }) -
      waiting_for.begin());
  for (; !seen[wave]; wave = predecessor[wave]) {
    seen[wave] = true;
  }
  std::vector<std::uint32_t> cycle{wave};
  for (std::uint32_t at = predecessor[wave]; at != wave; at = predecessor[at]) {
    cycle.push_back(at);
  }
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

// The dependency of a cycle to blame. Waves are mostly listed in the order in which they run, so it is the
// one that points furthest back in that list.
Dependency furthest_back(std::span<const std::uint32_t> cycle) {
  Dependency blamed{.before = cycle.back(), .after = cycle.front()};
  const auto distance = [](const Dependency& dependency) {
    return static_cast<std::int64_t>(dependency.before) - static_cast<std::int64_t>(dependency.after);
  };
  for (std::size_t i = 1; i < cycle.size(); ++i) {
    const Dependency candidate{.before = cycle[i - 1], .after = cycle[i]};
    blamed = distance(candidate) > distance(blamed) ? candidate : blamed;
  }
  return blamed;
}

// The shortest cycle through one dependency that lies on some cycle: breadth first from its end to its start.
std::vector<std::uint32_t> shortest_cycle(std::span<const Dependency> dependencies,
                                          std::span<const std::uint32_t> waiting_for, Dependency closing) {
  std::vector<std::uint32_t> first(waiting_for.size() + 2);
  const auto stuck = [&](const Dependency& dependency) {
    return waiting_for[dependency.before] != 0 && waiting_for[dependency.after] != 0;
  };
  for (const Dependency& dependency : dependencies) {
    first[std::size_t{dependency.before} + 2] += stuck(dependency) ? 1 : 0;
  }
  for (std::size_t i = 2; i < first.size(); ++i) {
    first[i] += first[i - 1];
  }
  std::vector<std::uint32_t> successors(first.back());
  for (const Dependency& dependency : dependencies) {
    if (stuck(dependency)) {
      successors[first[std::size_t{dependency.before} + 1]++] = dependency.after;
    }
  }

  std::vector<std::uint32_t> reached_from(waiting_for.size(), no_wave);
  std::vector<std::uint32_t> queue{closing.after};
  reached_from[closing.after] = closing.after;
  for (std::size_t position = 0; reached_from[closing.before] == no_wave; ++position) {
    const std::uint32_t wave = queue[position];
    for (std::uint32_t i = first[wave]; i < first[wave + 1]; ++i) {
      if (reached_from[successors[i]] == no_wave) {
        reached_from[successors[i]] = wave;
        queue.push_back(successors[i]);
      }
    }
  }
  std::vector<std::uint32_t> cycle;
  for (std::uint32_t wave = closing.before; wave != closing.after; wave = reached_from[wave]) {
    cycle.push_back(wave);
  }
  cycle.push_back(closing.after);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

} // namespace

PlanError cycle_error(std::span<const Dependency> dependencies, std::span<const std::uint32_t> waiting_for) {
  const Dependency blamed = furthest_back(any_cycle(dependencies, waiting_for));
  const auto unscheduled =
      std::count_if(waiting_for.begin(), waiting_for.end(), [](std::uint32_t open) { return open != 0; });
  return {.code = PlanErrorCode::cycle,
          .before = blamed.before,
          .after = blamed.after,
          .unscheduled_waves = static_cast<std::uint64_t>(unscheduled),
          .cycle = shortest_cycle(dependencies, waiting_for, blamed)};
}

} // namespace tidegate::planning
