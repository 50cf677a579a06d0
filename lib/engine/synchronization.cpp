// Derives the waits of a persistent launch.
#include "engine/launch_tables.hpp"

namespace tidegate::engine {
namespace {

// How far tiles of two waves depend on each other, counted with x first: tile t on t - reach … t + reach. Reaches add up
// over waves between the two; a halo relates only waves with the same tiles, so anything and every tile is every tile.
using Reach = std::uint64_t;
constexpr Reach every_tile = ~Reach{0};
constexpr Reach most_tiles = std::numeric_limits<std::int32_t>::max(); // of a wave

struct Synchronizer {
  using Key = std::pair<std::uint32_t, std::uint32_t>; // an earlier wave, and how many iterations ago

  const Job& program;
  const Schedule& schedule;
  const MemoryLayout& memory;
  const Conflicts conflicts{program};
  std::vector<StageWaits> stages = std::vector<StageWaits>(schedule.stages.size());
  std::vector<std::map<Key, Reach>> known{program.waves.size()}; // by wave: waves that are ordered before it
  std::vector<std::vector<Key>> direct{program.waves.size()};    // by wave: its direct waits

  std::vector<StageWaits> run() {
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage) {
      wait_for(stage, 0);
    }
    if (program.iterations > 1) {
      for (auto stage = static_cast<std::uint32_t>(schedule.repeat_begin); stage < schedule.repeat_end;
           ++stage) {
        wait_for(stage, 1);
      }
    }
    bool reaches_back = false;
    for (const StageWaits& stage : stages) {
      for (const Wait& wait : stage.waits) {
        stages[schedule.places[wait.producer].stage].announced = true;
        reaches_back |= wait.earlier_iteration;
      }
    }
    // In the first iteration a wait for the previous one is for a step before the repetition.
    for (std::size_t stage = schedule.repeat_begin; reaches_back && stage-- > 0;) {
      if (!schedule.stages[stage].plain) {
        stages[stage].announced = true;
        break;
      }
    }
    return std::move(stages);
  }

  // Adds the waits of a stage for waves `distance` iterations before.
  void wait_for(std::uint32_t stage, std::uint32_t distance) {
    StageWaits& own = stages[stage];
    const std::size_t begin = stage < schedule.repeat_begin
                                  ? 0 // of the section: all groups meet between sections
                              : stage < schedule.repeat_end ? schedule.repeat_begin
                                                            : schedule.repeat_end;
    for (std::size_t at = distance == 0 ? stage : begin; at <= stage; ++at) {
      if (stages[at].everybody || schedule.stages[at].plain) {
        return; // all groups meet, or a launch ends
      }
    }
    std::vector<Wait> found;
    std::size_t most = 0;
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      const std::size_t before = found.size();
      wait_for(wave, begin, distance == 0 ? stage : schedule.repeat_end, distance, found);
      most = std::max(most, found.size() - before);
    }
    if (most > most_waits_per_wave || nearly_everybody(stage, found)) {
      own = {.everybody = true};
      return;
    }
    own.waits.insert(own.waits.end(), found.begin(), found.end());
  }

  // Adds the waits of a wave for those of stages [begin, end).
  void wait_for(std::uint32_t wave, std::size_t begin, std::size_t end, std::uint32_t distance,
                std::vector<Wait>& found) {
    // Latest stages first: waits for them may order the others too. The end of a plain one ends a launch.
    for (std::size_t earlier = end; earlier-- > begin && !schedule.stages[earlier].plain;) {
      for (const std::uint32_t producer : schedule.stages[earlier].waves) {
        const auto wanted = wanted_between(producer, wave, distance);
        if (!wanted) {
          continue;
        }
        Reach& reach = known[wave].try_emplace(Key{producer, distance}, 0).first->second;
        if (const auto implied = implied_between(producer, wave, distance); implied && *implied >= *wanted) {
          reach = *implied;
          continue;
        }
        reach = *wanted;
        direct[wave].push_back({producer, distance});
        if (!same_group(producer, wave, *wanted)) {
          found.push_back({.wave = wave,
                           .producer = producer,
                           .earlier_iteration = distance != 0,
                           .halo = *wanted != every_tile ? std::optional(static_cast<std::uint32_t>(
                                                               std::min<Reach>(*wanted, most_tiles)))
                                                         : std::nullopt});
        }
      }
      if (stages[earlier].everybody) {
        break; // and so all groups meet after all earlier stages
      }
    }
  }

  // Returns the relation between a and the later c, in any earlier iteration unless `distance` is 0: a wait for the
  // latest one covers all. Nothing if they are not ordered.
  [[nodiscard]] std::optional<Reach> wanted_between(std::uint32_t a, std::uint32_t c,
                                                    std::uint32_t distance) const {
    const std::uint32_t phases = schedule.phases();
    const auto& groups = program.waves[c].range.groups;
    std::optional<Reach> wanted;
    for (std::uint32_t apart = distance; apart == distance || (distance != 0 && apart <= phases); ++apart) {
      for (std::uint32_t phase = 0; phase < phases; ++phase) {
        const auto found = conflicts.between(a, c, apart, [&](std::uint32_t x, std::uint32_t y) {
          return shared(schedule.storage[phase][x], schedule.storage[(phase + apart) % phases][y]);
        });
        if (found) {
          const Tiles halo = found->halo.value_or(Tiles{});
          const Reach tiles =
              halo[0] + std::uint64_t{groups[0]} * (halo[1] + std::uint64_t{groups[1]} * halo[2]);
          wanted = std::max(wanted.value_or(0), found->halo ? tiles : every_tile);
        }
      }
      if (wanted && schedule.tiles_per_pack[a] != schedule.tiles_per_pack[c]) {
        return every_tile; // their packs hold different tiles
      }
    }
    return wanted;
  }

  [[nodiscard]] Sharing shared(std::uint32_t a, std::uint32_t b) const {
    if (a == b) {
      return Sharing::all;
    }
    const bool overlap = program.buffers[a].in_arena() && program.buffers[b].in_arena() &&
                         memory.offsets[a] < memory.offsets[b] + program.buffers[b].bytes &&
                         memory.offsets[b] < memory.offsets[a] + program.buffers[a].bytes;
    return overlap ? Sharing::bytes : Sharing::nothing;
  }

  // Returns the relation that follows from the existing waits.
  [[nodiscard]] std::optional<Reach> implied_between(std::uint32_t a, std::uint32_t c,
                                                     std::uint32_t distance) const {
    std::optional<Reach> implied;
    for (const Key& by : direct[c]) {
      if (by.second > distance) {
        continue;
      }
      const Reach second = known[c].at(by);
      if (by.first == a) {
        implied = std::max(implied.value_or(0), second); // a group runs waves in order
      }
      const auto first = known[by.first].find(Key{a, distance - by.second});
      if (first != known[by.first].end()) {
        implied = std::max(implied.value_or(0), saturating_add(first->second, second));
      }
    }
    return implied;
  }

  // Returns true if each group has the same tiles of both waves, so no wait is needed.
  [[nodiscard]] bool same_group(std::uint32_t a, std::uint32_t c, Reach apart) const {
    return apart == 0 && schedule.stage_of(a).packs == schedule.stage_of(c).packs &&
           schedule.places[a].first_pack == schedule.places[c].first_pack;
  }

  // If most tiles wait for most of an earlier stage, arrivals at one counter are cheaper than polling each
  // group.
  [[nodiscard]] bool nearly_everybody(std::uint32_t stage, const std::vector<Wait>& waits) const {
    constexpr std::uint64_t few = 8; // packs, in at most as many groups
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> packs; // by wave and awaited stage
    for (const Wait& wait : waits) {
      if (!wait.halo) {
        packs[{wait.wave, schedule.places[wait.producer].stage}] += schedule.packs(program, wait.producer);
      }
    }
    double looks = 0; // polled share of stages by all tiles; at most 1 if each wave waits for one stage
    for (const auto& [pair, producers] : packs) {
      if (producers > few) {
        looks += static_cast<double>(schedule.packs(program, pair.first)) * static_cast<double>(producers) /
                 schedule.stages[pair.second].packs / schedule.stages[stage].packs;
      }
    }
    return looks > 0.75;
  }
};

} // namespace

Synchronization synchronize(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                            Strategy strategy) {
  // The analysis compares every pair of waves; beyond this limit it would take longer than the waits save.
  constexpr std::size_t most_waves = 2048;
  Synchronization result;
  if (strategy == Strategy::counters && program.waves.size() <= most_waves) {
    result.mapping = TileMapping::blocked;
    result.stages = Synchronizer{program, schedule, memory}.run();
    // All groups meet between sections.
    if (schedule.repeat_end < result.stages.size()) {
      result.stages[schedule.repeat_end].everybody = true;
    }
  } else {
    result.stages.assign(schedule.stages.size(), {.everybody = true});
  }
  return result;
}

} // namespace tidegate::engine
