#include "engine/rank_run.hpp"

#include "core/duration.hpp"
#include "engine/dispatch.hpp"
#include "engine/plain_waves.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of device memory that go to a rank, or come from it.
struct Piece {
  int rank = 0;
  device::Buffer memory;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Bytes of buffers on their way between ranks, through host memory, which is pinned where that helps. Between begin()
// and end() the device may run what needs none of them.
//
//   device   | reads | inner work-groups …           | writes | work-groups at the borders
//   host             | sends, receives ----- waits - |
class Exchange {
public:
  // References must outlive it.
  Exchange(const device::Session& session, ranks::Ranks& ranks) : session_(session), ranks_(ranks) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { std::ignore = session_.finish(); } // transfers may still use its memory

  // Enqueues the reads.
  void begin(std::vector<Piece> sent, std::vector<Piece> received) {
    constexpr std::uint64_t most_pinned = std::uint64_t{64} << 20U; // bytes: halos are far smaller
    sent_ = std::move(sent);
    received_ = std::move(received);
    std::vector<std::uint64_t> sizes;
    for (const auto* pieces : {&sent_, &received_}) {
      std::ranges::transform(*pieces, std::back_inserter(sizes), &Piece::bytes);
    }
    bytes_ = &blocks_.try_emplace(sizes, session_, sizes, most_pinned).first->second;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      download(session_, sent_[i].memory, sent_[i].offset, (*bytes_)[i], device::Transferred::later);
    }
    device::require(session_.mark(read_), "reading halos");
    device::require(session_.flush(), "reading halos");
  }

  // Waits for the reads, and starts the messages. What was written in the exchange before is done then, too.
  void send() {
    device::require(session_.wait(read_), "reading halos");
    for (std::size_t i = 0; i < received_.size(); ++i) {
      ranks_.receive(received_[i].rank, (*bytes_)[sent_.size() + i]);
    }
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      ranks_.send(sent_[i].rank, (*bytes_)[i]);
    }
  }

  // Enqueues the writes of the received bytes.
  void end() {
    for (std::size_t i = 0; i < received_.size(); ++i) {
      upload(session_, received_[i].memory, received_[i].offset, (*bytes_)[sent_.size() + i],
             device::Transferred::later);
    }
  }

private:
  const device::Session& session_;
  ranks::Ranks& ranks_;
  std::map<std::vector<std::uint64_t>, HostContents> blocks_; // by the sizes of their parts
  HostContents* bytes_ = nullptr;                             // of what is sent, then of what is received
  std::vector<Piece> sent_, received_;
  device::Event read_;
};

// One rank's side of a run.
class RankRunner {
public:
  RankRunner(const device::Session& session, const CompiledProgram& compiled, const JobSplit& split,
             ranks::Ranks& ranks, Monitor& monitor, const RankSettings& settings)
      : session_(session), program_(compiled.written), split_(split), storage_(compiled.schedule.storage),
        ranks_(ranks), rank_(static_cast<std::uint32_t>(ranks.rank())), settings_(settings),
        monitor_(monitor), order_(program_order(program_)), fresh_(program_, split, storage_),
        exchange_(session, ranks), clock_(ranks, monitor, run_.times) {
    run_.buffer_bytes.resize(program_.buffers.size());
  }

  Result<RankRun> run(const HostContents& first) {
    monitor_.begin(Activity::building);
    const auto moved = moved_parameters(program_, split_);
    const PlainPrograms programs(session_, program_, order_, moving_sources(program_, moved));
    TIDEGATE_CHECK(ranks_.barrier()); // time that one rank takes longer is not part of the dispatch
    monitor_.begin(Activity::filling);
    const auto filling = Clock::now();
    for (std::uint32_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
      const std::uint64_t bytes = room(buffer).size();
      memory_.push_back(allocate(session_, bytes));
      if (!first[buffer].empty()) {
        upload(session_, memory_[buffer], 0, first[buffer]);
      } else if (bytes != 0) {
        clear(session_, memory_[buffer], 0, bytes);
      }
    }
    for (const device::Buffer& memory : memory_) {
      arena_.parts.push_back({.memory = memory});
    }
    const DeviceImages none(program_.buffers.size());
    PlainWaves waves(session_, programs, program_, order_, {storage_, memory_, none}, QueueWay::drain);
    waves_ = &waves;
    for (std::uint32_t wave = 0; wave < moved.size(); ++wave) {
      hand_over_begins(wave, moved[wave]);
      if (split_.waves[wave].local) {
        waves.set_transfer(wave, local_part(program_, split_, wave, rank_));
      }
    }
    run_.device_bytes = session_.calls()->now().buffer_bytes;
    device::require(session_.finish(), "filling the buffers");
    run_.times.upload_ns = elapsed_ns(filling);

    TIDEGATE_CHECK(clock_.begin(settings_.most, settings_.trace_spans));
    const std::uint64_t compile_ns_before = waves.compile_ns();
    looked_ = Clock::now();
    const std::uint32_t iterations = run_wave_by_wave(
        program_, order_, storage_,
        {.run =
             [&](std::uint32_t wave, std::uint32_t iteration) {
               const bool goes_on = step(wave, iteration);
               if (!goes_on) {
                 run_.ended_before = wave;
                 run_.outcome.reached.iteration = iteration;
               }
               return goes_on;
             },
         .read = [this](std::uint32_t owner, std::span<std::byte> value) { decide(owner, value); }});
    DispatchOutcome& outcome = run_.outcome;
    outcome.reached.iteration = run_.ended_before ? outcome.reached.iteration : iterations;
    outcome.iterations = outcome.reached.iteration;
    device::require(session_.finish(), "running the waves");
    monitor_.in_flight = 0;
    clock_.end(outcome, waves.compile_ns() - compile_ns_before);
    if (failed_) {
      return tl::unexpected(std::move(*failed_));
    }
    monitor_.begin(Activity::reading);
    run_.queues = queues_.read();
    if (outcome.status == RunStatus::done) {
      TIDEGATE_CHECK(read_outputs());
    }
    return std::move(run_);
  }

private:
  // The bytes of a buffer that this rank has memory for.
  [[nodiscard]] ByteRange room(std::uint32_t buffer) const {
    return room_of(program_, split_, buffer, rank_);
  }

  // Returns the position of bytes of a buffer in its memory, or in that of one of its set.
  [[nodiscard]] std::uint64_t place(std::uint32_t buffer, const ByteRange& bytes) const {
    const ByteRange all = room(buffer);
    if (bytes.begin < all.begin || bytes.end > all.end) {
      throw std::logic_error("bytes of a buffer that are not in this rank's part of it");
    }
    return bytes.begin - all.begin;
  }

  void hand_over_begins(std::uint32_t wave, const std::vector<std::uint32_t>& moved) {
    const auto& arguments = program_.waves[wave].arguments;
    for (std::uint32_t phase = 0; !moved.empty() && phase < storage_.size(); ++phase) {
      auto next = static_cast<std::uint32_t>(arguments.size());
      for (const std::uint32_t i : moved) {
        const std::uint64_t begin = arguments[i].is_memory() ? room(arguments[i].buffer).begin : 0;
        device::require(session_.set_value(waves_->kernel(wave, phase), next++, begin),
                        "handing over where a part begins");
      }
    }
  }

  // Refuses to run rows that touch what this rank has no memory for.
  void check_rows(std::uint32_t wave, const TileRows& rows) const {
    const ProgramWave& spec = program_.waves[wave];
    for (const ProgramArgument& argument : spec.arguments) {
      if (argument.is_memory() && split_.in_parts(argument.buffer)) {
        std::ignore =
            place(argument.buffer, touched(spec, argument, rows, program_.buffers[argument.buffer].bytes));
      }
    }
  }

  // Waits for other ranks by a call of Ranks. Returns false, and keeps the error, if they do not meet.
  template <class Wait>
  bool meet(const Wait& wait) {
    if (auto waited = clock_.together(wait); !waited) {
      failed_ = std::move(waited.error());
    }
    return !failed_;
  }

  // The compile time of first launches does not count as wall time.
  [[nodiscard]] Clock::time_point limit() const {
    return clock_.deadline() + std::chrono::nanoseconds(waves_->compile_ns());
  }

  bool out_of_time() { return engine::out_of_time(run_.outcome, limit()); }

  // Begins to exchange this rank's share of the transfers, of buffers in the memory that they have in a swap phase;
  // returns what this rank awaits, or nothing if it takes no part.
  std::optional<std::vector<RankTransfer>> begin_exchange(const std::vector<RankTransfer>& transfers,
                                                          std::uint32_t phase) {
    std::vector<Piece> sent, received;
    std::vector<RankTransfer> awaited;
    for (const RankTransfer& transfer : transfers) {
      run_.buffer_bytes[transfer.buffer] += transfer.bytes.size();
      if (transfer.from != rank_ && transfer.to != rank_) {
        continue;
      }
      const bool sends = transfer.from == rank_;
      (sends ? sent : received)
          .push_back({.rank = static_cast<int>(sends ? transfer.to : transfer.from),
                      .memory = memory_[storage_[phase][transfer.buffer]],
                      .offset = place(transfer.buffer, transfer.bytes),
                      .bytes = transfer.bytes.size()});
      if (!sends) {
        awaited.push_back(transfer);
      }
    }
    if (sent.empty() && received.empty()) {
      return {};
    }
    exchange_.begin(std::move(sent), std::move(received));
    return awaited;
  }

  // Launches that no halo is awaited for may still run meanwhile. Returns false to end the program.
  bool end_exchange(const device::Event& inner) {
    exchange_.send();
    monitor_.reach(
        {.iteration = static_cast<std::uint32_t>(monitor_.iterations)}); // what was launched is done
    const bool met = meet([&] {
      return ranks_.wait(inner ? [&] { return !session_.has_ended(inner); } : std::function<bool()>());
    });
    if (met) {
      exchange_.end();
    }
    return met && !out_of_time();
  }

  // Launches these rows of a wave that is cut; returns false if it cannot.
  bool launch_rows(std::uint32_t wave, std::uint32_t iteration, const TileRows& rows,
                   device::Event* event = nullptr) {
    if (rows.empty()) {
      return true;
    }
    check_rows(wave, rows);
    waves_->set_range(wave, part_of(program_.waves[wave].range, rows));
    monitor_.in_flight = 1;
    return waves_->launch(wave, iteration, limit(), event);
  }

  // A buffer that ranks combine after a wave.
  struct Shared {
    const ProgramBuffer* buffer;
    Combine how;
    device::Buffer memory;
    std::vector<std::uint64_t> before; // elements, so that sums count what they were once
  };

  std::vector<std::uint64_t> elements(const ProgramBuffer& buffer, const device::Buffer& memory) {
    std::vector<std::byte> bytes(buffer.bytes);
    download(session_, memory, 0, bytes);
    std::vector<std::uint64_t> values(buffer.count);
    with_type(buffer.type, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          T value{};
          std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
          values[i] = static_cast<std::uint64_t>(value); // with its sign
        }
      }
    });
    return values;
  }

  std::vector<Shared> shared_before(std::uint32_t wave, std::uint32_t iteration) {
    std::vector<Shared> shared;
    for (const ProgramArgument& argument : program_.waves[wave].arguments) {
      if (argument.combine) {
        const ProgramBuffer& buffer = program_.buffers[argument.buffer];
        const device::Buffer& memory = memory_[storage_[iteration % storage_.size()][argument.buffer]];
        shared.push_back({.buffer = &buffer,
                          .how = *argument.combine,
                          .memory = memory,
                          .before = *argument.combine == Combine::sum ? elements(buffer, memory)
                                                                      : std::vector<std::uint64_t>()});
      }
    }
    return shared;
  }

  bool combine(const std::vector<Shared>& all) {
    for (const Shared& shared : all) {
      const ElementType type = shared.buffer->type;
      std::vector<std::uint64_t> values = elements(*shared.buffer, shared.memory);
      for (std::size_t i = 0; i < shared.before.size(); ++i) {
        values[i] -= shared.before[i];
      }
      // Least and greatest signed elements are those of the numbers with another first bit.
      const bool is_signed = type == ElementType::i32 || type == ElementType::i64;
      const std::uint64_t flipped = is_signed && shared.how != Combine::sum ? std::uint64_t{1} << 63U : 0;
      const auto flip = [&] {
        for (std::uint64_t& value : values) {
          value ^= flipped;
        }
      };
      flip();
      if (!meet([&] { return ranks_.reduce(values, static_cast<ranks::Reduction>(shared.how)); })) {
        return false;
      }
      flip();
      std::vector<std::byte> bytes(shared.buffer->bytes);
      const std::size_t size = element_bytes(type);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += shared.before.empty() ? 0 : shared.before[i];
        std::memcpy(bytes.data() + i * size, &values[i], size); // the low bytes come first
      }
      upload(session_, shared.memory, 0, bytes);
    }
    return true;
  }

  // Launches what this rank runs of a wave, without the inner rows, which are launched already.
  bool launch(std::uint32_t wave, std::uint32_t iteration, const TileRows& inner) {
    const WaveCut& cut = split_.waves[wave];
    monitor_.in_flight = 1;
    const bool done = cut.cut() ? launch_rows(wave, iteration, {own_rows(cut, rank_).begin, inner.begin}) &&
                                      launch_rows(wave, iteration, {inner.end, own_rows(cut, rank_).end})
                                : waves_->launch(wave, iteration, limit()) &&
                                      !(program_.waves[wave].state && queues_.any_failed());
    monitor_.deadline = limit();
    if (done && run_.times.trace.on()) {
      device::require(session_.finish(), "running the waves");
      run_.times.trace.worked(wave, iteration);
    }
    return done;
  }

  // Gives all ranks what rank 0 may have written in a wave, and how it ended there. Returns false to end the program.
  bool share(std::uint32_t wave, std::uint32_t iteration) {
    const auto broadcast = [this](std::span<std::byte> bytes) {
      return meet([&] { return ranks_.broadcast(bytes); });
    };
    std::array<std::byte, 1> ended{static_cast<std::byte>(run_.outcome.status)};
    if (!broadcast(ended)) {
      return false;
    }
    run_.outcome.status = static_cast<RunStatus>(ended[0]);
    const ProgramWave& spec = program_.waves[wave];
    std::set<std::uint32_t> written;
    if (spec.state) {
      written.insert(*spec.state);
    }
    for (const ProgramArgument& argument : spec.users_arguments()) {
      if (argument.is_memory() && argument.access != Access::read) {
        written.insert(argument.buffer);
      }
    }
    for (const std::uint32_t buffer : written) {
      const device::Buffer& memory = memory_[storage_[iteration % storage_.size()][buffer]];
      std::vector<std::byte> bytes(program_.buffers[buffer].bytes);
      if (rank_ == 0) {
        download(session_, memory, 0, bytes);
      }
      if (!broadcast(bytes)) {
        return false;
      }
      if (rank_ != 0) {
        upload(session_, memory, 0, bytes);
      }
      run_.buffer_bytes[buffer] += (split_.ranks - 1) * bytes.size();
    }
    return run_.outcome.status == RunStatus::done;
  }

  // Runs this rank's part of a wave. Returns false to end the program.
  bool step(std::uint32_t wave, std::uint32_t iteration) {
    monitor_.iterations = iteration;
    if (failed_ || run_.outcome.status != RunStatus::done) {
      return false;
    }
    const WaveCut& cut = split_.waves[wave];
    const TileRows own = cut.cut() ? own_rows(cut, rank_) : TileRows();
    TileRows inner{own.begin, own.begin}; // launched while halos are under way
    if (const auto awaited = begin_exchange(fresh_.before(wave, iteration),
                                            iteration % static_cast<std::uint32_t>(storage_.size()))) {
      device::Event inner_ended;
      if (!own.empty() && !combines(program_.waves[wave])) {
        inner = inner_rows(program_, wave, own, *awaited);
        launch_rows(wave, iteration, inner, &inner_ended);
        device::require(session_.flush(), "running the waves");
      }
      if (!end_exchange(inner_ended)) {
        return false;
      }
    }
    const std::vector<Shared> shared = cut.cut() ? shared_before(wave, iteration) : std::vector<Shared>();
    if ((!cut.on_one_rank() || rank_ == 0) && !launch(wave, iteration, inner)) {
      if (!failed_ && !out_of_time()) {
        run_.outcome.status = RunStatus::queue_failed;
      }
      if (!cut.on_one_rank()) {
        return false;
      }
    }
    if (cut.on_one_rank() && !share(wave, iteration)) {
      return false;
    }
    fresh_.after(wave, iteration);
    return combine(shared) && (++launches_ < launches_until_look_ || look());
  }

  // Waits for the device and looks at the clock, after more launches each time while these are short. Returns false to
  // end the program.
  bool look() {
    constexpr std::uint64_t most_launches = 64;
    constexpr std::uint64_t often_ns = 100'000'000;
    device::require(session_.finish(), "running the waves");
    const auto now = Clock::now();
    launches_until_look_ =
        elapsed_ns(looked_, now) > often_ns ? 1 : std::min(2 * launches_until_look_, most_launches);
    looked_ = now;
    launches_ = 0;
    return run_.outcome.status == RunStatus::done && !out_of_time();
  }

  // Reads the value that `until` tests. Rank 0 decides for all: kernels that do not repeat their results could have
  // ranks go different ways.
  void decide(std::uint32_t owner, std::span<std::byte> value) {
    if (rank_ == 0) {
      download(session_, memory_[owner], 0, value);
    }
    if (!meet([&] { return ranks_.broadcast(value); })) {
      return;
    }
    run_.until_value.assign(value.begin(), value.end());
    run_.outcome.until_met = same_value(program_, run_.until_value);
    out_of_time();
  }

  Result<void> read_outputs() {
    const auto start = Clock::now();
    const std::uint32_t phase = run_.outcome.reached.iteration % static_cast<std::uint32_t>(storage_.size());
    const auto in_parts = [this](std::uint32_t i) {
      return !settings_.whole_outputs && program_.buffers[i].output_head && split_.split(i);
    };
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) {
      const ProgramBuffer& buffer = program_.buffers[i];
      sizes.push_back(buffer.is_read_back() && !in_parts(i) ? buffer.bytes : 0);
    }
    run_.outputs = HostContents(session_, sizes, 0);
    std::vector<std::vector<std::byte>> sent;
    for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) {
      if (!program_.buffers[i].is_read_back()) {
        continue;
      }
      const device::Buffer& memory = memory_[storage_[phase][i]];
      if (in_parts(i)) {
        run_.parts.push_back({.buffer = i, .memory = memory, .begin = room(i).begin});
        continue;
      }
      if (rank_ == 0) {
        download(session_, memory, 0, run_.outputs[i].subspan(room(i).begin, room(i).size()));
      }
      for (const RankTransfer& transfer : fresh_.gather(i, run_.outcome.reached.iteration)) {
        if (rank_ == 0) {
          ranks_.receive(static_cast<int>(transfer.from),
                         run_.outputs[i].subspan(transfer.bytes.begin, transfer.bytes.size()));
        } else if (rank_ == transfer.from) {
          download(session_, memory, place(i, transfer.bytes), sent.emplace_back(transfer.bytes.size()));
          ranks_.send(0, sent.back());
        }
      }
    }
    TIDEGATE_CHECK(clock_.together([this] { return ranks_.wait(); }));
    run_.times.read_back_ns = elapsed_ns(start);
    return {};
  }

  const device::Session& session_;
  const Job& program_;
  const JobSplit& split_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  ranks::Ranks& ranks_;
  const std::uint32_t rank_;
  const RankSettings& settings_;
  Monitor& monitor_;
  const std::vector<std::uint32_t> order_;
  Freshness fresh_;
  Exchange exchange_;
  RankRun run_;
  RankClock clock_;
  std::vector<device::Buffer> memory_;
  Arena arena_; // the same memory
  const QueueStates queues_{session_, program_, arena_};
  PlainWaves* waves_ = nullptr; // while it runs
  std::uint64_t launches_ = 0;  // since the last look
  std::uint64_t launches_until_look_ = 1;
  Clock::time_point looked_;
  std::optional<Error> failed_;
};

} // namespace

Result<RankRun> run_on_ranks(const device::Session& session, const CompiledProgram& compiled,
                             const JobSplit& split, const HostContents& first, ranks::Ranks& ranks,
                             Monitor& monitor, const RankSettings& settings) {
  return RankRunner(session, compiled, split, ranks, monitor, settings).run(first);
}

} // namespace tidegate::engine
