#include <tidegate/core/bytes.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/planning/layered.hpp>
#include <tidegate/planning/plan_checker.hpp>
#include <tidegate/policy/policy_error.hpp>
#include <tidegate/run/buffer_data.hpp>
#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/generate.hpp>
#include <tidegate/run/lineage.hpp>
#include <tidegate/run/proof.hpp>
#include <tidegate/run/run.hpp>
#include <tidegate/run/watchdog.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t default_alignment = 256;
constexpr std::uint64_t transfer_reserve = 4096; // counters, beside the tables

// The device that a program is planned for when there is none.
constexpr Adapter common_adapter{.max_workgroup_size_x = 256,
                                 .max_compute_workgroups_per_dimension = std::numeric_limits<std::int32_t>::max(),
                                 .max_compute_invocations_per_workgroup = 256};

Adapter adapter_of(const device::DeviceInfo* device) {
  if (device == nullptr) {
    return common_adapter;
  }
  const auto size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(device->max_workgroup_size, std::numeric_limits<std::int32_t>::max()));
  return {.max_workgroup_size_x = size,
          .max_compute_workgroups_per_dimension = std::numeric_limits<std::int32_t>::max(),
          .max_compute_invocations_per_workgroup = size};
}

std::uint64_t ns_between(Clock::time_point from, Clock::time_point to) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Run {
public:
  Run(const WaveProgram& program, const std::string& folder, const device::DeviceInfo* device,
      const RunOptions& options)
      : spec_(program), folder_(folder), device_(device), options_(options),
        deadline_(start_ + std::chrono::nanoseconds(options.max_wall_time_ns)) {}

  Result<RunReport> run() {
    using Step = Result<void> (Run::*)();
    for (const Step step : {&Run::resolve_program, &Run::plan_waves, &Run::choose_strategy, &Run::lay_out,
                            &Run::recommend, &Run::generate}) {
      if (auto done = (this->*step)(); !done) {
        return tl::unexpected(std::move(done.error()));
      }
    }
    if (options_.dry_run) {
      report_.status = RunStatus::planned;
      finish();
      return std::move(report_);
    }
    try {
      const Watchdog watchdog(deadline_, grace, [this](bool interrupted) { abandon(interrupted); });
      if (auto done = on_device(); !done) {
        return tl::unexpected(std::move(done.error()));
      }
    } catch (device::Refused& refused) {
      return tl::unexpected(std::move(refused.error));
    }
    finish();
    return std::move(report_);
  }

private:
  static constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

  Result<void> resolve_program() {
    auto resolved = resolve(spec_, folder_, predefined_macros(device_));
    if (!resolved) {
      return tl::unexpected(std::move(resolved.error()));
    }
    program_ = std::move(*resolved);
    budget_ = program_.budget_bytes;
    if (budget_ == 0 && device_ != nullptr) {
      budget_ = device_->global_memory_bytes;
    }
    return {};
  }

  Result<void> plan_waves() {
    const auto start = Clock::now();
    const planning::WaveDag dag = wave_dag(program_, budget_);
    if (options_.plan) {
      plan_ = *options_.plan;
      if (const auto violation = planning::first_violation(dag, plan_)) {
        return tl::unexpected(Error{.code = ErrorCode::invalid_plan,
                                    .message = "the plan does not fit this program: " + *violation,
                                    .fix = "plan the program again: `tidegate plan PROGRAM`"});
      }
    } else {
      auto plan = planning::plan_layered(dag);
      if (!plan) {
        return tl::unexpected(plan_refusal(plan.error()));
      }
      plan_ = std::move(*plan);
    }
    const auto traced_at = Clock::now();
    Lineage lineage = trace_lineage(program_, plan_);
    report_.queue_plan_ns = ns_between(start, traced_at);
    report_.lineage_ns = ns_between(traced_at, Clock::now());
    report_.lineage_items = lineage.items;
    report_.region_lineage = std::move(lineage.regions);
    return {};
  }

  [[nodiscard]] Error plan_refusal(const planning::PlanError& error) const {
    Error result{.code = ErrorCode::cycle,
                 .message = planning::describe(
                     error, [this](std::uint64_t wave) { return program_.wave_text(static_cast<std::uint32_t>(wave)); }),
                 .fix = "remove one of these dependencies"};
    if (error.code == planning::PlanErrorCode::group_over_budget) {
      result.code = ErrorCode::group_over_budget;
      result.fix = "raise device_memory_budget_bytes, or make the wave's buffers smaller";
      result.required_bytes = error.required_bytes;
      result.budget_bytes = error.budget_bytes;
      result.pointer = fmt::format("/waves/{}", error.wave);
    } else if (error.code != planning::PlanErrorCode::cycle) {
      result.code = error.code == planning::PlanErrorCode::self_dependency ? ErrorCode::self_dependency
                                                                           : ErrorCode::byte_count_overflow;
      result.fix = "mend the wave's dependencies and bytes";
      result.pointer = fmt::format("/waves/{}", error.wave);
    }
    return result;
  }

  [[nodiscard]] bool proved() const {
    return device_ != nullptr && device_->profile && device_->profile->ordering &&
           options_.fault != Fault::failed_litmus;
  }

  // Persistent where the self-test passed and a barrier costs less than a launch.
  Result<void> choose_strategy() {
    auto carried = carry_ops(program_);
    if (!carried) {
      return tl::unexpected(std::move(carried.error()));
    }
    ops_ = std::move(*carried);

    const bool unknown = device_ == nullptr || !device_->profile; // planning for no device in particular
    const bool one_launch = plan_.group_count() == 1 && program_.iterations == 1;
    if (options_.strategy == Strategy::launch) {
      decide(Strategy::launch, "asked for");
    } else if (unknown && options_.dry_run) {
      decide(options_.strategy.value_or(Strategy::barrier),
             options_.strategy ? "asked for" : "planned for a device whose self-test passes");
    } else if (!proved()) {
      decide(Strategy::launch, "the device has not passed the self-test: no memory ordering between work-groups "
                               "is proved, so nothing may wait inside a launch");
    } else if (options_.strategy) {
      decide(*options_.strategy, "asked for");
    } else if (device_->type == device::DeviceType::cpu) {
      decide(Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch");
    } else if (one_launch) {
      decide(Strategy::launch, "there is one group of waves: nothing has to wait");
    } else {
      const double barrier_ns = proved_barrier_ns();
      const double launch_ns = device_->profile->launch_ns;
      decide(barrier_ns < launch_ns ? Strategy::barrier : Strategy::launch,
             fmt::format("a barrier of all work-groups takes {:.1f} us, a launch {:.1f} us", barrier_ns / 1000,
                         launch_ns / 1000));
    }
    const std::uint32_t most = adapter_of(device_).max_workgroup_size_x;
    auto schedule = make_schedule(program_, ops_, plan_, report_.strategy, most);
    if (!schedule) {
      return tl::unexpected(std::move(schedule.error()));
    }
    schedule_ = std::move(*schedule);
    for (const Passenger& passenger : schedule_.left_behind) {
      report_.left_behind.push_back({.wave = program_.wave_text(passenger.wave), .reason = passenger.reason});
    }
    return {};
  }

  void decide(Strategy strategy, std::string reason) {
    report_.strategy = strategy;
    report_.strategy_reason = std::move(reason);
  }

  [[nodiscard]] double proved_barrier_ns() const {
    for (const device::OrderingTrial& trial : device_->profile->trials) {
      if (trial.ordering == device_->profile->ordering && trial.barrier_ns) {
        return *trial.barrier_ns;
      }
    }
    return std::numeric_limits<double>::infinity();
  }

  Result<void> lay_out() {
    const std::uint64_t alignment =
        device_ == nullptr
            ? default_alignment
            : std::max<std::uint64_t>(default_alignment, std::bit_ceil(device_->base_alignment_bytes));
    // Tables come out of the budget first; with descriptors of every wave they are as large as they get.
    LaunchTables largest = make_tables(program_, schedule_, zero_layout(), Mode::interpreter, Cases::per_wave);
    table_bytes_ = largest.bytes() + transfer_reserve +
                   (device_ == nullptr ? 0 : std::uint64_t{64} * 16 * std::max(device_->compute_units, 1U));
    std::uint64_t capacity = budget_;
    if (device_ != nullptr) {
      capacity = std::min(capacity, device_->max_allocation_bytes + table_bytes_);
    }
    if (capacity != 0) {
      capacity = capacity > table_bytes_ ? capacity - table_bytes_ : 1;
    }
    auto layout = plan_memory(program_, plan_, alignment, capacity);
    if (!layout) {
      return tl::unexpected(std::move(layout.error()));
    }
    memory_ = std::move(*layout);
    report_.memory = {.arena_bytes = memory_.arena_bytes,
                      .sum_bytes = memory_.sum_bytes,
                      .lower_bound_bytes = memory_.lower_bound_bytes,
                      .optimal = memory_.optimal,
                      .table_bytes = table_bytes_,
                      .offsets = {}};
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      report_.memory.offsets.emplace_back(program_.buffers[i].name, memory_.offsets[i]);
    }
    return {};
  }

  [[nodiscard]] MemoryLayout zero_layout() const {
    return {.offsets = std::vector<std::uint64_t>(program_.buffers.size())};
  }

  Result<void> recommend() {
    const policy::LaunchRequest request =
        launch_request(program_, adapter_of(device_), memory_.arena_bytes + table_bytes_, budget_);
    const auto decision = policy::decide(program_.policy, request);
    if (!decision) {
      return tl::unexpected(policy::to_error(decision.error()));
    }
    report_.recommendation = decision->recommendation;
    report_.topology_evidence = policy::topology_evidence(decision->effective, decision->recommendation);
    report_.promotion_evidence =
        policy::promotion_evidence(program_.policy, decision->effective, decision->recommendation);
    report_.telemetry.frontier_density_bps = decision->effective.frontier_density_bps;
    report_.mode = options_.mode.value_or(decision->recommendation.execution_mode);
    report_.mode_reason = options_.mode ? "asked for" : "recommended by the launch policy";
    return {};
  }

  Result<void> generate() {
    // PoCL (3.1) miscompiles kernels that hold one function with barriers several times.
    const bool cpu = device_ != nullptr && device_->type == device::DeviceType::cpu;
    tables_ = make_tables(program_, schedule_, memory_, report_.mode, cpu ? Cases::per_op : Cases::per_wave);
    if (tables_.cases.empty()) {
      report_.mode_reason = "every stage is one wave, launched as the user's own kernel";
    }
    device::Ordering ordering = device::Ordering::classic;
    if (report_.strategy == Strategy::barrier && device_ != nullptr && device_->profile) {
      ordering = device_->profile->ordering.value_or(ordering);
      report_.ordering = ordering;
    }
    source_ = generate_kernel(program_, ops_, schedule_, tables_, memory_,
                              {.strategy = report_.strategy,
                               .ordering = ordering,
                               .opencl_3 = device_ != nullptr && device_->opencl_version.starts_with("OpenCL 3"),
                               .until_on_device = report_.strategy == Strategy::barrier && program_.until &&
                                                  !schedule_.any_plain()});
    report_.recommended_geometry = {.workgroup_size = report_.recommendation.geometry.workgroup_size_x,
                                    .worker_groups = report_.recommendation.worker_groups};
    report_.effective_geometry = {.workgroup_size = schedule_.group_size, .worker_groups = 0};
    if (!options_.emit_kernel.empty()) {
      return Output::open(options_.emit_kernel).and_then([this](Output file) {
        return file.write(source_.source).and_then([&] { return file.commit(); });
      });
    }
    return {};
  }

  Result<void> on_device() {
    auto session = device::open_session(*device_);
    if (!session) {
      return tl::unexpected(std::move(session.error()));
    }
    session_ = std::move(*session);
    report_.device = DeviceReport{.name = device_->name,
                                  .platform = device_->platform,
                                  .driver_version = device_->driver_version};
    auto contents = first_contents(program_);
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
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      if (auto written = write_output(program_.buffers[i].spec, outputs[i], folder_); !written) {
        return written;
      }
    }
    return {};
  }

  Result<void> build() {
    const auto start = Clock::now();
    if (!tables_.cases.empty()) {
      kernel_ = build_kernel(session_, *device_, source_, tables_.dynamic_local_bytes, options_.cache_folder);
      report_.telemetry.compiled_pipeline_cache_hit = kernel_->from_cache;
    }
    std::vector<std::uint32_t> plain;
    for (const Stage& stage : schedule_.stages) {
      if (stage.plain) {
        plain.push_back(stage.waves.front());
      }
    }
    if (!plain.empty()) {
      plain_waves_ = plain;
      plain_programs_.emplace(session_, program_, plain_waves_);
    }
    if (report_.strategy == Strategy::barrier && kernel_) {
      resident_ = resident_groups(session_, *device_, *kernel_, schedule_.group_size, tables_.dynamic_local_bytes);
      workers_ = options_.workers.value_or(choose_workers());
    }
    report_.build_ns = ns_between(start, Clock::now());
    return {};
  }

  // As many groups as the stages have work for, and no more than are resident. Every group more makes the barrier
  // dearer, every group less hides less of the memory's latency: measured on an H200 (RESULTS.md), two tiles for
  // each group and four groups for each compute unit are best until there are tiles enough to fill it.
  [[nodiscard]] std::uint32_t choose_workers() const {
    std::uint32_t tiles = 1;
    for (const StageRow& stage : tables_.stages) {
      tiles = std::max(tiles, stage.tiles);
    }
    const std::uint32_t units = std::max(device_->compute_units, 1U);
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
    const std::string violation = schedule_violation(program_, schedule_);
    if (!violation.empty()) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_schedule,
                                  .message = "the schedule is refused: " + violation,
                                  .fix = "this is a bug in tidegate: please report the program"});
    }
    if (kernel_ && report_.strategy == Strategy::barrier && (workers_ == 0 || workers_ > resident_)) {
      return tl::unexpected(
          Error{.code = ErrorCode::too_many_workers,
                .message = fmt::format("{} asked for, of this kernel {} are resident together on {}",
                                       plural(workers_, "work-group"), resident_, device_->name),
                .fix = fmt::format("give --workers from 1 to {}: others would wait for groups that never start",
                                   resident_)});
    }
    return {};
  }

  DispatchOutcome dispatch(BufferContents& outputs) {
    const auto start = Clock::now();
    const Arena arena = allocate_arena(session_, program_, memory_, plain_programs_.has_value());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      if (!first_[i].empty()) {
        upload(session_, arena.memory, memory_.offsets[i], first_[i]);
        uploaded_ += first_[i].size();
      } else if (!program_.buffers[i].transient()) {
        const cl_uchar zero = 0;
        device::require(session_.queue.enqueueFillBuffer(arena.memory, zero, memory_.offsets[i],
                                                         program_.buffers[i].bytes),
                        "clearing a buffer");
      }
    }
    std::optional<PlainWaves> plain;
    if (plain_programs_) {
      plain.emplace(session_, *plain_programs_, program_, plain_waves_, schedule_.places, arena.views);
    }
    const bool cpu = device_->type == device::DeviceType::cpu;
    DispatchLimits limits{.slice_ns = options_.slice_ns,
                          .deadline = deadline_,
                          .workers = workers_,
                          .arrivals_per_barrier = workers_,
                          .most_polls = cpu ? std::numeric_limits<std::uint32_t>::max() : std::uint32_t{1} << 24U};
    if (options_.fault == Fault::missing_arrival) {
      limits.arrivals_per_barrier += 1;
      limits.most_polls = std::uint32_t{1} << 16U;
    }
    Dispatcher dispatcher(session_, program_, schedule_, tables_, report_.strategy, kernel_ ? &*kernel_ : nullptr,
                          plain ? &*plain : nullptr, arena.memory, limits);
    device::require(session_.queue.finish(), "filling the buffers");
    publish_ns_ = ns_between(start, Clock::now());
    DispatchOutcome outcome = dispatcher.run();
    outputs.assign(program_.buffers.size(), {});
    if (outcome.status == RunStatus::done) {
      const auto& places = schedule_.places[outcome.iterations % schedule_.phases()];
      for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        if (program_.buffers[i].spec.output) {
          outputs[i].resize(program_.buffers[i].bytes);
          download(session_, arena.memory, memory_.offsets[places[i]], outputs[i]);
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
    const std::uint64_t all = schedule_.tiles_per_iteration() * program_.iterations;
    report_.items_remaining = outcome_.status == RunStatus::done ? 0 : all - outcome_.tiles;
    report_.published_items = schedule_.tiles_per_iteration();
    report_.backend_dispatch_ns = outcome_.dispatch_ns;
    report_.slices_ns = outcome_.slices_ns;
    report_.stuck_groups = outcome_.stuck_groups;
    report_.effective_geometry.worker_groups = workers_;
    Telemetry& telemetry = report_.telemetry;
    telemetry.bytes_uploaded = uploaded_ + tables_.bytes();
    telemetry.bytes_read_back = outcome_.bytes_read_back;
    telemetry.resident_allocations = kernel_ ? 6 : 1;
    telemetry.kernel_launches = outcome_.launches;
    telemetry.sync_points = outcome_.sync_points;
    telemetry.readback_buffers = static_cast<std::uint64_t>(std::ranges::count_if(
        program_.buffers, [](const ProgramBuffer& buffer) { return buffer.spec.output.has_value(); }));
    explain_status();
  }

  void explain_status() {
    const std::string left = fmt::format("{} of {} tiles are left, after {}", report_.items_remaining,
                                         report_.items_remaining + report_.items_processed,
                                         plural(report_.iterations, "iteration"));
    switch (report_.status) {
    case RunStatus::deadline:
      report_.error = Error{.code = ErrorCode::wall_time_exceeded,
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
      std::string waits = "no work-group said where";
      if (!report_.stuck_groups.empty()) {
        const StuckGroup& stuck = report_.stuck_groups.front();
        waits = fmt::format("work-group {} waits at the barrier behind stage {} ({}) for {} arrivals and saw {}",
                            stuck.group, stuck.stage, fmt::join(stuck.waves, ", "), stuck.expected, stuck.seen);
      }
      report_.error = Error{.code = ErrorCode::device_hang,
                            .message = fmt::format("a wait on the device ran out: {}", waits),
                            .fix = "see stuck_groups in the report; --strategy launch runs without waits"};
      break;
    }
    default: break;
    }
  }

  void prove(BufferContents& outputs) {
    Reference reference(session_, program_, schedule_.places, first_);
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
    report_.output_parity = compare_outputs(program_, plain.outputs, outputs);
    if (!report_.output_parity->equal) {
      const Difference& difference = *report_.output_parity->first_difference;
      report_.status = RunStatus::outputs_differ;
      report_.error = Error{
          .code = ErrorCode::outputs_differ,
          .message = fmt::format("element {} of {} is {}, plain launches make it {}", difference.element,
                                 in_quotes(difference.buffer), difference.found, difference.expected),
          .fix = "waves that touch the same buffer need a dependency; without one missing it is a bug: please "
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

  void finish() {
    Telemetry& telemetry = report_.telemetry;
    const policy::LaunchRecommendation& recommendation = report_.recommendation;
    telemetry.bytes_moved = telemetry.bytes_uploaded + telemetry.bytes_read_back;
    constexpr std::uint64_t full = 10'000;
    telemetry.occupancy_proxy_bps =
        resident_ == 0 ? 0 : std::min<std::uint64_t>(full, workers_ * full / resident_);
    telemetry.topology = recommendation.topology;
    telemetry.pressure = recommendation.pressure;
    telemetry.execution_mode = report_.mode;
    telemetry.hit_capacity = recommendation.hit_capacity;
    telemetry.estimated_peak_device_bytes = recommendation.estimated_peak_device_bytes;
    telemetry.device_memory_budget_bytes = recommendation.device_memory_budget_bytes;
    report_.plan = plan_;
    report_.wall_time_ns = ns_between(start_, Clock::now());
  }

  // On the watchdog's thread, while the device does not come back.
  void abandon(bool interrupted) {
    RunReport last = report_;
    last.status = interrupted ? RunStatus::interrupted : RunStatus::deadline;
    last.wall_time_ns = ns_between(start_, Clock::now());
    last.items_remaining = schedule_.tiles_per_iteration() * program_.iterations;
    last.error = Error{.code = interrupted ? ErrorCode::interrupted : ErrorCode::wall_time_exceeded,
                       .message = fmt::format("{} and the device has not come back since: a kernel does not "
                                              "return",
                                              interrupted ? "interrupted,"
                                                          : fmt::format("the wall time of {:.3g} s is over,",
                                                                        static_cast<double>(options_.max_wall_time_ns) / 1e9)),
                       .fix = "look for a loop without an end in the program's kernels; no output was written"};
    options_.abandon(last);
  }

  const WaveProgram& spec_;
  const std::string& folder_;
  const device::DeviceInfo* const device_;
  const RunOptions& options_;
  const Clock::time_point start_ = Clock::now();
  const Clock::time_point deadline_;
  const InterruptWatch watch_;

  RunReport report_;
  ResolvedProgram program_;
  std::uint64_t budget_ = 0;
  planning::MemoryPlan plan_;
  CarriedOps ops_;
  Schedule schedule_;
  MemoryLayout memory_;
  std::uint64_t table_bytes_ = 0;
  LaunchTables tables_;
  KernelSource source_;

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

std::vector<opencl_c::MacroDefinition> predefined_macros(const device::DeviceInfo* device) {
  std::vector<opencl_c::MacroDefinition> macros{{"__OPENCL_C__", "1"},        {"__ENDIAN_LITTLE__", "1"},
                                                {"CL_VERSION_1_0", "100"},    {"CL_VERSION_1_1", "110"},
                                                {"CL_VERSION_1_2", "120"},    {"CL_VERSION_2_0", "200"},
                                                {"CL_VERSION_3_0", "300"},    {"__OPENCL_VERSION__", "300"}};
  std::istringstream extensions(device == nullptr ? "cl_khr_fp64 cl_khr_byte_addressable_store "
                                                    "cl_khr_global_int32_base_atomics"
                                                  : device->extensions);
  for (std::string extension; extensions >> extension;) {
    macros.push_back({extension, "1"});
  }
  return macros;
}

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options) {
  return Run(program, folder, device, options).run();
}

} // namespace tidegate::run
