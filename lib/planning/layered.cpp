// The strategy `layered`, and the figures and errors that all plans share. The golden vectors fix the order
// of groups and of waves.
#include "wave_dag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

PlanError overflow(std::string_view field, std::uint64_t wave = 0) {
  return {.code = PlanErrorCode::byte_count_overflow, .field = field, .wave = wave};
}

// The sums of one group while it is being filled. None of them overflows: each is at most the fused bytes,
// which fit the budget.
struct GroupSums {
  std::uint64_t fused = 0;
  std::uint64_t frontier = 0;
  std::uint64_t scratch = 0;
  std::uint64_t output = 0;
  std::uint32_t width = 0;

  void add(const Wave& wave, std::uint64_t wave_fused_bytes) {
    fused += wave_fused_bytes;
    frontier += wave.frontier_bytes;
    scratch += wave.scratch_bytes;
    output += wave.output_bytes;
    ++width;
  }
};

void record(const GroupSums& sums, MemoryPlan& plan) {
  plan.group_fused_bytes.push_back(sums.fused);
  plan.peak_frontier_bytes = std::max(plan.peak_frontier_bytes, sums.frontier);
  plan.peak_scratch_bytes = std::max(plan.peak_scratch_bytes, sums.scratch);
  plan.peak_output_bytes = std::max(plan.peak_output_bytes, sums.output);
  plan.max_group_width = std::max(plan.max_group_width, sums.width);
}

// The figures of a layer that the lower bound needs.
struct LayerSize {
  std::uint32_t groups = 0;
  std::uint32_t over_half = 0; // waves that need more than half the budget: no two share a group
};

// Splits the layers, next fit. Writes the groups' offsets and figures; the order stays.
PlanResult<std::vector<LayerSize>> split(const WaveDag& dag, const std::vector<std::uint32_t>& layer_begin,
                                         std::uint64_t budget, MemoryPlan& plan) {
  constexpr std::size_t ahead = 16;
  std::vector<LayerSize> layers;
  layers.reserve(layer_begin.size());
  plan.group_begin.reserve(layer_begin.size()); // at least a group for each layer
  plan.group_fused_bytes.reserve(layer_begin.size());
  for (std::size_t layer = 0; layer + 1 < layer_begin.size(); ++layer) {
    LayerSize size;
    GroupSums sums;
    const auto close_before = [&](std::uint32_t position) {
      record(sums, plan);
      plan.group_begin.push_back(position);
      ++size.groups;
      sums = {};
    };
    for (std::uint32_t position = layer_begin[layer]; position < layer_begin[layer + 1]; ++position) {
      if (position + ahead < plan.order.size()) {
        __builtin_prefetch(&dag.waves[plan.order[position + ahead]]);
      }
      const std::uint32_t index = plan.order[position];
      const Wave& wave = dag.waves[index];
      const PlanResult<std::uint64_t> fused = fused_bytes(wave);
      if (!fused) {
        return tl::unexpected(overflow(fused.error().field, index));
      }
      std::uint64_t together = 0;
      if (__builtin_add_overflow(sums.fused, *fused, &together)) {
        return tl::unexpected(overflow("barrier group fused wave budget bytes", index));
      }
      if (*fused > budget) {
        return tl::unexpected(PlanError{.code = PlanErrorCode::group_over_budget,
                                        .field = single_wave_bytes,
                                        .wave = index,
                                        .required_bytes = *fused,
                                        .budget_bytes = budget});
      }
      if (together > budget) {
        close_before(position);
      }
      sums.add(wave, *fused);
      size.over_half += *fused > budget - *fused ? 1 : 0;
    }
    close_before(layer_begin[layer + 1]);
    layers.push_back(size);
  }
  return layers;
}

// The largest sum, over all layers, of the layers before it and the groups that the waves from it on need at
// least. The first layer covers the total bytes, the last one the critical path.
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
    if (bytes > WideBytes{bound - layer} * budget) { // spares the division, which is slow
      bound = layer + groups_for(bytes, budget);
    }
  }
  return bound;
}

// "wave 3 -> wave 5 -> wave 9 -> wave 3". A cycle of a million waves is named by its ends.
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

PlanResult<std::uint64_t> group_budget(const WaveDag& dag) {
  if (dag.budget_bytes < dag.resident_graph_bytes) {
    return tl::unexpected(PlanError{.code = PlanErrorCode::group_over_budget,
                                    .field = "resident graph bytes",
                                    .required_bytes = dag.resident_graph_bytes,
                                    .budget_bytes = dag.budget_bytes});
  }
  return dag.budget_bytes - dag.resident_graph_bytes;
}

PlanResult<std::uint64_t> fused_bytes(const Wave& wave) {
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

PlanResult<MemoryPlan> plan_layered(const WaveDag& dag) {
  PlanResult<WaveGroups> layers =
      plan_barriers(static_cast<std::uint32_t>(dag.waves.size()), dag.dependencies);
  if (!layers) {
    return tl::unexpected(std::move(layers.error()));
  }
  const PlanResult<std::uint64_t> budget = group_budget(dag);
  if (!budget) {
    return tl::unexpected(budget.error());
  }
  MemoryPlan plan;
  plan.order = std::move(layers->order);
  const auto sizes = split(dag, layers->group_begin, *budget, plan);
  if (!sizes) {
    return tl::unexpected(sizes.error());
  }
  plan.amortized_readback_bytes = std::max(dag.readback_bytes, plan.peak_output_bytes);
  plan.lower_bound_groups = cheap_lower_bound(plan, *sizes, *budget);
  plan.optimal = plan.lower_bound_groups == plan.group_count();
  return plan;
}

void fill_figures(const WaveDag& dag, MemoryPlan& plan) {
  plan.group_fused_bytes.clear();
  plan.peak_frontier_bytes = plan.peak_scratch_bytes = plan.peak_output_bytes = 0;
  plan.max_group_width = 0;
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    GroupSums sums;
    for (const std::uint32_t wave : plan.group(group)) {
      sums.add(dag.waves[wave], fused_bytes(dag.waves[wave]).value());
    }
    record(sums, plan);
  }
  plan.amortized_readback_bytes = std::max(dag.readback_bytes, plan.peak_output_bytes);
}

std::string describe(const PlanError& error, const WaveText& wave_text) {
  const WaveText wave =
      wave_text ? wave_text : [](std::uint64_t index) { return fmt::format("wave {}", index); };
  switch (error.code) {
  case PlanErrorCode::invalid_wave:
    return fmt::format("the dependency of {} on {} leaves the {} waves of the DAG", wave(error.after),
                       wave(error.before), error.wave_count);
  case PlanErrorCode::self_dependency: return fmt::format("{} depends on itself", wave(error.wave));
  case PlanErrorCode::cycle:
    return fmt::format("the dependencies form a cycle, {}, and keep {} waves from running; without the "
                       "dependency of {} on {} this cycle is gone",
                       cycle_text(error.cycle, wave), error.unscheduled_waves, wave(error.after),
                       wave(error.before));
  case PlanErrorCode::group_over_budget:
    return error.field == single_wave_bytes
               ? fmt::format("{} alone needs {} bytes and a group may have {}", wave(error.wave),
                             error.required_bytes, error.budget_bytes)
               : fmt::format("the {} are {} and the budget is {} bytes", error.field, error.required_bytes,
                             error.budget_bytes);
  case PlanErrorCode::byte_count_overflow:
    return fmt::format("the {} do not fit 64 bits once {} is counted", error.field, wave(error.wave));
  }
  return {};
}

} // namespace tidegate::planning
