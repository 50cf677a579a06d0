#include <tidegate/compiler/wait_check.hpp>
#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/run/built_program.hpp>
#include <tidegate/run/device_images.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/kernel_arguments.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tidegate::run {
namespace {

// Drivers for CPUs compile a kernel in its first launch, for its work-group size and for small or large
// ranges: launches that do nothing make them compile before the waves run.
void compile_now(const device::Session& session, const CompiledProgram& compiled, BuiltKernel& kernel) {
  constexpr std::uint64_t poll_bytes = 6 * 64 * sizeof(cl_uint); // of kernels/occupancy.cl
  const cl::Buffer nothing = allocate(session, poll_bytes);
  const BoundObjects placeholders(session, compiled.program, compiled.tables.objects, kernel.kernel,
                                  first_object_argument(compiled.strategy.strategy));
  std::size_t most_groups = 1;
  if (compiled.persistent()) {
    device::require(session.queue.enqueueFillBuffer(nothing, cl_uchar{0}, 0, poll_bytes),
                    "clearing a buffer");
    PersistentArguments arguments{.most_polls = 1}; // no iterations: it takes a number and returns
    arguments.memory.fill(nothing);
    arguments.set(kernel.kernel, compiled.tables.dynamic_local_bytes);
  } else {
    for (const StageRow& stage : compiled.tables.stages) {
      most_groups = std::max<std::size_t>(most_groups, stage.tiles);
    }
    StageArguments{.arena = nothing, .entries = nothing, .words = nothing}.set(
        kernel.kernel, compiled.tables.dynamic_local_bytes);
  }
  for (const std::size_t groups : {std::size_t{1}, most_groups}) {
    device::require(session.queue.enqueueNDRangeKernel(kernel.kernel, cl::NullRange,
                                                       cl::NDRange(groups * compiled.schedule.group_size),
                                                       cl::NDRange(compiled.schedule.group_size)),
                    "compiling the generated kernel");
  }
  device::require(session.queue.finish(), "compiling the generated kernel");
}

} // namespace

BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder) {
  const auto start = std::chrono::steady_clock::now();
  BuiltProgram built;
  if (!compiled.tables.cases.empty()) {
    built.kernel =
        build_kernel(session, device, compiled.source, compiled.tables.dynamic_local_bytes, folder);
    check_fit(session, device, *built.kernel, compiled.schedule.group_size);
  }
  for (const Stage& stage : compiled.schedule.stages) {
    if (stage.plain) {
      built.plain_waves.push_back(stage.waves.front());
    }
  }
  if (!built.plain_waves.empty()) {
    built.plain_programs.emplace(session, compiled.program, built.plain_waves);
  }
  if (built.kernel && session.on_host) {
    compile_now(session, compiled, *built.kernel);
  }
  built.build_ns = elapsed_ns(start);
  return built;
}

std::uint32_t workers_for(const CompiledProgram& compiled, std::uint32_t resident) {
  const std::uint32_t wanted = compiled.tuning.workers;
  const std::uint32_t workers =
      best_workers(compiled.load, compiled.strategy.strategy, compiled.synchronization.order, compiled.model,
                   resident, wanted == 0 ? std::nullopt : std::optional(wanted));
  const policy::LaunchRecommendation& recommended = compiled.recommendation.launch;
  return recommended.topology == policy::Topology::memory_constrained
             ? std::clamp(recommended.worker_groups, 1U, workers)
             : workers;
}

compiler::LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency) {
  return {.strategy = compiled.strategy.strategy,
          .order = compiled.synchronization.order,
          .workers = residency.workers};
}

Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for) {
  if (!compiled.persistent() || !built.kernel) {
    return {};
  }
  const BoundObjects placeholders(session, compiled.program, compiled.tables.objects, built.kernel->kernel,
                                  first_object_argument(compiled.strategy.strategy));
  const std::uint32_t resident =
      resident_groups(session, device, *built.kernel, compiled.schedule.group_size,
                      [&](const cl::Buffer& poll, std::uint32_t settle_polls, std::uint32_t most_polls) {
                        PersistentArguments arguments{.budget = settle_polls, .most_polls = most_polls};
                        arguments.memory.fill(poll); // iterations are 0: nothing else is looked at
                        arguments.set(built.kernel->kernel, compiled.tables.dynamic_local_bytes);
                      });
  return {.resident = resident, .workers = asked_for ? *asked_for : workers_for(compiled, resident)};
}

Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device) {
  std::string violation = window_violation(compiled.written, compiled.program);
  if (violation.empty()) {
    violation = schedule_violation(compiled.program, compiled.schedule);
  }
  // Who waits for whom follows the same rule for any number of groups: a few show whether it is sound.
  constexpr std::array<std::uint32_t, 4> group_counts{1, 2, 3, 7};
  for (const std::uint32_t groups : group_counts) {
    if (violation.empty() && compiled.persistent()) {
      violation = wait_violation(compiled.program, compiled.schedule, compiled.memory, compiled.tables,
                                 compiled.synchronization.order, groups);
    }
  }
  if (!violation.empty()) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_schedule,
                                .message = "the schedule is refused: " + violation,
                                .fix = "this is a bug in tidegate: please report the program"});
  }
  const bool too_many = residency.workers == 0 || residency.workers > residency.resident;
  if (residency.resident != 0 && too_many) {
    return tl::unexpected(Error{
        .code = ErrorCode::too_many_workers,
        .message = fmt::format("{} asked for, of this kernel {} are resident together on {}",
                               plural(residency.workers, "work-group"), residency.resident, device.name),
        .fix = fmt::format("give --workers from 1 to {}: others would wait for groups that never start",
                           residency.resident)});
  }
  return {};
}

} // namespace tidegate::run
