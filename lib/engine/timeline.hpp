// The timeline of a traced run, and where the time of its waves went.
#pragma once
#include "runtime/trace.hpp"

namespace tidegate::engine {
struct CompiledProgram;

// The time of a wave in a traced run, or of several waves that ran as one task.
struct WaveTime {
  std::string waves; // for people, joined by " + "
  std::uint64_t executions = 0;
  std::uint64_t time_ns = 0;      // from the first start to the last end of each execution
  std::uint64_t work_ns = 0;      // of all work-groups
  std::uint64_t wait_ns = 0;      // of all work-groups, for others, before they began it
  std::uint64_t buffer_bytes = 0; // of the buffers that an execution reads and writes
  std::uint64_t critical_ns = 0;  // part of the critical path
};

// The critical path leads backwards from the task that ended last: from each task to the one that ended last among
// those that it waited for and the one before it in its work-group.
struct WaveTimes {
  std::vector<WaveTime> waves;          // the longest part of the critical path first
  std::uint64_t critical_path_ns = 0;   // from the begin of its first task
  std::uint64_t synchronization_ns = 0; // part of it between tasks: signals, barriers, launches
  double device_bytes_per_ns = 0;       // memory rate that the self-test measured; 0: unknown
};

// Returns where the time went; nothing if spans are missing. `device_bytes_per_ns` is copied.
std::optional<WaveTimes> wave_times_of(const engine::CompiledProgram& compiled, const Trace& trace,
                                       std::uint32_t workers, double device_bytes_per_ns);

// Returns the timeline of a run; `until_met`: the condition held at its end.
Timeline timeline_of(const engine::CompiledProgram& compiled, const Trace& trace, bool until_met);

} // namespace tidegate::engine
