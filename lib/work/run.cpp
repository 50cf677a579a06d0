#include "work/run.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include "engine/execute.hpp"
#include "engine/run_report.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {

namespace {

// Gives a queue that was full at this capacity at least twice as much room: what was needed so far may be little more.
// Returns false if it may not grow.
bool lengthen(QueueSpec& queue, std::uint64_t capacity, std::uint64_t needed) {
  queue.capacity =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(2 * capacity, needed, most_queue_capacity));
  return queue.on_full == FullQueue::grow && needed <= most_queue_capacity;
}

} // namespace

std::optional<WaveProgram> grown(const WaveProgram& program, std::span<const HitsReport> hits,
                                 std::span<const QueueReport> queues) {
  WaveProgram result = program;
  bool any = false;
  bool all = true; // of those that were short of room
  for (const HitsReport& list : hits) {
    if (overflows(list)) {
      const auto spec = std::ranges::find(result.hits, list.list, &std::pair<std::string, HitsSpec>::first);
      spec->second.capacity = list.needed_capacity;
      any = true;
      all = all && list.on_overflow == HitOverflow::grow && *list.needed_capacity <= most_hits;
    }
  }
  auto report = queues.begin(); // in the order of their waves
  for (WaveSpec& wave : result.waves) {
    const auto counts = wave.queue && report != queues.end() ? (report++)->publishing : std::nullopt;
    if (counts && counts->needed_capacity > counts->capacity) {
      any = true;
      all = lengthen(*wave.queue, counts->capacity, counts->needed_capacity) && all;
    }
  }
  return any && all ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<WaveProgram> grown(const WaveProgram& program, const Job& job, const Error& error) {
  WaveProgram result = program;
  const ProgramWave& wave = job.waves[error.wave.value_or(0)];
  const bool full = error.code == ErrorCode::publish_queue_full;
  return full && lengthen(*result.waves[*wave.place].queue, wave.rounds->capacity,
                          std::uint64_t{wave.rounds->capacity} + 1)
             ? std::optional(std::move(result))
             : std::nullopt;
}

namespace {

// Returns the state of each source file, all read since `start`; nothing if one may have changed while it was read.
std::optional<std::map<std::string, std::string>> source_states(const Job& job,
                                                                std::chrono::steady_clock::time_point start) {
  constexpr std::uint64_t tick_ns = 20'000'000; // upper bound on the resolution of file times
  std::map<std::string, std::string> states;
  for (const ProgramUnit& unit : job.units) {
    for (const std::string& file : unit.files) {
      const std::string state = file_state(file, elapsed_ns(start) + tick_ns);
      if (state.empty()) {
        return {};
      }
      states[file] = state;
    }
  }
  return states;
}

Result<RunReport> run_once(Lowering& lowering, const RunOptions& options, Monitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  monitor.begin(Activity::compiling);
  TIDEGATE_TRY(const Job* const job, lowering.job(options.compile.tuning));
  auto sources = options.kept_key.empty() ? std::nullopt : source_states(*job, lowering.began());
  TIDEGATE_TRY(auto prepared, prepare(*job, lowering.device(), options, monitor));
  auto report = run_prepared(prepared, lowering.device(), options, monitor, start);
  if (!report) { // of a check, whose error is all that comes back
    auto larger = grown(lowering.program(), prepared->compiled.written, report.error());
    if (!larger) {
      return report;
    }
    lowering.replace(std::move(*larger));
    return run_once(lowering, options, monitor);
  }
  if (report->status == RunStatus::done && sources) {
    prepared->sources = std::move(*sources);
    options.kept->keep(options.kept_key, std::move(prepared));
  }
  return report;
}

// Adds the telemetry and times of the earlier runs, and notes the first capacities of lists and queues that grew.
void report_growth(RunReport& report, const RunReport& first, const RunReport& before) {
  const auto add = [&](auto... counters) {
    ((report.telemetry.*counters += before.telemetry.*counters), ...);
  };
  add(&Telemetry::bytes_uploaded, &Telemetry::bytes_read_back, &Telemetry::bytes_moved,
      &Telemetry::kernel_launches, &Telemetry::filling_launches, &Telemetry::sync_points);
  report.wall_time_ns += before.wall_time_ns;
  const auto compare = [](auto& now, const auto& then) {
    if (now.capacity != then.capacity) {
      now.grown_from = then.capacity;
    }
  };
  for (std::size_t i = 0; i < report.hits.size(); ++i) {
    compare(report.hits[i], first.hits[i]);
  }
  for (std::size_t i = 0; i < report.queues.size(); ++i) {
    if (report.queues[i].publishing && first.queues[i].publishing) {
      compare(*report.queues[i].publishing, *first.queues[i].publishing);
    }
  }
}

// Runs the program again for as long as lists and queues that may grow have no room.
Result<RunReport> with_room(RunReport report, Lowering& lowering, const RunOptions& options,
                            Monitor& monitor) {
  const RunReport first = report;
  // One more run usually suffices for hits. A full queue reports only what it needed until it stopped, so it may take
  // several.
  constexpr int most_runs = 32;
  const auto no_room = [&] {
    return report.status == RunStatus::hits_overflow || report.status == RunStatus::queue_failed;
  };
  for (int runs = 1; runs < most_runs && no_room(); ++runs) {
    auto larger = grown(lowering.program(), report.hits, report.queues);
    if (!larger) {
      break;
    }
    lowering.replace(std::move(*larger));
    const RunReport before = std::move(report);
    TIDEGATE_TRY(report, run_once(lowering, options, monitor));
    report_growth(report, first, before);
  }
  return report;
}

// Returns true if a program becomes the same job by both tunings: they differ in choices that come later.
bool lowers_alike(const device::Tuning& a, const device::Tuning& b) {
  const auto parts = [](const device::Tuning& tuning) {
    return std::tuple(tuning.open_workgroup_size, tuning.queue_lanes, tuning.queue_items_per_lane,
                      tuning.queue_many_items);
  };
  return parts(a) == parts(b);
}

// Does the same for policies, which promote waves and kernels of a job.
bool lowers_alike(const policy::LaunchPolicy& a, const policy::LaunchPolicy& b) {
  policy::LaunchPolicy promoting_alike = b;
  promoting_alike.hot_opcode_threshold = a.hot_opcode_threshold;
  promoting_alike.hot_window_threshold = a.hot_window_threshold;
  promoting_alike.jit_queue_len_threshold = a.jit_queue_len_threshold;
  return a == promoting_alike;
}

} // namespace

Lowering::Lowering(WaveProgram program, std::string folder, const device::DeviceInfo* device,
                   const RunOptions& options)
    : program_(std::move(program)), folder_(std::move(folder)), device_(device),
      answer_(device != nullptr ? ask_compiler(*device, options.cache_folder) : AnswerMacros()),
      scope_(options.scope),
      files_(options.compile.dry_run || options.check_bounds ? FileCheck::none : FileCheck::reachable) {}

void Lowering::replace(WaveProgram program) {
  program_ = std::move(program);
  job_.reset();
}

Result<const Job*> Lowering::job(const device::Tuning& tuning) {
  if (!job_ || !lowers_alike(tuning_, tuning) || !lowers_alike(job_->policy, program_.policy)) {
    job_.reset();
    began_ = std::chrono::steady_clock::now();
    std::set<std::string> assumed;
    TIDEGATE_TRY(job_, resolve({program_, folder_, device_ != nullptr ? answer_ : assume_macros(assumed),
                                scope_, files_, tuning, device_}));
    job_->assumed_macros = {assumed.begin(), assumed.end()};
    tuning_ = tuning;
  }
  job_->policy = program_.policy;
  return &*job_;
}

Result<RunReport> run_program(Lowering& lowering, const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  TIDEGATE_TRY(RunReport report, run_once(lowering, options, monitor));
  return with_room(std::move(report), lowering, options, monitor);
}

namespace {

// Blanks what does not change what the program compiles to: contents of inputs, files of outputs, references.
void blank_contents(WaveProgram& program) {
  const auto blank = [](auto& spec) {
    if (spec.init) {
      spec.init = BufferInit{.fill = Number(std::uint64_t{0})};
    }
    if (spec.output) {
      spec.output = "";
    }
    if constexpr (requires { spec.expect; }) {
      spec.expect.reset();
    }
    spec.note.reset();
  };
  for (auto& [name, buffer] : program.buffers) {
    blank(buffer);
  }
  for (auto& [name, image] : program.images) {
    blank(image);
  }
}

} // namespace

std::string launch_key(const WaveProgram& program, const Job& job) {
  WaveProgram masked = program;
  blank_contents(masked);
  masked.parameters.clear();
  masked.note.reset();
  masked.repeat = masked.repeat ? std::optional(std::uint32_t{1}) : std::nullopt;
  if (masked.until) {
    masked.until->equals = std::uint64_t{0};
  }
  for (WaveSpec& wave : masked.waves) {
    wave.args.clear(); // what counts of them is in the job
    if (wave.fill) {
      wave.fill->value = std::uint64_t{0};
    }
    wave.note.reset();
  }
  std::string key = documents::encode(masked, documents::Style::compact);
  // Numbers may decide these.
  for (const ProgramBuffer& buffer : job.buffers) {
    key += fmt::format("\n{}", buffer.bytes);
  }
  for (const ProgramWave& wave : job.waves) {
    key +=
        fmt::format("\n{} {} {} {} {}", fmt::join(wave.range.global, " "), fmt::join(wave.range.local, " "),
                    fmt::join(wave.range.offset, " "), wave.items(), wave.rounds ? wave.rounds->capacity : 0);
    for (const ProgramArgument& argument : wave.arguments) {
      key += fmt::format(" {} {} {} {} {} {}", static_cast<int>(argument.kind), argument.buffer,
                         static_cast<int>(argument.access), argument.local_bytes, argument.value.size(),
                         argument.changes.size());
    }
  }
  for (const ResolvedDependency& dependency : job.dependencies) {
    key += fmt::format("\n{} {} {}", dependency.before, dependency.after,
                       dependency.halo ? fmt::format("{}", fmt::join(*dependency.halo, " ")) : "");
  }
  return key;
}

std::string stream_key(const WaveProgram& program, const std::string& folder) {
  WaveProgram masked = program;
  blank_contents(masked);
  std::string key = folder + '\n';
  bool known = true;
  const auto add_state = [&](const std::string& file) {
    const std::string state = file_state(path_in(folder, file));
    known = known && !state.empty();
    key += state + '\n';
  };
  for (const auto& [name, buffer] : program.buffers) {
    if (buffer.count == 0 && !buffer.shape && buffer.init && buffer.init->file) {
      add_state(*buffer.init->file); // which states its size
    }
  }
  for (const auto& [name, image] : program.images) {
    if (image.size.empty() && image.init && image.init->file) {
      add_state(*image.init->file);
    }
  }
  for (const WaveSpec& wave : program.waves) {
    if (wave.queue && wave.queue->file) {
      add_state(*wave.queue->file);
    }
  }
  return known ? key + documents::encode(masked, documents::Style::compact) : std::string();
}

std::shared_ptr<Prepared> find_prepared(const RunOptions& options) {
  const auto found = options.kept->programs.find(options.kept_key);
  const auto prepared =
      found == options.kept->programs.end() ? nullptr : std::dynamic_pointer_cast<Prepared>(found->second);
  if (prepared == nullptr || std::ranges::any_of(prepared->sources, [](const auto& source) {
        return file_state(source.first) != source.second;
      })) {
    return {};
  }
  return prepared;
}

Result<RunReport> run_again(std::shared_ptr<Prepared> prepared, const WaveProgram& program,
                            const std::string& folder, const device::DeviceInfo& device,
                            const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  const auto start = std::chrono::steady_clock::now();
  TIDEGATE_CHECK(
      exchange_contents(prepared->compiled.written, prepared->compiled.program, program, options.scope));
  prepared->compiled.plan_ns = 0;
  TIDEGATE_TRY(RunReport report, run_prepared(prepared, &device, options, monitor, start));
  Lowering lowering(program, folder, &device, options);
  return with_room(std::move(report), lowering, options, monitor);
}

} // namespace tidegate::engine
