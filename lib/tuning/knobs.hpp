// What can be turned of wave programs: for each knob the settings that it may have beside the present ones.
#pragma once

#include <tidegate/compiler/compile.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/tuning/knob.hpp>
#include <tidegate/tuning/settings.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::tuning {

// What the incumbent did: the candidates follow from it.
struct Incumbent {
  const compiler::CompiledProgram& compiled;
  std::uint32_t workers = 0;  // of a persistent launch; 0 without one
  std::uint32_t resident = 0; // that there could be
  double dispatch_ns = 0;
};

// The value that the incumbent has, and those that it might have instead. Nothing persistent is among them
// where the device has not passed its self-test, and no more work-groups than are resident together.
std::string value_of(Knob knob, const Incumbent& incumbent);
std::vector<Option> options_of(Knob knob, const Settings& settings, const Incumbent& incumbent,
                               const compiler::WaveProgram& program, const device::DeviceInfo& device,
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

} // namespace tidegate::tuning
