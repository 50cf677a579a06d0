// tidegate run
#include "command_line.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "run_settings.hpp"
#include "terminal.hpp"
#include <tidegate/commands/devices.hpp>
#include <tidegate/commands/frontier.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/report_page.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/commands/trace.hpp>
#include <tidegate/commands/tune.hpp>
#include <tidegate/core/cache_folder.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/driver_output.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/device/select.hpp>
#include <tidegate/run/report.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

namespace tidegate::app {

Error at_program(Error error, const RunSettings& settings) {
  return commands::at_document(std::move(error), settings.program, settings.text);
}

Result<device::DeviceInfo> find_device(const RunSettings& settings) {
  const auto list = device::list_devices();
  if (!list) {
    return tl::unexpected(list.error());
  }
  const char* const usual = std::getenv("TIDEGATE_DEVICE");
  const bool by_environment = settings.selector.empty() && usual != nullptr;
  const auto found = device::select_device(*list, by_environment ? usual : settings.selector);
  if (!found) {
    Error error = found.error();
    error.message += by_environment ? ", as TIDEGATE_DEVICE says" : "";
    return tl::unexpected(std::move(error));
  }
  device::DeviceInfo device = **found;
  // What only launches needs no proof that work-groups may wait for each other.
  if (!settings.options.compile.dry_run && settings.options.compile.strategy != compiler::Strategy::launch) {
    if (auto probed = commands::add_profile(device, TIDEGATE_VERSION, false); !probed) {
      return tl::unexpected(std::move(probed.error()));
    }
  }
  return device;
}

run::Fault provoked_fault() {
  constexpr std::array<std::string_view, 4> fault_names{"none", "missing_arrival", "failed_litmus",
                                                        "wrong_output"};
  const char* const name = std::getenv("TIDEGATE_PROVOKE");
  const auto found =
      name == nullptr ? fault_names.end() : std::ranges::find(fault_names, std::string_view(name));
  return found == fault_names.end() ? run::Fault::none : static_cast<run::Fault>(found - fault_names.begin());
}

ProgressStyle progress_style(const RunSettings& settings) {
  if (settings.errors_as_json || settings.quiet) {
    return ProgressStyle::none;
  }
  return settings.verbose             ? ProgressStyle::lines
         : is_terminal(STDERR_FILENO) ? ProgressStyle::line
                                      : ProgressStyle::none;
}

namespace {

constexpr std::array<std::string_view, 4> strategy_choices{"auto", "launch", "barrier", "counters"};
constexpr std::array<std::string_view, 4> order_choices{"auto", "strided", "blocked", "serpentine"};
constexpr std::array<std::string_view, 3> mode_choices{"auto", "interpreter", "jit"};
constexpr std::array<std::string_view, 5> promote_choices{"auto", "none", "windows", "opcodes", "all"};
constexpr std::array<std::string_view, 5> topology_choices{
    "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"};
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

std::string report_text(const run::RunReport& report, const RunSettings& settings) {
  const auto document = commands::run_document(report, settings.plan_options);
  if (settings.format == Format::table) {
    return commands::run_table(document, settings.output == "-" && use_colour(STDOUT_FILENO));
  }
  return documents::encode(document) + '\n';
}

void print_warnings(const run::RunReport& report, const RunSettings& settings) {
  for (const compiler::Warning& warning : report.warnings) {
    print_warning(warning, settings.program);
  }
}

// A trace with gaps says so.
void print_trace_note(const run::Timeline& timeline, const RunSettings& settings) {
  if (timeline.left_out != 0 && !settings.errors_as_json && !settings.quiet) {
    const run::RunOptions& options = settings.options;
    std::fputs(
        fmt::format(
            "tidegate: {}: the first {} spans are in the trace, {} had no room: --trace-spans N keeps more\n",
            display_name(options.trace.empty() ? options.page : options.trace), timeline.span_count(),
            timeline.left_out)
            .c_str(),
        stderr);
  }
}

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

// The files beside the report itself, which then lists them; the page does not list itself.
Result<ExitCode> write_pictures(run::RunReport& report, const RunSettings& settings) {
  const std::string program = display_name(settings.program);
  if (report.trace) {
    if (auto traced =
            commands::write_text(report.trace->file, commands::trace_json(*report.timeline, program));
        !traced) {
      return traced;
    }
    report.files_written.push_back(run::written_file(report.trace->file, "trace"));
  }
  if (!settings.options.page.empty()) {
    const commands::PageOrigin origin{
        .program = program, .command = own_command(), .version = TIDEGATE_VERSION};
    const auto document = commands::run_document(report, settings.plan_options);
    if (auto written = commands::write_text(settings.options.page, commands::report_page(document, origin));
        !written) {
      return written;
    }
    report.files_written.push_back(run::written_file(settings.options.page, "page"));
  }
  if (report.timeline) {
    print_trace_note(*report.timeline, settings);
  }
  return ExitCode{};
}

Result<ExitCode> tell(run::RunReport report, const RunSettings& settings) {
  // As JSON standard error holds nothing but errors; the report has the warnings.
  if (!settings.errors_as_json && !settings.quiet) {
    print_warnings(report, settings);
  }
  if (auto pictures = write_pictures(report, settings); !pictures) {
    return pictures;
  }
  auto written = commands::write_text(settings.output, report_text(report, settings));
  if (written && report.error) {
    print_error(at_program(*report.error, settings), settings.errors_as_json);
    return exit_code(*report.error);
  }
  return written;
}

// At most one of them is written to standard output.
Result<void> refuse_two_outputs(const RunSettings& settings) {
  const std::array<std::pair<std::string_view, std::string_view>, 3> outputs{
      {{settings.options.trace, "the trace"},
       {settings.options.page, "the page"},
       {settings.output, "the report"}}};
  std::string_view taken;
  for (const auto& [file, what] : outputs) {
    if (file != standard_stream) {
      continue;
    }
    if (!taken.empty()) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                  .message = fmt::format("standard output cannot be {} and {}", taken, what),
                                  .fix = "name a file for one of them"});
    }
    taken = what;
  }
  return {};
}

Result<void> read_plan(RunSettings& settings) {
  if (!settings.plan) {
    return {};
  }
  if (*settings.plan == "-" && settings.program == "-") {
    return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                .message = "standard input cannot be the plan and the program",
                                .fix = "name a file for one of them"});
  }
  const auto text = commands::read_document(*settings.plan);
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto plan = commands::read_plan(*text);
  if (!plan) {
    return tl::unexpected(commands::at_document(std::move(plan.error()), *settings.plan, *text));
  }
  settings.options.compile.plan = std::move(plan->plan);
  settings.plan_options = plan->made_with;
  return {};
}

// What `tidegate tune measure` found: in files that are named, or else in the user's folder for this very
// text of a program on this device.
struct TakenTuning {
  std::optional<std::string> profile_file;
  std::optional<std::string> policy_file;
};
Result<TakenTuning> take_tuning(RunSettings& settings, const device::DeviceInfo* device,
                                compiler::WaveProgram& program) {
  TakenTuning taken;
  device::Tuning& tuning = settings.options.compile.tuning;
  const std::array<const std::optional<std::string>*, 2> named{&settings.profile, &settings.policy};
  const auto from_input = [](const auto* file) { return *file == standard_stream; };
  if (std::ranges::count_if(named, from_input) + (settings.program == standard_stream ? 1 : 0) > 1) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_usage,
              .message = "standard input cannot be two of the program, the profile and the policy",
              .fix = "name a file for all but one of them"});
  }
  if (!settings.profile && !settings.policy) {
    const commands::TunedFiles kept = device == nullptr || settings.no_cache
                                          ? commands::TunedFiles{}
                                          : commands::tuned_files(*device, settings.text);
    std::error_code unknown;
    if (std::filesystem::exists(kept.profile, unknown) && std::filesystem::exists(kept.policy, unknown)) {
      const auto profile = commands::read_profile(kept.profile.string(), device);
      const auto policy = commands::read_policy(kept.policy.string());
      if (profile && policy) { // what is damaged costs nothing but what was gained
        tuning = profile->tuning;
        program.policy = *policy;
        taken = {.profile_file = kept.profile.string(), .policy_file = kept.policy.string()};
      }
    }
    return taken;
  }
  if (settings.profile && *settings.profile != "none") {
    const auto profile = commands::read_profile(*settings.profile, device);
    if (!profile) {
      return tl::unexpected(profile.error());
    }
    tuning = profile->tuning;
    taken.profile_file = settings.profile;
  }
  if (settings.policy) {
    const auto policy = commands::read_policy(*settings.policy);
    if (!policy) {
      return tl::unexpected(policy.error());
    }
    program.policy = *policy;
    taken.policy_file = settings.policy;
  }
  return taken;
}

// Options that mean something to frontier programs alone.
Result<void> refuse_frontier_options(const RunSettings& settings) {
  const std::string_view given = settings.force_topology    ? "--force-topology"
                                 : settings.group_size != 0 ? "--group-size"
                                 : settings.alone_up_to     ? "--alone-up-to"
                                                            : "";
  if (given.empty()) {
    return {};
  }
  return tl::unexpected(
      Error{.code = ErrorCode::invalid_usage,
            .message = fmt::format("{} is for frontier programs, and this is a wave program", given),
            .fix = "leave it out"});
}

Result<ExitCode> run_program(RunSettings& settings) {
  run::RunOptions& options = settings.options;
  options.cache_folder = settings.no_cache ? std::filesystem::path() : cache_folder();
  options.fault = provoked_fault();
  if (options.check_bounds && options.check_halos) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_usage,
              .message = "--check-bounds and --check-halos run the program in ways of their own",
              .fix = "give one of them at a time"});
  }
  if (options.check_bounds || options.check_halos) {
    options.compile.strategy = compiler::Strategy::launch; // wave by wave
    options.compile.promote = compiler::Promotion::none;
  }
  options.compile.distrust_litmus = options.fault == run::Fault::failed_litmus;
  if (settings.side_by_side != 0) {
    options.compile.side_by_side =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(settings.side_by_side, 1024));
  }
  if (settings.workers != 0) {
    options.compile.workers =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(settings.workers, ~std::uint32_t{0}));
  }
  options.files = {.inputs = {{settings.program, "the program", {}}},
                   .outputs = {{settings.output, "-o", {}}}};
  options.compile.trace = !options.trace.empty() || !options.page.empty();
  if (auto refused = refuse_two_outputs(settings); !refused) {
    return tl::unexpected(std::move(refused.error()));
  }
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
  const bool needs_device = !options.compile.dry_run || !settings.selector.empty();
  if (needs_device) {
    if (auto isolated = device::isolate_drivers(); !isolated) {
      isolated.error().fix =
          "a kernel may have written past the end of a buffer: --check-bounds tells of it, with "
          "Oclgrind installed also of what crashes the driver; otherwise " +
          isolated.error().fix;
      return tl::unexpected(std::move(isolated.error()));
    }
  }
  run::Monitor monitor;
  Progress progress(monitor, progress_style(settings));
  options.abandon = [&settings, &progress](const run::RunReport& report) {
    progress.finish();
    device::PrintsToStandardError::end();
    const auto told = tell(report, settings);
    ::_exit(static_cast<int>(told ? *told : exit_code(told.error())));
  };
  hint_at_terminal(settings.program);
  if (auto plan = read_plan(settings); !plan) {
    return tl::unexpected(std::move(plan.error()));
  }
  auto text = commands::read_document(settings.program);
  if (!text) {
    return tl::unexpected(text.error());
  }
  settings.text = std::move(*text);
  if (commands::is_frontier_program(settings.text)) {
    return run_frontier(settings, monitor, progress);
  }
  if (auto usable = refuse_frontier_options(settings); !usable) {
    return tl::unexpected(std::move(usable.error()));
  }
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
                            "--errors",
                            "json"};
    options.program_text = settings.text;
  }
  auto program = commands::read_program(settings.text, commands::program_folder(settings.program),
                                        options.compile.scope);
  if (!program) {
    return tl::unexpected(at_program(program.error(), settings));
  }
  std::optional<device::DeviceInfo> device;
  if (needs_device) {
    monitor.begin(run::Activity::asking);
    auto found = find_device(settings);
    if (!found) {
      return tl::unexpected(std::move(found.error()));
    }
    device = std::move(*found);
  }
  const auto taken = take_tuning(settings, device ? &*device : nullptr, *program);
  if (!taken) {
    return tl::unexpected(taken.error());
  }
  options.slice_ns = settings.slice_ns != 0 ? settings.slice_ns : options.compile.tuning.slice_ns;
  auto report = run::run_program(*program, commands::program_folder(settings.program),
                                 device ? &*device : nullptr, options, monitor);
  progress.finish();
  if (!report) {
    return tl::unexpected(at_program(report.error(), settings));
  }
  report->profile_file = taken->profile_file;
  report->policy_file = taken->policy_file;
  return tell(std::move(*report), settings);
}

} // namespace

CommandModel run_command() {
  const auto settings = std::make_shared<RunSettings>();
  run::RunOptions& options = settings->options;
  return {
      .options =
          {device_option(
               settings->selector,
               "Where to run: an index, cpu, gpu, a UUID, a name or a part of one; $TIDEGATE_DEVICE, "
               "or the first GPU, or else the first device when left out"),
           choice_or_auto("--strategy", options.compile.strategy, strategy_choices,
                          "launch: one launch per group of waves; barrier: one persistent launch; auto "
                          "(default): what the cost model says is least"),
           choice_or_auto("--mode", options.compile.mode, mode_choices,
                          "interpreter: arguments are read; jit: compiled for them; auto (default): as the "
                          "launch policy says"),
           choice_or_auto("--promote", options.compile.promote, promote_choices,
                          "windows: waves that go on with the same tiles become one; opcodes: ops that run "
                          "most tiles get "
                          "code of their own and are looked at first; all; none; auto (default): as the "
                          "launch policy says"),
           file_option(
               "--profile", settings->profile,
               "Take what `tidegate tune measure` found from this device_profile; left out, from the user's "
               "folder where it has one for this program and device; none: from nowhere"),
           file_option("--policy", settings->policy, "Launch policy instead of the program's own"),
           file_option("--plan", settings->plan, "Run this frontier_memory_plan, after checking it"),
           flag("--dry-run", options.compile.dry_run,
                "Stop before a device is touched: plan, recommendation, evidence, memory"),
           index_option(
               "--fp-contract",
               [&options](std::size_t index) { options.compile.fp_contract_off = index == 1; },
               fp_contract_choices,
               "default: the compiler may join a * b + c to one operation, and may do so differently here "
               "and in plain launches; off: in neither"),
           flag("--verify", options.verify,
                "Run the same kernels the ordinary way too, and compare every byte of the outputs"),
           flag("--check-bounds", options.check_bounds,
                "Instead of the ordinary run: put guards around every buffer and look at them after every "
                "wave, and "
                "run in Oclgrind where it is installed; no output is written"),
           flag("--check-halos", options.check_halos,
                "Instead of the ordinary run: hold every access against the halos that the program states, "
                "wave by wave, and name the first that lies outside; no output is written"),
           count_option("--compare", options.compare_rounds,
                        "Verify, then time both ways so many times in turn, and tell medians, their ratio "
                        "and the spread"),
           duration_option(
               "--max-wall-time", options.max_wall_time_ns, 1'000'000'000,
               "How long the waves may take until the run is ended without outputs, building aside: "
               "10s, 2m, or a number of seconds (default 60s)"),
           duration_option(
               "--slice", settings->slice_ns, 1'000'000,
               "How long one persistent launch should take at most: 150ms, or a number of milliseconds; 0 "
               "(default): as the profile says, 150ms without one"),
           count_option("--workers", settings->workers,
                        "Work-groups of a persistent launch; 0 (default): by the tiles"),
           count_option(
               "--side-by-side", settings->side_by_side,
               "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
           choice_or_auto("--order", options.compile.order, order_choices,
                          "Which work-group runs which tiles of a persistent launch"),
           index_option(
               "--force-topology",
               [settings](std::size_t index) {
                 settings->force_topology =
                     static_cast<policy::Topology>(index + 1); // the first one is empty
               },
               topology_choices, "Run all waves of a frontier program with this one"),
           count_option("--group-size", settings->group_size,
                        "Work-items of a work-group of a frontier program, a power of two; 0 (default): by "
                        "the device"),
           count_option("--alone-up-to", settings->alone_up_to,
                        "Vertices of a frontier that one work-group works alone (default: by the device)"),
           file_option("--emit-kernel", options.emit_kernel, "Write the generated kernel to a file"),
           file_option("--trace", options.trace,
                       "Write when what ran as a timeline for ui.perfetto.dev: a lane for each work-group "
                       "where the device has a clock, for launches otherwise"),
           count_option("--trace-spans", options.trace_spans,
                        "Spans that the trace keeps at most (default 200000)"),
           file_option(
               "--report", options.page,
               "Write the run as one HTML page that fetches nothing: plan, timeline (as with --trace), "
               "memory, comparison, reasons"),
           short_flag("-q", "--quiet", settings->quiet, "Tell nothing but errors: no warnings, no progress"),
           short_flag("-v", "--verbose", settings->verbose,
                      "Tell what the run is doing, a line for each thing and one a second"),
           flag("--no-cache", settings->no_cache,
                "Neither use nor keep built kernels, nor use what `tidegate tune measure` kept"),
           path_scope_option(options.compile.scope),
           format_option(settings->format),
           output_option(settings->output)},
      .positionals = {positional(
          "[PROGRAM]", file_option("", settings->program,
                                   "Wave program or frontier program to run; - or none is standard input"))},
      .examples = {{"Proved, and timed against plain launches:",
                    "tidegate run examples/programs/heat/program.json --compare 9 --format table"},
                   {"What would run, without a device:",
                    "tidegate run examples/programs/heat/program.json --dry-run --format table"},
                   {"Who writes beside a buffer?",
                    "tidegate run examples/programs/reduction/program.json --check-bounds --format table"}},
      .run = [settings](bool errors_as_json) {
        settings->errors_as_json = errors_as_json;
        return run_program(*settings);
      }};
}

} // namespace tidegate::app
