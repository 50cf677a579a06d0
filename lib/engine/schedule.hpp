// In what launches a program runs: its groups of waves become stages, and waves that cannot share a launch
// with others are launched alone, as the user wrote them.
#pragma once
#include "engine/outlined_ops.hpp"
#include "engine/shared_launch.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

enum class Strategy : std::uint8_t {
  launch,   // one launch for each stage
  barrier,  // persistent: device-wide barriers between the stages
  counters, // persistent: a work-group waits for those whose tiles its own depend on
  plain,    // one launch for each wave, of the user's own kernel: nothing is generated
};
inline constexpr std::array<std::string_view, 4> strategy_names{"launch", "barrier", "counters", "plain"};

constexpr bool is_persistent(Strategy strategy) {
  return strategy == Strategy::barrier || strategy == Strategy::counters;
}

struct Stage {
  std::vector<std::uint32_t> waves;
  std::uint64_t tiles = 0; // of the waves as they were written: those of a window count for each of its waves
  std::uint32_t packs = 0; // that the work-groups run them in
  bool plain = false;      // its one wave is launched as the user's kernel
};

// Why a wave cannot ride in a persistent launch.
struct Fallback {
  std::uint32_t wave = 0;
  std::string reason;
};

// Stages one after another, of which a range repeats:
//
//   before | repeat_begin …  repeat_end | after
//   once   | in each iteration          | once
struct Schedule {
  std::uint32_t group_size = 0; // work-items of the work-groups that serve the tiles
  std::vector<Stage> stages;
  std::size_t repeat_begin = 0; // in stages
  std::size_t repeat_end = 0;
  std::vector<std::uint32_t> tiles_per_pack; // by wave, that a work-group runs side by side
  std::vector<Fallback> fallbacks;
  std::uint32_t main_options = 0; // the unit whose compiler options the generated kernel takes
  std::vector<std::vector<std::uint32_t>> places; // places[phase][buffer]: in whose memory it is, by swaps

  [[nodiscard]] std::uint32_t phases() const { return static_cast<std::uint32_t>(places.size()); }
  [[nodiscard]] bool any_plain() const;
  [[nodiscard]] std::uint32_t packs(const ResolvedProgram& program, std::uint32_t wave) const {
    const std::uint32_t pack = tiles_per_pack[wave];
    return program.waves[wave].range.tiles() / pack + (program.waves[wave].range.tiles() % pack != 0 ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t tiles_in(std::size_t begin, std::size_t end) const; // of these stages
  [[nodiscard]] std::uint64_t tiles_once() const { return tiles_in(0, stages.size()); }
  [[nodiscard]] std::uint64_t tiles_per_iteration() const { return tiles_in(repeat_begin, repeat_end); }
  // Of a whole run.
  [[nodiscard]] std::uint64_t tiles_in_all(std::uint64_t iterations) const {
    return tiles_once() + (iterations - 1) * tiles_per_iteration();
  }
};

// Stages for a plan's groups. With `launch`, a stage of one wave is the user's own kernel: there is nothing
// to share. invalid_program for swaps that take more than 64 iterations to come round.
Result<Schedule> make_schedule(const ResolvedProgram& program, const OutlinedOps& ops,
                               const planning::WaveGroups& groups, Strategy strategy,
                               const KernelLimits& limits);

// An independent look at a schedule, from its definition: every wave in exactly one stage, in the range of
// its phase, every dependency from an earlier stage to a later one. The first violation as a sentence, or an
// empty string.
std::string schedule_violation(const ResolvedProgram& program, const Schedule& schedule);

} // namespace tidegate::engine
