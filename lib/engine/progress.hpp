// Counts the items that a run has completed. An item is the work of one lane: a work-item of a wave, or an item of a
// queue.
#pragma once
#include "engine/compile.hpp"
#include "engine/queue_rounds.hpp"

namespace tidegate::engine {

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

} // namespace tidegate::engine
