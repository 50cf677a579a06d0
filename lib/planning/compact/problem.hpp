// The packing problem that `compact` solves, its parts and its lower bounds, and the budget of steps that the
// searches share.
#pragma once
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

inline void spend(std::uint64_t& effort, std::uint64_t steps) {
  effort -= std::min(effort, steps);
}

// Pack items into as few groups of one capacity as possible, every predecessor in a strictly earlier group:
// bin packing with precedence constraints, BPP-P (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012).
//
// Items are the waves in layer order, so predecessors have smaller indices and a loop over the items needs no
// recursion. The problem is symmetric in time: the solutions of the mirrored problem, read backwards, are the
// solutions. Every forward algorithm is used backwards by mirroring the problem.

// A flat list of items for each item.
struct ItemLists {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> items;

  std::span<const std::uint32_t> operator[](std::size_t item) const {
    return std::span(items).subspan(begin[item], begin[item + 1] - begin[item]);
  }
};

struct PackingProblem {
  std::uint64_t capacity = 0;      // bytes per group
  std::vector<std::uint64_t> size; // bytes per item, at most the capacity
  std::vector<std::uint32_t> wave; // wave of each item
  ItemLists successors;            // without repetitions, ascending
  ItemLists predecessors;

  std::uint32_t count() const { return static_cast<std::uint32_t>(size.size()); }
};

// Makes the problem of a DAG with the layers `layer_order`, whose waves all fit `capacity`.
PackingProblem packing_problem(const WaveDag& dag, std::span<const std::uint32_t> layer_order,
                               std::uint64_t capacity);

// Reverses time: item i becomes item count - 1 - i.
PackingProblem mirrored(const PackingProblem& problem);

// A solution: the group of each item.
struct Packing {
  std::vector<std::uint32_t> group_of;
  std::uint32_t groups = 0;
};

Packing mirrored(const Packing& packing);

// Renumbers the groups without the empty ones.
Packing without_empty_groups(Packing packing);

// Returns the bytes of the fullest group.
std::uint64_t peak_bytes(const PackingProblem& problem, const Packing& packing);

// Returns the items of each group in ascending order.
ItemLists items_by_group(const Packing& packing);

// One bit for each pair of items.
struct BitMatrix {
  std::size_t words = 0; // of a row
  std::vector<std::uint64_t> bits;

  BitMatrix() = default;
  explicit BitMatrix(std::size_t count) : words((count + 63) / 64), bits(words * count) {}
  std::span<std::uint64_t> row(std::size_t item) { return std::span(bits).subspan(item * words, words); }
  std::span<const std::uint64_t> row(std::size_t item) const {
    return std::span(bits).subspan(item * words, words);
  }
};

inline void set_bit(std::span<std::uint64_t> row, std::uint32_t item) {
  row[item / 64] |= std::uint64_t{1} << (item % 64);
}
inline void unite(std::span<std::uint64_t> row, std::span<const std::uint64_t> other) {
  for (std::size_t word = 0; word < row.size(); ++word) {
    row[word] |= other[word];
  }
}
inline bool has_bit(std::span<const std::uint64_t> row, std::uint32_t item) {
  return (row[item / 64] >> (item % 64) & 1) != 0;
}

template <class Function>
void for_each_bit(std::span<const std::uint64_t> row, Function function) {
  for (std::size_t word = 0; word < row.size(); ++word) {
    for (std::uint64_t bits = row[word]; bits != 0; bits &= bits - 1) {
      function(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

// Row i holds the ancestors of item i.
BitMatrix ancestors(const PackingProblem& problem);

// Splits a packing problem into parts that no group mixes.
//
// Two items can meet in a group if both fit and neither depends on the other; a part holds the items that can
// meet, directly or through others. Waves before and after a point that all of them wait for are in different
// parts, and under a tight budget a wave that can meet no other is a part on its own. Packing each part
// optimally yields the fewest groups overall, unless no order of the groups keeps the dependencies between
// the parts.

// Row i holds the items that can meet item i.
BitMatrix may_meet(const PackingProblem& problem);

// Returns the items of each part in ascending order. Visits every pair of items: only for up to
// most_items_with_closure.
ItemLists parts(const PackingProblem& problem);

// A subset of the items. A dependency through omitted items becomes a direct one.
struct SubProblem {
  PackingProblem problem;
  std::vector<std::uint32_t> items; // original of each item, ascending
};

SubProblem sub_problem(const PackingProblem& problem, std::vector<std::uint32_t> items);

// Restricts a packing to the sub-problem, without the groups that become empty.
Packing restricted(const Packing& packing, const SubProblem& sub);

// Visits the groups so that each comes after all that its items depend on; omits those on a cycle. `choose`
// returns the index of the next group among the ready ones.
template <class Choose, class Visit>
void visit_in_order(const PackingProblem& problem, const Packing& groups, Choose choose, Visit visit) {
  const ItemLists members = items_by_group(groups);
  std::vector<std::uint32_t> waiting_for(groups.groups); // counts dependencies, not groups
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    waiting_for[groups.group_of[item]] += static_cast<std::uint32_t>(problem.predecessors[item].size());
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t group = 0; group < groups.groups; ++group) {
    if (waiting_for[group] == 0) {
      ready.push_back(group);
    }
  }
  while (!ready.empty()) {
    const std::size_t chosen = choose(ready);
    const std::uint32_t group = ready[chosen];
    ready[chosen] = ready.back();
    ready.pop_back();
    for (const std::uint32_t item : members[group]) {
      for (const std::uint32_t successor : problem.successors[item]) {
        if (--waiting_for[groups.group_of[successor]] == 0) {
          ready.push_back(groups.group_of[successor]);
        }
      }
    }
    visit(group);
  }
}

// Orders groups so that the dependencies hold; nothing if that is impossible.
std::optional<Packing> in_order(const PackingProblem& problem, const Packing& groups);

// Weights of items that bound the number of groups from below.
//
// A *measure* weighs items so that no feasible group weighs more than the measure's capacity; so the number
// of groups is at least the total weight over the capacity. One measure is the bytes, the other counts waves
// over half the budget (Lueker, FOCS 1983). More measures of its family (dual feasible functions), cliques of
// waves that cannot meet, and windows between both ends of time proved a few more plans of generated DAGs and
// improved none (scripts/bench/RESULTS.md).

struct Measure {
  std::vector<std::uint64_t> weight; // by item; the sum is below 2^64
  std::uint64_t capacity = 1;        // no feasible group weighs more
};

std::array<Measure, 2> measures(const PackingProblem& problem);

// Lower bounds on the number of groups before and after each item, and on all groups.
//
// Items with head >= h must all fit after the first h groups, so under every measure h + ceil(weight /
// capacity) groups are needed; the same holds for tails. The head of an item is itself such a bound over its
// ancestors (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl and Becker,
// EJOR 168(3), 2006).

// Upper bound on items with a bit matrix of ancestors: n^2 / 8 bytes, and about n^2 steps per measure.
inline constexpr std::uint32_t most_items_with_closure = 3000;

struct GroupBounds {
  std::vector<std::uint32_t> head; // lower bound on groups strictly before the item's
  std::vector<std::uint32_t> tail; // lower bound on groups strictly after the item's
  std::uint64_t groups = 0;        // lower bound on all groups
};

// All lower bounds; they hold for every packing.
struct LowerBounds {
  std::array<Measure, 2> measures;
  GroupBounds groups;
};

// Heads by the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem);

// `reverse` is mirrored(problem).
LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse);

// Returns the bounds of the mirrored problem.
LowerBounds mirrored(LowerBounds bounds);

} // namespace tidegate::planning
