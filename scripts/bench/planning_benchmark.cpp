// Measures planning: `layered`, and its layering alone, per wave and dependency at growing sizes and orders
// of the dependencies, and `compact` as a whole.
#include <tidegate/planning/wave_dag.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace tidegate::planning;

enum Order : std::int64_t { shuffled, by_before, by_after, local };

// Four dependencies for each wave, anywhere ("local": at most a thousand waves ahead), always from a smaller
// to a larger index. A group holds about sixteen waves.
WaveDag random_dag(std::int64_t waves, std::int64_t order) {
  std::mt19937_64 random(1);
  const auto below = [&random](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  WaveDag dag;
  dag.waves.resize(static_cast<std::size_t>(waves));
  for (Wave& wave : dag.waves) {
    wave = {.frontier_bytes = below(1000), .scratch_bytes = below(100), .output_bytes = below(500)};
  }
  dag.budget_bytes = 16'000;
  dag.dependencies.resize(dag.waves.size() * 4);
  for (Dependency& dependency : dag.dependencies) {
    const std::uint32_t before = below(dag.waves.size() - 1);
    const std::uint64_t ahead = dag.waves.size() - 1 - before;
    dependency = {before, before + 1 + below(order == local ? std::min<std::uint64_t>(ahead, 1000) : ahead)};
  }
  const auto by = [&](auto key) {
    std::stable_sort(dag.dependencies.begin(), dag.dependencies.end(),
                     [&](const Dependency& a, const Dependency& b) { return key(a) < key(b); });
  };
  if (order == by_before) {
    by([](const Dependency& dependency) { return dependency.before; });
  } else if (order == by_after) {
    by([](const Dependency& dependency) { return dependency.after; });
  }
  return dag;
}

void report(benchmark::State& state, const WaveDag& dag) {
  state.counters["per_wave_and_dependency"] =
      benchmark::Counter(static_cast<double>(dag.waves.size() + dag.dependencies.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// The layering as a textbook has it, a vector for the successors of each wave and one for each layer: what
// the machine at hand needs for it is what `layering` is to be compared with.
std::vector<std::vector<std::uint32_t>> textbook_layers(const WaveDag& dag) {
  std::vector<std::vector<std::uint32_t>> successors(dag.waves.size());
  std::vector<std::uint32_t> waiting_for(dag.waves.size());
  for (const Dependency& dependency : dag.dependencies) {
    successors[dependency.before].push_back(dependency.after);
    ++waiting_for[dependency.after];
  }
  std::vector<std::uint32_t> layer;
  for (std::uint32_t wave = 0; wave < waiting_for.size(); ++wave) {
    if (waiting_for[wave] == 0) {
      layer.push_back(wave);
    }
  }
  std::vector<std::vector<std::uint32_t>> layers;
  while (!layer.empty()) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t wave : layer) {
      for (const std::uint32_t successor : successors[wave]) {
        if (--waiting_for[successor] == 0) {
          next.push_back(successor);
        }
      }
    }
    layers.push_back(std::move(layer));
    layer = std::move(next);
  }
  return layers;
}

template <class Plan>
void per_wave_and_dependency(benchmark::State& state, Plan plan) {
  const WaveDag dag = random_dag(state.range(0), state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan(dag));
  }
  report(state, dag);
}

void every_size_and_order(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"waves", "order"})
      ->ArgsProduct({{10'000, 100'000, 1'000'000}, {shuffled, by_before, by_after, local}})
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(per_wave_and_dependency, textbook_layering, textbook_layers)->Apply(every_size_and_order);
BENCHMARK_CAPTURE(per_wave_and_dependency, layering, [](const WaveDag& dag) {
  return plan_barriers(static_cast<std::uint32_t>(dag.waves.size()), dag.dependencies);
})->Apply(every_size_and_order);
BENCHMARK_CAPTURE(per_wave_and_dependency, layered, plan_layered)->Apply(every_size_and_order);

void layered_chain(benchmark::State& state) {
  WaveDag dag{.waves = std::vector<Wave>(static_cast<std::size_t>(state.range(0))), .budget_bytes = 1};
  for (std::uint32_t wave = 1; wave < dag.waves.size(); ++wave) {
    dag.dependencies.push_back({wave - 1, wave});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_layered(dag));
  }
  report(state, dag);
}
BENCHMARK(layered_chain)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void compact(benchmark::State& state) {
  const WaveDag dag = random_dag(state.range(0), local);
  const CompactOptions options{.objective = state.range(1) != 0 ? CompactOptions::Objective::peak
                                                                : CompactOptions::Objective::groups};
  double groups = 0;
  double bound = 0;
  for (auto _ : state) {
    const auto plan = plan_compact(dag, options);
    groups = static_cast<double>(plan->group_count());
    bound = static_cast<double>(plan->lower_bound_groups);
  }
  state.counters["groups"] = groups;
  state.counters["bound"] = bound;
}
BENCHMARK(compact)
    ->ArgNames({"waves", "peak"})
    ->ArgsProduct({{100, 1'000, 10'000, 100'000, 1'000'000}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
