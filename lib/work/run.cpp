#include "work/run.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "engine/kept.hpp"
#include "engine/run.hpp"
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"
#include "work/documents.hpp"
#include "work/hits.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/encode.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tidegate::engine {

namespace {

// Returns the state of each source file, all read since `start`; nothing if one may have changed while it was read.
std::optional<std::map<std::string, std::string>> source_states(const Job& job,
                                                                std::chrono::steady_clock::time_point start) {
  constexpr std::uint64_t tick_ns = 20'000'000; // of a file system's clock, at most
  std::map<std::string, std::string> states;
  for (const ProgramUnit& unit : job.units) {
    for (const std::string& file : unit.files) {
      if ((states[file] = file_state(file, elapsed_ns(start) + tick_ns)).empty()) {
        return {};
      }
    }
  }
  return states;
}

Result<RunReport> run_once(const WaveProgram& program, const std::string& folder,
                           const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  monitor.begin(Activity::compiling);
  std::set<std::string> assumed;
  const AnswerMacros answer =
      device != nullptr ? ask_compiler(*device, options.cache_folder) : assume_macros(assumed);
  const bool keeps = !options.compile.dry_run && !options.check_bounds && !options.check_halos; // its outputs
  const FileCheck files = keeps ? FileCheck::reachable : FileCheck::none;
  TIDEGATE_TRY(Job job,
               resolve(program, folder, answer, options.scope, files, options.compile.tuning, {}, device));
  job.assumed_macros = {assumed.begin(), assumed.end()};
  auto sources = options.kept_key.empty() ? std::nullopt : source_states(job, start);
  TIDEGATE_TRY(auto prepared, prepare(std::move(job), device, options, monitor));
  auto report = run_prepared(prepared, device, options, monitor, start);
  if (!report) { // of a check, whose error is all that comes back
    const auto larger = with_longer_queues(program, prepared->compiled.written, report.error());
    return larger ? run_once(*larger, folder, device, options, monitor) : std::move(report);
  }
  if (report->status == RunStatus::done && sources) {
    prepared->sources = std::move(*sources);
    options.kept->keep(options.kept_key, std::move(prepared));
  }
  return report;
}

// Adds the calls of the runs before, and notes the first capacities of lists and queues that grew.
void report_growth(RunReport& report, const RunReport& first, const RunReport& before) {
  const auto add = [&](auto... counters) {
    ((report.telemetry.*counters += before.telemetry.*counters), ...);
  };
  add(&Telemetry::bytes_uploaded, &Telemetry::bytes_read_back, &Telemetry::bytes_moved,
      &Telemetry::kernel_launches, &Telemetry::filling_launches, &Telemetry::recorded_launches,
      &Telemetry::sync_points);
  report.wall_time_ns += before.wall_time_ns;
  const auto compare = [](auto& now, const auto& then) {
    if (now.capacity != then.capacity) {
      now.grown_from = then.capacity;
    }
  };
  for (std::size_t i = 0; report.hits && first.hits && i < report.hits->size(); ++i) {
    compare((*report.hits)[i], (*first.hits)[i]);
  }
  for (std::size_t i = 0; i < report.queues.size(); ++i) {
    if (report.queues[i].publishing && first.queues[i].publishing) {
      compare(*report.queues[i].publishing, *first.queues[i].publishing);
    }
  }
}

// Runs the program again for as long as lists and queues that may grow have no room.
Result<RunReport> with_room(RunReport report, const WaveProgram& program, const std::string& folder,
                            const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const RunReport first = report;
  // For hits a second run suffices unless their number changes from run to run; a queue needs more than it did so far.
  constexpr int most_runs = 32;
  std::optional<WaveProgram> larger = program;
  for (int runs = 1; runs < most_runs; ++runs) {
    larger = report.status == RunStatus::hits_overflow  ? grown(*larger, *report.hits)
             : report.status == RunStatus::queue_failed ? with_longer_queues(*larger, report.queues)
                                                        : std::nullopt;
    if (!larger) {
      break;
    }
    const RunReport before = std::move(report);
    TIDEGATE_TRY(report, run_once(*larger, folder, device, options, monitor));
    report_growth(report, first, before);
  }
  return report;
}

} // namespace

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  TIDEGATE_TRY(RunReport report, run_once(program, folder, device, options, monitor));
  return with_room(std::move(report), program, folder, device, options, monitor);
}

namespace {

bool size_follows_from_file(const BufferSpec& spec) {
  return spec.count == 0 && !spec.shape;
}
bool size_follows_from_file(const ImageSpec& spec) {
  return spec.size.empty();
}

} // namespace

std::string stream_key(const WaveProgram& program, const std::string& folder) {
  WaveProgram masked = program;
  std::string key = folder + '\n';
  bool known = true;
  const auto add_state = [&](const std::string& file) {
    const std::string state = file_state(path_in(folder, file));
    known = known && !state.empty();
    key += state + '\n';
  };
  const auto mask = [&](auto& spec) {
    if (spec.init && spec.init->file && size_follows_from_file(spec)) {
      add_state(*spec.init->file);
    }
    if (spec.init) {
      spec.init = BufferInit{.fill = Number(std::uint64_t{0})};
    }
    if (spec.output) {
      spec.output = "";
    }
    if constexpr (requires { spec.expect; }) {
      spec.expect.reset();
    }
  };
  for (auto& [name, buffer] : masked.buffers) {
    mask(buffer);
  }
  for (auto& [name, image] : masked.images) {
    mask(image);
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
  if (found == options.kept->programs.end() ||
      std::ranges::any_of(found->second->sources,
                          [](const auto& source) { return file_state(source.first) != source.second; })) {
    return {};
  }
  return found->second;
}

Result<RunReport> run_again(std::shared_ptr<Prepared> prepared, const WaveProgram& program,
                            const std::string& folder, const device::DeviceInfo& device,
                            const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  const auto start = std::chrono::steady_clock::now();
  TIDEGATE_CHECK(
      exchange_contents(prepared->compiled.written, prepared->compiled.program, program, options.scope));
  prepared->compiled.plan_ns = 0;
  prepared->last_run = options.kept->run;
  TIDEGATE_TRY(RunReport report, run_prepared(prepared, &device, options, monitor, start));
  return with_room(std::move(report), program, folder, &device, options, monitor);
}

} // namespace tidegate::engine
