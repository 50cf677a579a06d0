// Candidates of a frontier program on one device. They share one copy of the graph and differ in thresholds
// and in the number of work-groups; only the strategies need separate kernels.
#include "traversal/checks.hpp"
#include "traversal/resident.hpp"
#include "tune/workbench.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::tuning {
namespace {

using device::Strategy;
using traversal::TraversalResults;
using traversal::WaveRecord;

// Returns the device as a run with this profile sees it.
device::DeviceInfo with_profile(const device::DeviceInfo& device, const device::TraversalProfile& profile) {
  device::DeviceInfo profiled = device;
  if (!profiled.profile) {
    profiled.profile = device::DeviceProfile{.device = device.name, .driver_version = device.driver_version};
  }
  profiled.profile->traversal = profile;
  return profiled;
}

} // namespace

Result<runtime::BuiltKernel*> TraversalBench::kernel_of(Strategy strategy,
                                                        const traversal::FrontierGeometry& geometry) {
  const auto known = kernels_.find(strategy);
  if (known != kernels_.end()) {
    return &known->second;
  }
  begin_building(runtime::Activity::building);
  const bool floats = graphs::weight_type(graph_.out) == graphs::WeightType::f32;
  const runtime::KernelSource source = traversal::frontier_kernel(
      shape_, floats, geometry,
      {.ordering = strategy == Strategy::barrier ? device_.profile->ordering : std::nullopt,
       .opencl_version = device_.opencl_version},
      own_ ? &*own_ : nullptr);
  return &kernels_
              .emplace(strategy,
                       runtime::build_kernel(session_, device_, source, 0, run_options_.cache_folder))
              .first->second;
}

Result<TraversalBench::Configuration> TraversalBench::make(const Settings& settings) {
  const device::DeviceInfo device = with_profile(device_, settings.traversal);
  Configuration configuration{.settings = settings,
                              .strategy = traversal::choose_strategy(run_options_, &device).strategy,
                              .geometry = traversal::geometry_of(program_, device, run_options_),
                              .groups = {},
                              .topologies =
                                  traversal::traversal_policy(program_, settings.traversal, run_options_),
                              .resident = {},
                              .waves = {}};
  const traversal::TraversalFacts facts{program_, graph_, memory_, configuration.geometry,
                                        configuration.topologies};
  TIDEGATE_TRY(configuration.kernel, kernel_of(configuration.strategy, configuration.geometry));
  TIDEGATE_TRY(configuration.groups, traversal::find_groups(session_, device, *configuration.kernel, facts,
                                                            configuration.strategy, run_options_));
  if (session_.on_host) {
    traversal::compile_now(session_, *configuration.kernel, configuration.geometry, configuration.groups);
  }
  if (!configurations_.empty()) {
    configuration.resident = configurations_.front().resident;
    configuration.resident.setting =
        traversal::make_setting(facts, configuration.resident.setting.has_seats != 0);
  }
  return configuration;
}

// Returns true if another configuration makes the same choices for its waves with the same work-groups.
bool TraversalBench::runs_as_another(const Configuration& configuration) const {
  // Number of vertices up to which a wave keeps its topology without a new choice: for one group, or for all.
  const auto sure = [](const Configuration& of) {
    const std::uint32_t vertices = policy::tg_surely_sparse(of.resident.setting.policy);
    const bool together = of.strategy == Strategy::barrier && of.geometry.group_size > 1;
    return together ? vertices : std::min(of.geometry.alone_vertices, vertices);
  };
  return std::ranges::any_of(configurations_, [&](const Configuration& other) {
    return other.strategy == configuration.strategy && other.groups.workers == configuration.groups.workers &&
           other.geometry.alone_vertices == configuration.geometry.alone_vertices &&
           sure(other) == sure(configuration) && other.waves.complete() &&
           std::ranges::all_of(other.waves.records, [&](const WaveRecord& wave) {
             return traversal::choose(configuration.resident.setting.policy, wave).topology == wave.topology;
           });
  });
}

traversal::TraversalOutcome TraversalBench::run(Configuration& configuration, std::uint64_t most_ns) {
  runtime::DispatchLimits limits =
      traversal::limits_of(device_, run_options_, configuration.groups, configuration.strategy);
  limits.deadline = begin_run(most_ns);
  return traversal::traverse(session_, *configuration.kernel, configuration.resident, configuration.geometry,
                             limits, monitor_);
}

Result<TraversalResults> TraversalBench::prove(Configuration& configuration, std::uint64_t most_ns) {
  traversal::TraversalOutcome outcome = run(configuration, most_ns);
  TIDEGATE_CHECK(check_finished(outcome.status));
  configuration.waves = std::move(outcome.waves);
  TraversalResults results = traversal::read_back(session_, configuration.resident, shape_);
  results.rank_change = outcome.rank_change;
  TIDEGATE_CHECK(traversal::check_distances_fit(graph_, results, numbers_));
  return results;
}

Result<void> TraversalBench::make_first(const Settings& settings) try {
  TIDEGATE_CHECK(graphs::check_program(program_));
  TIDEGATE_CHECK(traversal::check_files(program_, folder_, run_options_));
  if (program_.own) {
    TIDEGATE_TRY(own_, traversal::read_own(program_, folder_, run_options_.scope));
  }
  monitor_.counted = "wave";
  monitor_.most_iterations = runtime::Monitor::unlimited;
  begin_building(runtime::Activity::loading);
  TIDEGATE_TRY(graphs::LoadedGraph loaded, traversal::load(program_, folder_, run_options_));
  numbers_ = graphs::numbers_of(program_, loaded);
  graphs::use_positions(program_, numbers_);
  ids_ = std::move(loaded.ids); // which numbers_ names
  graph_ = std::move(loaded.graph);
  shape_ = traversal::shape_of(program_, graph_);
  std::vector<std::byte> initial;
  if (own_) {
    TIDEGATE_CHECK(traversal::check_weights(*own_, graph_));
    TIDEGATE_TRY(initial, traversal::read_initial(program_, folder_, graphs::vertex_count(graph_)));
  }
  TIDEGATE_TRY(memory_, traversal::plan_memory(shape_, settings.policy, program_.device_memory_budget_bytes,
                                               device_.global_memory_bytes, {}));
  TIDEGATE_TRY(Configuration configuration, make(settings));
  monitor_.begin(runtime::Activity::filling);
  const traversal::TraversalFacts facts{program_, graph_, memory_, configuration.geometry,
                                        configuration.topologies};
  configuration.resident = traversal::make_resident(session_, facts, initial);
  traversal::change_rows(session_, device_, facts, shape_, configuration.resident, run_options_.cache_folder);
  device::require(session_.finish(), "filling the buffers");
  monitor_.begin(runtime::Activity::proving);
  TIDEGATE_TRY(expected_, prove(configuration, run_options_.max_wall_time_ns));
  begin_building(runtime::Activity::verifying); // serial algorithms are slow
  TIDEGATE_CHECK(verify(configuration));
  configurations_.push_back(std::move(configuration));
  return {};
} catch (device::Refused& refused) {
  return tl::unexpected(own_ ? traversal::at_own_source(*own_, std::move(refused.error))
                             : std::move(refused.error));
}

Result<void> TraversalBench::verify(const Configuration& configuration) {
  std::optional<Error> wrong;
  if (own_) {
    traversal::OwnChecks checks(
        session_, program_, *own_, configuration.resident, shape_,
        traversal::build_own_checks(session_, device_, *own_, shape_, run_options_.cache_folder));
    TIDEGATE_CHECK(checks.check_laws());
    std::uint64_t reached = 0;
    wrong = checks.check_fix_point(expected_.values, reached);
    if (!wrong) {
      wrong = checks.check_by_plain_rounds(expected_.values,
                                           std::chrono::steady_clock::now() +
                                               std::chrono::nanoseconds(run_options_.max_wall_time_ns));
    }
  } else {
    wrong = traversal::verify(program_, graph_, expected_).error;
  }
  return wrong ? tl::unexpected(std::move(*wrong)) : Result<void>();
}

Result<std::optional<std::size_t>> TraversalBench::make_and_prove(const Settings& settings,
                                                                  std::uint64_t most_ns) {
  TIDEGATE_TRY(Configuration configuration, make(settings));
  if (runs_as_another(configuration)) {
    return std::nullopt;
  }
  TIDEGATE_TRY(const TraversalResults results, prove(configuration, most_ns));
  TIDEGATE_CHECK(traversal::compare(program_, graph_, expected_, results));
  configurations_.push_back(std::move(configuration));
  return std::optional(configurations_.size() - 1);
}

runtime::DispatchOutcome TraversalBench::dispatch(std::size_t configuration, std::uint64_t most_ns) {
  return run(configurations_[configuration], most_ns);
}

TraversalIncumbent TraversalBench::incumbent(std::size_t index) const {
  const Configuration& configuration = configurations_[index];
  using graphs::Algorithm;
  const Algorithm algorithm = program_.algorithm;
  return {.settings = configuration.settings,
          .strategy = configuration.strategy,
          .workers = configuration.groups.workers,
          .resident = configuration.groups.resident,
          .switch_rule = configuration.topologies.switch_rule,
          .rule_is_given = program_.policy.switch_rule.has_value(),
          .from_few = algorithm != Algorithm::cc && algorithm != Algorithm::pagerank,
          .alone_up_to = configuration.geometry.alone_vertices,
          .most_alone = configuration.geometry.alone_room,
          .constrained = memory_.constrained};
}

KnobValues TraversalBench::values_of(Knob knob, std::size_t configuration, double /*dispatch_ns*/) const {
  const bool passed = device_.profile && device_.profile->ordering;
  return tuning::values_of(knob, incumbent(configuration), device_, passed);
}

} // namespace tidegate::tuning
