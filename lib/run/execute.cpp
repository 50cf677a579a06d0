#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/run/buffer_files.hpp>
#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/proof.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Execution {
public:
  Execution(const PreparedRun& made, const device::DeviceInfo& device, const RunOptions& options,
            Clock::time_point deadline, RunReport& report)
      : made_(made), device_(device), options_(options), deadline_(deadline), report_(report) {}

  Result<void> run() {
    auto session = device::open_session(device_);
    if (!session) {
      return tl::unexpected(std::move(session.error()));
    }
    session_ = std::move(*session);
    report_.device = DeviceReport{
        .name = device_.name, .platform = device_.platform, .driver_version = device_.driver_version};
    auto contents = first_contents(made_.program);
    if (!contents) {
      return tl::unexpected(std::move(contents.error()));
    }
    first_ = std::move(*contents);
    if (auto built = build(); !built) {
      return built;
    }
    if (auto proof = prove_schedule(); !proof) {
      return proof;
    }
    BufferContents outputs;
    outcome_ = dispatch(outputs);
    take_outcome();
    if (report_.status == RunStatus::done && (options_.verify || options_.compare_rounds != 0)) {
      prove(outputs);
    }
    if (report_.status != RunStatus::done) {
      return {}; // outputs are withheld
    }
    for (std::size_t i = 0; i < made_.program.buffers.size(); ++i) {
      if (auto written = write_output(made_.program.buffers[i].spec, outputs[i], made_.program.folder);
          !written) {
        return written;
      }
    }
    return {};
  }

private:
  Result<void> build() {
    const auto start = Clock::now();
    if (!made_.tables.cases.empty()) {
      kernel_ = build_kernel(session_, device_, made_.source, made_.tables.dynamic_local_bytes,
                             options_.cache_folder);
      report_.telemetry.compiled_pipeline_cache_hit = kernel_->from_cache;
    }
    std::vector<std::uint32_t> plain;
    for (const Stage& stage : made_.schedule.stages) {
      if (stage.plain) {
        plain.push_back(stage.waves.front());
      }
    }
    if (!plain.empty()) {
      plain_waves_ = plain;
      plain_programs_.emplace(session_, made_.program, plain_waves_);
    }
    if (report_.strategy == Strategy::barrier && kernel_) {
      resident_ = resident_groups(session_, device_, *kernel_, made_.schedule.group_size,
                                  made_.tables.dynamic_local_bytes);
      workers_ = options_.workers.value_or(choose_workers());
    }
    report_.build_ns = elapsed_ns(start);
    return {};
  }

  // As many groups as the stages have work for, and no more than are resident. Every group more makes the
  // barrier dearer, every group less hides less of the memory's latency: measured on an H200 (RESULTS.md),
  // two tiles for each group and four groups for each compute unit are best until there are tiles enough to
  // fill it.
  [[nodiscard]] std::uint32_t choose_workers() const {
    std::uint32_t tiles = 1;
    for (const StageRow& stage : made_.tables.stages) {
      tiles = std::max(tiles, stage.tiles);
    }
    const std::uint32_t units = std::max(device_.compute_units, 1U);
    const std::uint32_t tiles_per_unit = (tiles + units - 1) / units;
    constexpr std::uint32_t few_groups = 4;
    constexpr std::uint32_t full_from = 48; // tiles for each unit
    std::uint32_t workers = tiles_per_unit >= full_from
                                ? resident_
                                : std::clamp((tiles_per_unit + 1) / 2, 1U, few_groups) * units;
    workers = std::min({resident_, workers, tiles});
    if (report_.recommendation.topology == policy::Topology::memory_constrained) {
      workers = std::min(workers, std::max(report_.recommendation.worker_groups, 1U));
    }
    return std::max(workers, 1U);
  }

  // What must hold before anything waits on the device.
  Result<void> prove_schedule() {
    const std::string violation = schedule_violation(made_.program, made_.schedule);
    if (!violation.empty()) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_schedule,
                                  .message = "the schedule is refused: " + violation,
                                  .fix = "this is a bug in tidegate: please report the program"});
    }
    if (kernel_ && report_.strategy == Strategy::barrier && (workers_ == 0 || workers_ > resident_)) {
      return tl::unexpected(Error{
          .code = ErrorCode::too_many_workers,
          .message = fmt::format("{} asked for, of this kernel {} are resident together on {}",
                                 plural(workers_, "work-group"), resident_, device_.name),
          .fix = fmt::format("give --workers from 1 to {}: others would wait for groups that never start",
                             resident_)});
    }
    return {};
  }

  DispatchOutcome dispatch(BufferContents& outputs) {
    const auto start = Clock::now();
    const Arena arena = allocate_arena(session_, made_.program, made_.memory, plain_programs_.has_value());
    for (std::size_t i = 0; i < made_.program.buffers.size(); ++i) {
      if (!first_[i].empty()) {
        upload(session_, arena.memory, made_.memory.offsets[i], first_[i]);
        uploaded_ += first_[i].size();
      } else if (!made_.program.buffers[i].transient()) {
        const cl_uchar zero = 0;
        device::require(session_.queue.enqueueFillBuffer(arena.memory, zero, made_.memory.offsets[i],
                                                         made_.program.buffers[i].bytes),
                        "clearing a buffer");
      }
    }
    std::optional<PlainWaves> plain;
    if (plain_programs_) {
      plain.emplace(session_, *plain_programs_, made_.program, plain_waves_, made_.schedule.places,
                    arena.views);
    }
    const bool cpu = device_.type == device::DeviceType::cpu;
    DispatchLimits limits{.slice_ns = options_.slice_ns,
                          .deadline = deadline_,
                          .workers = workers_,
                          .arrivals_per_barrier = workers_,
                          .most_polls =
                              cpu ? std::numeric_limits<std::uint32_t>::max() : std::uint32_t{1} << 24U};
    if (options_.fault == Fault::missing_arrival) {
      limits.arrivals_per_barrier += 1;
      limits.most_polls = std::uint32_t{1} << 16U;
    }
    Dispatcher dispatcher(session_, made_.program, made_.schedule, made_.tables, report_.strategy,
                          kernel_ ? &*kernel_ : nullptr, plain ? &*plain : nullptr, arena.memory, limits);
    device::require(session_.queue.finish(), "filling the buffers");
    publish_ns_ = elapsed_ns(start);
    DispatchOutcome outcome = dispatcher.run();
    outputs.assign(made_.program.buffers.size(), {});
    if (outcome.status == RunStatus::done) {
      const auto& places = made_.schedule.places[outcome.iterations % made_.schedule.phases()];
      for (std::size_t i = 0; i < made_.program.buffers.size(); ++i) {
        if (made_.program.buffers[i].spec.output) {
          outputs[i].resize(made_.program.buffers[i].bytes);
          download(session_, arena.memory, made_.memory.offsets[places[i]], outputs[i]);
          outcome.bytes_read_back += outputs[i].size();
        }
      }
    }
    return outcome;
  }

  void take_outcome() {
    report_.status = outcome_.status;
    report_.queue_publish_ns = publish_ns_;
    report_.iterations = outcome_.iterations;
    report_.items_processed = outcome_.tiles;
    const std::uint64_t all = made_.schedule.tiles_per_iteration() * made_.program.iterations;
    report_.items_remaining = outcome_.status == RunStatus::done ? 0 : all - outcome_.tiles;
    report_.published_items = made_.schedule.tiles_per_iteration();
    report_.backend_dispatch_ns = outcome_.dispatch_ns;
    report_.slices_ns = outcome_.slices_ns;
    report_.stuck_groups = outcome_.stuck_groups;
    report_.effective_geometry.worker_groups = resident_ == 0 ? 0 : workers_;
    Telemetry& telemetry = report_.telemetry;
    constexpr std::uint64_t full = 10'000;
    telemetry.occupancy_proxy_bps =
        resident_ == 0 ? 0 : std::min<std::uint64_t>(full, workers_ * full / resident_);
    telemetry.bytes_uploaded = uploaded_ + made_.tables.bytes();
    telemetry.bytes_read_back = outcome_.bytes_read_back;
    telemetry.resident_allocations = kernel_ ? 6 : 1;
    telemetry.kernel_launches = outcome_.launches;
    telemetry.sync_points = outcome_.sync_points;
    telemetry.readback_buffers = static_cast<std::uint64_t>(std::ranges::count_if(
        made_.program.buffers, [](const ProgramBuffer& buffer) { return buffer.spec.output.has_value(); }));
    explain_status();
  }

  void explain_status() {
    const std::string left = fmt::format("{} of {} tiles are left, after {}", report_.items_remaining,
                                         report_.items_remaining + report_.items_processed,
                                         plural(report_.iterations, "iteration"));
    switch (report_.status) {
    case RunStatus::deadline:
      report_.error =
          Error{.code = ErrorCode::wall_time_exceeded,
                .message = fmt::format("the wall time of {:.3g} s is over: {}",
                                       static_cast<double>(options_.max_wall_time_ns) / 1e9, left),
                .fix = "give --max-wall-time more, or the program less to do; no output was written"};
      break;
    case RunStatus::interrupted:
      report_.error = Error{.code = ErrorCode::interrupted,
                            .message = "interrupted: " + left,
                            .fix = "no output was written; run it again"};
      break;
    case RunStatus::hang: {
      std::string waits;
      if (!report_.stuck_groups.empty()) {
        const StuckGroup& stuck = report_.stuck_groups.front();
        waits =
            fmt::format("work-group {} waits at the barrier behind stage {} ({}) for {} arrivals and saw {}",
                        stuck.group, stuck.stage, fmt::join(stuck.waves, ", "), stuck.expected, stuck.seen);
      }
      report_.error = Error{.code = ErrorCode::device_hang,
                            .message = report_.stuck_groups.empty()
                                           ? "a persistent launch came back without having done anything"
                                           : "a wait on the device ran out: " + waits,
                            .fix = "see stuck_groups in the report; --strategy launch runs without waits"};
      break;
    }
    default: break;
    }
  }

  void prove(BufferContents& outputs) {
    Reference reference(session_, made_.program, made_.schedule.places, first_);
    const PlainRun plain = reference.run(deadline_);
    if (!plain.in_time) {
      report_.status = InterruptWatch::interrupted() ? RunStatus::interrupted : RunStatus::deadline;
      explain_status();
      return;
    }
    if (options_.fault == Fault::wrong_output) {
      for (auto& bytes : outputs) {
        if (!bytes.empty()) {
          bytes.back() ^= std::byte{1};
          break;
        }
      }
    }
    report_.output_parity = compare_outputs(made_.program, plain.outputs, outputs);
    if (!report_.output_parity->equal) {
      const Difference& difference = *report_.output_parity->first_difference;
      report_.status = RunStatus::outputs_differ;
      report_.error = Error{
          .code = ErrorCode::outputs_differ,
          .message = fmt::format("element {} of {} is {}, plain launches make it {}", difference.element,
                                 in_quotes(difference.buffer), difference.found, difference.expected),
          .fix =
              "waves that touch the same buffer need a dependency; without one missing it is a bug: please "
              "report the program"};
      return;
    }
    if (options_.compare_rounds != 0) {
      compare(reference);
    }
  }

  // Both ways, one after the other in each round.
  void compare(Reference& reference) {
    Comparison comparison;
    for (std::uint64_t round = 0; round < options_.compare_rounds; ++round) {
      const PlainRun plain = reference.run(deadline_);
      BufferContents outputs;
      const DispatchOutcome outcome = dispatch(outputs);
      if (!plain.in_time || outcome.status != RunStatus::done) {
        break; // what was measured so far is told
      }
      comparison.plain_rounds_ns.push_back(static_cast<double>(plain.dispatch_ns));
      comparison.run_rounds_ns.push_back(static_cast<double>(outcome.dispatch_ns));
    }
    comparison.rounds = comparison.run_rounds_ns.size();
    if (comparison.rounds != 0) {
      comparison.plain_ns = median(comparison.plain_rounds_ns);
      comparison.run_ns = median(comparison.run_rounds_ns);
      comparison.speedup = comparison.plain_ns / comparison.run_ns;
      report_.comparison = std::move(comparison);
    }
  }

  const PreparedRun& made_;
  const device::DeviceInfo& device_;
  const RunOptions& options_;
  const Clock::time_point deadline_;
  RunReport& report_;

  device::Session session_;
  BufferContents first_;
  std::optional<BuiltKernel> kernel_;
  std::vector<std::uint32_t> plain_waves_;
  std::optional<PlainPrograms> plain_programs_;
  std::uint32_t resident_ = 0;
  std::uint32_t workers_ = 1;
  std::uint64_t uploaded_ = 0;
  std::uint64_t publish_ns_ = 0;
  DispatchOutcome outcome_;
};

} // namespace

Result<void> execute(const PreparedRun& made, const device::DeviceInfo& device, const RunOptions& options,
                     Clock::time_point deadline, RunReport& report) {
  try {
    return Execution(made, device, options, deadline, report).run();
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::run
