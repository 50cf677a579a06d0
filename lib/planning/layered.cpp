// The strategy `layered`, and the figures and errors of all plans. The golden vectors fix the order of groups
// and of waves.
#include "core/prelude.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

Error overflow(std::string_view field, std::uint64_t wave = 0) {
  return worded({.code = ErrorCode::byte_count_overflow, .field = std::string(field), .wave = wave});
}

// The budget is exceeded by a wave, which shares it with the resident graph, or by the graph itself.
Error over_budget(std::uint64_t required, std::uint64_t budget, std::uint64_t resident,
                  std::optional<std::uint64_t> wave) {
  Error error = worded({.code = ErrorCode::group_over_budget,
                        .field = std::string(wave ? single_wave_bytes : "resident graph bytes"),
                        .wave = wave,
                        .required_bytes = required,
                        .budget_bytes = budget});
  std::uint64_t least = 0;
  const bool reachable = !__builtin_add_overflow(required, resident, &least);
  error.fix = reachable ? fmt::format("raise the budget to {} bytes or more, or make {} smaller", least,
                                      wave ? "the wave" : "the graph")
                        : "make the wave smaller";
  return error;
}

// The error of wave `first`, and of every other wave that is too large for a group of its own.
Error all_over_budget(const WaveDag& dag, std::uint64_t budget, std::uint32_t first) {
  ErrorList errors;
  const auto add = [&](std::uint32_t index) {
    if (const auto bytes = fused_bytes(dag.waves[index]); bytes && *bytes > budget) {
      errors.add(over_budget(*bytes, budget, dag.resident_graph_bytes, index));
    }
  };
  add(first);
  for (std::uint32_t index = 0; index < dag.waves.size() && !errors.full(); ++index) {
    if (index != first) {
      add(index);
    }
  }
  return errors.result().error();
}

// Figures of a layer for the lower bound.
struct LayerSize {
  std::uint32_t groups = 0;
  std::uint32_t over_half = 0; // waves over half the budget, no two of which share a group
};

// Splits the layers by next fit. Writes the groups' offsets; keeps the order.
Result<std::vector<LayerSize>> split(const WaveDag& dag, const std::vector<std::uint32_t>& layer_begin,
                                     std::uint64_t budget, MemoryPlan& plan) {
  std::vector<LayerSize> layers;
  layers.reserve(layer_begin.size());
  plan.group_begin.reserve(layer_begin.size()); // at least a group for each layer
  for (std::size_t layer = 0; layer + 1 < layer_begin.size(); ++layer) {
    LayerSize& size = layers.emplace_back();
    std::uint64_t sum = 0; // of the group that is filled
    for (std::uint32_t position = layer_begin[layer]; position < layer_begin[layer + 1]; ++position) {
      const std::uint32_t index = plan.order[position];
      const Result<std::uint64_t> fused = fused_bytes(dag.waves[index]);
      if (!fused) {
        return tl::unexpected(overflow(*fused.error().field, index));
      }
      std::uint64_t together = 0;
      if (__builtin_add_overflow(sum, *fused, &together)) {
        return tl::unexpected(overflow("barrier group fused wave budget bytes", index));
      }
      if (*fused > budget) {
        return tl::unexpected(all_over_budget(dag, budget, index));
      }
      if (together > budget) {
        plan.group_begin.push_back(position);
        ++size.groups;
      }
      sum = together > budget ? *fused : together;
      size.over_half += *fused > budget - *fused ? 1 : 0;
    }
    plan.group_begin.push_back(layer_begin[layer + 1]);
    ++size.groups;
  }
  return layers;
}

// For each layer, adds the layers before it and the groups that the waves from it on need at least; returns
// the largest sum. The first layer covers the total bytes, the last one the critical path.
std::uint64_t cheap_lower_bound(const MemoryPlan& plan, const std::vector<LayerSize>& layers,
                                std::uint64_t budget) {
  std::uint64_t bound = layers.size();
  WideBytes bytes = 0;
  std::uint64_t over_half = 0;
  std::size_t group = plan.group_count();
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    for (std::uint32_t i = 0; i < layers[layer].groups; ++i) {
      bytes += plan.group_fused_bytes[--group];
    }
    over_half += layers[layer].over_half;
    bound = std::max(bound, layer + over_half);
    if (bytes > WideBytes{bound - layer} * budget) { // avoids the slow division
      bound = layer + groups_for(bytes, budget);
    }
  }
  return bound;
}

// "wave 3 -> wave 5 -> wave 9 -> wave 3". Long cycles are cut in the middle.
std::string cycle_text(const std::vector<std::uint32_t>& cycle, const WaveText& wave) {
  constexpr std::size_t most_named = 16;
  constexpr std::size_t named_at_each_end = 7;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > most_named && i == named_at_each_end) {
      i = cycle.size() - named_at_each_end;
      text += fmt::format("({} more) -> ", i - named_at_each_end);
    }
    text += fmt::format("{} -> ", wave(cycle[i]));
  }
  return cycle.empty() ? text : text + wave(cycle.front());
}

} // namespace

Result<std::uint64_t> group_budget(const WaveDag& dag) {
  if (dag.budget_bytes < dag.resident_graph_bytes) {
    return tl::unexpected(over_budget(dag.resident_graph_bytes, dag.budget_bytes, 0, {}));
  }
  return dag.budget_bytes - dag.resident_graph_bytes;
}

Result<std::uint64_t> fused_bytes(const Wave& wave) {
  constexpr std::uint64_t scratch_copies = 4;
  std::uint64_t scratch = 0;
  if (__builtin_mul_overflow(wave.scratch_bytes, scratch_copies, &scratch)) {
    return tl::unexpected(overflow("fused wave scratch bytes"));
  }
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(wave.frontier_bytes, scratch, &sum) ||
      __builtin_add_overflow(sum, wave.output_bytes, &sum)) {
    return tl::unexpected(overflow("fused wave bytes"));
  }
  return sum;
}

Result<MemoryPlan> plan_layered(const WaveDag& dag) {
  TIDEGATE_TRY(BarrierGroups layers,
               plan_barriers(static_cast<std::uint32_t>(dag.waves.size()), dag.dependencies));
  TIDEGATE_TRY(const std::uint64_t budget, group_budget(dag));
  MemoryPlan plan;
  plan.order = std::move(layers.order);
  TIDEGATE_TRY(const auto sizes, split(dag, layers.group_begin, budget, plan));
  fill_figures(dag, plan);
  plan.lower_bound_groups = cheap_lower_bound(plan, sizes, budget);
  plan.optimal = plan.lower_bound_groups == plan.group_count();
  return plan;
}

// No sum overflows: each is at most the fused bytes, which fit the budget.
void fill_figures(const WaveDag& dag, MemoryPlan& plan) {
  plan.group_fused_bytes.clear();
  plan.group_fused_bytes.reserve(plan.group_count());
  plan.peak_frontier_bytes = plan.peak_scratch_bytes = plan.peak_output_bytes = 0;
  plan.max_group_width = 0;
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    Wave sums;
    std::uint64_t& fused = plan.group_fused_bytes.emplace_back();
    for (const std::uint32_t index : plan.group(group)) {
      const Wave& wave = dag.waves[index];
      fused += fused_bytes(wave).value();
      sums.frontier_bytes += wave.frontier_bytes;
      sums.scratch_bytes += wave.scratch_bytes;
      sums.output_bytes += wave.output_bytes;
    }
    plan.peak_frontier_bytes = std::max(plan.peak_frontier_bytes, sums.frontier_bytes);
    plan.peak_scratch_bytes = std::max(plan.peak_scratch_bytes, sums.scratch_bytes);
    plan.peak_output_bytes = std::max(plan.peak_output_bytes, sums.output_bytes);
    plan.max_group_width =
        std::max(plan.max_group_width, static_cast<std::uint32_t>(plan.group(group).size()));
  }
  plan.amortized_readback_bytes = std::max(dag.readback_bytes, plan.peak_output_bytes);
}

Error worded(Error error, const WaveText& wave_text) {
  const auto wave = [&wave_text](std::optional<std::uint64_t> index) {
    return wave_text ? wave_text(index.value_or(0)) : fmt::format("wave {}", index.value_or(0));
  };
  switch (error.code) {
  case ErrorCode::invalid_wave:
    error.message = fmt::format("the dependency of {} on {} is outside the {} waves of the DAG",
                                wave(error.after), wave(error.before), *error.wave_count);
    error.fix = "name waves of the DAG";
    break;
  case ErrorCode::self_dependency:
    error.message = fmt::format("{} depends on itself", wave(error.wave));
    error.fix = "remove the dependency";
    break;
  case ErrorCode::cycle:
    error.message = fmt::format(
        "the dependencies form a cycle, {}, and keep {} waves from running; removing the "
        "dependency of {} on {} breaks this cycle",
        cycle_text(*error.cycle, wave), *error.unscheduled_waves, wave(error.after), wave(error.before));
    error.fix = fmt::format("remove the dependency of {} on {}, or another one of the cycle",
                            wave(error.after), wave(error.before));
    break;
  case ErrorCode::group_over_budget:
    error.message = error.wave ? fmt::format("{} alone needs {} bytes and a group may have {}",
                                             wave(error.wave), *error.required_bytes, *error.budget_bytes)
                               : fmt::format("the {} are {} and the budget is {} bytes", *error.field,
                                             *error.required_bytes, *error.budget_bytes);
    break;
  default: // byte_count_overflow
    error.message =
        fmt::format("the {} do not fit 64 bits once {} is counted", *error.field, wave(error.wave));
    error.fix = "check the wave's byte counts";
  }
  return error;
}

// Layers of a wave DAG, by Kahn's algorithm (CACM 5(11), 1962) over a compressed adjacency list. Its queue is
// the result: the waves in layer order, where each layer ends at the end of the queue when the previous layer
// was done.

namespace {

bool is_invalid(std::uint64_t wave_count, const Dependency& dependency) {
  return std::max(dependency.before, dependency.after) >= wave_count || dependency.before == dependency.after;
}

Error invalid_dependency(std::uint64_t wave_count, const Dependency& dependency) {
  return worded(dependency.before == dependency.after && dependency.before < wave_count
                    ? Error{.code = ErrorCode::self_dependency, .wave = dependency.before}
                    : Error{.code = ErrorCode::invalid_wave,
                            .wave_count = wave_count,
                            .before = dependency.before,
                            .after = dependency.after});
}

constexpr std::uint32_t no_wave = 0xFFFF'FFFF;

// The successors of wave w are successors[first[w]] to successors[first[w + 1] - 1], in input order.
struct Adjacency {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> waiting_for; // unmet dependencies of each wave
};

// A stable counting sort by `before`. The counts are stored two places later: after summing, wave w's cursor
// is first[w + 1], and once the cursors have advanced, first[w] is where w begins.
Result<Adjacency> adjacency_of(std::uint32_t wave_count, std::span<const Dependency> dependencies) {
  Adjacency adjacency{.first = std::vector<std::uint32_t>(std::size_t{wave_count} + 2),
                      .successors = std::vector<std::uint32_t>(dependencies.size()),
                      .waiting_for = std::vector<std::uint32_t>(wave_count)};
  for (const Dependency& dependency : dependencies) {
    if (is_invalid(wave_count, dependency)) {
      return tl::unexpected(invalid_dependency(wave_count, dependency));
    }
    ++adjacency.first[std::size_t{dependency.before} + 2];
    ++adjacency.waiting_for[dependency.after];
  }
  std::partial_sum(adjacency.first.begin(), adjacency.first.end(), adjacency.first.begin());
  for (const Dependency& dependency : dependencies) {
    adjacency.successors[adjacency.first[std::size_t{dependency.before} + 1]++] = dependency.after;
  }
  return adjacency;
}

// Fills the queue. Returns true if it contains every wave.
bool walk(Adjacency& adjacency, BarrierGroups& layers) {
  std::vector<std::uint32_t>& queue = layers.order;
  const std::size_t wave_count = adjacency.waiting_for.size();
  queue.reserve(wave_count);
  for (std::uint32_t wave = 0; wave < wave_count; ++wave) {
    if (adjacency.waiting_for[wave] == 0) {
      queue.push_back(wave);
    }
  }
  for (std::size_t position = 0; position < queue.size();) {
    const std::size_t layer_end = queue.size();
    layers.group_begin.push_back(static_cast<std::uint32_t>(layer_end));
    for (; position < layer_end; ++position) {
      const std::uint32_t wave = queue[position];
      for (std::uint32_t i = adjacency.first[wave]; i < adjacency.first[wave + std::size_t{1}]; ++i) {
        if (--adjacency.waiting_for[adjacency.successors[i]] == 0) {
          queue.push_back(adjacency.successors[i]);
        }
      }
    }
  }
  return queue.size() == wave_count;
}

// ---- The error of a graph with a cycle

// Every stuck wave waits for a stuck wave, so a backward walk from any of them returns to a visited wave.
std::vector<std::uint32_t> any_cycle(std::span<const Dependency> stuck,
                                     std::span<const std::uint32_t> waiting_for) {
  std::vector<std::uint32_t> predecessor(waiting_for.size(), no_wave);
  for (const auto& [before, after] : stuck) {
    predecessor[after] = predecessor[after] == no_wave ? before : predecessor[after];
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

// Returns the dependency of a cycle to blame. Waves are usually listed in execution order, so blame the one
// that points furthest back in that list.
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

// Returns the shortest cycle through a dependency that is on some cycle: breadth first from its end to its
// start.
std::vector<std::uint32_t> shortest_cycle(const Adjacency& stuck, std::size_t wave_count,
                                          Dependency closing) {
  std::vector<std::uint32_t> reached_from(wave_count, no_wave);
  std::vector<std::uint32_t> queue{closing.after};
  reached_from[closing.after] = closing.after;
  for (std::size_t position = 0; reached_from[closing.before] == no_wave; ++position) {
    const std::uint32_t wave = queue[position];
    for (std::uint32_t i = stuck.first[wave]; i < stuck.first[wave + std::size_t{1}]; ++i) {
      const std::uint32_t successor = stuck.successors[i];
      if (reached_from[successor] == no_wave) {
        reached_from[successor] = wave;
        queue.push_back(successor);
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

// Makes the error `cycle` with every field. `waiting_for` is the final state of Kahn's algorithm: the unmet
// dependencies of each wave. The waves above zero, at least one, are on a cycle or after one.
Error cycle_error(std::span<const Dependency> dependencies, std::span<const std::uint32_t> waiting_for) {
  std::vector<Dependency> stuck; // those between waves that are on a cycle or after one
  std::ranges::copy_if(dependencies, std::back_inserter(stuck), [&](const Dependency& dependency) {
    return waiting_for[dependency.before] != 0 && waiting_for[dependency.after] != 0;
  });
  const Dependency blamed = furthest_back(any_cycle(stuck, waiting_for));
  const auto unscheduled =
      std::count_if(waiting_for.begin(), waiting_for.end(), [](std::uint32_t open) { return open != 0; });
  return worded(
      {.code = ErrorCode::cycle,
       .before = blamed.before,
       .after = blamed.after,
       .unscheduled_waves = static_cast<std::uint64_t>(unscheduled),
       .cycle = shortest_cycle(adjacency_of(static_cast<std::uint32_t>(waiting_for.size()), stuck).value(),
                               waiting_for.size(), blamed)});
}

} // namespace

Result<BarrierGroups> plan_barriers(std::uint32_t wave_count, std::span<const Dependency> dependencies) {
  TIDEGATE_TRY(Adjacency adjacency, adjacency_of(wave_count, dependencies));
  BarrierGroups layers;
  if (!walk(adjacency, layers)) {
    return tl::unexpected(cycle_error(dependencies, adjacency.waiting_for));
  }
  return layers;
}

} // namespace tidegate::planning
