// How a run or a dispatch ended: facts that every report of a run begins with.
#pragma once
#include "device/calls.hpp"
#include "device/monitor.hpp"
#include "engine/launch_times.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

enum class RunStatus : std::uint8_t {
  done,
  planned,        // --dry-run: no device was used
  deadline,       // the wall time was exceeded
  interrupted,    // by a signal
  hang,           // a wait on the device timed out
  outputs_differ, // from those of plain launches
  checked,        // --check bounds: no violation
  out_of_bounds,  // --check bounds: a violation
  queue_failed,   // an item failed, or the remaining items make no progress
  hits_overflow,  // a list has no room for all hits
};
inline constexpr std::array<std::string_view, 10> run_status_names{
    "done",           "planned", "deadline",      "interrupted",  "hang",
    "outputs_differ", "checked", "out_of_bounds", "queue_failed", "hits_overflow"};

// A work-group whose wait timed out.
struct StuckGroup {
  std::uint32_t group = 0;
  std::uint64_t iteration = 0;
  std::uint32_t stage = 0;        // the stage to start
  std::vector<std::string> waves; // of the stage
  std::uint64_t tile = 0;         // its first tile, as an index into the stage
  std::string counter;            // the counter that it polled
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
};

struct DispatchOutcome {
  RunStatus status = RunStatus::done; // or deadline, interrupted, hang, queue_failed
  std::uint64_t iterations = 0;       // that were completed
  bool until_met = false;
  Position reached;              // of a wave program; its stages are those of the schedule
  device::CallCounts calls;      // of the dispatch
  std::uint64_t dispatch_ns = 0; // until the last launch has ended
  std::chrono::steady_clock::time_point ended_at;
  std::vector<std::uint64_t> slices_ns; // of the first ones
  std::vector<StuckGroup> stuck_groups;
  std::uint64_t compile_ns = 0; // in first launches, not part of dispatch_ns
  bool waited = false;          // time was up while work-groups waited for each other
  std::optional<Trace> trace;   // where it was asked for
};

// A file that the run wrote in addition to its report.
struct WrittenFile {
  std::string file;
  std::string what; // "buffer \"heat\"", "image \"photo\"", "generated kernel", "trace", "page"
  std::uint64_t bytes = 0;
};

// Time that a run may still take after it was asked to stop, before the process ends.
inline constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

// Returns the entry of a file that is there, with its size.
WrittenFile written_file(const std::string& file, std::string what);

// Writes a file, which appears complete or not at all. Errors: cannot_write.
Result<WrittenFile> write_file(const std::string& file, std::string_view text, std::string what);

} // namespace tidegate::engine
