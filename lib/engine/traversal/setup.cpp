#include "engine/traversal/setup.hpp"

#include "work/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/policy/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tidegate::traversal {

using engine::Strategy;
using graphs::Algorithm;
using Clock = std::chrono::steady_clock;

Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const TraversalOptions& options) {
  FileUses files = options.files;
  FileUses of_program = graphs::files_of(program, folder);
  const auto scope = options.allow_outside ? engine::PathScope::anywhere : engine::PathScope::folder;
  for (const auto* const list : {&of_program.inputs, &of_program.outputs}) {
    for (const NamedFile& file : *list) {
      if (auto inside = engine::check_scope(file.path, folder, scope); !inside) {
        inside.error().pointer = file.pointer;
        return inside;
      }
    }
  }
  if (!options.emit_kernel.empty()) {
    files.outputs.push_back({options.emit_kernel, "--emit-kernel", {}});
  }
  std::ranges::move(of_program.inputs, std::back_inserter(files.inputs));
  std::ranges::move(of_program.outputs, std::back_inserter(files.outputs));
  return refuse_overwriting(files);
}

Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const TraversalOptions& options) {
  graphs::LoadOptions load_options = graphs::load_options(program);
  load_options.undirected |= program.algorithm == Algorithm::cc;
  load_options.build.in_rows = options.force_topology != policy::Topology::memory_constrained ||
                               program.algorithm == Algorithm::pagerank;
  return graphs::load_graph(program, folder, load_options);
}

StrategyChoice choose_strategy(const TraversalOptions& options, const device::DeviceInfo* device) {
  if (options.strategy == Strategy::launch) {
    return {Strategy::launch, "requested"};
  }
  if (device == nullptr) {
    return {Strategy::barrier,
            options.strategy ? "requested" : "planned for a device whose self-test passes"};
  }
  if (!device->profile || !device->profile->ordering || options.fault == Fault::failed_litmus) {
    if (options.dry_run && !device->profile) {
      return {options.strategy.value_or(Strategy::barrier),
              options.strategy ? "requested" : "planned for a device whose self-test passes"};
    }
    return {Strategy::launch,
            "the device has not passed the self-test: no memory ordering between work-groups "
            "is proved, so nothing may wait inside a launch"};
  }
  if (options.strategy) {
    return {Strategy::barrier, "requested"};
  }
  if (const auto measured = traversal_profile(*device).strategy) {
    return {*measured == device::TraversalStrategy::launch ? Strategy::launch : Strategy::barrier,
            "measured as the fastest, by the profile"};
  }
  if (device->type == device::DeviceType::cpu) {
    return {Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch"};
  }
  return {Strategy::barrier, "the device has passed the self-test"};
}

TraversalPolicy traversal_policy(const graphs::FrontierProgram& program,
                                 const device::TraversalProfile& profile, const TraversalOptions& options) {
  return {.switch_rule =
              program.policy.switch_rule.value_or(profile.switch_rule.value_or(graphs::SwitchRule::edges)),
          .forced = options.force_topology};
}

FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const TraversalOptions& options) {
  const bool all_vertices = program.algorithm == Algorithm::cc || program.algorithm == Algorithm::pagerank;
  FrontierGeometry geometry =
      geometry_for(device, options.group_size, all_vertices ? 0 : options.alone_vertices);
  // Waves of all vertices wait for memory, not for other groups. On an H200 a third group gains nothing.
  constexpr std::uint32_t largest_of_two = 512;
  const bool two =
      all_vertices && device.type != device::DeviceType::cpu && geometry.group_size <= largest_of_two;
  geometry.groups_per_unit = two ? 2 : 1;
  return geometry;
}

Result<FrontierGroups> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                   engine::BuiltKernel& kernel, const FrontierGeometry& geometry,
                                   const FrontierMemory& memory, const policy::LaunchPolicy& policy,
                                   Strategy strategy, const TraversalOptions& options) {
  const std::optional<std::uint32_t> asked_for = options.workers;
  const device::TraversalProfile profile = traversal_profile(device);
  const auto measured_strategy =
      strategy == Strategy::launch ? device::TraversalStrategy::launch : device::TraversalStrategy::barrier;
  // The profile's number was measured for its strategy and does not apply to another.
  const std::optional<std::uint32_t> measured =
      options.strategy || profile.strategy.value_or(measured_strategy) != measured_strategy ? std::nullopt
                                                                                            : profile.workers;
  const std::uint32_t units = std::max(device.compute_units, 1U);
  FrontierGroups groups;
  if (strategy == Strategy::launch) {
    constexpr std::uint32_t of_a_unit = 16;
    const std::uint32_t usual = device.type == device::DeviceType::cpu ? of_a_unit * units : 2 * units;
    groups.groups = asked_for.value_or(measured.value_or(usual));
  } else {
    groups.resident = resident_groups(session, device, kernel, geometry);
    groups.groups =
        asked_for.value_or(std::min(groups.resident, measured.value_or(units * geometry.groups_per_unit)));
    if (groups.groups == 0 || groups.groups > groups.resident) {
      return tl::unexpected(Error{
          .code = ErrorCode::too_many_workers,
          .message = fmt::format("{} requested, but only {} of this kernel can run concurrently on {}",
                                 plural(groups.groups, "work-group"), groups.resident, device.name),
          .fix = fmt::format("give --workers from 1 to {}: others would wait for groups that never start",
                             groups.resident)});
    }
  }
  if (memory.constrained && !asked_for) {
    policy::LaunchRequest request;
    request.requested_worker_groups = groups.groups;
    request.memory_pressure_bps = memory.pressure_bps;
    if (const auto shed = policy::shed_workers(policy, request, policy::Topology::memory_constrained)) {
      groups.groups = std::max(shed->worker_groups, 1U);
    }
  }
  groups.groups = std::max(groups.groups, 1U);
  return groups;
}

DispatchLimits limits_of(const device::DeviceInfo& device, const TraversalOptions& options,
                         const FrontierGroups& groups, Strategy strategy) {
  const bool cpu = device.type == device::DeviceType::cpu;
  constexpr std::uint32_t gpu_polls = std::uint32_t{1} << 26U; // groups wait long while one works alone
  DispatchLimits limits{.slice_ns = options.slice_ns,
                        .deadline = Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns),
                        .groups = groups,
                        .arrivals_per_barrier = strategy == Strategy::barrier ? groups.groups : 0,
                        .most_polls = cpu ? std::numeric_limits<std::uint32_t>::max() : gpu_polls};
  if (options.fault == Fault::missing_arrival && strategy == Strategy::barrier) {
    limits.arrivals_per_barrier += 1;
    limits.most_polls = std::uint32_t{1} << 16U;
  }
  return limits;
}

ReplayPolicy replay_policy(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                           const FrontierMemory& memory, const FrontierGeometry& geometry,
                           const TraversalPolicy& policy) {
  return {.launch = program.policy.launch,
          .switch_rule = policy.switch_rule,
          .forced = policy.forced,
          .pressure_bps = memory.pressure_bps,
          .edges = graphs::edge_count(graph),
          .vertices = graphs::vertex_count(graph),
          .monotone = program.algorithm != Algorithm::pagerank,
          .leaves_early = program.algorithm != Algorithm::sssp,
          .alone_vertices = geometry.alone_vertices};
}

void spoil(Fault fault, TraversalResults& results) {
  if (fault == Fault::wrong_value && !results.values.empty()) {
    results.values.back() ^= 1;
  }
  if (fault == Fault::wrong_parent && !results.parents.empty()) {
    results.parents.back() ^= 1;
  }
}

} // namespace tidegate::traversal
