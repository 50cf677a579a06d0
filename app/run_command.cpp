// The options of `tidegate run`.
#include "app/run.hpp"

namespace tidegate::app {

namespace {

constexpr std::array<std::string_view, 5> strategy_choices{"auto", "launch", "barrier", "counters", "plain"};
constexpr std::array<std::string_view, 4> order_choices{"auto", "strided", "blocked", "serpentine"};
constexpr std::array<std::string_view, 3> mode_choices{"auto", "interpreter", "jit"};
constexpr std::array<std::string_view, 5> promote_choices{"auto", "none", "windows", "opcodes", "all"};
constexpr std::array<std::string_view, 5> topology_choices{
    "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"};
constexpr std::array<std::string_view, 2> fp_contract_choices{"default", "off"};
constexpr std::array<std::string_view, 1> check_choices{"bounds"};

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
  return {.names = {"source"},
          .value = "N",
          .meaning = "With GRAPH: start vertex, numbered as in the file; --set source=N again for more",
          .take = [&sources](const std::string& text) {
            return read_count(text).map([&sources](std::uint64_t source) { sources.push_back(source); });
          }};
}

std::vector<OptionModel> run_settings(AskedRun& request) {
  engine::RunOptions& options = request.options;
  return {
      switch_option("cache", request.cache,
                    "no: neither use nor store built kernels, tunings and first runs"),
      switch_option("require-convergence", request.require_convergence,
                    "yes: exit with 1 if `repeat` ends the run before `until` is met, or pagerank before its "
                    "tolerance; no (default)"),
      source_option(request.sources),
      switch_option("undirected", request.undirected,
                    "With GRAPH: whether each edge of the file also counts as its opposite; no (default)"),
      file_option("plan", request.plan, "Run this frontier_memory_plan, after checking it"),
      file_option("policy", request.policy, "Launch policy in place of the program's own"),
      file_option("profile", request.profile,
                  "Use this device_profile in place of the one kept by tune; none: use none"),
      switch_option(
          "measure", request.measure,
          "Without --strategy, time candidates on the first run; no: take what the cost model "
          "estimates to be fastest, compared with plain launches but not timed; left out: no for what "
          "cannot be kept, and for a program of a single launch"),
      switch_option(
          "verify-first", options.verify_first,
          "no: neither compare nor time anything on the first run, and leave the result of a frontier "
          "program unchecked"),
      duration_option(
          "measure-time", options.first_run_budget_ns, 1'000'000'000,
          "How long a first run may compare and time candidates, or check the result of a frontier program: 10s, 2m, "
          "or a number of seconds (default: 2s, on a CPU also twice what plain launches take; 10s for frontier "
          "programs)"),
      choice_or_auto(
          "tuning.mode", options.compile.mode, mode_choices,
          "interpreter: read arguments; jit: compile them in; auto (default): by the launch policy"),
      choice_or_auto(
          "tuning.promote", options.compile.promote, promote_choices,
          "windows: consecutive waves that use the same tiles become one; opcodes: ops that run most tiles "
          "get separate code, for which the kernel looks first; auto (default): as the launch policy says"),
      index_option(
          "fp-contract", [&options](std::size_t index) { options.compile.fp_contract_off = index == 1; },
          fp_contract_choices,
          "default: the compiler may join a * b + c to one operation, and may do so differently here and in plain "
          "launches; off: in neither"),
      option(
          "tuning.slice", "TIME", request.slice_ns,
          [](const std::string& text) {
            return parse_duration(text, 1'000'000).map([](std::uint64_t ns) {
              return ns == 0 ? std::nullopt : std::optional(ns);
            });
          },
          "How long one persistent launch should take at most: 150ms, or a number of milliseconds; 0 "
          "(default): as the profile says, 150ms without one"),
      count_option("tuning.stress-seed", options.stress_seed,
                   "Seed of the first run of --stress (default 1); the next runs have the next seeds"),
      number_option(
          "tuning.side-by-side", options.compile.side_by_side, 1, 1024,
          "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
      choice_or_auto(
          "tuning.order", options.compile.mapping, order_choices,
          "Which work-group runs which tiles of a persistent launch; strided: only with --strategy barrier"),
      index_option(
          "tuning.force-topology",
          [&request](std::size_t index) {
            request.options.traversal.force_topology =
                static_cast<policy::Topology>(index + 1); // the first one is empty
          },
          topology_choices, "Run all waves of a frontier program with this one"),
      number_option(
          "tuning.group-size", options.traversal.group_size, 1, ~0U,
          "Work-items of a work-group of a frontier program, a power of two; 0 (default): by the device"),
      number_option(
          "tuning.alone-up-to", options.traversal.alone_vertices, 0, ~0U,
          "Largest frontier, in vertices, that one work-group works on alone (default: by the device)"),
      count_option("tuning.trace-spans", options.trace_spans,
                   "Spans that the trace and the page keep at most (default 200000)")};
}

CommandModel run_command() {
  const auto request = std::make_shared<AskedRun>();
  engine::RunOptions& options = request->options;
  return {
      .options =
          {device_option(request->selector, "Index, cpu, gpu, UUID or part of a name; else $TIDEGATE_DEVICE"),
           choice_or_auto(
               "--strategy", options.compile.strategy, strategy_choices,
               "plain: one launch per wave; launch: one per group of waves; barrier, counters: one "
               "for all; auto (default): the fastest"),
           number_option("--workers", options.compile.workers, 1, ~0U,
                         "Persistent work-groups; 0 (default): chosen by the number of tiles"),
           parameter_option(request->parameters),
           flag("--verify", options.verify, "Run plain launches too, and compare every byte of the outputs"),
           count_option("--stress", options.stress_runs,
                        "Verify, then N more runs in other orders, with delays"),
           count_option("--compare", options.compare_rounds,
                        "Verify, then time both in N pairs: ratio, 95 % interval, verdict"),
           written_file_option("--times", request->times_file, {"md", "csv"},
                               "With --compare: write both times as a table, or every round",
                               Endings::choose),
           index_option(
               "--check", [&options](std::size_t index) { options.check_bounds = index == 0; }, check_choices,
               "bounds: only check for writes past buffers"),
           flag("--stream", request->stream, "Answer requests from standard input, a line of JSON each"),
           flag("--dry-run", options.compile.dry_run,
                "Use no device; report plan, recommendation, evidence and memory"),
           duration_option("--max-wall-time", options.max_wall_time_ns, 1'000'000'000,
                           "End the run without outputs after this: 10s, 2m (default 60s)"),
           settings_option(run_settings(*request),
                           "Change a setting, also --KEY VALUE; `tidegate schema run_settings` lists them"),
           flag("--by-wave", request->by_wave,
                "Time each wave: critical path, waiting, GB/s; graphs: edges/s"),
           written_file_option("--trace", options.trace, {"json"}, "Write a timeline for ui.perfetto.dev"),
           written_file_option("--report", options.page, {"html", "htm"},
                               "Write the run as one HTML page: plan, timeline, memory, reasons"),
           file_option("--emit-kernel", options.emit_kernel,
                       "Write the generated kernel; with --stress that of its last run"),
           flag("--explain", request->explain,
                "Report candidates, groups, offsets and choices, too; --dry-run always does"),
           format_option(request->format),
           output_option(request->output),
           short_flag("-v", "--verbose", request->verbose, "Print what the run is doing, a line a second"),
           path_scope_option(options.scope)},
      .positionals = {positional("[PROGRAM]",
                                 file_option("", request->program,
                                             "Program or algorithm to run; - or none is standard input")),
                      positional("[GRAPH]",
                                 file_option("", request->graph,
                                             "Graph, if PROGRAM is bfs, reach, sssp, cc or pagerank"))},
      .examples = {{"Compared with plain launches, and timed:",
                    "tidegate run examples/programs/heat/program.json --compare 9 --format table"}},
      .run = [request] { return run_program(*request); }};
}

} // namespace tidegate::app
