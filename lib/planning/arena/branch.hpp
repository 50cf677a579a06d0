// A branch of the exact search (search.hpp): the decisions taken, the bounds that follow from them, and,
// when it cannot be completed, the decisions to blame.
//
// Buffers are placed from the bottom up, each at its *rest*: the top of what overlaps it so far, rounded up
// to its alignment. A decision about one buffer i is either of
//
//   placed    i lies at its rest, and every overlapping buffer still to come lies above it;
//   skipped   some overlapping buffer still to come goes below i, so i waits until one is placed.
//
// The consequences, each a switch of ArenaTechniques:
//
//   section_bound  in each section the floor, which is the lowest offset that a buffer still to come can have
//                  there, plus the bytes still to come must fit the capacity.
//   lifted_floor   (ours) a skipped buffer comes to lie on an overlapping one that is still to come, so it
//                  lies at least as high as the lowest top among those, or nothing can lift it at all.
//   dominance      only those count that are in its way where it rests: below another one it would fall back
//                  into its place.
//
//        |  c  |       a and b are placed. c was skipped at its rest, the top of a: d and e are still to come
//   +---+   +-----+    and can lie in its way, and the lower of their tops is the least offset that c can
//   | d |   |  e  |    have. The floor in each section of c rises to it.
//   +---+---+-----+
//   |    a    | b |
//
// A bound that fails is explained by the decisions that it follows from: those about the buffers that the
// ones in question rest on, down to the floor, and the skips that lifted them. The search goes back to the
// last of these, over all decisions that have nothing to do with the failure (conflict-directed backjumping:
// Prosser, "Hybrid algorithms for the constraint satisfaction problem", 1993).
#pragma once
#include "planning/arena/search.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tidegate::planning {

// A set of items.
class ArenaItemSet {
public:
  explicit ArenaItemSet(std::size_t items = 0) : words_((items + 63) / 64) {}

  [[nodiscard]] bool has(std::uint32_t item) const { return (words_[item / 64] >> item % 64 & 1U) != 0; }
  void add(std::uint32_t item) { words_[item / 64] |= std::uint64_t{1} << item % 64; }
  void remove(std::uint32_t item) { words_[item / 64] &= ~(std::uint64_t{1} << item % 64); }
  void add(const ArenaItemSet& other);
  void clear();

private:
  std::vector<std::uint64_t> words_;
};

class ArenaBranch {
public:
  enum class Stage : std::uint8_t { undecided, placed, skipped };

  // No section may have more bytes than the capacity.
  ArenaBranch(const ArenaComponent& component, const ArenaOverlaps& overlaps, std::uint64_t capacity_bytes,
              const ArenaTechniques& techniques);

  // Decides about an undecided item. False when the branch has no solution: then conflict() gives the reason,
  // and the decision has to be undone.
  bool place(std::uint32_t item);
  bool skip(std::uint32_t item);

  // undo(mark) takes back everything decided since mark() returned that value.
  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  // Call when no item is undecided. True when all are placed; otherwise the branch has no solution, since
  // each of those still to come waits for another one.
  bool complete();

  // Items whose decisions cannot stand together.
  [[nodiscard]] const ArenaItemSet& conflict() const { return conflict_; }

  [[nodiscard]] Stage stage(std::uint32_t item) const { return stage_[item]; }
  [[nodiscard]] std::uint64_t rest(std::uint32_t item) const { return rest_[item]; }
  // The top of what has been placed in the section.
  [[nodiscard]] std::uint64_t top(std::uint32_t section) const {
    return placed_in_[section] == 0 ? 0 : tops_[overlaps_.section_from[section] + placed_in_[section] - 1];
  }
  // By item, once all are placed.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return rest_; }

private:
  struct Change { // the state of an item before it changed
    std::uint32_t item;
    Stage stage;
    std::uint32_t support;
    std::uint64_t rest;
    std::uint64_t least;
  };

  void begin_decision(std::uint32_t item);
  void change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least);
  bool follow_up();
  bool lift_skipped();
  [[nodiscard]] std::uint64_t least_when_lifted(std::uint32_t item) const;
  [[nodiscard]] bool has_room(std::uint32_t item, std::uint64_t offset) const;
  bool sections_fit();
  bool section_fits(std::uint32_t section);
  void explain(std::span<const std::uint32_t> items);

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const ArenaTechniques techniques_;
  const std::uint64_t capacity_;

  // By item.
  std::vector<Stage> stage_;
  std::vector<std::uint64_t> rest_;    // of a placed item its offset
  std::vector<std::uint64_t> least_;   // the least offset that it can have: the rest, or more when skipped
  std::vector<std::uint32_t> support_; // the placed item that it rests on, or none

  // By section.
  std::vector<std::uint64_t> to_come_;   // bytes
  std::vector<std::uint32_t> placed_in_; // items
  std::vector<std::uint64_t> tops_;      // of those, upwards; from overlaps_.section_from on
  std::vector<std::uint32_t> witness_;   // the item that last showed that the section still fits

  std::vector<Change> trail_;
  std::uint32_t changed_begin_ = 0; // the sections in which the decision at hand changed anything
  std::uint32_t changed_end_ = 0;
  ArenaItemSet conflict_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lifted_; // for lift_skipped: item, its least before
  ArenaItemSet explained_;
  std::vector<std::uint32_t> to_explain_;
};

} // namespace tidegate::planning
