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
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

enum class Side : std::uint8_t { before, after };
inline constexpr std::array<std::string_view, 2> side_names{"before", "after"}; // in documents

// A wave that wrote outside a buffer.
struct BoundsViolation {
  std::string wave;
  std::uint64_t iteration = 0;
  std::string buffer;
  Side side = Side::after;
  std::uint64_t distance_bytes = 0; // of the nearest changed byte; 0: the first byte past the end
  std::uint64_t changed_bytes = 0;  // of the guard
  std::uint64_t buffer_bytes = 0;
};

// Returns where it wrote: past the end of "sums" (first byte at offset 280, 4 bytes changed).
std::string place_text(const BoundsViolation& violation);

struct BoundsReport {
  std::uint64_t guard_bytes = 0;   // on each side of each buffer
  std::uint64_t checked_waves = 0; // launches after which the guards were checked
  bool complete = true;            // the program finished in time, or reached a violation
  std::vector<BoundsViolation> violations;
};

// Runs the program without writing outputs. Ends at the first wave that wrote out of bounds, with all bytes
// that it changed, or at the monitor's deadline, which starts after the build. Errors: of the device, of
// building, of the program's files.
Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
