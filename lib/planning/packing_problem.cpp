#include <tidegate/planning/packing_problem.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>

namespace tidegate::planning {
namespace {

// Lists with each entry of `lists` the other way round. In rising order, since it walks the items in order.
ItemLists transposed(const ItemLists& lists) {
  const std::size_t count = lists.begin.size() - 1;
  ItemLists result{.begin = std::vector<std::uint32_t>(count + 2),
                   .items = std::vector<std::uint32_t>(lists.items.size())};
  for (const std::uint32_t item : lists.items) {
    ++result.begin[std::size_t{item} + 2];
  }
  for (std::size_t i = 2; i < result.begin.size(); ++i) {
    result.begin[i] += result.begin[i - 1];
  }
  for (std::uint32_t item = 0; item < count; ++item) {
    for (const std::uint32_t other : lists[item]) {
      result.items[result.begin[std::size_t{other} + 1]++] = item;
    }
  }
  result.begin.pop_back();
  return result;
}

// Drops repetitions from lists whose entries are in rising order.
void drop_repetitions(ItemLists& lists) {
  std::uint32_t kept = 0;
  for (std::size_t item = 0; item + 1 < lists.begin.size(); ++item) {
    const std::uint32_t begin = lists.begin[item];
    const std::uint32_t end = lists.begin[item + 1];
    lists.begin[item] = kept;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (i == begin || lists.items[i] != lists.items[i - 1]) {
        lists.items[kept++] = lists.items[i];
      }
    }
  }
  lists.begin.back() = kept;
  lists.items.resize(kept);
}

ItemLists mirrored(const ItemLists& lists) {
  const auto count = static_cast<std::uint32_t>(lists.begin.size() - 1);
  ItemLists result;
  result.begin.reserve(lists.begin.size());
  result.items.reserve(lists.items.size());
  for (std::uint32_t item = count; item-- > 0;) {
    const std::span<const std::uint32_t> others = lists[item];
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      result.items.push_back(count - 1 - *other);
    }
    result.begin.push_back(static_cast<std::uint32_t>(result.items.size()));
  }
  return result;
}

} // namespace

PackingProblem packing_problem(const WaveDag& dag, std::span<const std::uint32_t> layer_order,
                               std::uint64_t capacity) {
  PackingProblem problem{.capacity = capacity, .wave = {layer_order.begin(), layer_order.end()}};
  std::vector<std::uint32_t> item_of(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    item_of[layer_order[item]] = item;
    problem.size.push_back(fused_bytes(dag.waves[layer_order[item]]).value());
  }
  // By predecessor in any order first; transposing sorts, twice sorts both.
  ItemLists given{.begin = std::vector<std::uint32_t>(layer_order.size() + 2),
                  .items = std::vector<std::uint32_t>(dag.dependencies.size())};
  for (const Dependency& dependency : dag.dependencies) {
    ++given.begin[std::size_t{item_of[dependency.before]} + 2];
  }
  for (std::size_t i = 2; i < given.begin.size(); ++i) {
    given.begin[i] += given.begin[i - 1];
  }
  for (const Dependency& dependency : dag.dependencies) {
    given.items[given.begin[std::size_t{item_of[dependency.before]} + 1]++] = item_of[dependency.after];
  }
  given.begin.pop_back();
  problem.predecessors = transposed(given);
  given = {};
  drop_repetitions(problem.predecessors);
  problem.successors = transposed(problem.predecessors);
  return problem;
}

PackingProblem mirrored(const PackingProblem& problem) {
  return {.capacity = problem.capacity,
          .size = {problem.size.rbegin(), problem.size.rend()},
          .wave = {problem.wave.rbegin(), problem.wave.rend()},
          .successors = mirrored(problem.predecessors),
          .predecessors = mirrored(problem.successors)};
}

Packing mirrored(const Packing& packing) {
  Packing result{.group_of = {packing.group_of.rbegin(), packing.group_of.rend()}, .groups = packing.groups};
  for (std::uint32_t& group : result.group_of) {
    group = packing.groups - 1 - group;
  }
  return result;
}

Packing without_empty_groups(Packing packing) {
  std::vector<std::uint32_t> number(packing.groups);
  for (const std::uint32_t group : packing.group_of) {
    number[group] = 1;
  }
  std::uint32_t groups = 0;
  for (std::uint32_t& entry : number) {
    const bool used = entry != 0;
    entry = groups;
    groups += used ? 1 : 0;
  }
  for (std::uint32_t& group : packing.group_of) {
    group = number[group];
  }
  packing.groups = groups;
  return packing;
}

std::uint64_t peak_bytes(const PackingProblem& problem, const Packing& packing) {
  std::vector<std::uint64_t> bytes(packing.groups);
  std::uint64_t peak = 0;
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    std::uint64_t& sum = bytes[packing.group_of[item]];
    sum += problem.size[item];
    peak = std::max(peak, sum);
  }
  return peak;
}

ItemLists items_by_group(const Packing& packing) {
  ItemLists result{.begin = std::vector<std::uint32_t>(std::size_t{packing.groups} + 2),
                   .items = std::vector<std::uint32_t>(packing.group_of.size())};
  for (const std::uint32_t group : packing.group_of) {
    ++result.begin[std::size_t{group} + 2];
  }
  for (std::size_t i = 2; i < result.begin.size(); ++i) {
    result.begin[i] += result.begin[i - 1];
  }
  for (std::uint32_t item = 0; item < packing.group_of.size(); ++item) {
    result.items[result.begin[std::size_t{packing.group_of[item]} + 1]++] = item;
  }
  result.begin.pop_back();
  return result;
}

BitMatrix ancestors(const PackingProblem& problem) {
  BitMatrix result(problem.count());
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    const std::span<std::uint64_t> row = result.row(item);
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      set_bit(row, predecessor);
      unite(row, result.row(predecessor));
    }
  }
  return result;
}

} // namespace tidegate::planning
