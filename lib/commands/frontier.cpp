#include <tidegate/commands/frontier.hpp>
#include <tidegate/commands/written_rows.hpp>
#include <tidegate/core/bytes.hpp>
#include <tidegate/core/duration.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/frontier_documents.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
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
                                      run::run_status_names[static_cast<std::size_t>(report.status)],
                                      graphs::algorithm_names[static_cast<std::size_t>(report.algorithm)],
                                      report.graph.vertices, report.graph.edges),
                          colour) +
                     "\n";
  Rows rows;
  if (report.device) {
    rows.push_back({"  device", report.device->name});
  }
  rows.push_back({"  strategy",
                  fmt::format("{}: {}", compiler::strategy_names[static_cast<std::size_t>(report.strategy)],
                              report.strategy_reason)});
  if (report.profile_file) {
    rows.push_back({"  profile", *report.profile_file});
  }
  rows.push_back({"  memory", fmt::format("{}{}", bytes_text(report.memory.bytes),
                                          report.memory.constrained ? ", memory_constrained" : "")});
  if (report.status == run::RunStatus::planned) {
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
    rows.push_back({"  replay", fmt::format("{} of {} choices made again by the host", report.replay->agreed,
                                            report.replay->waves)});
  }
  if (report.comparison) {
    rows.push_back({"  compared", times_text(*report.comparison)});
  }
  add_written(report.files_written, rows);
  for (const run::StuckGroup& stuck : report.stuck_groups) {
    rows.push_back({"  stuck", fmt::format("work-group {} behind wave {}: {} are {}, not {}", stuck.group,
                                           stuck.iteration, stuck.counter, stuck.seen, stuck.expected)});
  }
  return text + render_table(rows) + render_table(stretches(report.waves));
}

} // namespace tidegate::commands
