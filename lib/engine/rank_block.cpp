#include "engine/rank_block.hpp"

#include "engine/device_memory.hpp"
#include "engine/execute.hpp"
#include "engine/strategy.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// A kernel of the user that each rank runs, on its tiles or on all, and that needs nothing of other ranks afterwards.
bool runs_alone(const ProgramWave& wave, const WaveCut& cut) {
  return wave.users_kernel && !wave.listed_items && !wave.command && !wave.prepared && !combines(wave) &&
         (cut.cut() || !cut.on_one_rank);
}

std::string what_it_does(const ProgramWave& wave, const WaveCut& cut) {
  return wave.command        ? "is a fill or a copy"
         : wave.listed_items ? "runs items of a queue"
         : combines(wave)    ? "combines a buffer in each iteration"
         : cut.on_one_rank   ? "runs on one rank"
                             : "is not a kernel that each rank runs by itself";
}

// Returns why no persistent launch of the rank is taken; empty if it is built.
Result<std::string> build_block(const device::Session& session, const device::DeviceInfo& device, Job job,
                                const RunOptions& options, RankBlocks& blocks) {
  const std::optional<Strategy> asked = options.rank_strategy;
  CompileOptions compile_options = options.compile;
  compile_options.strategy = asked;
  compile_options.plan.reset();
  compile_options.tuning.strategy.reset(); // that of the whole program
  TIDEGATE_TRY(CompiledProgram compiled, compile(std::move(job), &device, compile_options));
  if (!compiled.persistent()) {
    return compiled.strategy.reason;
  }
  if (!compiled.schedule.is_one_launch()) {
    return fmt::format("{} cannot share a launch: {}",
                       compiled.program.wave_text(compiled.schedule.fallbacks.front().wave),
                       compiled.schedule.fallbacks.front().reason);
  }
  if (compiled.memory.arena_bytes > device.max_allocation_bytes) {
    return fmt::format("its buffers would be one block of {}, the device allows {}",
                       bytes_text(compiled.memory.arena_bytes), bytes_text(device.max_allocation_bytes));
  }
  if (!asked) {
    constexpr double worth_it = 1.05; // what gains less may be chance when it is measured
    const auto& candidates = compiled.strategy.candidates;
    const bool gains = std::ranges::all_of(candidates, [&](const Candidate& candidate) {
      return is_persistent(candidate.shape.strategy) ||
             candidate.cost.sum() >= worth_it * candidates[compiled.strategy.taken].cost.sum();
    });
    if (!gains) {
      return "a persistent launch would gain less than 5 %; " + compiled.strategy.reason;
    }
  }
  blocks.strategy = compiled.strategy.strategy;
  blocks.reason = compiled.strategy.reason;
  BuiltProgram built = build(session, device, compiled, options.cache_folder);
  const Residency residency = find_residency(session, device, compiled, built, options.compile.workers);
  TIDEGATE_CHECK(check_schedule(compiled, residency, device));
  const DispatchLimits limits = dispatch_limits(compiled, device, options, residency);
  blocks.block.emplace(
      RankBlock{.compiled = std::move(compiled), .built = std::move(built), .limits = limits});
  return std::string();
}

} // namespace

std::string block_obstacle(const Job& program, const JobSplit& split) {
  if (program.until) {
    return "the value that `until` tests is read after each iteration";
  }
  std::size_t repeated = 0;
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    if (wave.section == Section::each && !runs_alone(wave, split.waves[i])) {
      return fmt::format("{} {}", program.wave_text(i), what_it_does(wave, split.waves[i]));
    }
    repeated += wave.section == Section::each ? 1 : 0;
  }
  return repeated == 0 || program.iterations < 2 ? "nothing repeats" : "";
}

Job block_job(const Job& program, const JobSplit& split, std::span<const std::vector<std::uint32_t>> storage,
              std::uint32_t depth, std::uint32_t rank) {
  Job job = program;
  job.iterations = std::max(depth, 1U);
  job.budget_bytes = 0;
  for (std::uint32_t i = 0; i < job.buffers.size(); ++i) {
    const ByteRange room = room_of(program, split, i, rank);
    ProgramBuffer& buffer = job.buffers[i];
    buffer.begin = room.begin;
    buffer.bytes = std::max<std::uint64_t>(room.size(), 1);
    buffer.first = [] { return Result<std::vector<std::byte>>(); }; // other launches need what is in it
    buffer.expected.reset();
  }
  const std::vector<TileRows> widest = DeepHalos(program, split, storage, depth).widest(rank);
  std::map<std::uint32_t, std::uint32_t> places; // in the job, by wave
  job.waves.clear();
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    const bool cut = split.waves[i].cut();
    if (program.waves[i].section != Section::each || (cut && widest[i].begin == widest[i].end)) {
      continue;
    }
    places[i] = static_cast<std::uint32_t>(job.waves.size());
    ProgramWave& wave = job.waves.emplace_back(program.waves[i]);
    wave.title = program.wave_text(i);
    wave.place = wave.place.value_or(i);
    wave.range = cut ? part_of(wave.range, widest[i]) : wave.range;
  }
  // Dependencies pass through a wave that has no tiles here.
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    if (program.waves[i].section != Section::each || places.contains(i)) {
      continue;
    }
    std::vector<ResolvedDependency> through;
    for (const ResolvedDependency& to : job.dependencies) {
      for (const ResolvedDependency& from : job.dependencies) {
        if (to.after == i && from.before == i && to.before != from.after) {
          through.push_back({.before = to.before, .after = from.after});
        }
      }
    }
    job.dependencies.insert(job.dependencies.end(), through.begin(), through.end());
  }
  std::erase_if(job.dependencies, [&](const ResolvedDependency& of) {
    return !places.contains(of.before) || !places.contains(of.after);
  });
  for (ResolvedDependency& dependency : job.dependencies) {
    dependency.before = places[dependency.before];
    dependency.after = places[dependency.after];
    if (job.waves[dependency.before].range != job.waves[dependency.after].range) {
      dependency.halo.reset(); // tiles of one number are other ones now
    }
  }
  return job;
}

Result<RankBlocks> make_blocks(const device::Session& session, const device::DeviceInfo& device,
                               const Job& program, const JobSplit& split,
                               std::span<const std::vector<std::uint32_t>> storage, std::uint32_t depth,
                               const RunOptions& options) {
  RankBlocks blocks;
  if (options.rank_strategy && !is_persistent(*options.rank_strategy)) {
    blocks.reason = "requested";
    return blocks;
  }
  const auto halo_depth = static_cast<std::uint32_t>(options.halo_depth);
  blocks.reason = options.compile.trace ? "a traced run shows each launch" : block_obstacle(program, split);
  if (blocks.reason.empty() && !options.rank_strategy && program.iterations < least_measured(halo_depth)) {
    blocks.reason = "too few iterations to measure whether a persistent launch is faster";
  }
  if (!blocks.reason.empty()) { // on all ranks alike
    return blocks;
  }
  ranks::Ranks& ranks = *options.ranks;
  Job job = block_job(program, split, storage, depth, static_cast<std::uint32_t>(ranks.rank()));
  std::string obstacle;
  if (!job.waves.empty()) {
    try {
      const Result<std::string> found = build_block(session, device, std::move(job), options, blocks);
      obstacle = found ? *found : found.error().message;
    } catch (const device::Refused& refused) {
      obstacle = refused.error.message;
    }
  }
  std::array<std::uint64_t, 2> all{obstacle.empty() ? 1U : 0U, static_cast<std::uint64_t>(blocks.strategy)};
  TIDEGATE_CHECK(ranks.reduce(all, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }));
  if (all[0] == 0) { // rank 0 reports why
    TIDEGATE_TRY(const auto obstacles, ranks.gather(std::as_bytes(std::span(obstacle))));
    const auto first = std::ranges::find_if(obstacles, [](const auto& bytes) { return !bytes.empty(); });
    return RankBlocks{.reason = first == obstacles.end() ? obstacle : ranks::string_from(*first),
                      .block = {}};
  }
  blocks.use = options.rank_strategy ? BlockUse::always : BlockUse::measured;
  blocks.strategy = static_cast<Strategy>(all[1]);
  return blocks;
}

Result<void> prove_blocks(const device::Session& session, const Job& program, const JobSplit& split,
                          const std::vector<std::vector<std::uint32_t>>& storage, const HostContents& first,
                          RankSettings settings, const RunOptions& options, Monitor& monitor) {
  RankBlocks& blocks = *settings.blocks;
  ranks::Ranks& ranks = *options.ranks;
  Job shorter = program;
  settings.halo_depth = deepest_halo(program, settings);
  settings.outputs = Outputs::in_parts;
  shorter.iterations = std::min(program.iterations, 2 * settings.halo_depth + 1); // two blocks and a rest
  for (std::uint32_t i = 0; i < shorter.buffers.size(); ++i) {                    // all that waves write
    const auto writes_it = [i](const ProgramArgument& argument) {
      return argument.is_memory() && argument.buffer == i && argument.access != Access::read;
    };
    const bool written = std::ranges::any_of(program.waves, [&](const ProgramWave& wave) {
      return std::ranges::any_of(wave.arguments, writes_it);
    });
    ProgramBuffer& buffer = shorter.buffers[i];
    buffer.output = written ? std::optional(buffer.name) : std::nullopt;
    buffer.output_head = "";
  }
  const auto run = [&](BlockUse use) -> Result<BufferContents> {
    blocks.use = use;
    TIDEGATE_TRY(const RankRun ran,
                 try_on_ranks(session, shorter, split, storage, first, options, monitor, settings));
    BufferContents found{{static_cast<std::byte>(ran.outcome.status)}};
    for (const OutputInParts& part : ran.parts) {
      const ByteRange& owned = split.owned[part.buffer][static_cast<std::size_t>(ranks.rank())];
      download(session, part.memory, owned.begin - part.begin, found.emplace_back(owned.size()));
    }
    for (std::size_t i = 0; ranks.rank() == 0 && i < ran.outputs.size(); ++i) {
      found.emplace_back(ran.outputs[i].begin(), ran.outputs[i].end());
    }
    return found;
  };
  TIDEGATE_TRY(const BufferContents expected, run(BlockUse::never));
  TIDEGATE_TRY(const BufferContents found, run(BlockUse::always));
  std::uint64_t equal = expected == found ? 1 : 0;
  TIDEGATE_CHECK(ranks.reduce(std::span(&equal, 1), [](std::uint64_t a, std::uint64_t b) { return a & b; }));
  blocks.use = equal != 0 ? BlockUse::measured : BlockUse::never;
  blocks.reason = equal != 0
                      ? blocks.reason
                      : "iterations in a persistent launch did not end with the bytes of plain launches";
  return {};
}

} // namespace tidegate::engine
