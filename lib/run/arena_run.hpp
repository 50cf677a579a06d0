// One run of a built program in its arena, from the first byte uploaded to the last one read back.
#pragma once

#include <tidegate/compiler/compile.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/built_program.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/monitor.hpp>

#include <cstdint>
#include <optional>

namespace tidegate::run {

// What `until` looked at, after the last iteration.
struct UntilState {
  bool reached = false;
  std::vector<std::byte> value; // one element
};

struct ArenaRun {
  DispatchOutcome outcome;
  std::optional<UntilState> until;
  std::vector<QueueOutcome> queues; // of the waves that have one
  HostContents outputs;         // by buffer, empty for one without an output; nothing unless the run is done
  std::uint64_t publish_ns = 0; // making and filling the device's memory
  std::uint64_t upload_ns = 0;  // of that, what buffers and images hold at first, until it is there
  std::uint64_t read_back_ns = 0; // outputs, and the states of queues
  std::uint64_t uploaded_bytes = 0;
};

// Allocates the arena, fills it, dispatches, reads the outputs back and gives the memory back. Throws
// device::Refused.
ArenaRun run_in_arena(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
                      const HostContents& first, const DispatchLimits& limits, Monitor& monitor);

} // namespace tidegate::run
