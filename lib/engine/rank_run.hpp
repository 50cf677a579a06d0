// A wave program on several ranks: each launches its part of every wave that is cut (split.hpp) as a plain launch of the
// user's kernel, or iterations in one launch (rank_block.hpp), and exchanges what later waves need of split buffers.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/execute.hpp"
#include "engine/job.hpp"
#include "engine/queue_rounds.hpp"
#include "engine/split.hpp"
#include "engine/timeline.hpp"
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

  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
  void mark(Span span);

  std::uint64_t most_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t last_ns_ = 0;
  std::size_t unnamed_ = 0;
  std::vector<Span> spans_;
  std::uint64_t left_out_ = 0;
};

// Returns two lanes for each rank, its work and its messages, and what it has sent as a curve: in rank 0; others get an empty
// timeline. `names` are those of work. Errors: as Ranks::wait().
Result<Timeline> timeline_of_ranks(const RankTrace& own, std::vector<std::string> names, ranks::Ranks& ranks);

// An output whose rows are on the ranks that own them.
struct OutputInParts {
  std::uint32_t buffer = 0;
  device::Buffer memory;
  std::uint64_t begin = 0; // of the buffer's bytes there
};

struct RankRun {
  RunStatus status = RunStatus::done; // or deadline, interrupted, queue_failed, hang
  std::uint32_t iterations = 0;
  std::optional<std::uint32_t>
      ended_before; // the wave of the next iteration that is not done, of a run that ended early
  std::vector<QueueOutcome> queues;
  bool until_met = false;
  std::vector<std::byte> until_value; // after the last iteration
  HostContents outputs;               // of rank 0, but those in parts; others have room without contents
  std::vector<OutputInParts> parts;
  std::uint64_t device_bytes = 0; // of all buffers
  std::uint64_t upload_ns = 0;
  std::uint64_t dispatch_ns = 0;
  std::uint64_t read_back_ns = 0;
  ranks::Traffic traffic;                  // of the dispatch
  std::vector<std::uint64_t> buffer_bytes; // by buffer: sent by all ranks in the dispatch
  RankTrace trace{0};
  std::uint32_t halo_depth = 1;
  bool halo_overlap = false;          // work-groups that await nothing ran while halos were under way
  std::uint64_t block_iterations = 0; // in persistent launches
  bool blocks = false;                // taken at the end
  std::string block_times;            // for people, if they were measured
  std::vector<StuckGroup> stuck_groups;
  std::string halo_reason; // why it is 1 though more is asked for
};

struct RankBlocks;

// Outputs that rank 0 needs whole, or all that files hold as they are stay where they are.
enum class Outputs : std::uint8_t { whole, in_parts };

struct RankSettings {
  Outputs outputs = Outputs::whole;
  std::uint64_t trace_spans = 0;
  // Iterations between two exchanges of halos, where the program allows it; 0: the run measures which is fastest.
  std::uint32_t halo_depth = 1;
  std::uint32_t clock_from = 0;          // times and traffic are those from this iteration on
  std::optional<bool> halo_overlap = {}; // empty: on GPUs, and measured where the depth is
  RankBlocks* blocks = nullptr;          // iterations in persistent launches, of this rank; null: none
};

// Iterations of the shortest run that measures the depth of halos, if it is 0, or whether persistent launches are faster with it.
std::uint32_t least_measured(std::uint32_t halo_depth);

// The greatest depth of halos that a run with these settings may use.
std::uint32_t deepest_halo(const Job& program, const RankSettings& settings);

// Returns the first contents of a rank's buffers, of those in parts what it has memory for. Errors: as of Job::first.
Result<HostContents> first_contents_of(const device::Session& session, const Job& program,
                                       const JobSplit& split, std::uint32_t rank);

// Runs on this rank what the others run at the same time, and hands outputs to rank 0 or leaves them in parts; `most` is the
// wall time of the waves. `first` are the contents of this rank's buffers. A traced run waits for each launch, and keeps at most `trace_spans`. Errors: of the device and of
// ranks; interrupted. Throws device::Refused.
Result<RankRun> run_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, ranks::Ranks& ranks, std::chrono::nanoseconds most,
                             Monitor& monitor, const RankSettings& settings = {});

// The same for iterations ahead of the run. Errors, too: interrupted; wall_time_exceeded, as a rank that ends early must not
// go on to what all ranks do together.
Result<RankRun> try_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, const RunOptions& options, Monitor& monitor,
                             const RankSettings& settings);

// Returns the times and messages of all ranks, in rank 0; the others get an empty report. `own` has what traffic does not count.
// Errors: as Ranks::wait().
Result<RanksReport> report_ranks(const ranks::Traffic& traffic, RankReport own, ranks::Ranks& ranks);

// Returns those of this rank alone, of a run that ended early.
RanksReport report_rank(const ranks::Traffic& traffic, RankReport own, const ranks::Ranks& ranks);

// As execute(), on the ranks of the options; proof, comparison and files are those of rank 0.
Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
