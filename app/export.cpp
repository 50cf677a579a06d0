// `tidegate export`: a program's persistent launch as a folder that is built and run without tidegate.
#include "app/run.hpp"

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 2> persistent_strategies{"barrier", "counters"};

// Refuses a folder that is not empty, unless `force` is given.
Result<void> check_folder(const std::string& folder, bool force) {
  if (folder.empty() || folder == "-") {
    return failure(ErrorCode::invalid_usage, "export writes a folder, and none is named", "give -o FOLDER");
  }
  std::error_code unknown;
  // Resolves "new/.." although "new" does not exist yet.
  std::filesystem::path path = std::filesystem::weakly_canonical(folder, unknown);
  path = path.empty() ? std::filesystem::path(folder) : path;
  const bool there = std::filesystem::exists(path, unknown);
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  if (!there || (is_folder && (force || std::filesystem::is_empty(path, unknown)))) {
    return {};
  }
  return failure(ErrorCode::invalid_usage,
                 fmt::format("{} is {}", in_quotes(folder), is_folder ? "not empty" : "not a folder"),
                 is_folder ? "name another folder, or give --force to replace an earlier export"
                           : "name a folder");
}

} // namespace

CommandModel export_command() {
  const auto settings = std::make_shared<AskedRun>();
  const auto force = std::make_shared<bool>(false);
  engine::RunOptions& options = settings->options;
  OptionModel folder = file_option(
      "-o", options.export_folder,
      "Folder for kernel.cl, program.h, main.c, a Makefile and data/; made if missing. tidegate runs "
      "the program once to verify it, and that run writes the outputs, too");
  folder.names.push_back("--output");
  return {
      .options = {device_option(settings->selector,
                                "Where to build, run and compare it, as for tidegate run"),
                  index_option(
                      "--strategy",
                      [&options](std::size_t index) {
                        options.compile.strategy =
                            index == 0 ? engine::Strategy::barrier : engine::Strategy::counters;
                      },
                      persistent_strategies,
                      "How work-groups wait; default: the fastest that an earlier run kept, else barrier"),
                  number_option("--workers", options.compile.workers, 1, ~0U,
                                "Work-groups of the launch; 0 (default): chosen by the number of tiles"),
                  flag("--force", *force, "Write into a folder that is not empty"),
                  duration_option("--max-wall-time", options.max_wall_time_ns, 1'000'000'000,
                                  "End the run without a folder after this: 10s, 2m (default 60s)"),
                  format_option(settings->format), parameter_option(settings->parameters),
                  path_scope_option(options.scope), std::move(folder)},
      .positionals = {positional(
          "[PROGRAM]", file_option("", settings->program, "Wave program; - or none is standard input"))},
      .examples = {{"A C program that gives the same bytes:",
                    "tidegate export examples/programs/heat/program.json -o heat && make -C heat run"}},
      .run = [settings, force]() -> Result<ExitCode> {
        if (ranks::launched().several()) {
          return failure(ErrorCode::invalid_usage,
                         "export writes one folder, and several processes were started",
                         "run it without mpirun");
        }
        TIDEGATE_CHECK(check_folder(settings->options.export_folder, *force));
        settings->options.verify = true; // no export without a verified result
        return run_program(*settings);
      }};
}

} // namespace tidegate::app
