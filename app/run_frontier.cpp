// tidegate run, of a frontier program
#include "command_line.hpp"
#include "run_settings.hpp"
#include "terminal.hpp"
#include <tidegate/commands/frontier.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/commands/tune.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/traversal/run.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 6> frontier_fault_names{
    "none", "missing_arrival", "failed_litmus", "wrong_value", "wrong_parent", "wrong_log"};

// Options that mean something to wave programs alone.
Result<void> refuse_others(const RunSettings& settings) {
  const run::RunOptions& options = settings.options;
  const std::array<std::pair<bool, std::string_view>, 13> given{{
      {options.compile.mode.has_value(), "--mode"},
      {settings.plan.has_value(), "--plan"},
      {options.compile.fp_contract_off, "--fp-contract"},
      {options.check_bounds, "--check-bounds"},
      {options.check_halos, "--check-halos"},
      {options.compile.promote.has_value(), "--promote"},
      {!options.trace.empty(), "--trace"},
      {!options.page.empty(), "--report"},
      {settings.side_by_side != 0, "--side-by-side"},
      {options.compile.order.has_value(), "--order"},
      {options.compile.strategy == compiler::Strategy::counters, "--strategy counters"},
      {options.compile.strategy == compiler::Strategy::plain, "--strategy plain"},
      {settings.no_measure, "--no-measure"},
  }};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return tl::unexpected(
          Error{.code = ErrorCode::invalid_usage,
                .message = fmt::format("{} is for wave programs, and this is a frontier program", name),
                .fix = "leave it out"});
    }
  }
  return {};
}

std::optional<std::uint32_t> narrowed(std::uint64_t value) {
  return value == 0 ? std::nullopt
                    : std::optional(static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~0U)));
}

traversal::TraversalOptions options_of(const RunSettings& settings) {
  const run::RunOptions& given = settings.options;
  traversal::TraversalOptions options{.strategy = given.compile.strategy,
                                      .force_topology = settings.force_topology,
                                      .workers = narrowed(settings.workers),
                                      .group_size = narrowed(settings.group_size),
                                      .alone_vertices = {},
                                      .dry_run = given.compile.dry_run,
                                      .verify = given.verify,
                                      .verify_first = !settings.no_verify_first,
                                      .verify_budget_ns = settings.measure_budget_ns,
                                      .compare_rounds = given.compare_rounds,
                                      .max_wall_time_ns = given.max_wall_time_ns,
                                      .slice_ns = settings.slice_ns != 0 ? settings.slice_ns : given.slice_ns,
                                      .cache_folder = given.cache_folder,
                                      .emit_kernel = given.emit_kernel,
                                      .files = given.files,
                                      .allow_outside = given.compile.scope == compiler::PathScope::anywhere,
                                      .fault = provoked_frontier_fault(),
                                      .abandon = {}};
  if (settings.alone_up_to) {
    options.alone_vertices = static_cast<std::uint32_t>(std::min<std::uint64_t>(*settings.alone_up_to, ~0U));
  }
  return options;
}

Result<ExitCode> tell(const traversal::FrontierReport& report, const RunSettings& settings) {
  print_warnings(report.warnings, settings);
  const std::string text =
      settings.format == Format::table
          ? commands::frontier_table(report, settings.output == "-" && use_colour(STDOUT_FILENO))
          : commands::frontier_document(report) + '\n';
  auto written = commands::write_text(settings.output, text);
  if (written && report.error) {
    print_error(at_program(*report.error, settings), settings.errors_as_json);
    return exit_code(report.error->code);
  }
  return written;
}

} // namespace

traversal::Fault provoked_frontier_fault() {
  const char* const name = std::getenv("TIDEGATE_PROVOKE");
  const auto found = name == nullptr ? frontier_fault_names.end()
                                     : std::ranges::find(frontier_fault_names, std::string_view(name));
  return found == frontier_fault_names.end()
             ? traversal::Fault::none
             : static_cast<traversal::Fault>(found - frontier_fault_names.begin());
}

Result<ExitCode> run_frontier(const RunSettings& settings, run::Monitor& monitor, Progress& progress) {
  if (auto usable = refuse_others(settings); !usable) {
    return tl::unexpected(std::move(usable.error()));
  }
  auto program = commands::read_frontier_program(settings.text);
  if (!program) {
    return tl::unexpected(at_program(program.error(), settings));
  }
  traversal::TraversalOptions options = options_of(settings);
  options.abandon = [&settings, &progress](const traversal::FrontierReport& report) {
    progress.finish();
    const auto told = tell(report, settings);
    ::_exit(static_cast<int>(told ? *told : exit_code(told.error().code)));
  };
  std::optional<device::DeviceInfo> device;
  if (!options.dry_run || !settings.selector.empty()) {
    monitor.begin(run::Activity::asking);
    auto found = find_device(settings);
    if (!found) {
      return tl::unexpected(std::move(found.error()));
    }
    device = std::move(*found);
  }
  auto taken = commands::take_tuning(
      {.profile = settings.profile, .policy = settings.policy, .look_for_kept = !settings.no_cache},
      settings.program, settings.text, device ? &*device : nullptr);
  if (!taken) {
    return tl::unexpected(std::move(taken.error()));
  }
  if (taken->traversal && device && device->profile) { // how traversals run, and never the self-test
    device->profile->traversal = taken->traversal;
  }
  program->policy.launch = taken->policy.value_or(program->policy.launch);
  const std::string folder = commands::program_folder(settings.program);
  if (device && !settings.no_cache) {
    options.checked =
        commands::checked_file(settings.text, *program, folder, *device, options, TIDEGATE_VERSION);
  }
  const InterruptWatch interrupts; // until the report is written
  auto report = traversal::run_traversal(*program, folder, device ? &*device : nullptr, options, monitor);
  progress.finish();
  if (!report) {
    return tl::unexpected(at_program(report.error(), settings));
  }
  report->profile_file = taken->profile_file;
  report->policy_file = taken->policy_file;
  return tell(*report, settings);
}

} // namespace tidegate::app
