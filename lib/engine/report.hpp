// Builds the report of a run from the results of the passes, all but its wall time.
#pragma once
#include "engine/execute.hpp"
#include "engine/run_report.hpp"

namespace tidegate::engine {

// Says where to look if outputs differ from those of plain launches: by the likely cause, or without one at what is most
// often the cause, a bug here last. For errors, warnings, and what an earlier run has kept.
std::string difference_fix(const std::optional<OutputParity>& parity, bool fp_contract_off);

// Returns the report of a program that was compiled and not run: --dry-run.
RunReport report_of_plan(const CompiledProgram& compiled);

// Returns the report of a run that ended in any way.
RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options);

RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options);

// Returns what the host knows of a run whose device does not respond.
RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options);

// How far a run has come (progress.cpp, as all below). An item is the work of one lane: a work-item of a wave, or an item of a queue.

struct WaveProgress {
  std::uint64_t items = 0;     // of one run of the wave
  std::uint64_t in_all = 0;    // of all its runs in the program, and those that ops published
  std::uint64_t processed = 0; // of these
  std::uint64_t runs = 0;      // that are complete
  std::uint64_t partial = 0;   // of a queue: processed items of the run after them
  bool counted = false;        // `processed` by the device, as ops publish items
};

// Returns the progress of a complete run, by wave as written.
std::vector<WaveProgress> whole_progress(const CompiledProgram& compiled);

// Returns the progress of each wave as written, for a run that has come to `at` and whose queues have these states; a
// stage that has begun does not count. Without states it returns what the host knows.
std::vector<WaveProgress> progress_of(const CompiledProgram& compiled, const Position& at,
                                      std::span<const QueueOutcome> queues);

// Returns the lanes that had an item, divided by those that ran, in basis points: the work-items of launches,
// or those of all work-groups in each turn of a persistent launch with `workers` of them.
std::uint64_t occupancy_bps(const CompiledProgram& compiled, const Position& at, std::uint32_t workers,
                            std::span<const WaveProgress> progress, std::span<const QueueOutcome> queues);

// The rules that each group of waves derives from: its own, and those of all their ancestors, also in earlier
// iterations: waves that write what they access, or read what they write.
struct Lineage {
  std::vector<std::uint32_t> regions; // by group in order of execution: bit n stands for rule n
  // Iterations that are listed; the others are like the last ones listed, of their swap phase.
  std::uint64_t iterations = 0;
  std::uint64_t items = 0; // processed items that derive from a rule
};

// Returns the lineage; empty if no wave has rules. `storage[phase][buffer]` is the buffer whose memory a
// buffer uses.
Lineage trace_lineage(const Job& program, const planning::BarrierGroups& groups,
                      const std::vector<std::vector<std::uint32_t>>& storage,
                      std::span<const WaveProgress> progress);

// The timeline of a traced run, and where the time of its waves went.

// Returns where the time went; nothing if spans are missing. `device_bytes_per_ns` is copied.
std::optional<WaveTimes> wave_times_of(const CompiledProgram& compiled, const Trace& trace,
                                       std::uint32_t workers, double device_bytes_per_ns);

// Returns the timeline of a run; `until_met`: the condition held at its end.
Timeline timeline_of(const CompiledProgram& compiled, const Trace& trace, bool until_met);

} // namespace tidegate::engine
