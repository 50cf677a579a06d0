// The waits of a persistent launch: a stage waits for all groups, or for the tiles of earlier stages on which
// its tiles depend, in this iteration or the previous one.
//
// With `barrier` every stage waits for all groups. With `counters` the order follows from the dependencies
// that the program states and from the arena memory that waves access, so that waits also separate buffers
// that share memory.
#pragma once
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"

namespace tidegate::engine {

// A wait of a wave's tiles for tiles of another wave.
struct Wait {
  std::uint32_t wave = 0;
  std::uint32_t producer = 0;
  bool earlier_iteration = false;    // the producer of the previous iteration
  std::optional<std::uint32_t> halo; // tile t waits for t - halo … t + halo; empty: for all

  friend bool operator==(const Wait&, const Wait&) = default;
};

struct StageWaits {
  bool everybody = false; // starts when all groups have completed all previous stages
  bool announced = false; // some wait is for this stage
  std::vector<Wait> waits;
};

struct Synchronization {
  TileMapping mapping = TileMapping::strided;
  std::vector<StageWaits> stages; // by stage of the schedule
};

// Most waits of a wave; a stage with more waits for all groups.
inline constexpr std::size_t most_waits_per_wave = 8;

// The tile mapping is strided if every stage waits for all groups, otherwise blocked: waits for neighbours
// need consecutive tiles.
Synchronization synchronize(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                            Strategy strategy);

} // namespace tidegate::engine
