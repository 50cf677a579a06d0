// Candidates of a frontier program on one device. They share one copy of the graph and differ in thresholds
// and in the number of work-groups; only the strategies need separate kernels.
#include "traversal/own_checks.hpp"
#include "tune/workbench.hpp"

namespace tidegate::tuning {
namespace {

using device::Strategy;
using traversal::TraversalResults;

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

Result<TraversalBench::Configuration> TraversalBench::make(const Settings& settings) {
  const device::DeviceInfo device = with_profile(device_, settings.traversal);
  TIDEGATE_TRY(traversal::TraversalPlan plan,
               traversal::plan_traversal(asked_, asked_.program, asked_.own ? &*asked_.own : nullptr, &device,
                                         run_options_));
  plan.device = &device_;
  auto known = kernels_.find(plan.strategy.strategy);
  if (known == kernels_.end()) {
    begin_building(runtime::Activity::building);
    known = kernels_
                .emplace(plan.strategy.strategy,
                         runtime::build_kernel(session_, device_, plan.source, 0, run_options_.cache_folder))
                .first;
  }
  TIDEGATE_TRY(const runtime::Residency groups,
               traversal::find_groups(session_, plan, known->second, run_options_));
  if (session_.on_host) {
    traversal::compile_now(session_, known->second, plan.geometry, groups);
  }
  Configuration configuration{.settings = settings,
                              .plan = std::move(plan),
                              .kernel = &known->second,
                              .groups = groups,
                              .resident = {}};
  if (!configurations_.empty()) {
    configuration.resident = configurations_.front().resident;
    configuration.resident.setting =
        traversal::make_setting(configuration.plan, configuration.resident.setting.has_seats != 0);
  }
  return configuration;
}

// Returns true if another configuration launches the same; rules and limits without an effect do not count as others.
bool TraversalBench::runs_as_another(const Configuration& configuration) const {
  const auto launched = [](const Configuration& of) {
    return std::tuple(of.plan.strategy.strategy, of.groups.workers, of.plan.geometry.alone_vertices,
                      of.plan.switch_rule);
  };
  return std::ranges::find(configurations_, launched(configuration), launched) != configurations_.end();
}

traversal::TraversalOutcome TraversalBench::run(Configuration& configuration, std::uint64_t most_ns) {
  runtime::DispatchLimits limits =
      traversal::limits_of(configuration.plan, run_options_, configuration.groups);
  limits.deadline = begin_run(most_ns);
  return traversal::traverse(session_, *configuration.kernel, configuration.resident,
                             configuration.plan.geometry, limits, monitor_);
}

Result<TraversalResults> TraversalBench::prove(Configuration& configuration, std::uint64_t most_ns) {
  const traversal::TraversalOutcome outcome = run(configuration, most_ns);
  TIDEGATE_CHECK(check_finished(outcome.status));
  TraversalResults results = traversal::read_back(session_, configuration.resident, configuration.plan.shape);
  results.rank_change = outcome.rank_change;
  TIDEGATE_CHECK(traversal::check_distances_fit(configuration.plan.graph(), results, asked_.numbers));
  return results;
}

Result<void> TraversalBench::add_first(const Settings& settings) try {
  TIDEGATE_TRY(std::optional<traversal::OwnCode> own,
               traversal::check_asked(program_, folder_, &device_, run_options_));
  monitor_.counted = "wave";
  monitor_.most_iterations = runtime::Monitor::unlimited;
  begin_building(runtime::Activity::loading);
  TIDEGATE_TRY(asked_, traversal::load_asked(program_, folder_, std::move(own), run_options_));
  TIDEGATE_TRY(Configuration configuration, make(settings));
  monitor_.begin(runtime::Activity::filling);
  configuration.resident = traversal::make_resident(session_, configuration.plan);
  traversal::change_rows(session_, configuration.plan, configuration.resident, run_options_.cache_folder);
  session_.finish();
  monitor_.begin(runtime::Activity::proving);
  TIDEGATE_TRY(expected_, prove(configuration, run_options_.max_wall_time_ns));
  begin_building(runtime::Activity::verifying); // serial algorithms are slow
  TIDEGATE_CHECK(verify(configuration));
  configurations_.push_back(std::move(configuration));
  return {};
} catch (device::Refused& refused) {
  return tl::unexpected(asked_.own ? traversal::at_own_source(*asked_.own, std::move(refused.error))
                                   : std::move(refused.error));
}

Result<void> TraversalBench::verify(const Configuration& configuration) {
  std::optional<Error> wrong;
  if (asked_.own) {
    traversal::OwnChecks checks(
        session_, configuration.plan, configuration.resident,
        traversal::build_own_checks(session_, configuration.plan, run_options_.cache_folder));
    TIDEGATE_CHECK(checks.check_laws());
    std::uint64_t reached = 0;
    wrong = checks.check_fix_point(expected_.values, reached);
    if (!wrong) {
      wrong = checks.check_by_plain_rounds(expected_.values,
                                           std::chrono::steady_clock::now() +
                                               std::chrono::nanoseconds(run_options_.max_wall_time_ns));
    }
  } else {
    wrong = traversal::verify(asked_.program, configuration.plan.graph(), expected_).error;
  }
  return wrong ? tl::unexpected(std::move(*wrong)) : Result<void>();
}

Result<std::optional<std::size_t>> TraversalBench::add(const Settings& settings, std::uint64_t most_ns) {
  TIDEGATE_TRY(Configuration configuration, make(settings));
  if (runs_as_another(configuration)) {
    return std::nullopt;
  }
  TIDEGATE_TRY(const TraversalResults results, prove(configuration, most_ns));
  TIDEGATE_CHECK(traversal::compare(asked_.program, configuration.plan.graph(), expected_, results));
  configurations_.push_back(std::move(configuration));
  return std::optional(configurations_.size() - 1);
}

runtime::DispatchOutcome TraversalBench::dispatch(std::size_t configuration, std::uint64_t most_ns) {
  return run(configurations_[configuration], most_ns);
}

KnobValues TraversalBench::values_of(Knob knob, std::size_t configuration, double /*dispatch_ns*/) const {
  const auto& [settings, plan, kernel, groups, resident] = configurations_[configuration];
  const bool passed = device_.profile && device_.profile->ordering;
  return tuning::values_of(knob,
                           {.settings = settings,
                            .strategy = plan.strategy.strategy,
                            .workers = groups.workers,
                            .resident = groups.resident,
                            .switch_rule = plan.switch_rule,
                            .rule_is_given = program_.policy.switch_rule.has_value(),
                            .from_few = program_.algorithm != graphs::Algorithm::cc &&
                                        program_.algorithm != graphs::Algorithm::pagerank,
                            .alone_up_to = plan.geometry.alone_vertices,
                            .most_alone = plan.geometry.alone_room,
                            .constrained = plan.memory.constrained},
                           device_, passed);
}

} // namespace tidegate::tuning
