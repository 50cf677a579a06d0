#include <tidegate/compiler/image_conflicts.hpp>
#include <tidegate/compiler/kernel_objects.hpp>
#include <tidegate/compiler/schedule.hpp>
#include <tidegate/compiler/source_unit.hpp>
#include <tidegate/core/error_list.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/device/kernels.hpp>
#include <tidegate/opencl_c/lexer.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace tidegate::compiler {
namespace {

constexpr std::size_t most_phases = 64;

using Words = std::set<std::string, std::less<>>;

// Every identifier of a text.
Words words_of(std::span<const opencl_c::Token> tokens) {
  Words words;
  for (const opencl_c::Token& token : tokens) {
    if (token.kind == opencl_c::TokenKind::identifier) {
      words.insert(token.text);
    }
  }
  return words;
}

// Those of the sources that are compiled with the units.
Words generated_words() {
  Words words;
  for (const std::string_view text :
       {device::virtual_ndrange_source(), device::tables_source(), device::device_barrier_source(),
        device::occupancy_source(), device::tasks_source(), device::progress_state_source(),
        device::progress_source(), device::persistent_source(), device::stage_source()}) {
    opencl_c::Lexer lexer(text, "");
    for (auto line = lexer.next_line(); line && !line->empty(); line = lexer.next_line()) {
      words.merge(words_of(*line));
    }
  }
  return words;
}

bool is_reserved(std::string_view name) {
  return name.starts_with("tg_") || name.starts_with("TG_") || name.starts_with("tidegate_");
}

// A unit without names that begin as generated ones do, wherever it uses them, and what its names of file
// scope are now.
Result<opencl_c::TranslationUnit> without_reserved_names(const opencl_c::TranslationUnit& unit,
                                                         std::map<std::string, std::string>& names) {
  const Words words = words_of(unit.source.tokens);
  if (std::ranges::none_of(words, is_reserved)) {
    for (const std::string& name : unit.file_scope_names) {
      names[name] = name;
    }
    return unit;
  }
  opencl_c::TokenStream source = unit.source;
  std::string prefix = "own_";
  while (words.lower_bound(prefix) != words.end() && words.lower_bound(prefix)->starts_with(prefix)) {
    prefix += '_';
  }
  for (opencl_c::Token& token : source.tokens) {
    if (token.kind == opencl_c::TokenKind::identifier && is_reserved(token.text)) {
      token.text.insert(0, prefix);
    }
  }
  for (const std::string& name : unit.file_scope_names) {
    names[name] = (is_reserved(name) ? prefix : "") + name;
  }
  return opencl_c::parse_translation_unit(std::move(source));
}

// Names of file scope that another text uses, too: words[unit] are a unit's own.
std::map<std::string, std::string> renamed(const opencl_c::TranslationUnit& source, std::size_t unit,
                                           const std::vector<Words>& words) {
  const auto used = [&words](const std::string& name, std::size_t but) {
    for (std::size_t other = 0; other < words.size(); ++other) {
      if (other != but && words[other].contains(name)) {
        return true;
      }
    }
    return false;
  };
  std::map<std::string, std::string> result;
  for (const std::string& name : source.file_scope_names) {
    // An overload of a built-in function must keep the name.
    const bool overload = std::ranges::any_of(source.functions, [&](const opencl_c::Function& function) {
      return function.is_overloadable && function.name == name && opencl_c::is_built_in_function(name);
    });
    if (!overload && used(name, unit)) {
      std::string fresh = fmt::format("u{}_{}", unit, name);
      while (used(fresh, words.size())) {
        fresh += '_';
      }
      result[name] = std::move(fresh);
    }
  }
  return result;
}

// A built-in function that the unit overloads and that another unit calls, or an empty string. What is
// generated calls them with types that they have themselves.
std::string shared_overload(const opencl_c::TranslationUnit& source, std::size_t unit,
                            const std::vector<Words>& words) {
  for (const opencl_c::Function& function : source.functions) {
    for (std::size_t other = 0; other + 1 < words.size() && function.is_overloadable; ++other) {
      if (other != unit && words[other].contains(function.name) &&
          opencl_c::is_built_in_function(function.name)) {
        return function.name;
      }
    }
  }
  return {};
}

std::string reason_of(const Error& error) {
  return error.line
             ? fmt::format("{} ({}:{})", error.message, printable(error.source.value_or("")), *error.line)
             : error.message;
}

// Whether tiles of so many work-items that meet at barriers can share a work-group: there are 15 named
// barriers, of whole warps.
bool packable(std::uint32_t lanes, std::uint32_t group_size) {
  constexpr std::uint32_t warp = 32;
  constexpr std::uint32_t named_barriers = 15;
  return std::has_single_bit(lanes) && group_size % lanes == 0 &&
         (warp % lanes == 0 || (lanes % warp == 0 && group_size / lanes <= named_barriers));
}

// By wave what keeps it from riding in a shared launch, or an empty string.
class Riding {
public:
  Riding(const ResolvedProgram& program, const OutlinedOps& ops, std::uint32_t group_size, std::uint32_t unit,
         const KernelLimits& limits)
      : program_(program), ops_(ops), group_size_(group_size), unit_(unit), limits_(limits) {}

  [[nodiscard]] std::string obstacle(std::uint32_t wave) const {
    const NdRange& range = program_.waves[wave].range;
    const std::uint32_t op = program_.waves[wave].op;
    if (!ops_.alone[op].empty()) {
      return ops_.alone[op];
    }
    if (!program_.units[program_.ops[op].unit].built_in &&
        program_.units[program_.ops[op].unit].parsed_options.others !=
            program_.units[unit_].parsed_options.others) {
      return "its compiler options differ from those of the other ops";
    }
    if (!ops_.kernels[op].sub_group_functions.empty()) {
      return fmt::format("its kernel calls {}: a compiler chooses the sub-groups anew for every kernel",
                         *ops_.kernels[op].sub_group_functions.begin());
    }
    if (!ops_.kernels[op].needs_whole_group) {
      return {};
    }
    if (!fills(range) && !packs(op, range.group_size())) {
      return fmt::format("its kernel has barriers or local memory and work-groups of {}, the others of {}",
                         range.group_size(), group_size_);
    }
    return range.ragged() ? "its kernel has barriers or local memory and its last work-group is smaller"
                          : std::string();
  }

private:
  [[nodiscard]] bool fills(const NdRange& range) const { return range.group_size() == group_size_; }

  // Whether several of its work-groups may share one.
  [[nodiscard]] bool packs(std::uint32_t op, std::uint32_t lanes) const {
    const opencl_c::OutlinedKernel& kernel = ops_.kernels[op];
    return limits_.named_barriers && kernel.packs && packable(lanes, group_size_) &&
           kernel.local_bytes * (group_size_ / lanes) <= limits_.local_bytes;
  }

  const ResolvedProgram& program_;
  const OutlinedOps& ops_;
  std::uint32_t group_size_;
  std::uint32_t unit_;
  const KernelLimits& limits_;
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

// Tiles of a wave, or of all those of a window.
std::uint64_t weight(const ProgramWave& wave) {
  return wave.range.tiles() * std::max<std::uint64_t>(wave.window.size(), 1);
}

// Work-items of a work-group: what most tiles of kernels with barriers need, or else what most tiles have; as
// often as tiles run side by side.
std::uint32_t choose_group_size(const ResolvedProgram& program, const OutlinedOps& ops,
                                const KernelLimits& limits) {
  const std::uint32_t max_group_size = limits.group_size;
  std::map<std::uint32_t, std::uint64_t> strict;
  std::map<std::uint32_t, std::uint64_t> all;
  for (const ProgramWave& wave : program.waves) {
    const std::uint32_t size = wave.range.group_size();
    if (size > max_group_size || wave.transfer || !ops.alone[wave.op].empty() || // transfers go with any size
        !ops.kernels[wave.op].sub_group_functions.empty()) {
      continue;
    }
    all[size] += weight(wave);
    if (ops.kernels[wave.op].needs_whole_group && !wave.range.ragged()) {
      strict[size] += weight(wave);
    }
  }
  // Where smaller ones can share a work-group, the largest has room for all.
  const std::uint32_t size = !strict.empty() && limits.named_barriers
                                 ? strict.rbegin()->first
                                 : heaviest(strict.empty() ? all : strict, std::min(max_group_size, 256U));
  const bool may_pack = std::has_single_bit(size) && (strict.empty() || limits.named_barriers);
  const std::uint32_t most = may_pack ? std::max(max_group_size / size, 1U) : 1;
  return size * std::clamp(limits.tiles_side_by_side, 1U, most);
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

// Every wave hands the op memory of its own for each pointer. Buffers of one wave never share memory.
bool has_distinct_buffers(const ResolvedProgram& program, std::uint32_t op) {
  return std::ranges::all_of(program.waves, [op](const ProgramWave& wave) {
    std::set<std::uint32_t> buffers;
    return wave.op != op || std::ranges::all_of(wave.arguments, [&buffers](const ProgramArgument& argument) {
             return argument.kind != ProgramArgument::Kind::buffer || buffers.insert(argument.buffer).second;
           });
  });
}

} // namespace

Result<OutlinedOps> outline_ops(const ResolvedProgram& program, const RegisterCopies& copies) {
  std::vector<std::set<std::string>> kernels(program.units.size());
  for (const ProgramWave& wave : program.waves) {
    kernels[program.ops[wave.op].unit].insert(program.function(wave.op).name);
    if (wave.queue && wave.queue->requeues) {
      kernels[program.ops[wave.op].unit].insert(program.function(turn_op(wave)).name);
    }
  }
  // The generated texts count as one unit more.
  std::vector<Words> words;
  std::vector<opencl_c::TranslationUnit> units;
  std::vector<std::map<std::string, std::string>> names(program.units.size());
  for (std::size_t unit = 0; unit < program.units.size(); ++unit) {
    auto source = without_reserved_names(program.units[unit].unit, names[unit]);
    if (!source) {
      return tl::unexpected(with_line_of(program.units[unit].files, std::move(source.error())));
    }
    units.push_back(std::move(*source));
    words.push_back(words_of(units.back().source.tokens));
  }
  words.push_back(generated_words());
  OutlinedOps outlined{.texts = std::vector<std::string>(program.units.size()),
                       .order = {},
                       .kernels = std::vector<opencl_c::OutlinedKernel>(program.ops.size()),
                       .alone = std::vector<std::string>(program.ops.size()),
                       .renamed = std::vector<std::map<std::string, std::string>>(program.units.size())};
  std::vector<std::uint32_t> last;
  ErrorList errors;
  for (std::size_t unit = 0; unit < program.units.size(); ++unit) {
    if (kernels[unit].empty()) {
      continue;
    }
    std::set<std::string> wanted;
    for (const std::string& kernel : kernels[unit]) {
      wanted.insert(names[unit].at(kernel));
    }
    const std::string overload = shared_overload(units[unit], unit, words);
    const auto renamings = renamed(units[unit], unit, words);
    for (const auto& [own, kept] : names[unit]) {
      const auto found = renamings.find(kept);
      outlined.renamed[unit][own] = found == renamings.end() ? kept : found->second;
    }
    std::set<std::string> distinct = wanted;
    for (std::uint32_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].unit == unit && !has_distinct_buffers(program, op)) {
        distinct.erase(names[unit].at(program.function(op).name));
      }
    }
    std::vector<opencl_c::RegisterCopy> own_copies;
    if (const auto found = copies.find(static_cast<std::uint32_t>(unit)); found != copies.end()) {
      own_copies = found->second;
      for (opencl_c::RegisterCopy& copy : own_copies) {
        copy.kernel = names[unit].at(copy.kernel);
      }
    }
    auto result = opencl_c::outline(units[unit], overload.empty() ? wanted : std::set<std::string>(),
                                    renamings, distinct, own_copies);
    if (!result) {
      errors.add(with_line_of(program.units[unit].files, std::move(result.error())));
      continue;
    }
    outlined.texts[unit] = std::move(result->text);
    (result->enables_fp64 ? last : outlined.order).push_back(static_cast<std::uint32_t>(unit));
    for (std::uint32_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].unit != unit) {
        continue;
      }
      const std::string& name = names[unit].at(program.function(op).name);
      if (const auto found = result->fallbacks.find(name); found != result->fallbacks.end()) {
        outlined.alone[op] = reason_of(found->second);
      } else if (!overload.empty()) {
        outlined.alone[op] =
            fmt::format("its source overloads {}, which other sources use, too", in_quotes(overload));
      } else {
        outlined.kernels[op] = result->kernels[name];
      }
    }
  }
  TIDEGATE_CHECK(errors.result());
  std::ranges::copy(last, std::back_inserter(outlined.order));
  return outlined;
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

namespace {

// By op with barriers, the images and samplers of the one call that a kernel may have of it.
class SingleCalls {
public:
  SingleCalls(const ResolvedProgram& program, const OutlinedOps& ops, bool wanted)
      : program_(program), ops_(ops), wanted_(wanted) {}

  // Why a wave cannot ride; otherwise its call is the op's.
  std::string obstacle(std::uint32_t wave, const std::vector<std::vector<std::uint32_t>>& places) {
    const std::uint32_t op = program_.waves[wave].op;
    if (!wanted_ || !ops_.kernels[op].needs_whole_group) {
      return {};
    }
    for (const auto& place : places) {
      std::vector<KernelObject> objects;
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        if (argument.is_object()) {
          objects.push_back(kernel_object(argument, place));
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
  const ResolvedProgram& program_;
  const OutlinedOps& ops_;
  const bool wanted_;
  std::map<std::uint32_t, std::vector<KernelObject>> calls_;
};

// The stages of the groups. Waves that cannot share a launch get stages of their own behind the others of
// their group; whether any shared wave writes images is told beside.
bool add_stages(const ResolvedProgram& program, const OutlinedOps& ops, const planning::WaveGroups& groups,
                Strategy strategy, const KernelLimits& limits, bool iterations_share, Schedule& schedule) {
  const Riding riding(program, ops, schedule.group_size, schedule.main_options, limits);
  ImageConflicts images(program, schedule.places, limits.objects, iterations_share);
  SingleCalls calls(program, ops, limits.one_call_with_barriers);
  const auto add = [&](Stage& shared) {
    // A window is no kernel of the user's.
    shared.plain = strategy == Strategy::launch && shared.waves.size() == 1 &&
                   program.waves[shared.waves.front()].window.empty();
    if (!shared.waves.empty()) {
      schedule.stages.push_back(std::exchange(shared, {}));
    }
    if (strategy == Strategy::launch) {
      images.next_launch();
    }
  };
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    Stage shared;
    std::vector<Stage> alone;
    const bool has_launch = strategy == Strategy::launch && groups.group(group).size() == 1; // of its own
    for (const std::uint32_t wave : groups.group(group)) {
      const std::uint32_t tiles = program.waves[wave].range.tiles();
      std::string reason = riding.obstacle(wave);
      if (reason.empty() && !has_launch) {
        reason = images.obstacle(wave);
      }
      if (reason.empty() && !has_launch) {
        reason = calls.obstacle(wave, schedule.places);
      }
      if (!reason.empty()) {
        schedule.fallbacks.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .packs = tiles, .plain = true});
      } else {
        const auto& queue = program.waves[wave].queue;
        const bool in_rounds = queue && queue->requeues; // which the stage runs again and again
        if (in_rounds) {
          add(shared);
        }
        const std::uint32_t packs = schedule.packs(program, wave);
        if (shared.packs > std::numeric_limits<std::int32_t>::max() - packs) { // they are counted in 31 bits
          add(shared);
        }
        if (!has_launch) {
          images.add(wave);
        }
        shared.waves.push_back(wave);
        shared.tiles += weight(program.waves[wave]);
        shared.packs += packs;
        if (in_rounds) {
          add(shared);
        }
      }
    }
    add(shared);
    if (!alone.empty()) {
      images.next_launch();
    }
    std::ranges::move(alone, std::back_inserter(schedule.stages));
    // Groups come phase by phase.
    const auto phase =
        groups.group(group).empty() ? WavePhase::after : program.waves[groups.group(group)[0]].phase;
    schedule.repeat_begin = phase == WavePhase::before ? schedule.stages.size() : schedule.repeat_begin;
    schedule.repeat_end = phase != WavePhase::after ? schedule.stages.size() : schedule.repeat_end;
  }
  return images.writes_images();
}

// The first unit of those whose compiler options most tiles share.
std::uint32_t main_options(const ResolvedProgram& program) {
  std::map<std::vector<std::string>, std::uint64_t> weights;
  for (const ProgramWave& wave : program.waves) {
    if (wave.transfer) {
      continue;
    }
    weights[program.units[program.ops[wave.op].unit].parsed_options.others] += weight(wave);
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

SharedLaunch shared_launch(const ResolvedProgram& program, const OutlinedOps& ops,
                           const KernelLimits& limits) {
  SharedLaunch shared{.group_size = choose_group_size(program, ops, limits), .obstacles = {}};
  const Riding riding(program, ops, shared.group_size, main_options(program), limits);
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    shared.obstacles.push_back(riding.obstacle(wave));
  }
  return shared;
}

Result<Schedule> make_schedule(const ResolvedProgram& program, const OutlinedOps& ops,
                               const planning::WaveGroups& groups, Strategy strategy,
                               const KernelLimits& limits) {
  Schedule schedule{.group_size = choose_group_size(program, ops, limits),
                    .main_options = main_options(program)};
  for (const ProgramWave& wave : program.waves) {
    // Which tile a work-item belongs to is a matter of shifts.
    const std::uint32_t size = wave.range.group_size();
    const bool shares = limits.tiles_side_by_side != 0 && std::has_single_bit(size);
    schedule.tiles_per_pack.push_back(shares ? std::max(schedule.group_size / size, 1U) : 1);
  }
  auto found = places(program);
  if (!found) {
    return tl::unexpected(std::move(found.error()));
  }
  schedule.places = std::move(*found);

  // Where no wave has to be launched alone, one launch has all iterations.
  Schedule result = schedule;
  const bool writes_images = add_stages(program, ops, groups, strategy, limits, false, result);
  if (writes_images && is_persistent(strategy) && program.iterations > 1 && !result.any_plain()) {
    result = schedule;
    add_stages(program, ops, groups, strategy, limits, true, result);
  }
  return result;
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
      if (schedule.stages[stage].plain && !program.waves[wave].window.empty()) {
        return fmt::format("stage {} launches {}, which are no kernel", stage, program.wave_text(wave));
      }
      const WavePhase phase = stage < schedule.repeat_begin ? WavePhase::before
                              : stage < schedule.repeat_end ? WavePhase::each
                                                            : WavePhase::after;
      if (program.waves[wave].phase != phase) {
        return fmt::format("stage {} runs {} in the phase \"{}\"", stage, program.wave_text(wave),
                           wave_phase_names[static_cast<std::size_t>(phase)]);
      }
      tiles += weight(program.waves[wave]);
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

} // namespace tidegate::compiler
