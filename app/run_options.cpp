// The options of tidegate run.
#include "app/command_line.hpp"
#include "app/options.hpp"
#include "app/run.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 5> strategy_choices{"auto", "launch", "barrier", "counters", "plain"};
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

} // namespace

// The keys of --set: what few runs need.
static std::vector<OptionModel> run_settings(RunSettings& settings) {
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
          "get code of their own and are looked at first; auto (default): as the launch policy says"),
      index_option(
          "fp-contract", [&options](std::size_t index) { options.compile.fp_contract_off = index == 1; },
          fp_contract_choices,
          "default: the compiler may join a * b + c to one operation, and may do so differently here and in plain "
          "launches; off: in neither"),
      duration_option(
          "slice", settings.slice_ns, 1'000'000,
          "How long one persistent launch should take at most: 150ms, or a number of milliseconds; 0 "
          "(default): as the profile says, 150ms without one"),
      count_option(
          "side-by-side", settings.side_by_side,
          "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
      choice_or_auto(
          "order", options.compile.order, order_choices,
          "Which work-group runs which tiles of a persistent launch; strided: with barriers alone"),
      index_option(
          "force-topology",
          [&settings](std::size_t index) {
            settings.options.traversal.force_topology =
                static_cast<policy::Topology>(index + 1); // the first one is empty
          },
          topology_choices, "Run all waves of a frontier program with this one"),
      count_option(
          "group-size", settings.group_size,
          "Work-items of a work-group of a frontier program, a power of two; 0 (default): by the device"),
      count_option("alone-up-to", settings.alone_up_to,
                   "Vertices of a frontier that one work-group works alone (default: by the device)"),
      count_option("trace-spans", options.trace_spans,
                   "Spans that the trace and the page keep at most (default 200000)")};
}

CommandModel run_command() {
  const auto settings = std::make_shared<RunSettings>();
  engine::RunOptions& options = settings->options;
  const std::vector<OptionModel> keys = run_settings(*settings);
  return {
      .options =
          {device_option(settings->selector,
                         "Where to run: an index, cpu, gpu, a UUID, a name or a part of one; left out: "
                         "$TIDEGATE_DEVICE, or the first GPU, or the first device"),
           choice_or_auto(
               "--strategy", options.compile.strategy, strategy_choices,
               "plain: one launch per wave; launch: one per group of waves; barrier, counters: one "
               "persistent launch; auto (default): measured on the first run"),
           choice_or_auto("--mode", options.compile.mode, mode_choices,
                          "Read arguments, or compile them in; auto (default): by policy"),
           count_option("--workers", settings->workers,
                        "Work-groups of a persistent launch; 0 (default): by the tiles"),
           file_option("--plan", settings->plan, "Run this frontier_memory_plan, after checking it"),
           file_option("--policy", settings->policy, "Launch policy instead of the program's own"),
           file_option(
               "--profile", settings->profile,
               "Take this device_profile, not what `tidegate tune measure` kept; none: take no profile"),
           flag("--verify", options.verify, "Run plain launches too, and compare every byte of the outputs"),
           count_option("--compare", options.compare_rounds,
                        "Verify, then time both N times in turn: medians, ratio, spread"),
           flag("--check-bounds", options.check_bounds,
                "Instead: guard all buffers, in Oclgrind if installed; no outputs"),
           flag("--check-halos", options.check_halos,
                "Instead: hold accesses against the stated halos; no outputs"),
           flag("--dry-run", options.compile.dry_run,
                "Touch no device: plan, recommendation, evidence, memory"),
           duration_option("--max-wall-time", options.max_wall_time_ns, 1'000'000'000,
                           "End the run without outputs after this: 10s, 2m (default 60s)"),
           settings_option(keys, "Change a setting that few runs need, such as slice=150ms"),
           flag("--help-settings", settings->help_settings, "Print the settings that --set takes and exit"),
           written_file_option("--trace", options.trace, {"json"}, "Write a timeline for ui.perfetto.dev"),
           written_file_option("--report", options.page, {"html", "htm"},
                               "Write the run as one HTML page: plan, timeline, memory, reasons"),
           file_option("--emit-kernel", options.emit_kernel, "Write the generated kernel"),
           format_option(settings->format),
           output_option(settings->output),
           short_flag("-q", "--quiet", settings->quiet, "Print nothing but errors: no warnings, no progress"),
           short_flag("-v", "--verbose", settings->verbose, "Print what the run is doing, a line a second"),
           flag("--no-cache", settings->no_cache,
                "Neither use nor keep built kernels and what `tune measure` kept"),
           path_scope_option(options.compile.scope)},
      .positionals = {positional(
          "[PROGRAM]", file_option("", settings->program,
                                   "Wave program or frontier program to run; - or none is standard input"))},
      .examples = {{"Proved, and timed against plain launches:",
                    "tidegate run examples/programs/heat/program.json --compare 9 --format table"},
                   {"What would run, without a device:",
                    "tidegate run examples/programs/heat/program.json --dry-run --format table"},
                   {"Which wave writes out of bounds?",
                    "tidegate run examples/programs/reduction/program.json --check-bounds --format table"}},
      .run = [settings, keys](bool errors_as_json) -> Result<ExitCode> {
        if (settings->help_settings) {
          return commands::write_text("-", settings_help("tidegate run", keys));
        }
        settings->errors_as_json = errors_as_json;
        return run_program(*settings);
      }};
}

} // namespace tidegate::app
