// Checks on a device that waves stay within the halos that the program states. The program runs wave by wave,
// as plain launches of kernels that report every subscript (lib/opencl_c/accesses.hpp). The earlier
// wave of a dependency records the tiles that touched each element, and the later wave checks that they are
// near enough.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>

namespace tidegate::engine {

// Runs the program as written, without writing outputs. Ends at the first violation or when time is up.
// Errors: of the device, of building, of the program's files.
Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
