// Helpers of the planning tests: generated wave DAGs in the shapes of real pipelines.
#pragma once
#include "../random.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning::test {

inline constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

using tidegate::test::Random;
using tidegate::test::seed;

enum class Family : std::uint8_t { layered_random, series_parallel, tree, chains_with_fans, sparse_random };
inline constexpr std::array<std::string_view, 5> family_names{"layered random", "series-parallel", "trees",
                                                              "chains with wide fans", "sparse random"};

// Every wave depends on one to three waves of the previous layer, or sometimes of an earlier one.
inline std::vector<Dependency> layered_random(std::uint32_t waves, Random& random) {
  std::vector<Dependency> dependencies;
  const std::uint64_t widest = random.between(1, std::max<std::uint32_t>(2, waves / 3));
  std::uint32_t previous = 0;
  std::uint32_t begin = 0;
  while (begin < waves) {
    const auto width = static_cast<std::uint32_t>(random.between(1, widest));
    const std::uint32_t end = std::min(waves, begin + width);
    for (std::uint32_t wave = begin; wave < end && begin > 0; ++wave) {
      for (std::uint64_t edges = random.between(1, 3); edges > 0; --edges) {
        const std::uint32_t from = random.chance(85) ? previous : 0;
        dependencies.push_back({from + random.below(begin - from), wave});
      }
    }
    previous = begin;
    begin = end;
  }
  return dependencies;
}

// Starts from one dependency and repeatedly replaces a random one by two in series or in parallel. Parallel
// dependencies finally become parallel waves or remain as duplicates.
inline std::vector<Dependency> series_parallel(std::uint32_t waves, Random& random) {
  std::vector<Dependency> dependencies;
  if (waves < 2) {
    return dependencies;
  }
  dependencies.push_back({0, 1});
  for (std::uint32_t wave = 2; wave < waves; ++wave) {
    const std::uint32_t at = random.below(dependencies.size());
    const Dependency split = dependencies[at];
    if (random.chance(60)) {
      dependencies.push_back(split);
    }
    dependencies[at].after = wave;
    dependencies.push_back({wave, split.after});
  }
  return dependencies;
}

inline std::vector<Dependency> tree(std::uint32_t waves, Random& random) {
  std::vector<Dependency> dependencies;
  const bool inward = random.chance(50);
  const std::uint64_t reach = random.between(1, std::max<std::uint32_t>(2, waves));
  for (std::uint32_t wave = 1; wave < waves; ++wave) {
    const auto parent =
        static_cast<std::uint32_t>(wave - random.between(1, std::min<std::uint64_t>(wave, reach)));
    dependencies.push_back(inward ? Dependency{waves - 1 - wave, waves - 1 - parent}
                                  : Dependency{parent, wave});
  }
  return dependencies;
}

// A few chains; some waves of a chain fan out and join again later or never.
inline std::vector<Dependency> chains_with_fans(std::uint32_t waves, Random& random) {
  std::vector<Dependency> dependencies;
  const std::uint64_t chains = random.between(1, 4);
  const std::uint64_t widest = random.between(2, std::max<std::uint32_t>(3, waves / 3));
  std::uint32_t next = 0;
  for (std::uint64_t chain = 0; chain < chains && next < waves; ++chain) {
    std::uint32_t tip = next++;
    const auto end = static_cast<std::uint32_t>(waves * (chain + 1) / chains);
    while (next < end) {
      if (random.chance(70)) {
        dependencies.push_back({tip, next});
        tip = next++;
        continue;
      }
      const std::uint32_t fan_end =
          std::min(end, next + static_cast<std::uint32_t>(random.between(2, widest)));
      const std::uint32_t fan_begin = next;
      for (; next < fan_end; ++next) {
        dependencies.push_back({tip, next});
      }
      if (next < end && random.chance(70)) {
        for (std::uint32_t wave = fan_begin; wave < fan_end; ++wave) {
          dependencies.push_back({wave, next});
        }
        tip = next++;
      }
    }
  }
  return dependencies;
}

inline std::vector<Dependency> sparse_random(std::uint32_t waves, Random& random) {
  std::vector<Dependency> dependencies;
  if (waves > 1) {
    for (std::uint64_t edges = random.between(0, std::uint64_t{2} * waves); edges > 0; --edges) {
      const std::uint32_t a = random.below(waves);
      const std::uint32_t b = random.below(waves);
      if (a != b) {
        dependencies.push_back({std::min(a, b), std::max(a, b)});
      }
    }
  }
  return dependencies;
}

// Byte counts like those of tensors (few distinct sizes), of files (many orders of magnitude), or uniform.
inline Wave random_wave(std::uint64_t style, Random& random) {
  switch (style) {
  case 0: return {.frontier_bytes = std::uint64_t{1} << random.between(4, 8)};
  case 1:
    return {.frontier_bytes = random.between(0, (std::uint64_t{1} << random.between(1, 20)) - 1),
            .output_bytes = random.between(0, 100)};
  case 2: return {.frontier_bytes = random.between(200, 500)}; // two to five to a group: hard to pack
  default:
    return {.frontier_bytes = random.between(0, 100),
            .scratch_bytes = random.between(0, 20),
            .output_bytes = random.between(0, 60)};
  }
}

inline std::uint64_t plain_fused_bytes(const Wave& wave) {
  return wave.frontier_bytes + 4 * wave.scratch_bytes + wave.output_bytes;
}

// A DAG that can be planned. The budget is between the largest wave and three times it, rarely far above.
inline WaveDag random_dag(Family family, std::uint32_t waves, Random& random) {
  WaveDag dag;
  switch (family) {
  case Family::layered_random: dag.dependencies = layered_random(waves, random); break;
  case Family::series_parallel: dag.dependencies = series_parallel(waves, random); break;
  case Family::tree: dag.dependencies = tree(waves, random); break;
  case Family::chains_with_fans: dag.dependencies = chains_with_fans(waves, random); break;
  case Family::sparse_random: dag.dependencies = sparse_random(waves, random); break;
  }
  const std::uint64_t style = random.between(0, 3);
  std::uint64_t largest = 0;
  for (std::uint32_t wave = 0; wave < waves; ++wave) {
    dag.waves.push_back(random_wave(style, random));
    largest = std::max(largest, plain_fused_bytes(dag.waves.back()));
  }
  dag.resident_graph_bytes = random.chance(50) ? 0 : random.between(0, 100'000);
  dag.readback_bytes = random.chance(50) ? 0 : random.between(0, 1'000'000);
  dag.budget_bytes = dag.resident_graph_bytes;
  switch (random.between(0, 4)) {
  case 0: dag.budget_bytes += largest; break;
  case 1: dag.budget_bytes += largest * 10; break;
  default: dag.budget_bytes += random.between(largest, 3 * largest); break;
  }
  return dag;
}

// Relabels the waves and shuffles the dependencies, so that no planner can rely on the generator's order.
inline WaveDag shuffled(WaveDag dag, Random& random) {
  std::vector<std::uint32_t> label(dag.waves.size());
  for (std::uint32_t i = 0; i < label.size(); ++i) {
    label[i] = i;
    std::swap(label[i], label[random.below(i + 1)]);
  }
  std::vector<Wave> waves(dag.waves.size());
  for (std::size_t i = 0; i < label.size(); ++i) {
    waves[label[i]] = dag.waves[i];
  }
  dag.waves = std::move(waves);
  for (Dependency& dependency : dag.dependencies) {
    dependency = {label[dependency.before], label[dependency.after]};
  }
  for (std::size_t i = 1; i < dag.dependencies.size(); ++i) {
    std::swap(dag.dependencies[i], dag.dependencies[random.below(i + 1)]);
  }
  return dag;
}

// A chain of waves of `bytes` each.
inline WaveDag chain(std::uint32_t waves, std::uint64_t bytes, std::uint64_t budget) {
  WaveDag dag{.waves = std::vector<Wave>(waves, Wave{.frontier_bytes = bytes}), .budget_bytes = budget};
  for (std::uint32_t wave = 1; wave < waves; ++wave) {
    dag.dependencies.push_back({wave - 1, wave});
  }
  return dag;
}

} // namespace tidegate::planning::test
