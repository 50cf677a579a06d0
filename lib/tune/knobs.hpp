// The knobs of wave programs and frontier programs, and the alternative settings of each.
#pragma once
#include "engine/compile.hpp"
#include "work/program.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::tuning {

enum class Knob : std::uint8_t {
  workgroup_size,
  strategy,
  route,
  side_by_side,
  work_items_per_unit,
  workers,
  mapping,
  alone_up_to,
  switch_rule
};
inline constexpr std::array<std::string_view, 9> knob_names{
    "workgroup_size", "strategy", "route",       "side_by_side", "work_items_per_unit",
    "workers",        "order",    "alone_up_to", "switch_rule"};

// In measuring order: the knobs with the largest effect come first.
inline constexpr std::array wave_program_knobs{
    Knob::workgroup_size, Knob::strategy, Knob::route,  Knob::work_items_per_unit,
    Knob::side_by_side,   Knob::workers,  Knob::mapping};
// Knobs of first runs, whose time is short: the cost model is most often wrong about these.
inline constexpr std::array first_run_knobs{Knob::strategy, Knob::work_items_per_unit};
inline constexpr std::array frontier_program_knobs{Knob::strategy, Knob::workers, Knob::alone_up_to,
                                                   Knob::switch_rule};

// Everything that a run takes from a profile and a policy. Configurations differ in these, so the settings that are
// written are the ones that were measured.
struct Settings {
  device::Tuning tuning;              // for wave programs
  device::TraversalProfile traversal; // for frontier programs
  policy::LaunchPolicy policy;
};

struct Alternative {
  std::string value; // as reports show it
  Settings settings;
};

// The incumbent's value of a knob ("-" if it has none), and settings with other values, which never have more work-groups
// than can run concurrently.
struct KnobValues {
  std::string value = "-";
  std::vector<Alternative> others;
};

// Returns the policy with thresholds adjusted so that a launch with this evidence takes the route.
policy::LaunchPolicy policy_for(policy::PromotionRoute route, const policy::PromotionEvidence& evidence,
                                policy::LaunchPolicy policy);

// State of the best configuration of a frontier program so far, from which the alternatives are derived.
struct TraversalIncumbent {
  Settings settings;
  engine::Strategy strategy = engine::Strategy::launch;
  std::uint32_t workers = 1;  // work-groups
  std::uint32_t resident = 0; // limit of concurrent work-groups of a persistent launch
  policy::SwitchRule switch_rule = policy::SwitchRule::edges;
  bool rule_is_given = false;    // set by the program; the profile does not change it
  bool from_few = true;          // frontiers start small, so that one group may process them alone
  std::uint32_t alone_up_to = 0; // largest frontier of one work-group alone, in vertices
  std::uint32_t most_alone = 0;  // upper limit of alone_up_to by local memory
  bool constrained = false;      // memory is short, so the topology never changes
};

KnobValues values_of(Knob knob, const TraversalIncumbent& incumbent, const device::DeviceInfo& device,
                     bool self_test_passed);

} // namespace tidegate::tuning
