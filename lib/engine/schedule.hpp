// The launches of a program: barriers divide its waves into groups, which become stages; waves that cannot share a
// launch are launched alone, as the user wrote them.
#pragma once
#include "device/monitor.hpp"
#include "engine/job.hpp"
#include "engine/outlined_ops.hpp"
#include "engine/shared_launch.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {

using device::is_persistent;
using device::Strategy;
using device::strategy_names;
using device::tile_mapping_names;
using device::TileMapping;

struct Stage {
  std::vector<std::uint32_t> waves;
  std::uint64_t tiles = 0; // of the waves as written: a window's tiles count once for each of its waves
  std::uint32_t packs = 0; // packs of these tiles
  std::uint32_t row = 0;   // in the tables of a launch: shared stages before it
  bool plain = false;      // its only wave is launched as the user's kernel
  bool new_launch = false; // an earlier launch ends before it, so that its writes to images arrive
};

// A wave that cannot share a persistent launch, or for whose images one ends, and why.
struct Fallback {
  std::uint32_t wave = 0;
  std::string reason;
};

// Stages in order; a range of them repeats:
//
//   before | repeat_begin …  repeat_end | after
//   once   | in each iteration          | once
struct Schedule {
  std::uint32_t group_size = 0; // work-items of each work-group that runs tiles
  std::vector<Stage> stages;
  std::size_t repeat_begin = 0; // index of a stage
  std::size_t repeat_end = 0;
  std::vector<std::uint32_t> tiles_per_pack; // by wave: tiles that a work-group runs concurrently
  std::vector<Fallback> fallbacks;
  std::vector<Fallback> new_launches;              // waves for whose images a persistent launch ends
  std::uint32_t main_options = 0;                  // unit whose compiler options the generated kernel uses
  std::vector<std::vector<std::uint32_t>> storage; // storage[phase][buffer]: the buffer whose memory it uses
  bool launch_per_iteration = false;               // iterations write images, so no launch covers several

  [[nodiscard]] std::uint32_t phases() const { return static_cast<std::uint32_t>(storage.size()); }
  // Returns true if a persistent launch can run all iterations, or even all stages.
  [[nodiscard]] bool repeats_in_one_launch() const;
  [[nodiscard]] bool is_one_launch() const;
  [[nodiscard]] std::uint32_t packs(const Job& program, std::uint32_t wave) const {
    const std::uint32_t pack = tiles_per_pack[wave];
    return program.waves[wave].range.tiles() / pack + (program.waves[wave].range.tiles() % pack != 0 ? 1 : 0);
  }
  // Returns the shared stages before a stage, or before the end.
  [[nodiscard]] std::uint32_t rows_before(std::size_t stage) const {
    return stage == 0 ? 0 : stages[stage - 1].row + (stages[stage - 1].plain ? 0 : 1);
  }
  [[nodiscard]] bool repeats(std::size_t stage) const { return repeat_begin <= stage && stage < repeat_end; }
  // Returns how often a stage has run when a run has come to `at`.
  [[nodiscard]] std::uint64_t runs_of(std::size_t stage, const Position& at) const {
    const bool in_iteration = stage < at.stage && !(repeats(stage) && at.stage >= repeat_end);
    return (repeats(stage) ? at.iteration : 0) + (in_iteration ? 1 : 0);
  }
};

// Sets the rows of all stages.
void number_rows(Schedule& schedule);

// Makes stages from a plan's groups. With `launch` a stage of one wave is the user's own kernel, because it
// shares nothing. Returns invalid_program for swaps with a period of more than 64 iterations.
Result<Schedule> make_schedule(const Job& program, const OutlinedOps& ops,
                               const planning::BarrierGroups& groups, Strategy strategy,
                               const KernelLimits& limits);

// Checks a schedule independently, by its definition: every wave is in exactly one stage, in the range of its
// section, and every dependency leads from an earlier stage to a later one. Returns the first violation as a
// sentence, or an empty string.
std::string schedule_violation(const Job& program, const Schedule& schedule);

// Returns the given plan after checking it against the program, otherwise a layered plan under the budget
// (bytes; 0: none). Errors: invalid_plan, and those of the planner with their place in the program.
Result<planning::MemoryPlan> group_waves(const Job& program, std::uint64_t budget_bytes,
                                         const std::optional<planning::MemoryPlan>& given);

// Reports a cycle of dependencies as group_waves() does. Also works for programs with invalid waves.
Result<void> check_order(const Job& program);

} // namespace tidegate::engine
