// A wave program on several ranks: each launches its part of every wave that is cut (split.hpp) as a plain launch of
// the user's kernel, and exchanges what later waves need of split buffers.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/execute.hpp"
#include "engine/job.hpp"
#include "engine/queue_rounds.hpp"
#include "engine/rank_clock.hpp"
#include "engine/split.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Refuses what does not run on several ranks yet: kinds of waves and of buffers. Error: invalid_program.
Result<void> check_rankable(const Job& program);

// An output whose rows are on the ranks that own them.
struct OutputInParts {
  std::uint32_t buffer = 0;
  device::Buffer memory;
  std::uint64_t begin = 0; // of the buffer's bytes there
};

struct RankRun {
  DispatchOutcome outcome;
  RankTimes times;
  std::optional<std::uint32_t>
      ended_before; // the wave of the next iteration that is not done, of a run that ended early
  std::vector<QueueOutcome> queues;
  std::vector<std::byte> until_value; // after the last iteration
  HostContents outputs;               // of rank 0, but those in parts; others have room without contents
  std::vector<OutputInParts> parts;
  std::uint64_t device_bytes = 0;          // of all buffers
  std::vector<std::uint64_t> buffer_bytes; // by buffer: sent by all ranks in the dispatch
};

struct RankSettings {
  bool whole_outputs = true; // rank 0 needs them; otherwise those that files hold as they are stay in parts
  std::uint64_t trace_spans = 0;
  std::chrono::nanoseconds most = std::chrono::hours(1); // wall time of the waves
};

// Returns the first contents of a rank's buffers, of those in parts what it has memory for. Errors: as of Job::first.
Result<HostContents> first_contents_of(const device::Session& session, const Job& program,
                                       const JobSplit& split, std::uint32_t rank);

// Runs on this rank what the others run at the same time, and hands outputs to rank 0 or leaves them in parts. `first`
// are the contents of this rank's buffers. A traced run waits for each launch, and keeps at most `trace_spans`. Errors:
// of the device and of ranks; interrupted. Throws device::Refused.
Result<RankRun> run_on_ranks(const device::Session& session, const CompiledProgram& compiled,
                             const JobSplit& split, const HostContents& first, ranks::Ranks& ranks,
                             Monitor& monitor, const RankSettings& settings);

// As execute(), on the ranks of the options; proof, comparison and files are those of rank 0.
Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
