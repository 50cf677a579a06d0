// tidegate plan
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/plan.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/core/program.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 4> picture_names{"json", "table", "dot", "svg"};

struct PlanSettings {
  commands::Route route;
  commands::PlanOptions plan;
  std::optional<documents::PlanStrategy> strategy;
  std::optional<documents::PlanObjective> objective;
  std::optional<std::uint64_t> effort;
  std::optional<std::string_view> given_format;
  std::string_view format;
  commands::PictureOptions picture;
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
  const std::string dot = commands::plan_dot(*planned, settings.plan, settings.picture);
  return settings.format == "svg" ? svg(dot) : dot;
}

// --objective and --effort are of the compact strategy, and mean it where none is given.
Result<void> take_strategy(PlanSettings& settings) {
  using documents::PlanStrategy;
  const bool compact = settings.objective || settings.effort;
  if (compact && settings.strategy == PlanStrategy::layered) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                .message = "--objective and --effort are for --strategy compact",
                                .fix = "leave them out, or plan with --strategy compact"});
  }
  commands::PlanOptions& plan = settings.plan;
  plan.strategy = settings.strategy.value_or(compact ? PlanStrategy::compact : plan.strategy);
  plan.objective = settings.objective.value_or(plan.objective);
  plan.effort = settings.effort.value_or(plan.effort);
  return {};
}

Result<ExitCode> run_plan(PlanSettings& settings) {
  settings.format = picture_format(settings.given_format, settings.route.output, picture_names);
  if (auto usable = take_strategy(settings).and_then(
          [&] { return refuse_stream(settings.route.stream, settings.format); });
      !usable) {
    return tl::unexpected(std::move(usable.error()));
  }
  settings.plan.folder = commands::program_folder(settings.route.input);
  settings.plan.files = settings.route.files();
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

CommandModel plan_command() {
  const auto settings = std::make_shared<PlanSettings>();
  return {.options =
              {choice_option(
                   "--strategy", settings->strategy, documents::plan_strategy_names,
                   "layered: as early as possible, next fit (default); compact: as few groups as possible"),
               choice_option(
                   "--objective", settings->objective, documents::plan_objective_names,
                   "groups: the fewest (default); peak: the fewest, and the largest as small as possible. "
                   "Means --strategy compact"),
               count_option(
                   "--effort", settings->effort,
                   "Steps of the search, 0 for none; equal effort, equal plan. Means --strategy compact"),
               bytes_option("--budget", settings->plan.budget_bytes, "Budget instead of the document's"),
               picture_option(
                   settings->given_format, picture_names,
                   "JSON for programs (default), a table for people, a picture for Graphviz or drawn by it; "
                   "-o x.svg and x.dot mean these"),
               count_option("--most-waves", settings->picture.most_boxes,
                            "Boxes in a picture at most (default 300), 0 for all"),
               flag("--each-wave", settings->picture.each_wave,
                    "Draw waves that are alike one by one, not as one box"),
               path_scope_option(settings->plan.scope), stream_option(settings->route.stream),
               output_option(settings->route.output, {"json", "dot", "svg"})},
          .positionals = {input_positional(settings->route.input, "Wave DAG, or a wave program,")},
          .examples = {{"A picture of the plan with the fewest groups:",
                        "tidegate plan --strategy compact examples/stereo_camera.json -o plan.svg"},
                       {"The waves of one's own program:",
                        "tidegate plan examples/programs/reduction/program.json --format table"}},
          .run = [settings](bool) { return run_plan(*settings); }};
}

} // namespace tidegate::app
