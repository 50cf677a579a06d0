// Options of `tidegate run` that do not go together, or not with this kind of program.
#include "app/run.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace tidegate::app {

Result<void> refuse_two_outputs(const RunSettings& settings) {
  const std::array<std::pair<std::string_view, std::string_view>, 3> outputs{
      {{settings.options.trace, "the trace"},
       {settings.options.page, "the page"},
       {settings.output, "the report"}}};
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

Result<void> refuse_foreign_options(const RunSettings& settings, bool frontier) {
  const engine::RunOptions& options = settings.options;
  struct Option {
    bool given;
    std::string_view name;
    bool of_frontier = false;
  };
  const std::array<Option, 17> foreign{{
      {options.halo_depth != 0, "--halo-depth"},
      {options.stress_runs != 0, "--stress"},
      {!options.export_folder.empty(), "export"},
      {options.compile.mode.has_value(), "--mode"},
      {settings.plan.has_value(), "--plan"},
      {options.compile.fp_contract_off, "--set fp-contract"},
      {options.check_bounds, "--check-bounds"},
      {options.check_halos, "--check-halos"},
      {options.compile.promote.has_value(), "--set promote"},
      {settings.side_by_side != 0, "--set side-by-side"},
      {options.compile.mapping.has_value(), "--set order"},
      {options.compile.strategy == engine::Strategy::counters, "--strategy counters"},
      {options.compile.strategy == engine::Strategy::plain, "--strategy plain"},
      {!settings.measure, "--set measure"},
      {options.traversal.force_topology.has_value(), "--set force-topology", true},
      {settings.group_size != 0, "--set group-size", true},
      {settings.alone_up_to.has_value(), "--set alone-up-to", true},
  }};
  for (const Option& option : foreign) {
    if (option.given && option.of_frontier != frontier) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("{} is for {} programs, and this is a {} program", option.name,
                                 frontier ? "wave" : "frontier", frontier ? "frontier" : "wave"),
                     "leave it out");
    }
  }
  return {};
}

Result<void> refuse_idle_options(const engine::RunOptions& options, bool require_convergence) {
  const std::string_view instead = options.compile.dry_run ? "--dry-run"
                                   : options.check_bounds  ? "--check-bounds"
                                   : options.check_halos   ? "--check-halos"
                                                           : "";
  for (const auto& [given, name] :
       {std::pair(options.verify, "--verify"), std::pair(options.compare_rounds != 0, "--compare"),
        std::pair(options.stress_runs != 0, "--stress"),
        std::pair(require_convergence, "--require-convergence"),
        std::pair(options.compile.dry_run && options.check_bounds, "--check-bounds"),
        std::pair(options.compile.dry_run && options.check_halos, "--check-halos")}) {
    if (given && !instead.empty()) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("{} has no effect with {}, which runs no program to its end", name, instead),
                     fmt::format("leave one of the two out"));
    }
  }
  return {};
}

} // namespace tidegate::app
