#include "core/files.hpp"
#include "engine/traversal/run.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/policy/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
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

// Returns true if rank 0 takes the graph whole to check the first run's result. It takes none that may exceed its
// memory.
static bool checks_first_run(const graphs::FrontierProgram& program, const std::string& folder,
                             const engine::RunOptions& options) {
  constexpr std::uint64_t most_edges = std::uint64_t{1} << 24U;
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U; // of files
  std::error_code unknown;
  if (!options.verify_first ||
      (!options.traversal.checked.empty() && std::filesystem::exists(options.traversal.checked, unknown))) {
    return false;
  }
  if (program.graph.generate) {
    const auto size = graphs::generated_size(*program.graph.generate);
    return size && size->edges <= most_edges;
  }
  std::uint64_t bytes = 0;
  for (const NamedFile& input : graphs::files_of(program, folder).inputs) {
    const std::uintmax_t size = std::filesystem::file_size(input.path, unknown);
    bytes += unknown ? most_bytes + 1 : size;
  }
  return bytes <= most_bytes;
}

// Messages between the ranks that build a graph in parts.
static graphs::PartExchange exchange_of(ranks::Ranks& ranks) {
  using Parcels = graphs::PartExchange::Parcels;
  return {
      .add_up =
          [&ranks](std::span<std::uint64_t> numbers) { return ranks.reduce(numbers, ranks::Reduction::sum); },
      .exchange = [&ranks](Parcels parcels) { return ranks.exchange(std::move(parcels)); }};
}

Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const engine::RunOptions& options) {
  graphs::LoadOptions load_options = graphs::load_options(program);
  load_options.undirected |= program.algorithm == Algorithm::cc;
  const bool is_pagerank = program.algorithm == Algorithm::pagerank;
  load_options.build.in_rows =
      options.traversal.force_topology != policy::Topology::memory_constrained || is_pagerank;
  if (options.ranks != nullptr) {
    load_options.build.in_rows = is_pagerank || program.algorithm == Algorithm::bfs;
    load_options.build.part = static_cast<std::uint32_t>(options.ranks->rank());
    load_options.build.parts = static_cast<std::uint32_t>(options.ranks->size());
    load_options.build.cut_by_in_rows = is_pagerank;
  }
  load_options.build.order = program.algorithm == Algorithm::sssp ? graphs::RowOrder::lightest_first
                                                                  : graphs::RowOrder::by_neighbour;
  if (options.ranks == nullptr) {
    return graphs::load_graph(program, folder, load_options);
  }
  const graphs::PartExchange exchange = exchange_of(*options.ranks);
  load_options.build.exchange = &exchange;
  TIDEGATE_TRY(graphs::LoadedGraph part, graphs::load_graph(program, folder, load_options));
  if (options.ranks->rank() != 0 ||
      !(options.verify || program.own || checks_first_run(program, folder, options))) {
    return part;
  }
  // Rank 0 has the whole graph, too, where it checks the result.
  graphs::VertexCut cut = std::move(part.graph.cut);
  part = {};
  load_options.build.in_rows = true;
  load_options.build.part = 0;
  load_options.build.parts = 1;
  load_options.build.exchange = nullptr;
  TIDEGATE_TRY(graphs::LoadedGraph whole, graphs::load_graph(program, folder, load_options));
  whole.cut = std::move(cut);
  return whole;
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

Result<engine::Residency> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                      engine::BuiltKernel& kernel, const TraversalFacts& facts,
                                      Strategy strategy, const engine::RunOptions& options) {
  const std::optional<std::uint32_t> asked_for = options.compile.workers;
  const device::TraversalProfile profile = traversal_profile(device);
  // The profile's number was measured for its strategy and does not apply to another.
  const std::optional<std::uint32_t> measured =
      options.compile.strategy || profile.strategy.value_or(strategy) != strategy ? std::nullopt
                                                                                  : profile.workers;
  const std::uint32_t units = std::max(device.compute_units, 1U);
  engine::Residency groups;
  if (strategy == Strategy::launch) {
    // On a CPU few cores share the work evenly by many groups; many cores, each with as many, are slower (PoCL 5, 16
    // cores, R-MAT 18: reach takes 17.0 ms by 256 groups and 6.8 by 64, cc 2.7 and 1.8).
    const std::uint32_t of_cpu = std::max(4 * units, std::min(16 * units, 64U));
    const std::uint32_t usual = device.type == device::DeviceType::cpu ? of_cpu : 2 * units;
    groups.workers = asked_for.value_or(measured.value_or(usual));
  } else {
    groups.resident = resident_groups(session, device, kernel, facts.geometry);
    groups.workers = asked_for.value_or(
        std::min(groups.resident, measured.value_or(units * facts.geometry.groups_per_unit)));
    TIDEGATE_CHECK(engine::check_workers(groups.workers, groups.resident, device));
  }
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
  engine::DispatchLimits limits = engine::dispatch_limits(device, options, groups, gpu_polls);
  if (strategy == Strategy::launch) { // nothing waits inside
    limits.arrivals_per_barrier = 0;
  }
  return limits;
}

} // namespace tidegate::traversal
