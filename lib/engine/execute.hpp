// A compiled program on its device: build, prove the schedule, dispatch, prove the outputs, write them.
#pragma once
#include "device/monitor.hpp"
#include "engine/arena_run.hpp"
#include "engine/compile.hpp"
#include "engine/proof.hpp"
#include "engine/run_options.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::engine {

// What each pass has made.
struct ExecutedProgram {
  std::uint64_t build_ns = 0;
  bool built_from_cache = false;
  bool generated_kernel = false; // there is one
  Residency residency;
  ArenaRun run;
  std::optional<Proof> proof; // where it was asked for, and the run was done
  std::vector<WrittenFile> files_written;
};

// What bounds its dispatches.
DispatchLimits dispatch_limits(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, const Residency& residency);

// Outputs are written when the run is done and equal to the plain launches it was compared with. Errors: of
// the device, of building, of the program's files. What ends without outputs (deadline, interrupt, hang,
// outputs that differ) is no error here: the report tells it.
Result<ExecutedProgram> execute(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
