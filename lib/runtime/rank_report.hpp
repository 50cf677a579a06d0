// The report of a run on several ranks.
#pragma once
#include "device/session.hpp"
#include "ranks/ranks.hpp"
#include "runtime/slices.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::runtime {

// One of several ranks. Times are those of its dispatch.
struct RankReport {
  std::uint32_t rank = 0;
  std::string host;
  std::string device;
  std::uint64_t dispatch_ns = 0;
  std::uint64_t waiting_ns = 0; // part of dispatch_ns: for messages of other ranks
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages = 0;                // sent
  std::optional<std::uint64_t> edges;        // of a graph: of its vertices
  std::optional<std::uint64_t> device_bytes; // for its part of a graph, or its buffers
};

// A wave that rank 0 alone runs; it sends the others what it may have written.
struct RankWaveReport {
  std::string wave;
  std::string reason; // and what helps
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
  std::vector<RankWaveReport> waves;     // of a wave program
  std::vector<RankBufferReport> buffers; // of a wave program
};

// Returns what a call of Ranks returned. Throws device::Refused for its error.
template <class T>
T or_refuse(Result<T> result) {
  if (!result) {
    throw device::Refused{std::move(result.error())};
  }
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}

// Begins a dispatch on all ranks at the same time; `most_ns` is its wall time, which ends at the time that it returns. Throws
// device::Refused for what Ranks::barrier() returns.
std::chrono::steady_clock::time_point begin_together(ranks::Ranks& ranks, Monitor& monitor,
                                                     std::uint64_t most_ns);

// Returns the times and messages of all ranks, in rank 0; the others get an empty report. Of a run that ended early,
// when ranks may be anywhere, each returns its own. `own` has what the outcome does not know. Errors: as Ranks::wait().
Result<RanksReport> report_ranks(const DispatchOutcome& outcome, RankReport own, ranks::Ranks& ranks);

} // namespace tidegate::runtime
