// tidegate plan
#include "command_line.hpp"
#include "terminal.hpp"
#include <tidegate/commands/plan.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/core/program.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 4> picture_names{"json", "table", "dot", "svg"};

struct PlanSettings {
  commands::Route route;
  commands::PlanOptions plan;
  std::string strategy = std::string(documents::plan_strategy_names.front());
  std::string objective = std::string(documents::plan_objective_names.front());
  std::string format = "json";
  std::uint64_t most_waves = 300; // beyond, a picture is no longer read
};

Result<std::string> svg(const std::string& dot) {
  auto picture = filter({"dot", "-Tsvg"}, dot);
  if (!picture && picture.error().code == ErrorCode::missing_program) {
    picture.error().message = "--format svg calls Graphviz, and there is no program dot on PATH";
    picture.error().fix = "install it (Debian: apt-get install graphviz), or take --format dot elsewhere";
  }
  return picture;
}

Result<std::string> picture(std::string_view json, const PlanSettings& settings) {
  const auto planned = commands::plan_document(json, settings.plan);
  if (!planned) {
    return tl::unexpected(planned.error());
  }
  if (settings.format == "table") {
    const bool colour = settings.route.output == "-" && use_colour(STDOUT_FILENO);
    return commands::plan_table(*planned, settings.plan, colour);
  }
  const std::string dot = commands::plan_dot(*planned, settings.plan, settings.most_waves);
  return settings.format == "svg" ? svg(dot) : dot;
}

Result<ExitCode> run_plan(PlanSettings& settings) {
  if (auto usable = refuse_stream(settings.route.stream, settings.format); !usable) {
    return tl::unexpected(std::move(usable.error()));
  }
  using Strategy = documents::PlanStrategy;
  using Objective = documents::PlanObjective;
  settings.plan.strategy = settings.strategy == "compact" ? Strategy::compact : Strategy::layered;
  settings.plan.objective = settings.objective == "peak" ? Objective::peak : Objective::groups;
  settings.plan.folder = commands::program_folder(settings.route.input);
  hint_at_terminal(settings.route.input);
  if (settings.format != "json") {
    return commands::serve_text(settings.route,
                                [&](std::string_view json) { return picture(json, settings); });
  }
  const auto answer = [&plan = settings.plan](std::string_view json, documents::Style style,
                                              std::string& text) {
    return commands::plan(json, plan, style, text);
  };
  return commands::serve(settings.route, [&] { return answer; });
}

} // namespace

void define_plan(CLI::App& command, Invocation& invocation) {
  const auto settings = std::make_shared<PlanSettings>();
  add_input(command, settings->route.input, "Wave DAG, or a wave program,");
  CLI::Option* strategy =
      add_choice(command, "--strategy", settings->strategy, documents::plan_strategy_names,
                 "layered: as early as possible, next fit (default); compact: as few groups as possible");
  CLI::Option* objective =
      add_choice(command, "--objective", settings->objective, documents::plan_objective_names,
                 "groups: the fewest (default); peak: the fewest, and the largest as small as possible. "
                 "Means --strategy compact");
  CLI::Option* effort =
      add_count(command, "--effort", settings->plan.effort,
                "Steps of the search, 0 for none; equal effort, equal plan. Means --strategy compact");
  add_bytes(command, "--budget", settings->plan.budget_bytes, "Budget instead of the document's");
  add_choice(command, "--format", settings->format, picture_names,
             "JSON for programs (default), a table for people, a picture for Graphviz or drawn by it");
  add_count(command, "--most-waves", settings->most_waves,
            "Waves in a picture at most (default 300), 0 for all");
  add_stream(command, settings->route.stream);
  add_output(command, settings->route.output);
  command.callback([&invocation, settings, strategy, objective, effort] {
    invocation.run = [settings, given = strategy->count() != 0,
                      compact = objective->count() + effort->count() != 0]() -> Result<ExitCode> {
      if (compact && given && settings->strategy != "compact") {
        return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                    .message = "--objective and --effort are for --strategy compact",
                                    .fix = "leave them out, or plan with --strategy compact"});
      }
      if (compact) {
        settings->strategy = "compact";
      }
      return run_plan(*settings);
    };
  });
}

} // namespace tidegate::app
