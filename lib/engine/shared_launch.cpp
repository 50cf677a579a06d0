#include "engine/shared_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

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

// Finds for each wave the reason why it cannot join a shared launch, or an empty string.
class ShareabilityAnalysis {
public:
  ShareabilityAnalysis(const Job& program, const OutlinedOps& ops, std::uint32_t group_size,
                       std::uint32_t unit, const KernelLimits& limits)
      : program_(program), ops_(ops), group_size_(group_size), unit_(unit), limits_(limits) {}

  // `may_idle`: as if all work-items idled that may.
  [[nodiscard]] std::string obstacle(std::uint32_t wave, bool may_idle = false) const {
    const NdRange& range = program_.waves[wave].range;
    const std::uint32_t op = program_.waves[wave].op;
    if (!ops_.alone[op].empty()) {
      return ops_.alone[op];
    }
    if (program_.unit(op).built_in.empty() &&
        program_.unit(op).parsed_options.others != program_.units[unit_].parsed_options.others) {
      return "its compiler options differ from those of the other ops";
    }
    if (!ops_.kernels[op].sub_group_functions.empty()) {
      return fmt::format("its kernel calls {}: a compiler chooses the sub-groups again for every kernel",
                         *ops_.kernels[op].sub_group_functions.begin());
    }
    if (!ops_.kernels[op].needs_whole_group) {
      return {};
    }
    if (!limits_.barrier_kernels_share) {
      return "its kernel has barriers or local memory, and no self-test has found such kernels right on this "
             "device as cases of one kernel";
    }
    if ((ops_.kernels[op].idles || (may_idle && ops_.kernels[op].may_idle)) &&
        range.group_size() <= group_size_) {
      return {};
    }
    if (!fills(range) && !packs(op, range.group_size())) {
      return fmt::format("its kernel has barriers or local memory and work-groups of {}, the others of {}",
                         range.group_size(), group_size_);
    }
    return range.ragged() ? "its kernel has barriers or local memory and its last work-group is smaller"
                          : std::string();
  }

  // Returns true if its work-groups run side by side in a larger one.
  [[nodiscard]] bool packs(std::uint32_t wave) const {
    const NdRange& range = program_.waves[wave].range;
    return !fills(range) && !range.ragged() && packs(program_.waves[wave].op, range.group_size());
  }

private:
  [[nodiscard]] bool fills(const NdRange& range) const { return range.group_size() == group_size_; }

  // Returns true if several of its virtual work-groups may share one work-group.
  [[nodiscard]] bool packs(std::uint32_t op, std::uint32_t lanes) const {
    const opencl_c::OutlinedKernel& kernel = ops_.kernels[op];
    return limits_.named_barriers && kernel.packs && packable(lanes, group_size_) &&
           kernel.local_bytes * (group_size_ / lanes) <= limits_.local_bytes;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  std::uint32_t group_size_;
  std::uint32_t unit_;
  const KernelLimits& limits_;
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
  const ShareabilityAnalysis riding(program, ops, shared.group_size, shared.main_options, limits);
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    shared.obstacles.push_back(riding.obstacle(wave));
  }
  return shared;
}

std::set<std::uint32_t> ops_to_idle(const Job& program, const OutlinedOps& ops, const KernelLimits& limits) {
  const ShareabilityAnalysis sharing(program, ops, choose_group_size(program, ops, limits),
                                     main_options(program), limits);
  std::set<std::uint32_t> idling;
  for (std::uint32_t wave = 0; wave < program.waves.size() && limits.items_idle; ++wave) {
    if (!sharing.obstacle(wave).empty() && sharing.obstacle(wave, true).empty()) {
      idling.insert(program.waves[wave].op);
    }
  }
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (sharing.packs(wave)) { // it would not any more
      idling.erase(program.waves[wave].op);
    }
  }
  return idling;
}

std::uint64_t tiles_as_written(const ProgramWave& wave) {
  return std::uint64_t{wave.range.tiles()} * wave.joined_waves;
}

} // namespace tidegate::engine
