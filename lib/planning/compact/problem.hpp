// The steps that a search may still take.
#pragma once
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
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

// The problem that `compact` solves, stripped of everything else: pack items into as few groups of one
// capacity as possible, every predecessor in a strictly earlier group. It is bin packing with precedence
// constraints, BPP-P (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012).
//
// Items are the waves in layer order, so that predecessors have smaller indices and a loop over the items in
// order needs no recursion. The problem is symmetric in time: turned around, its solutions read backwards are
// the solutions. Everything here that works forwards is used backwards by mirroring the problem.

// Lists of items for each item, flat.
struct ItemLists {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> items;

  std::span<const std::uint32_t> operator[](std::size_t item) const {
    return std::span(items).subspan(begin[item], begin[item + 1] - begin[item]);
  }
};

struct PackingProblem {
  std::uint64_t capacity = 0;      // bytes of a group
  std::vector<std::uint64_t> size; // bytes of an item, at most the capacity
  std::vector<std::uint32_t> wave; // which wave an item is
  ItemLists successors;            // without repetitions, in rising order
  ItemLists predecessors;

  std::uint32_t count() const { return static_cast<std::uint32_t>(size.size()); }
};

// The problem of a DAG whose layers are `layer_order` and whose waves all fit `capacity`.
PackingProblem packing_problem(const WaveDag& dag, std::span<const std::uint32_t> layer_order,
                               std::uint64_t capacity);

// The same problem with time reversed: item i becomes item count - 1 - i.
PackingProblem mirrored(const PackingProblem& problem);

// An answer: the group of each item.
struct Packing {
  std::vector<std::uint32_t> group_of;
  std::uint32_t groups = 0;
};

Packing mirrored(const Packing& packing);

// Closes the gaps that moving items has left.
Packing without_empty_groups(Packing packing);

// The bytes of the fullest group.
std::uint64_t peak_bytes(const PackingProblem& problem, const Packing& packing);

// The items of each group, in rising order.
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
inline void intersect(std::span<std::uint64_t> row, std::span<const std::uint64_t> other) {
  for (std::size_t word = 0; word < row.size(); ++word) {
    row[word] &= other[word];
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

// Splits a packing problem into parts that no group ever mixes.
//
// Two items may meet in a group when both fit it and neither depends on the other; a part holds the items
// that can meet, directly or through others. Waves before and after a point that all of them wait for are in
// different parts, and where budgets are tight a wave that can meet no other is a part of its own. Parts can
// be packed one by one: what comes out has the fewest groups if each part has, unless no order of the groups
// keeps the dependencies between the parts.

// Row i has the items that may meet item i.
BitMatrix may_meet(const PackingProblem& problem);

// The items of each part, in rising order. Looks at every pair of items: for up to most_items_with_closure.
ItemLists parts(const PackingProblem& problem);

// Some of the items by themselves. What depends on another through items left out depends on it directly.
struct SubProblem {
  PackingProblem problem;
  std::vector<std::uint32_t> items; // the original of each, in rising order
};

SubProblem sub_problem(const PackingProblem& problem, std::vector<std::uint32_t> items);

// What a packing of the problem makes of the sub-problem; groups that this leaves empty are dropped.
Packing restricted(const Packing& packing, const SubProblem& sub);

// The groups, given in any order, in one that keeps the dependencies; nothing when there is none.
std::optional<Packing> in_order(const PackingProblem& problem, const Packing& groups);

} // namespace tidegate::planning
