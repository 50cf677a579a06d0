#include <tidegate/core/text.hpp>
#include <tidegate/run/schedule.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace tidegate::run {
namespace {

constexpr std::size_t most_phases = 64;

// Names of file scope that other units use too, or that are reserved for the generated kernel.
std::map<std::string, std::string> renamed(const ResolvedProgram& program, std::size_t unit,
                                           const std::vector<std::set<std::string>>& words) {
  std::map<std::string, std::string> result;
  for (const std::string& name : program.units[unit].unit.file_scope_names) {
    bool meets = name.starts_with("tg_") || name.starts_with("tidegate_");
    for (std::size_t other = 0; other < words.size() && !meets; ++other) {
      meets = other != unit && words[other].contains(name);
    }
    // An overload of a built-in function must keep the name.
    const auto& functions = program.units[unit].unit.functions;
    const bool overload = std::ranges::any_of(functions, [&](const opencl_c::Function& function) {
      return function.is_overloadable && function.name == name;
    });
    if (meets && !overload) {
      result[name] = fmt::format("u{}_{}", unit, name);
    }
  }
  return result;
}

// By wave what keeps it from riding in a shared launch, or an empty string.
class Riding {
public:
  Riding(const ResolvedProgram& program, const CarriedOps& ops, std::uint32_t group_size, std::uint32_t unit)
      : program_(program), ops_(ops), group_size_(group_size), unit_(unit) {}

  [[nodiscard]] std::string obstacle(std::uint32_t wave) const {
    const NdRange& range = program_.waves[wave].range;
    const std::uint32_t op = program_.waves[wave].op;
    if (!program_.units[program_.ops[op].unit].built_in &&
        program_.units[program_.ops[op].unit].parsed_options.others !=
            program_.units[unit_].parsed_options.others) {
      return "its compiler options differ from those of the other ops";
    }
    if (!ops_.kernels[op].needs_whole_group) {
      return {};
    }
    if (range.group_size() != group_size_) {
      return fmt::format("its kernel has barriers or local memory and work-groups of {}, the others of {}",
                         range.group_size(), group_size_);
    }
    return range.ragged() ? "its kernel has barriers or local memory and its last work-group is smaller"
                          : std::string();
  }

private:
  const ResolvedProgram& program_;
  const CarriedOps& ops_;
  std::uint32_t group_size_;
  std::uint32_t unit_;
};

// The key with the largest weight; the first of equals.
template <class Key>
Key heaviest(const std::map<Key, std::uint64_t>& weights, Key otherwise) {
  std::uint64_t most = 0;
  for (const auto& [key, weight] : weights) {
    if (weight > most) {
      most = weight;
      otherwise = key;
    }
  }
  return otherwise;
}

// Work-items of a work-group: what most tiles of kernels with barriers need, or else what most tiles have.
std::uint32_t choose_group_size(const ResolvedProgram& program, const CarriedOps& ops,
                                std::uint32_t max_group_size) {
  std::map<std::uint32_t, std::uint64_t> strict;
  std::map<std::uint32_t, std::uint64_t> all;
  for (const ProgramWave& wave : program.waves) {
    const std::uint32_t size = wave.range.group_size();
    if (size > max_group_size || wave.transfer) { // those go with any size
      continue;
    }
    all[size] += wave.range.tiles();
    if (ops.kernels[wave.op].needs_whole_group && !wave.range.ragged()) {
      strict[size] += wave.range.tiles();
    }
  }
  return heaviest(strict.empty() ? all : strict, std::min(max_group_size, 256U));
}

Result<std::vector<std::vector<std::uint32_t>>> places(const ResolvedProgram& program) {
  std::vector<std::uint32_t> now(program.buffers.size());
  std::iota(now.begin(), now.end(), 0U);
  const std::vector<std::uint32_t> first = now;
  std::vector<std::vector<std::uint32_t>> places;
  do {
    places.push_back(now);
    for (const auto& [a, b] : program.swaps) {
      std::swap(now[a], now[b]);
    }
  } while (now != first && places.size() <= most_phases);
  if (places.size() > most_phases) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = fmt::format("these swaps take more than {} iterations until every "
                                                       "buffer is back in its place",
                                                       most_phases),
                                .fix = "swap fewer buffers, or pairs that do not meet",
                                .pointer = "/swap"});
  }
  return places;
}

} // namespace

Result<CarriedOps> carry_ops(const ResolvedProgram& program) {
  std::vector<std::set<std::string>> kernels(program.units.size());
  for (const ProgramWave& wave : program.waves) {
    kernels[program.ops[wave.op].unit].insert(program.function(wave.op).name);
  }
  std::vector<std::set<std::string>> words(program.units.size());
  for (std::size_t unit = 0; unit < words.size(); ++unit) {
    for (const opencl_c::Token& token : program.units[unit].unit.source.tokens) {
      if (token.kind == opencl_c::TokenKind::identifier) {
        words[unit].insert(token.text);
      }
    }
  }
  CarriedOps carried{.texts = std::vector<std::string>(program.units.size()),
                     .kernels = std::vector<opencl_c::CarriedKernel>(program.ops.size()),
                     .renamed = std::vector<std::map<std::string, std::string>>(program.units.size())};
  for (std::size_t unit = 0; unit < program.units.size(); ++unit) {
    if (kernels[unit].empty()) {
      continue;
    }
    carried.renamed[unit] = renamed(program, unit, words);
    auto result = opencl_c::carry(program.units[unit].unit, kernels[unit], carried.renamed[unit]);
    if (!result) {
      return tl::unexpected(std::move(result.error()));
    }
    carried.texts[unit] = std::move(result->text);
    for (std::size_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].unit == unit) {
        carried.kernels[op] = result->kernels[program.function(static_cast<std::uint32_t>(op)).name];
      }
    }
  }
  return carried;
}

bool Schedule::any_plain() const {
  return std::ranges::any_of(stages, &Stage::plain);
}

std::uint64_t Schedule::tiles_in(std::size_t begin, std::size_t end) const {
  std::uint64_t tiles = 0;
  for (std::size_t stage = begin; stage < end; ++stage) {
    tiles += stages[stage].tiles;
  }
  return tiles;
}

Result<Schedule> make_schedule(const ResolvedProgram& program, const CarriedOps& ops,
                               const planning::WaveGroups& groups, Strategy strategy,
                               std::uint32_t max_group_size) {
  Schedule schedule{.group_size = choose_group_size(program, ops, max_group_size)};
  std::map<std::vector<std::string>, std::uint64_t> weights;
  for (const ProgramWave& wave : program.waves) {
    if (wave.transfer) {
      continue;
    }
    weights[program.units[program.ops[wave.op].unit].parsed_options.others] += wave.range.tiles();
  }
  const auto options = heaviest(weights, std::vector<std::string>());
  for (std::uint32_t unit = 0; unit < program.units.size(); ++unit) {
    if (program.units[unit].parsed_options.others == options) {
      schedule.main_options = unit;
      break;
    }
  }
  auto found = places(program);
  if (!found) {
    return tl::unexpected(std::move(found.error()));
  }
  schedule.places = std::move(*found);

  const Riding riding(program, ops, schedule.group_size, schedule.main_options);
  const auto add = [&](Stage& shared) {
    shared.plain = strategy == Strategy::launch && shared.waves.size() == 1;
    if (!shared.waves.empty()) {
      schedule.stages.push_back(std::exchange(shared, {}));
    }
  };
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    Stage shared;
    std::vector<Stage> alone;
    for (const std::uint32_t wave : groups.group(group)) {
      const std::uint32_t tiles = program.waves[wave].range.tiles();
      std::string reason = riding.obstacle(wave);
      if (!reason.empty()) {
        schedule.left_behind.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .plain = true});
      } else {
        if (shared.tiles > std::numeric_limits<std::int32_t>::max() - tiles) { // tiles are counted in 31 bits
          add(shared);
        }
        shared.waves.push_back(wave);
        shared.tiles += tiles;
      }
    }
    add(shared);
    std::ranges::move(alone, std::back_inserter(schedule.stages));
    // Groups come phase by phase.
    const auto phase =
        groups.group(group).empty() ? WavePhase::after : program.waves[groups.group(group)[0]].phase;
    schedule.repeat_begin = phase == WavePhase::before ? schedule.stages.size() : schedule.repeat_begin;
    schedule.repeat_end = phase != WavePhase::after ? schedule.stages.size() : schedule.repeat_end;
  }
  return schedule;
}

std::string schedule_violation(const ResolvedProgram& program, const Schedule& schedule) {
  std::vector<std::optional<std::size_t>> stage_of(program.waves.size());
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::uint64_t tiles = 0;
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      if (wave >= stage_of.size() || stage_of[wave]) {
        return fmt::format("stage {} runs wave {} a second time", stage, wave);
      }
      stage_of[wave] = stage;
      const WavePhase phase = stage < schedule.repeat_begin ? WavePhase::before
                              : stage < schedule.repeat_end ? WavePhase::each
                                                            : WavePhase::after;
      if (program.waves[wave].phase != phase) {
        return fmt::format("stage {} runs {} in the phase \"{}\"", stage, program.wave_text(wave),
                           wave_phase_names[static_cast<std::size_t>(phase)]);
      }
      tiles += program.waves[wave].range.tiles();
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

} // namespace tidegate::run
