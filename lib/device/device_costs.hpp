// What launching, waiting and touching memory cost on a device: what the cost model of a run
// (compiler/cost_model.hpp) rests on. The self-test measures them; the defaults are those of one H200
// (scripts/bench/RESULTS.md). Plain data.
#pragma once

namespace tidegate::device {

struct DeviceCosts {
  double persistent_start_ns = 11'200; // a persistent launch and the wait for its end
  double barrier_ns = 594;             // of all groups, however few they are,
  double barrier_group_ns = 2.56;      // and more for each of them
  double wait_ns = 850;                // for a group that has just come so far, and telling it on
  double tile_ns = 290;                // from the first read of a tile to its last write
  double next_tile_ns = 160;           // that another tile of the same group adds, where the two overlap
  double descriptor_ns = 450;          // that reading a tile's arguments adds in an interpreter
  double cached_bytes_per_ns = 10'000; // read and written, of what the caches hold
  double memory_bytes_per_ns = 3'950;
  double cache_bytes = 50e6;

  friend bool operator==(const DeviceCosts&, const DeviceCosts&) = default;
};

// What the time of a run consists of: nanoseconds, or how many times the estimate a part took.
struct CostParts {
  double start = 0;    // until the first wave begins, and from the end of the last until the host knows
  double launches = 0; // each of them
  double barriers = 0; // of all work-groups of a persistent launch
  double waits = 0;    // for few of them
  double work = 0;     // the tiles, as far as nothing above hides them

  [[nodiscard]] double sum() const { return start + launches + barriers + waits + work; }

  friend bool operator==(const CostParts&, const CostParts&) = default;
};

// Adds the parts of `more` so many times.
inline void add(CostParts& sum, const CostParts& more, double times) {
  sum.start += times * more.start;
  sum.launches += times * more.launches;
  sum.barriers += times * more.barriers;
  sum.waits += times * more.waits;
  sum.work += times * more.work;
}

} // namespace tidegate::device
