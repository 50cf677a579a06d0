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

// The first access beyond a stated halo.
struct HaloViolation {
  std::string wave;
  std::string op;
  std::uint64_t argument = 0;
  std::string parameter; // its name
  std::string buffer;
  std::uint64_t iteration = 0;
  bool writes = false;
  std::uint64_t subscript = 0; // as in the kernel
  std::uint32_t dimension = 0;
  std::uint32_t tile = 0;           // in this dimension
  std::vector<std::uint32_t> tiles; // its place in all of them
  std::string before;               // that tile in all dimensions
  std::uint32_t before_tile = 0;    // tile of the earlier wave that touched the element
  std::uint32_t first_allowed = 0;  // of the earlier wave
  std::uint32_t last_allowed = 0;
};

// A use of a pointer that is not a subscript and therefore not checked.
struct UnwatchedAccess {
  std::string kernel;
  std::string parameter;
  std::string file;
  std::uint64_t line = 0;
};

struct HaloReport {
  std::uint64_t stated_halos = 0; // between two waves' arguments
  std::uint64_t looked_at = 0;    // halos for which an access was checked
  std::uint64_t checked_waves = 0;
  bool complete = true; // the program finished in time, or reached a violation
  std::optional<HaloViolation> violation;
  std::vector<UnwatchedAccess> unwatched;
};

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
