// What can be turned of wave programs: for each knob the settings that it may have beside the present ones.
#pragma once
#include "engine/compile.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::tuning {

// The names of what can be turned; knobs.hpp and traversal_knobs.hpp have what each may be turned to.

enum class Knob : std::uint8_t {
  workgroup_size,
  strategy,
  route,
  side_by_side,
  workers,
  order,
  slice,
  alone_up_to,
  switch_rule,
  sparse_threshold,
  dense_threshold,
  fusion
};
inline constexpr std::array<std::string_view, 12> knob_names{
    "workgroup_size", "strategy",    "route",       "side_by_side",     "workers",         "order",
    "slice",          "alone_up_to", "switch_rule", "sparse_threshold", "dense_threshold", "fusion"};

// In the order in which they are turned: what changes most comes first.
inline constexpr std::array wave_program_knobs{Knob::workgroup_size, Knob::strategy, Knob::route,
                                               Knob::side_by_side,   Knob::workers,  Knob::order,
                                               Knob::slice};
// Of a first run, whose budget is short. `Knob::strategy` alone has what the cost model is most often wrong
// about; it comes first.
inline constexpr std::array first_run_knobs{Knob::strategy, Knob::side_by_side, Knob::workers, Knob::route,
                                            Knob::order};
inline constexpr std::array frontier_program_knobs{
    Knob::strategy,         Knob::workers,         Knob::alone_up_to, Knob::switch_rule,
    Knob::sparse_threshold, Knob::dense_threshold, Knob::fusion};

// What candidates differ in: what a run takes from a profile and a policy and nothing else, so that what is
// measured is what is written. Plain data.

struct Settings {
  device::Tuning tuning;              // of wave programs
  device::TraversalProfile traversal; // of frontier programs
  policy::LaunchPolicy policy;

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Option {
  std::string value; // for people
  Settings settings;
};

// `first`, twice as much, and so on.
std::vector<std::uint32_t> powers_up_to(std::uint32_t first, std::uint32_t last);

// What the incumbent did: the candidates follow from it.
struct Incumbent {
  const engine::CompiledProgram& compiled;
  std::uint32_t workers = 0;  // of a persistent launch; 0 without one
  std::uint32_t resident = 0; // that there could be
  double dispatch_ns = 0;
};

// The value that the incumbent has, and those that it might have instead. Nothing persistent is among them
// where the device has not passed its self-test, and no more work-groups than are resident together.
std::string value_of(Knob knob, const Incumbent& incumbent);
std::vector<Option> options_of(Knob knob, const Settings& settings, const Incumbent& incumbent,
                               const engine::WaveProgram& program, const device::DeviceInfo& device,
                               bool self_test_passed);

// The policy with thresholds by which the launch with this evidence takes the route; others stay.
policy::LaunchPolicy policy_for(policy::PromotionRoute route, const policy::PromotionEvidence& evidence,
                                policy::LaunchPolicy policy);

// A number of work-groups between those that were measured: the minimum of the parabola through three costs
// at `workers` / 2, `workers` and 2 `workers`, by a natural-gradient step in the binary logarithm (`tidegate
// tune step`) whose preconditioner is the inverse of the curvature. Nothing where the costs have no minimum
// between them.
std::optional<std::uint32_t> refined_workers(std::uint32_t workers, double half_cost, double cost,
                                             double double_cost);

// What can be turned of frontier programs: for each knob the settings that it may have beside the present
// ones.

// How the incumbent runs: the candidates follow from it.
struct TraversalIncumbent {
  Settings settings;
  device::TraversalStrategy strategy = device::TraversalStrategy::launch;
  std::uint32_t workers = 1;  // work-groups
  std::uint32_t resident = 0; // that there could be, of a persistent launch
  policy::SwitchRule switch_rule = policy::SwitchRule::edges;
  bool rule_is_given = false;    // by the program: no profile changes it
  bool from_few = true;          // frontiers begin small: one group may work them alone
  bool monotone = true;          // waves may be fused
  std::uint32_t alone_up_to = 0; // vertices of a frontier
  std::uint32_t most_alone = 0;  // that there is local memory for
  std::uint64_t edges = 0;       // of the graph
  bool constrained = false;      // memory is short: nothing changes topologies
};

// The value that the incumbent has, and those that it might have instead. Nothing persistent is among them
// where the device has not passed its self-test, and no more work-groups than are resident together.
std::string value_of(Knob knob, const TraversalIncumbent& incumbent);
std::vector<Option> options_of(Knob knob, const TraversalIncumbent& incumbent,
                               const device::DeviceInfo& device, bool self_test_passed);

} // namespace tidegate::tuning
