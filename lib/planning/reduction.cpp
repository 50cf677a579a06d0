#include <tidegate/planning/group_pricing.hpp>
#include <tidegate/planning/reduction.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t left_out = std::numeric_limits<std::uint32_t>::max();

void sort_and_unite(std::vector<std::uint32_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

ItemLists transposed(const std::vector<std::vector<std::uint32_t>>& lists) {
  std::vector<std::vector<std::uint32_t>> others(lists.size());
  for (std::uint32_t item = 0; item < lists.size(); ++item) {
    for (const std::uint32_t other : lists[item]) {
      others[other].push_back(item);
    }
  }
  return flat(others);
}

} // namespace

Reduction without_loners(const PackingProblem& problem) {
  const BitMatrix meets = may_meet(problem);
  Reduction reduction{.problem = {.capacity = problem.capacity}};
  std::vector<std::uint32_t> place(problem.count(), left_out);
  // What remains of the items right above each item, seen through those that are left out.
  std::vector<std::vector<std::uint32_t>> above(problem.count());
  std::vector<std::vector<std::uint32_t>> predecessors;
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    for (const std::uint32_t other : problem.predecessors[item]) {
      if (place[other] != left_out) {
        above[item].push_back(place[other]);
      } else {
        above[item].insert(above[item].end(), above[other].begin(), above[other].end());
      }
    }
    sort_and_unite(above[item]);
    const std::span<const std::uint64_t> partners = meets.row(item);
    if (std::all_of(partners.begin(), partners.end(), [](std::uint64_t bits) { return bits == 0; })) {
      ++reduction.alone;
      continue;
    }
    place[item] = static_cast<std::uint32_t>(reduction.kept.size());
    reduction.kept.push_back(item);
    reduction.problem.size.push_back(problem.size[item]);
    reduction.problem.wave.push_back(problem.wave[item]);
    predecessors.push_back(above[item]);
  }
  reduction.problem.predecessors = flat(predecessors);
  reduction.problem.successors = transposed(predecessors);
  return reduction;
}

Packing reduced(const Reduction& reduction, const Packing& packing) {
  Packing result{.groups = packing.groups};
  for (const std::uint32_t item : reduction.kept) {
    result.group_of.push_back(packing.group_of[item]);
  }
  return without_empty_groups(std::move(result));
}

// An order of the groups and the lone items, each as soon as what it waits for is done.
Packing restored(const Reduction& reduction, const PackingProblem& original, const Packing& packing) {
  std::vector<std::uint32_t> node_of(original.count(), left_out);
  for (std::uint32_t i = 0; i < reduction.kept.size(); ++i) {
    node_of[reduction.kept[i]] = packing.group_of[i];
  }
  std::uint32_t nodes = packing.groups;
  for (std::uint32_t& node : node_of) {
    node = node == left_out ? nodes++ : node;
  }
  const ItemLists members = items_by_group({.group_of = node_of, .groups = nodes});
  std::vector<std::uint32_t> waiting_for(nodes);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t item = 0; item < original.count(); ++item) {
    waiting_for[node_of[item]] += static_cast<std::uint32_t>(original.predecessors[item].size());
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (waiting_for[node] == 0) {
      ready.push_back(node);
    }
  }
  Packing result{.group_of = std::vector<std::uint32_t>(original.count())};
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const std::uint32_t item : members[ready[next]]) {
      result.group_of[item] = result.groups;
      for (const std::uint32_t successor : original.successors[item]) {
        if (--waiting_for[node_of[successor]] == 0) {
          ready.push_back(node_of[successor]);
        }
      }
    }
    ++result.groups;
  }
  return result;
}

} // namespace tidegate::planning
