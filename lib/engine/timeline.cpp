#include "engine/report.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// Returns the waves of a stage that own any pack of a task.
std::vector<std::uint32_t> waves_in(const CompiledProgram& compiled, const TaskSpan& task) {
  const Schedule& schedule = compiled.schedule;
  std::vector<std::uint32_t> waves;
  const std::uint32_t stride = std::max<std::uint32_t>(static_cast<std::uint32_t>(std::abs(task.step)), 1);
  const std::uint32_t lowest =
      task.step < 0 ? task.first - (task.count - 1) * stride : task.first; // serpentine runs backwards
  for (const std::uint32_t wave : schedule.stages[schedule.row_stages[*task.row]].waves) {
    const std::uint32_t begin = schedule.places[wave].first_pack;
    const std::uint32_t end = begin + schedule.packs(compiled.program, wave);
    const std::uint32_t skipped = begin <= lowest ? 0 : (begin - lowest + stride - 1) / stride;
    if (skipped < task.count && lowest + skipped * stride < end) {
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
  // The group that owns a pack, as they are dealt out in consecutive runs.
  const auto owner = [workers](std::uint64_t packs, std::uint64_t pack) {
    return static_cast<std::uint32_t>(((pack + 1) * workers - 1) / packs);
  };
  const std::uint32_t low = task.step < 0 ? task.first + 1 - task.count : task.first;
  for (std::uint32_t i = stage.first_wait; i < stage.first_wait + stage.wait_count; ++i) {
    const WaitRow& wait = compiled.tables.waits[i];
    const std::uint32_t own_begin = std::max(low, wait.begin);
    const std::uint32_t own_end = std::min(low + task.count, wait.end);
    if (own_begin >= own_end || wait.steps > step) {
      continue;
    }
    std::uint64_t from = wait.from_begin;
    std::uint64_t to = wait.from_end;
    if (wait.halo != TG_WHOLE) {
      const std::uint32_t above = own_begin - wait.begin;
      from += above > wait.halo ? above - wait.halo : 0;
      to = std::min<std::uint64_t>(to, std::uint64_t{wait.from_begin} + own_end - wait.begin + wait.halo);
    }
    visit(step - wait.steps, owner(wait.from_tiles, from), owner(wait.from_tiles, to - 1));
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
    if (task.row && task.count != 0) {
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
  const auto name = [&names](const std::string& text) {
    return names.try_emplace(text, static_cast<std::uint32_t>(names.size())).first->second;
  };
  Timeline timeline{.clock = compiled.clock,
                    .names = {},
                    .lanes = {{.name = "launches", .spans = {}}, {.name = "iterations", .spans = {}}},
                    .curves = {},
                    .left_out = trace.left_out};
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
    } else if (task.count != 0) {
      add(SpanKind::work, task.began_ns, task.ended_ns, text_of(compiled, waves_in(compiled, task))).tiles =
          TileRun{.first = task.first, .step = task.step, .count = task.count};
    }
  }
  timeline.names.resize(names.size());
  for (const auto& [text, index] : names) {
    timeline.names[index] = text;
  }
  return timeline;
}

} // namespace tidegate::engine
