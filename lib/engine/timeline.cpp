#include "engine/report.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

class Names {
public:
  std::uint32_t index_of(const std::string& name) {
    const auto [at, added] = indices_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) {
      names_.push_back(name);
    }
    return at->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

private:
  std::map<std::string, std::uint32_t> indices_;
  std::vector<std::string> names_;
};

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

class WaveTimesMaker {
public:
  WaveTimesMaker(const CompiledProgram& compiled, const Trace& trace, std::uint32_t workers)
      : compiled_(compiled), workers_(workers) {
    for (const LaunchSpan& launch : trace.launches) {
      if (launch.stage) {
        add(nullptr, compiled.schedule.stages[*launch.stage].waves, launch.iteration, launch.begin_ns,
            launch.end_ns);
      }
    }
    for (const TaskSpan& task : trace.tasks) {
      if (task.row && task.count != 0) {
        const std::size_t row =
            add(&task, waves_in(compiled, task), task.iteration, task.began_ns, task.ended_ns);
        times_[row].wait_ns += task.began_ns - task.asked_ns;
      }
    }
  }

  WaveTimes make() {
    for (const auto& [execution, range] : executions_) {
      ++times_[execution.first].executions;
      times_[execution.first].time_ns += range.second - range.first;
    }
    WaveTimes made;
    follow_critical_path(made);
    made.waves = std::move(times_);
    std::ranges::stable_sort(made.waves, std::greater(), &WaveTime::critical_ns);
    return made;
  }

private:
  std::size_t add(const TaskSpan* span, const std::vector<std::uint32_t>& waves, std::uint32_t iteration,
                  std::uint64_t begin, std::uint64_t end) {
    const auto [at, added] = row_of_.emplace(waves, times_.size());
    if (added) {
      times_.push_back({.waves = text_of(compiled_, waves)});
      for (const std::uint32_t wave : waves) {
        const planning::Wave& bytes = compiled_.program.waves[wave].bytes;
        times_.back().buffer_bytes += bytes.frontier_bytes + bytes.output_bytes;
      }
    }
    const std::size_t row = at->second;
    times_[row].work_ns += end - begin;
    auto& [first, last] = executions_.emplace(std::pair(row, iteration), std::pair(begin, end)).first->second;
    first = std::min(first, begin);
    last = std::max(last, end);
    tasks_.push_back({.span = span, .row = row, .begin_ns = begin, .end_ns = end});
    return row;
  }

  void follow_critical_path(WaveTimes& made) {
    if (tasks_.empty()) {
      return;
    }
    std::ranges::stable_sort(tasks_, {}, &Task::end_ns);
    // Finds the last task of each step and group, and before each task the one that ended last in its group, or any
    // launch.
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> last_of;
    std::map<std::uint32_t, std::size_t> last_in_group;
    std::vector<std::optional<std::size_t>> previous(tasks_.size());
    std::optional<std::size_t> last_launch;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (const TaskSpan* const span = tasks_[i].span) {
        const auto [in_group, first] = last_in_group.emplace(span->group, i);
        previous[i] = first ? last_launch : in_group->second;
        in_group->second = i;
        last_of[{step_of(compiled_, *span), span->group}] = i;
      } else {
        previous[i] = i == 0 ? std::nullopt : std::optional(i - 1);
        last_launch = i;
      }
    }
    std::optional<std::size_t> at = tasks_.size() - 1;
    const std::uint64_t end = tasks_.back().end_ns;
    std::uint64_t begin = end;
    while (at) {
      const Task& task = tasks_[*at];
      std::optional<std::size_t> before = previous[*at];
      if (task.span != nullptr) {
        visit_awaited(compiled_, workers_, *task.span,
                      [&](std::uint64_t step, std::uint32_t first, std::uint32_t last) {
                        for (std::uint32_t group = first; group <= last; ++group) {
                          const auto found = last_of.find({step, group});
                          if (found != last_of.end() && found->second < *at &&
                              (!before || found->second > *before)) {
                            before = found->second;
                          }
                        }
                      });
      }
      // Clocks of work-groups may overlap a little: no time counts twice.
      const std::uint64_t from = std::min(task.begin_ns, begin);
      const std::uint64_t until = std::min(task.end_ns, begin);
      times_[task.row].critical_ns += until - from;
      made.synchronization_ns += begin - until;
      begin = from;
      at = before;
    }
    made.critical_path_ns = end - begin;
  }

  const CompiledProgram& compiled_;
  const std::uint32_t workers_;
  std::vector<WaveTime> times_;
  std::map<std::vector<std::uint32_t>, std::size_t> row_of_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>
      executions_; // row, iteration
  std::vector<Task> tasks_;
};

class TimelineMaker {
public:
  TimelineMaker(const CompiledProgram& compiled, const Trace& trace)
      : compiled_(compiled), schedule_(compiled.schedule), trace_(trace) {}

  Timeline make(bool until_met) {
    Timeline timeline{.clock = compiled_.clock, .names = {}, .left_out = trace_.left_out};
    timeline.lanes.push_back(launch_lane());
    timeline.lanes.push_back(iteration_lane());
    for (Lane& lane : group_lanes()) {
      timeline.lanes.push_back(std::move(lane));
    }
    if (until_met) {
      const std::vector<TimelineSpan>& iterations = timeline.lanes[1].spans;
      timeline.until_met_ns = iterations.empty() ? 0 : iterations.back().end_ns;
    }
    timeline.names = names_.take();
    return timeline;
  }

private:
  Lane launch_lane() {
    Lane lane{.name = "launches", .spans = {}};
    for (const LaunchSpan& launch : trace_.launches) {
      const std::string name =
          launch.stage ? text_of(compiled_, schedule_.stages[*launch.stage].waves) : "slice";
      lane.spans.push_back({.kind = launch.stage ? SpanKind::launch : SpanKind::slice,
                            .begin_ns = launch.begin_ns,
                            .end_ns = launch.end_ns,
                            .name = names_.index_of(name),
                            .iteration = launch.iteration,
                            .stage = launch.stage});
    }
    return lane;
  }

  // Iterations overlap if work-groups wait for few others: each is drawn until the next one begins.
  Lane iteration_lane() {
    std::map<std::uint32_t, std::uint64_t> begins;
    std::uint64_t end = 0;
    const auto see = [&](std::uint32_t iteration, std::size_t stage, std::uint64_t begin,
                         std::uint64_t ended) {
      end = std::max(end, ended);
      if (schedule_.repeats(stage)) {
        const auto at = begins.emplace(iteration, begin).first;
        at->second = std::min(at->second, begin);
      }
    };
    for (const LaunchSpan& launch : trace_.launches) {
      if (launch.stage) {
        see(launch.iteration, *launch.stage, launch.begin_ns, launch.end_ns);
      }
    }
    for (const TaskSpan& task : trace_.tasks) {
      if (task.row) {
        see(task.iteration, schedule_.row_stages[*task.row], task.began_ns, task.ended_ns);
      }
    }
    Lane lane{.name = "iterations", .spans = {}};
    for (auto at = begins.begin(); at != begins.end(); ++at) {
      const auto next = std::next(at);
      lane.spans.push_back({.kind = SpanKind::iteration,
                            .begin_ns = at->second,
                            .end_ns = next == begins.end() ? end : std::max(at->second, next->second),
                            .name = names_.index_of(fmt::format("iteration {}", at->first)),
                            .iteration = at->first});
    }
    return lane;
  }

  std::vector<Lane> group_lanes() {
    std::vector<Lane> lanes;
    for (const TaskSpan& task : trace_.tasks) {
      while (lanes.size() <= task.group) {
        lanes.push_back({.name = fmt::format("work-group {}", lanes.size()), .spans = {}});
      }
      std::vector<TimelineSpan>& spans = lanes[task.group].spans;
      const auto stage = task.row ? std::optional(schedule_.row_stages[*task.row]) : std::nullopt;
      if (task.began_ns > task.asked_ns) {
        spans.push_back({.kind = SpanKind::wait,
                         .begin_ns = task.asked_ns,
                         .end_ns = task.began_ns,
                         .name = names_.index_of("wait"),
                         .iteration = task.iteration,
                         .stage = stage});
      }
      if (!task.row) {
        spans.push_back({.kind = SpanKind::until,
                         .begin_ns = task.began_ns,
                         .end_ns = task.ended_ns,
                         .name = names_.index_of("until"),
                         .iteration = task.iteration});
      } else if (task.count != 0) {
        spans.push_back({.kind = SpanKind::work,
                         .begin_ns = task.began_ns,
                         .end_ns = task.ended_ns,
                         .name = names_.index_of(text_of(compiled_, waves_in(compiled_, task))),
                         .iteration = task.iteration,
                         .stage = stage,
                         .tiles = TileRun{.first = task.first, .step = task.step, .count = task.count}});
      }
    }
    return lanes;
  }

  const CompiledProgram& compiled_;
  const Schedule& schedule_;
  const Trace& trace_;
  Names names_;
};

} // namespace

std::optional<WaveTimes> wave_times_of(const CompiledProgram& compiled, const Trace& trace,
                                       std::uint32_t workers, double device_bytes_per_ns) {
  if (trace.left_out != 0) {
    return {};
  }
  WaveTimes times = WaveTimesMaker(compiled, trace, workers).make();
  times.device_bytes_per_ns = device_bytes_per_ns;
  return times.waves.empty() ? std::nullopt : std::optional(std::move(times));
}

Timeline timeline_of(const CompiledProgram& compiled, const Trace& trace, bool until_met) {
  return TimelineMaker(compiled, trace).make(until_met);
}

} // namespace tidegate::engine
