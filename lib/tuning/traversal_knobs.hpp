// What can be turned of frontier programs: for each knob the settings that it may have beside the present
// ones.
#pragma once

#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/topology.hpp>
#include <tidegate/tuning/knob.hpp>
#include <tidegate/tuning/settings.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::tuning {

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
