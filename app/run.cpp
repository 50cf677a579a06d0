// `tidegate run`: checks the options, runs the program and writes the report; with --stream, those of many requests.
#include "app/run.hpp"

#include "core/interrupt.hpp"
#include "core/json.hpp"
#include "device/isolation.hpp"
#include "engine/report.hpp"
#include "traversal/run.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tidegate::app {

bool is_frontier_program(std::string_view json) {
  const auto head = head_of(json);
  return head &&
         (head->kind.empty() ? std::ranges::find(head->keys, "graph") != head->keys.end()
                             : head->kind == documents::DocumentOf<graphs::FrontierProgram>::document.kind);
}

std::string program_folder(const std::string& program_path) {
  const std::filesystem::path folder = std::filesystem::path(program_path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void shorten(engine::RunReport& report, const AskedRun& request) {
  if (request.explain || request.options.compile.dry_run) {
    return;
  }
  report.candidates.clear();
  report.memory.offsets.clear();
  report.plan.barriers.groups.clear();
  if (report.first_run) {
    report.first_run->candidates.clear();
  }
}

Result<void> read_text(Run& run) {
  return read_document(run.program).map([&run](std::string json) { run.json = std::move(json); });
}

// tidegate writes the program of `run ALGORITHM GRAPH`, so its errors point to the graph's file or an option.
static void place_in_command(Error& error, const Run& run) {
  const std::string pointer = error.pointer.value_or("");
  if (!error.source) {
    error.source = pointer.starts_with("/sources") ? "--set source" : display_name(run.graph);
    error.line = error.column = std::nullopt;
  }
  error.pointer.reset();
  for (Error& other : error.others) {
    place_in_command(other, run);
  }
}

Error at_program(Error error, const Run& run) {
  if (!run.graph.empty()) {
    place_in_command(error, run);
    return error;
  }
  if (run.changed) {
    if (!error.source) { // lines of the text are not those of the file
      error.source = display_name(run.program);
      error.line.reset();
      error.column.reset();
    }
    return error;
  }
  return at_document(std::move(error), run.program, run.json);
}

ProgressStyle progress_style(const AskedRun& request) {
  if (reporting.json || reporting.quiet || ranks::launched().rank != 0) {
    return ProgressStyle::none;
  }
  return request.verbose              ? ProgressStyle::lines
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

// Writes the trace, then the page, and adds each to the report's files; the page does not list itself.
template <class Report>
Result<void> write_trace_and_page(Report& report, const Run& run) {
  const std::string program =
      display_name(run.program) + (run.graph.empty() ? "" : ' ' + display_name(run.graph));
  if (!report.trace.empty()) {
    TIDEGATE_CHECK(write_text(report.trace, trace_json(*report.timeline, program)));
    report.files_written.push_back(runtime::written_file(report.trace, "trace"));
  }
  if (!run.options.page.empty()) {
    TIDEGATE_CHECK(write_text(run.options.page, report_page(report, program)));
    report.files_written.push_back(runtime::written_file(run.options.page, "page"));
  }
  return {};
}

template <class Report>
Result<ExitCode> write_report(Report report, const Run& run) {
  if (report.status == runtime::RunStatus::planned) {
    // Times differ from one dry run to the next, and no one reads them.
    report.wall_time_ns = report.queue_plan_ns = report.lineage_ns = report.build_ns = 0;
    if constexpr (requires { report.load_ns; }) {
      report.load_ns = 0;
    }
  }
  for (const Warning& warning : report.warnings) {
    print_error(as_error(warning, display_name(run.graph.empty() ? run.program : run.graph)));
  }
  TIDEGATE_CHECK(write_trace_and_page(report, run));
  auto document = report;
  shorten(document, run);
  auto written = write_document(run.output, run.format, document, [&](const auto& /*short*/, bool colour) {
    return run_table(run_rows(report), colour);
  });
  if (written && report.error) {
    print_error(at_program(*report.error, run));
    return exit_code(*report.error);
  }
  return written;
}

// Returns the text of a program for an algorithm and a graph; empty if these are not given.
Result<std::string> graph_program(Run& run) {
  const bool algorithm =
      std::ranges::find(graphs::built_in_algorithms, run.program) != graphs::built_in_algorithms.end();
  std::error_code unknown;
  if (run.graph.empty()) {
    if (algorithm && !std::filesystem::exists(run.program, unknown)) {
      return misuse(fmt::format("{} needs a graph", run.program),
                    fmt::format("give its file, as in `tidegate run {} roads.mtx`", run.program));
    }
    if (run.sources.empty() && !run.undirected) {
      return std::string();
    }
    return misuse(fmt::format("{} works only with `run ALGORITHM GRAPH`",
                              run.undirected ? "--set undirected" : "--set source"),
                  "name both, as in `tidegate run bfs roads.mtx --set source=5`");
  }
  if (!run.parameters.empty()) {
    return misuse("--param cannot be combined with an algorithm and a graph, which have no parameters",
                  "leave it out");
  }
  if (!algorithm) {
    return misuse(fmt::format("{} is not an algorithm", in_quotes(run.program)),
                  fmt::format("give one of {} in front of a graph", one_of(graphs::built_in_algorithms)));
  }
  run.options.scope = PathScope::anywhere; // the user named the graph
  std::string file;
  documents::append_string(file, run.graph == standard_stream ? "/dev/stdin" : run.graph);
  return fmt::format(R"({{"graph":{{"file":{},"ids":"file"{}}},"algorithm":"{}","sources":[{}]}})", file,
                     run.undirected ? R"(,"undirected":true)" : "", run.program, fmt::join(run.sources, ","));
}

bool needs_device(const Run& run) {
  return !run.options.compile.dry_run || !run.selector.empty();
}

// Returns the device, or nullopt for a dry run without --device.
Result<std::optional<device::DeviceInfo>> device_of(Run& run, runtime::Monitor& monitor) {
  if (!needs_device(run)) {
    return std::nullopt;
  }
  monitor.begin(runtime::Activity::asking);
  if (run.device) {
    return run.device;
  }
  TIDEGATE_TRY(auto found, find_device(run));
  return found;
}

template <class Report>
Result<ExitCode> finish(Result<Report> report, const Run& run, Progress& progress) {
  progress.finish();
  if (!report) {
    return tl::unexpected(std::move(report.error()));
  }
  if (run.ranks && run.ranks->rank() != 0) {
    if (!report->error) {
      return ExitCode::done; // rank 0 reports
    }
    report->error = after_first_rank(std::move(*report->error)); // rank 0 may not have this error
    return InterruptWatch::interrupted() ? exit_code(*report->error) : write_report(std::move(*report), run);
  }
  // Neither `until` nor PageRank's tolerance was reached.
  const bool failed = run.require_convergence && report->converged == false;
  auto written = write_report(std::move(*report), run);
  if (written && *written == ExitCode::done && failed) {
    const Error error{.code = ErrorCode::not_converged,
                      .message = "the limit of iterations was reached before convergence",
                      .fix =
                          "raise it, or run without --set require-convergence=yes; the outputs were written"};
    print_error(at_program(error, run));
    return exit_code(error);
  }
  return written;
}

// The path of the program or of its graph; empty for standard input.
std::optional<std::string> program_of(const Run& run) {
  const std::string& path = run.graph.empty() ? run.program : run.graph;
  return path == standard_stream ? std::nullopt
                                 : std::optional(std::filesystem::path(path).lexically_normal().string());
}

// Runs again a program that an earlier request of the stream has run.
Result<engine::RunReport> run_waves_again(const std::shared_ptr<engine::Prepared>& prepared,
                                          engine::WaveProgram& program, const Run& run,
                                          const device::DeviceInfo& device, runtime::Monitor& monitor) {
  engine::RunOptions options = run.options;
  options.compile.tuning = prepared->compiled.tuning;
  options.slice_ns = run.slice_ns.value_or(options.compile.tuning.slice_ns);
  program.policy = prepared->compiled.written.policy;
  TIDEGATE_TRY(engine::RunReport report,
               engine::run_again(prepared, program, program_folder(run.program), device, options, monitor));
  report.program = program_of(run);
  report.first_run = prepared->first_run;
  report.profile_file = prepared->profile_file;
  report.policy_file = prepared->policy_file;
  // The load of this machine or the program's inputs have changed: choose again.
  if (!out_of_date(report, options.compile).empty()) {
    options.kept->programs.erase(options.kept_key);
  }
  return report;
}

// Adds what both kinds of reports say of the run around the program. Its wall time began at `start`, with the self-test of the
// device and a first run.
void complete(runtime::ReportHead& report, const Run& run, const TakenTuning& taken,
              std::chrono::steady_clock::time_point start, const std::optional<Warning>& warning) {
  report.program = program_of(run);
  report.wall_time_ns = elapsed_ns(start);
  report.profile_file = taken.profile_file;
  report.policy_file = taken.policy_file;
  for (const auto& each : {warning, run.device_warning}) {
    if (each) {
      report.warnings.push_back(*each);
    }
  }
}

// Sets the value at an RFC 6901 pointer. The pointer names an existing value, or a new key of an existing object other than
// the parameters.
Result<void> replace(nlohmann::ordered_json& program, const std::string& place,
                     const nlohmann::ordered_json& value) {
  try {
    const nlohmann::ordered_json::json_pointer at(place);
    const auto parent = at.parent_pointer();
    const bool may_grow = parent.to_string() != "/parameters" && program.at(parent).is_object();
    if (!at.empty() && (may_grow || program.contains(at))) {
      program[at] = value;
      return {};
    }
  } catch (const nlohmann::ordered_json::exception&) { // not a pointer, or it names nothing
  }
  return failure(ErrorCode::unknown_name, fmt::format("the program has no {}", in_quotes(place)),
                 R"(give the place of a value, such as "/buffers/x/init/random/seed")",
                 "/set/" + pointer_token(place));
}

// Sets run.json to the text of the request's program, with the values of `set` in the request, which is a line of JSON.
Result<void> read_program_of(const documents::RunRequest& request, std::string_view line, Run& run) {
  run.program = request.program.value_or(run.program);
  if (run.program == standard_stream) {
    return tl::unexpected(
        Error{.code = ErrorCode::missing_key,
              .message = "the request names no program, and the command line does not either",
              .fix = R"(give {"program": "program.json"}, or run --stream PROGRAM)",
              .field = "program"});
  }
  TIDEGATE_CHECK(read_text(run));
  if (request.set.empty()) {
    return {};
  }
  // Refuses an invalid file before changes are applied.
  const auto at = [&](Error error) { return at_program(std::move(error), run); };
  if (is_frontier_program(run.json)) {
    TIDEGATE_CHECK(decode_as<graphs::FrontierProgram>(run.json).map_error(at));
  } else {
    TIDEGATE_CHECK(decode_as<engine::WaveProgram>(run.json).map_error(at));
  }
  run.changed = true;
  nlohmann::ordered_json changed = nlohmann::ordered_json::parse(run.json);
  const nlohmann::ordered_json whole = nlohmann::ordered_json::parse(line);
  for (const auto& [place, value] : whole.at("set").items()) {
    TIDEGATE_CHECK(replace(changed, place, value));
  }
  run.json = changed.dump();
  return {};
}

} // namespace

Result<engine::RunReport> run_waves(Run& run, runtime::Monitor& monitor) {
  using Clock = std::chrono::steady_clock;
  engine::RunOptions& options = run.options;
  const Clock::time_point began{std::chrono::nanoseconds(device::work_notes().began_ns)};
  const bool goes_on = began != Clock::time_point(); // after the first run of an earlier process
  const Clock::time_point start = goes_on ? began : Clock::now();
  const std::string folder = program_folder(run.program);
  const auto at = [&run](Error error) { return at_program(std::move(error), run); };
  TIDEGATE_TRY(auto program, decode_as<engine::WaveProgram>(run.json, run.parameters).map_error(at));
  TIDEGATE_TRY(const auto device, device_of(run, monitor));
  const InterruptWatch interrupts;
  if (options.kept != nullptr && device) {
    options.kept_key = engine::stream_key(program, folder);
    if (const auto prepared = engine::find_prepared(options)) {
      return run_waves_again(prepared, program, run, *device, monitor).map_error(at);
    }
  }
  engine::Lowering lowering(std::move(program), folder, device ? &*device : nullptr, options);
  std::string key;
  std::uint64_t repeat = 0;
  if (device) {
    TIDEGATE_TRY(const engine::Job* const job, lowering.job(options.compile.tuning).map_error(at));
    key = program_key(lowering.program(), *job, options);
    repeat = job->iterations;
    if (progress_style(run) == ProgressStyle::lines && !goes_on) {
      print_unknown(*job);
    }
  }
  TIDEGATE_TRY(TakenTuning taken, take_tuning(run, key, device ? &*device : nullptr, repeat));
  if (!taken.first_run || taken.first_run->settled ||
      goes_on) { // else the first run continues from the program's own settings
    options.compile.tuning = taken.tuning.value_or(options.compile.tuning);
    lowering.set_policy(taken.policy.value_or(lowering.program().policy));
  }
  options.compile.memory_apart = run.ranks != nullptr;
  options.compile.claims =
      options.export_folder.empty(); // PoCL's CPUs may claim, but any device may run what is exported
  if (!options.export_folder.empty() && !options.compile.strategy) { // a persistent launch in any case
    const auto kept = options.compile.tuning.strategy;
    options.compile.strategy = kept && is_persistent(*kept) ? *kept : engine::Strategy::barrier;
  }
  TIDEGATE_TRY(auto first_run, choose_way(run, lowering, key, taken, start, monitor).map_error(at));
  options.slice_ns = run.slice_ns.value_or(options.compile.tuning.slice_ns);
  TIDEGATE_TRY(engine::RunReport report, engine::run_program(lowering, options, monitor).map_error(at));
  if (run.ranks) {
    report.strategy_reason = "several ranks run plain launches";
  }
  if (options.verify_stated && report.status == runtime::RunStatus::done) {
    first_run = note_stated(run, *device, key, report);
  }
  report.first_run = std::move(first_run.report);
  complete(report, run, taken, start, first_run.warning);
  if (device) {
    keep_or_forget(report, options, *device, key);
  }
  return report;
}

static traversal::RunOptions graph_options(const AskedRun& asked) {
  traversal::RunOptions options = asked.graphs;
  static_cast<runtime::Options&>(options) = asked.options;
  options.strategy = asked.options.compile.strategy;
  options.workers = asked.options.compile.workers;
  options.timed = asked.options.compile.trace;
  options.dry_run = asked.options.compile.dry_run;
  return options;
}

Result<traversal::FrontierReport> run_frontier(Run& run, runtime::Monitor& monitor) {
  traversal::RunOptions options = graph_options(run);
  const auto start = std::chrono::steady_clock::now();
  const auto at = [&run](Error error) { return at_program(std::move(error), run); };
  TIDEGATE_TRY(auto program, decode_as<graphs::FrontierProgram>(run.json, run.parameters).map_error(at));
  TIDEGATE_TRY(auto device, device_of(run, monitor));
  const std::string key = run.json + documents::encode(program); // that has the values of parameters
  TIDEGATE_TRY(const TakenTuning taken, take_tuning(run, key, device ? &*device : nullptr));
  if (taken.traversal && device && device->profile) { // the self-test stays that of this device
    device->profile->traversal = taken.traversal;
  }
  program.policy.launch = taken.policy.value_or(program.policy.launch);
  options.slice_ns = run.slice_ns.value_or(options.slice_ns);
  const std::string folder = program_folder(run.program);
  if (device && !options.cache_folder.empty()) {
    options.checked = checked_file(key, program, folder, *device, options);
  }
  const InterruptWatch interrupts;
  TIDEGATE_TRY(
      traversal::FrontierReport report,
      traversal::run_traversal(program, folder, device ? &*device : nullptr, options, monitor).map_error(at));
  complete(report, run, taken, start, {});
  return report;
}

// Reads one request per line and writes one report per line. All requests share one session with the device; programs, inputs and
// graphs that a request leaves there serve the next ones (engine/device_memory.hpp).
static Result<ExitCode> run_stream(const Run& given) {
  hint_at_terminal(std::string(standard_stream));
  flush_outputs(false); // no wait for the disk: later requests write the outputs again
  runtime::Kept kept;
  Run shared = given;
  shared.options.kept = &kept;
  shared.options.open_session = [&](const device::DeviceInfo& device,
                                    device::Profiling profiling) -> Result<std::shared_ptr<device::Session>> {
    if (!kept.session) {
      TIDEGATE_TRY(kept.session, given.options.open_session(device, profiling));
    }
    return kept.session;
  };
  const auto answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
    documents::RunRequest request;
    const auto decoded = decode_as(documents::DocumentOf<documents::RunRequest>::document, line, &request);
    reply.id = request.id; // also if decoding fails
    TIDEGATE_CHECK(decoded);
    ++kept.run;
    if (!shared.device) {
      TIDEGATE_TRY(shared.device, find_device(shared));
    }
    Run run = shared;
    TIDEGATE_CHECK(read_program_of(request, line, run));
    const bool frontier = is_frontier_program(run.json);
    TIDEGATE_CHECK(check_options_for(run, frontier));
    const auto report_line = [&](auto report) {
      report.id = request.id;
      reply.exit_code = report.error ? exit_code(*report.error) : ExitCode::done;
      shorten(report, run);
      append(report, documents::Style::compact, reply.text);
    };
    const auto abandon = [&](const auto& report) { // the device has not come back, so this ends the process
      report_line(report);
      device::PrintsToStandardError::end();
      reply.text += '\n';
      (void)!::write(STDOUT_FILENO, reply.text.data(), reply.text.size());
      ::_exit(static_cast<int>(reply.exit_code));
    };
    run.options.abandon = abandon;
    run.graphs.abandon = abandon;
    runtime::Monitor monitor;
    const InterruptWatch interrupts;
    auto done =
        frontier ? run_frontier(run, monitor).map(report_line) : run_waves(run, monitor).map(report_line);
    if (!done && done.error().code == ErrorCode::opencl_failure) {
      kept.forget(); // the session may be unusable after a failure
    }
    return done;
  };
  const std::string input(standard_stream);
  // One worker answers all requests in order, because they share the device.
  return serve_lines({&input, 1}, given.output, answer, 1);
}

static Result<ExitCode> run_here(Run& run) {
  TIDEGATE_TRY(run.json, graph_program(run));
  engine::RunOptions& options = run.options;
  options.cache_folder = run.cache ? cache_folder() : std::filesystem::path();
  TIDEGATE_CHECK(check_options(run));
  if (options.check_bounds) {
    options.compile.strategy = engine::Strategy::launch; // wave by wave
    options.compile.promote = engine::Promotion::none;
  }
  options.compile.trace = run.by_wave || !options.trace.empty() || !options.page.empty();
  const std::string profile = run.profile == "none" ? "" : run.profile.value_or("");
  options.files = {
      .inputs = {{run.program, "the program", {}},
                 {profile, "the profile", {}},
                 {run.policy.value_or(""), "the policy", {}},
                 {run.plan.value_or(""), "the plan", {}}},
      .outputs = {{run.output, "-o", {}}, {options.trace, "--trace", {}}, {options.page, "--html", {}}}};
  TIDEGATE_CHECK(refuse_overwriting(options.files));
  if (needs_device(run)) {
    const bool reads_input = run.stream || std::ranges::find(options.files.inputs, standard_stream,
                                                             &NamedFile::path) != options.files.inputs.end();
    TIDEGATE_TRY(run.crashes, device::isolate_drivers(!reads_input)); // it cannot be read again after a crash
  }
  if (needs_device(run) && !options.compile.dry_run) {
    TIDEGATE_TRY(run.ranks,
                 ranks::begin()); // in the child process, which does not inherit MPI's connections
  }
  options.ranks = run.ranks.get();
  if (run.stream && !run.ranks) {
    return run_stream(run);
  }
  runtime::Monitor monitor;
  if (run.ranks) {
    monitor.waiting = &run.ranks->waiting();
  }
  Progress progress(monitor, progress_style(run));
  const auto abandon = [&run, &progress](const auto& report) {
    progress.finish();
    device::PrintsToStandardError::end();
    auto named = report; // names the rank whose device hangs
    if (run.ranks) {
      named.error = after_first_rank(*report.error);
    }
    const auto written = write_report(named, run);
    ::_exit(static_cast<int>(written ? *written : exit_code(written.error())));
  };
  options.abandon = abandon;
  run.graphs.abandon = abandon;
  hint_at_terminal(run.program);
  if (run.plan) {
    TIDEGATE_TRY(const auto plan, read_as<documents::FrontierMemoryPlan>(*run.plan));
    options.compile.plan = memory_plan(plan);
    options.compile.planner = plan.planner;
  }
  if (run.json.empty()) {
    TIDEGATE_CHECK(read_text(run));
  }
  const bool frontier = is_frontier_program(run.json);
  TIDEGATE_CHECK(check_options_for(run, frontier));
  if (run.ranks) {
    options.compile.strategy = engine::Strategy::plain;
    options.compile.promote = engine::Promotion::none;
  }
  const InterruptWatch interrupts; // until the report is written
  return frontier ? finish(run_frontier(run, monitor), run, progress)
                  : finish(run_waves(run, monitor), run, progress);
}

Result<ExitCode> run_program(const AskedRun& request) {
  Run run(request);
  const ranks::Launched launched = ranks::launched();
  if (launched.rank != 0 && run.options.compile.dry_run) {
    return ExitCode::done; // rank 0 plans
  }
  auto result = run_here(run);
  if (run.ranks) {
    return end_together(std::move(result), *run.ranks);
  }
  return !launched.several()
             ? result
             : result.map_error([](Error error) { return after_first_rank(std::move(error), without_mpi); });
}

} // namespace tidegate::app
