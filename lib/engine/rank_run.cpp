#include "engine/rank_run.hpp"

#include "core/duration.hpp"
#include "engine/dispatch.hpp"
#include "engine/plain_waves.hpp"
#include "engine/rank_block.hpp"
#include "engine/rank_exchange.hpp"
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

constexpr std::array<std::uint32_t, 4> depths{1, 2, 4, 8}; // that a run measures
constexpr std::uint32_t warm_up = 8;                       // iterations before that, at least
constexpr std::uint32_t stretch = 16;                      // of each way, at least

// A way to run iterations.
struct Way {
  std::uint32_t depth = 1;
  bool overlaps = false;
  bool blocks = false;
};

// Rounds a number of iterations up to whole blocks.
std::uint32_t whole_blocks(std::uint32_t iterations, std::uint32_t depth) {
  return (iterations + depth - 1) / depth * depth;
}

// One rank's side of a run.
class RankRunner {
public:
  RankRunner(const device::Session& session, const Job& program, const JobSplit& split,
             const std::vector<std::vector<std::uint32_t>>& storage, ranks::Ranks& ranks,
             std::chrono::nanoseconds most, Monitor& monitor, const RankSettings& settings)
      : session_(session), program_(program), split_(split), storage_(storage), ranks_(ranks),
        rank_(static_cast<std::uint32_t>(ranks.rank())), most_(most), outputs_(settings.outputs),
        trace_spans_(settings.trace_spans), clock_from_(settings.clock_from), monitor_(monitor),
        order_(program_order(program)),
        halos_(program, split, storage, settings.halo_depth == 0 ? depths.back() : settings.halo_depth),
        fresh_(program, split, storage), exchange_(session, ranks), clock_(ranks, monitor, run_.times),
        asked_overlap_(settings.halo_overlap),
        overlaps_(settings.halo_overlap.value_or(!session.on_host && settings.trace_spans == 0)),
        blocks_(settings.blocks != nullptr && settings.blocks->use != BlockUse::never ? settings.blocks
                                                                                      : nullptr),
        in_blocks_(blocks_ != nullptr && blocks_->use == BlockUse::always) {
    run_.buffer_bytes.resize(program.buffers.size());
    for (const std::uint32_t wave : order_) {
      if (program.waves[wave].section == Section::each) {
        first_repeated_ = repeated_waves_++ == 0 ? wave : first_repeated_;
      }
    }
    plan_measuring(settings);
  }

  Result<RankRun> run(const HostContents& first) {
    monitor_.begin(Activity::building);
    const auto moved = moved_parameters(program_, split_);
    const PlainPrograms programs(session_, program_, order_, moving_sources(program_, moved));
    TIDEGATE_CHECK(ranks_.barrier()); // time that one rank takes longer is not part of the dispatch
    monitor_.begin(Activity::filling);
    const auto filling = Clock::now();
    if (blocks_ != nullptr && blocks_->block) {
      const CompiledProgram& compiled = blocks_->block->compiled;
      arena_.emplace(allocate_arena(session_, compiled.program, compiled.memory, ArenaUse::both));
      memory_ = arena_->views;
    }
    for (std::uint32_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
      const std::uint64_t bytes = room(buffer).size();
      if (!arena_) {
        memory_.push_back(allocate(session_, bytes));
      }
      if (!first[buffer].empty()) {
        upload(session_, memory_[buffer], 0, first[buffer]);
      } else if (bytes != 0) {
        clear(session_, memory_[buffer], 0, bytes);
      }
    }
    PlainWaves waves(session_, programs, program_, order_, storage_, memory_, {}, QueueWay::ranks);
    waves_ = &waves;
    for (std::uint32_t wave = 0; wave < moved.size(); ++wave) {
      hand_over_begins(wave, moved[wave]);
      if (split_.waves[wave].local) {
        waves.set_transfer(wave, local_part(program_, split_, wave, rank_));
      }
    }
    run_.device_bytes = session_.calls()->now().buffer_bytes;
    for (const std::uint32_t wave : order_) {
      if (program_.waves[wave].listed_items && split_.waves[wave].cut()) {
        take_items(wave);
      }
    }
    device::require(session_.finish(), "filling the buffers");
    run_.times.upload_ns = elapsed_ns(filling);

    TIDEGATE_CHECK(clock_.begin(most_, trace_spans_));
    compile_ns_before_ = waves.compile_ns();
    looked_ = Clock::now();
    if (arena_) {
      begin_blocks();
      clock_.restart();
    }
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
    finish_waves();
    monitor_.in_flight = 0;
    clock_.end(outcome, waves.compile_ns() - compile_ns_before_);
    run_.blocks = in_blocks_;
    run_.halo_depth = halos_.depth();
    run_.halo_overlap = overlapped_ && overlaps_;
    if (failed_) {
      return tl::unexpected(std::move(*failed_));
    }
    monitor_.begin(Activity::reading);
    run_.queues = queue_outcomes();
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
        std::ignore = place(argument.buffer, touched(argument, whole_tiles(spec, rows),
                                                     program_.buffers[argument.buffer].bytes));
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
    std::vector<RankExchange::Piece> sent, received;
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
    exchange_.arrive();
    if (!end_block()) {
      return false;
    }
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
  bool launch_rows(std::uint32_t wave, std::uint32_t iteration, std::uint32_t begin, std::uint32_t end,
                   device::Event* event = nullptr) {
    if (begin == end) {
      return true;
    }
    check_rows(wave, {.begin = begin, .end = end});
    waves_->set_range(wave, part_of(program_.waves[wave].range, {.begin = begin, .end = end}));
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
      const bool is_signed = type == ElementType::i32 || type == ElementType::i64;
      std::vector<std::uint64_t> values = elements(*shared.buffer, shared.memory);
      for (std::size_t i = 0; i < shared.before.size(); ++i) {
        values[i] -= shared.before[i];
      }
      const auto less = [is_signed](std::uint64_t a, std::uint64_t b) {
        return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
      };
      const auto combined = [&](std::uint64_t a, std::uint64_t b) {
        return shared.how == Combine::sum ? a + b : less(a, b) == (shared.how == Combine::min) ? a : b;
      };
      if (!meet([&] { return ranks_.reduce(values, combined); })) {
        return false;
      }
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

  // Decides what a run measures: the depth of halos, and blocks.
  void plan_measuring(const RankSettings& settings) {
    const bool splits = std::ranges::any_of(split_.owned, [](const auto& owned) { return !owned.empty(); });
    measures_blocks_ = blocks_ != nullptr && blocks_->use == BlockUse::measured;
    measures_ = (settings.halo_depth == 0 || measures_blocks_) && splits && halos_.depth() > 1 &&
                repeated_waves_ != 0 && trace_spans_ == 0 &&
                program_.iterations >= least_measured(settings.halo_depth);
    deepest_ = halos_.depth();
    depths_ = {settings.halo_depth == 0 ? 1 : deepest_};
    if (measures_ && settings.halo_depth == 0) {
      depths_.assign(depths.begin(), depths.end());
    }
    run_.halo_reason = settings.halo_depth == 0 ? "" : halos_.reason();
    warm_up_ = whole_blocks(warm_up, deepest_);
    stretch_ = whole_blocks(stretch, deepest_);
    halos_.use(depths_.front());
  }

  static bool gains(std::uint64_t time, std::uint64_t over) {
    constexpr std::uint64_t gain_percent = 5; // what differs less may be chance
    return time * 100 < over * (100 - gain_percent);
  }

  // The way with which the slowest rank was fastest: the best depth, and then what gains over it.
  [[nodiscard]] std::size_t fastest() const {
    const auto end = times_.begin() + static_cast<std::ptrdiff_t>(depths_.size());
    const auto best = std::min_element(times_.begin(), end);
    std::size_t chosen = gains(*best, times_.front()) ? static_cast<std::size_t>(best - times_.begin()) : 0;
    for (std::size_t i = depths_.size(); i < times_.size(); ++i) {
      chosen = gains(times_[i], times_[chosen]) ? i : chosen;
    }
    return chosen;
  }

  [[nodiscard]] std::optional<Way> next_way() const {
    if (ways_.size() < depths_.size()) {
      return Way{.depth = depths_[ways_.size()], .overlaps = overlaps_, .blocks = in_blocks_};
    }
    const Way& best = ways_[fastest()];
    std::vector<Way> further;
    if (depths_.size() > 1 && !asked_overlap_) {
      further.push_back({.depth = best.depth, .overlaps = !best.overlaps, .blocks = best.blocks});
    }
    if (measures_blocks_) {
      further.push_back({.depth = deepest_, .overlaps = best.overlaps, .blocks = true});
    }
    const std::size_t tried = ways_.size() - depths_.size();
    return tried < further.size() ? std::optional(further[tried]) : std::nullopt;
  }

  void take(const Way& way) {
    halos_.use(way.depth);
    overlaps_ = way.overlaps;
    in_blocks_ = way.blocks;
  }

  // Runs a stretch of iterations in each way, and goes on with the fastest. Called before an iteration. Returns false
  // to end the program.
  bool measure(std::uint32_t iteration) {
    if (iteration != warm_up_ + times_.size() * stretch_) {
      return true;
    }
    finish_waves();
    const auto end = Clock::now();
    if (!times_.empty()) {
      times_.back() = elapsed_ns(stretch_began_, end);
      if (!meet([&] {
            return ranks_.reduce(std::span(&times_.back(), 1),
                                 [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
          })) {
        return false;
      }
    }
    const std::optional<Way> next = next_way();
    if (!next) {
      measures_ = false;
      take(ways_[fastest()]);
      if (measures_blocks_) {
        const auto of_iteration = [this](std::uint64_t time) {
          return short_time_text(static_cast<double>(time) / stretch_);
        };
        run_.block_times =
            fmt::format("measured: {} an iteration, {} with plain launches", of_iteration(times_.back()),
                        of_iteration(*std::min_element(times_.begin(), times_.end() - 1)));
      }
      return true;
    }
    take(*next);
    ways_.push_back(*next);
    times_.push_back(0);
    const bool met = meet([&] { return ranks_.barrier(); });
    stretch_began_ = Clock::now();
    return met;
  }

  void begin_blocks() {
    RankBlock& block = *blocks_->block;
    block.limits.deadline = clock_.deadline();
    queues_.emplace(session_, block.compiled.program, *arena_);
    dispatcher_.emplace(session_, block.compiled.program, block.compiled.schedule, block.compiled.tables,
                        block.compiled.strategy.strategy, block.compiled.synchronization.mapping,
                        &*block.built.kernel, waves_, *queues_, *arena_, block.limits, monitor_);
  }

  // Returns the end of the iterations that a launch can run from this one on, or this one if none can.
  std::uint32_t block_end(std::uint32_t iteration) {
    const std::uint32_t end = std::min(halos_.end(), program_.iterations);
    const bool several = (end - iteration) * repeated_waves_ > 1;
    return several && fresh_.pass(iteration, end, order_, halos_) ? end : iteration;
  }

  // Runs iterations in a launch, and does not wait for it once such launches are known to be short. Returns false to
  // end the program.
  bool run_block(std::uint32_t begin, std::uint32_t end) {
    ran_to_ = end;
    run_.block_iterations += end - begin;
    if (!end_block()) {
      return false;
    }
    const auto start = Clock::now();
    if (dispatcher_ && blocks_->block->is_short && dispatcher_->start_block(begin, end)) {
      block_began_ = start;
    } else if (dispatcher_) {
      if (!dispatcher_->run_block(begin, end)) {
        return block_failed();
      }
      block_took(start);
    }
    return !out_of_time();
  }

  // Waits for the launch of a block that was started, if there is one. Returns false to end the program.
  bool end_block() {
    if (!block_began_) {
      return true;
    }
    const bool ended = dispatcher_->end_block();
    block_took(*std::exchange(block_began_, std::nullopt));
    return ended || block_failed();
  }

  void block_took(Clock::time_point since) {
    constexpr std::uint64_t short_part = 4; // of a slice
    blocks_->block->is_short = elapsed_ns(since) < blocks_->block->limits.slice_ns / short_part;
  }

  bool block_failed() {
    run_.outcome.status = dispatcher_->outcome().status;
    run_.outcome.stuck_groups = dispatcher_->outcome().stuck_groups;
    return false;
  }

  void finish_waves() {
    device::require(session_.finish(), "running the waves");
    end_block();
  }

  void take_items(std::uint32_t wave) {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const std::vector<std::uint32_t>& begin = split_.waves[wave].begin;
    waves_->take_items(wave,
                       {.begin = begin[rank],
                        .end = begin[rank + 1],
                        .rank = rank,
                        .ranks = split_.ranks,
                        .sum = [this, wave](std::span<std::uint64_t> numbers) {
                          run_.times.trace.worked(wave, static_cast<std::uint32_t>(monitor_.iterations));
                          return meet([&] { return ranks_.reduce(numbers, std::plus<std::uint64_t>()); });
                        }});
  }

  // All ranks run the rounds of a queue that is cut.
  [[nodiscard]] bool in_rows(std::uint32_t wave) const {
    return split_.waves[wave].cut() && !program_.waves[wave].listed_items;
  }

  // Launches what this rank runs of a wave, without the inner rows, which are launched already.
  bool launch(std::uint32_t wave, std::uint32_t iteration, const std::vector<TileRows>& rows,
              const TileRows& inner) {
    monitor_.in_flight = 1;
    const bool done = !in_rows(wave) ? waves_->launch(wave, iteration, limit())
                      : inner.begin == inner.end
                          ? launch_rows(wave, iteration, rows[rank_].begin, rows[rank_].end)
                          : launch_rows(wave, iteration, rows[rank_].begin, inner.begin) &&
                                launch_rows(wave, iteration, inner.end, rows[rank_].end);
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
    if (clock_from_ != 0 && iteration == clock_from_) {
      clock_from_ = 0;
      finish_waves();
      clock_.restart();
      compile_ns_before_ = waves_->compile_ns();
    }
    if (measures_ && wave == first_repeated_ && !measure(iteration)) {
      return false;
    }
    if (program_.waves[wave].section == Section::each && iteration < ran_to_) {
      return true;
    }
    const std::vector<TileRows> rows = halos_.rows(wave, iteration);
    const WaveCut& cut = split_.waves[wave];
    const auto awaited = begin_exchange(fresh_.before(wave, iteration, rows),
                                        iteration % static_cast<std::uint32_t>(storage_.size()));
    TileRows inner;
    device::Event inner_ended;
    if (awaited) {
      if (in_rows(wave) && overlaps_ && !combines(program_.waves[wave])) {
        inner = inner_rows(program_, wave, rows[rank_], *awaited);
        overlapped_ = overlapped_ || inner.begin != inner.end;
        launch_rows(wave, iteration, inner.begin, inner.end, &inner_ended);
        device::require(session_.flush(), "running the waves");
      }
      if (!end_exchange(inner_ended)) {
        return false;
      }
    }
    if (in_blocks_ && wave == first_repeated_ && inner.begin == inner.end) {
      if (const std::uint32_t end = block_end(iteration); end != iteration) {
        return run_block(iteration, end);
      }
    }
    const std::vector<Shared> shared = cut.cut() ? shared_before(wave, iteration) : std::vector<Shared>();
    const bool runs = cut.on_one_rank ? rank_ == 0 : !in_rows(wave) || rows[rank_].begin != rows[rank_].end;
    if (runs && !launch(wave, iteration, rows, inner)) {
      if (!failed_ && !out_of_time()) {
        run_.outcome.status = RunStatus::queue_failed;
      }
      if (!cut.on_one_rank) {
        return false;
      }
    }
    if (cut.on_one_rank && !share(wave, iteration)) {
      return false;
    }
    fresh_.after(wave, iteration, rows);
    return combine(shared) && (++launches_ < launches_until_look_ || look());
  }

  // Waits for the device and looks at the clock, after more launches each time while these are short. Returns false to
  // end the program.
  bool look() {
    constexpr std::uint64_t most_launches = 64;
    constexpr std::uint64_t often_ns = 100'000'000;
    finish_waves();
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

  [[nodiscard]] std::vector<QueueOutcome> queue_outcomes() const {
    Arena arena;
    for (const device::Buffer& memory : memory_) {
      arena.parts.push_back({.memory = memory});
    }
    return QueueStates(session_, program_, arena).read();
  }

  Result<void> read_outputs() {
    const auto start = Clock::now();
    const std::uint32_t phase = run_.outcome.reached.iteration % static_cast<std::uint32_t>(storage_.size());
    const auto in_parts = [this](std::uint32_t i) {
      return outputs_ == Outputs::in_parts && program_.buffers[i].output_head && split_.split(i);
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
  const std::chrono::nanoseconds most_; // wall time of the waves
  const Outputs outputs_;
  const std::uint64_t trace_spans_;
  std::uint32_t clock_from_; // the iteration in which the clock starts again
  std::uint64_t compile_ns_before_ = 0;
  Monitor& monitor_;
  const std::vector<std::uint32_t> order_;
  DeepHalos halos_;
  Freshness fresh_;
  RankExchange exchange_;
  RankRun run_;
  RankClock clock_;
  const std::optional<bool> asked_overlap_;
  bool overlaps_;           // inner work-groups run while halos are under way
  bool overlapped_ = false; // some did
  std::vector<device::Buffer> memory_;
  PlainWaves* waves_ = nullptr; // while it runs
  std::uint64_t launches_ = 0;  // since the last look
  std::uint64_t launches_until_look_ = 1;
  Clock::time_point looked_;
  std::optional<Error> failed_;

  std::uint32_t first_repeated_ = 0; // wave of an iteration
  std::uint32_t repeated_waves_ = 0;

  RankBlocks* const blocks_; // null: none are taken
  bool in_blocks_;           // iterations are taken together
  std::optional<Arena> arena_;
  std::optional<QueueStates> queues_;
  std::optional<Dispatcher> dispatcher_;
  std::uint32_t ran_to_ = 0;                     // the end of the last block
  std::optional<Clock::time_point> block_began_; // of one that is not waited for yet

  std::uint32_t deepest_ = 1;
  bool measures_ = false; // until all ways were tried
  bool measures_blocks_ = false;
  std::vector<std::uint32_t> depths_; // that are tried first
  std::uint32_t warm_up_ = 0, stretch_ = 0;
  std::vector<Way> ways_;
  std::vector<std::uint64_t> times_; // of stretches, by way, ns
  Clock::time_point stretch_began_;
};

} // namespace

std::uint32_t least_measured(std::uint32_t halo_depth) {
  const std::uint32_t depth = halo_depth == 0 ? depths.back() : halo_depth;
  const auto ways = static_cast<std::uint32_t>(halo_depth == 0 ? depths.size() + 1 : 2);
  constexpr std::uint32_t part = 4; // of the run, at most
  return part * (whole_blocks(warm_up, depth) + ways * whole_blocks(stretch, depth));
}

std::uint32_t deepest_halo(const Job& program, const RankSettings& settings) {
  const bool measured = program.iterations >= least_measured(0);
  return settings.halo_depth != 0 ? settings.halo_depth : measured ? depths.back() : 1;
}

Result<RankRun> try_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, const RunOptions& options, Monitor& monitor,
                             const RankSettings& settings) {
  auto run = run_on_ranks(session, program, split, storage, first, *options.ranks,
                          std::chrono::nanoseconds(options.max_wall_time_ns), monitor, settings);
  if (run && run->outcome.status == RunStatus::interrupted) {
    return failure(ErrorCode::interrupted, "interrupted", "run it again");
  }
  if (run && run->outcome.status == RunStatus::deadline) {
    return failure(ErrorCode::wall_time_exceeded,
                   fmt::format("the wall time of {} is over before the first {} are tried",
                               seconds_text(options.max_wall_time_ns),
                               plural(program.iterations, "iteration")),
                   "give --max-wall-time more, or the program less to do; no output was written");
  }
  return run;
}

Result<RankRun> run_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, ranks::Ranks& ranks, std::chrono::nanoseconds most,
                             Monitor& monitor, const RankSettings& settings) {
  return RankRunner(session, program, split, storage, ranks, most, monitor, settings).run(first);
}

} // namespace tidegate::engine
