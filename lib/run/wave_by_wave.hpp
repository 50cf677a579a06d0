// A program one wave after the other, with a look at what each has left before the next one runs.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/monitor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tidegate::run {

struct WaveByWave {
  // Runs a wave in an iteration and says whether to go on.
  std::function<bool(std::uint32_t wave, std::uint32_t iteration)> run;
  // Reads element 0 of the buffer whose memory this is.
  std::function<void(std::uint32_t place, std::span<std::byte> value)> read;
};

// The waves in the program's order, iteration by iteration, until one says that it is enough.
void run_wave_by_wave(const ResolvedProgram& program, const std::vector<std::vector<std::uint32_t>>& places,
                      Monitor& monitor, const WaveByWave& how);

} // namespace tidegate::run
