#include <tidegate/core/bytes.hpp>
#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/layered.hpp>
#include <tidegate/planning/plan_checker.hpp>
#include <tidegate/policy/policy_error.hpp>
#include <tidegate/run/lineage.hpp>
#include <tidegate/run/prepare.hpp>
#include <tidegate/run/request.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t default_alignment = 256;
constexpr std::uint64_t transfer_reserve = 4096; // counters, beside the tables

// The device that a program is planned for when there is none.
constexpr Adapter common_adapter{.max_workgroup_size_x = 256,
                                 .max_compute_workgroups_per_dimension =
                                     std::numeric_limits<std::int32_t>::max(),
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

class Preparation {
public:
  Preparation(const WaveProgram& program, const std::string& folder, const device::DeviceInfo* device,
              const RunOptions& options, RunReport& report)
      : spec_(program), folder_(folder), device_(device), options_(options), report_(report) {}

  Result<PreparedRun> run() {
    using Step = Result<void> (Preparation::*)();
    for (const Step step :
         {&Preparation::resolve_program, &Preparation::plan_waves, &Preparation::choose_strategy,
          &Preparation::lay_out, &Preparation::recommend, &Preparation::generate}) {
      if (auto done = (this->*step)(); !done) {
        return tl::unexpected(std::move(done.error()));
      }
    }
    return std::move(made_);
  }

private:
  Result<void> resolve_program() {
    std::set<std::string> assumed;
    auto resolved = resolve(spec_, folder_,
                            device_ == nullptr ? assume_macros(assumed)
                                               : ask_compiler(*device_, options_.cache_folder));
    report_.assumed_macros.assign(assumed.begin(), assumed.end());
    if (!resolved) {
      return tl::unexpected(std::move(resolved.error()));
    }
    made_.program = std::move(*resolved);
    made_.budget_bytes = made_.program.budget_bytes;
    if (made_.budget_bytes == 0 && device_ != nullptr) {
      made_.budget_bytes = device_->global_memory_bytes;
    }
    return check_sizes().and_then([this] { return options_.dry_run ? Result<void>() : check_outputs(); });
  }

  Result<void> check_sizes() const {
    for (std::size_t i = 0; i < made_.program.waves.size() && device_ != nullptr; ++i) {
      std::uint64_t local_bytes = 0;
      for (const ProgramArgument& argument : made_.program.waves[i].arguments) {
        local_bytes = std::max(local_bytes, argument.local_bytes);
      }
      if (local_bytes > device_->local_memory_bytes) {
        return tl::unexpected(too_much_local_memory(local_bytes));
      }
      const std::uint32_t size = made_.program.waves[i].range.group_size();
      if (size > device_->max_workgroup_size) {
        return tl::unexpected(
            Error{.code = ErrorCode::out_of_range,
                  .message = fmt::format("work-groups of {} work-items; {} takes {} at most", size,
                                         device_->name, device_->max_workgroup_size),
                  .fix = "give a smaller local_size",
                  .pointer = fmt::format("/waves/{}/local_size", i)});
      }
    }
    return {};
  }

  // Whoever cannot keep an output need not work it out.
  Result<void> check_outputs() const {
    for (const ProgramBuffer& buffer : made_.program.buffers) {
      if (!buffer.spec.output) {
        continue;
      }
      auto probe = Output::open((std::filesystem::path(folder_) / *buffer.spec.output).string());
      if (!probe) {
        probe.error().pointer = "/buffers/" + pointer_token(buffer.name) + "/output";
        return tl::unexpected(std::move(probe.error()));
      }
    }
    return {};
  }

  Result<void> plan_waves() {
    const auto start = Clock::now();
    const planning::WaveDag dag = wave_dag(made_.program, made_.budget_bytes);
    if (options_.plan) {
      made_.plan = *options_.plan;
      if (const auto violation = planning::first_violation(dag, made_.plan)) {
        return tl::unexpected(Error{.code = ErrorCode::invalid_plan,
                                    .message = "the plan does not fit this program: " + *violation,
                                    .fix = "plan the program again: `tidegate plan PROGRAM`"});
      }
    } else {
      auto plan = planning::plan_layered(dag);
      if (!plan) {
        return tl::unexpected(plan_refusal(plan.error()));
      }
      made_.plan = std::move(*plan);
    }
    const auto traced_at = Clock::now();
    Lineage lineage = trace_lineage(made_.program, made_.plan);
    report_.queue_plan_ns = elapsed_ns(start, traced_at);
    report_.lineage_ns = elapsed_ns(traced_at);
    report_.lineage_items = lineage.items;
    report_.region_lineage = std::move(lineage.regions);
    return {};
  }

  [[nodiscard]] Error plan_refusal(const planning::PlanError& error) const {
    Error result{.code = ErrorCode::cycle,
                 .message =
                     planning::describe(error,
                                        [this](std::uint64_t wave) {
                                          return made_.program.wave_text(static_cast<std::uint32_t>(wave));
                                        }),
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
    auto carried = carry_ops(made_.program);
    if (!carried) {
      return tl::unexpected(std::move(carried.error()));
    }
    made_.ops = std::move(*carried);

    const bool unknown = device_ == nullptr || !device_->profile; // planning for no device in particular
    const bool one_launch = made_.plan.group_count() == 1 && made_.program.iterations == 1;
    if (options_.strategy == Strategy::launch) {
      decide(Strategy::launch, "asked for");
    } else if (unknown && options_.dry_run) {
      decide(options_.strategy.value_or(Strategy::barrier),
             options_.strategy ? "asked for" : "planned for a device whose self-test passes");
    } else if (!proved()) {
      decide(Strategy::launch,
             "the device has not passed the self-test: no memory ordering between work-groups "
             "is proved, so nothing may wait inside a launch");
    } else if (options_.strategy) {
      decide(*options_.strategy, "asked for");
    } else if (device_->type == device::DeviceType::cpu) {
      decide(Strategy::launch,
             "on a CPU a wait for a work-group whose core is busy costs more than a launch");
    } else if (one_launch) {
      decide(Strategy::launch, "there is one group of waves: nothing has to wait");
    } else {
      choose_by_cost();
    }
    const std::uint32_t most = adapter_of(device_).max_workgroup_size_x;
    auto schedule = make_schedule(made_.program, made_.ops, made_.plan, report_.strategy, most);
    if (!schedule) {
      return tl::unexpected(std::move(schedule.error()));
    }
    made_.schedule = std::move(*schedule);
    for (const Passenger& passenger : made_.schedule.left_behind) {
      report_.left_behind.push_back(
          {.wave = made_.program.wave_text(passenger.wave), .reason = passenger.reason});
    }
    return {};
  }

  // What a persistent launch costs beside its barriers: filling its counters, reading its progress back and
  // waiting for both are about two launches with a wait.
  void choose_by_cost() {
    const device::DeviceProfile& profile = *device_->profile;
    const double barrier_ns = proved_barrier_ns();
    const double stages = static_cast<double>(made_.plan.group_count()) * made_.program.iterations;
    const double gain_ns = stages * (profile.launch_ns - barrier_ns) - 2 * profile.launch_round_trip_ns;
    std::string reason = fmt::format("a barrier of all work-groups takes {:.1f} us, a launch {:.1f} us",
                                     barrier_ns / 1000, profile.launch_ns / 1000);
    if (barrier_ns < profile.launch_ns && gain_ns <= 0) {
      reason += fmt::format("; over {} that does not make up for the start of a persistent launch",
                            plural(static_cast<std::uint64_t>(stages), "stage"));
    }
    decide(gain_ns > 0 ? Strategy::barrier : Strategy::launch, std::move(reason));
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
    LaunchTables largest =
        make_tables(made_.program, made_.schedule, zero_layout(), Mode::interpreter, Cases::per_wave);
    made_.table_bytes = largest.bytes() + transfer_reserve + progress_bytes(largest);
    std::uint64_t capacity = made_.budget_bytes;
    if (device_ != nullptr) {
      capacity = std::min(capacity, device_->max_allocation_bytes + made_.table_bytes);
    }
    if (capacity != 0 && capacity <= made_.table_bytes) {
      return tl::unexpected(Error{
          .code = ErrorCode::arena_over_capacity,
          .message = fmt::format("descriptors and counters alone take {} of device memory, the budget is {}",
                                 bytes_text(made_.table_bytes), bytes_text(capacity)),
          .fix = "raise device_memory_budget_bytes",
          .required_bytes = made_.table_bytes,
          .capacity_bytes = capacity});
    }
    if (capacity != 0) {
      capacity -= made_.table_bytes;
    }
    auto layout = plan_memory(made_.program, made_.plan, alignment, capacity);
    if (!layout) {
      return tl::unexpected(std::move(layout.error()));
    }
    made_.memory = std::move(*layout);
    report_.memory = {.arena_bytes = made_.memory.arena_bytes,
                      .sum_bytes = made_.memory.sum_bytes,
                      .lower_bound_bytes = made_.memory.lower_bound_bytes,
                      .optimal = made_.memory.optimal,
                      .table_bytes = made_.table_bytes,
                      .offsets = {}};
    for (std::size_t i = 0; i < made_.program.buffers.size(); ++i) {
      report_.memory.offsets.emplace_back(made_.program.buffers[i].name, made_.memory.offsets[i]);
    }
    return {};
  }

  // What the groups of a persistent launch report: never more groups than tiles, unless asked for.
  [[nodiscard]] std::uint64_t progress_bytes(const LaunchTables& tables) const {
    constexpr std::uint64_t most_groups_per_unit = 64;
    constexpr std::uint64_t bytes_per_group = 16;
    if (device_ == nullptr || report_.strategy != Strategy::barrier) {
      return 0;
    }
    std::uint64_t groups = options_.workers.value_or(1);
    for (const StageRow& stage : tables.stages) {
      groups = std::max<std::uint64_t>(groups, stage.tiles);
    }
    return bytes_per_group * std::min(groups, most_groups_per_unit * std::max(device_->compute_units, 1U));
  }

  [[nodiscard]] MemoryLayout zero_layout() const {
    return {.offsets = std::vector<std::uint64_t>(made_.program.buffers.size())};
  }

  Result<void> recommend() {
    const policy::LaunchRequest request = launch_request(
        made_.program, adapter_of(device_), made_.memory.arena_bytes + made_.table_bytes, made_.budget_bytes);
    const auto decision = policy::decide(made_.program.policy, request);
    if (!decision) {
      return tl::unexpected(policy::to_error(decision.error()));
    }
    report_.recommendation = decision->recommendation;
    report_.topology_evidence = policy::topology_evidence(decision->effective, decision->recommendation);
    report_.promotion_evidence =
        policy::promotion_evidence(made_.program.policy, decision->effective, decision->recommendation);
    report_.telemetry.frontier_density_bps = decision->effective.frontier_density_bps;
    report_.mode = options_.mode.value_or(decision->recommendation.execution_mode);
    report_.mode_reason = options_.mode ? "asked for" : "recommended by the launch policy";
    return {};
  }

  [[nodiscard]] Error too_much_local_memory(std::uint64_t bytes) const {
    return {.code = ErrorCode::out_of_range,
            .message = fmt::format("the local arguments of a wave take {}; {} has {} of local memory",
                                   bytes_text(bytes), device_->name, bytes_text(device_->local_memory_bytes)),
            .fix = "give smaller local_bytes",
            .pointer = "/waves"};
  }

  Result<void> generate() {
    // PoCL (3.1) miscompiles kernels that hold one function with barriers several times.
    const bool cpu = device_ != nullptr && device_->type == device::DeviceType::cpu;
    made_.tables = make_tables(made_.program, made_.schedule, made_.memory, report_.mode,
                               cpu ? Cases::per_op : Cases::per_wave);
    if (device_ != nullptr && made_.tables.dynamic_local_bytes > device_->local_memory_bytes) {
      return tl::unexpected(too_much_local_memory(made_.tables.dynamic_local_bytes));
    }
    if (made_.tables.cases.empty()) {
      report_.mode_reason = "every stage is one wave, launched as the user's own kernel";
    }
    device::Ordering ordering = device::Ordering::classic;
    if (report_.strategy == Strategy::barrier && device_ != nullptr && device_->profile) {
      ordering = device_->profile->ordering.value_or(ordering);
      report_.ordering = ordering;
    }
    made_.source =
        generate_kernel(made_.program, made_.ops, made_.schedule, made_.tables, made_.memory,
                        {.strategy = report_.strategy,
                         .ordering = ordering,
                         .opencl_3 = device_ != nullptr && device_->opencl_version.starts_with("OpenCL 3"),
                         .until_on_device = report_.strategy == Strategy::barrier && made_.program.until &&
                                            !made_.schedule.any_plain()});
    report_.recommended_geometry = {.workgroup_size = report_.recommendation.geometry.workgroup_size_x,
                                    .worker_groups = report_.recommendation.worker_groups};
    report_.effective_geometry = {.workgroup_size = made_.schedule.group_size, .worker_groups = 0};
    if (!options_.emit_kernel.empty()) {
      return Output::open(options_.emit_kernel).and_then([this](Output file) {
        return file.write(made_.source.source).and_then([&] { return file.commit(); });
      });
    }
    return {};
  }

  const WaveProgram& spec_;
  const std::string& folder_;
  const device::DeviceInfo* const device_;
  const RunOptions& options_;
  RunReport& report_;
  PreparedRun made_;
};

} // namespace

Result<PreparedRun> prepare(const WaveProgram& program, const std::string& folder,
                            const device::DeviceInfo* device, const RunOptions& options, RunReport& report) {
  return Preparation(program, folder, device, options, report).run();
}

} // namespace tidegate::run
