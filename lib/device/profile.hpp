// Measured costs and capabilities of a device, and the settings that `tidegate tune measure` adds. Plain
// data.
#pragma once
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::device {

// Costs of launches, waits and memory accesses, the inputs of the cost model (engine/strategy.hpp). The
// self-test measures them; the defaults are those of an H200 (scripts/bench/RESULTS.md).
struct DeviceCosts {
  double persistent_start_ns = 11'200; // a persistent launch and the wait for its end
  double barrier_ns = 594;             // fixed part of a barrier of all groups
  double barrier_group_ns = 2.56;      // additional barrier time per group
  double wait_ns = 850;       // a wait for a neighbour that arrives at the same time, with its signal
  double tile_ns = 290;       // from a tile's first read to its last write
  double next_tile_ns = 160;  // additional time per further tile of the same group, partly overlapped
  double descriptor_ns = 450; // additional time to read a tile's arguments in an interpreter
  double cached_bytes_per_ns = 10'000; // reads and writes of cached data
  double memory_bytes_per_ns = 3'950;
  double cache_bytes = 50e6;
};

// Parts of a run's time in nanoseconds.
struct CostParts {
  double start = 0;    // until the first wave starts, and from the last wave's end until the host detects it
  double launches = 0; // all kernel launches
  double barriers = 0; // of all work-groups of a persistent launch
  double waits = 0;    // waits of work-groups for a few others
  double work = 0;     // tiles, as far as launches do not hide them

  [[nodiscard]] double sum() const { return start + launches + barriers + waits + work; }
};

// Adds `times` times the parts of `more`.
inline void add(CostParts& sum, const CostParts& more, double times) {
  sum.start += times * more.start;
  sum.launches += times * more.launches;
  sum.barriers += times * more.barriers;
  sum.waits += times * more.waits;
  sum.work += times * more.work;
}

// How a program is launched; graph programs have the first two.
enum class Strategy : std::uint8_t {
  launch,   // one launch for each stage
  barrier,  // persistent: device-wide barriers between the stages
  counters, // persistent: a work-group waits for the groups whose tiles it depends on
  plain,    // one launch of the user's kernel for each wave; nothing is generated
};
inline constexpr std::array<std::string_view, 4> strategy_names{"launch", "barrier", "counters", "plain"};

constexpr bool is_persistent(Strategy strategy) {
  return strategy == Strategy::barrier || strategy == Strategy::counters;
}

// Tile mapping: which work-group runs which tiles of a stage. The values match kernels/wave/tasks.cl.
enum class TileMapping : std::uint8_t {
  strided,    // tile t belongs to group t modulo the groups
  blocked,    // consecutive tiles for each group
  serpentine, // blocked, with every other stage in reverse
};
inline constexpr std::array<std::string_view, 3> tile_mapping_names{"strided", "blocked", "serpentine"};

// Settings of a run's choices: constants of the estimates, and choices that `tidegate tune measure` keeps if
// a program gains from them.
struct Tuning {
  // Choices; empty or 0 leaves them to the estimates.
  std::optional<Strategy> strategy;
  std::optional<TileMapping> mapping; // of a persistent launch
  std::uint32_t side_by_side = 0;     // tiles that a work-group runs concurrently in a persistent launch
  std::uint32_t workers = 0;          // work-groups of a persistent launch
  // Work-items for which a compute unit of NVIDIA has to have registers in a persistent launch.
  std::uint32_t work_items_per_unit = 0;
  // Most work-items per work-group where the program leaves local_size open.
  std::uint32_t open_workgroup_size = 256;
  std::uint64_t slice_ns = 150'000'000; // longest time that one persistent launch should take
  // Time of an iteration by plain launches, as a first run measured it on a CPU: persistent launches that take
  // far longer are ended. 0: unknown, and none is ended.
  std::uint64_t plain_iteration_ns = 0;
  // Share of active tiles for which a first run chose; 0: unknown, or no wave has any.
  std::uint32_t active_tiles_bps = 0;

  std::uint64_t most_pinned_bytes = 67'108'864; // of host memory, for inputs and outputs each

  // Tiles of a queue have queue_lanes work-items with one item each. In a long queue each work-item has
  // several items, whose loads overlap; in a short queue more work-groups are better.
  std::uint32_t queue_lanes = 256;
  std::uint32_t queue_items_per_lane = 4;
  std::uint64_t queue_many_items = 262'144; // length from which a queue is long

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

// Ways in which a work-group publishes and observes memory; the values match kernels/common/device_barrier.cl.
enum class MemoryOrdering : std::uint8_t {
  ptx,     // release and acquire in PTX; NVIDIA's devices only
  c11,     // OpenCL C 2.0 atomics with device scope
  fence,   // OpenCL C 2.0 fences with device scope
  classic, // OpenCL C 1.2
};
inline constexpr std::array<std::string_view, 4> ordering_names{"ptx", "c11", "fence", "classic"};

enum class TrialVerdict : std::uint8_t {
  passed,
  wrong,     // work-groups read stale data
  hung,      // a wait timed out
  not_built, // the compiler rejected it
  failed,    // the driver refused to run it
};
inline constexpr std::array<std::string_view, 5> trial_verdict_names{"passed", "wrong", "hung", "not_built",
                                                                     "failed"};

struct OrderingTrial {
  MemoryOrdering ordering = MemoryOrdering::ptx;
  TrialVerdict verdict = TrialVerdict::not_built;
  std::optional<double> barrier_ns; // one barrier of all groups, if it passed
};

// Settings of traversals on this device; unset fields use the defaults of the device type.
struct TraversalProfile {
  std::optional<Strategy> strategy;
  std::optional<std::uint32_t> workers;     // work-groups
  std::optional<std::uint32_t> alone_up_to; // largest frontier of one work-group alone, in vertices
  std::optional<policy::SwitchRule> switch_rule;

  friend bool operator==(const TraversalProfile&, const TraversalProfile&) = default;
};

struct DeviceProfile {
  std::string device;
  std::string driver_version;
  std::string tidegate; // version of the tool that measured
  std::uint32_t workgroup_size = 0;
  std::uint32_t co_resident_groups = 0;   // of workgroup_size
  std::optional<MemoryOrdering> ordering; // the first that passed and none is clearly faster than
  std::vector<OrderingTrial> trials;      // in the order of MemoryOrdering
  bool barrier_kernels_share = false; // kernels with barriers compute correct results as cases of one kernel
  double launch_ns = 0;               // one launch in a long series
  double launch_round_trip_ns = 0;    // a launch and the wait for it
  DeviceCosts costs;
  std::optional<TraversalProfile> traversal;
  Tuning tuning;
  std::optional<std::string> tuned_for; // the program that the tuning was measured with
};

} // namespace tidegate::device
