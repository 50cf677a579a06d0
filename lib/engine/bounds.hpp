// Detects accesses out of bounds, which devices do not report: the program runs wave by wave, as plain
// launches, and the guards around every buffer are checked after each.
//
//   arena:  [guard][  buffer a  ][guard]  [guard][ buffer b ][guard] …
//
// A guard holds a pattern that depends on the offset; the wave that has just ended wrote any changed byte. In
// Oclgrind, which checks every access itself, each buffer is a separate allocation instead.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Runs the program without writing outputs. Ends at the first wave that wrote out of bounds, with all bytes
// that it changed, or at the monitor's deadline, which starts after the build. Errors: of the device, of
// building, of the program's files.
Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  const RunOptions& options, Monitor& monitor);

// Returns true for Oclgrind's simulator.
bool is_simulator(const device::DeviceInfo& device);

// Returns the runtime of Oclgrind: TIDEGATE_OCLGRIND, or where Debian and others install it. Empty if there
// is none.
std::string find_simulator();

// Returns the findings in Oclgrind's log, one for each kernel, line and kind of access.
std::vector<SimulatorFinding> parse_simulator_log(std::string_view log);

struct SimulatorRun {
  std::vector<SimulatorFinding> findings;
  bool complete = true; // false if the command's wall time or an interrupt ended it
};

// Runs `command` (this tool with --check-bounds) in `folder` under the simulator with this runtime and with
// `input` as standard input. Kernels are not optimised there: that takes about twice as long, but accesses keep
// their lines, and the optimiser makes functions that the simulator lacks (llvm.usub.sat.i32 of
// a > b ? a - b : 0). Errors: program_failed, with what the command wrote to standard error.
Result<SimulatorRun> run_in_simulator(const std::string& runtime, const std::string& folder,
                                      const std::vector<std::string>& command, std::string_view input);

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
