#include "engine/kinds.hpp"

#include "engine/device_memory.hpp"
#include "engine/schedule.hpp"
#include "policy/topology_layout.hpp"
#include "wave/active_state.h"

namespace tidegate::engine {
namespace {

ActiveWalk walk_of(const ActiveReport& report, policy::Topology previous, policy::Topology topology) {
  const bool lists = TG_ACTIVE_LISTS(static_cast<std::uint32_t>(previous) | TG_ACTIVE_CHOSEN);
  return report.chosen_by_device && topology == policy::Topology::empty ? ActiveWalk::nothing
         : !report.chosen_by_device || !lists                           ? ActiveWalk::all
         : topology == policy::Topology::sparse_frontier                ? ActiveWalk::list
         : topology == policy::Topology::hybrid_frontier                ? ActiveWalk::blocks
                                                                        : ActiveWalk::all;
}

// Reads the state of a wave that completed a number of iterations, which may be all that were counted or one fewer
// (layout: kernels/wave/active_state.h).
ActiveReport read_state(ActiveReport report, std::span<const std::byte> state, std::uint64_t iterations) {
  std::vector<std::uint32_t> words(
      std::max<std::size_t>(state.size() / sizeof(std::uint32_t), TG_ACTIVE_HEADER + 2 * TG_ACTIVE_WORDS));
  std::memcpy(words.data(), state.data(), state.size());
  const std::uint64_t mask = active_mask(words.size());
  // A run that was stopped has often counted the next iteration.
  const std::uint64_t counted = words[TG_ACTIVE_COUNTED];
  iterations = std::clamp(iterations, std::max(counted, std::uint64_t{1}) - 1, counted);
  const std::uint64_t kept = std::min(iterations, mask - (counted - iterations));
  report.iterations = iterations;
  report.chosen_by_device =
      iterations != 0 &&
      (words[TG_ACTIVE_ENTRY(iterations - 1, mask) + TG_ACTIVE_CHOICE] & TG_ACTIVE_CHOSEN) != 0;
  const policy::tg_densities densities{.pressure_bps = report.pressure_bps,
                                       .sparse_bps = report.sparse_bps,
                                       .dense_bps = report.dense_bps,
                                       .memory_bps = report.memory_bps};
  auto previous = policy::Topology::empty;
  for (std::uint64_t i = iterations - kept; i < iterations; ++i) {
    const std::size_t entry = TG_ACTIVE_ENTRY(i, mask);
    const std::uint32_t recorded = words[entry + TG_ACTIVE_CHOICE];
    // The count of the next iteration records a choice that no walk has made: not that of the last iteration.
    const bool made = report.chosen_by_device || i + 1 < counted;
    previous = made ? static_cast<policy::Topology>(recorded >> 16U & 0xffU) : previous;
    // The host states the choice before the first iteration.
    const std::uint32_t before =
        (report.chosen_by_device || i == 0 ? TG_ACTIVE_CHOSEN : 0) | static_cast<std::uint32_t>(previous);
    const std::uint32_t tiles = TG_ACTIVE_COUNT(words[entry + TG_ACTIVE_TILES], before, report.tiles);
    const std::uint32_t topology = made ? recorded & 0xffU
                                        : policy::tg_choice_of_tiles(densities, tiles, report.tiles,
                                                                     static_cast<std::uint32_t>(previous))
                                              .topology;
    const auto chosen = static_cast<policy::Topology>(topology);
    report.choices.push_back({.iteration = static_cast<std::uint32_t>(i),
                              .active_tiles = tiles,
                              .topology = chosen,
                              .walk = walk_of(report, previous, chosen)});
    previous = chosen;
  }
  // The total is that of all counted iterations but the last.
  report.active_tiles = words[TG_ACTIVE_TOTAL] + (std::uint64_t{words[TG_ACTIVE_TOTAL + 1]} << 32U);
  if (counted == iterations && !report.choices.empty()) {
    report.active_tiles += report.choices.back().active_tiles;
  }
  return report;
}

} // namespace

std::uint32_t active_entries(std::uint64_t iterations) {
  constexpr std::uint64_t most = TG_ACTIVE_MOST_ENTRIES;
  constexpr std::uint64_t more = 4; // no slice ends because of too few
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::bit_ceil(std::min(iterations, most) + more), TG_ACTIVE_LEAST_ENTRIES, most));
}

std::uint32_t active_mask(std::uint64_t words) {
  return static_cast<std::uint32_t>((words - TG_ACTIVE_HEADER) / TG_ACTIVE_WORDS - 1);
}

std::vector<ActiveReport> read_active(const Job& program, const Schedule& schedule,
                                      const HostContents& contents, const Position& reached) {
  std::vector<ActiveReport> reports;
  for (std::size_t stage = 0; stage < schedule.stages.size() && contents.size() != 0; ++stage) {
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      if (const auto& active = program.waves[wave].active) {
        reports.push_back(
            read_state(active->report, contents[active->state], schedule.runs_of(stage, reached)));
      }
    }
  }
  std::ranges::sort(reports, {}, &ActiveReport::wave);
  return reports;
}

std::vector<HitsReport> hits_before(const Job& program) {
  std::vector<HitsReport> reports;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.hits) {
      reports.push_back(buffer.hits->report);
    }
  }
  return reports;
}

std::vector<HitsReport> count_hits(const Job& program, const HostContents& contents) {
  std::vector<HitsReport> counted;
  for (std::size_t i = 0; i < program.buffers.size() && contents.size() != 0; ++i) {
    if (program.buffers[i].hits) {
      counted.push_back(program.buffers[i].hits->count(contents[i]));
    }
  }
  return counted;
}

} // namespace tidegate::engine
