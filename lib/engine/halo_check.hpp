// Whether waves stay inside the halos that the program states, by the device's own word: the program runs
// wave by wave, as plain launches of kernels that tell of every subscript
// (lib/opencl_c/watched_accesses.hpp). The earlier wave of a dependency leaves behind which tiles touched an
// element, and the later one looks whether those are near enough to its own.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>

namespace tidegate::engine {

// Runs the program as it was written; no output is written. Ends at the first wave that reaches too far, and
// when time is up. Errors: of the device, of building, of the program's files.
Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               std::uint64_t max_wall_time_ns, Monitor& monitor);

} // namespace tidegate::engine
