// Combines list schedules, bounds and searches into the strategy `compact`.
#include "planning/compact/problem.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

// Starts from the layers, so that the result is never worse. Items are numbered in layer order.
CompactSearch search_of(const WaveDag& dag, const MemoryPlan& layered) {
  CompactSearch search;
  search.problem = packing_problem(dag, layered.order, group_budget(dag).value());
  search.reverse = mirrored(search.problem);
  search.bounds = lower_bounds(search.problem, search.reverse);
  search.lower = search.bounds.groups;
  search.best.groups = static_cast<std::uint32_t>(layered.group_count());
  for (std::uint32_t group = 0; group < search.best.groups; ++group) {
    search.best.group_of.resize(layered.group_begin[group + 1], group);
  }
  return search;
}

// Schedules forwards and backwards, with the tails of the bounds and with the longest-path tails: better
// tails usually, but not always, make better schedules.
void schedule(CompactSearch& search) {
  for (const bool backwards : {false, true}) {
    const PackingProblem& problem = backwards ? search.reverse : search.problem;
    std::vector<std::uint32_t> plain = longest_path_heads(backwards ? search.problem : search.reverse);
    std::ranges::reverse(plain);
    for (const auto& tail : {backwards ? mirrored(search.bounds).tail : search.bounds.tail, plain}) {
      for (const First first : {First::longest_tail, First::largest}) {
        Packing packing = list_schedule(problem, preference(problem, tail, first));
        if (packing.groups < search.best.groups) {
          search.best = backwards ? mirrored(packing) : std::move(packing);
        }
        if (!search.is_open()) {
          return;
        }
      }
    }
  }
}

// Starts with a short local search, because most problems are solved by then; what a step does not use is
// left to the next.
void improve(CompactSearch& search, std::uint64_t effort) {
  const auto give = [&](std::uint64_t share, auto step) {
    effort -= share;
    step(search, share);
    effort += share;
  };
  constexpr std::uint64_t short_look = 100'000;
  give(std::min(effort / 16, short_look), improve_order);
  give(effort / 2, exhaust);
  give(effort, improve_order);
}

// Keeps the waves of a group in layer order.
MemoryPlan plan_of(const WaveDag& dag, const CompactSearch& search,
                   const std::vector<std::uint32_t>& layer_order) {
  MemoryPlan plan;
  plan.group_begin.assign(std::size_t{search.best.groups} + 2, 0);
  for (const std::uint32_t group : search.best.group_of) {
    ++plan.group_begin[group + 2];
  }
  std::partial_sum(plan.group_begin.begin(), plan.group_begin.end(), plan.group_begin.begin());
  plan.order.resize(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    plan.order[plan.group_begin[search.best.group_of[item] + 1]++] = layer_order[item];
  }
  plan.group_begin.pop_back();
  fill_figures(dag, plan);
  plan.lower_bound_groups = search.lower;
  plan.optimal = !search.is_open();
  return plan;
}

} // namespace

Result<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options) {
  const bool only_groups = options.objective == CompactOptions::Objective::groups;
  Result<MemoryPlan> layered = plan_layered(dag);
  if (!layered || layered->order.empty() || (layered->optimal && only_groups)) {
    return layered;
  }
  CompactSearch search = search_of(dag, *layered);
  schedule(search);
  improve(search, options.effort);
  if (!only_groups) {
    lower_peak(search, options.effort / 3);
  }
  return plan_of(dag, search, layered->order);
}

} // namespace tidegate::planning
