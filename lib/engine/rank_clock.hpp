// Times and messages of one rank, of a wave program or of a traversal: its clock, its trace, and the report of all
// ranks.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/outcome.hpp"
#include "engine/timeline.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tidegate::engine {

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

// Each rank runs its part of a wave, or rank 0 runs it and sends the others what it may have written.
enum class RunsOn : std::uint8_t { parts, one };
inline constexpr std::array<std::string_view, 2> runs_on_names{"parts", "one"};

struct RankWaveReport {
  std::string wave;
  RunsOn runs_on = RunsOn::parts;
  std::string reason, fix;
};

struct RankBufferReport {
  std::string buffer;
  bool split = false;           // each rank writes its part
  bool in_parts = false;        // and has room for what it touches alone
  std::uint64_t bytes_sent = 0; // of its contents, by all ranks
  std::string reason, fix;      // why it is not split, or has room for all of it
};

// A run on several ranks.
struct RanksReport {
  std::vector<RankReport> ranks;
  std::uint32_t slowest = 0; // the rank that worked longest, without waiting
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages = 0;
  std::vector<RankWaveReport> waves;     // of a wave program
  std::vector<RankBufferReport> buffers; // of a wave program
};

// A traced run of one rank: from one mark to the next it has worked, or sent and waited for others.
class RankTrace {
public:
  struct Span {
    std::uint64_t begin_ns = 0; // since the trace was made
    std::uint64_t end_ns = 0;
    std::uint64_t bytes_sent = 0; // up to its end
    std::uint32_t name = 0;       // index; of an exchange: none
    std::uint32_t iteration = 0;
    std::uint64_t exchange = 0; // 1: of messages
  };

  // Keeps at most as many spans; 0: traces nothing. All ranks make theirs at the same time, after a barrier.
  explicit RankTrace(std::uint64_t most) : most_(most) {}
  [[nodiscard]] bool on() const { return most_ != 0; }

  // Ends what began at the last mark.
  void worked(std::uint32_t name, std::uint32_t iteration) { mark({.name = name, .iteration = iteration}); }
  void exchanged(std::uint32_t iteration, const ranks::Traffic& traffic) {
    mark({.bytes_sent = traffic.bytes_sent, .iteration = iteration, .exchange = 1});
  }

  // Names the spans since the last call.
  void name(std::uint32_t name, std::uint32_t iteration);

  std::vector<Span> spans;
  std::uint64_t left_out = 0;

private:
  void mark(Span span);

  std::uint64_t most_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t last_ns_ = 0;
  std::size_t unnamed_ = 0;
};

// Returns two lanes for each rank, its work and its messages, and what it has sent as a curve: in rank 0; others get an
// empty timeline. `names` are those of work. Errors: as Ranks::wait().
Result<Timeline> timeline_of_ranks(const RankTrace& own, std::vector<std::string> names, ranks::Ranks& ranks);

// Waits for the other ranks and times the dispatch. All references outlive it. All throw device::Refused for what
// Ranks::wait() returns.
class RankClock {
public:
  using Clock = std::chrono::steady_clock;

  RankClock(ranks::Ranks& ranks, Monitor& monitor) : ranks_(ranks), monitor_(monitor) {}

  // Begins the dispatch on all ranks at the same time; `most` is its wall time, which ends at the time that it returns.
  // Keeps at most `trace_spans` spans of a trace.
  Clock::time_point begin(std::chrono::nanoseconds most, std::uint64_t trace_spans);

  // Ends the dispatch on this rank.
  void end();

  // Returns what a call of Ranks does, which waits for other ranks.
  template <class Wait>
  auto together(const Wait& wait) {
    auto waited = wait();
    trace.exchanged(static_cast<std::uint32_t>(monitor_.iterations), ranks_.traffic());
    if (!waited) {
      throw device::Refused{std::move(waited.error())};
    }
    if constexpr (!std::is_void_v<typename decltype(waited)::value_type>) {
      return *std::move(waited);
    }
  }

  RankTrace trace{0};
  ranks::Traffic traffic;        // of the dispatch
  std::uint64_t dispatch_ns = 0; // from its begin to its end

private:
  ranks::Ranks& ranks_;
  Monitor& monitor_;
  Clock::time_point start_;
  ranks::Traffic before_;
};

// Returns the times and messages of all ranks, in rank 0; the others get an empty report. Of a run that ended early,
// when ranks may be anywhere, each returns its own. `own` has what traffic does not count. Errors: as Ranks::wait().
Result<RanksReport> report_ranks(RunStatus status, const ranks::Traffic& traffic, RankReport own,
                                 ranks::Ranks& ranks);

} // namespace tidegate::engine
