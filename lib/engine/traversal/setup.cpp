#include "core/files.hpp"
#include "engine/traversal/run.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/policy/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidegate::traversal {

using engine::Strategy;
using graphs::Algorithm;

Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const engine::RunOptions& options) {
  FileUses files = options.files;
  FileUses of_program = graphs::files_of(program, folder);
  for (const auto* const list : {&of_program.inputs, &of_program.outputs}) {
    for (const NamedFile& file : *list) {
      if (auto inside = check_scope(file.path, folder, options.scope); !inside) {
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
                                 const engine::RunOptions& options) {
  graphs::LoadOptions load_options = graphs::load_options(program);
  load_options.undirected |= program.algorithm == Algorithm::cc;
  const bool is_pagerank = program.algorithm == Algorithm::pagerank;
  load_options.build.in_rows =
      options.traversal.force_topology != policy::Topology::memory_constrained || is_pagerank;
  load_options.build.order = program.algorithm == Algorithm::sssp ? graphs::RowOrder::lightest_first
                                                                  : graphs::RowOrder::by_neighbour;
  return graphs::load_graph(program, folder, load_options);
}

FrontierStrategy choose_strategy(const engine::RunOptions& options, const device::DeviceInfo* device) {
  if (options.ranks != nullptr) {
    return {Strategy::launch, "several ranks exchange what they find after each step"};
  }
  if (options.compile.strategy == Strategy::launch) {
    return {Strategy::launch, "requested"};
  }
  if (device == nullptr || (options.compile.dry_run && !device->profile)) {
    return {options.compile.strategy.value_or(Strategy::barrier),
            options.compile.strategy ? "requested" : "planned for a device whose self-test passes"};
  }
  if (!device->profile || !device->profile->ordering) {
    return {Strategy::launch,
            "the device has not passed the self-test: no memory ordering between work-groups "
            "is proved, so nothing may wait inside a launch"};
  }
  if (options.compile.strategy) {
    return {Strategy::barrier, "requested"};
  }
  if (const auto measured = traversal_profile(*device).strategy) {
    return {*measured, "measured as the fastest, by the profile"};
  }
  if (device->type == device::DeviceType::cpu) {
    return {Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch"};
  }
  return {Strategy::barrier, "the device has passed the self-test"};
}

TraversalPolicy traversal_policy(const graphs::FrontierProgram& program,
                                 const device::TraversalProfile& profile, const engine::RunOptions& options) {
  return {.switch_rule =
              program.policy.switch_rule.value_or(profile.switch_rule.value_or(graphs::SwitchRule::edges)),
          .forced = options.traversal.force_topology};
}

std::optional<engine::Warning> idle_policy_fields(const graphs::FrontierProgram& program,
                                                  graphs::SwitchRule rule, std::string_view file) {
  const bool density = rule == graphs::SwitchRule::density;
  const bool fuses = graphs::is_monotone(program);
  constexpr std::string_view by_density = "\"switch_rule\": \"density\"";
  constexpr std::string_view fused = "algorithms whose waves can be fused";
  return engine::idle_policy_fields(program.policy.launch,
                                    std::array<engine::PolicyUse, 5>{{
                                        {"memory_pressure_threshold_bps", ""},
                                        {"sparse_frontier_threshold_bps", by_density, density},
                                        {"dense_frontier_threshold_bps", by_density, density},
                                        {"fusion_edge_threshold", fused, fuses},
                                        {"hot_window_threshold", fused, fuses},
                                    }},
                                    "wave programs or `tidegate recommend`", file);
}

std::uint32_t wanted_groups(const device::DeviceInfo& device, const FrontierGeometry& geometry,
                            Strategy strategy, const engine::RunOptions& options) {
  const device::TraversalProfile profile = traversal_profile(device);
  if (options.compile.workers) {
    return *options.compile.workers;
  }
  // The profile's number was measured for its strategy and does not apply to another.
  if (profile.workers && !options.compile.strategy && profile.strategy.value_or(strategy) == strategy) {
    return *profile.workers;
  }
  const std::uint32_t units = std::max(device.compute_units, 1U);
  // On a CPU few cores share the work evenly by many groups; many cores, each with as many, are slower (PoCL 5, 16
  // cores, R-MAT 18: reach takes 17.0 ms by 256 groups and 6.8 by 64, cc 2.7 and 1.8).
  const std::uint32_t of_cpu = std::max(4 * units, std::min(16 * units, 64U));
  return strategy != Strategy::launch             ? units * geometry.groups_per_unit
         : device.type == device::DeviceType::cpu ? of_cpu
                                                  : 2 * units;
}

Result<engine::Residency> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                      engine::BuiltKernel& kernel, const TraversalFacts& facts,
                                      Strategy strategy, const engine::RunOptions& options) {
  constexpr std::uint32_t most_groups = 1U << 16U; // TG_ADD_PARTS of kernels/frontier/job.cl
  const std::optional<std::uint32_t> asked_for = options.compile.workers;
  engine::Residency groups{.workers = wanted_groups(device, facts.geometry, strategy, options)};
  if (strategy != Strategy::launch) {
    groups.resident = resident_groups(session, device, kernel, facts.geometry);
    groups.workers = asked_for ? groups.workers : std::min(groups.workers, groups.resident);
  }
  TIDEGATE_CHECK(engine::check_workers(
      groups.workers, strategy == Strategy::launch ? most_groups : std::min(groups.resident, most_groups),
      device));
  if (facts.memory.constrained && !asked_for) {
    policy::LaunchRequest request;
    request.requested_worker_groups = groups.workers;
    request.memory_pressure_bps = facts.memory.pressure_bps;
    if (const auto shed = policy::shed_workers(facts.program.policy.launch, request,
                                               policy::Topology::memory_constrained)) {
      groups.workers = std::max(shed->worker_groups, 1U);
    }
  }
  groups.workers = std::max(groups.workers, 1U);
  return groups;
}

engine::DispatchLimits limits_of(const device::DeviceInfo& device, const engine::RunOptions& options,
                                 const engine::Residency& groups, Strategy strategy) {
  constexpr std::uint32_t gpu_polls = std::uint32_t{1} << 26U; // groups wait long while one works alone
  engine::DispatchLimits limits =
      engine::dispatch_limits(device, groups, gpu_polls, options.slice_ns, options.max_wall_time_ns);
  if (strategy == Strategy::launch) { // nothing waits inside
    limits.arrivals_per_barrier = 0;
  }
  return limits;
}

} // namespace tidegate::traversal
