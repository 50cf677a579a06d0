// Waves as ordinary launches of the user's kernels: what a host program would do.
#pragma once
#include "device/command_buffer.hpp"
#include "device/monitor.hpp"
#include "device/opencl.hpp"
#include "engine/device_images.hpp"
#include "engine/queue_rounds.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {

// The user's sources, built as they are.
class PlainPrograms {
public:
  // `instead` has texts for units whose own is not to be built. Throws device::Refused: kernel_source,
  // kernel_options, build_failure, with the log.
  PlainPrograms(const device::Session& session, const ResolvedProgram& program,
                const std::vector<std::uint32_t>& waves,
                const std::map<std::uint32_t, std::string>& instead = {});

  // A new kernel object for an op.
  [[nodiscard]] cl::Kernel kernel(std::uint32_t op) const;

private:
  const ResolvedProgram& program_;
  std::map<std::uint32_t, cl::Program> units_;
};

// Kernel objects with their arguments set, one for each wave and phase of the swaps, so that a launch is
// nothing but a launch.
class PlainWaves {
public:
  // `memory` and `images` hold each buffer and image by its index; places[phase][buffer] says whose memory it
  // has then. Throws device::Refused.
  PlainWaves(const device::Session& session, const PlainPrograms& programs, const ResolvedProgram& program,
             const std::vector<std::uint32_t>& waves, const std::vector<std::vector<std::uint32_t>>& places,
             const std::vector<cl::Buffer>& memory, const DeviceImages& images,
             QueueWay way = QueueWay::check);

  // Enqueues one wave, as it is after so many iterations; on a CPU the first one of an op and a work-group
  // size is waited for, because the driver compiles then. `event` may be null. False where a queue was not
  // drained, of which `deadline` may be the cause. Throws device::Refused.
  bool launch(std::uint32_t wave, std::uint32_t iteration, std::chrono::steady_clock::time_point deadline,
              cl::Event* event = nullptr);

  // Whether a wave is the same launch in every iteration of a phase.
  [[nodiscard]] bool repeats(std::uint32_t wave) const;

  // Records a wave that repeats, as it is in a phase. Throws device::Refused.
  void record(std::uint32_t wave, std::uint32_t phase, CommandBuffer& commands) const;

  // Of a wave in a phase, for arguments behind those of the wave.
  [[nodiscard]] cl::Kernel& kernel(std::uint32_t wave, std::uint32_t phase) {
    return prepared_.at({wave, phase}).kernel;
  }

  // What first launches have spent compiling so far.
  [[nodiscard]] std::uint64_t compile_ns() const { return compile_ns_; }

  // Of everything so far: a queue may take several.
  [[nodiscard]] std::uint64_t launches() const { return launches_; }

private:
  struct Prepared {
    cl::Kernel kernel;
    cl::NDRange offset, global, local;
    cl::Buffer from, to; // of a transfer, which has no kernel
    std::vector<cl::Sampler> samplers{};
  };

  void set_progressions(std::uint32_t wave, std::uint32_t iteration, cl::Kernel& kernel);
  cl_int transfer(const Transfer& what, const Prepared& prepared, cl::Event* event);

  const device::Session& session_;
  const ResolvedProgram& program_;
  const std::uint32_t phases_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Prepared> prepared_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, QueueRounds> queues_; // that take more than one launch
  std::set<std::pair<std::uint32_t, std::array<std::uint32_t, 3>>> compiled_; // op and work-group size
  std::uint64_t compile_ns_ = 0;
  std::uint64_t launches_ = 0;
};

// A program one wave after the other, with a look at what each has left before the next one runs.

struct WaveByWave {
  // Runs a wave in an iteration and says whether to go on.
  std::function<bool(std::uint32_t wave, std::uint32_t iteration)> run;
  // Reads element 0 of the buffer whose memory this is.
  std::function<void(std::uint32_t place, std::span<std::byte> value)> read;
};

// The waves in the program's order, iteration by iteration, until one says that it is enough.
void run_wave_by_wave(const ResolvedProgram& program, const std::vector<std::vector<std::uint32_t>>& places,
                      Monitor& monitor, const WaveByWave& how);

} // namespace tidegate::engine
