// What candidates differ in: what a run takes from a profile and a policy and nothing else, so that what is
// measured is what is written. Plain data.
#pragma once

#include <tidegate/device/device_profile.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::tuning {

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

} // namespace tidegate::tuning
