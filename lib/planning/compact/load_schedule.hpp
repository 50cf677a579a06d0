// List schedules that choose a whole group at a time: the load of ready items with the greatest total value
// (Hoffmann, Management Science 9(4), 1963; with many definitions of an item's value Sternatz, EJOR 235(3),
// 2014). They fill groups better than schedules that take items one by one, at a higher cost.
#pragma once
#include "planning/compact/bounds.hpp"
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

// The loads that branch and bound tries for one group: maximal sets of ready items that no other load
// obviously dominates, heavy enough that the remaining groups can hold the rest.

class Replacements; // branch_and_bound.hpp

// A ready item.
struct Candidate {
  std::uint32_t item = 0;
  std::uint32_t tail = 0;
  std::uint64_t size = 0;
  bool forced = false; // does not fit any later group
};

// The state before a group is filled. Reused between nodes: clearing is cheaper than allocating.
class LoadChoice {
public:
  // `groups_left` is the number of groups that may follow this one.
  void reset(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups_left);
  void add_open(std::uint32_t item, std::uint32_t tail); // every unpacked item, ascending
  void add_ready(std::uint32_t item, std::uint32_t tail, bool forced);
  // Returns false if no load is feasible.
  bool close();

  std::size_t open_count() const { return open_count_; }

private:
  friend class LoadEnumeration;

  const PackingProblem* problem_ = nullptr;
  const LowerBounds* bounds_ = nullptr;
  std::vector<std::uint32_t> open_full_;  // full items, by clique
  std::vector<std::uint32_t> open_chain_; // the longest chain, by clique
  std::uint32_t groups_left_ = 0;
  std::size_t open_count_ = 0;
  std::vector<std::vector<std::uint64_t>>
      open_weight_;                      // by measure and tail; after close(), suffix sums over tails
  std::vector<Candidate> candidates_;    // forced first, then by tail and size
  std::vector<std::uint64_t> size_from_; // bytes of the candidates from each one on
  std::vector<std::uint32_t> place_of_;  // index among the candidates, by item; or none
};

// Enumerates loads by depth-first search, taking the candidates in order where they fit.
class LoadEnumeration {
public:
  LoadEnumeration(const LoadChoice& choice, const Replacements& replacements, std::uint64_t most_steps);

  bool next(); // false after the last load, or after too many steps
  bool gave_up() const { return steps_ >= most_steps_; }
  std::span<const std::uint32_t> load() const { return load_; }
  float score() const { return score_; } // number of groups for the rest, fractional
  std::uint64_t steps() const { return steps_; }

private:
  enum class State : std::uint8_t { skipped, taken, refused }; // refused: fits, but left out

  void take_what_fits(std::size_t from);
  bool retreat();
  bool is_blocked(std::size_t candidate) const;
  bool is_maximal() const;
  bool is_dominated() const;
  bool leaves_what_fits();

  const LoadChoice& choice_;
  const Replacements& replacements_;
  std::vector<State> state_;
  std::vector<std::uint32_t> taken_;   // candidates, in order
  std::vector<std::uint32_t> refused_; // candidates, in order
  std::uint64_t room_ = 0;
  std::vector<std::uint32_t> load_;
  std::vector<std::uint64_t> load_weight_; // by tail
  float score_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t most_steps_;
  bool begun_ = false;
};

struct LoadLimits {
  std::uint64_t choices_per_group = 0; // items tried for a group before it takes the best load so far
  std::uint32_t most_groups = 0;       // a schedule that needs more is aborted
};

// `value[i]` > 0 is the value of item i. Deducts its steps from `effort`; returns nothing if aborted or if
// the effort is used up.
std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort);

// Many schedules by load, each with another definition of an item's value: its bytes, with more weight for
// large items, items with much dependent work or a long tail, and some noise. No definition is best
// everywhere, and a schedule is cheap.

inline constexpr std::uint32_t most_items_with_load_schedules = 20'000;

// The problem in both directions of time, with their bounds.
struct TwoEnds {
  const PackingProblem& problem;
  const PackingProblem& reverse;
  const LowerBounds& bounds;
  const LowerBounds& reverse_bounds;
};

// Returns the best of `best` and of as many schedules as `effort` allows; stops at `lower` groups.
Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort);

} // namespace tidegate::planning
