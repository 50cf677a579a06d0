// For what the stages of a persistent launch wait: for everybody, or for those tiles of earlier stages that
// their own depend on, in this iteration or the one before.
//
// With `barrier` every stage waits for everybody. With `counters` what is ordered follows from the memory
// that waves touch, where they lie in the arena, so that buffers which share memory are kept apart by waits
// like any other dependency; and from the dependencies that the program states.
#pragma once
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"
#include "work/resolved_program.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Which work-group runs which tiles of a stage; the numbers are those of kernels/wave/tasks.cl.
enum class TileOrder : std::uint8_t {
  strided,    // tile t belongs to group t modulo the groups
  blocked,    // a run of tiles to each group
  serpentine, // blocked, and every other stage is walked backwards
};
inline constexpr std::array<std::string_view, 3> tile_order_names{"strided", "blocked", "serpentine"};

// Tiles of a wave wait for tiles of another one.
struct Wait {
  std::uint32_t wave = 0;
  std::uint32_t producer = 0;
  bool earlier_iteration = false;    // that of the iteration before
  std::optional<std::uint32_t> halo; // tile t for t - halo … t + halo; empty: each for all

  friend bool operator==(const Wait&, const Wait&) = default;
};

struct StageWaits {
  bool everybody = false; // begins when all groups have ended everything before it
  bool announced = false; // some wait is for this stage
  std::vector<Wait> waits;
};

struct Synchronization {
  TileOrder order = TileOrder::strided;
  std::vector<StageWaits> stages; // of the schedule
};

// Waits of a wave are at most so many; a stage with more waits for everybody.
inline constexpr std::size_t most_waits_per_wave = 8;

// The order of the tiles is strided with everybody, and blocked otherwise: waits for neighbours need runs of
// tiles.
Synchronization synchronize(const ResolvedProgram& program, const Schedule& schedule,
                            const MemoryLayout& memory, Strategy strategy);

} // namespace tidegate::engine
