// The options of `tidegate run`, and `tidegate export`: a program's persistent launch as a folder that is built and run without
// tidegate.
#include "app/run.hpp"

namespace tidegate::app {
namespace {

constexpr std::string_view with_graph = "an algorithm with a graph", exports = "export";

// Notes which options are given: "--strategy", with its value "--strategy plain", and "--set tuning.mode".
void note_given(std::vector<OptionModel>& options, const std::string& prefix, std::set<std::string>& given) {
  for (OptionModel& option : options) {
    option.take = [name = prefix + option.names.back(), &given, take = std::move(option.take),
                   none = option.no_value](const std::string& value) -> Result<void> {
      if (value.empty() || value != none) {
        given.insert({name, name + ' ' + value});
      }
      return take(value);
    };
  }
}

// Where an option has no effect, or does not work: the options that do not go together, or not with this kind of program.
enum Limit : unsigned {
  needs_end = 1,          // unless the program runs to its end
  needs_plan = 2,         // with --check bounds, which launches wave by wave
  one_run = 4,            // in a stream
  one_process = 8,        // on several ranks
  of_waves = 16,          // in graph programs
  of_graphs = 32,         // in wave programs
  needs_generated = 64,   // in wave programs with plain launches of the user's kernels
  needs_persistent = 128, // in wave programs without a persistent launch
  needs_stress = 256,     // without --stress
  needs_spans = 512       // without --trace and --html
};

struct OptionRule {
  std::string_view name; // as note_given() has it
  unsigned limits = 0;
  std::string_view why{}; // of of_waves and of_graphs
};

constexpr std::string_view no_tiles = "they have no tiles";
constexpr std::array rules{
    OptionRule{"--dry-run", one_run},
    OptionRule{"--check bounds", one_run | one_process | of_waves, "no kernel of the user writes to memory"},
    OptionRule{"--verify", needs_end},
    OptionRule{"--compare", needs_end | one_process},
    OptionRule{"--stress", needs_end | one_process | of_waves,
               "each wave waits for all of the previous one, so no other order is possible"},
    OptionRule{"--set require-convergence", needs_end | one_run},
    OptionRule{exports, one_process | of_waves,
               "the kernel needs a graph that tidegate lays out on the device"},
    OptionRule{"--set tuning.mode", needs_plan | needs_generated | of_waves,
               "the kernel is always compiled for the algorithm"},
    OptionRule{"--set plan", one_run | of_waves, "the size of a wave is known only while it runs"},
    OptionRule{"--strategy", needs_plan},
    OptionRule{"--workers", needs_plan | needs_persistent},
    OptionRule{"--strategy counters", of_waves, "each wave waits for all of the previous one"},
    OptionRule{"--strategy plain", of_waves, "launch has one launch per wave"},
    OptionRule{"--trace", needs_end | one_run | one_process},
    OptionRule{"--html", one_run},
    OptionRule{"--by-wave", needs_end | one_process},
    OptionRule{"--emit-kernel", needs_plan | one_run | one_process},
    OptionRule{with_graph, one_run},
    OptionRule{"--stream", one_process},
    OptionRule{"--set fp-contract", of_waves, "all strategies share one kernel"},
    OptionRule{"--set tuning.promote", needs_plan | needs_generated | of_waves, "they have one op"},
    OptionRule{"--set tuning.side-by-side", needs_plan | needs_persistent | of_waves, no_tiles},
    OptionRule{"--set tuning.order", needs_plan | needs_persistent | of_waves, no_tiles},
    OptionRule{"--set tuning.slice", needs_end | needs_persistent},
    OptionRule{"--set tuning.stress-seed", needs_stress},
    OptionRule{"--set tuning.trace-spans", needs_spans},
    OptionRule{"--set measure", needs_end | of_waves, "they have no candidates to time"},
    OptionRule{"--set measure-time", needs_end},
    OptionRule{"--set verify-first", needs_end},
    OptionRule{"--set tuning.force-topology", one_process | of_graphs, "only graphs have topologies"},
    OptionRule{"--set tuning.group-size", of_graphs, "they state their work-groups"},
    OptionRule{"--set tuning.alone-up-to", of_graphs, "they have no frontier"},
};

struct Restriction {
  Limit limit;
  bool active = false;
  std::string text; // after the name of the option
  std::string_view fix;
};

Result<void> refuse(const AskedRun& request, std::span<const Restriction> restrictions) {
  for (const OptionRule& rule : rules) {
    for (const auto& [limit, active, text, fix] : restrictions) {
      if (active && (rule.limits & limit) != 0 && request.given.contains(std::string(rule.name))) {
        const bool of_kind = limit == of_waves || limit == of_graphs;
        return misuse(fmt::format("{} {}{}", rule.name, text, of_kind ? rule.why : ""), std::string(fix));
      }
    }
  }
  return {};
}

// Refuses a folder that is not empty, unless `force` is given.
Result<void> check_folder(const std::string& folder, bool force) {
  if (folder.empty() || folder == "-") {
    return misuse("export writes a folder, and none is named", "give -o FOLDER");
  }
  std::error_code unknown;
  // Resolves "new/.." although "new" does not exist yet.
  const std::filesystem::path path = std::filesystem::weakly_canonical(folder, unknown);
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  if (is_folder ? force || std::filesystem::is_empty(path, unknown)
                : !std::filesystem::exists(path, unknown)) {
    return {};
  }
  return misuse(fmt::format("{} is {}", in_quotes(folder), is_folder ? "not empty" : "not a folder"),
                is_folder ? "name another folder, or give --force to replace an earlier export"
                          : "name a folder");
}

} // namespace

std::vector<OptionModel> run_settings(AskedRun& request) {
  engine::RunOptions& options = request.options;
  Words<policy::Topology> topologies = words_for<policy::Topology>();
  topologies.erase(topologies.begin()); // the one of an empty frontier
  return {
      option("cache", as_switch("yes"), request.cache,
             "no: neither use nor store built kernels, tunings and first runs"),
      option("require-convergence", as_switch("no"), request.require_convergence,
             "yes: exit with 1 if `repeat` ends before `until`, or pagerank's tolerance, is met"),
      option("source", as_count(), request.sources,
             "With GRAPH: start vertex, numbered as in the file; --set source=N again for more"),
      option("undirected", as_switch("no"), request.undirected,
             "With GRAPH: whether each edge also counts as its opposite; no (default)"),
      option("plan", as_file(), request.plan, "Run this frontier_memory_plan, after checking it"),
      option("policy", as_file(), request.policy, "Launch policy in place of the program's own"),
      option("profile", as_file(), request.profile,
             "Use this device_profile in place of the one kept by tune; none: use none"),
      option("measure", as_switch(), request.measure,
             "yes: time candidates on the first run; no: take what the cost model says, compared but not "
             "timed; default: yes if it can be kept and is no single launch"),
      option("verify-first", as_switch("yes"), options.verify_first,
             "no: neither compare, check nor time anything on the first run"),
      option("measure-time", as_duration(), options.first_run_budget_ns,
             "How long a first run may compare, check and time: 10s, 2m (default: 2s, on a CPU also twice "
             "what plain launches take; 10s for frontier programs)"),
      option("tuning.mode", as_choice(words_for<engine::Mode>(), "auto"), options.compile.mode,
             "interpreter: read arguments; jit: compile them in; auto (default): by the launch policy"),
      option(
          "tuning.promote", as_choice(words_for<engine::Promotion>(), "auto"), options.compile.promote,
          "windows: waves that go on with the same tiles become one; opcodes: ops that run most tiles get code "
          "of their own; auto (default): as the launch policy says"),
      option(
          "fp-contract", as_choice<bool>({{"default", false}, {"off", true}}, "default"),
          options.compile.fp_contract_off,
          "default: the compiler may join a * b + c, here and in plain launches differently; off: in neither"),
      option("tuning.slice", as_duration(1'000'000), request.slice_ns,
             "Longest persistent launch, such as 150ms; 0 (default): as the profile says, 150ms without one"),
      option("tuning.stress-seed", as_count(), options.stress_seed,
             "Seed of the first run of --stress (default 1); the next runs have the next seeds"),
      option("tuning.side-by-side", as_count<std::uint32_t>(1024), options.compile.side_by_side,
             "Tiles that a work-group of a persistent launch runs at a time, on GPUs; 0 (default): chosen"),
      option(
          "tuning.order", as_choice(words_for<engine::TileMapping>(), "auto"), options.compile.mapping,
          "Which work-group runs which tiles of a persistent launch; strided: only with --strategy barrier"),
      option("tuning.force-topology", as_choice(topologies), request.graphs.force_topology,
             "Run all waves of a frontier program with this one"),
      option("tuning.group-size", as_count<std::uint32_t>(), request.graphs.group_size,
             "Work-items of a work-group of a frontier program, a power of two; 0 (default): by the device"),
      option("tuning.alone-up-to", as_count<std::uint32_t>(~0U, ""), request.graphs.alone_vertices,
             "Largest frontier, in vertices, that one work-group works on alone (default: by the device)"),
      option("tuning.trace-spans", as_count(), options.trace_spans,
             "Spans that the trace and the page keep at most (default 200000)")};
}

CommandModel run_command() {
  const auto request = std::make_shared<AskedRun>();
  engine::RunOptions& options = request->options;
  CommandModel command{
      .options =
          {option("--device", as_device(), request->selector,
                  "Index, cpu, gpu, UUID or part of a name; else $TIDEGATE_DEVICE"),
           option("--strategy", as_choice(words_for<engine::Strategy>(), "auto"), options.compile.strategy,
                  "plain: one launch per wave; launch: one per group of waves; barrier, counters: one "
                  "for all; auto (default): the fastest"),
           option("--workers", as_count<std::uint32_t>(), options.compile.workers,
                  "Persistent work-groups; 0 (default): chosen by the number of tiles"),
           parameter_option(request->parameters),
           flag("--verify", options.verify, "Run plain launches too, and compare every byte of the outputs"),
           option("--stress", as_count(), options.stress_runs,
                  "Verify, then N more runs in other orders, with delays"),
           option("--compare", as_count(), options.compare_rounds,
                  "Verify, then time both in N pairs: ratio, 95 % interval, verdict"),
           option("--check", as_choice<bool>({{"bounds", true}}), options.check_bounds,
                  "bounds: only check for writes past buffers"),
           flag("--stream", request->stream, "Answer requests from standard input, a line of JSON each"),
           flag("--dry-run", options.compile.dry_run,
                "Use no device; report plan, recommendation, evidence and memory"),
           option("--max-wall-time", as_duration(), options.max_wall_time_ns,
                  "End the run without outputs after this: 10s, 2m (default 60s)"),
           {.names = {"--set"},
            .value = "KEY=VALUE",
            .repeats = true,
            .meaning = "Change a setting, also --KEY VALUE; `tidegate schema run_settings` lists them",
            .take =
                [](const std::string&) { return Result<void>(); }}, // parse() puts the setting in its place
           flag("--by-wave", request->by_wave,
                "Time each wave: critical path, waiting, GB/s; graphs: edges/s"),
           option("--trace", as_written_file({"json"}), options.trace,
                  "Write a timeline for ui.perfetto.dev"),
           option("--html", as_written_file({"html", "htm"}), options.page,
                  "Write the run as one HTML page: plan, timeline, memory, reasons"),
           option("--emit-kernel", as_file(), options.emit_kernel,
                  "Write the generated kernel; with --stress that of its last run"),
           flag("--explain", request->explain,
                "Report candidates, groups, offsets and choices, too; --dry-run always does"),
           format_option(request->format),
           output_option(request->output),
           flag("-v,--verbose", request->verbose, "Print what the run is doing, a line a second"),
           path_scope_option(options.scope)},
      .settings = run_settings(*request),
      .positionals = {option("", as_file("[PROGRAM]"), request->program,
                             "Program or algorithm to run; - or none is standard input"),
                      option("", as_file("[GRAPH]"), request->graph,
                             "Graph, if PROGRAM is bfs, reach, sssp, cc or pagerank")},
      .examples = {{"Compared with plain launches, and timed:",
                    "tidegate run examples/programs/heat/program.json --compare 9 --format table"}},
      .run = [request] {
        if (!request->graph.empty()) {
          request->given.emplace(with_graph);
        }
        return run_program(*request);
      }};
  note_given(command.options, "", request->given);
  note_given(command.settings, "--set ", request->given);
  return command;
}

Result<void> check_options(const AskedRun& request) {
  const engine::RunOptions& options = request.options;
  const engine::CompileOptions& compile = options.compile;
  if (compile.strategy == engine::Strategy::counters && compile.mapping == engine::TileMapping::strided) {
    return misuse(
        "--strategy counters and --set tuning.order=strided cannot be combined: work-groups wait for the "
        "owners of runs of tiles",
        "give --set tuning.order=blocked or serpentine, or --strategy barrier");
  }
  constexpr std::string_view one_of_two = "leave one of the two out";
  const bool bounds = options.check_bounds;
  if (bounds && compile.dry_run) {
    return misuse("--check bounds has no effect with --dry-run, which runs no program to its end",
                  std::string(one_of_two));
  }
  const std::array<Restriction, 5> restrictions{
      {{needs_end, compile.dry_run || bounds,
        fmt::format("has no effect with {}, which runs no program to its end",
                    compile.dry_run ? "--dry-run" : "--check bounds"),
        one_of_two},
       {needs_plan, bounds, "has no effect with --check bounds, which launches wave by wave", one_of_two},
       {needs_stress, options.stress_runs == 0, "needs --stress", "add --stress 1"},
       {needs_spans, options.trace.empty() && options.page.empty(), "needs --trace or --html",
        "add --trace FILE.json"},
       {one_run, request.stream, "is for one run, not for a stream", "leave --stream or the other out"}}};
  TIDEGATE_CHECK(refuse(request, restrictions));
  return refuse_stream(request.stream, request.format);
}

Result<void> check_options_for(const Run& run, bool frontier) {
  const auto strategy = run.options.compile.strategy;
  const engine::Strategy of_ranks = frontier ? engine::Strategy::launch : engine::Strategy::plain;
  const std::string with = fmt::format("has no effect with --strategy {}",
                                       strategy ? engine::strategy_names[static_cast<std::size_t>(*strategy)]
                                                : std::string_view("auto"));
  constexpr std::string_view fix = "leave it out, or give --strategy barrier";
  const std::array<Restriction, 5> restrictions{
      {{of_waves, frontier, "does not apply to frontier programs: ", "leave it out"},
       {of_graphs, !frontier, "does not apply to wave programs: ", "leave it out"},
       {needs_generated, !frontier && strategy == engine::Strategy::plain,
        with + ", which launches the program's own kernels", fix},
       {needs_persistent, !frontier && strategy && !is_persistent(*strategy),
        with + ", which has no persistent launch", fix},
       {one_process, run.ranks != nullptr, "does not work on several ranks yet",
        "leave it out, or run the program in one process, without mpirun"}}};
  TIDEGATE_CHECK(refuse(run, restrictions));
  if (run.ranks && strategy.value_or(of_ranks) != of_ranks) {
    return misuse(
        fmt::format("a --strategy other than {} {}", frontier ? "launch" : "plain", restrictions.back().text),
        std::string(restrictions.back().fix));
  }
  if (run.ranks && run.program == standard_stream) {
    return misuse("standard input reaches rank 0 alone",
                  "give the program as a file that all ranks can read");
  }
  return {};
}

CommandModel export_command() {
  const auto settings = std::make_shared<AskedRun>();
  const auto force = std::make_shared<bool>(false);
  engine::RunOptions& options = settings->options;
  return {
      .options =
          {option("--device", as_device(), settings->selector,
                  "Where to build, run and compare it, as for tidegate run"),
           option("--strategy",
                  as_choice<engine::Strategy>(
                      {{"barrier", engine::Strategy::barrier}, {"counters", engine::Strategy::counters}}),
                  options.compile.strategy,
                  "How work-groups wait; default: the fastest that an earlier run kept, else barrier"),
           option("--workers", as_count<std::uint32_t>(), options.compile.workers,
                  "Work-groups of the launch; 0 (default): chosen by the number of tiles"),
           flag("--force", *force, "Write into a folder that is not empty"),
           option("--max-wall-time", as_duration(), options.max_wall_time_ns,
                  "End the run without a folder after this: 10s, 2m (default 60s)"),
           format_option(settings->format), parameter_option(settings->parameters),
           path_scope_option(options.scope),
           option("-o,--output", as_file(), options.export_folder,
                  "Folder for kernel.cl, program.h, main.c, a Makefile and data/; made if missing. tidegate "
                  "runs the program once to verify it, and that run writes the outputs, too")},
      .positionals = {option("", as_file("[PROGRAM]"), settings->program,
                             "Wave program; - or none is standard input")},
      .examples = {{"A C program that gives the same bytes:",
                    "tidegate export examples/programs/heat/program.json -o heat && make -C heat run"}},
      .run = [settings, force]() -> Result<ExitCode> {
        if (ranks::launched().several()) {
          return misuse("export writes one folder, and several processes were started",
                        "run it without mpirun");
        }
        TIDEGATE_CHECK(check_folder(settings->options.export_folder, *force));
        settings->options.verify = true; // no export without a verified result
        settings->given = {std::string(exports)};
        return run_program(*settings);
      }};
}

} // namespace tidegate::app
