#include "engine/rank_run.hpp"

#include "core/duration.hpp"
#include "core/interrupt.hpp"
#include "device/driver_output.hpp"
#include "engine/dispatch.hpp"
#include "engine/plain_waves.hpp"
#include "engine/proof.hpp"
#include "engine/rank_block.hpp"
#include "engine/rank_exchange.hpp"
#include "engine/rank_weights.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
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

// At least so many iterations, in whole blocks.
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
        fresh_(program, split, storage), exchange_(session, ranks), asked_overlap_(settings.halo_overlap),
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
    TIDEGATE_CHECK(ranks_.barrier()); // what takes one rank longer is no part of the dispatch
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
    run_.upload_ns = elapsed_ns(filling);

    monitor_.begin(Activity::running);
    TIDEGATE_CHECK(ranks_.barrier());
    deadline_ = Clock::now() + most_;
    monitor_.deadline = deadline_;
    if (arena_) {
      begin_blocks();
    }
    start_clock();
    run_.trace = RankTrace(trace_spans_);
    const std::uint32_t iterations = run_wave_by_wave(
        program_, order_, storage_,
        {.run =
             [&](std::uint32_t wave, std::uint32_t iteration) {
               const bool goes_on = step(wave, iteration);
               if (!goes_on) {
                 run_.ended_before = wave;
                 run_.iterations = iteration;
               }
               return goes_on;
             },
         .read = [this](std::uint32_t owner, std::span<std::byte> value) { decide(owner, value); }});
    run_.iterations = run_.ended_before ? run_.iterations : iterations;
    finish_waves();
    monitor_.in_flight = 0;
    run_.blocks = in_blocks_;
    run_.halo_depth = halos_.depth();
    run_.halo_overlap = overlapped_ && overlaps_;
    const std::uint64_t compiled = waves.compile_ns() - compile_ns_before_;
    run_.dispatch_ns = elapsed_ns(start_) - std::min(elapsed_ns(start_), compiled);
    const ranks::Traffic& after = ranks_.traffic();
    run_.traffic = {.bytes_sent = after.bytes_sent - traffic_before_.bytes_sent,
                    .messages = after.messages - traffic_before_.messages,
                    .waiting_ns = after.waiting_ns - traffic_before_.waiting_ns};
    if (failed_) {
      return tl::unexpected(std::move(*failed_));
    }
    monitor_.begin(Activity::reading);
    run_.queues = queue_outcomes();
    if (run_.status == RunStatus::done) {
      TIDEGATE_CHECK(read_outputs());
    }
    return std::move(run_);
  }

private:
  void start_clock() {
    traffic_before_ = ranks_.traffic();
    compile_ns_before_ = waves_->compile_ns();
    start_ = Clock::now();
  }

  // The bytes of a buffer that this rank has memory for.
  [[nodiscard]] ByteRange room(std::uint32_t buffer) const {
    return room_of(program_, split_, buffer, rank_);
  }

  // Where bytes of a buffer are in its memory, or in that of one of its set.
  [[nodiscard]] std::uint64_t place(std::uint32_t buffer, const ByteRange& bytes) const {
    constexpr device::Status invalid_value = -30;
    const ByteRange all = room(buffer);
    device::require(bytes.begin < all.begin || bytes.end > all.end ? invalid_value : device::success,
                    "finding bytes of a buffer in a part of it");
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

  // Waits for other ranks.
  template <class Wait>
  Result<void> together(const Wait& wait) {
    auto waited = wait();
    run_.trace.exchanged(static_cast<std::uint32_t>(monitor_.iterations), ranks_.traffic());
    return waited;
  }
  Result<void> wait() {
    return together([this] { return ranks_.wait(); });
  }

  // The compile time of first launches does not count as wall time.
  [[nodiscard]] Clock::time_point limit() const {
    return deadline_ + std::chrono::nanoseconds(waves_->compile_ns());
  }

  bool out_of_time() {
    if (InterruptWatch::interrupted()) {
      run_.status = RunStatus::interrupted;
    } else if (Clock::now() >= limit()) {
      run_.status = RunStatus::deadline;
    }
    return run_.status != RunStatus::done;
  }

  // Begins to exchange this rank's share of the transfers, of buffers in the memory that they have in a swap phase; returns
  // what this rank awaits, or nothing if it takes no part.
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

  // Launches that no halo is awaited for may still run meanwhile.
  Result<void> end_exchange(const device::Event& inner) {
    exchange_.arrive();
    if (!end_block()) {
      return {};
    }
    exchange_.send();
    monitor_.reach(
        {.iteration = static_cast<std::uint32_t>(monitor_.iterations)}); // what was launched is done
    TIDEGATE_CHECK(together([&] {
      return ranks_.wait(inner ? [&] { return !session_.has_ended(inner); } : std::function<bool()>());
    }));
    exchange_.end();
    return {};
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

  Result<void> combine(const std::vector<Shared>& all) {
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
      TIDEGATE_CHECK(together([&] { return ranks_.reduce(values, combined); }));
      std::vector<std::byte> bytes(shared.buffer->bytes);
      const std::size_t size = element_bytes(type);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += shared.before.empty() ? 0 : shared.before[i];
        std::memcpy(bytes.data() + i * size, &values[i], size); // the low bytes come first
      }
      upload(session_, shared.memory, 0, bytes);
    }
    return {};
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

  // Runs a stretch of iterations in each way, and goes on with the fastest. Called before an iteration.
  Result<void> measure(std::uint32_t iteration) {
    if (iteration != warm_up_ + times_.size() * stretch_) {
      return {};
    }
    finish_waves();
    const auto end = Clock::now();
    if (!times_.empty()) {
      times_.back() = elapsed_ns(stretch_began_, end);
      TIDEGATE_CHECK(together([&] {
        return ranks_.reduce(std::span(&times_.back(), 1),
                             [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
      }));
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
      return {};
    }
    take(*next);
    ways_.push_back(*next);
    times_.push_back(0);
    auto met = together([&] { return ranks_.barrier(); });
    stretch_began_ = Clock::now();
    return met;
  }

  void begin_blocks() {
    RankBlock& block = *blocks_->block;
    block.limits.deadline = deadline_;
    queues_.emplace(session_, block.compiled.program, *arena_);
    dispatcher_.emplace(session_, block.compiled.program, block.compiled.schedule, block.compiled.tables,
                        block.compiled.strategy.strategy, block.compiled.synchronization.mapping,
                        &*block.built.kernel, nullptr, *queues_, *arena_, block.limits, monitor_);
  }

  // Returns the end of the iterations that a launch can run from this one on, or this one if none can.
  std::uint32_t block_end(std::uint32_t iteration) {
    const std::uint32_t end = std::min(halos_.end(), program_.iterations);
    const bool several = (end - iteration) * repeated_waves_ > 1;
    return several && fresh_.pass(iteration, end, order_, halos_) ? end : iteration;
  }

  // Runs iterations in a launch, and does not wait for it once such launches are known to be short. Returns false to end the
  // program.
  bool run_block(std::uint32_t begin, std::uint32_t end) {
    constexpr std::uint64_t short_part = 4; // of a slice
    ran_to_ = end;
    run_.block_iterations += end - begin;
    if (!end_block()) {
      return false;
    }
    const auto start = Clock::now();
    if (dispatcher_ && (!blocks_->block->is_short || !dispatcher_->start_block(begin, end))) {
      if (!dispatcher_->run_block(begin, end)) {
        return block_failed();
      }
      blocks_->block->is_short = elapsed_ns(start) < blocks_->block->limits.slice_ns / short_part;
    }
    return !out_of_time();
  }

  // Waits for the launch of a block, if there is one. Returns false to end the program.
  bool end_block() { return !dispatcher_ || dispatcher_->end_block() || block_failed(); }

  bool block_failed() {
    run_.status = dispatcher_->outcome().status;
    run_.stuck_groups = dispatcher_->outcome().stuck_groups;
    return false;
  }

  void finish_waves() {
    device::require(session_.finish(), "running the waves");
    end_block();
  }

  void take_items(std::uint32_t wave) {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const std::vector<std::uint32_t>& begin = split_.waves[wave].begin;
    waves_->take_items(wave, {.begin = begin[rank],
                              .end = begin[rank + 1],
                              .rank = rank,
                              .ranks = split_.ranks,
                              .sum = [this, wave](std::span<std::uint64_t> numbers) {
                                run_.trace.worked(wave, static_cast<std::uint32_t>(monitor_.iterations));
                                const auto summed = together(
                                    [&] { return ranks_.reduce(numbers, std::plus<std::uint64_t>()); });
                                if (!summed) {
                                  failed_ = summed.error();
                                }
                                return summed.has_value();
                              }});
  }

  // Of a queue that is cut all ranks run the rounds.
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
    if (done && run_.trace.on()) {
      device::require(session_.finish(), "running the waves");
      run_.trace.worked(wave, iteration);
    }
    return done;
  }

  // Gives all ranks what rank 0 may have written in a wave, and how it ended there. Returns false to end the program.
  bool share(std::uint32_t wave, std::uint32_t iteration) {
    const auto broadcast = [this](std::span<std::byte> bytes) {
      const auto sent = together([&] { return ranks_.broadcast(bytes); });
      if (!sent) {
        failed_ = sent.error();
      }
      return sent.has_value();
    };
    std::array<std::byte, 1> ended{static_cast<std::byte>(run_.status)};
    if (!broadcast(ended)) {
      return false;
    }
    run_.status = static_cast<RunStatus>(ended[0]);
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
    return run_.status == RunStatus::done;
  }

  // Runs this rank's part of a wave. Returns false to end the program.
  bool step(std::uint32_t wave, std::uint32_t iteration) {
    constexpr std::uint64_t launches_between_looks = 64;
    monitor_.iterations = iteration;
    if (failed_ || run_.status != RunStatus::done) {
      return false;
    }
    if (clock_from_ != 0 && iteration == clock_from_) {
      clock_from_ = 0;
      finish_waves();
      start_clock();
    }
    if (measures_ && wave == first_repeated_) {
      if (const auto measured = measure(iteration); !measured) {
        failed_ = measured.error();
        return false;
      }
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
      if (const auto ended = end_exchange(inner_ended); !ended) {
        failed_ = ended.error();
      }
      if (failed_ || run_.status != RunStatus::done) {
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
        run_.status = RunStatus::queue_failed;
      }
      if (!cut.on_one_rank) {
        return false;
      }
    }
    if (cut.on_one_rank && !share(wave, iteration)) {
      return false;
    }
    fresh_.after(wave, iteration, rows);
    if (const auto combined = combine(shared); !combined) {
      failed_ = combined.error();
      return false;
    }
    if (++launches_ % launches_between_looks == 0) {
      finish_waves();
      return run_.status == RunStatus::done && !out_of_time();
    }
    return true;
  }

  // Reads the value that `until` tests. Rank 0 decides for all: kernels that do not repeat their results could have
  // ranks go different ways.
  void decide(std::uint32_t owner, std::span<std::byte> value) {
    if (rank_ == 0) {
      download(session_, memory_[owner], 0, value);
    }
    const auto decided = together([&] { return ranks_.broadcast(value); });
    if (!decided) {
      failed_ = decided.error();
      return;
    }
    run_.until_value.assign(value.begin(), value.end());
    run_.until_met = same_value(program_, run_.until_value);
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
    const std::uint32_t phase = run_.iterations % static_cast<std::uint32_t>(storage_.size());
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
      for (const RankTransfer& transfer : fresh_.gather(i, run_.iterations)) {
        if (rank_ == 0) {
          ranks_.receive(static_cast<int>(transfer.from),
                         run_.outputs[i].subspan(transfer.bytes.begin, transfer.bytes.size()));
        } else if (rank_ == transfer.from) {
          download(session_, memory, place(i, transfer.bytes), sent.emplace_back(transfer.bytes.size()));
          ranks_.send(0, sent.back());
        }
      }
    }
    TIDEGATE_CHECK(wait());
    run_.read_back_ns = elapsed_ns(start);
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
  Clock::time_point start_;
  ranks::Traffic traffic_before_;
  std::uint64_t compile_ns_before_ = 0;
  Clock::time_point deadline_;
  Monitor& monitor_;
  const std::vector<std::uint32_t> order_;
  DeepHalos halos_;
  Freshness fresh_;
  RankExchange exchange_;
  const std::optional<bool> asked_overlap_;
  bool overlaps_;           // inner work-groups run while halos are under way
  bool overlapped_ = false; // some did
  std::vector<device::Buffer> memory_;
  PlainWaves* waves_ = nullptr; // while it runs
  std::uint64_t launches_ = 0;
  std::optional<Error> failed_;

  std::uint32_t first_repeated_ = 0; // wave of an iteration
  std::uint32_t repeated_waves_ = 0;

  RankBlocks* const blocks_; // null: none are taken
  bool in_blocks_;           // iterations are taken together
  std::optional<Arena> arena_;
  std::optional<QueueStates> queues_;
  std::optional<Dispatcher> dispatcher_;
  std::uint32_t ran_to_ = 0; // the end of the last block

  std::uint32_t deepest_ = 1;
  bool measures_ = false; // until all ways were tried
  bool measures_blocks_ = false;
  std::vector<std::uint32_t> depths_; // that are tried first
  std::uint32_t warm_up_ = 0, stretch_ = 0;
  std::vector<Way> ways_;
  std::vector<std::uint64_t> times_; // of stretches, by way, ns
  Clock::time_point stretch_began_;
  RankRun run_;
};

// Why a buffer is not split, as a wave that is not cut writes it or ranks combine it; or why every rank has memory for all of it.
RankBufferReport buffer_report(const Job& program, const JobSplit& split, std::uint32_t buffer,
                               std::uint64_t bytes_sent) {
  RankBufferReport report{.buffer = program.buffers[buffer].name,
                          .split = split.split(buffer),
                          .in_parts = split.in_parts(buffer),
                          .bytes_sent = bytes_sent,
                          .reason = {},
                          .fix = {}};
  if (report.split) {
    report.reason = split.whole[buffer].reason;
    report.fix = split.whole[buffer].fix;
    return report;
  }
  report.reason = "no wave writes it";
  bool whole = false; // some wave that is not cut writes it
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const WaveCut& cut = split.waves[wave];
    for (const ProgramArgument& argument : program.waves[wave].arguments) {
      if (!argument.is_memory() || split.swap_set[argument.buffer] != split.swap_set[buffer] ||
          argument.access == Access::read || (cut.cut() && whole)) {
        continue;
      }
      whole = !cut.cut();
      report.fix = cut.fix;
      report.reason = fmt::format("{} {}{}",
                                  whole ? cut.on_one_rank ? "rank 0 runs all of" : "every rank runs all of"
                                        : "ranks combine theirs after",
                                  program.wave_text(wave), whole ? ", which writes it" : "");
      if (argument.buffer != buffer) {
        report.reason += " when it is swapped";
      }
    }
  }
  return report;
}

// The report of all ranks, for rank 0.
Result<RanksReport> ranks_report(const Job& program, const JobSplit& split, const RankRun& run,
                                 const std::string& device, ranks::Ranks& ranks) {
  TIDEGATE_TRY(RanksReport report, report_ranks(run.traffic,
                                                RankReport{.host = {},
                                                           .device = device,
                                                           .dispatch_ns = run.dispatch_ns,
                                                           .edges = {},
                                                           .device_bytes = run.device_bytes},
                                                ranks));
  report.halo_depth = run.halo_depth;
  report.halo_overlap = run.halo_overlap;
  report.halo_reason = run.halo_reason;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    report.waves.push_back({.wave = program.wave_text(wave),
                            .runs_on = split.waves[wave].cut() || split.waves[wave].local ? RunsOn::parts
                                       : split.waves[wave].on_one_rank                    ? RunsOn::one
                                                                                          : RunsOn::every,
                            .reason = split.waves[wave].reason,
                            .fix = split.waves[wave].fix});
  }
  for (std::uint32_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
    if (!program.buffers[buffer].pointer.empty()) { // the others belong to queues
      report.buffers.push_back(buffer_report(program, split, buffer, run.buffer_bytes[buffer]));
    }
  }
  return report;
}

// Where a run that has ended is in its schedule.
Position end_of(const Schedule& schedule, const RankRun& run) {
  const auto end = static_cast<std::uint32_t>(schedule.stages.size());
  if (run.ended_before) {
    const auto stage = std::ranges::find_if(schedule.stages, [&run](const Stage& one) {
      return std::ranges::find(one.waves, *run.ended_before) != one.waves.end();
    });
    return {.iteration = run.iterations,
            .stage = static_cast<std::uint32_t>(stage - schedule.stages.begin())};
  }
  return {.iteration = run.iterations,
          .stage = schedule.repeat_end == end ? static_cast<std::uint32_t>(schedule.repeat_begin) : end};
}

// Outputs in the order of buffers, those in parts by all ranks and the others by rank 0.
Result<std::vector<WrittenFile>> write_all(const device::Session& session, const Job& program,
                                           const JobSplit& split, const RankRun& run, ranks::Ranks& ranks) {
  std::vector<WrittenFile> written;
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    const auto part = std::ranges::find(run.parts, i, &OutputInParts::buffer);
    if (part != run.parts.end()) {
      ranks::FileInParts file{.path = *buffer.output,
                              .head = *buffer.output_head,
                              .begin = {0},
                              .read = [&](std::uint64_t at, std::span<std::byte> bytes) {
                                download(session, part->memory, at - part->begin, bytes);
                              }};
      for (const ByteRange& owned : split.owned[i]) {
        file.begin.push_back(owned.end);
      }
      TIDEGATE_CHECK(ranks::write_in_parts(file, ranks));
    } else if (buffer.output && ranks.rank() == 0) {
      TIDEGATE_CHECK(buffer.write(run.outputs[i]));
    }
    if (buffer.output && ranks.rank() == 0) {
      written.push_back(output_file(buffer));
    }
  }
  return written;
}

// Refuses a rank whose part of the program is more than the device may hold.
Result<void> check_room(const Job& program, const JobSplit& split, std::uint32_t rank,
                        const device::DeviceInfo& device) {
  const auto over = [rank](std::string what, std::uint64_t bytes, std::uint64_t capacity) {
    return tl::unexpected(Error{
        .code = ErrorCode::arena_over_capacity,
        .message =
            fmt::format("{} on rank {}, {} may take {}", bytes_text(bytes), rank, what, bytes_text(capacity)),
        .fix =
            "start more ranks: each has the smaller parts, of buffers whose ranks.buffers/in_parts is true "
            "in the report of a smaller run",
        .required_bytes = bytes,
        .capacity_bytes = capacity});
  };
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const std::uint64_t bytes = room_of(program, split, i, rank).size();
    all += bytes;
    if (bytes > device.max_allocation_bytes) {
      return over(in_quotes(program.buffers[i].name), bytes, device.max_allocation_bytes);
    }
  }
  const std::uint64_t budget = program.budget_bytes == 0 ? device.global_memory_bytes : program.budget_bytes;
  return all > budget ? over("all buffers together", all, budget) : Result<void>();
}

// Runs the whole program on this rank's device.
Result<PlainRun> run_alone(const device::Session& session, const Job& program,
                           const std::vector<std::vector<std::uint32_t>>& storage,
                           Clock::time_point deadline) {
  const auto explained = [](Error error) {
    error.message += "; --verify runs the whole program on the device of rank 0";
    error.fix = "leave --verify out where one device has no room for the program";
    return tl::unexpected(std::move(error));
  };
  const auto first = first_contents(session, program, 0);
  if (!first) {
    return explained(first.error());
  }
  try {
    return Reference(session, program, storage, *first).run(deadline);
  } catch (device::Refused& refused) {
    return explained(std::move(refused.error));
  }
}

// Why the iterations between two exchanges run as they do.
std::string blocks_reason(const RankBlocks& blocks, const RankRun& run) {
  if (blocks.use == BlockUse::never) {
    return blocks.reason;
  }
  return !run.block_times.empty()    ? run.block_times
         : run.block_iterations != 0 ? "requested"
                                     : "ranks exchange bytes in each iteration";
}

Result<ExecutedProgram> execute_or_throw_on_ranks(const CompiledProgram& compiled,
                                                  const device::DeviceInfo& device, const RunOptions& options,
                                                  Monitor& monitor) {
  const Job& program = compiled.written;
  ranks::Ranks& ranks = *options.ranks;
  const auto& storage = compiled.schedule.storage;
  const bool root = ranks.rank() == 0;
  std::optional<device::PrintsToStandardError> prints(std::in_place);
  TIDEGATE_TRY(const std::shared_ptr<device::Session> session,
               options.open_session(device, device::Profiling::as_needed));
  const auto own = static_cast<std::uint32_t>(ranks.rank());
  const std::chrono::nanoseconds most(options.max_wall_time_ns);
  monitor.count(session->calls());
  TIDEGATE_TRY(const RankWeights weights, weigh_ranks(*session, device, program, storage, options, monitor));
  JobSplit split = split_job(program, weights.parts);
  const std::uint64_t trace_spans =
      options.compile.trace ? std::max<std::uint64_t>(options.trace_spans, 1) : 0;
  const bool compared =
      options.verify || std::ranges::any_of(program.buffers, [](const ProgramBuffer& buffer) {
        return buffer.expected.has_value();
      });
  RankSettings settings{.outputs = compared ? Outputs::whole : Outputs::in_parts,
                        .trace_spans = trace_spans,
                        .halo_depth = static_cast<std::uint32_t>(options.halo_depth),
                        .halo_overlap = options.halo_overlap};
  store_in_parts(program, storage, deepest_halo(program, settings), split);
  TIDEGATE_CHECK(check_room(program, split, own, device));
  TIDEGATE_TRY(const HostContents first, first_contents_of(*session, program, split, own));
  monitor.begin(Activity::building);
  TIDEGATE_TRY(RankBlocks blocks, make_blocks(*session, device, program, split, storage,
                                              deepest_halo(program, settings), options));
  settings.blocks = &blocks;
  if (blocks.use == BlockUse::measured) {
    TIDEGATE_CHECK(prove_blocks(*session, program, split, storage, first, settings, options, monitor));
  }
  const device::CallCounts calls_before = session->calls()->now();
  TIDEGATE_TRY(const BufferContents references, root ? read_expected(program) : Result<BufferContents>());
  TIDEGATE_TRY(RankRun run,
               run_on_ranks(*session, program, split, storage, first, ranks, most, monitor, settings));

  ExecutedProgram executed;
  DispatchOutcome& outcome = executed.run.outcome;
  outcome.status = run.status;
  outcome.iterations = run.iterations;
  outcome.until_met = run.until_met;
  outcome.reached = end_of(compiled.schedule, run);
  outcome.stuck_groups = run.stuck_groups;
  executed.run.queues = run.queues;
  outcome.dispatch_ns = run.dispatch_ns;
  outcome.calls = session->calls()->since(calls_before);
  executed.run.calls = outcome.calls;
  executed.run.publish_ns = executed.run.upload_ns = run.upload_ns;
  executed.run.read_back_ns = run.read_back_ns;
  if (run.status != RunStatus::done) {
    return executed;
  }
  if (program.until) {
    executed.run.until = UntilState{.reached = run.until_met, .value = std::move(run.until_value)};
  }
  TIDEGATE_TRY(executed.ranks, ranks_report(program, split, run, device.name, ranks));
  executed.ranks->weights = weights.source;
  executed.ranks->strategy = run.block_iterations != 0 && run.blocks ? blocks.strategy : Strategy::plain;
  executed.ranks->strategy_reason = blocks_reason(blocks, run);
  for (RankReport& rank : executed.ranks->ranks) {
    rank.weight = weights.parts[rank.rank];
  }
  if (trace_spans != 0) {
    std::vector<std::string> names;
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      names.push_back(program.wave_text(wave));
    }
    TIDEGATE_TRY(executed.timeline, timeline_of_ranks(run.trace, std::move(names), ranks));
  }
  if (!compared) {
    prints.reset();
    monitor.begin_writing();
    TIDEGATE_TRY(executed.files_written, write_all(*session, program, split, run, ranks));
    return executed;
  }
  if (!root) {
    return executed;
  }
  if (options.verify) {
    monitor.begin(Activity::proving);
    const Clock::time_point deadline = Clock::now() + most;
    monitor.deadline = deadline;
    TIDEGATE_TRY(const PlainRun plain, run_alone(*session, program, storage, deadline));
    executed.proof = Proof{.in_time = plain.in_time};
    if (plain.in_time) {
      executed.proof->parity = compare_outputs(program, plain.outputs, run.outputs);
    }
  }
  executed.expected = compare_expected(program, references, run.outputs);
  if ((!executed.proof || executed.proof->holds()) &&
      std::ranges::all_of(executed.expected, &ExpectedReport::equal)) {
    prints.reset();
    monitor.begin_writing();
    TIDEGATE_TRY(executed.files_written, write_outputs(program, run.outputs));
  }
  return executed;
}

} // namespace

Result<RanksReport> report_ranks(const ranks::Traffic& traffic, RankReport own, ranks::Ranks& ranks) {
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::array<std::uint64_t, 6> numbers_here{own.dispatch_ns,          traffic.waiting_ns,
                                                  traffic.bytes_sent,       traffic.messages,
                                                  own.edges.value_or(none), own.device_bytes.value_or(none)};
  TIDEGATE_TRY(const auto numbers, ranks.gather(std::as_bytes(std::span(numbers_here))));
  own.host = ranks::host_name();
  TIDEGATE_TRY(const auto hosts, ranks.gather(std::as_bytes(std::span(own.host))));
  TIDEGATE_TRY(const auto devices, ranks.gather(std::as_bytes(std::span(own.device))));
  RanksReport report;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto of = numbers_here;
    std::memcpy(of.data(), numbers[i].data(), sizeof of);
    const auto given = [](std::uint64_t number) {
      return number == none ? std::nullopt : std::optional(number);
    };
    report.ranks.push_back({.rank = static_cast<std::uint32_t>(i),
                            .host = ranks::string_from(hosts[i]),
                            .device = ranks::string_from(devices[i]),
                            .dispatch_ns = of[0],
                            .waiting_ns = of[1],
                            .bytes_sent = of[2],
                            .messages = of[3],
                            .edges = given(of[4]),
                            .device_bytes = given(of[5])});
    report.bytes_sent += of[2];
    report.messages += of[3];
    const auto working = [](const RankReport& rank) {
      return rank.dispatch_ns - std::min(rank.dispatch_ns, rank.waiting_ns);
    };
    if (working(report.ranks.back()) > working(report.ranks[report.slowest])) {
      report.slowest = static_cast<std::uint32_t>(i);
    }
  }
  return report;
}

void RankTrace::mark(Span span) {
  if (most_ == 0) {
    return;
  }
  span.begin_ns = last_ns_;
  span.end_ns = last_ns_ = elapsed_ns(start_);
  if (spans_.size() < most_) {
    spans_.push_back(span);
  } else {
    ++left_out_;
  }
}

void RankTrace::name(std::uint32_t name, std::uint32_t iteration) {
  for (; unnamed_ < spans_.size(); ++unnamed_) {
    spans_[unnamed_].name = name;
    spans_[unnamed_].iteration = iteration;
  }
}

Result<Timeline> timeline_of_ranks(const RankTrace& own, std::vector<std::string> names,
                                   ranks::Ranks& ranks) {
  const std::uint64_t left_out_here = own.left_out();
  TIDEGATE_TRY(const auto all, ranks.gather(std::as_bytes(std::span(own.spans()))));
  TIDEGATE_TRY(const auto left_out, ranks.gather(std::as_bytes(std::span(&left_out_here, 1))));
  Timeline timeline;
  const auto exchange = static_cast<std::uint32_t>(names.size());
  names.emplace_back("messages");
  timeline.names = std::move(names);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint64_t missing = 0;
    std::memcpy(&missing, left_out[rank].data(), sizeof missing);
    timeline.left_out += missing;
    std::vector<RankTrace::Span> spans(all[rank].size() / sizeof(RankTrace::Span));
    std::memcpy(spans.data(), all[rank].data(), all[rank].size());
    Lane work{.name = fmt::format("rank {}", rank), .spans = {}};
    Lane messages{.name = fmt::format("rank {}, sends", rank), .spans = {}};
    Curve sent{.name = fmt::format("bytes sent by rank {}", rank), .points = {}};
    for (const RankTrace::Span& span : spans) {
      const bool sends = span.exchange != 0;
      (sends ? messages : work)
          .spans.push_back({.kind = sends ? SpanKind::slice : SpanKind::work,
                            .begin_ns = span.begin_ns,
                            .end_ns = span.end_ns,
                            .name = sends ? exchange : span.name,
                            .iteration = span.iteration});
      if (sends) {
        sent.points.emplace_back(span.end_ns, span.bytes_sent);
      }
    }
    timeline.measured.push_back(std::move(work));
    timeline.measured.push_back(std::move(messages));
    timeline.curves.push_back(std::move(sent));
  }
  return timeline;
}

Result<void> check_rankable(const Job& program) {
  const auto refused = [](const std::string& what, const std::string& pointer) {
    return failure(ErrorCode::invalid_program, fmt::format("{} cannot run on several ranks yet", what),
                   "run it in one process, without mpirun", pointer);
  };
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    if (wave.prepared) {
      return refused(program.wave_text(i) + " with active tiles", program.wave_pointer(i));
    }
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.is_object() || buffer.is_unordered()) {
      return refused(
          fmt::format("the {} {}", buffer.is_object() ? "image" : "list of hits", in_quotes(buffer.name)),
          buffer.pointer);
    }
  }
  return {};
}

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

Result<HostContents> first_contents_of(const device::Session& session, const Job& program,
                                       const JobSplit& split, std::uint32_t rank) {
  return first_contents(session, program, 0, [&](std::size_t buffer) -> Result<std::vector<std::byte>> {
    const ProgramBuffer& of = program.buffers[buffer];
    if (!split.in_parts(static_cast<std::uint32_t>(buffer))) {
      return of.first();
    }
    const ByteRange part = split.parts[buffer][rank];
    return part.size() == 0 ? Result<std::vector<std::byte>>() : of.first_part(part.begin, part.size());
  });
}

Result<RankRun> run_on_ranks(const device::Session& session, const Job& program, const JobSplit& split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const HostContents& first, ranks::Ranks& ranks, std::chrono::nanoseconds most,
                             Monitor& monitor, const RankSettings& settings) {
  return RankRunner(session, program, split, storage, ranks, most, monitor, settings).run(first);
}

Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor) {
  try {
    return execute_or_throw_on_ranks(compiled, device, options, monitor);
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::engine
