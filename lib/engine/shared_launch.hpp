// Decides which waves can share a launch, and with what work-group size and compiler options.
#pragma once
#include "engine/job.hpp"
#include "engine/outlined_ops.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace tidegate::engine {

// Most images and samplers that a kernel may have as parameters.

struct ObjectLimits {
  std::uint32_t read_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t read_write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t samplers = std::numeric_limits<std::uint32_t>::max();
};

// Limits of a shared kernel.
struct KernelLimits {
  std::uint32_t group_size = 256;
  // Tiles that a work-group runs concurrently, for the waves that determine its size; 0: always one, also for
  // smaller waves.
  std::uint32_t tiles_side_by_side = 0;
  bool named_barriers = false;   // available, so that kernels with barriers can run several tiles
  std::uint64_t local_bytes = 0; // for the local variables of all waves
  ObjectLimits objects;
  bool barrier_kernels_share = true; // as cases of one kernel
  bool items_idle =
      false; // of a larger work-group, in kernels with barriers; PoCL (3.1) may copy a barrier after a condition
  bool one_call_with_barriers = false; // to a function with barriers; PoCL (3.1) miscompiles several
};

// Properties of a shared launch, and the waves that cannot be part of it.
struct SharedLaunch {
  std::uint32_t group_size = 0;       // work-items
  std::uint32_t main_options = 0;     // unit whose compiler options the generated kernel uses
  std::vector<std::string> obstacles; // by wave: why it cannot join; or empty
};
SharedLaunch shared_launch(const Job& program, const OutlinedOps& ops, const KernelLimits& limits);

// Returns the ops that would have fewer waves alone if work-items of a larger work-group idled.
std::set<std::uint32_t> ops_to_idle(const Job& program, const OutlinedOps& ops, const KernelLimits& limits);

// Returns the tiles of a wave, or of all waves of a window.
std::uint64_t tiles_as_written(const ProgramWave& wave);

} // namespace tidegate::engine
