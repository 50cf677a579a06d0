// List schedules that choose a whole group at a time: of the ready items, the load that is worth most
// together (Hoffmann, Management Science 9(4), 1963; with many ways to say what an item is worth Sternatz,
// EJOR 235(3), 2014). They leave less room in a group than taking items one by one, and cost more.
#pragma once
#include "planning/compact/bounds.hpp"
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

// The loads that branch and bound tries for one group: sets of ready items, maximal, not obviously worse than
// another, and heavy enough to leave what the remaining groups can hold.

class Replacements; // branch_and_bound.hpp

// A ready item.
struct Candidate {
  std::uint32_t item = 0;
  std::uint32_t tail = 0;
  std::uint64_t size = 0;
  bool forced = false; // in no later group can it be
};

// The situation before a group is filled. Reused from node to node: clearing is cheaper than allocating.
class LoadChoice {
public:
  // `groups_left` is how many groups may follow the one to fill.
  void reset(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups_left);
  void add_open(std::uint32_t item, std::uint32_t tail); // every item not packed, in rising order
  void add_ready(std::uint32_t item, std::uint32_t tail, bool forced);
  // False when no load can do.
  bool close();

  std::size_t open_count() const { return open_count_; }

private:
  friend class LoadEnumeration;

  const PackingProblem* problem_ = nullptr;
  const LowerBounds* bounds_ = nullptr;
  std::vector<std::uint32_t> open_full_;  // by clique: full items
  std::vector<std::uint32_t> open_chain_; // and its longest chain
  std::uint32_t groups_left_ = 0;
  std::size_t open_count_ = 0;
  std::vector<std::vector<std::uint64_t>> open_weight_; // by measure and tail; after close() from a tail on
  std::vector<Candidate> candidates_;                   // forced first, then by tail and size
  std::vector<std::uint64_t> size_from_;                // bytes of the candidates from one on
  std::vector<std::uint32_t> place_of_;                 // among the candidates, by item; or none
};

// Loads in the order of a depth-first search that takes the candidates in order when they fit.
class LoadEnumeration {
public:
  LoadEnumeration(const LoadChoice& choice, const Replacements& replacements, std::uint64_t most_steps);

  bool next(); // false when there are no more, or too many steps were taken
  bool gave_up() const { return steps_ >= most_steps_; }
  std::span<const std::uint32_t> load() const { return load_; }
  float score() const { return score_; } // groups that the rest needs, with fractions
  std::uint64_t steps() const { return steps_; }

private:
  enum class State : std::uint8_t { skipped, taken, refused }; // refused: it fitted, and was left out

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
  std::uint64_t choices_per_group = 0; // items tried for one group before the best load so far is taken
  std::uint32_t most_groups = 0;       // a schedule that needs more is broken off
};

// `value[i]` > 0 is what item i is worth. Takes its steps from `effort`; nothing when broken off, or when the
// effort is used up.
std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort);

// Many schedules by load, each with another idea of what an item is worth: its bytes, more for a
// large item, for one with much work behind it, for one with a long tail, and a little at random. No idea is
// best everywhere, and a schedule is cheap.

inline constexpr std::uint32_t most_items_with_load_schedules = 20'000;

// The same problem from both ends of time, with the bounds of each.
struct TwoEnds {
  const PackingProblem& problem;
  const PackingProblem& reverse;
  const LowerBounds& bounds;
  const LowerBounds& reverse_bounds;
};

// The best of `best` and as many schedules as `effort` allows; stops at `lower` groups.
Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort);

} // namespace tidegate::planning
