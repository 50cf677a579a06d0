// One of several ranks, around the waves that it launches: it exchanges what they need of split buffers
// (split.hpp), combines what all add to, and gets from rank 0 what that alone has run.
#pragma once
#include "engine/queue_outcome.hpp"
#include "engine/run_options.hpp"
#include "engine/split.hpp"
#include "runtime/rank_report.hpp"

namespace tidegate::engine {

// Returns true if rank 0 compares the outputs.
bool is_compared(const Job& program, const RunOptions& options);

// Members are called by all ranks in the same order. All throw device::Refused, also for what Ranks::wait() returns.
class RankExchange : NotCopied {
public:
  // All references outlive it. `whole` is the program of all ranks.
  RankExchange(const device::Session& session, const CompiledProgram& whole, const JobSplit& split,
               const RunOptions& options, Monitor& monitor);
  ~RankExchange();

  // Begins the dispatch on all ranks at the same time, with the launches and the memory of this rank's job. Returns its
  // deadline.
  std::chrono::steady_clock::time_point begin(PlainWaves& waves, const Arena& arena);

  // Runs this rank's part of a wave; `waited` hears that all launches before it have ended. Returns done, or how the
  // program ends.
  RunStatus run(std::uint32_t wave, std::uint32_t iteration, std::chrono::steady_clock::time_point deadline,
                const std::function<void()>& waited);

  // Reads the value that `until` tests. Rank 0 decides for all: kernels that do not repeat their results could have
  // ranks go different ways.
  void decide(const DevicePart& part, std::span<std::byte> value);

  // Hands outputs to rank 0, in room for all of them, or leaves them in parts.
  HostContents gather_outputs(std::uint32_t iterations);

  // Writes an output, in parts by all ranks and otherwise by rank 0. Errors: of files.
  Result<void> write_output(std::uint32_t buffer, const HostContents& outputs);

  // In rank 0, of all ranks; of a run that ended early each has its own.
  RanksReport report(const DispatchOutcome& outcome, const std::string& device);

  // After the last iteration.
  [[nodiscard]] const std::vector<std::byte>& until_value() const { return until_value_; }
  [[nodiscard]] const ranks::Traffic& traffic() const { return ranks_.traffic(); } // of the dispatch so far
  [[nodiscard]] std::uint64_t device_bytes() const { return device_bytes_; }       // of all buffers
  // By buffer: sent by all ranks in the dispatch.
  [[nodiscard]] const std::vector<std::uint64_t>& buffer_bytes() const { return buffer_bytes_; }
  // True if an output stays on the ranks that own its rows.
  [[nodiscard]] bool in_parts(std::uint32_t buffer) const;

private:
  struct Messages;

  [[nodiscard]] const device::Buffer& memory(std::uint32_t buffer, std::uint32_t iteration) const;
  [[nodiscard]] std::uint64_t place(std::uint32_t buffer, const ByteRange& bytes) const;
  std::optional<std::vector<RankTransfer>> begin_transfers(std::uint32_t wave, std::uint32_t iteration);
  void launch_rows(std::uint32_t wave, std::uint32_t iteration, const TileRows& rows,
                   device::Event* event = nullptr);
  void begin_combining(std::uint32_t wave, std::uint32_t iteration);
  void combine(std::uint32_t wave, std::uint32_t iteration);
  [[nodiscard]] ranks::BytesInParts parts_of(std::uint32_t buffer) const;
  RunStatus share(std::uint32_t wave, std::uint32_t iteration, RunStatus ended);
  [[nodiscard]] RankBufferReport report_buffer(std::uint32_t buffer) const;

  const device::Session& session_;
  const Job& program_;
  const JobSplit& split_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  ranks::Ranks& ranks_;
  const std::uint32_t rank_;
  Monitor& monitor_;
  const RunOptions& options_;
  const bool
      whole_outputs_; // rank 0 compares them; otherwise those that files hold as they are stay in parts
  Freshness fresh_;
  std::unique_ptr<Messages> messages_;
  PlainWaves* waves_ = nullptr;
  const Arena* arena_ = nullptr;       // during the run
  std::vector<device::Buffer> memory_; // by buffer
  std::chrono::steady_clock::time_point deadline_;
  std::vector<std::byte> until_value_;
  std::vector<std::uint64_t> buffer_bytes_;
  std::uint64_t device_bytes_ = 0;
  std::uint32_t last_iteration_ = 0;
};

} // namespace tidegate::engine
