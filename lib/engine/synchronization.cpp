// Derives the waits of a persistent launch.
#include "engine/launch_tables.hpp"

namespace tidegate::engine {
namespace {

// How far tiles of two waves depend on each other, counted with x first: tile t on t - reach … t + reach. Reaches add up
// over waves between the two; a halo relates only waves with the same tiles, so anything and every tile is every tile.
using Reach = std::uint64_t;
constexpr Reach every_tile = ~Reach{0};
constexpr Reach most_tiles = std::numeric_limits<std::int32_t>::max(); // of a wave

class Synchronizer {
public:
  Synchronizer(const Job& program, const Schedule& schedule, const MemoryLayout& memory)
      : program_(program), schedule_(schedule), memory_(memory), conflicts_(program),
        stages_(schedule.stages.size()), known_(program.waves.size()) {}

  std::vector<StageWaits> run() {
    for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
      wait_for(stage, 0);
    }
    if (program_.iterations > 1) {
      for (auto stage = static_cast<std::uint32_t>(schedule_.repeat_begin); stage < schedule_.repeat_end;
           ++stage) {
        wait_for(stage, 1);
      }
    }
    bool reaches_back = false;
    for (const StageWaits& stage : stages_) {
      for (const Wait& wait : stage.waits) {
        stages_[schedule_.places[wait.producer].stage].announced = true;
        reaches_back |= wait.earlier_iteration;
      }
    }
    // In the first iteration a wait for the previous one is for a step before the repetition.
    for (std::size_t stage = schedule_.repeat_begin; reaches_back && stage-- > 0;) {
      if (!schedule_.stages[stage].plain) {
        stages_[stage].announced = true;
        break;
      }
    }
    return std::move(stages_);
  }

private:
  using Key = std::pair<std::uint32_t, std::uint32_t>; // an earlier wave, and how many iterations ago

  // Adds the waits of a stage for waves `distance` iterations before.
  void wait_for(std::uint32_t stage, std::uint32_t distance) {
    StageWaits& own = stages_[stage];
    if (schedule_.stages[stage].plain || own.everybody) {
      return;
    }
    std::vector<Wait> found;
    std::size_t most = 0;
    for (const std::uint32_t wave : schedule_.stages[stage].waves) {
      const std::size_t before = found.size();
      wait_for(wave, stage, distance, found);
      most = std::max(most, found.size() - before);
    }
    if (most > most_waits_per_wave || nearly_everybody(stage, found)) {
      own = {.everybody = true};
      return;
    }
    own.waits.insert(own.waits.end(), found.begin(), found.end());
  }

  void wait_for(std::uint32_t wave, std::uint32_t stage, std::uint32_t distance, std::vector<Wait>& found) {
    // Latest stages first: waits for them may order the others too.
    const std::uint32_t begin = phase_begin(stage);
    const std::uint32_t end = distance == 0 ? stage : static_cast<std::uint32_t>(schedule_.repeat_end);
    for (std::uint32_t earlier = end; earlier-- > begin;) {
      if (divided(earlier, stage, distance)) {
        break; // and so are all earlier stages
      }
      for (const std::uint32_t producer : schedule_.stages[earlier].waves) {
        const auto wanted = wanted_between(producer, wave, distance);
        if (!wanted) {
          continue;
        }
        Reach& known = known_[wave].try_emplace(Key{producer, distance}, 0).first->second;
        if (const auto implied = implied_between(producer, wave, distance); implied && *implied >= *wanted) {
          known = *implied;
          continue;
        }
        known = *wanted;
        direct_[wave].push_back({producer, distance});
        if (!same_group(producer, wave, *wanted)) {
          found.push_back({.wave = wave,
                           .producer = producer,
                           .earlier_iteration = distance != 0,
                           .halo = *wanted != every_tile ? std::optional(static_cast<std::uint32_t>(
                                                               std::min<Reach>(*wanted, most_tiles)))
                                                         : std::nullopt});
        }
      }
    }
  }

  // Returns the relation between a and the later c, in any earlier iteration unless `distance` is 0: a wait for the
  // latest one covers all. Nothing if they are not ordered.
  [[nodiscard]] std::optional<Reach> wanted_between(std::uint32_t a, std::uint32_t c,
                                                    std::uint32_t distance) const {
    const std::uint32_t phases = schedule_.phases();
    const auto& groups = program_.waves[c].range.groups;
    std::optional<Reach> wanted;
    for (std::uint32_t apart = distance; apart == distance || (distance != 0 && apart <= phases); ++apart) {
      for (std::uint32_t phase = 0; phase < phases; ++phase) {
        const auto found = conflicts_.between(a, c, apart, [&](std::uint32_t x, std::uint32_t y) {
          return shared(schedule_.storage[phase][x], schedule_.storage[(phase + apart) % phases][y]);
        });
        if (found) {
          const Tiles halo = found->halo.value_or(Tiles{});
          const Reach tiles =
              halo[0] + std::uint64_t{groups[0]} * (halo[1] + std::uint64_t{groups[1]} * halo[2]);
          wanted = std::max(wanted.value_or(0), found->halo ? tiles : every_tile);
        }
      }
      if (wanted && schedule_.tiles_per_pack[a] != schedule_.tiles_per_pack[c]) {
        return every_tile; // their packs hold different tiles
      }
    }
    return wanted;
  }

  [[nodiscard]] Sharing shared(std::uint32_t a, std::uint32_t b) const {
    if (a == b) {
      return Sharing::all;
    }
    const bool overlap = program_.buffers[a].in_arena() && program_.buffers[b].in_arena() &&
                         memory_.offsets[a] < memory_.offsets[b] + program_.buffers[b].bytes &&
                         memory_.offsets[b] < memory_.offsets[a] + program_.buffers[a].bytes;
    return overlap ? Sharing::bytes : Sharing::nothing;
  }

  // Returns the relation that follows from the existing waits.
  [[nodiscard]] std::optional<Reach> implied_between(std::uint32_t a, std::uint32_t c,
                                                     std::uint32_t distance) const {
    const auto direct = direct_.find(c);
    if (direct == direct_.end()) {
      return {};
    }
    std::optional<Reach> implied;
    const auto imply = [&](Reach found) { implied = std::max(implied.value_or(0), found); };
    for (const Key& by : direct->second) {
      const Reach second = known_[c].at(by);
      if (by.first == a && by.second <= distance) {
        imply(second); // a group runs waves in order
      }
      if (by.second > distance) {
        continue;
      }
      const auto first = known_[by.first].find(Key{a, distance - by.second});
      if (first != known_[by.first].end()) {
        imply(saturating_add(first->second, second));
      }
    }
    return implied;
  }

  // Returns true if all groups meet or a launch ends between the two stages.
  [[nodiscard]] bool divided(std::uint32_t earlier, std::uint32_t later, std::uint32_t distance) const {
    const auto meets = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t stage = begin; stage < end; ++stage) {
        if (stages_[stage].everybody || schedule_.stages[stage].plain) {
          return true;
        }
      }
      return false;
    };
    if (schedule_.stages[earlier].plain) { // its end ends a launch, and no group announces it
      return true;
    }
    return distance == 0 ? meets(earlier + 1, later + 1)
                         : meets(earlier + 1, static_cast<std::uint32_t>(schedule_.repeat_end)) ||
                               meets(static_cast<std::uint32_t>(schedule_.repeat_begin), later + 1);
  }

  // Returns the first stage of the stage's section: all groups meet between sections.
  [[nodiscard]] std::uint32_t phase_begin(std::uint32_t stage) const {
    return static_cast<std::uint32_t>(stage < schedule_.repeat_begin ? 0
                                      : stage < schedule_.repeat_end ? schedule_.repeat_begin
                                                                     : schedule_.repeat_end);
  }

  // Returns true if each group has the same tiles of both waves, so no wait is needed.
  [[nodiscard]] bool same_group(std::uint32_t a, std::uint32_t c, Reach apart) const {
    return apart == 0 && schedule_.stage_of(a).packs == schedule_.stage_of(c).packs &&
           schedule_.places[a].first_pack == schedule_.places[c].first_pack;
  }

  // If most tiles wait for most of an earlier stage, arrivals at one counter are cheaper than polling each
  // group.
  [[nodiscard]] bool nearly_everybody(std::uint32_t stage, const std::vector<Wait>& waits) const {
    constexpr std::uint64_t few = 8; // packs, in at most as many groups
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> packs; // by wave and awaited stage
    for (const Wait& wait : waits) {
      if (!wait.halo) {
        packs[{wait.wave, schedule_.places[wait.producer].stage}] += schedule_.packs(program_, wait.producer);
      }
    }
    double looks = 0; // polled share of stages by all tiles; at most 1 if each wave waits for one stage
    for (const auto& [pair, producers] : packs) {
      if (producers > few) {
        looks += static_cast<double>(schedule_.packs(program_, pair.first)) * static_cast<double>(producers) /
                 schedule_.stages[pair.second].packs / schedule_.stages[stage].packs;
      }
    }
    return looks > 0.75;
  }

  const Job& program_;
  const Schedule& schedule_;
  const MemoryLayout& memory_;
  const Conflicts conflicts_;
  std::vector<StageWaits> stages_;
  std::vector<std::map<Key, Reach>> known_;          // by wave: waves that are ordered before it
  std::map<std::uint32_t, std::vector<Key>> direct_; // by wave: its direct waits
};

} // namespace

Synchronization synchronize(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                            Strategy strategy) {
  // The analysis compares every pair of waves; beyond this limit it would take longer than the waits save.
  constexpr std::size_t most_waves = 2048;
  Synchronization result;
  if (strategy == Strategy::counters && program.waves.size() <= most_waves) {
    result.mapping = TileMapping::blocked;
    result.stages = Synchronizer(program, schedule, memory).run();
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
