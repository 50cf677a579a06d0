// Chooses the launch strategy of a program: estimates every candidate (cost_model.hpp) and takes the
// cheapest.
#pragma once
#include "engine/cost_model.hpp"
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::engine {

// A launch plan with its estimated cost.
struct Candidate {
  LaunchShape shape;
  std::size_t schedule = 0;       // index of its schedule
  std::uint32_t side_by_side = 1; // concurrent tiles in a work-group of a persistent launch
  std::uint32_t group_size = 0;   // work-items of the work-group
  std::size_t plain_stages = 0;   // stages between persistent launches
  device::CostParts cost;         // nanoseconds
  device::CostParts of_iteration; // nanoseconds of each iteration
  std::string refused;            // why it may not be chosen; or empty
  Synchronization waits;
  ProgramLoad load;
};

// Choices fixed by the command line or a profile.
struct FixedShape {
  std::optional<Strategy> strategy;
  bool interpreted = false; // arguments are read from descriptors
  std::optional<std::uint32_t> side_by_side;
  std::optional<TileMapping> mapping;
  std::optional<std::uint32_t> workers;
};

// Returns the numbers of tiles that a work-group of a persistent launch might run concurrently, the largest
// first: as many as fill the tuning's number of work-items while each compute unit has a group, and 1. Only 1
// in an interpreter, whose loop over tiles costs more than it hides.
std::vector<std::uint32_t> packings(const Job& program, std::uint32_t compute_units,
                                    const device::Tuning& tuning, const FixedShape& fixed);

// The possible schedules: launches, plain launches, and persistent ones with different numbers of concurrent
// tiles.
struct Schedules {
  enum Place : std::uint8_t { launch, plain, first_persistent };
  std::vector<Schedule> all;
};

// Returns each strategy with each of its possible schedules.
std::vector<Candidate> find_candidates(const Job& program, const OutlinedOps& ops, const Schedules& schedules,
                                       const MemoryLayout& memory, const FixedShape& fixed,
                                       const DeviceModel& model);

// Inputs of the choice.
struct StrategyQuestion {
  std::optional<Strategy> asked_for;
  const device::DeviceInfo* device = nullptr; // null: planned for no particular device
  bool dry_run = false;
  device::Tuning tuning;
  std::string why; // why the tuning prefers a strategy, for people
};

struct StrategyChoice {
  Strategy strategy = Strategy::launch;
  std::string reason;    // for people
  std::size_t taken = 0; // index of a candidate
  std::vector<Candidate> candidates;
};

// Chooses a persistent strategy only if the self-test proved an ordering, even if a profile prefers one.
// Otherwise the profile's preference or the least estimate decides; of equal candidates the first, launches
// before others.
StrategyChoice choose_strategy(const StrategyQuestion& question, std::vector<Candidate> candidates);

} // namespace tidegate::engine
