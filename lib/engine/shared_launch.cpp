// Decides which waves can share a launch, and with what work-group size and compiler options.
#include "engine/schedule.hpp"

namespace tidegate::engine {
namespace {

// Returns true if tiles of `lanes` work-items with barriers can share a work-group: there are 15 named
// barriers, of whole warps.
bool packable(std::uint32_t lanes, std::uint32_t group_size) {
  constexpr std::uint32_t warp = 32;
  constexpr std::uint32_t named_barriers = 15;
  return std::has_single_bit(lanes) && group_size % lanes == 0 && group_size % warp == 0 &&
         (warp % lanes == 0 || (lanes % warp == 0 && group_size / lanes <= named_barriers));
}

// Decides which waves a launch with this work-group size and these options can run.
struct Shareability {
  const Job& program;
  const OutlinedOps& ops;
  const KernelLimits& limits;
  std::uint32_t group_size;
  std::uint32_t unit; // whose compiler options it has

  // Returns why a wave cannot join it, or an empty string. `may_idle`: as if all work-items idled that may.
  [[nodiscard]] std::string obstacle(const ProgramWave& wave, bool may_idle = false) const {
    const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
    const std::uint32_t size = wave.range.group_size();
    if (!ops.alone[wave.op].empty()) {
      return ops.alone[wave.op];
    }
    if (program.unit(wave.op).built_in.empty() &&
        program.unit(wave.op).parsed_options.others != program.units[unit].parsed_options.others) {
      return "its compiler options differ from those of the other ops";
    }
    if (!kernel.sub_group_functions.empty()) {
      return fmt::format("its kernel calls {}: a compiler chooses the sub-groups again for every kernel",
                         *kernel.sub_group_functions.begin());
    }
    if (!kernel.needs_whole_group) {
      return {};
    }
    if (!limits.barrier_kernels_share) {
      return "its kernel has barriers or local memory, and no self-test has found such kernels right on this "
             "device as cases of one kernel";
    }
    if ((kernel.idles || (may_idle && kernel.may_idle)) && size <= group_size) {
      return {};
    }
    if (size != group_size && !packs(wave)) {
      return fmt::format("its kernel has barriers or local memory and work-groups of {}, the others of {}",
                         size, group_size);
    }
    return wave.range.ragged() ? "its kernel has barriers or local memory and its last work-group is smaller"
                               : std::string();
  }

  // Returns true if several of its virtual work-groups may share one work-group.
  [[nodiscard]] bool packs(const ProgramWave& wave) const {
    const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
    const std::uint32_t lanes = wave.range.group_size();
    return limits.named_barriers && kernel.packs && packable(lanes, group_size) &&
           kernel.local_bytes * (group_size / lanes) <= limits.local_bytes;
  }
};

// Returns the key with the largest weight; the first of equals.
template <class Key>
Key heaviest(const std::map<Key, double>& weights, Key otherwise) {
  double most = 0;
  for (const auto& [key, weight] : weights) {
    if (weight > most) {
      most = weight;
      otherwise = key;
    }
  }
  return otherwise;
}

// Returns the work-group size: the one that most tiles of kernels with barriers need, else the size of most work-items
// that run, as a smaller work-group runs a tile in several passes; multiplied by the number of concurrent tiles.
std::uint32_t choose_group_size(const Job& program, const OutlinedOps& ops, const KernelLimits& limits) {
  const std::uint32_t max_group_size = limits.group_size;
  std::map<std::uint32_t, double> strict; // tiles
  std::map<std::uint32_t, double> all;    // work-items
  std::uint32_t least_without_idling = max_group_size;
  for (const ProgramWave& wave : program.waves) {
    const std::uint32_t size = wave.range.group_size();
    if (size > max_group_size || !program.unit(wave.op).built_in.empty() || !ops.alone[wave.op].empty() ||
        !ops.kernels[wave.op].sub_group_functions.empty()) {
      continue;
    }
    const auto tiles = static_cast<double>(tiles_as_written(wave));
    all[size] += tiles * size * static_cast<double>(program.runs_of(wave));
    const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
    const bool may_idle = limits.items_idle && kernel.may_idle;
    if (kernel.needs_whole_group && (!wave.range.ragged() || may_idle)) {
      strict[size] += tiles;
      least_without_idling = may_idle ? least_without_idling : std::min(least_without_idling, size);
    }
  }
  // If smaller tiles can share a work-group, or not too many work-items would idle, the largest size fits all.
  constexpr double most_idle = 4; // for each that works: an idle one costs little
  const std::uint32_t largest = strict.empty() ? 0 : strict.rbegin()->first;
  double work = 0;
  double idle = 0;
  for (const auto& [size, tiles] : strict) {
    work += size * tiles;
    idle += (largest - size) * tiles;
  }
  const bool fits_all =
      limits.named_barriers || (least_without_idling >= largest && idle <= most_idle * work);
  const std::uint32_t size = largest != 0 && fits_all
                                 ? largest
                                 : heaviest(strict.empty() ? all : strict, std::min(max_group_size, 256U));
  const bool may_pack = std::has_single_bit(size) && (strict.empty() || limits.named_barriers);
  const std::uint32_t most = may_pack ? std::max(max_group_size / size, 1U) : 1;
  return size * std::clamp(limits.tiles_side_by_side, 1U, most);
}

// Returns the first unit of those whose compiler options cover most tiles.
std::uint32_t main_options(const Job& program) {
  std::map<std::vector<std::string>, double> weights;
  for (const ProgramWave& wave : program.waves) {
    if (program.unit(wave.op).built_in.empty()) {
      weights[program.unit(wave.op).parsed_options.others] += static_cast<double>(tiles_as_written(wave));
    }
  }
  const auto options = heaviest(weights, std::vector<std::string>());
  for (std::uint32_t unit = 0; unit < program.units.size(); ++unit) {
    if (program.units[unit].parsed_options.others == options) {
      return unit;
    }
  }
  return 0;
}

} // namespace

SharedLaunch shared_launch(const Job& program, const OutlinedOps& ops, const KernelLimits& limits) {
  SharedLaunch shared{.group_size = choose_group_size(program, ops, limits),
                      .main_options = main_options(program),
                      .obstacles = {}};
  const Shareability launch{program, ops, limits, shared.group_size, shared.main_options};
  for (const ProgramWave& wave : program.waves) {
    shared.obstacles.push_back(launch.obstacle(wave));
  }
  return shared;
}

std::set<std::uint32_t> ops_to_idle(const Job& program, const OutlinedOps& ops, const KernelLimits& limits) {
  const Shareability launch{program, ops, limits, choose_group_size(program, ops, limits),
                            main_options(program)};
  std::set<std::uint32_t> idling;
  for (const ProgramWave& wave : program.waves) {
    if (limits.items_idle && !launch.obstacle(wave).empty() && launch.obstacle(wave, true).empty()) {
      idling.insert(wave.op);
    }
  }
  for (const ProgramWave& wave : program.waves) {
    if (wave.range.group_size() != launch.group_size && !wave.range.ragged() && launch.packs(wave)) {
      idling.erase(wave.op); // its work-groups would not run side by side any more
    }
  }
  return idling;
}

std::uint64_t tiles_as_written(const ProgramWave& wave) {
  return std::uint64_t{wave.range.tiles()} * wave.joined_waves;
}

} // namespace tidegate::engine
