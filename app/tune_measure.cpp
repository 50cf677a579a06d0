// tidegate tune measure
#include "command_line.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "run_settings.hpp"
#include "terminal.hpp"
#include <tidegate/commands/frontier.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/commands/tune.hpp>
#include <tidegate/core/cache_folder.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/device/driver_output.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/tuning_report_documents.hpp>
#include <tidegate/tuning/measure.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <variant>

namespace tidegate::app {
namespace {

struct TuneSettings {
  RunSettings common; // with `tidegate run`
  std::uint64_t budget_ns = 60'000'000'000;
  std::string profile_file; // empty: the user's folder alone
  std::string policy_file;
  bool no_keep = false;
};

std::string progress_of(const tuning::MeasureProgress& progress, std::uint64_t budget_ns,
                        std::chrono::nanoseconds elapsed) {
  std::string what = "running the program as it is";
  if (progress.started) {
    const std::uint32_t candidate = progress.candidate;
    what = fmt::format("{}, {}", tuning::knob_names[static_cast<std::size_t>(progress.knob.load())],
                       candidate == 0
                           ? std::string("timing candidates")
                           : fmt::format("candidate {} of {}", candidate, progress.candidates.load()));
  }
  return fmt::format("measuring: {}, {:.1f} of {:.0f} s", what,
                     std::chrono::duration<double>(elapsed).count(), static_cast<double>(budget_ns) / 1e9);
}

using EitherProgram = std::variant<compiler::WaveProgram, graphs::FrontierProgram>;

Result<EitherProgram> read_either(const RunSettings& common) {
  if (commands::is_frontier_program(common.text)) {
    return commands::read_frontier_program(common.text).map([](auto program) {
      return EitherProgram(std::move(program));
    });
  }
  return commands::read_program(common.text, commands::program_folder(common.program),
                                common.options.compile.scope)
      .map([](auto program) { return EitherProgram(std::move(program)); });
}

Result<ExitCode> run_measure(TuneSettings& settings) {
  RunSettings& common = settings.common;
  run::RunOptions& options = common.options;
  options.cache_folder = common.no_cache ? std::filesystem::path() : cache_folder();
  options.fault = provoked_fault();
  options.compile.distrust_litmus = options.fault == run::Fault::failed_litmus;
  options.files = {.inputs = {{common.program, "the program", {}}}, .outputs = {{common.output, "-o", {}}}};
  for (const auto& [file, option] :
       {std::pair(settings.profile_file, "--profile"), std::pair(settings.policy_file, "--policy")}) {
    if (!file.empty()) {
      options.files.outputs.push_back({file, option, {}});
    }
  }
  if (auto isolated = device::isolate_drivers(); !isolated) {
    return tl::unexpected(std::move(isolated.error()));
  }
  hint_at_terminal(common.program);
  auto text = commands::read_document(common.program);
  if (!text) {
    return tl::unexpected(std::move(text.error()));
  }
  common.text = std::move(*text);
  const auto program = read_either(common);
  if (!program) {
    return tl::unexpected(at_program(program.error(), common));
  }
  auto device = find_device(common);
  if (!device) {
    return tl::unexpected(std::move(device.error()));
  }

  run::Monitor monitor;
  tuning::MeasureProgress watched;
  Progress progress(monitor, progress_style(common), [&](std::chrono::nanoseconds elapsed) {
    return progress_of(watched, settings.budget_ns, elapsed);
  });
  tuning::MeasureOptions measuring{
      .run = options, .budget_ns = settings.budget_ns, .fault = provoked_frontier_fault(), .abandon = {}};
  measuring.abandon = [&](const Error& error) {
    progress.finish();
    device::PrintsToStandardError::end();
    print_error(at_program(error, common), common.errors_as_json);
    ::_exit(static_cast<int>(exit_code(error)));
  };
  auto report = std::visit(
      [&](const auto& either) {
        return tuning::measure(either, commands::program_folder(common.program), *device, measuring, monitor,
                               watched);
      },
      *program);
  progress.finish();
  if (!report) {
    return tl::unexpected(at_program(report.error(), common));
  }
  report->program = display_name(common.program);
  report->profile.tidegate = TIDEGATE_VERSION;
  report->profile.tuned_for = report->program;
  if (auto written = commands::write_tuned(*report, settings.profile_file, settings.policy_file); !written) {
    return tl::unexpected(std::move(written.error()));
  }
  if (!settings.no_keep) {
    const auto* const waves = std::get_if<compiler::WaveProgram>(&*program);
    const std::string key = waves == nullptr ? common.text
                                             : commands::program_key(common.text, *waves,
                                                                     commands::program_folder(common.program),
                                                                     *device, options, TIDEGATE_VERSION);
    (void)commands::keep_tuned(commands::tuned_files(*device, key), report->profile, report->policy);
  }
  const bool colour = common.output == "-" && use_colour(STDOUT_FILENO);
  return commands::write_text(common.output, common.format == Format::table
                                                 ? commands::tuning_table(*report, colour)
                                                 : documents::encode(*report) + '\n');
}

} // namespace

CommandModel tune_measure_command() {
  const auto settings = std::make_shared<TuneSettings>();
  RunSettings& common = settings->common;
  return {.name = "measure",
          .summary = "Measure which strategy, mode, packing and work-groups run a program fastest",
          .options =
              {device_option(common.selector,
                             "Where to measure: an index, cpu, gpu, a UUID, a name or a part of one; "
                             "$TIDEGATE_DEVICE, or the first GPU, or else the first device when left out"),
               duration_option("--budget", settings->budget_ns, 1'000'000'000,
                               "How long to measure at most: 10s, 2m, or a number of seconds (default 60s)"),
               file_option("--profile", settings->profile_file,
                           "Write the device profile, which `tidegate run --profile` takes, here too"),
               file_option("--policy", settings->policy_file, "Write the launch policy here too"),
               flag("--no-keep", settings->no_keep,
                    "Leave nothing in the user's folder, where `tidegate run` looks by itself"),
               duration_option("--max-wall-time", common.options.max_wall_time_ns, 1'000'000'000,
                               "How long one run of the waves may take (default 60s)"),
               short_flag("-q", "--quiet", common.quiet, "Tell nothing but errors: no progress"),
               short_flag("-v", "--verbose", common.verbose, "Tell what is being measured, a line a second"),
               flag("--no-cache", common.no_cache, "Neither use nor keep built kernels"),
               path_scope_option(common.options.compile.scope), format_option(common.format),
               output_option(common.output)},
          .positionals = {positional(
              "[PROGRAM]",
              file_option("", common.program,
                          "Wave program or frontier program to measure; - or none is standard input"))},
          .examples =
              {{"What runs this program fastest here, and what did each choice bring?",
                "tidegate tune measure examples/programs/reduction/program.json --budget 20s --format table"},
               {"Up to which size of a frontier is one work-group faster than all of them?",
                "tidegate tune measure examples/graphs/bfs.json --budget 20s --format table"}},
          .run = [settings](bool errors_as_json) {
            settings->common.errors_as_json = errors_as_json;
            return run_measure(*settings);
          }};
}

} // namespace tidegate::app
