// What the self-test of a device (probe.hpp) finds out, and what `tidegate tune measure` adds. Plain data.
#pragma once

#include <tidegate/device/device_costs.hpp>
#include <tidegate/device/tuning.hpp>
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::device {

// How a work-group publishes and sees; the numbers are those of kernels/device_barrier.cl.
enum class Ordering : std::uint8_t {
  ptx,     // release and acquire in PTX; NVIDIA's devices only
  c11,     // OpenCL C 2.0 atomics with device scope
  fence,   // OpenCL C 2.0 fences with device scope
  classic, // OpenCL C 1.2
};
inline constexpr std::array<std::string_view, 4> ordering_names{"ptx", "c11", "fence", "classic"};

enum class TrialVerdict : std::uint8_t {
  passed,
  wrong,     // work-groups read stale data
  hung,      // a wait ran out
  not_built, // the compiler refused it
  failed,    // the driver refused to run it
};
inline constexpr std::array<std::string_view, 5> trial_verdict_names{"passed", "wrong", "hung", "not_built",
                                                                     "failed"};

struct OrderingTrial {
  Ordering ordering = Ordering::ptx;
  TrialVerdict verdict = TrialVerdict::not_built;
  std::optional<double> barrier_ns; // of one barrier of all groups, when it passed
};

enum class TraversalStrategy : std::uint8_t { launch, barrier };
inline constexpr std::array<std::string_view, 2> traversal_strategy_names{"launch", "barrier"};

// How traversals run on this device, and where they change their ways. What is left out is as usual for its
// type of device.
struct TraversalProfile {
  std::optional<TraversalStrategy> strategy;
  std::optional<std::uint32_t> workers;     // work-groups
  std::optional<std::uint32_t> alone_up_to; // vertices of a frontier that one work-group works alone
  std::optional<policy::SwitchRule> switch_rule;

  friend bool operator==(const TraversalProfile&, const TraversalProfile&) = default;
};

struct DeviceProfile {
  std::string device;
  std::string driver_version;
  std::string tidegate; // version of the tool that measured
  std::uint32_t workgroup_size = 0;
  std::uint32_t co_resident_groups = 0; // of that size
  std::optional<Ordering> ordering;     // the one that passed with the fastest barrier
  std::vector<OrderingTrial> trials;    // in the order of the enumeration
  bool barrier_kernels_share = false;   // kernels with barriers are right as cases of one kernel
  double launch_ns = 0;                 // one of many launches in a row
  double launch_round_trip_ns = 0;      // a launch and the wait for it
  double claimed_items_per_second = 0;  // work-groups claim batches of 256 items
  DeviceCosts costs;
  std::optional<TraversalProfile> traversal;
  Tuning tuning;
  std::optional<std::string> tuned_for; // the program that the tuning was measured with
};

} // namespace tidegate::device
