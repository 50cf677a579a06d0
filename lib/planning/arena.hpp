// Arena offsets: given the lifetime of each buffer, choose its offset in one block of memory so that buffers
// alive together share no byte. This is the public header of planning/arena/.
//
//   offset                          The height is the end of the topmost buffer. It is never below the
//     ^   +-----+   +---+           largest sum of sizes alive at one moment, all but the topmost rounded up to
//     |   |  b  |   | d |           the least alignment. Deciding whether that bound can be reached is
//     | +-+-----+---+---+-+         NP-complete ("dynamic storage allocation", Garey and Johnson, Computers and
//     | |        a        |         Intractability, 1979, problem SR2).
//     +-+-----------------+--> time
//
// The planner first runs fast heuristics (arena/plan.cpp), then an exact search that either finds a
// plan of a given height or proves that there is none (arena/search.hpp). Effort counts search nodes, not
// seconds: equal input and options yield equal plans on every machine.
#pragma once
#include <tidegate/core/error.hpp>

namespace tidegate::planning {

struct ArenaBuffer {
  std::uint64_t lower = 0; // alive in [lower, upper), in groups or any other unit of time
  std::uint64_t upper = 0;
  std::uint64_t size = 0;      // bytes; a buffer of 0 bytes overlaps nothing and gets offset 0
  std::uint64_t alignment = 1; // bytes, a power of two that divides the offset
};

struct ArenaProblem {
  std::vector<ArenaBuffer> buffers;            // fewer than 2^31
  std::optional<std::uint64_t> capacity_bytes; // limits the height; else the height is minimised
};

// The proof that no plan is lower.
enum class ArenaProof : std::uint8_t {
  none,             // not proved
  meets_bound,      // the height equals the lower bound
  exhausted_search, // a search has excluded all heights between the bound and this one
};
inline constexpr std::array<std::string_view, 3> arena_proof_names{"none", "meets_bound", "exhausted_search"};

inline std::string_view name(ArenaProof proof) {
  return arena_proof_names[static_cast<std::size_t>(proof)];
}

struct ArenaPlan {
  std::vector<std::uint64_t> offsets; // bytes, by buffer
  std::uint64_t height_bytes = 0;
  std::uint64_t lower_bound_bytes = 0; // see above
  bool optimal = false;                // `proof` shows that no plan is lower
  ArenaProof proof = ArenaProof::none;
  bool gave_up = false;           // the effort ran out before the search for a lower plan ended
  std::uint64_t search_nodes = 0; // 0 if the heuristics sufficed

  friend bool operator==(const ArenaPlan&, const ArenaPlan&) = default;
};

struct ArenaOptions {
  // Upper bound on search nodes for the whole problem; 0 uses only the heuristics. A node of a component with
  // n buffers counts as 1 + n / 64, so that the time per unit is roughly constant: about a second per
  // million.
  std::uint64_t effort = 2'000'000;
};

// Finds offsets for the buffers. With a capacity, returns the first plan that fits, and `optimal` reports
// whether it is proved lowest; without one, minimises the height within the effort. Errors, of buffers for the first
// invalid one, its lifetime before its alignment, with a pointer into the document buffer_lifetimes:
//
//   empty_lifetime, bad_alignment, byte_count_overflow   field: "upper", "alignment", "alive bytes" or "offset"
//   arena_over_capacity                                  required_bytes: a proved lower bound, capacity_bytes
//   arena_search_exhausted                               required_bytes, capacity_bytes, best_height_bytes
Result<ArenaPlan> plan_arena(const ArenaProblem& problem, const ArenaOptions& options = {});

// Finds the errors that plan_arena reports without planning: empty_lifetime, bad_alignment and
// byte_count_overflow {alive bytes}. O(n log n).
Result<void> check_arena_problem(const ArenaProblem& problem);

// The error of a single buffer, which is number `index` of its problem.
std::optional<Error> unsound(const ArenaBuffer& buffer, std::size_t index);

// Checks a plan against the definitions, with code that shares only these structs with the planner. Returns
// the first violation in words, buffers by index, or nothing for a correct plan:
//   - every buffer has one offset, a multiple of its alignment;
//   - buffers alive together share no byte;
//   - the height is the end of the topmost buffer, within the capacity; no empty buffer is above it;
//   - the lower bound is the largest sum of sizes alive at one moment, all but the one with the most to round
//     rounded up to the least alignment;
//   - `optimal` is set exactly if the height equals the bound or a search is the proof, and `proof` matches;
//     an exhausted search has nodes; without a capacity, a plan that is not optimal has `gave_up` set.
// It cannot check that a search has excluded every lower height. O(n log n).
std::optional<std::string> check_arena(const ArenaProblem& problem, const ArenaPlan& plan);

} // namespace tidegate::planning
