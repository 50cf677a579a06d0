// A wave program on several ranks: each launches its part of every wave that is cut (split.hpp) as a plain launch of the
// user's kernel, and exchanges what later waves need of split buffers.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/execute.hpp"
#include "engine/job.hpp"
#include "engine/split.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::engine {

// Refuses what does not run on several ranks yet: kinds of waves and of buffers. Error: invalid_program.
Result<void> check_rankable(const Job& program);

struct RankRun {
  RunStatus status = RunStatus::done; // or deadline, interrupted
  std::uint32_t iterations = 0;
  bool until_met = false;
  std::vector<std::byte> until_value; // after the last iteration
  HostContents outputs;               // of rank 0; others have room without contents
  std::uint64_t upload_ns = 0;
  std::uint64_t dispatch_ns = 0;
  std::uint64_t read_back_ns = 0;
  ranks::Traffic traffic;                  // of the dispatch
  std::vector<std::uint64_t> buffer_bytes; // by buffer: sent by all ranks in the dispatch
};

// Runs on this rank what the others run at the same time, and hands outputs to rank 0; `most` is the wall time of the
// waves. Errors: of the device and of ranks; interrupted. Throws device::Refused.
Result<RankRun> run_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, ranks::Ranks& ranks, std::chrono::nanoseconds most,
                             Monitor& monitor);

// Returns the times and messages of all ranks, in rank 0; the others get an empty report. `own` has what traffic does not count.
// Errors: as Ranks::wait().
Result<RanksReport> report_ranks(const ranks::Traffic& traffic, RankReport own, ranks::Ranks& ranks);

// As execute(), on the ranks of the options; proof, comparison and files are those of rank 0.
Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
