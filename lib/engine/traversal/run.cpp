#include "engine/traversal/run.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include "engine/report_head.hpp"
#include "engine/traversal/execute.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

using engine::RunStatus;
using engine::Strategy;
using graphs::Algorithm;
using Clock = std::chrono::steady_clock;

// Returns a key of all that decides how a program's graph is loaded and laid out in memory; empty if a file's
// state is unknown.
std::string graph_key(graphs::FrontierProgram program, const std::string& folder) {
  std::string key = folder + '\n';
  for (const NamedFile& file : graphs::files_of(program, folder).inputs) {
    const bool code = file.pointer == "/algorithm/source"; // KeptGraph::source compares it
    const std::string state = code ? "its code" : file_state(file.path);
    if (state.empty()) {
      return {};
    }
    key += state + '\n';
  }
  const bool parents = program.outputs.parents.has_value();
  program.outputs = {};
  program.graph.ids =
      program.graph.ids == graphs::VertexIds::compact ? program.graph.ids : graphs::VertexIds();
  program.outputs.parents = parents ? std::optional<std::string>("") : std::nullopt;
  program.sources.clear();
  program.rules.clear();
  program.pagerank = {};
  return key + documents::encode(program, documents::Style::compact);
}

// Loads a program's graph, unless an earlier traversal of the stream has left it. Errors: of the graph and of the sources.
Result<std::shared_ptr<KeptGraph>> load_or_find(const graphs::FrontierProgram& program,
                                                const std::string& folder,
                                                const engine::RunOptions& options) {
  auto kept = std::make_shared<KeptGraph>();
  if (options.kept != nullptr) {
    kept->key = graph_key(program, folder);
    for (const auto& holding : options.kept->holdings) {
      const auto found = std::dynamic_pointer_cast<KeptGraph>(holding);
      if (found && !kept->key.empty() && found->key == kept->key) {
        options.kept->use(found);
        TIDEGATE_CHECK(graphs::check_sources(program, graphs::numbers_of(program, found->loaded)));
        return found;
      }
    }
  }
  TIDEGATE_TRY(kept->loaded, load(program, folder, options));
  return kept;
}

// Refuses devices and forced topologies that cannot run the program's algorithm.
Result<void> check_own_use(const graphs::FrontierProgram& program, const device::DeviceInfo* device,
                           const engine::RunOptions& options) {
  if (program.own && program.own->value == graphs::OwnValue::u64 && device != nullptr &&
      !device->int64_atomics) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = in_quotes(device->name) + " has no atomic functions of 64 bits",
                                .fix = "use values of 32 bits, or another device",
                                .pointer = "/algorithm/value"});
  }
  if (options.traversal.force_topology == policy::Topology::fused_dense && !graphs::is_monotone(program)) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_usage,
              .message = "fused_dense is not for sums: a vertex would add to its neighbours several times",
              .fix = "force another topology"});
  }
  return {};
}

// Decides all that can be decided without the device. Errors: of plan_memory().
Result<TraversalPlan> plan_traversal(const AskedTraversal& asked, const graphs::FrontierProgram& program,
                                     const OwnCode* own, const engine::RunOptions& options) {
  const graphs::Graph& graph = asked.kept->loaded.graph;
  const device::DeviceInfo* const device = asked.device;
  TraversalPlan plan{.asked = asked, .program = program, .own = own, .shape = shape_of(program, graph)};
  if (options.ranks != nullptr) {
    plan.part = part_of(program, graph, *options.ranks);
  }
  const std::uint64_t device_bytes =
      device == nullptr ? std::numeric_limits<std::uint64_t>::max() : device->global_memory_bytes;
  const std::uint64_t budget = program.device_memory_budget_bytes;
  plan.strategy = choose_strategy(options, device);
  const device::DeviceInfo any{.type = device::DeviceType::gpu, .max_workgroup_size = 1024};
  plan.geometry = geometry_of(program, device == nullptr ? any : *device, options);
  plan.shape.groups =
      wanted_groups(device == nullptr ? any : *device, plan.geometry, plan.strategy.strategy, options);
  TIDEGATE_TRY(plan.memory, plan.part ? plan_rank_memory(plan.shape, plan.part->shape(), budget, device_bytes)
                                      : plan_memory(plan.shape, program.policy.launch, budget, device_bytes,
                                                    options.traversal.force_topology));
  if (device != nullptr && device->profile && plan.strategy.strategy == engine::Strategy::barrier) {
    plan.ordering = device->profile->ordering;
  }
  if (device != nullptr && options.compile.trace && !plan.part) {
    plan.clock = engine::device_clock(*device);
  }
  const bool floats = graphs::weight_type(graph.out) == graphs::WeightType::f32;
  const std::string version = device == nullptr ? "" : device->opencl_version;
  plan.source = plan.part ? rank_kernel(plan.shape, *plan.part, floats, plan.geometry, version, own)
                          : frontier_kernel(plan.shape, floats, plan.geometry,
                                            {plan.ordering, version, plan.clock}, own);
  return plan;
}

// Runs the program on the graph that is loaded: the user's, or one that gives the same results.
Result<FrontierReport> run_loaded(const AskedTraversal& asked, const graphs::FrontierProgram& program,
                                  const OwnCode* own, Clock::time_point start,
                                  const engine::RunOptions& options, engine::Monitor& monitor) try {
  // Plans, without touching the device.
  const auto planned_from = Clock::now();
  TIDEGATE_TRY(const TraversalPlan plan, plan_traversal(asked, program, own, options));
  FrontierReport report = report_of_plan(plan);
  report.queue_plan_ns = elapsed_ns(planned_from);
  if (!options.emit_kernel.empty()) {
    TIDEGATE_TRY(report.files_written.emplace_back(),
                 engine::write_file(options.emit_kernel,
                                    fmt::format("// {}\n{}", plan.source.options, plan.source.source),
                                    "generated kernel"));
  }
  if (options.compile.dry_run) {
    report.status = RunStatus::planned;
    report.wall_time_ns = elapsed_ns(start);
    return report;
  }

  // Runs on the device; another thread reports a kernel that does not come back.
  monitor.counted = "wave";
  monitor.most_iterations = engine::Monitor::unlimited;
  monitor.deadline = Clock::now() + engine::build_limit;
  const engine::Watchdog watchdog(monitor, engine::grace, [&, known = report](bool interrupted) mutable {
    engine::report_silence(known, monitor, interrupted, options, false);
    known.items_processed = known.published_items = monitor.items;
    known.wall_time_ns = elapsed_ns(start);
    if (plan.part) {
      known.ranks =
          *engine::report_ranks(known.status, {}, rank_report(plan, known.dispatch_ns), *options.ranks);
    }
    options.traversal.abandon(known);
  });
  TIDEGATE_CHECK(execute(plan, options, monitor, report));
  report.wall_time_ns = elapsed_ns(start);
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(own != nullptr ? at_own_source(*own, std::move(refused.error))
                                       : std::move(refused.error));
}

} // namespace

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

Result<FrontierReport> run_traversal(const graphs::FrontierProgram& given, const std::string& folder,
                                     const device::DeviceInfo* device, const engine::RunOptions& options,
                                     engine::Monitor& monitor) {
  graphs::FrontierProgram program = given;
  const auto start = Clock::now();
  const InterruptWatch interrupts;

  // Load and check, without touching the device.
  TIDEGATE_CHECK(graphs::check_program(program));
  TIDEGATE_CHECK(check_files(program, folder, options));
  TIDEGATE_CHECK(check_own_use(program, device, options));
  std::optional<OwnCode> own;
  if (program.own) {
    TIDEGATE_TRY(own, read_own(program, folder, options.scope));
  }
  if (!options.compile.dry_run) {
    for (const NamedFile& file : graphs::files_of(program, folder).outputs) {
      if (auto probe = Output::open(file.path, FileKinds::no_named_pipes); !probe) { // before the run
        probe.error().pointer = *file.pointer;
        return tl::unexpected(std::move(probe.error()));
      }
    }
  }
  monitor.begin(engine::Activity::loading);
  TIDEGATE_TRY(const std::shared_ptr<KeptGraph> kept, load_or_find(program, folder, options));
  const graphs::Graph& graph = kept->loaded.graph;
  const graphs::VertexNumbers numbers = graphs::numbers_of(program, kept->loaded);
  graphs::use_positions(program, numbers);
  if (own) {
    TIDEGATE_CHECK(check_weights(*own, graph));
    TIDEGATE_TRY(kept->initial, read_initial(program, folder, graphs::vertex_count(graph)));
  }
  const device::TraversalProfile profile =
      device == nullptr ? device::TraversalProfile() : traversal_profile(*device);
  const AskedTraversal asked{.program = program,
                             .ids = given.graph.ids,
                             .numbers = numbers,
                             .folder = folder,
                             .kept = kept,
                             .device = device,
                             .policy = traversal_policy(program, profile, options),
                             .load_ns = elapsed_ns(start)};
  auto report = run_loaded(asked, program, own ? &*own : nullptr, start, options, monitor);
  const bool too_far =
      program.algorithm == Algorithm::sssp && !report && report.error().code == ErrorCode::overflow;
  if (!too_far || graphs::weight_type(graph.out) != graphs::WeightType::u32 || !device->int64_atomics) {
    return report;
  }
  // Some distance needs more than 32 bits. A later request begins with 32 again.
  kept->forget_device();
  const graphs::FrontierProgram wide = with_wide_distances(program);
  const OwnCode code = wide_distances(wide);
  report = run_loaded(asked, wide, &code, start, options, monitor);
  kept->forget_device();
  return report;
}

} // namespace tidegate::traversal
