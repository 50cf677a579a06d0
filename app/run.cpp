// tidegate run
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/devices.hpp>
#include <tidegate/commands/report_page.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/commands/trace.hpp>
#include <tidegate/core/cache_folder.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/device/select.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 4> strategy_choices{"auto", "launch", "barrier", "counters"};
constexpr std::array<std::string_view, 4> order_choices{"auto", "strided", "blocked", "serpentine"};
constexpr std::array<std::string_view, 3> mode_choices{"auto", "interpreter", "jit"};
constexpr std::array<std::string_view, 2> fp_contract_choices{"default", "off"};
constexpr std::array<std::string_view, 4> fault_names{"none", "missing_arrival", "failed_litmus",
                                                      "wrong_output"};

struct RunSettings {
  std::string program = "-";
  std::string output = "-";
  std::string selector;
  std::optional<std::string> plan;
  std::uint64_t workers = 0;
  std::uint64_t side_by_side = 0;
  std::uint64_t max_wall_time_s = 60;
  std::uint64_t slice_ms = 150;
  bool no_cache = false;
  bool errors_as_json = false;
  Format format = Format::json;
  run::RunOptions options;
  commands::PlanOptions plan_options; // of the plan that was given; otherwise it is layered
};

// The first of the names is auto, which leaves the value empty.
template <class E>
OptionModel choice_or_auto(std::string name, std::optional<E>& value, std::span<const std::string_view> names,
                           std::string meaning) {
  const auto choose = [&value](std::size_t index) {
    value = index == 0 ? std::nullopt : std::optional(static_cast<E>(index - 1));
  };
  return index_option(std::move(name), choose, names, std::move(meaning));
}

Error at_program(Error error, const RunSettings& settings) {
  if (!error.source) {
    error.source = display_name(settings.program);
  }
  return error;
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
    std::fputs(fmt::format("tidegate: {}: warning: {}\n{}  fix: {}\n", display_name(settings.program),
                           warning.message,
                           warning.pointer.empty() ? "" : fmt::format("  at: {}\n", warning.pointer),
                           warning.fix)
                   .c_str(),
               stderr);
  }
}

// A trace with gaps says so.
void print_trace_note(const run::Timeline& timeline, const RunSettings& settings) {
  if (timeline.left_out != 0 && !settings.errors_as_json) {
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

// The files beside the report itself.
Result<ExitCode> write_pictures(const run::RunReport& report, const RunSettings& settings) {
  const std::string program = display_name(settings.program);
  if (report.trace) {
    if (auto traced =
            commands::write_text(report.trace->file, commands::trace_json(*report.timeline, program));
        !traced) {
      return traced;
    }
  }
  if (!settings.options.page.empty()) {
    const commands::PageOrigin origin{
        .program = program, .command = own_command(), .version = TIDEGATE_VERSION};
    const auto document = commands::run_document(report, settings.plan_options);
    if (auto written = commands::write_text(settings.options.page, commands::report_page(document, origin));
        !written) {
      return written;
    }
  }
  if (report.timeline) {
    print_trace_note(*report.timeline, settings);
  }
  return ExitCode{};
}

Result<ExitCode> tell(const run::RunReport& report, const RunSettings& settings) {
  if (!settings.errors_as_json) { // then standard error holds one document, and the report has the warnings
    print_warnings(report, settings);
  }
  if (auto pictures = write_pictures(report, settings); !pictures) {
    return pictures;
  }
  auto written = commands::write_text(settings.output, report_text(report, settings));
  if (written && report.error) {
    print_error(at_program(*report.error, settings), settings.errors_as_json);
    return exit_code(report.error->code);
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

// Tests say by the environment what no sound program provokes.
run::Fault provoked_fault() {
  const char* const name = std::getenv("TIDEGATE_PROVOKE");
  const auto found =
      name == nullptr ? fault_names.end() : std::ranges::find(fault_names, std::string_view(name));
  return found == fault_names.end() ? run::Fault::none : static_cast<run::Fault>(found - fault_names.begin());
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
    plan.error().source = display_name(*settings.plan);
    return tl::unexpected(std::move(plan.error()));
  }
  settings.options.compile.plan = std::move(plan->plan);
  settings.plan_options = plan->made_with;
  return {};
}

Result<device::DeviceInfo> find_device(const RunSettings& settings) {
  const auto list = device::list_devices();
  if (!list) {
    return tl::unexpected(list.error());
  }
  const auto found = device::select_device(*list, settings.selector);
  if (!found) {
    return tl::unexpected(found.error());
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

Result<ExitCode> run_program(RunSettings& settings) {
  run::RunOptions& options = settings.options;
  options.max_wall_time_ns = settings.max_wall_time_s * 1'000'000'000;
  options.slice_ns = settings.slice_ms * 1'000'000;
  options.cache_folder = settings.no_cache ? std::filesystem::path() : cache_folder();
  options.fault = provoked_fault();
  if (options.check_bounds) {
    options.compile.strategy = compiler::Strategy::launch; // wave by wave
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
  options.abandon = [&settings](const run::RunReport& report) {
    const auto told = tell(report, settings);
    ::_exit(static_cast<int>(told ? *told : exit_code(told.error().code)));
  };
  hint_at_terminal(settings.program);
  if (auto plan = read_plan(settings); !plan) {
    return tl::unexpected(std::move(plan.error()));
  }
  const auto text = commands::read_document(settings.program);
  if (!text) {
    return tl::unexpected(text.error());
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
                            std::to_string(settings.max_wall_time_s),
                            "-o",
                            "/dev/null",
                            "--errors",
                            "json"};
    options.program_text = *text;
  }
  const auto program = commands::read_program(*text);
  if (!program) {
    return tl::unexpected(at_program(program.error(), settings));
  }
  std::optional<device::DeviceInfo> device;
  if (needs_device) {
    auto found = find_device(settings);
    if (!found) {
      return tl::unexpected(std::move(found.error()));
    }
    device = std::move(*found);
  }
  const auto report = run::run_program(*program, commands::program_folder(settings.program),
                                       device ? &*device : nullptr, options);
  if (!report) {
    return tl::unexpected(at_program(report.error(), settings));
  }
  return tell(*report, settings);
}

} // namespace

CommandModel run_command() {
  const auto settings = std::make_shared<RunSettings>();
  run::RunOptions& options = settings->options;
  return {
      .options =
          {text_option(
               "--device", "SEL", settings->selector,
               "Where to run: an index, cpu, gpu, a UUID, a name or a part of one; the first GPU or else "
               "the first device when left out"),
           choice_or_auto("--strategy", options.compile.strategy, strategy_choices,
                          "launch: one launch per group of waves; barrier: one persistent launch; auto "
                          "(default): as the device's self-test says"),
           choice_or_auto("--mode", options.compile.mode, mode_choices,
                          "interpreter: arguments are read; jit: compiled for them; auto (default): as the "
                          "launch policy says"),
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
           count_option(
               "--compare", options.compare_rounds,
               "Verify, then time both ways so many times in turn, and tell the medians and their ratio"),
           count_option("--max-wall-time", settings->max_wall_time_s,
                        "Seconds that the waves may take until the run is ended without outputs, building "
                        "aside (default 60)"),
           count_option("--slice", settings->slice_ms,
                        "Milliseconds that one persistent launch should take at most (default 150)"),
           count_option("--workers", settings->workers,
                        "Work-groups of a persistent launch; 0 (default): by the tiles"),
           count_option(
               "--side-by-side", settings->side_by_side,
               "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
           choice_or_auto("--order", options.compile.order, order_choices,
                          "Which work-group runs which tiles of a persistent launch"),
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
           flag("--no-cache", settings->no_cache, "Neither use nor keep built kernels"),
           path_scope_option(options.compile.scope),
           format_option(settings->format),
           output_option(settings->output)},
      .positionals = {positional(
          "[PROGRAM]",
          file_option("", settings->program, "Wave program to run; - or none is standard input"))},
      .run = [settings](bool errors_as_json) {
        settings->errors_as_json = errors_as_json;
        return run_program(*settings);
      }};
}

} // namespace tidegate::app
