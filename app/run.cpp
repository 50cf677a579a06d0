// `tidegate run`: checks the options, runs the program and writes the report.
#include "app/run.hpp"

#include "app/command_line.hpp"
#include "app/options.hpp"
#include "app/plan.hpp"
#include "app/ranks.hpp"
#include "app/report_page.hpp"
#include "app/terminal.hpp"
#include "app/tune.hpp"
#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/json.hpp"
#include "device/driver_output.hpp"
#include "device/isolation.hpp"
#include "engine/execute.hpp"
#include "engine/report.hpp"
#include "engine/strategy.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/run.hpp"
#include "work/program.hpp"
#include "work/run.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace tidegate::app {

bool is_frontier_program(std::string_view json) {
  std::vector<std::string> keys;
  const auto kind = documents::kind_of(json, &keys);
  return kind && (kind->empty() ? std::ranges::find(keys, "graph") != keys.end()
                                : *kind == documents::DocumentOf<graphs::FrontierProgram>::document.kind);
}

std::string program_folder(const std::string& program_path) {
  if (program_path == "-") {
    return ".";
  }
  const std::filesystem::path folder = std::filesystem::path(program_path).parent_path();
  return folder.empty() ? "." : folder.string();
}

documents::RunReportDocument run_document(engine::RunReport report, const PlanOptions& plan_options) {
  documents::RunReportDocument document;
  document.plan = plan_to_document(report.plan, plan_options);
  document.evidence = {.topology = report.topology_evidence,
                       .promotion = report.promotion_evidence,
                       .complete = {.topology = !policy::incomplete_field(report.topology_evidence),
                                    .promotion = !policy::incomplete_field(report.promotion_evidence)}};
  document.report = std::move(report);
  return document;
}

Result<void> read_text(RunSettings& settings) {
  TIDEGATE_TRY(DocumentText read, read_document(settings.program, settings.parameters));
  settings.text = std::move(read.json);
  settings.written = std::move(read.written);
  return {};
}

// tidegate writes the program of `run ALGORITHM GRAPH`, so its errors point to the graph's file or an option.
static void place_in_command(Error& error, const RunSettings& settings) {
  const std::string pointer = error.pointer.value_or("");
  if (!error.source) {
    error.source = pointer.starts_with("/sources") ? "--set source" : display_name(settings.graph);
    error.line = error.column = std::nullopt;
  }
  error.pointer.reset();
  for (Error& other : error.others) {
    place_in_command(other, settings);
  }
}

Error at_program(Error error, const RunSettings& settings) {
  if (!settings.graph.empty()) {
    place_in_command(error, settings);
    return error;
  }
  if (settings.changed) {
    if (!error.source) { // lines of the text are not those of the file
      error.source = display_name(settings.program);
      error.line.reset();
      error.column.reset();
    }
    return error;
  }
  return at_document(std::move(error), settings.program, settings.text, settings.written);
}

ProgressStyle progress_style(const RunSettings& settings) {
  if (errors_are_json() || settings.quiet || ranks::launched().rank != 0) {
    return ProgressStyle::none;
  }
  return settings.verbose             ? ProgressStyle::lines
         : is_terminal(STDERR_FILENO) ? ProgressStyle::line
                                      : ProgressStyle::none;
}

namespace {

// Prints which arguments may be touched anywhere, and why, once for each op.
void print_unknown(const engine::Job& job) {
  std::set<std::pair<std::uint32_t, std::size_t>> printed;
  for (std::uint32_t wave = 0; wave < job.waves.size(); ++wave) {
    const auto& arguments = job.waves[wave].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].any_element.empty() && arguments[i].is_memory() &&
          printed.emplace(job.waves[wave].op, i).second) {
        fmt::print(stderr, "{} may touch any element of {}: {}\n", printable(job.wave_text(wave)),
                   in_quotes(job.buffers[arguments[i].buffer].name), printable(arguments[i].any_element));
      }
    }
  }
}

// Returns the command line, split into words.
std::vector<std::string> own_command() {
  std::vector<std::string> words{"tidegate"};
  if (const auto text = read_all("/proc/self/cmdline", std::size_t{1} << 20U)) {
    const std::size_t first = text->find('\0'); // past the name of the binary
    for (std::size_t at = first + 1; first != std::string::npos && at < text->size();) {
      const std::size_t end = std::min(text->find('\0', at), text->size());
      words.push_back(text->substr(at, end - at));
      at = end + 1;
    }
  }
  return words;
}

documents::RunReportDocument document_of(const engine::RunReport& report, const RunSettings& settings) {
  return run_document(report, settings.plan_options);
}

const traversal::FrontierReport& document_of(const traversal::FrontierReport& report, const RunSettings&) {
  return report;
}

// Writes the trace, then the page, and adds each to the report's files; the page does not list itself.
template <class Report>
Result<void> write_trace_and_page(Report& report, const RunSettings& settings) {
  const std::string program =
      display_name(settings.program) + (settings.graph.empty() ? "" : ' ' + display_name(settings.graph));
  if (report.trace) {
    TIDEGATE_CHECK(write_text(report.trace->file, trace_json(*report.timeline, program)));
    report.files_written.push_back(engine::written_file(report.trace->file, "trace"));
  }
  if (!settings.options.page.empty()) {
    const PageOrigin origin{.program = program, .command = own_command(), .version = TIDEGATE_VERSION};
    TIDEGATE_CHECK(write_text(settings.options.page, report_page(document_of(report, settings), origin)));
    report.files_written.push_back(engine::written_file(settings.options.page, "page"));
  }
  return {};
}

// Prints the report of a program of either kind.
template <class Report>
Result<ExitCode> write_report(Report report, const RunSettings& settings) {
  for (std::size_t i = 0; i < report.warnings.size() && !settings.quiet; ++i) {
    print_warning(report.warnings[i], settings.program);
  }
  TIDEGATE_CHECK(write_trace_and_page(report, settings));
  const auto& document = document_of(report, settings);
  auto written =
      write_document(settings.output, settings.format, document,
                     [](const auto& made, bool colour) { return run_table(run_rows(made), colour); });
  if (written && report.error) {
    print_error(at_program(*report.error, settings));
    return exit_code(*report.error);
  }
  return written;
}

// Returns the text of a program for an algorithm and a graph; empty if these are not given.
Result<std::string> graph_program(RunSettings& settings) {
  const bool algorithm =
      std::ranges::find(graphs::built_in_algorithms, settings.program) != graphs::built_in_algorithms.end();
  std::error_code unknown;
  if (settings.graph.empty() && algorithm && !std::filesystem::exists(settings.program, unknown)) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} needs a graph", settings.program),
                   fmt::format("give its file, as in `tidegate run {} roads.mtx`", settings.program));
  }
  if (settings.graph.empty()) {
    if (settings.sources.empty() && !settings.undirected) {
      return std::string();
    }
    return failure(ErrorCode::invalid_usage,
                   fmt::format("{} works only with `run ALGORITHM GRAPH`",
                               settings.undirected ? "--set undirected" : "--set source"),
                   "name both, as in `tidegate run bfs roads.mtx --set source=5`");
  }
  if (!settings.parameters.empty()) {
    return failure(ErrorCode::invalid_usage,
                   "--param cannot be combined with an algorithm and a graph, which have no parameters",
                   "leave it out");
  }
  if (!algorithm) {
    return failure(ErrorCode::invalid_usage,
                   fmt::format("{} is not an algorithm", in_quotes(settings.program)),
                   fmt::format("give one of {} in front of a graph", one_of(graphs::built_in_algorithms)));
  }
  settings.options.scope = PathScope::anywhere; // the user named the graph
  std::string file;
  documents::append_string(file, settings.graph == standard_stream ? "/dev/stdin" : settings.graph);
  return fmt::format(R"({{"graph":{{"file":{},"ids":"file"{}}},"algorithm":"{}","sources":[{}]}})", file,
                     settings.undirected ? R"(,"undirected":true)" : "", settings.program,
                     fmt::join(settings.sources, ","));
}

Result<void> read_plan(RunSettings& settings) {
  if (!settings.plan) {
    return {};
  }
  if (*settings.plan == "-" && settings.program == "-") {
    return failure(ErrorCode::invalid_usage, "standard input cannot be the plan and the program",
                   "name a file for one of them");
  }
  TIDEGATE_TRY(const auto plan, read_as<documents::FrontierMemoryPlan>(*settings.plan));
  settings.options.compile.plan = memory_plan(plan);
  settings.plan_options.planner = plan.planner;
  settings.plan_options.objective = plan.objective.value_or(settings.plan_options.objective);
  return {};
}

// Returns nullopt for 0, which stands for an option that is not given. Larger values become 2^32 - 1.
std::optional<std::uint32_t> optional_u32(std::uint64_t value) {
  return value == 0 ? std::nullopt
                    : std::optional(static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~0U)));
}

bool needs_device(const RunSettings& settings) {
  return !settings.options.compile.dry_run || !settings.selector.empty();
}

// Returns the device, or nullopt for a dry run without --device.
Result<std::optional<device::DeviceInfo>> device_of(RunSettings& settings, engine::Monitor& monitor) {
  if (!needs_device(settings)) {
    return std::nullopt;
  }
  monitor.begin(engine::Activity::asking);
  if (settings.device) {
    return settings.device;
  }
  TIDEGATE_TRY(auto found, find_device(settings));
  return found;
}

// Judges the times against the baseline, and writes them to the files that --export names.
template <class Report>
Result<void> write_timings(Report& report, const RunSettings& settings) {
  const auto timings = timings_of(report);
  if (!timings) {
    return {}; // the run was not done, and its report says why
  }
  if (settings.earlier) {
    report.baseline = against_baseline(*timings, *settings.earlier, settings.baseline);
    if (!report.baseline) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("too few rounds to compare: {} of this run, {} of the baseline",
                                 timings->run_ns.size(), settings.earlier->run_ns.size()),
                     "give --compare 9 in both runs");
    }
    if (auto same = refuse_other_work(*timings, *settings.earlier); !same) {
      if (settings.fail_slower) {
        return same;
      }
      report.warnings.push_back({.message = same.error().message, .fix = same.error().fix, .pointer = ""});
    }
    const RatioEstimate others = unpaired_ratio(timings->other_ns, settings.earlier->other_ns);
    if (others.certain && verdict_of(others) == report.baseline->verdict &&
        report.baseline->verdict != SpeedVerdict::no_difference) {
      report.warnings.push_back(
          {.message = fmt::format(
               "{} changed, too: {}", timings->other,
               speed_text(others, report.baseline->verdict, "the baseline's", timings->other_ns.size())),
           .fix = "look for what differs besides the program: load, clocks, the driver, or the kernels",
           .pointer = ""});
    }
  }
  if (const std::string& file = settings.export_file; !file.empty()) {
    const bool csv = file.ends_with("csv");
    TIDEGATE_CHECK(write_text(file, csv ? csv_text(*timings) : markdown_text(*timings)));
    report.files_written.push_back(engine::written_file(file, csv ? "times as CSV" : "times as Markdown"));
  }
  return {};
}

// The error of --set require-convergence=yes: neither `until` nor PageRank's tolerance was reached.
template <class Report>
std::optional<Error> not_converged(const Report& report, const RunSettings& settings) {
  if (!settings.require_convergence || report.converged != false) {
    return {};
  }
  return Error{.code = ErrorCode::not_converged,
               .message = "the limit of iterations was reached before convergence",
               .fix = "raise it, or run without --set require-convergence=yes; the outputs were written"};
}

// Completes the report and prints it.
template <class Report>
Result<ExitCode> finish(Result<Report> report, const RunSettings& settings, Progress& progress) {
  progress.finish();
  if (!report) {
    return tl::unexpected(std::move(report.error()));
  }
  if (settings.ranks && settings.ranks->rank() != 0) {
    if (!report->error) {
      return ExitCode::done; // rank 0 reports
    }
    report->error = after_first_rank(std::move(*report->error)); // rank 0 may not have this error
    return InterruptWatch::interrupted() ? exit_code(*report->error)
                                         : write_report(std::move(*report), settings);
  }
  TIDEGATE_CHECK(write_timings(*report, settings));
  std::optional<Error> failed = not_converged(*report, settings);
  if (!failed && report->baseline && settings.fail_slower) {
    failed = slower_than_baseline(*report->baseline, *settings.fail_slower);
  }
  auto written = write_report(std::move(*report), settings);
  if (written && *written == ExitCode::done && failed) {
    print_error(at_program(*failed, settings));
    return exit_code(*failed);
  }
  return written;
}

// Runs again a program that an earlier request of the stream has run.
Result<engine::RunReport> run_waves_again(const std::shared_ptr<engine::Prepared>& prepared,
                                          engine::WaveProgram& program, const RunSettings& settings,
                                          const device::DeviceInfo& device, engine::Monitor& monitor) {
  engine::RunOptions options = settings.options;
  options.compile.tuning = prepared->compiled.tuning;
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.compile.tuning.slice_ns;
  program.policy = prepared->compiled.written.policy;
  TIDEGATE_TRY(
      engine::RunReport report,
      engine::run_again(prepared, program, program_folder(settings.program), device, options, monitor));
  report.first_run = prepared->first_run;
  report.profile_file = prepared->profile_file;
  report.policy_file = prepared->policy_file;
  // The load of this machine or the program's inputs have changed: choose again.
  if (too_slow(report, options.compile) || other_share_of_tiles(report, options.compile.tuning)) {
    options.kept->programs.erase(options.kept_key);
  }
  return report;
}

// Returns the file of --policy; "" if the program states the policy, nothing for one that was kept.
std::optional<std::string> policy_file(const RunSettings& settings, const TakenTuning& taken) {
  return taken.policy ? settings.policy : std::optional<std::string>("");
}

// Forgets the tuning that earlier runs kept if this run shows that it is out of date; otherwise notes what later runs and
// requests compare with.
void keep_or_forget(engine::RunReport& report, const engine::RunOptions& options, const TunedFiles& files) {
  if (report.first_run && too_slow(report, options.compile)) {
    forget_tuned(files); // the load of this machine has changed
    report.first_run->kept = false;
    report.first_run->reason += "; it took far longer now, so the next run measures again";
    report.first_run->next = "begins again";
  } else if (report.first_run && other_share_of_tiles(report, options.compile.tuning)) {
    forget_tuned(files);
    report.first_run->kept = false;
    report.first_run->reason += fmt::format(
        "; then {:.0f} % of its tiles were active and now {:.0f} %, so the next run measures again",
        options.compile.tuning.active_tiles_bps / 100.0, active_tiles_bps(report) / 100.0);
    report.first_run->next = "begins again";
  } else {
    if (report.first_run && report.first_run->measured && report.first_run->kept && report.active) {
      note_active_tiles(files, active_tiles_bps(report));
    }
    if (options.kept != nullptr && report.first_run && report.first_run->kept && !report.first_run->settled) {
      options.kept->programs.erase(options.kept_key); // the next request goes on with the first run
    } else if (const auto prepared = options.kept != nullptr ? engine::find_prepared(options) : nullptr) {
      prepared->first_run = report.first_run;
      prepared->profile_file = report.profile_file;
      prepared->policy_file = report.policy_file;
      prepared->compiled.tuning.active_tiles_bps = active_tiles_bps(report);
    }
  }
}

} // namespace

Result<engine::RunReport> run_waves(RunSettings& settings, engine::Monitor& monitor) {
  engine::RunOptions& options = settings.options;
  const auto start = std::chrono::steady_clock::now();
  const std::string folder = program_folder(settings.program);
  const auto at = [&settings](Error error) { return at_program(std::move(error), settings); };
  TIDEGATE_TRY(auto program, documents::decode<engine::WaveProgram>(settings.text).map_error(at));
  TIDEGATE_TRY(const auto device, device_of(settings, monitor));
  const InterruptWatch interrupts;
  if (options.kept != nullptr && device) {
    options.kept_key = engine::stream_key(program, folder);
    if (const auto prepared = engine::find_prepared(options)) {
      return run_waves_again(prepared, program, settings, *device, monitor).map_error(at);
    }
  }
  engine::Lowering lowering(std::move(program), folder, device ? &*device : nullptr, options);
  std::string key;
  std::uint64_t repeat = 0;
  if (device) {
    TIDEGATE_TRY(const engine::Job* const job, lowering.job(options.compile.tuning).map_error(at));
    key = program_key(lowering.program(), *job, options, TIDEGATE_VERSION);
    repeat = job->iterations;
    if (progress_style(settings) == ProgressStyle::lines) {
      print_unknown(*job);
    }
  }
  TIDEGATE_TRY(TakenTuning taken, take_tuning(settings, key, device ? &*device : nullptr));
  if (taken.first_run && taken.first_run->repeat != 0 && far_apart(taken.first_run->repeat, repeat)) {
    taken = {};
  }
  if (!taken.first_run ||
      taken.first_run->settled) { // else the first run goes on from the program's own settings
    options.compile.tuning = taken.tuning.value_or(options.compile.tuning);
    lowering.set_policy(taken.policy.value_or(lowering.program().policy));
  }
  options.compile.policy_file = policy_file(settings, taken);
  options.compile.memory_apart = settings.ranks != nullptr;
  options.compile.claims =
      options.export_folder.empty(); // PoCL's CPUs may claim, but any device may run what is exported
  if (!options.export_folder.empty() && !options.compile.strategy) { // a persistent launch in any case
    const auto kept = options.compile.tuning.strategy;
    options.compile.strategy = kept && is_persistent(*kept) ? *kept : engine::Strategy::barrier;
  }
  TIDEGATE_TRY(auto first_run, choose_way(settings, lowering, key, taken, monitor).map_error(at));
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.compile.tuning.slice_ns;
  TIDEGATE_TRY(engine::RunReport report, engine::run_program(lowering, options, monitor).map_error(at));
  if (settings.ranks) {
    report.strategy_reason = "several ranks run plain launches";
  }
  report.wall_time_ns = elapsed_ns(start); // with the self-test of the device and a first run
  report.profile_file = taken.profile_file;
  report.policy_file = taken.policy_file;
  if (options.verify_stated && report.status == engine::RunStatus::done) {
    first_run = note_stated(settings, *device, key, report);
  }
  report.first_run = std::move(first_run.report);
  if (device) {
    keep_or_forget(report, options, tuned_files(*device, key));
  }
  for (auto& warning : {std::move(first_run.warning), settings.device_warning}) {
    if (warning) {
      report.warnings.push_back(*warning);
    }
  }
  return report;
}

Result<traversal::FrontierReport> run_frontier(RunSettings& settings, engine::Monitor& monitor) {
  engine::RunOptions& options = settings.options;
  const auto start = std::chrono::steady_clock::now();
  const auto at = [&settings](Error error) { return at_program(std::move(error), settings); };
  TIDEGATE_TRY(auto program, documents::decode<graphs::FrontierProgram>(settings.text).map_error(at));
  TIDEGATE_TRY(auto device, device_of(settings, monitor));
  TIDEGATE_TRY(const TakenTuning taken, take_tuning(settings, settings.text, device ? &*device : nullptr));
  if (taken.traversal && device && device->profile) { // the self-test stays that of this device
    device->profile->traversal = taken.traversal;
  }
  program.policy.launch = taken.policy.value_or(program.policy.launch);
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.slice_ns;
  const std::string folder = program_folder(settings.program);
  if (device && settings.cache) {
    options.traversal.checked =
        checked_file(settings.text, program, folder, *device, options, TIDEGATE_VERSION);
  }
  const InterruptWatch interrupts;
  TIDEGATE_TRY(
      traversal::FrontierReport report,
      traversal::run_traversal(program, folder, device ? &*device : nullptr, options, monitor).map_error(at));
  report.wall_time_ns = elapsed_ns(start);
  report.profile_file = taken.profile_file;
  report.policy_file = taken.policy_file;
  const auto stated = policy_file(settings, taken);
  const auto idle_policy =
      stated ? traversal::idle_policy_fields(program, report.switch_rule, *stated) : std::nullopt;
  for (const auto& warning : {idle_policy, settings.device_warning}) {
    if (warning) {
      report.warnings.push_back(*warning);
    }
  }
  return report;
}

// Lists the files that the command line names, so that no output replaces an input, and reads the baseline.
static Result<void> collect_files(RunSettings& settings) {
  engine::RunOptions& options = settings.options;
  options.files = {.inputs = {{settings.program, "the program", {}}},
                   .outputs = {{settings.output, "-o", {}}}};
  if (!options.trace.empty()) {
    options.files.outputs.push_back({options.trace, "--trace", {}});
  }
  if (!options.page.empty()) {
    options.files.outputs.push_back({options.page, "--report", {}});
  }
  if (settings.profile && *settings.profile != "none") {
    options.files.inputs.push_back({*settings.profile, "the profile", {}});
  }
  if (settings.policy) {
    options.files.inputs.push_back({*settings.policy, "the policy", {}});
  }
  if (settings.plan) {
    options.files.inputs.push_back({*settings.plan, "the plan", {}});
  }
  if (!settings.baseline.empty()) {
    TIDEGATE_TRY(settings.earlier, read_baseline(settings.baseline));
    options.files.inputs.push_back({settings.baseline, "the baseline", {}});
  }
  if (!settings.export_file.empty()) {
    options.files.outputs.push_back({settings.export_file, "--export", {}});
  }
  return {};
}

static Result<ExitCode> run_here(RunSettings& settings) {
  TIDEGATE_TRY(settings.text, graph_program(settings));
  engine::RunOptions& options = settings.options;
  options.cache_folder = settings.cache ? cache_folder() : std::filesystem::path();
  settings.by_wave = options.compile.trace; // before --trace and --report turn it on, too
  TIDEGATE_CHECK(check_options(settings));
  if (options.check_bounds) {
    options.compile.strategy = engine::Strategy::launch; // wave by wave
    options.compile.promote = engine::Promotion::none;
  }
  options.compile.side_by_side = optional_u32(std::min<std::uint64_t>(settings.side_by_side, 1024));
  options.compile.workers = optional_u32(settings.workers);
  options.traversal.group_size = optional_u32(settings.group_size);
  if (settings.alone_up_to) {
    options.traversal.alone_vertices = optional_u32(*settings.alone_up_to).value_or(0);
  }
  options.compile.trace |= !options.trace.empty() || !options.page.empty();
  TIDEGATE_CHECK(collect_files(settings));
  if (needs_device(settings)) {
    const bool reads_input = settings.stream ||
                             settings.program == standard_stream || // cannot be read again after a crash
                             settings.profile == standard_stream || settings.policy == standard_stream ||
                             settings.plan == standard_stream;
    TIDEGATE_TRY(settings.crashes, device::isolate_drivers(!reads_input));
  }
  if (needs_device(settings) && !options.compile.dry_run) {
    TIDEGATE_TRY(settings.ranks,
                 ranks::begin()); // in the child process, which does not inherit MPI's connections
  }
  options.ranks = settings.ranks.get();
  if (settings.stream && !settings.ranks) {
    return run_stream(settings);
  }
  engine::Monitor monitor;
  if (settings.ranks) {
    monitor.waiting = &settings.ranks->waiting();
  }
  Progress progress(monitor, progress_style(settings));
  const auto abandon = [&settings, &progress](const auto& report) {
    progress.finish();
    device::PrintsToStandardError::end();
    auto named = report; // names the rank whose device hangs
    if (settings.ranks) {
      named.error = after_first_rank(*report.error);
    }
    const auto written = write_report(named, settings);
    ::_exit(static_cast<int>(written ? *written : exit_code(written.error())));
  };
  options.abandon = abandon;
  options.traversal.abandon = abandon;
  hint_at_terminal(settings.program);
  TIDEGATE_CHECK(read_plan(settings));
  if (settings.text.empty()) {
    TIDEGATE_CHECK(read_text(settings));
  }
  const bool frontier = is_frontier_program(settings.text);
  TIDEGATE_CHECK(check_options_for(settings, frontier));
  if (settings.ranks) {
    options.compile.strategy = engine::Strategy::plain;
    options.compile.promote = engine::Promotion::none;
  }
  const InterruptWatch interrupts; // until the report is written
  if (frontier) {
    return finish(run_frontier(settings, monitor), settings, progress);
  }
  return finish(run_waves(settings, monitor), settings, progress);
}

Result<ExitCode> run_program(RunSettings& settings) {
  const ranks::Launched launched = ranks::launched();
  if (launched.rank != 0 && settings.options.compile.dry_run) {
    return ExitCode::done; // rank 0 plans
  }
  auto result = run_here(settings);
  if (settings.ranks) {
    return end_together(std::move(result), *settings.ranks);
  }
  return !launched.several()
             ? result
             : result.map_error([](Error error) { return after_first_rank(std::move(error), without_mpi); });
}

} // namespace tidegate::app
