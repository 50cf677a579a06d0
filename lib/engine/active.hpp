// Waves with active tiles: what the device counted and chose in each iteration.
#pragma once
#include "core/npy.hpp"
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

namespace tidegate::engine {

class HostContents;
struct Job;
struct Position;
struct Schedule;

// The tiles that a wave goes over; the flag of each is tested as well.
enum class ActiveWalk : std::uint8_t { nothing, list, blocks, all };
inline constexpr std::array<std::string_view, 4> active_walk_names{"nothing", "list", "blocks", "all"};

// An iteration.
struct ActiveChoice {
  std::uint32_t iteration = 0;
  std::uint32_t active_tiles = 0;
  policy::Topology previous_topology = policy::Topology::empty;
  policy::Topology topology = policy::Topology::empty;
  policy::TopologyRule rule = policy::TopologyRule::queue_empty;
  ActiveWalk walk = ActiveWalk::all;

  friend bool operator==(const ActiveChoice&, const ActiveChoice&) = default;
};

// A wave. Counts and choices are known after a run.
struct ActiveReport {
  std::uint32_t wave = 0;
  std::string flags; // the buffer
  std::uint32_t tiles = 0;
  std::uint32_t pressure_bps = 0; // of the memory
  std::uint32_t sparse_bps = 0;   // thresholds of the policy
  std::uint32_t dense_bps = 0;
  std::uint32_t memory_bps = 0;
  bool chosen_by_device = false; // otherwise all tiles were walked
  std::uint64_t iterations = 0;
  std::uint64_t active_tiles = 0;    // of all iterations
  std::vector<ActiveChoice> choices; // of the last ones, see active_entries()
};

// A wave that runs only tiles whose flags are set, which another wave counts before it (kernels/wave/count_flags.cl).
struct ActiveTiles {
  std::uint32_t state = 0; // buffers
  std::uint32_t list = 0;  // of active tiles
  std::uint32_t blocks = 0;
  std::size_t flags_argument = 0; // of the wave; state, list, blocks and this one follow:
  // The iteration. No count is above 0xffffffff: with it the kernel tests no flags.
  [[nodiscard]] std::size_t iteration_argument() const { return flags_argument + 4; }
  ActiveReport report; // before a run
};

// Returns the number of entries in the state of a wave that runs in this many iterations at most. All but one are kept.
std::uint32_t active_entries(std::uint64_t iterations);

// Returns their number, less 1, of a state with this many words.
std::uint32_t active_mask(std::uint64_t words);

// Computes topology, rule and walk from the other numbers of an iteration.
ActiveChoice choose(const ActiveReport& rules, const ActiveChoice& numbers);

// Returns the reports of all such waves, from what was read back of a run that came to a position.
std::vector<ActiveReport> read_active(const Job& program, const Schedule& schedule,
                                      const HostContents& contents, const Position& reached);

// Reads the state of a wave that completed a number of iterations, which may be all that were counted or one fewer
// (layout: kernels/wave/active_state.h).
ActiveReport read_active(ActiveReport report, std::span<const std::byte> state, std::uint64_t iterations);

} // namespace tidegate::engine
