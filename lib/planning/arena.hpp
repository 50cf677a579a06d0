// Arena offsets: where each buffer lies in one block of memory, given when it is alive, so that buffers alive
// together never share a byte. Plain data and one function.
//
//   offset                          The height is the end of the topmost buffer. It is never below the
//     ^   +-----+   +---+           largest sum of sizes alive at one moment, and whether that bound can be
//     |   |  b  |   | d |           reached is NP-complete ("dynamic storage allocation", Garey and Johnson,
//     | +-+-----+---+---+-+         Computers and Intractability, 1979, problem SR2).
//     | |        a        |
//     +-+-----------------+--> time
//
// A plan comes from two parts: fast heuristics (arena_greedy.hpp), then an exact search that either fills a
// given height or proves that nothing does (arena_search.hpp). Effort counts search nodes, never seconds:
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
  std::uint64_t size = 0;      // bytes; a buffer of none overlaps nothing and lies at 0
  std::uint64_t alignment = 1; // bytes, a power of two, divides the offset

  friend bool operator==(const ArenaBuffer&, const ArenaBuffer&) = default;
};

struct ArenaProblem {
  std::vector<ArenaBuffer> buffers;            // fewer than 2^31
  std::optional<std::uint64_t> capacity_bytes; // the arena must not be higher; without it, as low as possible

  friend bool operator==(const ArenaProblem&, const ArenaProblem&) = default;
};

// How a plan is known to be as low as possible.
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
  bool optimal = false;                // no plan is lower, as `proof` says
  ArenaProof proof = ArenaProof::none;
  bool gave_up = false;           // the effort ran out while a lower plan was still being looked for
  std::uint64_t search_nodes = 0; // 0 when the heuristics were enough

  friend bool operator==(const ArenaPlan&, const ArenaPlan&) = default;
};

// The techniques of the exact search, each with its reason in arena_search.hpp. Turning one off changes how
// long a search takes, never whether its answer is right.
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
  unsigned threads = 1; // at most this many; the plan does not depend on it
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

// The enumeration above says which fields a code carries; the others stay at their defaults.
struct ArenaError {
  ArenaErrorCode code = ArenaErrorCode::empty_lifetime;
  std::uint64_t buffer =
      0;                  // the buffer at fault; for an overflow the first one that cannot be counted or laid
  std::string_view field; // "upper", "alignment", "alive bytes" or "offset"
  std::uint64_t required_bytes = 0; // proved: no plan is lower
  std::uint64_t capacity_bytes = 0;
  std::uint64_t best_height_bytes = 0; // of the best plan found; 0 when none fits 64 bits
  ArenaProof proof = ArenaProof::none; // what proves required_bytes
  std::uint64_t search_nodes = 0;

  friend bool operator==(const ArenaError&, const ArenaError&) = default;
};

// Offsets for the buffers. With a capacity the first plan that fits is the answer and `optimal` says whether
// it happens to be the lowest; without one the height is minimised as far as the effort goes. Errors: see
// ArenaErrorCode; the first buffer at fault is reported, and its lifetime before its alignment.
tl::expected<ArenaPlan, ArenaError> plan_arena(const ArenaProblem& problem, const ArenaOptions& options = {});

// What is wrong, in one sentence, buffers by index.
std::string describe(const ArenaError& error);

} // namespace tidegate::planning
