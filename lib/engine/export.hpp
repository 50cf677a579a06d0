// A compiled program as a folder that needs neither tidegate nor its JSON.
#pragma once
#include "engine/compile.hpp"
#include "engine/device_memory.hpp"
#include "engine/run_report.hpp"
#include "engine/slices.hpp"

#include <string>
#include <vector>

namespace tidegate::engine {

// Errors: cannot_export for what the host program does not do: launches between persistent ones, images, queues, hits.
Result<void> check_exportable(const CompiledProgram& compiled);

// Writes the generated kernel, its tables, the first contents of buffers and a host program in C (kernels/host/main.c)
// with a Makefile into a folder, which is made if it is missing. The program is exportable; `outputs` are those of a run
// that was equal to plain launches and wrote its files. Errors: cannot_export for an output whose file is not a header
// and the buffer's bytes; cannot_write.
Result<std::vector<WrittenFile>> export_program(const CompiledProgram& compiled, const DispatchLimits& limits,
                                                const device::DeviceInfo& device, const HostContents& first,
                                                const HostContents& outputs, const std::string& folder);

} // namespace tidegate::engine
