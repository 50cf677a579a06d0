// tidegate run, of a frontier program

#include "app/command_line.hpp"
#include "app/lint.hpp"
#include "app/run.hpp"
#include "app/terminal.hpp"
#include "app/tune.hpp"
#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/table.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/run.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::commands {
namespace {

using traversal::FrontierReport;
using traversal::WaveRecord;
using Rows = std::vector<std::vector<std::string>>;

// 1234567 -> "1.23 M".
std::string count_text(double count) {
  constexpr double thousand = 1000;
  constexpr std::array<std::string_view, 4> units{"", " thousand", " million", " billion"};
  std::size_t unit = 0;
  for (; count >= thousand && unit + 1 < units.size(); ++unit) {
    count /= thousand;
  }
  return unit == 0 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}{}", count, units[unit]);
}

std::string times_text(const traversal::RepeatedTimes& times) {
  return times.speedup
             ? fmt::format("{:.2f} times as fast as a launch for each step: {} against {} (medians of {})",
                           *times.speedup, short_time_text(times.run_ns), short_time_text(*times.launches_ns),
                           times.rounds)
             : fmt::format("{} (median of {})", short_time_text(times.run_ns), times.rounds);
}

std::string verdict(const FrontierReport& report) {
  if (!report.verification) {
    return report.first_run ? report.first_run->reason : "not checked (--verify)";
  }
  return fmt::format("{}: {}", report.verification->right ? "right" : "WRONG",
                     fmt::join(report.verification->checks, ", "));
}

// Runs of waves of one topology: the ones that a person wants to see.
Rows stretches(const std::vector<WaveRecord>& waves) {
  Rows rows{{"  waves", "topology", "rule", "widest", "edges scanned"}};
  for (std::size_t first = 0; first < waves.size();) {
    std::size_t end = first;
    std::uint64_t scanned = 0;
    std::uint32_t widest = 0;
    for (; end < waves.size() && waves[end].topology == waves[first].topology; ++end) {
      scanned += waves[end].scanned_edges;
      widest = std::max(widest, waves[end].vertices);
    }
    rows.push_back({end - first == 1 ? fmt::format("  {}", first) : fmt::format("  {} to {}", first, end - 1),
                    std::string(policy::name(waves[first].topology)),
                    std::string(policy::name(waves[first].rule)), std::to_string(widest),
                    std::to_string(scanned)});
    first = end;
  }
  align_right(rows, {3, 4});
  return rows;
}

} // namespace

bool is_frontier_program(std::string_view json) {
  std::vector<std::string> keys;
  const auto kind = documents::kind_of(json, &keys);
  return kind && (kind->empty() ? std::ranges::find(keys, "graph") != keys.end()
                                : *kind == documents::DocumentOf<graphs::FrontierProgram>::document.kind);
}

std::string frontier_document(const FrontierReport& report) {
  return documents::encode(report);
}

std::string frontier_table(const FrontierReport& report, bool colour) {
  const traversal::WaveSummary& summary = report.summary;
  std::string text = bold(fmt::format("{}: {} of {} vertices and {} edges",
                                      engine::run_status_names[static_cast<std::size_t>(report.status)],
                                      graphs::algorithm_names[static_cast<std::size_t>(report.algorithm)],
                                      report.graph.vertices, report.graph.edges),
                          colour) +
                     "\n";
  Rows rows;
  if (report.device) {
    rows.push_back({"  device", report.device->name});
  }
  rows.push_back(
      {"  strategy", fmt::format("{}: {}", engine::strategy_names[static_cast<std::size_t>(report.strategy)],
                                 report.strategy_reason)});
  if (report.profile_file) {
    rows.push_back({"  profile", *report.profile_file});
  }
  rows.push_back({"  memory", fmt::format("{}{}", bytes_text(report.memory.bytes),
                                          report.memory.constrained ? ", memory_constrained" : "")});
  if (report.status == engine::RunStatus::planned) {
    add_written(report.files_written, rows);
    return text + render_table(rows);
  }
  rows.push_back(
      {"  time",
       fmt::format("{}, {} edges a second{}", short_time_text(static_cast<double>(report.traversal_ns)),
                   count_text(summary.edges_per_second),
                   report.kernel_launches == 1 ? ", one launch"
                                               : fmt::format(", {} launches", report.kernel_launches))});
  rows.push_back(
      {"  waves", fmt::format("{}, {}, the widest ({}) with {} vertices", plural(summary.waves, "wave"),
                              plural(summary.topology_changes, "topology change"), summary.widest_wave,
                              summary.widest_vertices)});
  if (report.converged) {
    rows.push_back({"  converged", fmt::format("{}: the last iteration changed the ranks by {:.3g} in sum",
                                               *report.converged ? "yes" : "NO", *report.rank_change)});
  }
  rows.push_back({"  result", verdict(report)});
  if (report.replay) {
    rows.push_back({"  replay", fmt::format("topology choices reproduced on the host: {} of {}",
                                            report.replay->agreed, report.replay->waves)});
  }
  if (report.comparison) {
    rows.push_back({"  compared", times_text(*report.comparison)});
  }
  add_written(report.files_written, rows);
  for (const engine::StuckGroup& stuck : report.stuck_groups) {
    rows.push_back({"  stuck", fmt::format("work-group {} behind wave {}: {} are {}, not {}", stuck.group,
                                           stuck.iteration, stuck.counter, stuck.seen, stuck.expected)});
  }
  return text + render_table(rows) + render_table(stretches(report.waves));
}

} // namespace tidegate::commands

namespace tidegate::app {
namespace {

constexpr std::array<std::string_view, 6> frontier_fault_names{
    "none", "missing_arrival", "failed_litmus", "wrong_value", "wrong_parent", "wrong_log"};

// Options that mean something to wave programs alone.
Result<void> refuse_others(const RunSettings& settings) {
  const engine::RunOptions& options = settings.options;
  const std::array<std::pair<bool, std::string_view>, 13> given{{
      {options.compile.mode.has_value(), "--mode"},
      {settings.plan.has_value(), "--plan"},
      {options.compile.fp_contract_off, "--set fp-contract"},
      {options.check_bounds, "--check-bounds"},
      {options.check_halos, "--check-halos"},
      {options.compile.promote.has_value(), "--set promote"},
      {!options.trace.empty(), "--trace"},
      {!options.page.empty(), "--report"},
      {settings.side_by_side != 0, "--set side-by-side"},
      {options.compile.order.has_value(), "--set order"},
      {options.compile.strategy == engine::Strategy::counters, "--strategy counters"},
      {options.compile.strategy == engine::Strategy::plain, "--strategy plain"},
      {!settings.measure, "--set measure"},
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
  const engine::RunOptions& given = settings.options;
  traversal::TraversalOptions options{.strategy = given.compile.strategy,
                                      .force_topology = settings.force_topology,
                                      .workers = narrowed(settings.workers),
                                      .group_size = narrowed(settings.group_size),
                                      .alone_vertices = {},
                                      .dry_run = given.compile.dry_run,
                                      .verify = given.verify,
                                      .verify_first = settings.verify_first,
                                      .verify_budget_ns = settings.measure_budget_ns,
                                      .compare_rounds = given.compare_rounds,
                                      .max_wall_time_ns = given.max_wall_time_ns,
                                      .slice_ns = settings.slice_ns != 0 ? settings.slice_ns : given.slice_ns,
                                      .cache_folder = given.cache_folder,
                                      .emit_kernel = given.emit_kernel,
                                      .files = given.files,
                                      .allow_outside = given.compile.scope == engine::PathScope::anywhere,
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

Result<ExitCode> run_frontier(const RunSettings& settings, engine::Monitor& monitor, Progress& progress) {
  TIDEGATE_CHECK(refuse_others(settings));
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
    monitor.begin(engine::Activity::asking);
    TIDEGATE_TRY(auto found, find_device(settings));
    device = std::move(found);
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
