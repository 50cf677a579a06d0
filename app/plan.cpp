#include "app/plan.hpp"

#include "app/run.hpp"
#include "core/catalogue.hpp"
#include "work/resolve.hpp"

#include <unistd.h>

namespace tidegate::app {
namespace {

using documents::Planner;
using documents::PlanObjective;

Result<planning::MemoryPlan> make_plan(const planning::WaveDag& dag, const PlanOptions& options) {
  if (options.planner == Planner::layered) {
    return planning::plan_layered(dag);
  }
  using Objective = planning::CompactOptions::Objective;
  return planning::plan_compact(
      dag, {.objective = options.objective == PlanObjective::peak ? Objective::peak : Objective::groups});
}

} // namespace

documents::FrontierMemoryPlan plan_to_document(const planning::MemoryPlan& plan, const PlanOptions& options) {
  documents::FrontierMemoryPlan document{
      .planner = options.planner,
      .objective = options.planner == Planner::compact ? std::optional(options.objective) : std::nullopt,
      .barriers = {.groups = {}, .global_barriers = plan.global_barriers()},
      .plan = plan};
  document.barriers.groups.reserve(plan.group_count());
  for (std::size_t i = 0; i < plan.group_count(); ++i) {
    const auto waves = plan.group(i);
    document.barriers.groups.push_back(
        {.waves = {waves.begin(), waves.end()}, .fused_bytes = plan.group_fused_bytes[i]});
  }
  return document;
}

namespace {

// The DAG of a program, with the names of its waves.
Result<NamedDag> dag_of_program(std::string_view json, const PlanOptions& options) {
  TIDEGATE_TRY(const auto program, documents::decode<engine::WaveProgram>(json));
  std::set<std::string> assumed;
  TIDEGATE_TRY(const auto resolved,
               engine::resolve(program, options.folder, engine::assume_macros(assumed), options.scope));
  TIDEGATE_CHECK(engine::keep_inputs(resolved, options.files));
  NamedDag named{.dag = engine::wave_dag(resolved, options.budget_bytes.value_or(resolved.budget_bytes)),
                 .names = {}};
  for (std::size_t i = 0; i < resolved.waves.size(); ++i) {
    const engine::ProgramWave& wave = resolved.waves[i];
    named.names.push_back(wave.name.empty() ? fmt::format("{} #{}", resolved.ops[wave.op].name, i)
                                            : wave.name);
    named.sections.push_back(wave.section);
  }
  named.iterations = resolved.iterations;
  return named;
}

} // namespace

Result<NamedDag> read_dag(std::string_view json, const PlanOptions& options) {
  auto document = documents::decode<documents::NamedWaveDag>(json);
  if (!document) {
    // Reads the text a second time only if it is not a wave_dag, because those may be large.
    const auto type = documents::recognise(json);
    const bool is_program = type && *type == &documents::DocumentOf<engine::WaveProgram>::document;
    return is_program ? dag_of_program(json, options) : tl::unexpected(std::move(document.error()));
  }
  if (options.budget_bytes) {
    document->budget_bytes = *options.budget_bytes;
  }
  return resolve(std::move(*document));
}

Result<PlannedDag> plan_document(std::string_view json, const PlanOptions& options) {
  TIDEGATE_TRY(auto named, read_dag(json, options));
  auto plan = make_plan(named.dag, options);
  if (!plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return PlannedDag{.named = std::move(named), .plan = std::move(*plan)};
}

planning::MemoryPlan memory_plan(const documents::FrontierMemoryPlan& document) {
  planning::MemoryPlan plan = document.plan;
  static_cast<planning::BarrierGroups&>(plan) = {};
  plan.group_fused_bytes.clear();
  for (const documents::BarrierGroup& group : document.barriers.groups) {
    plan.order.insert(plan.order.end(), group.waves.begin(), group.waves.end());
    plan.group_begin.push_back(static_cast<std::uint32_t>(plan.order.size()));
    plan.group_fused_bytes.push_back(group.fused_bytes);
  }
  return plan;
}

std::string plan_headline(const PlannedDag& planned, const PlanOptions& options) {
  const planning::MemoryPlan& plan = planned.plan;
  const std::string verdict =
      plan.optimal ? "proved to be the fewest" : fmt::format("at least {} needed", plan.lower_bound_groups);
  return fmt::format("{}: {} in {}, {}, {}",
                     documents::planner_names[static_cast<std::size_t>(options.planner)],
                     plural(plan.order.size(), "wave"), plural(plan.group_count(), "group"),
                     plural(plan.global_barriers(), "barrier"), verdict);
}

std::string share_text(std::uint64_t bytes, std::uint64_t budget) {
  if (budget == 0) {
    return {};
  }
  // Cut, not rounded, so that only a full group shows 100%.
  const double tenths = std::floor(1000.0 * static_cast<double>(bytes) / static_cast<double>(budget));
  return fmt::format("{:.1f}%", bytes < budget ? std::min(tenths, 999.0) / 10.0 : 100.0);
}

namespace {

// Thousands of groups are nothing to read; the ends of a long plan say the most.
constexpr std::size_t most_groups = 100;
constexpr std::size_t groups_at_the_end = 10;
constexpr std::size_t most_names = 6;

// Eight cells, filled by the share of the budget, in eighths of a cell.
std::string bar(std::uint64_t bytes, std::uint64_t budget) {
  constexpr int cells = 8;
  constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = budget == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(budget);
  const int eighths = static_cast<int>(share * cells * 8);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) {
    text += "█";
  }
  return text + std::string(parts[static_cast<std::size_t>(eighths % 8)]);
}

std::string wave_list(const NamedDag& named, std::span<const std::uint32_t> waves) {
  std::string text;
  const std::size_t shown = waves.size() <= most_names + 1 ? waves.size() : most_names;
  for (const std::uint32_t wave : waves.first(shown)) {
    text += (text.empty() ? "" : ", ") + named.wave_label(wave);
  }
  return shown == waves.size() ? text : fmt::format("{} and {} more", text, waves.size() - shown);
}

} // namespace

std::string plan_table(const PlannedDag& planned, const PlanOptions& options, bool colour) {
  const auto& [named, plan] = planned;
  const std::uint64_t budget = named.dag.budget_bytes - named.dag.resident_graph_bytes;
  const std::uint64_t shared = budget == no_limit ? 0 : budget; // nothing is a share of no limit
  const std::size_t groups = plan.group_count();
  const std::size_t skipped = groups > most_groups ? groups - most_groups : 0;

  TableRows rows{{"group", "waves", "fused bytes", "of budget", "", "left", "which"}};
  for (std::size_t i = 0; i < groups; ++i) {
    if (skipped != 0 && i == most_groups - groups_at_the_end) {
      rows.push_back({"…", "", "", "", "", "", plural(skipped, "group") + " not shown"});
      i += skipped;
    }
    const std::uint64_t bytes = plan.group_fused_bytes[i];
    rows.push_back({std::to_string(i), std::to_string(plan.group(i).size()), bytes_text(bytes),
                    share_text(bytes, shared), bar(bytes, shared),
                    budget == no_limit ? "" : bytes_text(budget - bytes), wave_list(named, plan.group(i))});
  }
  align_right(rows, {0, 1, 2, 3, 5});

  const std::uint64_t largest =
      plan.group_fused_bytes.empty() ? 0 : *std::ranges::max_element(plan.group_fused_bytes);
  TableRows figures;
  figures.push_back(
      {"budget of a group",
       budget == no_limit ? "no limit"
       : named.dag.resident_graph_bytes == 0
           ? bytes_text(budget)
           : fmt::format("{}: {} less the resident graph's {}", bytes_text(budget),
                         bytes_text(named.dag.budget_bytes), bytes_text(named.dag.resident_graph_bytes))});
  figures.push_back(
      {"largest group", fmt::format("{} {}", bytes_text(largest), share_text(largest, shared))});
  figures.push_back(
      {"peaks", fmt::format("{} frontier, {} scratch, {} output", bytes_text(plan.peak_frontier_bytes),
                            bytes_text(plan.peak_scratch_bytes), bytes_text(plan.peak_output_bytes))});
  figures.push_back({"readback", bytes_text(plan.amortized_readback_bytes)});
  figures.push_back({"widest group", plural(plan.max_group_width, "wave")});
  figures.push_back({"lower bound", plural(plan.lower_bound_groups, "group")});

  std::string text = bold(plan_headline(planned, options), colour) + "\n\n";
  if (groups != 0) {
    text += render_table(rows) + "\n";
  }
  return text + render_table(figures);
}

// tidegate plan

namespace {

constexpr std::array<std::string_view, 3> picture_names{"json", "table", "svg"};

struct PlanSettings {
  Route route{.format = ""};
  PlanOptions plan;
  std::optional<documents::Planner> planner;
  std::optional<documents::PlanObjective> objective;
};

Result<void> answer_plan(std::string_view json, const PlanSettings& settings, documents::Style style,
                         std::string& text) {
  TIDEGATE_TRY(auto planned, plan_document(json, settings.plan));
  if (settings.route.format == "json") {
    planned.named = {}; // the answer takes room too
    const documents::FrontierMemoryPlan document = plan_to_document(planned.plan, settings.plan);
    documents::encode(documents::DocumentOf<documents::FrontierMemoryPlan>::document, &document, style, text);
  } else if (settings.route.format == "table") {
    text += plan_table(planned, settings.plan, use_colour(settings.route.output));
  } else {
    text += plan_svg(planned, settings.plan);
  }
  return {};
}

// --objective is of the compact strategy, and means it where none is given.
Result<void> take_planner(PlanSettings& settings) {
  using documents::Planner;
  if (settings.objective && settings.planner == Planner::layered) {
    return failure(ErrorCode::invalid_usage, "--objective is for --strategy compact",
                   "leave it out, or plan with --strategy compact");
  }
  PlanOptions& plan = settings.plan;
  plan.planner = settings.planner.value_or(settings.objective ? Planner::compact : plan.planner);
  plan.objective = settings.objective.value_or(plan.objective);
  return {};
}

Result<ExitCode> run_plan(PlanSettings& settings) {
  Route& route = settings.route;
  route.format = picture_format(route.format, route.output);
  TIDEGATE_CHECK(take_planner(settings));
  settings.plan.folder = program_folder(route.input);
  settings.plan.files = route.files();
  const Answer answer = [&settings](std::string_view json, documents::Style style, std::string& text) {
    return answer_plan(json, settings, style, text);
  };
  return serve(route, [&] { return answer; });
}

} // namespace

CommandModel plan_command() {
  const auto settings = std::make_shared<PlanSettings>();
  return {
      .options =
          {choice_option(
               "--strategy", settings->planner, documents::planner_names,
               "layered: each wave as early as possible, a full group is closed (default); compact: as few groups as "
               "possible"),
           choice_option(
               "--objective", settings->objective, documents::plan_objective_names,
               "groups: the fewest (default); peak: the fewest, and the largest as small as possible. "
               "Means --strategy compact"),
           bytes_option("--budget", settings->plan.budget_bytes, "Memory budget, in place of the document's"),
           format_option(
               settings->route.format, picture_names,
               "JSON for programs (default), a table for people, or a picture; -o x.svg means that"),
           parameter_option(settings->route.parameters), path_scope_option(settings->plan.scope),
           stream_option(settings->route.stream), output_option(settings->route.output, {"json", "svg"})},
      .positionals = {input_positional(settings->route.input, "Wave DAG, or a wave program,")},
      .examples = {{"A picture of the plan with the fewest groups:",
                    "tidegate plan --strategy compact examples/stereo_camera.json -o plan.svg"},
                   {"The plan of a wave program:",
                    "tidegate plan examples/programs/reduction/program.json --format table"}},
      .run = [settings] { return run_plan(*settings); }};
}

} // namespace tidegate::app
