// The options of `tidegate run` that do not go together, or not with this kind of program: one row for each.
#include "app/run.hpp"

namespace tidegate::app {
namespace {

// Cases in which an option has no effect.
enum Limit : unsigned {
  needs_end = 1,   // unless the program runs to its end
  needs_times = 2, // without --compare
  one_run = 4,     // in a stream
  one_process = 8, // on several ranks
  needs_plan = 16, // with --check bounds, which launches wave by wave
};

struct Combination {
  std::string_view name;
  bool given = false;
  unsigned limits = 0;
  std::string_view not_for_graphs{}; // the reason
  std::string_view not_for_waves{};  // the reason
};

constexpr std::string_view no_tiles = "they have no tiles";

std::vector<Combination> rules(const AskedRun& request) {
  const engine::RunOptions& options = request.options;
  const engine::CompileOptions& compile = options.compile;
  return {
      {"--dry-run", compile.dry_run, one_run},
      {"--check bounds", options.check_bounds, needs_end | one_run | one_process,
       "no kernel of the user writes to memory"},
      {"--verify", options.verify, needs_end},
      {"--compare", options.compare_rounds != 0, needs_end | one_process},
      {"--stress", options.stress_runs != 0, needs_end | one_process,
       "each wave waits for all of the previous one, so no other order is possible"},
      {"--set require-convergence", request.require_convergence, needs_end | one_run},
      {"--times", !request.times_file.empty(), needs_times | one_run},
      {"export", !options.export_folder.empty(), one_process,
       "the kernel needs a graph that tidegate lays out on the device"},
      {"--set tuning.mode", compile.mode.has_value(), needs_plan,
       "the kernel is always compiled for the algorithm"},
      {"--set plan", request.plan.has_value(), one_run, "the size of a wave is known only while it runs"},
      {"--strategy", compile.strategy.has_value(), needs_plan},
      {"--workers", compile.workers.has_value(), needs_plan},
      {"--strategy counters", compile.strategy == engine::Strategy::counters, 0,
       "each wave waits for all of the previous one"},
      {"--strategy plain", compile.strategy == engine::Strategy::plain, 0, "launch has one launch per wave"},
      {"--trace", !options.trace.empty(), needs_end | one_run | one_process},
      {"--report", !options.page.empty(), one_run},
      {"--by-wave", request.by_wave, needs_end | one_process},
      {"--emit-kernel", !options.emit_kernel.empty(), needs_plan | one_run | one_process},
      {"an algorithm with a graph", !request.graph.empty(), one_run},
      {"--stream", request.stream, one_process},
      {"--set fp-contract", compile.fp_contract_off, 0, "all strategies share one kernel"},
      {"--set tuning.promote", compile.promote.has_value(), needs_plan, "they have one op"},
      {"--set tuning.side-by-side", compile.side_by_side.has_value(), needs_plan, no_tiles},
      {"--set tuning.order", compile.mapping.has_value(), needs_plan, no_tiles},
      {"--set measure", request.measure.has_value(), needs_plan, "they have no candidates to time"},
      {"--set tuning.force-topology",
       options.traversal.force_topology.has_value(),
       one_process,
       {},
       "only graphs have topologies"},
      {"--set tuning.group-size",
       options.traversal.group_size.has_value(),
       0,
       {},
       "they state their work-groups"},
      {"--set tuning.alone-up-to",
       options.traversal.alone_vertices.has_value(),
       0,
       {},
       "they have no frontier"},
  };
}

// Refuses two outputs on standard output.
Result<void> refuse_two_outputs(const AskedRun& request) {
  const std::array<std::pair<std::string_view, std::string_view>, 3> outputs{
      {{request.options.trace, "the trace"},
       {request.options.page, "the page"},
       {request.output, "the report"}}};
  std::string_view taken;
  for (const auto& [file, what] : outputs) {
    if (file != standard_stream) {
      continue;
    }
    if (!taken.empty()) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("standard output cannot be {} and {}", taken, what),
                     "name a file for one of them");
    }
    taken = what;
  }
  return {};
}

} // namespace

Result<void> check_options(const AskedRun& request) {
  const engine::CompileOptions& compile = request.options.compile;
  if (compile.strategy == engine::Strategy::counters && compile.mapping == engine::TileMapping::strided) {
    return failure(
        ErrorCode::invalid_usage,
        "--strategy counters and --set tuning.order=strided cannot be combined: work-groups wait for the "
        "owners of runs of tiles",
        "give --set tuning.order=blocked or serpentine, or --strategy barrier");
  }
  const std::string_view instead = compile.dry_run                ? "--dry-run"
                                   : request.options.check_bounds ? "--check bounds"
                                                                  : "";
  for (const Combination& rule : rules(request)) {
    if (!rule.given) {
      continue;
    }
    if ((rule.limits & needs_end) != 0 && !instead.empty() && rule.name != instead) {
      return failure(
          ErrorCode::invalid_usage,
          fmt::format("{} has no effect with {}, which runs no program to its end", rule.name, instead),
          "leave one of the two out");
    }
    if ((rule.limits & needs_plan) != 0 && request.options.check_bounds) {
      return failure(
          ErrorCode::invalid_usage,
          fmt::format("{} has no effect with --check bounds, which launches wave by wave", rule.name),
          "leave one of the two out");
    }
    if ((rule.limits & needs_times) != 0 && request.options.compare_rounds == 0) {
      return failure(ErrorCode::invalid_usage, fmt::format("{} needs --compare", rule.name),
                     "add --compare 9");
    }
    if ((rule.limits & one_run) != 0 && request.stream) {
      return failure(ErrorCode::invalid_usage, fmt::format("{} is for one run, not for a stream", rule.name),
                     "leave --stream or the other out");
    }
  }
  TIDEGATE_CHECK(refuse_stream(request.stream, request.format));
  return refuse_two_outputs(request);
}

Result<void> check_options_for(const Run& run, bool frontier) {
  const engine::Strategy of_ranks = frontier ? engine::Strategy::launch : engine::Strategy::plain;
  std::vector<Combination> all = rules(run);
  all.push_back({frontier ? "a --strategy other than launch" : "a --strategy other than plain",
                 run.options.compile.strategy.value_or(of_ranks) != of_ranks, one_process});
  for (const Combination& rule : all) {
    const std::string_view why = frontier ? rule.not_for_graphs : rule.not_for_waves;
    if (rule.given && !why.empty()) {
      return failure(
          ErrorCode::invalid_usage,
          fmt::format("{} does not apply to {} programs: {}", rule.name, frontier ? "frontier" : "wave", why),
          "leave it out");
    }
    if (rule.given && (rule.limits & one_process) != 0 && run.ranks) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("{} does not work on several ranks yet", rule.name),
                     "leave it out, or run the program in one process, without mpirun");
    }
  }
  if (run.ranks && run.program == standard_stream) {
    return failure(ErrorCode::invalid_usage, "standard input reaches rank 0 alone",
                   "give the program as a file that all ranks can read");
  }
  return {};
}

} // namespace tidegate::app
