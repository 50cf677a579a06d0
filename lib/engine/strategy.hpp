// In how many launches a program runs, and why: every way is estimated (cost_model.hpp), and the one with the
// least estimate is taken.
#pragma once
#include "engine/cost_model.hpp"
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {

// A way to launch a program, and what it would take.
struct Candidate {
  LaunchShape shape;
  std::size_t schedule = 0;       // of those that there are
  std::uint32_t side_by_side = 1; // tiles in a work-group of a persistent launch
  std::uint32_t group_size = 0;   // its work-items
  std::size_t plain_stages = 0;   // between persistent launches
  device::CostParts cost;         // nanoseconds
  device::CostParts of_iteration; // of these, each
  std::string refused;            // why it is not taken, whatever it would take; or empty
};

// What is fixed beforehand, by the command line or by a profile.
struct FixedShape {
  std::optional<std::uint32_t> side_by_side;
  std::optional<TileOrder> order;
  std::optional<std::uint32_t> workers;
};

// What a profile asks for; nothing where it leaves the choice to the estimates.
std::optional<Strategy> preferred(device::PreferredStrategy strategy);
std::optional<TileOrder> preferred(device::PreferredOrder order);

// How many tiles a work-group of a persistent launch might run side by side, the most first: as many as have
// the tuning's number of work-items while each compute unit has a group, and one. Never several in an
// interpreter: its loop over them costs more than it hides.
std::vector<std::uint32_t> packings(const ResolvedProgram& program, std::uint32_t compute_units,
                                    const device::Tuning& tuning, const FixedShape& fixed, bool interpreted);

// The schedules that a program can have: of launches, of plain launches, and persistent ones with more and
// fewer tiles side by side.
struct Schedules {
  enum Place : std::uint8_t { launch, plain, first_persistent };
  std::vector<Schedule> all;
};

// Each strategy with each schedule that it can have.
std::vector<Candidate> find_candidates(const ResolvedProgram& program, const OutlinedOps& ops,
                                       const Schedules& schedules, const MemoryLayout& memory,
                                       const FixedShape& fixed, bool interpreted, const DeviceModel& model,
                                       std::optional<Strategy> asked_for);

// What the choice rests on.
struct StrategyQuestion {
  std::optional<Strategy> asked_for;
  const device::DeviceInfo* device = nullptr; // null: planned for none in particular
  bool dry_run = false;
  bool distrust_litmus = false; // as if the self-test had proved no ordering
  device::Tuning tuning;
  std::string why; // the tuning asks for a strategy, for people
};

struct StrategyChoice {
  Strategy strategy = Strategy::launch;
  std::string reason;    // for people
  std::size_t taken = 0; // of the candidates
  std::vector<Candidate> candidates;
};

// Persistent where the self-test proved an ordering, and the profile prefers it or the estimates are less: no
// profile makes anything wait on a device that has not passed. The first of equals, launches first.
StrategyChoice choose_strategy(const StrategyQuestion& question, std::vector<Candidate> candidates);

} // namespace tidegate::engine
