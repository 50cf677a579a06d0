// Chooses the launch strategy of a program: estimates every candidate and takes the cheapest.
//
// Estimates the time of a schedule on a device for a strategy and a number of work-groups, as the sum of
//
//   start     a launch and the wait for it
//   launches  each further launch, if the work is not longer
//   barriers  of all work-groups; grows with their number
//   waits     for neighbours: independent of the number of groups; for whole waves: grows with it
//   work      a tile from its first read to its last write, once per turn of a stage, or the time to move
//             the stage's bytes
//
// The model does not know what a kernel computes: it takes the time of the self-test's tile, which reads and
// writes one element, for each two elements that the kernel reads or writes (opencl_c::Facts counts
// them). The model needs no device.
#pragma once
#include "engine/launch_tables.hpp"
#include "engine/recommend.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/documents.hpp>

namespace tidegate::engine {

struct StageLoad {
  enum class Waits : std::uint8_t { none, few, all };

  bool plain = false; // launched separately
  Waits waits = Waits::all;
  std::uint32_t awaited_packs = 0; // packs of stages that a tile waits for completely
  std::uint32_t packs = 0;
  std::uint64_t work_items = 0;
  std::uint64_t bytes = 0; // reads and writes
  bool meets = false;      // tiles have barriers, so tiles of a group do not overlap
  bool loops = false;
  double accesses = 0;     // dependent memory accesses of a work-item
  double queue_rounds = 0; // of a requeueing queue; each turn has two barriers or a check by the host
};

// Work of a run; stages [repeat_begin, repeat_end) run in each iteration.
struct ProgramLoad {
  std::vector<StageLoad> stages;
  std::size_t repeat_begin = 0;
  std::size_t repeat_end = 0;
  double iterations = 1;             // after a run: the number that ran
  bool until = false;                // a condition is tested after each iteration
  bool interpreted = false;          // arguments are read from descriptors
  std::uint32_t group_size = 1;      // of a persistent launch
  std::uint64_t footprint_bytes = 0; // of all buffers in use
};

ProgramLoad load_of(const Job& program, const OutlinedOps& ops, const Schedule& schedule,
                    const Synchronization& synchronization, bool interpreted);

struct DeviceModel {
  bool measured = false;             // by the self-test
  bool cpu = false;                  // other programs may take a core temporarily
  std::uint32_t compute_units = 132; // defaults without a device or self-test: an H200
  std::uint64_t resident_work_items = 132 * 2048;
  double launch_ns = 4'500;
  double round_trip_ns = 10'900;
  device::DeviceCosts costs;
};

// `device` may be null or lack a profile.
DeviceModel model_of(const device::DeviceInfo* device);

struct LaunchShape {
  Strategy strategy = Strategy::launch;
  std::optional<TileMapping> mapping = {}; // of a persistent launch, as the number of work-groups
  std::uint32_t workers = 0;
};

device::CostParts estimate(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model);

// Returns the number of work-groups with the least estimate, at most `resident`; the smallest of equals. On a
// CPU it is `resident`, a group per core. `wanted` overrides the choice within the limit.
std::uint32_t best_workers(const ProgramLoad& load, Strategy strategy, TileMapping mapping,
                           const DeviceModel& model, std::uint32_t resident,
                           std::optional<std::uint32_t> wanted = {});

// Chooses the tile mapping. Reverse order in every other stage pays if the caches do not hold all data;
// consecutive tiles in a group keep waits few. Otherwise tiles are dealt out one by one, which balances tiles
// of unequal cost.
TileMapping best_mapping(const ProgramLoad& load, Strategy strategy, const DeviceModel& model);

// Returns the turns of the first slice of a persistent launch. The model may be far off, and it knows
// nothing about loops in kernels: then, and on CPUs, the slice is short enough for turns of half a
// millisecond.
std::uint64_t first_slice_turns(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model,
                                std::uint64_t slice_ns);

// A launch plan with its estimated cost.
struct Candidate {
  LaunchShape shape;
  std::size_t schedule = 0;       // index of its schedule
  std::uint32_t side_by_side = 1; // concurrent tiles in a work-group of a persistent launch
  device::CostParts cost;         // nanoseconds
  double estimated_ns = 0;        // of all its parts; in reports of a run, for the iterations that ran
  bool taken = false;
  std::optional<std::string> refused; // why it may not be chosen
  Synchronization waits;
  ProgramLoad load;
};

struct CompileOptions {
  std::optional<Strategy> strategy;                         // empty: chosen by the device's profile
  std::optional<Mode> mode;                                 // empty: the policy's
  std::optional<planning::MemoryPlan> plan;                 // empty: planned as `layered`
  documents::Planner planner = documents::Planner::layered; // that made the plan
  std::optional<std::uint32_t> workers;      // work-groups of a persistent launch; empty: by the tiles
  std::optional<std::uint32_t> side_by_side; // tiles in a work-group of a persistent launch; empty: chosen
  std::optional<Promotion> promote;          // empty: the policy's
  std::optional<TileMapping> mapping;        // of the tiles; empty: chosen
  device::Tuning tuning;                     // decides the choices that are left open
  std::string why = "measured as the fastest, by the profile"; // why the tuning has a strategy, for people
  bool fp_contract_off = false; // a * b + c is rounded twice, here and in plain launches
  bool stress = false;          // tiles in another order: the last of the tables' words is the seed
  bool trace = false;           // work-groups report when they wait and work, by the device's clock
  bool claims = true;           // work-groups claim tiles, where the device and the program allow it
  bool memory_apart = false;    // no arena: nothing limits what all buffers take together
  bool dry_run = false;         // ends before a device is touched; it may be unknown

  [[nodiscard]] std::optional<Strategy> wanted() const { return strategy ? strategy : tuning.strategy; }
};

// Returns the numbers of tiles that a work-group of a persistent launch might run concurrently, the largest
// first: as many as fill the tuning's number of work-items while each compute unit has a group, and 1. Only 1
// in an interpreter, whose loop over tiles costs more than it hides.
std::vector<std::uint32_t> packings(const Job& program, std::uint32_t compute_units,
                                    const CompileOptions& options);

// The possible schedules: launches, plain launches, and persistent ones with different numbers of concurrent
// tiles.
struct Schedules {
  enum Place : std::uint8_t { launch, plain, first_persistent };
  std::vector<Schedule> all;
};

// Returns each strategy with each of its possible schedules.
std::vector<Candidate> find_candidates(const Job& program, const OutlinedOps& ops, const Schedules& schedules,
                                       const MemoryLayout& memory, const CompileOptions& options,
                                       const DeviceModel& model);

struct StrategyChoice {
  Strategy strategy = Strategy::launch;
  std::string reason; // for people
  std::vector<Candidate> candidates;
};

// Chooses a persistent strategy only if the self-test of the device (null: none in particular) proved an ordering, even if a profile prefers one.
// Otherwise the profile's preference or the least estimate decides; of equal candidates the first, launches
// before others.
StrategyChoice choose_strategy(const CompileOptions& options, const device::DeviceInfo* device,
                               std::vector<Candidate> candidates);

} // namespace tidegate::engine
