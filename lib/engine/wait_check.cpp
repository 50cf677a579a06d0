// Checks the waits of a persistent launch independently: simulates its stages, iteration by iteration, for
// the given number of work-groups. The tiles of a group and its waits follow the kernels' source; conflicts
// follow from the arguments of waves and from the dependencies that the program states.
#include "engine/launch_tables.hpp"

namespace tidegate::engine {
namespace {

// The assignment of tiles and waits to work-groups is the kernels' own source.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
namespace as_on_device {
using uint = std::uint32_t;
using ulong = std::uint64_t;
using rows::tg_entry;
using rows::tg_stage;
using rows::tg_wait;
using std::max;
using std::min;
#define global
#include "wave/tasks.cl"
#undef global
} // namespace as_on_device
#pragma GCC diagnostic pop

using Run = HalfOpen<std::uint64_t>;

constexpr std::uint64_t any_distance = std::uint64_t{1} << 40U; // more tiles than a wave has

// Tiles of two waves that access the same memory, one of them writing, if they are within this distance, counted with x
// first.
struct Clash {
  std::uint64_t distance = 0;
  bool buffers_differ = false; // some share memory

  [[nodiscard]] bool between(Run a, Run c) const {
    return a.begin < c.end + distance && c.begin < a.end + distance;
  }
};

// Returns the largest distance of a halo in tiles counted with x first.
std::uint64_t reach(const std::array<std::uint32_t, 3>& halo, const NdRange& range) {
  const std::uint64_t rows = halo[1] + std::uint64_t{range.groups[1]} * halo[2];
  return std::min(any_distance, halo[0] + range.groups[0] * std::min(rows, any_distance / range.groups[0]));
}

// An executed wave of an iteration.
struct Instance {
  std::uint32_t wave = 0;
  std::uint64_t iteration = 0;
  std::uint64_t step = 0; // step of a group that has run it
};

struct WaitSimulation {
  using Announcement =
      std::pair<std::uint64_t, std::vector<std::uint64_t>>; // a step, and what was known at that time

  const Job& program;
  const Schedule& schedule;
  const MemoryLayout& memory;
  const LaunchTables& tables;
  const TileMapping mapping;
  const std::uint32_t groups;
  // known[g][h]: steps of h that g knows to be completed
  std::vector<std::vector<std::uint64_t>> known{groups, std::vector<std::uint64_t>(groups)};
  std::vector<std::deque<Announcement>> announced{groups};   // by group
  std::vector<std::vector<Run>> tiles{program.waves.size()}; // by wave and group
  std::map<std::pair<std::uint32_t, std::uint32_t>, const ResolvedDependency*> stated{};
  // Indexed by swap phase and wave; a group that knows that an instance has ended knows it of earlier ones too.
  std::vector<Instance> latest = std::vector<Instance>(program.waves.size() * schedule.phases());
  const std::uint64_t longest_wait = // steps
      tables.waits.empty() ? 0 : std::ranges::max(tables.waits, {}, &WaitRow::steps).steps;
  std::uint64_t settled = 0; // steps that all groups know all groups to have completed
  std::optional<std::size_t> previous{};
  std::string violation{};

  std::string run() {
    for (const Stage& stage : schedule.stages) {
      for (const std::uint32_t wave : stage.waves) {
        for (std::uint32_t group = 0; group < groups && !stage.plain; ++group) {
          tiles[wave].push_back(tiles_of(wave, group));
        }
      }
    }
    for (const ResolvedDependency& dependency : program.dependencies) {
      stated[{dependency.before, dependency.after}] = &dependency;
    }
    const std::size_t begin = schedule.rows_before(schedule.repeat_begin);
    const std::size_t end = schedule.rows_before(schedule.repeat_end);
    const std::uint64_t iterations = std::min<std::uint64_t>(program.iterations, schedule.phases() + 2U);
    const auto steps = [this](std::size_t from, std::size_t to, std::uint64_t iteration) {
      for (std::size_t row = from; row < to && violation.empty(); ++row) {
        step(row, iteration);
      }
    };
    steps(0, begin, 0);
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      steps(begin, end, iteration);
      if (program.until && schedule.repeats_in_one_launch()) {
        everybody();
      }
    }
    steps(end, schedule.row_stages.size(), iterations);
    return violation;
  }

  // Simulates one stage of one iteration in every group.
  void step(std::size_t row, std::uint64_t iteration) {
    const StageRow& stage = tables.stages[row];
    const std::uint64_t before = iteration * tables.steps + row; // number of earlier steps
    if (previous && begins_launch(row)) {
      everybody();
    } else if (previous) {
      const bool arrived = (tables.stages[*previous].flags & TG_ARRIVES) != 0;
      if ((stage.flags & TG_EVERYBODY) != 0 || *previous + 1 == schedule.rows_before(schedule.repeat_begin)) {
        if (!arrived) {
          return failed(
              fmt::format("stage {} waits for arrivals that stage {} does not make", row, *previous));
        }
        everybody();
      } else {
        meet(stage, row, before);
      }
    }
    settle();
    const std::vector<std::uint32_t>& waves = schedule.stages[schedule.row_stages[row]].waves;
    apart(waves, schedule.storage[iteration % schedule.phases()]);
    for (const std::uint32_t wave : waves) {
      ordered(wave, iteration);
    }
    for (std::uint32_t group = 0; group < groups; ++group) {
      known[group][group] = before + 1;
      if ((stage.flags & TG_ANNOUNCED) != 0) {
        announced[group].emplace_back(before + 1, known[group]);
      }
      while (!announced[group].empty() && announced[group].front().first + longest_wait <= before) {
        announced[group].pop_front(); // too old for any wait
      }
    }
    for (const std::uint32_t wave : waves) {
      latest[iteration % schedule.phases() * program.waves.size() + wave] = {
          .wave = wave, .iteration = iteration, .step = before + 1};
    }
    previous = row;
  }

  // Returns true if a launch ends between this row and the previous one: at plain waves, and in schedules with such
  // stages at the end of each section.
  [[nodiscard]] bool begins_launch(std::size_t row) const {
    if (schedule.is_one_launch()) {
      return false;
    }
    const std::size_t from = schedule.row_stages[*previous];
    const std::size_t to = schedule.row_stages[row];
    bool ends = from >= to && !schedule.repeats_in_one_launch();
    for (std::size_t stage = from + 1; stage <= to && !ends; ++stage) {
      ends = schedule.stages[stage].plain || stage == schedule.repeat_begin || stage == schedule.repeat_end;
    }
    return ends;
  }

  void everybody() {
    std::vector<std::uint64_t> all(groups);
    for (std::uint32_t group = 0; group < groups; ++group) {
      all[group] = known[group][group];
    }
    known.assign(groups, all);
  }

  // Simulates the waits of a stage; each group learns what the awaited groups know.
  void meet(const StageRow& stage, std::size_t row, std::uint64_t before) {
    for (std::uint32_t i = stage.first_wait; i < stage.first_wait + stage.wait_count; ++i) {
      const WaitRow& wait = tables.waits[i];
      if (wait.steps == 0) {
        return failed(fmt::format("stage {} waits for itself", row));
      }
      if (wait.steps > before) {
        continue; // for an iteration before the first
      }
      const std::uint64_t wanted = before + 1 - wait.steps;
      for (std::uint32_t group = 0; group < groups; ++group) {
        const auto share = share_of(stage.tiles, group);
        const auto poll = as_on_device::tg_poll_of(wait, share.first, share.first + share.count, groups);
        for (std::uint32_t other = poll.first; other < poll.first + poll.count; ++other) {
          if (other != group) {
            learn(group, other, wanted, row);
          }
        }
      }
    }
  }

  void learn(std::uint32_t group, std::uint32_t other, std::uint64_t wanted, std::size_t row) {
    if (other >= groups) {
      return failed(fmt::format("stage {} waits for group {} of {}", row, other, groups));
    }
    // The announcement of that step or of a later one.
    const auto found =
        std::ranges::find_if(announced[other], [wanted](const auto& each) { return each.first >= wanted; });
    if (found == announced[other].end()) {
      return failed(fmt::format("stage {} waits for group {} to announce step {}, which it never does", row,
                                other, wanted));
    }
    for (std::uint32_t third = 0; third < groups; ++third) {
      known[group][third] = std::max(known[group][third], found->second[third]);
    }
  }

  // Updates the steps that every group knows all groups to have completed; these cannot conflict any more.
  void settle() {
    settled = std::numeric_limits<std::uint64_t>::max();
    for (const auto& steps : known) {
      settled = std::min(settled, *std::ranges::min_element(steps));
    }
  }

  // Checks waves of one stage, which run concurrently: their buffers may not share memory, and no accesses
  // may conflict unless the program lists its dependencies and omits this pair.
  void apart(const std::vector<std::uint32_t>& waves, const std::vector<std::uint32_t>& storage) {
    for (auto a = waves.begin(); a != waves.end(); ++a) {
      for (auto c = a + 1; c != waves.end(); ++c) {
        const auto clash = find_clash(*a, storage, *c, storage, false);
        if (clash && (program.derived || clash->buffers_differ)) {
          return failed(fmt::format("{} and {} run at the same time and touch the same memory",
                                    program.wave_text(*a), program.wave_text(*c)));
        }
      }
    }
  }

  // Checks that every group with tiles of the wave knows that all conflicting tiles have ended.
  void ordered(std::uint32_t wave, std::uint64_t iteration) {
    const auto& storage = schedule.storage[iteration % schedule.phases()];
    for (const Instance& earlier : latest) {
      if (earlier.step <= settled) {
        continue;
      }
      const bool same_iteration = earlier.iteration == iteration &&
                                  program.waves[earlier.wave].section == program.waves[wave].section;
      const auto clash = find_clash(earlier.wave, schedule.storage[earlier.iteration % schedule.phases()],
                                    wave, storage, same_iteration);
      for (std::uint32_t group = 0; group < groups && clash; ++group) {
        const Run own = tiles[wave][group];
        for (std::uint32_t other = 0; other < groups && !own.empty(); ++other) {
          const Run theirs = tiles[earlier.wave][other];
          if (other != group && !theirs.empty() && known[group][other] < earlier.step &&
              clash->between(theirs, own)) {
            return failed(
                fmt::format("{} of iteration {} begins in group {} before group {} has ended {} of iteration "
                            "{}",
                            program.wave_text(wave), iteration, group, other, program.wave_text(earlier.wave),
                            earlier.iteration));
          }
        }
      }
    }
  }

  [[nodiscard]] std::optional<Clash> find_clash(std::uint32_t a, const std::vector<std::uint32_t>& a_storage,
                                                std::uint32_t c, const std::vector<std::uint32_t>& c_storage,
                                                bool same_iteration) const {
    const ProgramWave& before = program.waves[a];
    const ProgramWave& after = program.waves[c];
    std::optional<Clash> clash;
    const auto add = [&clash](std::uint64_t distance, bool buffers_differ = false) {
      const Clash others = clash.value_or(Clash());
      clash = {std::max(others.distance, distance), others.buffers_differ || buffers_differ};
    };
    // The relation that the program states; without swaps it holds across iterations too.
    std::optional<std::uint64_t> halo;
    for (const auto& pair : {std::pair(a, c), std::pair(c, a)}) {
      const auto found = stated.find(pair);
      if (found != stated.end() && found->second->halo && (same_iteration || program.swaps.empty())) {
        halo = reach(*found->second->halo, after.range);
      }
    }
    if (same_iteration && !program.derived && stated.contains({a, c})) {
      add(halo.value_or(any_distance)); // it may be for memory that no argument shows
    }
    for (const ProgramArgument& x : before.arguments) {
      for (const ProgramArgument& y : after.arguments) {
        if (!x.is_memory() || !y.is_memory() || (x.access == Access::read && y.access == Access::read)) {
          continue;
        }
        const std::uint32_t from = a_storage[x.buffer];
        const std::uint32_t to = c_storage[y.buffer];
        const bool same_tiles = x.halo && y.halo && before.range == after.range && x.counts_like(y);
        if (from == to) {
          add(halo         ? *halo
              : same_tiles ? reach(*x.halo, before.range) + reach(*y.halo, after.range)
                           : any_distance);
        } else if (!bytes_of(from).common(bytes_of(to)).empty()) {
          add(any_distance, true);
        }
      }
    }
    return clash;
  }

  // In the arena.
  [[nodiscard]] Run bytes_of(std::uint32_t buffer) const {
    const std::uint64_t begin = memory.offsets[buffer];
    return program.buffers[buffer].in_arena() ? Run{begin, begin + program.buffers[buffer].bytes} : Run{};
  }

  // Strided tiles count as the whole range from first to last.
  [[nodiscard]] as_on_device::tg_task share_of(std::uint32_t packs, std::uint32_t group) const {
    return as_on_device::tg_share_of(packs, group, groups, static_cast<std::uint32_t>(mapping));
  }

  // Returns the range of the wave's tiles that a group runs.
  [[nodiscard]] Run tiles_of(std::uint32_t wave, std::uint32_t group) const {
    const std::uint64_t first = schedule.places[wave].first_pack;
    const auto share = share_of(tables.stages[schedule.stage_of(wave).row].tiles, group);
    if (share.count == 0) {
      return {};
    }
    const Run own = Run{first, first + schedule.packs(program, wave)}.common(
        {share.first, share.first + std::uint64_t{share.step} * (share.count - 1) + 1});
    const std::uint64_t per_pack = schedule.tiles_per_pack[wave];
    return own.empty() ? Run{} : Run{(own.begin - first) * per_pack, (own.end - first) * per_pack};
  }

  void failed(std::string what) { // the first one counts
    violation = violation.empty() ? std::move(what) : violation;
  }
};

} // namespace

std::pair<std::uint32_t, std::uint32_t> awaited_groups(const WaitRow& wait, std::uint32_t begin,
                                                       std::uint32_t end, std::uint32_t groups) {
  const auto poll = as_on_device::tg_poll_of(wait, begin, end, groups);
  return {poll.first, poll.count};
}

std::string wait_violation(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                           const LaunchTables& tables, TileMapping mapping, std::uint32_t groups) {
  return WaitSimulation{program, schedule, memory, tables, mapping, groups}.run();
}

} // namespace tidegate::engine
