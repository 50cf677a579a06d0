// Layers of a wave DAG, by Kahn's algorithm (CACM 5(11), 1962) over a compressed adjacency list. Its queue
// *is* the answer: the waves in layer order, and a layer ends where the queue ended when the layer before was
// done.
#include "wave_dag.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

bool is_invalid(std::uint64_t wave_count, const Dependency& dependency) {
  return std::max(dependency.before, dependency.after) >= wave_count || dependency.before == dependency.after;
}

PlanError invalid_dependency(std::uint64_t wave_count, const Dependency& dependency) {
  if (std::max(dependency.before, dependency.after) >= wave_count) {
    return {.code = PlanErrorCode::invalid_wave,
            .wave_count = wave_count,
            .before = dependency.before,
            .after = dependency.after};
  }
  return {.code = PlanErrorCode::self_dependency, .wave = dependency.before};
}

constexpr std::uint32_t no_wave = 0xFFFF'FFFF;

struct Release {
  void operator()(std::uint32_t* numbers) const { std::free(numbers); }
};
using Numbers = std::unique_ptr<std::uint32_t[], Release>;

// Uninitialised, and in huge pages where the system gives them: reads in random order over many megabytes
// otherwise wait for the page tables as well.
Numbers numbers(std::size_t count) {
  constexpr std::size_t huge_page = std::size_t{1} << 21U;
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(std::uint32_t);
  const std::size_t pages = (bytes + huge_page - 1) / huge_page;
  const bool huge = bytes >= huge_page;
  void* const made = huge ? std::aligned_alloc(huge_page, pages * huge_page) : std::malloc(bytes);
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  if (huge) {
    static_cast<void>(::madvise(made, pages * huge_page, MADV_HUGEPAGE)); // a refusal only costs time
  }
  return Numbers(static_cast<std::uint32_t*>(made));
}

// The successors of wave w are successors[first[w]] to successors[first[w + 1] - 1], in the order in which
// the dependencies were given.
struct Adjacency {
  Numbers counts; // in which `first` lies
  std::uint32_t* first = nullptr;
  Numbers successors;
  Numbers waiting_for; // dependencies of a wave that are not met yet
};

// Dependencies in random order make this the slower half of the planner: two cache misses each. The misses do
// not depend on one another, so prefetching hides most of them.
void scatter(std::span<const Dependency> dependencies, Adjacency& adjacency) {
  constexpr std::size_t cursor_ahead = 48;
  constexpr std::size_t target_ahead = 16;
  std::uint32_t* const cursor = adjacency.first + 1;
  std::uint32_t* const successors = adjacency.successors.get();
  const std::size_t count = dependencies.size();
  std::size_t i = 0;
  for (; i + cursor_ahead < count; ++i) {
    __builtin_prefetch(&cursor[dependencies[i + cursor_ahead].before], 1);
    __builtin_prefetch(&successors[cursor[dependencies[i + target_ahead].before]], 1);
    successors[cursor[dependencies[i].before]++] = dependencies[i].after;
  }
  for (; i < count; ++i) {
    successors[cursor[dependencies[i].before]++] = dependencies[i].after;
  }
}

// A stable counting sort by `before`. The counts stand two places late: after summing, wave w's cursor is
// first[w + 1], and when the cursors have run, first[w] is where w begins.
PlanResult<Adjacency> adjacency_of(std::uint32_t wave_count, std::span<const Dependency> dependencies) {
  const std::size_t count_of_first = std::size_t{wave_count} + 2;
  Adjacency adjacency{.counts = numbers(count_of_first), .waiting_for = numbers(wave_count)};
  std::uint32_t* const first = adjacency.first = adjacency.counts.get();
  std::fill_n(first, count_of_first, 0U);
  std::fill_n(adjacency.waiting_for.get(), wave_count, 0U);
  bool sorted = true;
  std::uint32_t previous = 0;
  for (const Dependency& dependency : dependencies) {
    if (is_invalid(wave_count, dependency)) [[unlikely]] {
      return tl::unexpected(invalid_dependency(wave_count, dependency));
    }
    ++first[std::size_t{dependency.before} + 2];
    ++adjacency.waiting_for[dependency.after];
    sorted = sorted && dependency.before >= previous;
    previous = dependency.before;
  }
  for (std::size_t i = 2; i < count_of_first; ++i) {
    first[i] += first[i - 1];
  }

  adjacency.successors = numbers(dependencies.size());
  if (sorted) {
    std::transform(dependencies.begin(), dependencies.end(), adjacency.successors.get(),
                   [](const Dependency& dependency) { return dependency.after; });
    ++adjacency.first;
  } else {
    scatter(dependencies, adjacency);
  }
  return adjacency;
}

// Fills the queue; true when every wave got into it.
bool walk(Adjacency& adjacency, WaveGroups& layers) {
  const std::uint32_t* const first = adjacency.first;
  const std::uint32_t* const successors = adjacency.successors.get();
  std::uint32_t* const waiting_for = adjacency.waiting_for.get();
  std::uint32_t* const queue = layers.order.data();
  const auto wave_count = static_cast<std::uint32_t>(layers.order.size());

  // A wave is written to the end of the queue before it is known to be ready, and the end moves by 0 or 1: a
  // branch would be mispredicted. There is room, since a wave that is not ready, or that becomes ready only
  // now, is not in the queue yet.
  std::uint32_t end = 0;
  for (std::uint32_t wave = 0; wave < wave_count; ++wave) {
    queue[end] = wave;
    end += static_cast<std::uint32_t>(waiting_for[wave] == 0);
  }
  std::uint32_t position = 0;
  while (position < end) {
    const std::uint32_t layer_end = end;
    layers.group_begin.push_back(layer_end);
    for (; position < layer_end; ++position) {
      if (position + 16 < end) {
        __builtin_prefetch(&first[queue[position + 16]]);
        __builtin_prefetch(&successors[first[queue[position + 8]]]);
      }
      const std::uint32_t wave = queue[position];
      for (std::uint32_t i = first[wave]; i < first[wave + 1]; ++i) {
        const std::uint32_t successor = successors[i];
        queue[end] = successor;
        end += static_cast<std::uint32_t>(--waiting_for[successor] == 0);
      }
    }
  }
  return end == wave_count;
}

// ---- The error of a graph with a cycle

// Every stuck wave waits for a stuck wave, so walking backwards from any of them must come back to a wave
// seen before.
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

// The dependency of a cycle to blame. Waves are mostly listed in the order in which they run, so blame the
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

// The error `cycle` with every field. `waiting_for` is the state in which Kahn's algorithm stopped: for each
// wave the number of dependencies never met. The waves above zero lie on a cycle or after one; there is at
// least one.
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

} // namespace

PlanResult<WaveGroups> plan_barriers(std::uint32_t wave_count, std::span<const Dependency> dependencies) {
  PlanResult<Adjacency> adjacency = adjacency_of(wave_count, dependencies);
  if (!adjacency) {
    return tl::unexpected(std::move(adjacency.error()));
  }
  WaveGroups layers;
  layers.order.resize(wave_count);
  if (!walk(*adjacency, layers)) {
    return tl::unexpected(cycle_error(dependencies, std::span(adjacency->waiting_for.get(), wave_count)));
  }
  return layers;
}

} // namespace tidegate::planning
