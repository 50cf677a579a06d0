// Arena offsets: given when each buffer is alive, choose where it lies in one block of memory, so that
// buffers alive together never share a byte. This is the public header of planning/arena/.
//
//   offset                          The height is the end of the topmost buffer. It is never below the
//     ^   +-----+   +---+           largest sum of sizes alive at one moment. Deciding whether that bound
//     |   |  b  |   | d |           can be reached is NP-complete ("dynamic storage allocation", Garey and
//     | +-+-----+---+---+-+         Johnson, Computers and Intractability, 1979, problem SR2).
//     | |        a        |
//     +-+-----------------+--> time
//
// A plan comes from two parts: fast heuristics (arena/heuristics.hpp), then an exact search that either fills
// a given height or proves that nothing does (arena/search.hpp). Effort counts search nodes, never seconds:
// equal input and options give equal plans on every machine and with any number of threads.
#pragma once
#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::planning {

struct ArenaBuffer {
  std::uint64_t lower = 0; // alive in [lower, upper), in groups or any other unit of time
  std::uint64_t upper = 0;
  std::uint64_t size = 0;      // bytes; a buffer of 0 bytes overlaps nothing and lies at 0
  std::uint64_t alignment = 1; // bytes, a power of two, divides the offset

  friend bool operator==(const ArenaBuffer&, const ArenaBuffer&) = default;
};

struct ArenaProblem {
  std::vector<ArenaBuffer> buffers;            // fewer than 2^31
  std::optional<std::uint64_t> capacity_bytes; // the arena must not be higher; without it, as low as possible

  friend bool operator==(const ArenaProblem&, const ArenaProblem&) = default;
};

// Why a plan is known to be as low as possible.
enum class ArenaProof : std::uint8_t {
  none,             // it may not be
  meets_bound,      // its height is the lower bound
  exhausted_search, // above the bound, but the search has ruled out everything lower
};
inline constexpr std::array<std::string_view, 3> arena_proof_names{"none", "meets_bound", "exhausted_search"};

inline std::string_view name(ArenaProof proof) {
  return arena_proof_names[static_cast<std::size_t>(proof)];
}

struct ArenaPlan {
  std::vector<std::uint64_t> offsets; // bytes, by buffer
  std::uint64_t height_bytes = 0;
  std::uint64_t lower_bound_bytes = 0; // largest sum of sizes alive at one moment
  bool optimal = false;                // no plan is lower, by `proof`
  ArenaProof proof = ArenaProof::none;
  bool gave_up = false;           // the effort ran out while the search still looked for a lower plan
  std::uint64_t search_nodes = 0; // 0 when the heuristics were enough

  friend bool operator==(const ArenaPlan&, const ArenaPlan&) = default;
};

// The techniques of the exact search; arena/branch.hpp and arena/search.cpp explain each. Turning one off
// changes how long a search takes, never whether its answer is right.
struct ArenaTechniques {
  bool section_bound = true;
  bool lifted_floor = true;
  bool dominance = true;
  bool backjumping = true;
  bool niche = true;
  bool portfolio = true; // several preorders in turn, otherwise the first alone

  friend bool operator==(const ArenaTechniques&, const ArenaTechniques&) = default;
};

struct ArenaOptions {
  // Search nodes over the whole problem; 0 plans by heuristics alone. A node of a component with n buffers
  // counts for 1 + n / 64, which keeps the time per unit about the same: a million take about a second.
  std::uint64_t effort = 2'000'000;
  unsigned threads = 1; // at most; the plan does not depend on it
  ArenaTechniques techniques;
};

enum class ArenaErrorCode : std::uint8_t {
  empty_lifetime,         // buffer, field
  bad_alignment,          // buffer, field
  byte_count_overflow,    // buffer, field
  arena_over_capacity,    // required_bytes, capacity_bytes, proof
  arena_search_exhausted, // required_bytes, capacity_bytes, best_height_bytes
};
inline constexpr std::array<std::string_view, 5> arena_error_code_names{
    "empty_lifetime", "bad_alignment", "byte_count_overflow", "arena_over_capacity",
    "arena_search_exhausted"};

inline std::string_view name(ArenaErrorCode code) {
  return arena_error_code_names[static_cast<std::size_t>(code)];
}

// The enumeration above lists the fields that each code carries; the others stay at their defaults.
struct ArenaError {
  ArenaErrorCode code = ArenaErrorCode::empty_lifetime;
  std::uint64_t buffer = 0; // the buffer at fault; for an overflow the first that cannot be counted or placed
  std::string_view field;   // "upper", "alignment", "alive bytes" or "offset"
  std::uint64_t required_bytes = 0; // proved: no plan is lower
  std::uint64_t capacity_bytes = 0;
  std::uint64_t best_height_bytes = 0; // of the best plan found; 0 when none fits 64 bits
  ArenaProof proof = ArenaProof::none; // proves required_bytes
  std::uint64_t search_nodes = 0;

  friend bool operator==(const ArenaError&, const ArenaError&) = default;
};

// Finds offsets for the buffers. With a capacity the first plan that fits is the answer, and `optimal`
// reports if it is known to be the lowest; without one the height is minimised as far as the effort goes.
// Errors: see ArenaErrorCode; the first buffer at fault is reported, its lifetime before its alignment.
tl::expected<ArenaPlan, ArenaError> plan_arena(const ArenaProblem& problem, const ArenaOptions& options = {});

// The errors that plan_arena finds without planning: empty_lifetime, bad_alignment and byte_count_overflow
// {alive bytes}. O(n log n).
tl::expected<void, ArenaError> check_arena_problem(const ArenaProblem& problem);

// Describes an error in one sentence, with buffers by index.
std::string describe(const ArenaError& error);

// Checks a plan from the definitions, in plain code that shares nothing with the planner but these structs.
// Returns the first violation in words, buffers by index, or nothing for a correct plan:
//   - every buffer has one offset, a multiple of its alignment;
//   - buffers alive together share no byte;
//   - the height is the end of the topmost buffer, within the capacity; an empty buffer lies within the
//   height;
//   - the lower bound is the largest sum of sizes alive at one moment;
//   - `optimal` is claimed exactly when the height is the bound or the proof is a search, and the proof fits
//     the claim; an exhausted search has nodes; without a capacity a plan that is not optimal was given up.
// It cannot check that a search has ruled out everything lower. O(n log n).
std::optional<std::string> check_arena(const ArenaProblem& problem, const ArenaPlan& plan);

} // namespace tidegate::planning
