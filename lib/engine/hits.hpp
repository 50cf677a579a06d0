// Lists of hits: buffers to which lanes append in any order.
#pragma once
#include "engine/job.hpp"

namespace tidegate::engine {

class HostContents;

// If a list has no room for all hits, the run fails, the list keeps what it has room for, or the program runs
// again with the room that was needed.
enum class HitOverflow : std::uint8_t { error, truncate, grow };
inline constexpr std::array<std::string_view, 3> hit_overflow_names{"error", "truncate", "grow"};

inline constexpr std::uint64_t most_hits = (std::uint64_t{1} << 31U) - 1; // capacity of a list

// The report of a list of hits. The counts are known after a run.
struct HitsReport {
  std::string list;
  std::uint64_t capacity = 0;
  bool derived = false; // by the policy: the program states no capacity
  HitOverflow on_overflow = HitOverflow::error;
  bool sorted = false;
  std::optional<std::uint64_t> hits; // that waves appended
  std::optional<std::uint64_t> dropped;
  std::optional<std::uint64_t> needed_capacity;
  std::optional<std::uint64_t> grown_from; // the first capacity, if the program ran again
};

// True if the list has no room for all hits, and is not to be cut there.
inline bool overflows(const HitsReport& hits) {
  return hits.dropped.value_or(0) != 0 && hits.on_overflow != HitOverflow::truncate;
}

// A list of hits, whose elements are in no order (layout: kernels/wave/hits.cl). Functions take its contents.
struct ProgramHits {
  HitsReport report;       // before a run
  std::uint32_t width = 1; // elements of a hit
  // Elements that kernels write of it: 3 of 4 where all write vectors of 3. Known once all arguments are.
  std::shared_ptr<std::uint32_t> written = std::make_shared<std::uint32_t>(0);
  std::function<HitsReport(std::span<const std::byte> contents)> count = {};
};

// Returns the reports of all lists before a run.
std::vector<HitsReport> hits_before(const Job& program);

// Counts the hits in what was read back, which may be the lists' headers alone.
std::vector<HitsReport> count_hits(const Job& program, const HostContents& contents);

} // namespace tidegate::engine
