// The packing problem that `compact` solves, its lower bounds, its list schedules and its two searches.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {

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

// Returns the bytes of each group.
std::vector<std::uint64_t> group_bytes(const PackingProblem& problem, const Packing& packing);

// Weights of items that bound the number of groups from below.
//
// A *measure* weighs items so that no feasible group weighs more than the measure's capacity; so the number
// of groups is at least the total weight over the capacity. One measure is the bytes, the other counts waves
// over half the budget (Lueker, FOCS 1983).
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
// EJOR 168(3), 2006). Ancestors take n^2 / 8 bytes: larger problems have heads and tails by the longest path.
inline constexpr std::uint32_t most_items_with_closure = 3000;

struct LowerBounds {
  std::array<Measure, 2> measures;
  std::vector<std::uint32_t> head; // lower bound on groups strictly before the item's
  std::vector<std::uint32_t> tail; // lower bound on groups strictly after the item's
  std::uint64_t groups = 0;        // lower bound on all groups
};

// `reverse` is mirrored(problem).
LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse);

// Returns the bounds of the mirrored problem.
LowerBounds mirrored(LowerBounds bounds);

// Heads by the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem);

// A list schedule: fills a group with the most preferred items that are ready and fit, closes it, and only
// then makes the successors of its items ready. `preference` lists the items, most preferred first.
//
// Ordered by the groups of a packing that fits, the schedule has no more groups than the packing: the items
// of each group are ready and fit when the schedule gets there.
Packing list_schedule(const PackingProblem& problem, std::span<const std::uint32_t> preference);

// Orders of preference: longest tail first, then largest; or largest first, then longest tail, by which a group takes the
// largest ready item that fits, which is best fit. Of equal items the lowest wave comes first.
enum class First : std::uint8_t { longest_tail, largest };
std::vector<std::uint32_t> preference(const PackingProblem& problem, std::span<const std::uint32_t> tail,
                                      First first);

// The problem in both directions of time, and the best answer so far.
struct CompactSearch {
  PackingProblem problem;
  PackingProblem reverse;
  LowerBounds bounds;
  Packing best;
  std::uint64_t lower = 0; // no packing has fewer groups

  bool is_open() const { return best.groups > lower; }
};

// The searches count steps, not time, and deduct them from `effort`.
inline void spend(std::uint64_t& effort, std::uint64_t steps) {
  effort -= std::min(effort, steps);
}

// Local search over the orders of preference, in both directions of time: moves some items to other places of
// the order and schedules again. Keeps an order whose schedule has fewer groups, or as many that are filled as
// unevenly: then the emptiest group is nearly saved. Stops at `lower` groups.
void improve_order(CompactSearch& search, std::uint64_t& effort);

// Lowers the peak, the bytes of the fullest group, by bisection without more groups: schedules for a capacity
// between the largest item, or the mean group, and the current peak.
void lower_peak(CompactSearch& search, std::uint64_t effort);

// Tries all packings of a small problem: either one with fewer groups is found, or `lower` becomes the groups
// of the best one, unless the effort runs out.
inline constexpr std::uint32_t most_items_to_exhaust = 64; // a set of items is a word
void exhaust(CompactSearch& search, std::uint64_t& effort);

} // namespace tidegate::planning
