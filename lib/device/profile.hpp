// What launching, waiting and touching memory cost on a device: what the cost model of a run
// (compiler/cost_model.hpp) rests on. The self-test measures them; the defaults are those of one H200
// (scripts/bench/RESULTS.md). Plain data.
#pragma once
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::device {

struct DeviceCosts {
  double persistent_start_ns = 11'200; // a persistent launch and the wait for its end
  double barrier_ns = 594;             // of all groups, however few they are,
  double barrier_group_ns = 2.56;      // and more for each of them
  double wait_ns = 850;                // for a group that has just come so far, and telling it on
  double tile_ns = 290;                // from the first read of a tile to its last write
  double next_tile_ns = 160;           // that another tile of the same group adds, where the two overlap
  double descriptor_ns = 450;          // that reading a tile's arguments adds in an interpreter
  double cached_bytes_per_ns = 10'000; // read and written, of what the caches hold
  double memory_bytes_per_ns = 3'950;
  double cache_bytes = 50e6;

  friend bool operator==(const DeviceCosts&, const DeviceCosts&) = default;
};

// What the time of a run consists of: nanoseconds, or how many times the estimate a part took.
struct CostParts {
  double start = 0;    // until the first wave begins, and from the end of the last until the host knows
  double launches = 0; // each of them
  double barriers = 0; // of all work-groups of a persistent launch
  double waits = 0;    // for few of them
  double work = 0;     // the tiles, as far as nothing above hides them

  [[nodiscard]] double sum() const { return start + launches + barriers + waits + work; }

  friend bool operator==(const CostParts&, const CostParts&) = default;
};

// Adds the parts of `more` so many times.
inline void add(CostParts& sum, const CostParts& more, double times) {
  sum.start += times * more.start;
  sum.launches += times * more.launches;
  sum.barriers += times * more.barriers;
  sum.waits += times * more.waits;
  sum.work += times * more.work;
}

// What the choices of a run rest on beside the self-test: constants of the estimates, and choices that were
// measured. `tidegate tune measure` replaces those that one program gains by. Plain data.

// In the order of engine::Strategy and engine::TileOrder, behind what leaves it to the estimates.
enum class PreferredStrategy : std::uint8_t { automatic, launch, barrier, counters, plain };
inline constexpr std::array<std::string_view, 5> preferred_strategy_names{"auto", "launch", "barrier",
                                                                          "counters", "plain"};
enum class PreferredOrder : std::uint8_t { automatic, strided, blocked, serpentine };
inline constexpr std::array<std::string_view, 4> preferred_order_names{"auto", "strided", "blocked",
                                                                       "serpentine"};

struct Tuning {
  // Choices; 0 leaves them to the estimates.
  PreferredStrategy strategy = PreferredStrategy::automatic;
  PreferredOrder order = PreferredOrder::automatic; // of the tiles of a persistent launch
  std::uint32_t side_by_side = 0;                   // tiles in a work-group of a persistent launch
  std::uint32_t workers = 0;                        // work-groups of a persistent launch
  // Work-items of a work-group, at most, where the program leaves local_size open.
  std::uint32_t open_workgroup_size = 256;
  std::uint64_t slice_ns = 150'000'000; // that a persistent launch should take at most

  std::uint64_t most_pinned_bytes = 67'108'864; // of host memory, for first contents and for outputs each

  // How the items of a queue are dealt out: tiles of queue_lanes work-items with one item each, or several
  // where there are many, whose loads are under way together; below, more work-groups are worth more.
  std::uint32_t queue_lanes = 256;
  std::uint32_t queue_items_per_lane = 4;
  std::uint64_t queue_many_items = 262'144; // from here on

  // Constants of the estimates.
  CostParts scales{1, 1, 1, 1, 1};             // how many times the estimate each part took
  double persistent_margin = 1.25;             // so many times starting and meeting count against launches
  std::uint32_t side_by_side_work_items = 512; // at most, of a work-group that runs tiles side by side

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

// What the self-test of a device (probe.hpp) finds out, and what `tidegate tune measure` adds. Plain data.

// How a work-group publishes and sees; the numbers are those of kernels/common/device_barrier.cl.
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
