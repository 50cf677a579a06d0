#include "tune/workbench.hpp"

namespace tidegate::tuning {
namespace {

using engine::CompiledProgram;
using engine::Strategy;
using policy::PromotionRoute;

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();

// Returns true if a kernel takes work-groups of any size.
bool has_open_group(const CompiledProgram& compiled, const engine::WaveProgram& program) {
  const std::vector<engine::ProgramWave>& waves = compiled.written.waves;
  return std::ranges::any_of(waves, [&](const engine::ProgramWave& wave) {
    const std::size_t place = wave.place.value_or(static_cast<std::size_t>(&wave - waves.data()));
    return wave.users_kernel && !program.waves[place].local_size &&
           !compiled.written.function(wave.op).required_local_size;
  });
}

// Returns the largest number of a stage of a persistent launch, at least 1.
std::uint32_t most_of_stages(const CompiledProgram& compiled, auto number) {
  std::uint32_t most = 1;
  for (const engine::Stage& stage : compiled.schedule.stages) {
    most = stage.plain ? most : std::max(most, static_cast<std::uint32_t>(number(stage)));
  }
  return most;
}

std::uint32_t tiles_side_by_side(const CompiledProgram& compiled) {
  return most_of_stages(compiled, [](const engine::Stage& stage) {
    const std::uint64_t packs = std::max<std::uint64_t>(stage.packs, 1);
    return (stage.tiles + packs - 1) / packs;
  });
}

std::vector<PromotionRoute> routes_of(const policy::PromotionEvidence& evidence) {
  std::vector<PromotionRoute> routes{PromotionRoute::interpreter, PromotionRoute::queue_jit};
  if (evidence.hot_opcode_count != 0) {
    routes.push_back(PromotionRoute::opcode_jit);
  }
  if (evidence.hot_window_count != 0) {
    routes.push_back(PromotionRoute::window_jit);
  }
  if (evidence.hot_opcode_count != 0 && evidence.hot_window_count != 0) {
    routes.push_back(PromotionRoute::opcode_and_window_jit);
  }
  return routes;
}

template <class E, std::size_t N>
std::string name_in(const std::array<std::string_view, N>& names, E value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

// Other values of a knob, each with the settings of the incumbent at first.
struct Others {
  const Settings& settings;
  std::vector<Alternative> options;

  Settings& add(std::string value) {
    return options.emplace_back(Alternative{.value = std::move(value), .settings = settings}).settings;
  }
  // Without the incumbent's value.
  KnobValues besides(std::string value) {
    std::erase_if(options, [&](const Alternative& option) { return option.value == value; });
    return {.value = std::move(value), .others = std::move(options)};
  }
};

// Returns `first`, 2 * `first`, 4 * `first`, … up to `last`.
std::vector<std::uint32_t> powers_up_to(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> values;
  for (std::uint64_t value = first; value <= last; value *= 2) {
    values.push_back(static_cast<std::uint32_t>(value));
  }
  return values;
}

// Returns nanoseconds; infinity for a strategy that was not estimated.
double lowest_estimate(const CompiledProgram& compiled, engine::Strategy strategy) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const engine::Candidate& candidate : compiled.strategy.candidates) {
    if (candidate.shape.strategy == strategy) {
      lowest = std::min(lowest, candidate.cost.sum());
    }
  }
  return lowest;
}

// The persistent launches among the alternatives. First runs have no time to measure the strategy again once a mode has
// won, so they try both modes.
struct PersistentChoices {
  bool barrier = false;
  bool counters = false;
  bool of_one_group = false;
  bool in_both_modes = false;
};

// The strategies, the lowest estimate first: a first run may have time to build only that one. Then a launch of one
// work-group; persistent launches with one tile in a work-group, as the number of concurrent tiles sets the registers of
// each and so whether such a launch pays off; and each in the other mode: registers, and what the compiler makes of
// arguments, decide which is fastest.
void add_strategies(Others& found, const CompiledProgram& compiled, const device::DeviceInfo& device,
                    PersistentChoices allowed) {
  using enum device::Strategy;
  const Settings& settings = found.settings;
  for (const auto strategy : {plain, launch, barrier, counters}) {
    if (strategy == barrier ? allowed.barrier : strategy != counters || allowed.counters) {
      found.add(name_in(engine::strategy_names, strategy)).tuning.strategy = strategy;
    }
  }
  std::ranges::stable_sort(found.options, {}, [&](const Alternative& option) {
    return lowest_estimate(compiled, *option.settings.tuning.strategy);
  });
  if (allowed.of_one_group) {
    device::Tuning& tuning = found.add("barrier, 1 work-group").tuning;
    tuning.strategy = barrier;
    tuning.workers = 1;
  }
  const std::vector<Alternative> strategies =
      settings.tuning.side_by_side == 0 ? found.options : std::vector<Alternative>();
  for (const Alternative& option : strategies) {
    if (is_persistent(*option.settings.tuning.strategy) && device.type != device::DeviceType::cpu) {
      Alternative& one = found.options.emplace_back(option);
      one.value += ", 1 tile in a work-group";
      one.settings.tuning.side_by_side = 1;
    }
  }
  const auto evidence = policy::promotion_evidence(compiled.program.policy, compiled.recommendation.effective,
                                                   compiled.recommendation.launch);
  const bool interprets = evidence.promotion_route == PromotionRoute::interpreter;
  for (const Alternative& option : strategies) {
    if (allowed.in_both_modes && option.settings.tuning.strategy != plain) {
      Alternative& other = found.options.emplace_back(option);
      other.value += interprets ? ", jit" : ", interpreter";
      other.settings.policy = policy_for(interprets ? PromotionRoute::queue_jit : PromotionRoute::interpreter,
                                         evidence, settings.policy);
    }
  }
}

} // namespace

// A launch of one work-group saves no more than what launches and waits cost beyond the first, and leaves all cores
// but one idle.
bool Workbench::one_group_may_pay(double dispatch_ns) const {
  constexpr double wrong_by = 2; // the model, about launches
  const engine::CompiledProgram& plain = configurations_.front()->compiled;
  const device::CostParts cost =
      engine::estimate(plain.load, {.strategy = plain.strategy.strategy}, plain.model);
  std::uint32_t cores = 1;
  for (const engine::StageLoad& stage : plain.load.stages) {
    cores = std::max(cores, std::min(stage.packs, plain.model.compute_units));
  }
  const double saved =
      cost.start + cost.launches - std::max(plain.model.round_trip_ns, plain.model.launch_ns);
  const bool one = !options_.compile.workers || *options_.compile.workers == 1;
  return one && saved > 1 && wrong_by * saved >= (1 - 1.0 / cores) * dispatch_ns;
}

std::vector<Alternative> Workbench::candidates(double plain_ns) const {
  std::vector<Alternative> found;
  for (const Knob knob : first_run_knobs) {
    std::ranges::move(values_of(knob, 0, plain_ns).others, std::back_inserter(found));
  }
  return found;
}

KnobValues Workbench::values_of(Knob knob, std::size_t configuration, double dispatch_ns) const {
  const bool passed = device_.profile && device_.profile->ordering;
  // On a CPU a wait for a certain work-group takes ten times as long as a launch whenever its core is taken, which
  // happens on idle machines, too, and a first run does not foresee it. Barriers lose less there, because groups claim
  // tiles.
  const CompiledProgram& plain = configurations_.front()->compiled;
  const bool may_wait = !is_first_run() || !plain.model.cpu;
  const PersistentChoices allowed{.barrier =
                                      passed && (may_wait || engine::may_claim(plain.program, &device_)),
                                  .counters = passed && may_wait,
                                  .of_one_group = passed && !may_wait && one_group_may_pay(dispatch_ns),
                                  .in_both_modes = is_first_run()};
  const Configuration& incumbent = *configurations_[configuration];
  const Settings& settings = incumbent.settings;
  const CompiledProgram& compiled = incumbent.compiled;
  const auto number = [](std::uint64_t value) { return fmt::format("{}", value); };
  const bool has_workers = incumbent.residency.resident != 0; // of a persistent launch
  const auto of_persistent = [&](std::string value) { return has_workers ? std::move(value) : "-"; };
  const bool persistent = allowed.counters && compiled.persistent() && has_workers;
  const auto evidence = policy::promotion_evidence(compiled.program.policy, compiled.recommendation.effective,
                                                   compiled.recommendation.launch);
  Others found{.settings = settings, .options = {}};
  switch (knob) {
  case Knob::workgroup_size:
    if (has_open_group(compiled, lowering_.program())) {
      const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(device_.max_workgroup_size, 1024));
      for (const std::uint32_t size : powers_up_to(32, most)) {
        found.add(number(size)).tuning.open_workgroup_size = size;
      }
    }
    return found.besides(number(compiled.tuning.open_workgroup_size));
  case Knob::strategy:
    add_strategies(found, compiled, device_, allowed);
    return found.besides(name_in(engine::strategy_names, compiled.strategy.strategy));
  case Knob::route:
    for (const PromotionRoute route : routes_of(evidence)) {
      found.add(name_in(policy::promotion_route_names, route)).policy =
          policy_for(route, evidence, settings.policy);
    }
    return found.besides(name_in(policy::promotion_route_names, evidence.promotion_route));
  case Knob::work_items_per_unit: {
    // A persistent launch may have lost to launches, and jit to the interpreter, for want of registers or of work-items
    // that hide latency.
    const bool interprets = evidence.promotion_route == PromotionRoute::interpreter;
    const Strategy favourite = compiled.persistent() ? compiled.strategy.strategy
                               : !allowed.counters || lowest_estimate(compiled, Strategy::barrier) <
                                                          lowest_estimate(compiled, Strategy::counters)
                                   ? Strategy::barrier
                                   : Strategy::counters;
    if (allowed.barrier && device::takes_ptx(device_)) {
      for (const std::uint32_t work_items : {1024U, 2048U}) {
        Settings& tried = found.add(fmt::format(
            "{}{}{}", compiled.persistent() ? "" : name_in(engine::strategy_names, favourite) + ", ",
            work_items, interprets ? ", jit" : ""));
        tried.tuning.strategy = favourite;
        tried.tuning.work_items_per_unit = work_items;
        tried.policy =
            interprets ? policy_for(PromotionRoute::queue_jit, evidence, settings.policy) : settings.policy;
      }
    }
    return found.besides(of_persistent(number(compiled.tuning.work_items_per_unit)));
  }
  case Knob::side_by_side:
    for (const std::uint32_t tiles : persistent ? powers_up_to(1, 8) : std::vector<std::uint32_t>()) {
      found.add(number(tiles)).tuning.side_by_side = tiles;
    }
    return found.besides(of_persistent(number(tiles_side_by_side(compiled))));
  case Knob::workers:
    if (persistent) {
      const std::uint32_t most =
          std::min(incumbent.residency.resident, most_of_stages(compiled, [](const engine::Stage& stage) {
                     return stage.packs;
                   })); // more would be idle
      const std::uint32_t units = std::clamp(device_.compute_units, 1U, most);
      for (const std::uint32_t workers : powers_up_to(std::max(units / 2, 1U), most)) {
        found.add(number(workers)).tuning.workers = workers;
      }
    }
    return found.besides(of_persistent(number(incumbent.residency.workers)));
  case Knob::mapping:
    if (persistent) {
      using enum device::TileMapping;
      for (const auto order : {strided, blocked, serpentine}) {
        found.add(name_in(device::tile_mapping_names, order)).tuning.mapping = order;
      }
    }
    return found.besides(
        of_persistent(name_in(device::tile_mapping_names, compiled.synchronization.mapping)));
  default: return {}; // knobs of frontier programs
  }
}

policy::LaunchPolicy policy_for(PromotionRoute route, const policy::PromotionEvidence& evidence,
                                policy::LaunchPolicy policy) {
  const auto move = [](std::uint32_t& threshold, std::uint32_t count, bool reached) {
    threshold = reached ? std::min(threshold, std::max(count, 1U))
                        : std::max(threshold, count == u32_max ? u32_max : count + 1);
  };
  const bool both = route == PromotionRoute::opcode_and_window_jit;
  move(policy.hot_opcode_threshold, evidence.hot_opcode_count, both || route == PromotionRoute::opcode_jit);
  move(policy.hot_window_threshold, evidence.hot_window_count, both || route == PromotionRoute::window_jit);
  if (route == PromotionRoute::queue_jit || route == PromotionRoute::interpreter) {
    move(policy.jit_queue_len_threshold, evidence.queue_len, route == PromotionRoute::queue_jit);
  }
  return policy;
}

KnobValues values_of(Knob knob, const TraversalIncumbent& incumbent, const device::DeviceInfo& device,
                     bool self_test_passed) {
  const Settings& settings = incumbent.settings;
  const bool changes_topologies = !incumbent.constrained;
  const std::uint32_t units = std::max(device.compute_units, 1U);
  const auto alone_text = [](std::uint32_t vertices) {
    return vertices == 0 ? "none" : fmt::format("{}", vertices);
  };
  Others found{.settings = settings, .options = {}};
  switch (knob) {
  case Knob::strategy:
    found.add("launch").traversal.strategy = engine::Strategy::launch;
    if (self_test_passed) {
      found.add("barrier").traversal.strategy = engine::Strategy::barrier;
    }
    return found.besides(name_in(engine::strategy_names, incumbent.strategy));
  case Knob::workers: {
    const bool persistent = incumbent.strategy == engine::Strategy::barrier;
    for (const std::uint32_t workers :
         powers_up_to(std::max(units / 4, 1U), persistent ? incumbent.resident : 32 * units)) {
      found.add(fmt::format("{}", workers)).traversal.workers = workers;
    }
    return found.besides(fmt::format("{}", incumbent.workers));
  }
  case Knob::alone_up_to:
    if (incumbent.from_few && changes_topologies) {
      found.add(alone_text(0)).traversal.alone_up_to = 0;
      for (const std::uint32_t vertices :
           powers_up_to(std::max(incumbent.most_alone / 16, 1U), incumbent.most_alone)) {
        found.add(alone_text(vertices)).traversal.alone_up_to = vertices;
      }
    }
    return found.besides(incumbent.from_few ? alone_text(incumbent.alone_up_to) : "-");
  case Knob::switch_rule:
    if (!incumbent.rule_is_given && changes_topologies) {
      for (const auto rule : {policy::SwitchRule::density, policy::SwitchRule::edges}) {
        found.add(name_in(policy::switch_rule_names, rule)).traversal.switch_rule = rule;
      }
    }
    return found.besides(name_in(policy::switch_rule_names, incumbent.switch_rule));
  default: return {}; // knobs of wave programs
  }
}

} // namespace tidegate::tuning
