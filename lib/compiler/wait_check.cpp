#include <tidegate/compiler/wait_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tidegate::compiler {
namespace {

struct Run { // of packs
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool empty() const { return begin >= end; }
};

// A wave in an iteration, as it was run.
struct Instance {
  std::uint32_t wave = 0;
  std::uint64_t iteration = 0;
  std::uint64_t step = 0; // that a group has reached when it has run it
};

class Play {
public:
  Play(const ResolvedProgram& program, const Schedule& schedule, const MemoryLayout& memory,
       const LaunchTables& tables, TileOrder order, std::uint32_t groups)
      : program_(program), schedule_(schedule), memory_(memory), tables_(tables), order_(order),
        groups_(groups), known_(groups, std::vector<std::uint64_t>(groups, 0)), told_(groups, 0) {
    std::size_t row = 0;
    for (const Stage& stage : schedule.stages) {
      if (!stage.plain) {
        rows_.push_back(&stage);
      }
      row_of_stage_.push_back(row);
      row += stage.plain ? 0 : 1;
    }
    row_of_stage_.push_back(row);
  }

  std::string run() {
    const std::size_t begin = row_of_stage_[schedule_.repeat_begin];
    const std::size_t end = row_of_stage_[schedule_.repeat_end];
    const std::uint64_t iterations = std::min<std::uint64_t>(program_.iterations, schedule_.phases() + 2U);
    for (std::size_t row = 0; row < begin; ++row) {
      if (!step(row, 0)) {
        return violation_;
      }
    }
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      for (std::size_t row = begin; row < end; ++row) {
        if (!step(row, iteration)) {
          return violation_;
        }
      }
      if (program_.until && !schedule_.any_plain()) {
        everybody();
      }
    }
    for (std::size_t row = end; row < rows_.size(); ++row) {
      if (!step(row, iterations)) {
        return violation_;
      }
    }
    return {};
  }

private:
  // One stage of one iteration, in every group.
  bool step(std::size_t row, std::uint64_t iteration) {
    const StageRow& stage = tables_.stages[row];
    const std::uint64_t before = iteration * tables_.steps + row; // steps that lie before this one
    if (previous_ && begins_launch(row)) {
      everybody();
    } else if (previous_) {
      const bool arrived = (tables_.stages[*previous_].flags & StageRow::arrives) != 0;
      if ((stage.flags & StageRow::everybody) != 0 ||
          *previous_ + 1 == row_of_stage_[schedule_.repeat_begin]) {
        if (!arrived) {
          return failed(
              fmt::format("stage {} waits for arrivals that stage {} does not make", row, *previous_));
        }
        everybody();
      } else if (!meet(stage, row, before)) {
        return false;
      }
    }
    for (const std::uint32_t wave : rows_[row]->waves) {
      if (!ordered(wave, iteration)) {
        return false;
      }
    }
    for (std::uint32_t group = 0; group < groups_; ++group) {
      known_[group][group] = before + 1;
      if ((stage.flags & StageRow::announced) != 0) {
        told_[group] = before + 1;
        at_telling_[{group, before + 1}] = known_[group];
      }
    }
    for (const std::uint32_t wave : rows_[row]->waves) {
      instances_.push_back({.wave = wave, .iteration = iteration, .step = before + 1});
    }
    previous_ = row;
    return true;
  }

  // Whether a launch ends between this row and the one that ran before: at plain waves, and with those about,
  // at the end of each iteration and phase.
  [[nodiscard]] bool begins_launch(std::size_t row) const {
    if (!schedule_.any_plain()) {
      return false;
    }
    const std::size_t from = stage_of(*previous_);
    const std::size_t to = stage_of(row);
    bool ends = from >= to;
    for (std::size_t stage = from + 1; stage <= to && !ends; ++stage) {
      ends =
          schedule_.stages[stage].plain || stage == schedule_.repeat_begin || stage == schedule_.repeat_end;
    }
    return ends;
  }

  [[nodiscard]] std::size_t stage_of(std::size_t row) const {
    std::size_t stage = 0;
    while (schedule_.stages[stage].plain || row_of_stage_[stage] != row) {
      ++stage;
    }
    return stage;
  }

  void everybody() {
    std::vector<std::uint64_t> all(groups_);
    for (std::uint32_t group = 0; group < groups_; ++group) {
      all[group] = known_[group][group];
    }
    known_.assign(groups_, all);
  }

  // The waits of a stage, with what each group is told by those that it waits for.
  bool meet(const StageRow& stage, std::size_t row, std::uint64_t before) {
    for (std::uint32_t i = stage.first_wait; i < stage.first_wait + stage.wait_count; ++i) {
      const WaitRow& wait = tables_.waits[i];
      if (wait.steps == 0) {
        return failed(fmt::format("stage {} waits for itself", row));
      }
      if (wait.steps > before) {
        continue; // for an iteration that there was none of
      }
      const std::uint64_t wanted = before + 1 - wait.steps;
      for (std::uint32_t group = 0; group < groups_; ++group) {
        const Run own = clipped(run_of(stage.tiles, group), wait.begin, wait.end);
        if (own.empty()) {
          continue;
        }
        Run from{wait.from_begin, wait.from_end};
        if (wait.halo != WaitRow::whole) {
          const std::uint64_t low = own.begin - wait.begin;
          from.begin += low > wait.halo ? low - wait.halo : 0;
          from.end = std::min<std::uint64_t>(from.end, wait.from_begin + own.end - wait.begin + wait.halo);
        }
        for (std::uint32_t other = 0; other < groups_; ++other) {
          if (clipped(run_of(wait.from_tiles, other), from.begin, from.end).empty()) {
            continue;
          }
          if (told_[other] < wanted) {
            return failed(fmt::format("stage {} waits for group {} to tell of step {}, it tells of {}", row,
                                      other, wanted, told_[other]));
          }
          // It is told of that step or of a later one.
          const auto told = at_telling_.lower_bound({other, wanted});
          for (std::uint32_t third = 0; third < groups_; ++third) {
            known_[group][third] = std::max(known_[group][third], told->second[third]);
          }
        }
      }
    }
    return true;
  }

  // Every group that runs tiles of the wave knows of whoever ran before what they meet.
  bool ordered(std::uint32_t wave, std::uint64_t iteration) {
    for (const Instance& earlier : instances_) {
      if (earlier.iteration + schedule_.phases() + 1 < iteration) {
        continue;
      }
      const auto reach = meeting(earlier, wave, iteration);
      if (!reach) {
        continue;
      }
      for (std::uint32_t group = 0; group < groups_; ++group) {
        const Run own = part_of(wave, group);
        if (own.empty()) {
          continue;
        }
        Run met{0, packs_of(earlier.wave)};
        if (*reach >= 0) {
          const auto tiles = static_cast<std::uint64_t>(*reach);
          const std::uint64_t pack = schedule_.tiles_per_pack[wave];
          const std::uint64_t low = own.begin * pack;
          met.begin = (low > tiles ? low - tiles : 0) / pack;
          met.end = std::min(met.end, (own.end * pack + tiles + pack - 1) / pack);
        }
        for (std::uint32_t other = 0; other < groups_; ++other) {
          const Run theirs = part_of(earlier.wave, other);
          const bool touches = order_ == TileOrder::strided
                                   ? !theirs.empty()
                                   : std::max(theirs.begin, met.begin) < std::min(theirs.end, met.end);
          if (other != group && touches && known_[group][other] < earlier.step) {
            return failed(
                fmt::format("{} of iteration {} begins in group {} before group {} has ended {} of iteration "
                            "{}",
                            program_.wave_text(wave), iteration, group, other,
                            program_.wave_text(earlier.wave), earlier.iteration));
          }
        }
      }
    }
    return true;
  }

  // Tiles that the two are apart at most where they touch the same memory, -1 for any; empty where they never
  // do, or only read, or nothing in the program orders them.
  [[nodiscard]] std::optional<std::int64_t> meeting(const Instance& earlier, std::uint32_t wave,
                                                    std::uint64_t iteration) const {
    std::optional<std::int64_t> reach;
    const auto widen = [&reach](std::int64_t found) {
      reach = reach && (*reach < 0 || found < 0) ? -1 : std::max(reach.value_or(found), found);
    };
    const ProgramWave& a = program_.waves[earlier.wave];
    const ProgramWave& c = program_.waves[wave];
    const ResolvedDependency* stated = nullptr;
    for (const ResolvedDependency& dependency : program_.dependencies) {
      const bool same_iteration = earlier.iteration == iteration && a.phase == c.phase;
      const bool forward = dependency.before == earlier.wave && dependency.after == wave;
      const bool backward = dependency.before == wave && dependency.after == earlier.wave;
      if ((forward || backward) && dependency.halo && (same_iteration || program_.swaps.empty())) {
        stated = &dependency;
      }
      if (forward && same_iteration && !program_.derived) {
        widen(dependency.halo ? tiles_of(*dependency.halo, c.range) : -1);
      }
    }
    for (const ProgramArgument& x : a.arguments) {
      for (const ProgramArgument& y : c.arguments) {
        if (!x.is_memory() || !y.is_memory() || (x.access == Access::read && y.access == Access::read)) {
          continue;
        }
        const std::uint32_t from = schedule_.places[earlier.iteration % schedule_.phases()][x.buffer];
        const std::uint32_t to = schedule_.places[iteration % schedule_.phases()][y.buffer];
        if (from == to) {
          const bool local = x.halo && y.halo && a.range == c.range &&
                             (x.element_bytes == y.element_bytes || x.element_bytes * y.element_bytes == 0);
          widen(stated != nullptr ? tiles_of(*stated->halo, c.range)
                : local           ? tiles_of(*x.halo, c.range) + tiles_of(*y.halo, c.range)
                                  : -1);
        } else if (!program_.buffers[from].image && !program_.buffers[to].image) {
          const std::uint64_t from_end = memory_.offsets[from] + program_.buffers[from].bytes;
          const std::uint64_t to_end = memory_.offsets[to] + program_.buffers[to].bytes;
          if (memory_.offsets[from] < to_end && memory_.offsets[to] < from_end) {
            widen(-1);
          }
        }
      }
    }
    return reach;
  }

  static std::int64_t tiles_of(const std::array<std::uint32_t, 3>& halo, const NdRange& range) {
    const std::int64_t row = range.groups[0];
    return halo[0] + row * halo[1] + row * range.groups[1] * halo[2];
  }

  // Tiles of a stage that a group runs; strided ones are told by their number alone.
  [[nodiscard]] Run run_of(std::uint64_t tiles, std::uint32_t group) const {
    if (order_ == TileOrder::strided) {
      return {0, tiles};
    }
    return {tiles * group / groups_, tiles * (group + 1) / groups_};
  }

  [[nodiscard]] std::uint64_t packs_of(std::uint32_t wave) const { return schedule_.packs(program_, wave); }

  // Of the wave's own packs those of a group.
  [[nodiscard]] Run part_of(std::uint32_t wave, std::uint32_t group) const {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::uint64_t first = 0;
      for (const std::uint32_t other : rows_[row]->waves) {
        const std::uint64_t packs = packs_of(other);
        if (other == wave) {
          const Run run = clipped(run_of(tables_.stages[row].tiles, group), first, first + packs);
          return run.empty() ? Run{} : Run{run.begin - first, run.end - first};
        }
        first += packs;
      }
    }
    return {};
  }

  static Run clipped(Run run, std::uint64_t begin, std::uint64_t end) {
    return {std::max(run.begin, begin), std::min(run.end, end)};
  }

  bool failed(std::string violation) {
    violation_ = std::move(violation);
    return false;
  }

  const ResolvedProgram& program_;
  const Schedule& schedule_;
  const MemoryLayout& memory_;
  const LaunchTables& tables_;
  const TileOrder order_;
  const std::uint32_t groups_;
  std::vector<const Stage*> rows_;
  std::vector<std::size_t> row_of_stage_;
  std::vector<std::vector<std::uint64_t>> known_; // known_[g][h]: steps that group g knows h to have run
  std::vector<std::uint64_t> told_;               // by group, the step that it last told of
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>>
      at_telling_; // what it knew then
  std::vector<Instance> instances_;
  std::optional<std::size_t> previous_;
  std::string violation_;
};

} // namespace

std::string wait_violation(const ResolvedProgram& program, const Schedule& schedule,
                           const MemoryLayout& memory, const LaunchTables& tables, TileOrder order,
                           std::uint32_t groups) {
  return Play(program, schedule, memory, tables, order, groups).run();
}

} // namespace tidegate::compiler
