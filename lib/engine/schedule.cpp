#include "engine/schedule.hpp"

#include "engine/kernel_objects.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

constexpr std::size_t most_phases = 64;

Result<std::vector<std::vector<std::uint32_t>>> storage_of(const Job& program) {
  std::vector<std::uint32_t> now(program.buffers.size());
  std::iota(now.begin(), now.end(), 0U);
  const std::vector<std::uint32_t> first = now;
  std::vector<std::vector<std::uint32_t>> storage;
  do {
    storage.push_back(now);
    for (const auto& [a, b] : program.swaps) {
      std::swap(now[a], now[b]);
    }
  } while (now != first && storage.size() <= most_phases);
  if (storage.size() > most_phases) {
    return failure(ErrorCode::invalid_program,
                   fmt::format("these swaps take more than {} iterations until every "
                               "buffer is back in its place",
                               most_phases),
                   "swap fewer buffers, or pairs that do not meet", "/swap");
  }
  return storage;
}

// By op with barriers: the images and samplers of the only call that the kernel may contain.
class SingleCalls {
public:
  SingleCalls(const Job& program, const OutlinedOps& ops, bool wanted)
      : program_(program), ops_(ops), wanted_(wanted) {}

  // Returns why a wave cannot share a launch; otherwise records its call as the op's.
  std::string obstacle(std::uint32_t wave, const std::vector<std::vector<std::uint32_t>>& storage) {
    const std::uint32_t op = program_.waves[wave].op;
    if (!wanted_ || !ops_.kernels[op].needs_whole_group) {
      return {};
    }
    for (const auto& of_phase : storage) {
      std::vector<KernelObject> objects;
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        if (argument.is_object()) {
          objects.push_back(kernel_object(argument, of_phase));
        }
      }
      if (calls_.try_emplace(op, objects).first->second != objects) {
        return "its kernel has barriers or local memory and is called with several images or samplers, which "
               "compilers for CPUs do not keep apart";
      }
    }
    return {};
  }

private:
  const Job& program_;
  const OutlinedOps& ops_;
  const bool wanted_;
  std::map<std::uint32_t, std::vector<KernelObject>> calls_;
};

// Adds the stages of the groups. Waves that cannot share a launch get separate stages after the others of
// their group.
void add_stages(const Job& program, const OutlinedOps& ops, const planning::BarrierGroups& groups,
                const std::vector<std::string>& obstacles, Strategy strategy, const KernelLimits& limits,
                Schedule& schedule) {
  ImageConflicts images(program, schedule.storage, limits.objects);
  SingleCalls calls(program, ops, limits.one_call_with_barriers);
  bool launch_ends = false; // before the next shared stage
  const auto end_launch = [&](std::uint32_t wave, std::string reason) {
    if (is_persistent(strategy)) {
      launch_ends = true;
      schedule.new_launches.push_back({.wave = wave, .reason = std::move(reason)});
    }
    images.next_launch();
  };
  Section last = Section::before;
  const auto add = [&](Stage& shared) {
    // A window is not a user's kernel.
    shared.plain = !is_persistent(strategy) && shared.waves.size() == 1 &&
                   program.waves[shared.waves.front()].joined_waves == 1;
    if (!shared.waves.empty()) {
      shared.new_launch = std::exchange(launch_ends, false);
      schedule.stages.push_back(std::exchange(shared, {}));
    }
    if (!is_persistent(strategy)) {
      images.next_launch();
    }
  };
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    Stage shared;
    std::vector<Stage> alone;
    const bool apart = strategy == Strategy::plain;
    const bool has_launch = apart || (strategy == Strategy::launch && groups.group(group).size() == 1);
    // Groups are ordered by section. A launch that wrote images ends with its section: the next one may repeat.
    const Section section =
        groups.group(group).empty() ? Section::after : program.waves[groups.group(group)[0]].section;
    if (std::string reason = images.ends("before it");
        std::exchange(last, section) != section && !reason.empty()) {
      end_launch(groups.group(group).front(), std::move(reason));
    }
    for (const std::uint32_t wave : groups.group(group)) {
      const std::uint32_t tiles = program.waves[wave].range.tiles();
      std::string reason = apart ? std::string() : obstacles[wave];
      if (reason.empty() && !has_launch) {
        reason = images.obstacle(wave);
      }
      if (reason.empty() && !has_launch) {
        reason = calls.obstacle(wave, schedule.storage);
      }
      if (!reason.empty()) {
        schedule.fallbacks.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .packs = tiles, .plain = true});
      } else {
        const bool in_rounds = program.waves[wave].in_rounds(); // the stage repeats it
        if (in_rounds) {
          add(shared);
        }
        const std::uint32_t packs = schedule.packs(program, wave);
        if (shared.packs > std::numeric_limits<std::int32_t>::max() - packs) { // packs are counted in 31 bits
          add(shared);
        }
        if (!has_launch) {
          if (std::string ends = images.ends_before(wave); !ends.empty()) {
            add(shared);
            end_launch(wave, std::move(ends));
          }
          images.add(wave);
          if (section == Section::each && program.iterations > 1 && is_persistent(strategy) &&
              !schedule.launch_per_iteration) {
            if (std::string ends = images.ends("in every iteration"); !ends.empty()) {
              schedule.launch_per_iteration = true;
              schedule.new_launches.push_back({.wave = wave, .reason = std::move(ends)});
            }
          }
        }
        shared.waves.push_back(wave);
        shared.tiles += tiles_as_written(program.waves[wave]);
        shared.packs += packs;
        if (in_rounds || apart) {
          add(shared);
        }
      }
    }
    add(shared);
    if (!alone.empty()) {
      images.next_launch();
    }
    std::ranges::move(alone, std::back_inserter(schedule.stages));
    schedule.repeat_begin = section == Section::before ? schedule.stages.size() : schedule.repeat_begin;
    schedule.repeat_end = section != Section::after ? schedule.stages.size() : schedule.repeat_end;
  }
}

} // namespace

bool Schedule::repeats_in_one_launch() const {
  bool one = !launch_per_iteration;
  for (std::size_t i = repeat_begin; i < repeat_end; ++i) {
    one = one && !stages[i].plain && (i == repeat_begin || !stages[i].new_launch);
  }
  return one;
}

bool Schedule::is_one_launch() const {
  return repeats_in_one_launch() &&
         std::ranges::none_of(stages, [](const Stage& stage) { return stage.plain || stage.new_launch; });
}

Result<Schedule> make_schedule(const Job& program, const OutlinedOps& ops,
                               const planning::BarrierGroups& groups, Strategy strategy,
                               const KernelLimits& limits) {
  const SharedLaunch shared = shared_launch(program, ops, limits);
  Schedule schedule{.group_size = shared.group_size, .main_options = shared.main_options};
  for (const ProgramWave& wave : program.waves) {
    // Shifts compute the tile of a work-item.
    const std::uint32_t size = wave.range.group_size();
    const bool shares =
        limits.tiles_side_by_side != 0 && std::has_single_bit(size) && !ops.kernels[wave.op].idles;
    schedule.tiles_per_pack.push_back(shares ? std::max(schedule.group_size / size, 1U) : 1);
  }
  TIDEGATE_TRY(auto found, storage_of(program));
  schedule.storage = std::move(found);
  add_stages(program, ops, groups, shared.obstacles, strategy, limits, schedule);
  return schedule;
}

std::string schedule_violation(const Job& program, const Schedule& schedule) {
  std::vector<std::optional<std::size_t>> stage_of(program.waves.size());
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::uint64_t tiles = 0;
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      if (wave >= stage_of.size() || stage_of[wave]) {
        return fmt::format("stage {} runs wave {} a second time", stage, wave);
      }
      stage_of[wave] = stage;
      if (schedule.stages[stage].plain && program.waves[wave].joined_waves != 1) {
        return fmt::format("stage {} launches {}, which are no kernel", stage, program.wave_text(wave));
      }
      const Section section = stage < schedule.repeat_begin ? Section::before
                              : stage < schedule.repeat_end ? Section::each
                                                            : Section::after;
      if (program.waves[wave].section != section) {
        return fmt::format("stage {} runs {} in the phase \"{}\"", stage, program.wave_text(wave),
                           section_names[static_cast<std::size_t>(section)]);
      }
      tiles += tiles_as_written(program.waves[wave]);
    }
    if (tiles != schedule.stages[stage].tiles || tiles == 0) {
      return fmt::format("stage {} counts {} tiles, its waves have {}", stage, schedule.stages[stage].tiles,
                         tiles);
    }
  }
  for (std::uint32_t wave = 0; wave < stage_of.size(); ++wave) {
    if (!stage_of[wave]) {
      return fmt::format("{} is in no stage", program.wave_text(wave));
    }
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (stage_of[dependency.before] >= stage_of[dependency.after]) {
      return fmt::format("{} waits for {}, which no earlier stage runs", program.wave_text(dependency.after),
                         program.wave_text(dependency.before));
    }
  }
  return {};
}

} // namespace tidegate::engine
