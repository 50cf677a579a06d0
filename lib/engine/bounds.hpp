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

// Runs `command` (this tool with --check-bounds) in `folder` under the simulator with this runtime and with
// `input` as standard input.
Result<std::vector<SimulatorFinding>> run_in_simulator(const std::string& runtime, const std::string& folder,
                                                       const std::vector<std::string>& command,
                                                       std::string_view input);

} // namespace tidegate::engine
