#include "engine/report.hpp"

namespace tidegate::engine {
namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

// Returns none for a wave that the user has not written.
std::uint64_t items_of(const ProgramWave& wave) {
  return wave.prepares ? 0 : wave.listed_items.value_or(wave.range.work_items());
}

// The waves as written that a wave is.
std::vector<std::uint32_t> parts_of(const CompiledProgram& compiled, std::uint32_t wave) {
  return compiled.parts.empty() ? std::vector<std::uint32_t>{wave} : compiled.parts[wave];
}

// Takes the items of a queue as the device has counted them.
void count_queue(const QueueOutcome& queue, WaveProgress& progress) {
  if (queue.counts) {
    progress.in_all += queue.counts->published;
    progress.processed = queue.counts->executed;
    progress.counted = true;
    return;
  }
  if (queue.under_way || queue.items_remaining != 0) {
    if (!queue.under_way && progress.runs != 0) { // the last run has failed
      --progress.runs;
    }
    progress.partial = progress.items - std::min(queue.items_remaining, progress.items);
  }
}

} // namespace

std::vector<WaveProgress> whole_progress(const CompiledProgram& compiled) {
  std::vector<WaveProgress> progress;
  for (const ProgramWave& wave : compiled.written.waves) {
    const std::uint64_t runs = wave.section == Section::each ? compiled.program.iterations : 1;
    const std::uint64_t items = items_of(wave);
    const std::uint64_t all = saturating_product(items, runs);
    progress.push_back({.items = items, .in_all = all, .processed = all, .runs = runs});
  }
  return progress;
}

std::vector<WaveProgress> progress_of(const CompiledProgram& compiled, const Position& at,
                                      std::span<const QueueOutcome> queues) {
  const Schedule& schedule = compiled.schedule;
  std::vector<WaveProgress> progress = whole_progress(compiled);
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      for (const std::uint32_t part : parts_of(compiled, wave)) {
        progress[part].runs = schedule.runs_of(stage, at);
      }
    }
  }
  for (WaveProgress& wave : progress) {
    wave.processed = saturating_product(wave.items, wave.runs);
  }
  for (const QueueOutcome& queue : queues) {
    WaveProgress& wave = progress[parts_of(compiled, queue.wave).front()];
    count_queue(queue, wave);
    if (!queue.counts) {
      wave.processed = saturating_product(wave.items, wave.runs) + wave.partial;
    }
  }
  return progress;
}

std::uint64_t occupancy_bps(const CompiledProgram& compiled, const Position& at, std::uint32_t workers,
                            std::span<const WaveProgress> progress, std::span<const QueueOutcome> queues) {
  const Schedule& schedule = compiled.schedule;
  double used = 0;
  double ran = 0;
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
    const Stage& stage = schedule.stages[i];
    const ProgramWave& first = compiled.program.waves[stage.waves.front()];
    if ((stage.plain && first.command) || first.prepares) {
      continue; // no lanes, or those of no items
    }
    auto runs = static_cast<double>(schedule.runs_of(i, at));
    auto packs = static_cast<double>(stage.packs);
    const WaveProgress& of_first = progress[parts_of(compiled, stage.waves.front()).front()];
    if (workers != 0 && !stage.plain && first.prepared && of_first.items != 0 && runs != 0) {
      packs *= static_cast<double>(of_first.processed) /
               (static_cast<double>(of_first.items) * runs); // listed tiles
    }
    const auto lanes_of = [&](double packs_of_run) {
      return (workers == 0 ? packs_of_run : std::ceil(packs_of_run / workers) * workers) *
             schedule.group_size;
    };
    double lanes = lanes_of(packs);
    if (stage.plain) {
      lanes = static_cast<double>(first.range.work_items());
    }
    for (const std::uint32_t wave : stage.waves) {
      const auto queue = std::ranges::find(queues, wave, &QueueOutcome::wave);
      used += static_cast<double>(progress[parts_of(compiled, wave).front()].processed);
      if (compiled.program.waves[wave].in_rounds() && queue != queues.end()) {
        runs = static_cast<double>(queue->rounds);
        used += static_cast<double>(queue->accounting.requeue_count);
        if (queue->counts && runs != 0) { // a round has the items that were published in the one before
          lanes = lanes_of(static_cast<double>(queue->counts->executed + queue->accounting.requeue_count) /
                           (runs * schedule.group_size));
        }
      }
    }
    ran += runs * lanes;
  }
  constexpr double full_bps = 10'000;
  return ran == 0 ? 0 : static_cast<std::uint64_t>(std::min(used / ran, 1.0) * full_bps);
}

Lineage trace_lineage(const Job& program, const planning::BarrierGroups& groups,
                      const std::vector<std::vector<std::uint32_t>>& storage,
                      std::span<const WaveProgress> progress) {
  Lineage lineage;
  if (std::ranges::none_of(program.waves, [](const ProgramWave& wave) { return wave.rules != 0; })) {
    return lineage;
  }
  std::vector<std::vector<std::uint32_t>> before(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (dependency.contributes) {
      before[dependency.after].push_back(dependency.before);
    }
  }
  std::vector<std::uint32_t> rules_of(program.waves.size());
  std::vector<std::uint32_t> carried(
      program.buffers.size()); // by memory: of waves that wrote it in earlier iterations
  // Traces the waves of a section in an iteration. Returns true if any memory derives from more rules than before.
  const auto trace = [&](Section section, std::uint64_t iteration) {
    const std::vector<std::uint32_t>& memory = storage[iteration % storage.size()];
    std::vector<std::uint32_t> next = carried;
    for (const std::uint32_t wave : groups.order) { // a wave's ancestors come before it
      const ProgramWave& spec = program.waves[wave];
      if (spec.section != section) {
        continue;
      }
      std::uint32_t& own = rules_of[wave] = spec.rules;
      for (const std::uint32_t ancestor : before[wave]) {
        own |= rules_of[ancestor];
      }
      const std::vector<MemoryUse> uses = uses_of(spec.arguments);
      for (const MemoryUse& use : uses) {
        own |= carried[memory[use.buffer]];
      }
      for (const MemoryUse& use : uses) {
        next[memory[use.buffer]] |= use.writes ? own : 0;
      }
    }
    return std::exchange(carried, std::move(next)) != carried;
  };
  // Adds the groups of a section that ran as a whole in its run `run`; with a `stride`, the items of this run and of
  // each run `stride` later.
  const auto add = [&](Section section, std::uint64_t run, std::uint64_t stride) {
    for (std::size_t group = 0; group < groups.group_count(); ++group) {
      const auto waves = groups.group(group);
      if (program.waves[waves.front()].section != section) {
        continue;
      }
      std::uint32_t region = 0;
      bool ran = true;
      for (const std::uint32_t wave : waves) {
        const WaveProgress& of = progress[wave];
        const std::uint64_t later = of.runs - std::min(of.runs, run);
        const std::uint32_t rules = rules_of[wave];
        region |= rules;
        ran &= later != 0;
        if (rules == 0 || of.counted) {
          continue;
        }
        const bool stops_here = of.runs >= run && (stride == 0 ? later == 0 : later % stride == 0);
        lineage.items +=
            of.items * (stride == 0 ? std::min<std::uint64_t>(later, 1) : (later + stride - 1) / stride) +
            (stops_here ? of.partial : 0);
      }
      if (ran && stride == 0) {
        lineage.regions.push_back(region);
      }
    }
  };
  std::uint64_t iterations = 0; // begun
  for (std::size_t wave = 0; wave < progress.size(); ++wave) {
    if (program.waves[wave].section == Section::each) {
      iterations = std::max(iterations, progress[wave].runs + (progress[wave].partial != 0 ? 1 : 0));
    }
  }
  trace(Section::before, 0);
  add(Section::before, 0, 0);
  const std::uint64_t period = storage.size();
  std::uint64_t unchanged = 0; // iterations that added no rule to any memory
  for (; lineage.iterations < iterations && unchanged < period; ++lineage.iterations) {
    unchanged = trace(Section::each, lineage.iterations) ? 0 : unchanged + 1;
    add(Section::each, lineage.iterations, 0);
  }
  for (std::uint64_t phase = 0; phase < period && lineage.iterations + phase < iterations; ++phase) {
    trace(Section::each, lineage.iterations + phase);
    add(Section::each, lineage.iterations + phase, period);
  }
  trace(Section::after, iterations);
  add(Section::after, 0, 0);
  for (std::size_t wave = 0; wave < progress.size(); ++wave) {
    lineage.items += progress[wave].counted && rules_of[wave] != 0 ? progress[wave].processed : 0;
  }
  return lineage;
}

} // namespace tidegate::engine
