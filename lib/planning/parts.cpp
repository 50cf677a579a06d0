#include <tidegate/planning/parts.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

ItemLists flat(const std::vector<std::vector<std::uint32_t>>& lists) {
  ItemLists result;
  for (const std::vector<std::uint32_t>& list : lists) {
    result.items.insert(result.items.end(), list.begin(), list.end());
    result.begin.push_back(static_cast<std::uint32_t>(result.items.size()));
  }
  return result;
}

} // namespace

BitMatrix may_meet(const PackingProblem& problem) {
  BitMatrix result(problem.count());
  const BitMatrix above = ancestors(problem);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    for (std::uint32_t other = 0; other < item; ++other) {
      if (!has_bit(above.row(item), other) && problem.size[other] <= problem.capacity - problem.size[item]) {
        set_bit(result.row(item), other);
        set_bit(result.row(other), item);
      }
    }
  }
  return result;
}

ItemLists parts(const PackingProblem& problem) {
  const BitMatrix meets = may_meet(problem);
  Packing part{.group_of = std::vector<std::uint32_t>(problem.count(), no_group)};
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < problem.count(); ++first) {
    if (part.group_of[first] != no_group) {
      continue;
    }
    const auto visit = [&](std::uint32_t item) {
      if (part.group_of[item] == no_group) {
        part.group_of[item] = part.groups;
        open.push_back(item);
      }
    };
    for (visit(first); !open.empty();) {
      const std::uint32_t item = open.back();
      open.pop_back();
      for_each_bit(meets.row(item), visit);
    }
    ++part.groups;
  }
  return items_by_group(part);
}

SubProblem sub_problem(const PackingProblem& problem, std::vector<std::uint32_t> items) {
  SubProblem sub{.problem = {.capacity = problem.capacity}, .items = std::move(items)};
  std::vector<std::uint32_t> place(problem.count(), no_group);
  for (std::uint32_t i = 0; i < sub.items.size(); ++i) {
    place[sub.items[i]] = i;
    sub.problem.size.push_back(problem.size[sub.items[i]]);
    sub.problem.wave.push_back(problem.wave[sub.items[i]]);
  }
  // The nearest items of the sub-problem above each item. Items are in an order that keeps dependencies, so
  // that nothing before the first or behind the last item of the sub-problem lies between two of them.
  std::vector<std::vector<std::uint32_t>> above(problem.count());
  std::vector<std::vector<std::uint32_t>> predecessors;
  std::vector<std::vector<std::uint32_t>> successors(sub.items.size());
  const std::uint32_t end = sub.items.empty() ? 0 : sub.items.back() + 1;
  for (std::uint32_t item = sub.items.empty() ? 0 : sub.items.front(); item < end; ++item) {
    std::vector<std::uint32_t>& nearest = above[item];
    for (const std::uint32_t other : problem.predecessors[item]) {
      if (place[other] != no_group) {
        nearest.push_back(place[other]);
      } else {
        nearest.insert(nearest.end(), above[other].begin(), above[other].end());
      }
    }
    std::sort(nearest.begin(), nearest.end());
    nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
    if (place[item] != no_group) {
      for (const std::uint32_t other : nearest) {
        successors[other].push_back(place[item]);
      }
      predecessors.push_back(nearest);
    }
  }
  sub.problem.predecessors = flat(predecessors);
  sub.problem.successors = flat(successors);
  return sub;
}

Packing restricted(const Packing& packing, const SubProblem& sub) {
  Packing result{.groups = packing.groups};
  for (const std::uint32_t item : sub.items) {
    result.group_of.push_back(packing.group_of[item]);
  }
  return without_empty_groups(std::move(result));
}

std::optional<Packing> in_order(const PackingProblem& problem, const Packing& groups) {
  const ItemLists members = items_by_group(groups);
  std::vector<std::uint32_t> waiting_for(groups.groups); // dependencies, not groups
  std::vector<std::uint32_t> ready;
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    waiting_for[groups.group_of[item]] += static_cast<std::uint32_t>(problem.predecessors[item].size());
  }
  for (std::uint32_t group = 0; group < groups.groups; ++group) {
    if (waiting_for[group] == 0) {
      ready.push_back(group);
    }
  }
  Packing result{.group_of = std::vector<std::uint32_t>(problem.count())};
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const std::uint32_t item : members[ready[next]]) {
      result.group_of[item] = result.groups;
      for (const std::uint32_t successor : problem.successors[item]) {
        if (--waiting_for[groups.group_of[successor]] == 0) {
          ready.push_back(groups.group_of[successor]);
        }
      }
    }
    ++result.groups;
  }
  if (result.groups < groups.groups) {
    return {};
  }
  return result;
}

} // namespace tidegate::planning
