// Combines list schedules, bounds and searches into the strategy `compact`.
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace tidegate::planning {
namespace {

// The problem and the best answer so far.
struct CompactSearch : TwoEnds {
  Packing best;
  std::uint64_t lower = 0; // no packing has fewer groups

  bool is_open() const { return best.groups > lower; }
  void consider(Packing&& packing) {
    if (packing.groups < best.groups) {
      best = std::move(packing);
    }
  }
};

// Starts from the layers, so that the result is never worse. Items are numbered in layer order.
Packing packing_of(const MemoryPlan& layered) {
  Packing packing{.group_of = std::vector<std::uint32_t>(layered.order.size()),
                  .groups = static_cast<std::uint32_t>(layered.group_count())};
  for (std::uint32_t group = 0; group < packing.groups; ++group) {
    std::fill(packing.group_of.begin() + layered.group_begin[group],
              packing.group_of.begin() + layered.group_begin[group + 1], group);
  }
  return packing;
}

CompactSearch search_of(PackingProblem problem, Packing packing, std::uint64_t lower) {
  CompactSearch search{{.problem = std::move(problem)}, std::move(packing)};
  search.reverse = mirrored(search.problem);
  search.bounds = lower_bounds(search.problem, search.reverse);
  search.reverse_bounds = mirrored(search.bounds);
  search.lower = std::max(lower, search.bounds.groups.groups);
  return search;
}

// Schedules forwards and backwards, with the tails of the bounds and with the longest-path tails: better
// tails usually, but not always, make better schedules.
void schedule(CompactSearch& search) {
  for (const bool backwards : {false, true}) {
    const PackingProblem& problem = backwards ? search.reverse : search.problem;
    const auto consider = [&](Packing&& packing) {
      search.consider(backwards ? mirrored(packing) : std::move(packing));
    };
    const std::vector<std::uint32_t>& bounded =
        backwards ? search.reverse_bounds.groups.tail : search.bounds.groups.tail;
    std::vector<std::uint32_t> plain = longest_path_heads(backwards ? search.problem : search.reverse);
    std::reverse(plain.begin(), plain.end());
    for (const auto* tail : {&bounded, &std::as_const(plain)}) {
      if (search.is_open()) {
        const std::vector<std::uint32_t> by_tail = by_tail_then_size(problem, *tail);
        consider(schedule_by_group(problem, by_tail));
        consider(schedule_by_item(problem, by_tail));
      }
      if (search.is_open()) {
        consider(schedule_by_group(problem, by_size_then_tail(problem, *tail)));
      }
      if (bounded == plain) {
        break;
      }
    }
  }
}

void search_schedules(CompactSearch& search, std::uint64_t& effort) {
  if (search.is_open() && effort > 0 && search.problem.count() <= most_items_with_load_schedules) {
    search.best = best_load_schedule(search, std::move(search.best), search.lower, effort);
  }
}

void save_groups(CompactSearch& search, std::uint64_t& effort) {
  search.best = with_groups_saved(search.problem, std::move(search.best), search.lower, effort);
}

// Runs passes that try more and more loads per node, from alternating ends of time. The first passes are
// quick and improve on the greedy schedules; a pass that tried everything is a proof.
void branch(CompactSearch& search, std::uint64_t& effort) {
  constexpr std::uint64_t first_loads = 4;
  constexpr std::uint64_t more_loads = 8;
  constexpr std::uint64_t most_loads = std::uint64_t{1} << 40U; // all loads
  constexpr std::uint64_t least_pass = 100'000;
  if (!search.is_open() || effort == 0 || search.problem.count() > most_items_with_closure) {
    return;
  }
  SearchLimits limits{.loads_per_node = first_loads};
  for (bool back = false; search.is_open() && effort > 0; back = !back) {
    limits.effort = std::min(effort, std::max(effort / 4, least_pass));
    SearchResult result =
        branch_and_bound(back ? search.reverse : search.problem, back ? search.reverse_bounds : search.bounds,
                         search.best.groups, limits);
    spend(effort, std::max<std::uint64_t>(result.effort, 1));
    if (result.packing.groups > 0) {
      search.consider(back ? mirrored(result.packing) : std::move(result.packing));
    }
    if (result.exhausted) {
      search.lower = search.best.groups;
    }
    limits.loads_per_node = std::min(limits.loads_per_node * (back ? more_loads : 1), most_loads);
  }
}

// Keeps the waves of a group in layer order.
MemoryPlan plan_of(const WaveDag& dag, const CompactSearch& search,
                   const std::vector<std::uint32_t>& layer_order) {
  ItemLists groups = items_by_group(search.best);
  MemoryPlan plan;
  plan.group_begin = std::move(groups.begin);
  plan.order = std::move(groups.items);
  for (std::uint32_t& item : plan.order) {
    item = layer_order[item];
  }
  fill_figures(dag, plan);
  plan.lower_bound_groups = search.lower;
  plan.optimal = !search.is_open();
  return plan;
}

// Starts with a short search for a proof, because small problems are decided quickly. The shares are those
// that proved most of the generated DAGs; what a step does not use is left to the next.
void improve(CompactSearch& search, std::uint64_t effort) {
  constexpr std::uint64_t short_look = 1'000'000;
  std::uint64_t left = effort;
  const auto give = [&](std::uint64_t share, auto step) {
    left -= share;
    step(search, share);
    left += share;
  };
  give(std::min(left / 16, short_look), branch);
  give(left / 5 * 3, search_schedules);
  give(left / 2, save_groups);
  give(left, branch);
}

// Improves some of the items separately; no packing of them has fewer than `lower` groups. Appends their
// groups to `packing` and returns the bound.
std::uint64_t improve_some(const CompactSearch& search, std::vector<std::uint32_t> items, std::uint64_t lower,
                           std::uint64_t effort, Packing& packing) {
  const SubProblem sub = sub_problem(search.problem, std::move(items));
  CompactSearch rest = search_of(sub.problem, restricted(search.best, sub), lower);
  schedule(rest);
  improve(rest, effort);
  for (std::size_t i = 0; i < sub.items.size(); ++i) {
    packing.group_of[sub.items[i]] = packing.groups + rest.best.group_of[i];
  }
  packing.groups += rest.best.groups;
  return rest.lower;
}

// Improves part by part; if the result is not optimal, all parts of more than one item together. An item that
// is a part on its own takes a group in every packing.
void improve_by_parts(CompactSearch& search, std::uint64_t effort) {
  const ItemLists part = parts(search.problem);
  const std::size_t count = part.begin.size() - 1;
  if (count == 1) {
    improve(search, effort);
    return;
  }
  Packing packing{.group_of = std::vector<std::uint32_t>(search.problem.count())};
  std::vector<std::span<const std::uint32_t>> larger;
  std::vector<std::uint32_t> in_larger;
  for (std::size_t i = 0; i < count; ++i) {
    if (part[i].size() == 1) {
      packing.group_of[part[i].front()] = packing.groups++;
    } else {
      larger.push_back(part[i]);
      in_larger.insert(in_larger.end(), part[i].begin(), part[i].end());
    }
  }
  const std::uint32_t alone = packing.groups;
  const std::uint64_t for_parts = larger.size() > 1 ? effort / 2 : effort;
  std::uint64_t lower = alone;
  for (const std::span<const std::uint32_t> items : larger) {
    const std::uint64_t share = for_parts / in_larger.size() * items.size();
    lower += improve_some(search, {items.begin(), items.end()}, 0, share, packing);
  }
  search.lower = std::max(search.lower, lower);
  std::optional<Packing> ordered = in_order(search.problem, packing);
  if (ordered) {
    search.best = std::move(*ordered); // has no more groups: no group ever mixed two parts
  }
  if (larger.size() > 1 && (search.is_open() || !ordered)) {
    packing.groups = alone;
    std::sort(in_larger.begin(), in_larger.end());
    lower = alone + improve_some(search, std::move(in_larger), search.lower - alone, effort / 2, packing);
    search.lower = std::max(search.lower, lower);
    // An order exists: dependencies through items outside the sub-problem are dependencies within it.
    search.best = in_order(search.problem, packing).value();
  }
}

} // namespace

Result<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options) {
  const bool only_groups = options.objective == CompactOptions::Objective::groups;
  Result<MemoryPlan> layered = plan_layered(dag);
  if (!layered || layered->order.empty() || (layered->optimal && only_groups)) {
    return layered;
  }
  CompactSearch search =
      search_of(packing_problem(dag, layered->order, group_budget(dag).value()), packing_of(*layered), 0);
  schedule(search);
  if (search.is_open() && options.effort > 0 && search.problem.count() <= most_items_with_closure) {
    improve_by_parts(search, options.effort);
  } else {
    improve(search, options.effort);
  }
  if (!only_groups) {
    search.best =
        lower_peak(search.problem, search.bounds.groups.tail, std::move(search.best), options.effort / 3);
  }
  return plan_of(dag, search, layered->order);
}

} // namespace tidegate::planning
