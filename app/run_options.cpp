// The options of tidegate run.
#include "app/run_options.hpp"

#include "app/command_line.hpp"
#include "app/options.hpp"

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

CommandModel run_command() {
  const auto settings = std::make_shared<RunSettings>();
  engine::RunOptions& options = settings->options;
  return {
      .options =
          {device_option(
               settings->selector,
               "Where to run: an index, cpu, gpu, a UUID, a name or a part of one; $TIDEGATE_DEVICE, "
               "or the first GPU, or else the first device when left out"),
           choice_or_auto(
               "--strategy", options.compile.strategy, strategy_choices,
               "plain: one launch per wave; launch: one per group of waves; barrier, counters: one "
               "persistent launch; auto (default): measured on the first run of a program here"),
           flag("--no-measure", settings->no_measure,
                "Without --strategy: take what the cost model says is least, compared with plain launches "
                "but not timed"),
           flag("--no-verify-first", settings->no_verify_first,
                "Neither compare nor time anything on the first run: of a wave program without --strategy "
                "take what "
                "the cost model says, of a frontier program leave the result unchecked"),
           duration_option(
               "--measure-budget", settings->measure_budget_ns, 1'000'000'000,
               "How long the first run may compare and time candidates, or check the result of a frontier "
               "program: 10s (default), 2m, or a number of seconds"),
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
           choice_or_auto(
               "--order", options.compile.order, order_choices,
               "Which work-group runs which tiles of a persistent launch; strided: with barriers alone"),
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
           written_file_option(
               "--trace", options.trace, {"json"},
               "Write when what ran as a timeline for ui.perfetto.dev: a lane for each work-group "
               "where the device has a clock, for launches otherwise"),
           count_option("--trace-spans", options.trace_spans,
                        "Spans that the trace keeps at most (default 200000)"),
           written_file_option(
               "--report", options.page, {"html", "htm"},
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
