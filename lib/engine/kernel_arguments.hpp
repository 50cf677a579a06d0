// The arguments of the generated kernels, in their order: tidegate_persistent (kernels/wave/persistent.cl) and
// tidegate_stage (kernels/wave/stage.cl).
#pragma once
#include "device/opencl.hpp"
#include "engine/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tidegate::engine {

// Index of the first image or sampler among a generated kernel's arguments.
constexpr cl_uint first_object_argument(Strategy strategy) {
  constexpr cl_uint of_persistent = 26;
  constexpr cl_uint of_stage = 6; // arena, entries, words, local memory, first entry, iteration
  return is_persistent(strategy) ? of_persistent : of_stage;
}

// Room for local arguments, never 0, so that the parameter can be set.
inline std::size_t local_room(std::uint64_t dynamic_local_bytes) {
  return std::max<std::size_t>(dynamic_local_bytes, sizeof(cl_ulong16));
}

struct PersistentArguments {
  enum Memory : std::uint8_t { arena, stages, entries, waits, words, counters, progress, poll, memory_count };
  std::array<cl::Buffer, memory_count> memory;
  cl_uint stage_count = 0;
  cl_uint wait_count = 0;
  cl_uint stage_end = 0;    // one past the last stage of the launch
  cl_uint repeat_begin = 0; // range of stages that the launch repeats
  cl_uint repeat_end = 0;
  cl_uint steps = 0; // of an iteration
  cl_uint phase_count = 1;
  cl_uint entries_per_phase = 0;
  cl_uint order = 0;      // a TileOrder
  cl_uint iterations = 0; // 0: only count the resident groups
  cl_uint iteration = 0;  // start of the slice
  cl_uint stage = 0;
  cl_uint round = 0;
  cl_uint budget = 0;   // rounds of the slice; when counting groups, polls to settle
  cl_uint arrivals = 0; // at the barrier so far
  cl_uint arrivals_per_barrier = 0;
  cl_uint most_polls = 0;

  // Throws device::Refused.
  void set(cl::Kernel& kernel, std::uint64_t dynamic_local_bytes) const {
    cl_uint index = 0;
    for (const cl::Buffer& buffer : memory) {
      device::require(kernel.setArg(index++, buffer), "setting an argument of the persistent kernel");
    }
    for (const cl_uint value :
         {stage_count, wait_count, stage_end, repeat_begin, repeat_end, steps, phase_count, entries_per_phase,
          order, iterations, iteration, stage, round, budget, arrivals, arrivals_per_barrier, most_polls}) {
      device::require(kernel.setArg(index++, value), "setting an argument of the persistent kernel");
    }
    device::require(kernel.setArg(index++, local_room(dynamic_local_bytes), nullptr),
                    "setting the local memory of the persistent kernel");
  }
};

struct StageArguments {
  static constexpr cl_uint nothing = ~cl_uint{0}; // as first entry: an empty launch

  cl::Buffer arena, entries, words;
  cl_uint first_entry = nothing;
  cl_uint iteration = 0;

  // Throws device::Refused.
  void set(cl::Kernel& kernel, std::uint64_t dynamic_local_bytes) const {
    cl_uint index = 0;
    for (const cl::Buffer& buffer : {arena, entries, words}) {
      device::require(kernel.setArg(index++, buffer), "setting an argument of a stage");
    }
    device::require(kernel.setArg(index++, local_room(dynamic_local_bytes), nullptr),
                    "setting the local memory of a stage");
    for (const cl_uint value : {first_entry, iteration}) {
      device::require(kernel.setArg(index++, value), "setting an argument of a stage");
    }
  }
};

} // namespace tidegate::engine
