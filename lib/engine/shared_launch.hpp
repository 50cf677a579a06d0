// Which waves can share a launch, and what it is made of.
#pragma once
#include "engine/outlined_ops.hpp"
#include "work/resolved_program.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tidegate::engine {

// How many images and samplers a kernel may have as parameters.

struct ObjectLimits {
  std::uint32_t read_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t read_write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t samplers = std::numeric_limits<std::uint32_t>::max();
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
  bool barrier_kernels_share = true;   // as cases of one kernel
  bool one_call_with_barriers = false; // of a function that meets barriers: PoCL (3.1) miscompiles several
};

// What a launch that waves share would be made of, and which waves cannot be part of it.
struct SharedLaunch {
  std::uint32_t group_size = 0;       // work-items
  std::uint32_t main_options = 0;     // the unit whose compiler options the generated kernel takes
  std::vector<std::string> obstacles; // by wave: why not; or empty
};
SharedLaunch shared_launch(const ResolvedProgram& program, const OutlinedOps& ops,
                           const KernelLimits& limits);

// Tiles of a wave, or of all those of a window.
std::uint64_t tiles_as_written(const ProgramWave& wave);

} // namespace tidegate::engine
