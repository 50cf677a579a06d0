#include "engine/rank_exchange.hpp"

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

bool is_compared(const Job& program, const RunOptions& options) {
  return options.verify || std::ranges::any_of(program.buffers, [](const ProgramBuffer& buffer) {
           return buffer.expected.has_value();
         });
}

// Bytes of buffers on their way between ranks, through host memory, which is pinned where that helps. Between begin()
// and end() the device may run what needs none of them.
//
//   device   | reads | inner work-groups …           | writes | work-groups at the borders
//   host             | sends, receives ----- waits - |
struct RankExchange::Messages {
  // Bytes of device memory that go to a rank, or come from it.
  struct Piece {
    bool sent = false;
    int rank = 0;
    device::Buffer memory;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  const device::Session& session;
  ranks::Ranks& ranks;
  std::map<std::vector<std::uint64_t>, HostContents> blocks{}; // by the sizes of their parts
  HostContents* bytes = nullptr;                               // of the pieces
  std::vector<Piece> pieces{};
  device::Event read{};

  // Enqueues the reads.
  void begin() {
    constexpr std::uint64_t most_pinned = std::uint64_t{64} << 20U; // bytes: halos are far smaller
    std::vector<std::uint64_t> sizes;
    std::ranges::transform(pieces, std::back_inserter(sizes), &Piece::bytes);
    bytes = &blocks.try_emplace(sizes, session, sizes, most_pinned).first->second;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].sent) {
        session.read(pieces[i].memory, pieces[i].offset, (*bytes)[i], device::Transferred::later);
      }
    }
    read = session.mark();
    session.flush();
  }

  // Waits for the reads, and starts the messages. What was written in the exchange before is done then, too.
  void send() {
    session.wait(read);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].sent ? ranks.send(pieces[i].rank, (*bytes)[i]) : ranks.receive(pieces[i].rank, (*bytes)[i]);
    }
  }

  // Enqueues the writes of the received bytes.
  void end() {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].sent) {
        session.write(pieces[i].memory, pieces[i].offset, (*bytes)[i], device::Transferred::later);
      }
    }
  }
};

RankExchange::RankExchange(const device::Session& session, const CompiledProgram& whole,
                           const JobSplit& split, const RunOptions& options, Monitor& monitor)
    : session_(session), program_(whole.written), split_(split), storage_(whole.schedule.storage),
      ranks_(*options.ranks), rank_(static_cast<std::uint32_t>(ranks_.rank())), monitor_(monitor),
      options_(options), whole_outputs_(is_compared(program_, options)), fresh_(program_, split, storage_),
      messages_(new Messages{session, ranks_}), buffer_bytes_(program_.buffers.size()) {}

RankExchange::~RankExchange() {
  try {
    session_.finish();               // transfers may still use the memory of messages
  } catch (const device::Refused&) { // then nothing uses it
  }
}

Clock::time_point RankExchange::begin(PlainWaves& waves, const Arena& arena) {
  waves_ = &waves;
  arena_ = &arena;
  memory_ = arena.views; // outputs in parts are read after the run has given its arena up
  device_bytes_ = session_.calls()->now().buffer_bytes;
  return runtime::begin_together(ranks_, monitor_, options_.max_wall_time_ns);
}

const device::Buffer& RankExchange::memory(std::uint32_t buffer, std::uint32_t iteration) const {
  return memory_[storage_[iteration % storage_.size()][buffer]];
}

// Returns the position of bytes of a buffer in its memory, or in that of one of its set.
std::uint64_t RankExchange::place(std::uint32_t buffer, const ByteRange& bytes) const {
  const ByteRange& all = split_.room[buffer][rank_];
  if (bytes.begin < all.begin || bytes.end > all.end) {
    throw std::logic_error("bytes of a buffer that are not in this rank's part of it");
  }
  return bytes.begin - all.begin;
}

// Begins to exchange this rank's share of what a wave needs; returns what this rank awaits, or nothing if it takes no
// part.
std::optional<std::vector<RankTransfer>> RankExchange::begin_transfers(std::uint32_t wave,
                                                                       std::uint32_t iteration) {
  messages_->pieces.clear();
  std::vector<RankTransfer> awaited;
  for (const RankTransfer& transfer : fresh_.before(wave, iteration)) {
    buffer_bytes_[transfer.buffer] += transfer.bytes.size();
    if (transfer.from != rank_ && transfer.to != rank_) {
      continue;
    }
    const bool sent = transfer.from == rank_;
    messages_->pieces.push_back({.sent = sent,
                                 .rank = static_cast<int>(sent ? transfer.to : transfer.from),
                                 .memory = memory(transfer.buffer, iteration),
                                 .offset = place(transfer.buffer, transfer.bytes),
                                 .bytes = transfer.bytes.size()});
    if (!sent) {
      awaited.push_back(transfer);
    }
  }
  if (messages_->pieces.empty()) {
    return {};
  }
  messages_->begin();
  return awaited;
}

// Launches these rows of a wave that is cut.
void RankExchange::launch_rows(std::uint32_t wave, std::uint32_t iteration, const TileRows& rows,
                               device::Event* event) {
  if (!rows.empty()) {
    waves_->set_range(wave, part_of(program_.waves[wave].range, rows));
    ++monitor_.in_flight;
    waves_->launch(wave, iteration, deadline_, [event] { return event; });
  }
}

// Before a wave: the memory of all ranks but 0 counts only what they add to a sum.
void RankExchange::begin_combining(std::uint32_t wave, std::uint32_t iteration) {
  for (const ProgramArgument& argument : program_.waves[wave].arguments) {
    if (argument.combine == Combine::sum && rank_ != 0) {
      clear_contents(session_, program_.buffers[argument.buffer],
                     {.memory = memory(argument.buffer, iteration)});
    }
  }
}

// Combines elements as numbers of 64 bits. For minima and maxima the first bit of signed ones is the other one, which keeps
// the order of their type.
void RankExchange::combine(std::uint32_t wave, std::uint32_t iteration) {
  for (const ProgramArgument& argument : program_.waves[wave].arguments) {
    if (!argument.combine) {
      continue;
    }
    const ProgramBuffer& buffer = program_.buffers[argument.buffer];
    const std::size_t size = element_bytes(buffer.type);
    const bool flips = is_signed_integer(buffer.type) && argument.combine != Combine::sum;
    const std::uint64_t sign = flips ? std::uint64_t{1} << (8 * size - 1) : 0;
    std::vector<std::byte> bytes(buffer.bytes);
    session_.read(memory(argument.buffer, iteration), 0, bytes);
    std::vector<std::uint64_t> values(buffer.count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&values[i], bytes.data() + i * size, size); // the low bytes come first
      values[i] ^= sign;
    }
    or_refuse(ranks_.reduce(values, static_cast<ranks::Reduction>(*argument.combine)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] ^= sign;
      std::memcpy(bytes.data() + i * size, &values[i], size);
    }
    session_.write(memory(argument.buffer, iteration), 0, bytes);
  }
}

// Gives all ranks what rank 0 may have written in a wave, and how it ended there.
RunStatus RankExchange::share(std::uint32_t wave, std::uint32_t iteration, RunStatus ended) {
  std::array<std::byte, 1> status{static_cast<std::byte>(ended)};
  or_refuse(ranks_.broadcast(status));
  const ProgramWave& spec = program_.waves[wave];
  const auto hand_out = [&](std::uint32_t buffer) {
    std::vector<std::byte> bytes(program_.buffers[buffer].bytes);
    if (rank_ == 0) {
      session_.read(memory(buffer, iteration), 0, bytes);
    }
    or_refuse(ranks_.broadcast(bytes));
    if (rank_ != 0) {
      session_.write(memory(buffer, iteration), 0, bytes);
    }
    buffer_bytes_[buffer] += (split_.ranks - 1) * bytes.size();
  };
  for (const MemoryUse& use : uses_of(spec.users_arguments())) {
    if (use.writes) {
      hand_out(use.buffer);
    }
  }
  if (spec.state) {
    hand_out(*spec.state);
  }
  return static_cast<RunStatus>(status[0]);
}

RunStatus RankExchange::run(std::uint32_t wave, std::uint32_t iteration, Clock::time_point deadline,
                            const std::function<void()>& waited) {
  const WaveCut& cut = split_.waves[wave];
  const bool combines =
      cut.cut() && std::ranges::any_of(program_.waves[wave].arguments, [](const ProgramArgument& argument) {
        return argument.combine.has_value();
      });
  const TileRows own = cut.cut() ? cut.rows[rank_] : TileRows();
  TileRows inner{own.begin, own.begin}; // launched while halos are under way
  DispatchOutcome at;
  deadline_ = deadline;
  if (const auto awaited = begin_transfers(wave, iteration)) {
    device::Event inner_ended;
    if (!own.empty() && !combines) {
      inner = inner_rows(program_, wave, own, *awaited);
      launch_rows(wave, iteration, inner, &inner_ended);
      session_.flush();
    }
    messages_->send();
    waited();
    or_refuse(ranks_.wait(inner_ended ? [&] { return !session_.has_ended(inner_ended); }
                                      : std::function<bool()>()));
    messages_->end();
    if (out_of_time(at, deadline)) {
      return at.status;
    }
  }
  if (combines) {
    begin_combining(wave, iteration);
  }
  if (cut.cut()) {
    launch_rows(wave, iteration, {own.begin, inner.begin});
    launch_rows(wave, iteration, {inner.end, own.end});
  } else if (cut.local || rank_ == 0) {
    ++monitor_.in_flight;
    if (!waves_->launch(wave, iteration, deadline) ||
        (program_.waves[wave].state && any_queue_failed(session_, program_, *arena_))) {
      at.status = out_of_time(at, deadline) ? at.status : RunStatus::queue_failed;
    }
  }
  if (cut.on_one_rank()) {
    at.status = share(wave, iteration, at.status);
  }
  if (at.status == RunStatus::done) {
    fresh_.after(wave, iteration);
    if (combines) {
      combine(wave, iteration);
    }
  }
  return at.status;
}

void RankExchange::decide(const DevicePart& part, std::span<std::byte> value) {
  if (rank_ == 0) {
    session_.read(part.memory, part.offset, value);
  }
  or_refuse(ranks_.broadcast(value));
  until_value_.assign(value.begin(), value.end());
}

bool RankExchange::in_parts(std::uint32_t buffer) const {
  return !whole_outputs_ && program_.buffers[buffer].output_head && split_.split(buffer);
}

// The parts of an output: what each rank owns, or all of it on rank 0.
ranks::BytesInParts RankExchange::parts_of(std::uint32_t buffer) const {
  ranks::BytesInParts parts{
      .begin = {0}, .read = [this, buffer](std::uint64_t at, std::span<std::byte> bytes) {
        session_.read(memory(buffer, last_iteration_), at - split_.room[buffer][rank_].begin, bytes);
      }};
  for (std::uint32_t rank = 0; rank < split_.ranks; ++rank) {
    parts.begin.push_back(split_.split(buffer) ? split_.owned[buffer][rank].end
                                               : program_.buffers[buffer].bytes);
  }
  return parts;
}

HostContents RankExchange::gather_outputs(std::uint32_t iterations) {
  last_iteration_ = iterations;
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) {
    sizes.push_back(program_.buffers[i].output && !in_parts(i) ? program_.buffers[i].bytes : 0);
  }
  HostContents outputs(session_, sizes, 0);
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 0) {
      or_refuse(ranks::collect(parts_of(i), ranks_, [&](std::uint64_t at, std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, outputs[i].subspan(at).begin());
        return Result<void>();
      }));
    }
  }
  return outputs;
}

Result<void> RankExchange::write_output(std::uint32_t buffer, const HostContents& outputs) {
  const ProgramBuffer& output = program_.buffers[buffer];
  return in_parts(buffer)
             ? ranks::write_in_parts(*output.output, *output.output_head, parts_of(buffer), ranks_)
         : rank_ == 0 ? output.write(outputs[buffer])
                      : Result<void>();
}

// Reports why a buffer is not split (a wave that is not cut writes it, or ranks combine it), or why every rank has
// memory for all of it.
RankBufferReport RankExchange::report_buffer(std::uint32_t buffer) const {
  RankBufferReport report{.buffer = program_.buffers[buffer].name,
                          .split = split_.split(buffer),
                          .in_parts = split_.in_parts(buffer),
                          .bytes_sent = buffer_bytes_[buffer],
                          .reason = {}};
  if (report.split) {
    report.reason = split_.whole[buffer].text();
    return report;
  }
  report.reason = "no wave writes it";
  bool whole = false; // some wave that is not cut writes it
  for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
    const WaveCut& cut = split_.waves[wave];
    for (const ProgramArgument& argument : program_.waves[wave].arguments) {
      if (!argument.is_memory() || split_.swap_set[argument.buffer] != split_.swap_set[buffer] ||
          argument.access == Access::read || (cut.cut() && whole) || cut.local) {
        continue;
      }
      whole = cut.on_one_rank();
      report.reason =
          Obstacle{fmt::format("{} {}{}{}", whole ? "rank 0 runs all of" : "ranks combine theirs after",
                               program_.wave_text(wave), whole ? ", which writes it" : "",
                               argument.buffer == buffer ? "" : " when it is swapped"),
                   cut.whole.fix}
              .text();
    }
  }
  return report;
}

RanksReport RankExchange::report(const DispatchOutcome& outcome, const std::string& device) {
  RanksReport report = or_refuse(
      report_ranks(outcome, {.device = device, .numbers = {.device_bytes = device_bytes_}}, ranks_));
  for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
    if (split_.waves[wave].on_one_rank()) {
      report.waves.push_back({.wave = program_.wave_text(wave), .reason = split_.waves[wave].whole.text()});
    }
  }
  for (std::uint32_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
    if (!program_.buffers[buffer].pointer.empty()) { // the others belong to queues
      report.buffers.push_back(report_buffer(buffer));
    }
  }
  return report;
}

} // namespace tidegate::engine
