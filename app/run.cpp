#include "app/run.hpp"

#include "app/command_line.hpp"
#include "app/lint.hpp"
#include "app/options.hpp"
#include "app/plan.hpp"
#include "app/ranks.hpp"
#include "app/report_page.hpp"
#include "app/terminal.hpp"
#include "app/tune.hpp"
#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/json_text.hpp"
#include "device/driver_output.hpp"
#include "device/isolation.hpp"
#include "engine/execute.hpp"
#include "engine/report.hpp"
#include "engine/strategy.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/run.hpp"
#include "engine/traversal/setup.hpp"
#include "work/documents.hpp"
#include "work/run.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
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

// The options of tidegate run.

namespace {

constexpr std::array<std::string_view, 5> strategy_choices{"auto", "launch", "barrier", "counters", "plain"};
constexpr std::array<std::string_view, 4> order_choices{"auto", "strided", "blocked", "serpentine"};
constexpr std::array<std::string_view, 3> mode_choices{"auto", "interpreter", "jit"};
constexpr std::array<std::string_view, 5> promote_choices{"auto", "none", "windows", "opcodes", "all"};
constexpr std::array<std::string_view, 5> topology_choices{
    "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"};
constexpr std::array<std::string_view, 3> overlap_choices{"auto", "yes", "no"};
constexpr std::array<std::string_view, 2> fp_contract_choices{"default", "off"};

// The first of the names is auto, which leaves the value empty.
template <class E>
OptionModel choice_or_auto(std::string name, std::optional<E>& value, std::span<const std::string_view> names,
                           std::string meaning) {
  const auto choose = [&value](std::size_t index) {
    value = index == 0 ? std::nullopt : std::optional(static_cast<E>(index - 1));
  };
  return index_option(std::move(name), choose, names, std::move(meaning));
}

} // namespace

static OptionModel source_option(std::vector<std::uint64_t>& sources) {
  return {.names = {"--source"},
          .value = "N",
          .repeats = true,
          .meaning = "With GRAPH: start here, as the file counts; again for another",
          .take = [&sources](const std::string& text) {
            return read_count(text).map([&sources](std::uint64_t source) { sources.push_back(source); });
          }};
}

static Result<engine::AskedWeights> read_weights(const std::string& text) {
  if (text == "auto") {
    return engine::AskedWeights();
  }
  if (text == "equal" || text == "measured") {
    return engine::AskedWeights{.source = text == "equal" ? engine::WeightSource::equal
                                                          : engine::WeightSource::measured,
                                .parts = {}};
  }
  engine::AskedWeights asked{.source = engine::WeightSource::stated, .parts = {}};
  constexpr std::uint64_t most = 10000;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto weight = read_count(text.substr(begin, end - begin));
    if (!weight || *weight == 0 || *weight > most) {
      return tl::unexpected(
          Error{.message = fmt::format("{} is no list of weights from 1 to {}", in_quotes(text), most),
                .fix = "give auto, equal, measured, or a weight for each rank, such as 2,1,1"});
    }
    asked.parts.push_back(static_cast<std::uint32_t>(*weight));
    begin = end + 1;
  }
  return asked;
}

std::vector<OptionModel> run_settings(RunSettings& settings) {
  engine::RunOptions& options = settings.options;
  return {
      switch_option(
          "measure", settings.measure,
          "Without --strategy, time candidates on the first run; no: take what the cost model says is "
          "least, compared with plain launches but not timed"),
      switch_option(
          "verify-first", options.verify_first,
          "no: neither compare nor time anything on the first run, and leave the result of a frontier "
          "program unchecked"),
      duration_option(
          "measure-budget", options.first_run_budget_ns, 1'000'000'000,
          "How long the first run may compare and time candidates, or check the result of a frontier "
          "program: 10s (default), 2m, or a number of seconds"),
      choice_or_auto(
          "promote", options.compile.promote, promote_choices,
          "windows: waves that go on with the same tiles become one; opcodes: ops that run most tiles "
          "get separate code and are looked at first; auto (default): as the launch policy says"),
      index_option(
          "fp-contract", [&options](std::size_t index) { options.compile.fp_contract_off = index == 1; },
          fp_contract_choices,
          "default: the compiler may join a * b + c to one operation, and may do so differently here and in plain "
          "launches; off: in neither"),
      duration_option(
          "slice", settings.slice_ns, 1'000'000,
          "How long one persistent launch should take at most: 150ms, or a number of milliseconds; 0 "
          "(default): as the profile says, 150ms without one"),
      count_option("stress-seed", options.stress_seed,
                   "Seed of the first run of --stress (default 1); the next runs have the next seeds"),
      count_option(
          "side-by-side", settings.side_by_side,
          "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
      choice_or_auto(
          "order", options.compile.mapping, order_choices,
          "Which work-group runs which tiles of a persistent launch; strided: with barriers alone"),
      index_option(
          "force-topology",
          [&settings](std::size_t index) {
            settings.options.traversal.force_topology =
                static_cast<policy::Topology>(index + 1); // the first one is empty
          },
          topology_choices, "Run all waves of a frontier program with this one"),
      switch_option("undirected", settings.undirected,
                    "With GRAPH: whether each edge of the file also counts as its opposite; no (default)"),
      count_option(
          "group-size", settings.group_size,
          "Work-items of a work-group of a frontier program, a power of two; 0 (default): by the device"),
      count_option("alone-up-to", settings.alone_up_to,
                   "Vertices of a frontier that one work-group works alone (default: by the device)"),
      index_option(
          "halo-overlap",
          [&options](std::size_t index) {
            options.halo_overlap = index == 0 ? std::nullopt : std::optional(index == 1);
          },
          overlap_choices,
          "On ranks, whether work-groups that need no halo run while halos are under way; auto (default): on "
          "GPUs, and as is measured together with the depth of halos"),
      {.names = {"rank-weights"},
       .value = "auto|equal|measured|N,N",
       .meaning =
           "How much of what ranks cut each of them works; auto (default): equal parts where their devices are alike, "
           "otherwise by the time of some iterations; measured: so in any case",
       .take =
           [&asked = options.rank_weights](const std::string& text) {
             return read_weights(text).map(
                 [&asked](engine::AskedWeights given) { asked = std::move(given); });
           }},
      count_option("trace-spans", options.trace_spans,
                   "Spans that the trace and the page keep at most (default 200000)")};
}

CommandModel run_command() {
  const auto settings = std::make_shared<RunSettings>();
  engine::RunOptions& options = settings->options;
  return {
      .options =
          {device_option(settings->selector,
                         "Index, cpu, gpu, UUID or part of a name; else $TIDEGATE_DEVICE"),
           choice_or_auto(
               "--strategy", options.compile.strategy, strategy_choices,
               "plain: one launch per wave; launch: one per group of waves; barrier, counters: one "
               "for all; auto (default): the fastest"),
           choice_or_auto("--mode", options.compile.mode, mode_choices,
                          "Read arguments, or compile them in; auto (default): by policy"),
           count_option("--workers", settings->workers,
                        "Work-groups of a persistent launch; 0 (default): by the tiles"),
           parameter_option(settings->parameters),
           source_option(settings->sources),
           file_option("--plan", settings->plan, "Run this frontier_memory_plan, after checking it"),
           file_option("--policy", settings->policy, "Launch policy instead of the program's own"),
           file_option("--profile", settings->profile,
                       "Take this device_profile, not one that was kept; none: take none"),
           flag("--verify", options.verify, "Run plain launches too, and compare every byte of the outputs"),
           count_option("--stress", options.stress_runs,
                        "Verify, then N more runs in other orders, with late groups"),
           count_option("--compare", options.compare_rounds,
                        "Verify, then time both in N pairs: ratio, 95 % interval, verdict"),
           file_option("--baseline", settings->baseline,
                       "With --compare: judge the times against this earlier report"),
           flag("--require-convergence", settings->require_convergence,
                "Exit with 1 if a limit of iterations ends the run first"),
           percent_option("--fail-slower", settings->fail_slower,
                          "Exit with 1 if slower than the baseline by more than this: 5%"),
           written_file_option("--export-markdown", settings->export_markdown, {"md"},
                               "With --compare: write both times as a table"),
           written_file_option("--export-csv", settings->export_csv, {"csv"},
                               "With --compare: write every round"),
           flag("--check-bounds", options.check_bounds,
                "Instead: guard all buffers, in Oclgrind if installed; no outputs"),
           flag("--check-halos", options.check_halos,
                "Instead: hold accesses against the stated halos; no outputs"),
           count_option("--halo-depth", options.halo_depth,
                        "On ranks: exchange halos once in N iterations (default: measured)"),
           flag("--stream", settings->stream, "Answer requests from standard input, a line of JSON each"),
           flag("--dry-run", options.compile.dry_run,
                "Touch no device: plan, recommendation, evidence, memory"),
           duration_option("--max-wall-time", options.max_wall_time_ns, 1'000'000'000,
                           "End the run without outputs after this: 10s, 2m (default 60s)"),
           settings_option(run_settings(*settings),
                           "Change a setting; `tidegate schema run_settings` lists them"),
           flag("--by-wave", options.compile.trace,
                "Time each wave: critical path, waiting, GB/s; graphs: edges/s"),
           written_file_option("--trace", options.trace, {"json"}, "Write a timeline for ui.perfetto.dev"),
           written_file_option("--report", options.page, {"html", "htm"},
                               "Write the run as one HTML page: plan, timeline, memory, reasons"),
           file_option("--emit-kernel", options.emit_kernel,
                       "Write the generated kernel; with --stress that of its last run"),
           format_option(settings->format),
           output_option(settings->output),
           short_flag("-q", "--quiet", settings->quiet, "Print nothing but errors: no warnings, no progress"),
           short_flag("-v", "--verbose", settings->verbose, "Print what the run is doing, a line a second"),
           flag("--no-cache", settings->no_cache,
                "Neither use nor keep built kernels and what `tune measure` kept"),
           path_scope_option(options.scope)},
      .positionals = {positional("[PROGRAM]",
                                 file_option("", settings->program,
                                             "Program or algorithm to run; - or none is standard input")),
                      positional("[GRAPH]", file_option("", settings->graph,
                                                        "Graph, if it is bfs, reach, sssp, cc or pagerank"))},
      .examples = {{"Compared with plain launches, and timed:",
                    "tidegate run examples/programs/heat/program.json --compare 9 --format table"}},
      .run = [settings] { return run_program(*settings); }};
}

// tidegate run: from what its options say to a report and an exit code.

Result<void> read_text(RunSettings& settings) {
  TIDEGATE_TRY(DocumentText read, read_document(settings.program, settings.parameters));
  settings.text = std::move(read.json);
  settings.written = std::move(read.written);
  return {};
}

// The program for an algorithm and a graph is none of the user's: its places are the graph's file and options.
static void place_in_command(Error& error, const RunSettings& settings) {
  const std::string pointer = error.pointer.value_or("");
  if (!error.source) {
    error.source = pointer.starts_with("/sources") ? "--source" : display_name(settings.graph);
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
  if (settings.changed) { // lines of the text are not those of the file
    error.source = error.source.value_or(display_name(settings.program));
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

// The words of this command, as they were given.
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

// The files in addition to the report, which then lists them; the page does not list itself.
template <class Report>
Result<void> write_pictures(Report& report, const RunSettings& settings) {
  const std::string program =
      display_name(settings.program) + (settings.graph.empty() ? "" : ' ' + display_name(settings.graph));
  if (report.trace) {
    TIDEGATE_CHECK(write_text(report.trace->file, trace_json(*report.timeline, program)));
    report.files_written.push_back(engine::written_file(report.trace->file, "trace"));
  }
  if (!settings.options.page.empty()) {
    const PageOrigin origin{.program = program, .command = own_command(), .version = TIDEGATE_VERSION};
    TIDEGATE_CHECK(
        write_text(settings.options.page, report_page(page_data(document_of(report, settings), origin))));
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
  TIDEGATE_CHECK(write_pictures(report, settings));
  const auto& document = document_of(report, settings);
  auto written = write_document(settings.output, settings.format, document,
                                [](const auto& made, bool colour) { return run_table(made, colour); });
  if (written && report.error) {
    print_error(at_program(*report.error, settings));
    return exit_code(*report.error);
  }
  return written;
}

// The text of a program for an algorithm and a graph; empty if these are not given.
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
                   fmt::format("{} is for an algorithm and a graph",
                               settings.undirected ? "--set undirected" : "--source"),
                   "give them, as in `tidegate run bfs roads.mtx --source 5`");
  }
  if (!settings.parameters.empty()) {
    return failure(ErrorCode::invalid_usage,
                   "--param is for a program, and an algorithm with a graph has no parameters",
                   "leave it out");
  }
  if (!algorithm) {
    return failure(ErrorCode::invalid_usage,
                   fmt::format("{} is not an algorithm", in_quotes(settings.program)),
                   fmt::format("give one of {} in front of a graph", one_of(graphs::built_in_algorithms)));
  }
  settings.options.scope = PathScope::anywhere; // the user named the graph
  std::string text;
  documents::JsonWriter json(text);
  json.open('{');
  json.key("graph");
  json.open('{');
  json.member("file", settings.graph == standard_stream ? "/dev/stdin" : settings.graph);
  json.member("ids", "file");
  if (settings.undirected) {
    json.member("undirected", true);
  }
  json.close('}');
  json.member("algorithm", settings.program);
  json.key("sources");
  json.open('[');
  for (const std::uint64_t source : settings.sources) {
    json.value(source);
  }
  json.close(']');
  json.close('}');
  return text;
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

std::optional<std::uint32_t> narrowed(std::uint64_t value) {
  return value == 0 ? std::nullopt
                    : std::optional(static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~0U)));
}

bool needs_device(const RunSettings& settings) {
  return !settings.options.compile.dry_run || !settings.selector.empty();
}

// Nothing where a plan needs none.
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
                     fmt::format("{} here and {} of the baseline are too few to compare them",
                                 plural(timings->run_ns.size(), "round"), settings.earlier->run_ns.size()),
                     "give --compare 9 in both runs");
    }
    if (timings->work != settings.earlier->work) {
      report.warnings.push_back({.message = fmt::format("the baseline timed other work: {}; this run: {}",
                                                        settings.earlier->work, timings->work),
                                 .fix = "give the report of this program with the same sizes, on this device",
                                 .pointer = ""});
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
  for (const auto& [file, what, text] :
       {std::tuple(settings.export_markdown, "times as Markdown", markdown_text(*timings)),
        std::tuple(settings.export_csv, "times as CSV", csv_text(*timings))}) {
    if (!file.empty()) {
      TIDEGATE_CHECK(write_text(file, text));
      report.files_written.push_back(engine::written_file(file, what));
    }
  }
  return {};
}

// The error of --fail-slower: the run is slower by more than `part`, and not by chance.
std::optional<Error> slower_than_baseline(const engine::BaselineReport& baseline,
                                          std::optional<double> part) {
  if (!part || baseline.verdict != SpeedVerdict::slower || 1 / baseline.speedup <= 1 + *part) {
    return {};
  }
  return Error{.code = ErrorCode::slower_than_baseline,
               .message =
                   fmt::format("the run takes {:.1f} % longer than that of {}, more than {:.1f} %",
                               100 * (1 / baseline.speedup - 1), in_quotes(baseline.file), 100 * *part),
               .fix = "see `comparison` and `baseline` in the report; the outputs were written"};
}

// The error of --require-convergence: neither `until` nor the tolerance of ranks was reached.
template <class Report>
std::optional<Error> not_converged(const Report& report, const RunSettings& settings) {
  if (!settings.require_convergence || report.converged != false) {
    return {};
  }
  return Error{.code = ErrorCode::not_converged,
               .message = "the limit of iterations was reached before convergence",
               .fix = "raise it, or run without --require-convergence; the outputs were written"};
}

// Completes the report and prints it.
template <class Report>
Result<ExitCode> finish(Result<Report> report, const RunSettings& settings, Progress& progress) {
  progress.finish();
  if (!report) {
    return tl::unexpected(std::move(report.error()));
  }
  if (settings.ranks && settings.ranks->rank() != 0) { // rank 0 reports
    return report->error ? tl::unexpected(at_program(*report->error, settings))
                         : Result<ExitCode>(ExitCode::done);
  }
  TIDEGATE_CHECK(write_timings(*report, settings));
  std::optional<Error> failed = not_converged(*report, settings);
  if (!failed && report->baseline) {
    failed = slower_than_baseline(*report->baseline, settings.fail_slower);
  }
  auto written = write_report(std::move(*report), settings);
  if (written && *written == ExitCode::done && failed) {
    print_error(at_program(*failed, settings));
    return exit_code(*failed);
  }
  return written;
}

// A program that an earlier request of the stream has run, once more.
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

} // namespace

Result<engine::RunReport> run_waves(RunSettings& settings, engine::Monitor& monitor) {
  engine::RunOptions& options = settings.options;
  const auto start = std::chrono::steady_clock::now();
  if (options.check_bounds) {
    std::error_code unreadable;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    options.this_command = {self.string(),
                            "run",
                            "-",
                            "--check-bounds",
                            "--strategy",
                            "launch",
                            "--no-cache",
                            "--max-wall-time",
                            fmt::format("{}ns", options.max_wall_time_ns),
                            "-o",
                            "/dev/null",
                            "--quiet"};
    options.program_text = settings.text;
  }
  const std::string folder = program_folder(settings.program);
  const auto at = [&settings](Error error) { return at_program(std::move(error), settings); };
  TIDEGATE_TRY(auto program, read_program(settings.text, folder, options.scope).map_error(at));
  TIDEGATE_TRY(const auto device, device_of(settings, monitor));
  const InterruptWatch interrupts;
  if (options.kept != nullptr && device) {
    options.kept_key = engine::stream_key(program, folder);
    if (const auto prepared = engine::find_prepared(options)) {
      return run_waves_again(prepared, program, settings, *device, monitor).map_error(at);
    }
  }
  const std::string key =
      device ? program_key(settings.text, program, folder, *device, options, TIDEGATE_VERSION)
             : std::string();
  TIDEGATE_TRY(const TakenTuning taken, take_tuning(settings, key, device ? &*device : nullptr));
  options.compile.tuning = taken.tuning.value_or(options.compile.tuning);
  program.policy = taken.policy.value_or(program.policy);
  options.compile.policy_replaced = taken.policy.has_value();
  options.compile.memory_apart = settings.ranks != nullptr;
  options.compile.claims = options.export_folder.empty();            // any device may run what is exported
  if (!options.export_folder.empty() && !options.compile.strategy) { // a persistent launch in any case
    const auto kept = engine::preferred(options.compile.tuning.strategy);
    options.compile.strategy = kept && is_persistent(*kept) ? *kept : engine::Strategy::barrier;
  }
  TIDEGATE_TRY(auto first_run,
               choose_way(settings, program, device ? &*device : nullptr, key, taken, monitor).map_error(at));
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.compile.tuning.slice_ns;
  TIDEGATE_TRY(
      engine::RunReport report,
      engine::run_program(program, folder, device ? &*device : nullptr, options, monitor).map_error(at));
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
  if (report.first_run && too_slow(report, options.compile)) {
    forget_tuned(tuned_files(*device, key)); // what else runs on this machine has changed
    report.first_run->kept = false;
    report.first_run->reason += "; it took far longer now, so the next run measures again";
  } else if (report.first_run && other_share_of_tiles(report, options.compile.tuning)) {
    forget_tuned(tuned_files(*device, key));
    report.first_run->kept = false;
    report.first_run->reason += fmt::format(
        "; then {:.0f} % of its tiles were active and now {:.0f} %, so the next run measures again",
        options.compile.tuning.active_tiles_bps / 100.0, active_tiles_bps(report) / 100.0);
  } else if (device) {
    if (report.first_run && report.first_run->measured && report.first_run->kept && report.active) {
      note_active_tiles(tuned_files(*device, key), active_tiles_bps(report));
    }
    if (const auto prepared = options.kept != nullptr ? engine::find_prepared(options) : nullptr) {
      prepared->first_run = report.first_run;
      prepared->profile_file = report.profile_file;
      prepared->policy_file = report.policy_file;
      prepared->compiled.tuning.active_tiles_bps = active_tiles_bps(report);
    }
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
  TIDEGATE_TRY(auto program, read_frontier_program(settings.text).map_error(at));
  TIDEGATE_TRY(auto device, device_of(settings, monitor));
  TIDEGATE_TRY(const TakenTuning taken, take_tuning(settings, settings.text, device ? &*device : nullptr));
  if (taken.traversal && device && device->profile) { // how traversals run, and never the self-test
    device->profile->traversal = taken.traversal;
  }
  program.policy.launch = taken.policy.value_or(program.policy.launch);
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.slice_ns;
  const std::string folder = program_folder(settings.program);
  if (device && !settings.no_cache) {
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
  const auto idle_policy =
      taken.policy ? std::nullopt : traversal::idle_policy_fields(program, report.switch_rule);
  for (const auto& warning : {idle_policy, settings.device_warning}) {
    if (warning) {
      report.warnings.push_back(*warning);
    }
  }
  return report;
}

static Result<ExitCode> run_here(RunSettings& settings) {
  TIDEGATE_TRY(settings.text, graph_program(settings));
  engine::RunOptions& options = settings.options;
  options.cache_folder = settings.no_cache ? std::filesystem::path() : cache_folder();
  settings.by_wave = options.compile.trace;
  TIDEGATE_CHECK(check_options(settings));
  if (options.check_bounds || options.check_halos) {
    options.compile.strategy = engine::Strategy::launch; // wave by wave
    options.compile.promote = engine::Promotion::none;
  }
  options.compile.side_by_side = narrowed(std::min<std::uint64_t>(settings.side_by_side, 1024));
  options.compile.workers = narrowed(settings.workers);
  options.traversal.group_size = narrowed(settings.group_size);
  if (settings.alone_up_to) {
    options.traversal.alone_vertices = narrowed(*settings.alone_up_to).value_or(0);
  }
  options.files = {.inputs = {{settings.program, "the program", {}}},
                   .outputs = {{settings.output, "-o", {}}}};
  options.compile.trace |= !options.trace.empty() || !options.page.empty();
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
  for (const auto& [file, option] : {std::pair(settings.export_markdown, "--export-markdown"),
                                     std::pair(settings.export_csv, "--export-csv")}) {
    if (!file.empty()) {
      options.files.outputs.push_back({file, option, {}});
    }
  }
  device::SharedFlag ran; // kernels of the user's
  device::SharedFlag trying;
  if (needs_device(settings)) {
    const bool reads_input = settings.stream ||
                             settings.program == standard_stream || // which is gone after a crash
                             settings.profile == standard_stream || settings.policy == standard_stream ||
                             settings.plan == standard_stream;
    TIDEGATE_TRY(settings.crashes, device::isolate_drivers(&ran, reads_input ? nullptr : &trying));
  }
  if (needs_device(settings) && !options.compile.dry_run) {
    TIDEGATE_TRY(settings.ranks, ranks::begin()); // in the child process: MPI's connections do not pass on
  }
  options.ranks = settings.ranks.get();
  if (settings.stream && !settings.ranks) {
    return run_stream(settings, ran);
  }
  engine::Monitor monitor;
  if (settings.ranks) {
    monitor.waiting = &settings.ranks->waiting();
  }
  Progress progress(monitor, progress_style(settings));
  const auto abandon = [&settings, &progress](const auto& report) {
    progress.finish();
    device::PrintsToStandardError::end();
    auto named = report; // by the rank whose device is silent
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
  monitor.before_kernels = [&ran] { ran.set(); };
  monitor.trying = &trying;
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
  return launched.size == 1
             ? result
             : result.map_error([](Error error) { return after_first_rank(std::move(error), without_mpi); });
}

} // namespace tidegate::app
