// Accesses out of bounds, which no device tells of by itself: the program runs wave by wave, as plain
// launches, and what lies around every buffer is looked at after each.
//
//   arena:  [guard][  buffer a  ][guard]  [guard][ buffer b ][guard] …
//
// A guard holds a pattern that depends on the place; a byte that has changed was written by the wave that has
// just ended. In Oclgrind, which checks every access itself, each buffer is an allocation of its own instead.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Runs the program; no output is written. Ends at the first wave that has written out of bounds, with all
// that it has changed, and at the monitor's deadline, which begins to count when the kernels are built.
// Errors: of the device, of building, of the program's files.
Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  std::uint64_t max_wall_time_ns, Monitor& monitor);

// Whether the device is Oclgrind's simulator.
bool is_simulator(const device::DeviceInfo& device);

// The runtime of Oclgrind, where it is installed: TIDEGATE_OCLGRIND, or what Debian and others install.
// Empty: none.
std::string find_simulator();

// What Oclgrind's log tells, one for each kernel, line and kind of access; of alike ones the first.
std::vector<SimulatorFinding> parse_simulator_log(std::string_view log);

// Runs `command` (this tool, with --check-bounds) in `folder` and in the simulator with this runtime, with
// `input` as its standard input.
Result<std::vector<SimulatorFinding>> run_in_simulator(const std::string& runtime, const std::string& folder,
                                                       const std::vector<std::string>& command,
                                                       std::string_view input);

} // namespace tidegate::engine
