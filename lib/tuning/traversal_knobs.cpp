#include <tidegate/tuning/traversal_knobs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tidegate::tuning {
namespace {

using device::TraversalStrategy;
using policy::LaunchPolicy;
using policy::SwitchRule;

constexpr std::uint32_t no_fusion = std::numeric_limits<std::uint32_t>::max(); // dense waves in a row

std::string alone_text(std::uint32_t vertices) {
  return vertices == 0 ? "none" : fmt::format("{}", vertices);
}

bool fuses(const TraversalIncumbent& incumbent) {
  const LaunchPolicy& policy = incumbent.settings.policy;
  return incumbent.edges >= policy.fusion_edge_threshold && policy.hot_window_threshold != no_fusion;
}

std::string fusion_text(std::uint32_t waves) {
  return waves == no_fusion ? "never" : fmt::format("{} dense", waves);
}

std::string density_text(std::uint16_t bps) {
  return fmt::format("{:g} %", bps / 100.0);
}

// Parts and multiples of a density, as far as it is one.
std::vector<std::uint16_t> densities_around(std::uint16_t bps) {
  std::vector<std::uint16_t> densities;
  for (const std::uint32_t quarters : {1U, 2U, 8U, 16U}) {
    const std::uint32_t density = std::min<std::uint32_t>(bps * quarters / 4, policy::full_scale_bps);
    densities.push_back(static_cast<std::uint16_t>(density));
  }
  return densities;
}

} // namespace

std::string value_of(Knob knob, const TraversalIncumbent& incumbent) {
  const LaunchPolicy& policy = incumbent.settings.policy;
  switch (knob) {
  case Knob::strategy:
    return std::string(device::traversal_strategy_names[static_cast<std::size_t>(incumbent.strategy)]);
  case Knob::workers: return fmt::format("{}", incumbent.workers);
  case Knob::alone_up_to: return incumbent.from_few ? alone_text(incumbent.alone_up_to) : "-";
  case Knob::switch_rule:
    return std::string(policy::switch_rule_names[static_cast<std::size_t>(incumbent.switch_rule)]);
  case Knob::sparse_threshold: return density_text(policy.sparse_frontier_threshold_bps);
  case Knob::dense_threshold: return density_text(policy.dense_frontier_threshold_bps);
  case Knob::fusion:
    return !incumbent.monotone ? "-"
                               : fusion_text(fuses(incumbent) ? policy.hot_window_threshold : no_fusion);
  default: return "-"; // of wave programs
  }
}

std::vector<Option> options_of(Knob knob, const TraversalIncumbent& incumbent,
                               const device::DeviceInfo& device, bool self_test_passed) {
  const Settings& settings = incumbent.settings;
  const bool by_density = incumbent.switch_rule == SwitchRule::density;
  const bool changes_topologies = !incumbent.constrained;
  const std::uint32_t units = std::max(device.compute_units, 1U);
  std::vector<Option> options;
  const auto add = [&](std::string value) -> Settings& {
    return options.emplace_back(Option{.value = std::move(value), .settings = settings}).settings;
  };
  switch (knob) {
  case Knob::strategy:
    add("launch").traversal.strategy = TraversalStrategy::launch;
    if (self_test_passed) {
      add("barrier").traversal.strategy = TraversalStrategy::barrier;
    }
    break;
  case Knob::workers: {
    const bool persistent = incumbent.strategy == TraversalStrategy::barrier;
    for (const std::uint32_t workers :
         powers_up_to(std::max(units / 4, 1U), persistent ? incumbent.resident : 32 * units)) {
      add(fmt::format("{}", workers)).traversal.workers = workers;
    }
    break;
  }
  case Knob::alone_up_to:
    if (incumbent.from_few && changes_topologies) {
      add(alone_text(0)).traversal.alone_up_to = 0;
      for (const std::uint32_t vertices :
           powers_up_to(std::max(incumbent.most_alone / 16, 1U), incumbent.most_alone)) {
        add(alone_text(vertices)).traversal.alone_up_to = vertices;
      }
    }
    break;
  case Knob::switch_rule:
    if (!incumbent.rule_is_given && changes_topologies) {
      for (const SwitchRule rule : {SwitchRule::density, SwitchRule::edges}) {
        add(std::string(policy::switch_rule_names[static_cast<std::size_t>(rule)])).traversal.switch_rule =
            rule;
      }
    }
    break;
  case Knob::sparse_threshold:
    if (by_density && changes_topologies) {
      for (const std::uint16_t bps : densities_around(settings.policy.sparse_frontier_threshold_bps)) {
        add(density_text(bps)).policy.sparse_frontier_threshold_bps = bps;
      }
    }
    break;
  case Knob::dense_threshold:
    if (by_density && changes_topologies) {
      for (const std::uint16_t bps : densities_around(settings.policy.dense_frontier_threshold_bps)) {
        add(density_text(bps)).policy.dense_frontier_threshold_bps = bps;
      }
    }
    break;
  case Knob::fusion:
    if (incumbent.monotone && changes_topologies) {
      const auto edges = static_cast<std::uint32_t>(std::min<std::uint64_t>(incumbent.edges, no_fusion));
      for (const std::uint32_t waves : {no_fusion, 1U, 2U, 4U}) {
        LaunchPolicy& policy = add(fusion_text(waves)).policy;
        policy.hot_window_threshold = waves;
        policy.fusion_edge_threshold = std::min(policy.fusion_edge_threshold, edges);
      }
    }
    break;
  default: break; // of wave programs
  }
  std::erase_if(options, [&](const Option& option) { return option.value == value_of(knob, incumbent); });
  return options;
}

} // namespace tidegate::tuning
