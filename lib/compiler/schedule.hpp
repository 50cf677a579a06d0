// In what launches a program runs: its groups of waves become stages, and waves that cannot share a launch
// with others are launched alone, as the user wrote them.
#pragma once

#include <tidegate/compiler/object_limits.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/outline.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

enum class Strategy : std::uint8_t {
  launch,   // one launch for each stage
  barrier,  // persistent: device-wide barriers between the stages
  counters, // persistent: a work-group waits for those whose tiles its own depend on
};
inline constexpr std::array<std::string_view, 3> strategy_names{"launch", "barrier", "counters"};

constexpr bool is_persistent(Strategy strategy) {
  return strategy != Strategy::launch;
}

// A kernel as a function, by op.
struct OutlinedOps {
  std::vector<std::string> texts;                // by unit; empty for one without a wave
  std::vector<std::uint32_t> order;              // of the texts, one behind the other
  std::vector<opencl_c::OutlinedKernel> kernels; // by op
  std::vector<std::string> alone;                // by op why it is launched as the user wrote it; or empty
  std::vector<std::map<std::string, std::string>>
      renamed; // by unit, names of file scope that have others now
};

// By unit, with the names of kernels as they are written.
using RegisterCopies = std::map<std::uint32_t, std::vector<opencl_c::RegisterCopy>>;

// Outlines every op that a wave runs. Names of file scope that two units share are renamed, and so are those
// that could be met by what is generated.
Result<OutlinedOps> outline_ops(const ResolvedProgram& program, const RegisterCopies& copies = {});

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

// What a shared kernel may be made of.
struct KernelLimits {
  std::uint32_t group_size = 256;
  // Tiles that a work-group runs side by side, of the waves that decide its size; 0: never several, also of
  // smaller ones.
  std::uint32_t tiles_side_by_side = 0;
  bool named_barriers = false;   // also of kernels with barriers
  std::uint64_t local_bytes = 0; // for the local variables of all of them
  ObjectLimits objects;
  bool one_call_with_barriers = false; // of a function that meets barriers: PoCL (3.1) miscompiles several
};

// What a launch that waves share would be made of, and which waves cannot be part of it.
struct SharedLaunch {
  std::uint32_t group_size = 0;       // work-items
  std::vector<std::string> obstacles; // by wave: why not; or empty
};
SharedLaunch shared_launch(const ResolvedProgram& program, const OutlinedOps& ops,
                           const KernelLimits& limits);

// Stages for a plan's groups. With `launch`, a stage of one wave is the user's own kernel: there is nothing
// to share. invalid_program for swaps that take more than 64 iterations to come round.
Result<Schedule> make_schedule(const ResolvedProgram& program, const OutlinedOps& ops,
                               const planning::WaveGroups& groups, Strategy strategy,
                               const KernelLimits& limits);

// An independent look at a schedule, from its definition: every wave in exactly one stage, in the range of
// its phase, every dependency from an earlier stage to a later one. The first violation as a sentence, or an
// empty string.
std::string schedule_violation(const ResolvedProgram& program, const Schedule& schedule);

} // namespace tidegate::compiler
