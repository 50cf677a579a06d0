// Detects accesses out of bounds, which devices do not report: the program runs wave by wave, as plain
// launches, and the guards around every buffer are checked after each.
//
//   arena:  [guard][  buffer a  ][guard]  [guard][ buffer b ][guard] …
//
// A guard holds a pattern; the wave that has just ended wrote any changed byte. What is written beyond all guards may
// crash the driver: the waiting process then names the wave (device::WorkNotes::checked).
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

// Runs the program without writing outputs. Ends at the first wave that wrote out of bounds, with all bytes
// that it changed, or at the monitor's deadline, which starts after the build. Errors: of the device, of
// building, of the program's files.
Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  const RunOptions& options, Monitor& monitor);

// A halo between two waves that access the same memory, one of them writing: there tile t of `after` touches
// only elements of tiles t - halo … t + halo of `before`. `before` runs earlier, in the same or a previous
// iteration; it may be the same wave.
struct StatedHalo {
  std::uint32_t before = 0;
  std::uint32_t before_argument = 0;
  std::uint32_t after = 0;
  std::uint32_t after_argument = 0;
  std::array<std::uint32_t, 3> halo{};
  bool in_iteration = false; // holds only for accesses in the same iteration

  friend bool operator==(const StatedHalo&, const StatedHalo&) = default;
};

// Collects the halos of dependencies, and of argument pairs that both have a halo, at least one of them
// stated. `storage` maps buffers to memory for each phase of the swaps.
std::vector<StatedHalo> stated_halos(const Job& program,
                                     const std::vector<std::vector<std::uint32_t>>& storage);

// Runs the program as written, without writing outputs. Ends at the first violation or when time is up.
// Errors: of the device, of building, of the program's files.
Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
