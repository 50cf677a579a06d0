// The launches of a program: barriers divide its waves into groups, which become stages; waves that cannot share a
// launch are launched alone, as the user wrote them.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/outline.hpp"
#include "runtime/monitor.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::engine {

using device::is_persistent;
using device::Strategy;
using device::strategy_names;
using device::tile_mapping_names;
using device::TileMapping;

struct OutlinedOps {
  std::vector<std::string> texts;                // by unit; empty without a wave
  std::vector<std::uint32_t> order;              // order of the texts in the source
  std::vector<opencl_c::OutlinedKernel> kernels; // by op
  std::vector<std::string> alone;                // by op: why it is launched as the user wrote it; or empty
  std::vector<std::map<std::string, std::string>> renamed; // by unit: old and new names of file scope

  // Returns a type's name in the texts.
  [[nodiscard]] std::string type_text(std::uint32_t unit, const std::string& type) const {
    const std::size_t tag = type.rfind(' ') + 1; // "struct point"
    const auto found = renamed[unit].find(type.substr(tag));
    return found == renamed[unit].end() ? type : type.substr(0, tag) + found->second;
  }
};

// Outlines every op that a wave runs. Renames file-scope names that two units share or that could collide
// with generated code.
Result<OutlinedOps> outline_ops(const Job& program);

// Limits of a shared kernel.
struct KernelLimits {
  std::uint32_t group_size = 256;
  // Tiles that a work-group runs concurrently, for the waves that determine its size; 0: always one, also for
  // smaller waves.
  std::uint32_t tiles_side_by_side = 0;
  bool named_barriers = false;   // available, so that kernels with barriers can run several tiles
  std::uint64_t local_bytes = 0; // for the local variables of all waves
  std::uint32_t read_images = std::numeric_limits<std::uint32_t>::max(); // parameters of a kernel
  std::uint32_t samplers = std::numeric_limits<std::uint32_t>::max();
  bool barrier_kernels_share = true;   // as cases of one kernel
  bool one_call_with_barriers = false; // to a function with barriers; PoCL (3.1) miscompiles several
};

// Properties of a shared launch, and the waves that cannot be part of it.
struct SharedLaunch {
  std::uint32_t group_size = 0;            // work-items
  std::uint32_t main_options = 0;          // unit whose compiler options the generated kernel uses
  std::vector<std::string> obstacles = {}; // by wave: why it cannot join; or empty
};
SharedLaunch shared_launch(const Job& program, const OutlinedOps& ops, const KernelLimits& limits);

struct Stage {
  std::vector<std::uint32_t> waves;
  std::uint64_t tiles = 0; // of the waves as written: a window's tiles count once for each of its waves
  std::uint32_t packs = 0; // packs of these tiles
  std::uint32_t row = 0;   // in the tables of a launch: shared stages before it
  bool plain = false;      // its only wave is launched as the user's kernel
};

// A wave that cannot share a launch, and why.
struct Fallback {
  std::uint32_t wave = 0;
  std::string reason;
};

// An image that no wave writes, or a sampler. OpenCL C forbids both in memory, so each is a parameter of the generated
// kernel, and an op has a case for each set of them that it is called with.
struct KernelObject {
  std::optional<std::uint32_t> image = {}; // index of the buffer whose memory it is; none: a sampler
  SamplerSpec sampler{};

  friend bool operator==(const KernelObject&, const KernelObject&) = default;
};

// The place of a wave: its stage, and the packs of that stage before its own.
struct WavePlace {
  std::uint32_t stage = 0;
  std::uint32_t first_pack = 0;
};

// Stages in order; a range of them repeats:
//
//   before | repeat_begin …  repeat_end | after
//   once   | in each iteration          | once
struct Schedule {
  std::uint32_t group_size = 0; // work-items of each work-group that runs tiles
  std::vector<Stage> stages;
  std::vector<WavePlace> places;         // by wave
  std::vector<std::uint32_t> row_stages; // by row of the tables of a launch: its stage, which is not plain
  std::size_t repeat_begin = 0;          // index of a stage
  std::size_t repeat_end = 0;
  std::vector<std::uint32_t> tiles_per_pack; // by wave: tiles that a work-group runs concurrently
  std::vector<Fallback> fallbacks;
  std::vector<KernelObject> objects;               // parameters of the generated kernel
  std::uint32_t main_options = 0;                  // unit whose compiler options the generated kernel uses
  std::vector<std::vector<std::uint32_t>> storage; // storage[phase][buffer]: the buffer whose memory it uses

  [[nodiscard]] std::uint32_t phases() const { return static_cast<std::uint32_t>(storage.size()); }
  // Returns what an image or sampler argument is in a swap phase, and its index among the objects.
  [[nodiscard]] KernelObject object_of(const ProgramArgument& argument, std::uint32_t phase) const;
  [[nodiscard]] std::size_t object_index(const ProgramArgument& argument, std::uint32_t phase) const {
    return static_cast<std::size_t>(std::ranges::find(objects, object_of(argument, phase)) - objects.begin());
  }
  // Returns true if a persistent launch can run all iterations, or even all stages.
  [[nodiscard]] bool repeats_in_one_launch() const;
  [[nodiscard]] bool is_one_launch() const;
  [[nodiscard]] const Stage& stage_of(std::uint32_t wave) const { return stages[places[wave].stage]; }
  [[nodiscard]] std::uint32_t packs(const Job& program, std::uint32_t wave) const {
    const std::uint32_t pack = tiles_per_pack[wave];
    return program.waves[wave].range.tiles() / pack + (program.waves[wave].range.tiles() % pack != 0 ? 1 : 0);
  }
  // Returns the shared stages before a stage, or before the end.
  [[nodiscard]] std::uint32_t rows_before(std::size_t stage) const {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(row_stages, stage) - row_stages.begin());
  }
  [[nodiscard]] bool repeats(std::size_t stage) const { return repeat_begin <= stage && stage < repeat_end; }
  // Returns how often a stage has run when a run has come to `at`.
  [[nodiscard]] std::uint64_t runs_of(std::size_t stage, const Position& at) const {
    const bool in_iteration = stage < at.stage && !(repeats(stage) && at.stage >= repeat_end);
    return (repeats(stage) ? at.iteration : 0) + (in_iteration ? 1 : 0);
  }
};

// Sets the rows of all stages and the places of all waves.
void number_rows(const Job& program, Schedule& schedule);

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
