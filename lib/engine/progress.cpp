// How far a run came, its lineage, and where its time went.
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
      for (const std::uint32_t part : compiled.parts[wave]) {
        progress[part].runs = schedule.runs_of(stage, at);
      }
    }
  }
  for (WaveProgress& wave : progress) {
    wave.processed = saturating_product(wave.items, wave.runs);
  }
  for (const QueueOutcome& queue : queues) {
    WaveProgress& wave = progress[compiled.parts[queue.wave].front()];
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
    const WaveProgress& of_first = progress[compiled.parts[stage.waves.front()].front()];
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
      used += static_cast<double>(progress[compiled.parts[wave].front()].processed);
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
  constexpr std::uint64_t alone = ~std::uint64_t{0};
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
        const bool stops_here = of.runs >= run && later % stride == 0;
        lineage.items +=
            of.items * (later / stride + (later % stride == 0 ? 0 : 1)) + (stops_here ? of.partial : 0);
      }
      if (ran && stride == alone) {
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
  add(Section::before, 0, alone);
  const std::uint64_t period = storage.size();
  std::uint64_t unchanged = 0; // iterations that added no rule to any memory
  for (; lineage.iterations < iterations && unchanged < period; ++lineage.iterations) {
    unchanged = trace(Section::each, lineage.iterations) ? 0 : unchanged + 1;
    add(Section::each, lineage.iterations, alone);
  }
  for (std::uint64_t phase = 0; phase < period && lineage.iterations + phase < iterations; ++phase) {
    trace(Section::each, lineage.iterations + phase);
    add(Section::each, lineage.iterations + phase, period);
  }
  trace(Section::after, iterations);
  add(Section::after, 0, alone);
  for (std::size_t wave = 0; wave < progress.size(); ++wave) {
    lineage.items += progress[wave].counted && rules_of[wave] != 0 ? progress[wave].processed : 0;
  }
  return lineage;
}

namespace {

// Returns the waves of a stage that own any pack of a task.
std::vector<std::uint32_t> waves_in(const CompiledProgram& compiled, const TaskSpan& task) {
  const Schedule& schedule = compiled.schedule;
  std::vector<std::uint32_t> waves;
  const auto& [first, step, count] = task.tiles;
  const std::uint32_t stride = std::max<std::uint32_t>(static_cast<std::uint32_t>(std::abs(step)), 1);
  const std::uint32_t lowest = step < 0 ? first - (count - 1) * stride : first; // serpentine runs backwards
  for (const std::uint32_t wave : schedule.stages[schedule.row_stages[*task.row]].waves) {
    const std::uint32_t begin = schedule.places[wave].first_pack;
    const std::uint32_t end = begin + schedule.packs(compiled.program, wave);
    const std::uint32_t skipped = begin <= lowest ? 0 : (begin - lowest + stride - 1) / stride;
    if (skipped < count && lowest + skipped * stride < end) {
      waves.push_back(wave);
    }
  }
  return waves;
}

std::string text_of(const CompiledProgram& compiled, const std::vector<std::uint32_t>& waves) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(waves.size(), most); ++i) {
    text += (i == 0 ? "" : " + ") + compiled.program.wave_text(waves[i]);
  }
  return waves.size() > most ? fmt::format("{} + {} more", text, waves.size() - most) : text;
}

std::uint64_t step_of(const CompiledProgram& compiled, const TaskSpan& task) {
  return std::uint64_t{task.iteration} * compiled.tables.steps + *task.row;
}

// Visits what the waits of a task name: a step, and the first and last work-group that have to complete it.
template <class Visit>
void visit_awaited(const CompiledProgram& compiled, std::uint32_t workers, const TaskSpan& task,
                   const Visit& visit) {
  const StageRow& stage = compiled.tables.stages[*task.row];
  const std::uint64_t step = step_of(compiled, task);
  if ((stage.flags & TG_EVERYBODY) != 0) {
    if (step != 0) {
      visit(step - 1, 0, workers - 1);
    }
    return;
  }
  const auto& [first_tile, tile_step, tiles] = task.tiles;
  const std::uint32_t low = tile_step < 0 ? first_tile + 1 - tiles : first_tile;
  for (std::uint32_t i = stage.first_wait; i < stage.first_wait + stage.wait_count; ++i) {
    const WaitRow& wait = compiled.tables.waits[i];
    const auto [first, count] = awaited_groups(wait, low, low + tiles, workers);
    if (count != 0 && wait.steps <= step) {
      visit(step - wait.steps, first, first + count - 1);
    }
  }
}

// A task of a work-group, or a launch of one stage.
struct Task {
  const TaskSpan* span = nullptr; // null for a launch
  std::size_t row = 0;            // of the result
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

// Follows the critical path back from the last task.
void follow_critical_path(const CompiledProgram& compiled, std::uint32_t workers, std::vector<Task> tasks,
                          WaveTimes& made) {
  std::ranges::stable_sort(tasks, {}, &Task::end_ns);
  // Finds the last task of each step and group, and before each task the one that ended last in its group, or any
  // launch.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> last_of;
  std::map<std::uint32_t, std::size_t> last_in_group;
  std::vector<std::optional<std::size_t>> previous(tasks.size());
  std::optional<std::size_t> last_launch;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (const TaskSpan* const span = tasks[i].span) {
      const auto [in_group, first] = last_in_group.emplace(span->group, i);
      previous[i] = first ? last_launch : in_group->second;
      in_group->second = i;
      last_of[{step_of(compiled, *span), span->group}] = i;
    } else {
      previous[i] = i == 0 ? std::nullopt : std::optional(i - 1);
      last_launch = i;
    }
  }
  const std::uint64_t end = tasks.back().end_ns;
  std::uint64_t begin = end;
  for (std::optional<std::size_t> at = tasks.size() - 1; at;) {
    const Task& task = tasks[*at];
    std::optional<std::size_t> before = previous[*at];
    if (task.span != nullptr) {
      visit_awaited(
          compiled, workers, *task.span, [&](std::uint64_t step, std::uint32_t first, std::uint32_t last) {
            for (std::uint32_t group = first; group <= last; ++group) {
              const auto found = last_of.find({step, group});
              if (found != last_of.end() && found->second < *at && (!before || found->second > *before)) {
                before = found->second;
              }
            }
          });
    }
    // Clocks of work-groups may overlap a little: no time counts twice.
    const std::uint64_t from = std::min(task.begin_ns, begin);
    const std::uint64_t until = std::min(task.end_ns, begin);
    made.waves[task.row].critical_ns += until - from;
    made.synchronization_ns += begin - until;
    begin = from;
    at = before;
  }
  made.critical_path_ns = end - begin;
}

} // namespace

std::optional<WaveTimes> wave_times_of(const CompiledProgram& compiled, const Trace& trace,
                                       std::uint32_t workers, double device_bytes_per_ns) {
  WaveTimes made{.device_bytes_per_ns = device_bytes_per_ns};
  std::vector<Task> tasks;
  std::map<std::vector<std::uint32_t>, std::size_t> row_of;
  // From the first begin to the last end, by row and iteration.
  std::map<std::pair<std::size_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>> executions;
  const auto add = [&](const TaskSpan* span, const std::vector<std::uint32_t>& waves, std::uint32_t iteration,
                       std::uint64_t begin, std::uint64_t end) -> WaveTime& {
    const auto [at, added] = row_of.emplace(waves, made.waves.size());
    if (added) {
      made.waves.push_back({.waves = text_of(compiled, waves)});
      for (const std::uint32_t wave : waves) {
        const planning::Wave& bytes = compiled.program.waves[wave].bytes;
        made.waves.back().buffer_bytes += bytes.frontier_bytes + bytes.output_bytes;
      }
    }
    auto& [first, last] =
        executions.emplace(std::pair(at->second, iteration), std::pair(begin, end)).first->second;
    first = std::min(first, begin);
    last = std::max(last, end);
    tasks.push_back({.span = span, .row = at->second, .begin_ns = begin, .end_ns = end});
    made.waves[at->second].work_ns += end - begin;
    return made.waves[at->second];
  };
  for (const LaunchSpan& launch : trace.launches) {
    if (launch.stage) {
      add(nullptr, compiled.schedule.stages[*launch.stage].waves, launch.iteration, launch.begin_ns,
          launch.end_ns);
    }
  }
  for (const TaskSpan& task : trace.tasks) {
    if (task.row && task.tiles.count != 0) {
      add(&task, waves_in(compiled, task), task.iteration, task.began_ns, task.ended_ns).wait_ns +=
          task.began_ns - task.asked_ns;
    }
  }
  if (tasks.empty() || trace.left_out != 0) {
    return {};
  }
  for (const auto& [execution, range] : executions) {
    ++made.waves[execution.first].executions;
    made.waves[execution.first].time_ns += range.second - range.first;
  }
  follow_critical_path(compiled, workers, std::move(tasks), made);
  std::ranges::stable_sort(made.waves, std::greater(), &WaveTime::critical_ns);
  return made;
}

Timeline timeline_of(const CompiledProgram& compiled, const Trace& trace, bool until_met) {
  const Schedule& schedule = compiled.schedule;
  std::map<std::string, std::uint32_t> names;
  Timeline timeline{.clock = compiled.clock,
                    .names = {},
                    .lanes = {{.name = "launches", .spans = {}}, {.name = "iterations", .spans = {}}},
                    .curves = {},
                    .left_out = trace.left_out};
  const auto name = [&](const std::string& text) {
    const auto [at, added] = names.try_emplace(text, static_cast<std::uint32_t>(names.size()));
    if (added) {
      timeline.names.push_back(text);
    }
    return at->second;
  };
  // Iterations overlap if work-groups wait for few others: each is drawn until the next one begins.
  std::map<std::uint32_t, std::uint64_t> begins;
  std::uint64_t last = 0;
  const auto see = [&](std::uint32_t iteration, std::size_t stage, std::uint64_t begin, std::uint64_t end) {
    last = std::max(last, end);
    if (schedule.repeats(stage)) {
      const auto at = begins.emplace(iteration, begin).first;
      at->second = std::min(at->second, begin);
    }
  };
  for (const LaunchSpan& launch : trace.launches) {
    timeline.lanes[0].spans.push_back(
        {.kind = launch.stage ? SpanKind::launch : SpanKind::slice,
         .begin_ns = launch.begin_ns,
         .end_ns = launch.end_ns,
         .name = name(launch.stage ? text_of(compiled, schedule.stages[*launch.stage].waves) : "slice"),
         .iteration = launch.iteration,
         .stage = launch.stage});
    if (launch.stage) {
      see(launch.iteration, *launch.stage, launch.begin_ns, launch.end_ns);
    }
  }
  for (const TaskSpan& task : trace.tasks) {
    if (task.row) {
      see(task.iteration, schedule.row_stages[*task.row], task.began_ns, task.ended_ns);
    }
  }
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    const auto next = std::next(at);
    const std::uint64_t end = next == begins.end() ? last : std::max(at->second, next->second);
    timeline.lanes[1].spans.push_back({.kind = SpanKind::iteration,
                                       .begin_ns = at->second,
                                       .end_ns = end,
                                       .name = name(fmt::format("iteration {}", at->first)),
                                       .iteration = at->first});
    if (until_met) {
      timeline.until_met_ns = end;
    }
  }
  constexpr std::size_t first_group = 2; // lane
  for (const TaskSpan& task : trace.tasks) {
    while (timeline.lanes.size() <= first_group + task.group) {
      timeline.lanes.push_back(
          {.name = fmt::format("work-group {}", timeline.lanes.size() - first_group), .spans = {}});
    }
    const auto stage = task.row ? std::optional(schedule.row_stages[*task.row]) : std::nullopt;
    const auto add = [&](SpanKind kind, std::uint64_t begin, std::uint64_t end,
                         const std::string& text) -> auto& {
      return timeline.lanes[first_group + task.group].spans.emplace_back(
          TimelineSpan{.kind = kind,
                       .begin_ns = begin,
                       .end_ns = end,
                       .name = name(text),
                       .iteration = task.iteration,
                       .stage = stage});
    };
    if (task.began_ns > task.asked_ns) {
      add(SpanKind::wait, task.asked_ns, task.began_ns, "wait");
    }
    if (!task.row) {
      add(SpanKind::until, task.began_ns, task.ended_ns, "until");
    } else if (task.tiles.count != 0) {
      add(SpanKind::work, task.began_ns, task.ended_ns, text_of(compiled, waves_in(compiled, task))).tiles =
          task.tiles;
    }
  }
  return timeline;
}

} // namespace tidegate::engine
