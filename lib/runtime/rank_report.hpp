// The report of a run on several ranks.
#pragma once
#include "runtime/slices.hpp"

namespace tidegate::runtime {

// Figures of a rank's dispatch.
struct RankNumbers {
  std::uint64_t dispatch_ns = 0;
  ranks::Traffic traffic;                    // its waiting time is part of dispatch_ns
  std::optional<std::uint64_t> edges;        // of a graph: of its vertices
  std::optional<std::uint64_t> device_bytes; // for its part of a graph, or its buffers
};

// One of several ranks.
struct RankReport {
  std::uint32_t rank = 0;
  std::string host;
  std::string device;
  RankNumbers numbers;
};

// A wave that does not run as the others do.
struct WaveReason {
  std::string wave;
  std::string reason; // of ranks with what helps
};

struct RankBufferReport {
  std::string buffer;
  bool split = false;           // each rank writes its part
  bool in_parts = false;        // and has room for what it touches alone
  std::uint64_t bytes_sent = 0; // of its contents, by all ranks
  std::string reason;           // why it is not split, or has room for all of it, and what helps
};

// A run on several ranks.
struct RanksReport {
  std::vector<RankReport> ranks;
  std::vector<WaveReason> waves; // that rank 0 alone runs, which sends the others what it may have written
  std::vector<RankBufferReport> buffers; // of a wave program
};

// Begins a dispatch on all ranks at the same time; `most_ns` is its wall time, which ends at the time that it returns. Throws
// device::Refused for what Ranks::barrier() returns.
std::chrono::steady_clock::time_point begin_together(ranks::Ranks& ranks, Monitor& monitor,
                                                     std::uint64_t most_ns);

// Returns the times and messages of all ranks, in rank 0; the others get an empty report. Of a run that ended early,
// when ranks may be anywhere, each returns its own. `own` has what the outcome does not know. Errors: as Ranks::wait().
Result<RanksReport> report_ranks(const DispatchOutcome& outcome, RankReport own, ranks::Ranks& ranks);

} // namespace tidegate::runtime
