// `tidegate compare`: two reports of runs next to each other.
#include "app/command_line.hpp"
#include "app/documents.hpp"
#include "app/options.hpp"
#include "app/serve.hpp"
#include "app/speed.hpp"
#include "core/duration.hpp"
#include "core/table.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

using documents::ComparedNumber;
using documents::ComparedText;
using documents::ReportComparison;

// The compared parts of a report of either kind.
struct Report {
  std::vector<std::pair<std::string_view, std::string>> texts;
  std::vector<std::pair<std::string_view, double>> numbers;
  std::vector<std::pair<std::string, double>> waves; // mean ns of an execution, by wave
  std::vector<std::string> topologies;               // of each wave of a graph program
  std::optional<Timings> timings;
};

void add_head(const engine::ReportHead& head, Report& report) {
  report.texts = {{"status", std::string(engine::run_status_names[static_cast<std::size_t>(head.status)])},
                  {"device", head.device ? head.device->name : "none"},
                  {"driver", head.device ? head.device->driver_version : "none"},
                  {"strategy", std::string(engine::strategy_names[static_cast<std::size_t>(head.strategy)])}};
  report.numbers = {{"wall_time_ns", head.wall_time_ns},
                    {"build_ns", head.build_ns},
                    {"backend_dispatch_ns", head.dispatch_ns},
                    {"kernel_launches", head.telemetry.kernel_launches},
                    {"sync_points", head.telemetry.sync_points},
                    {"bytes_uploaded", head.telemetry.bytes_uploaded},
                    {"bytes_read_back", head.telemetry.bytes_read_back},
                    {"worker_groups", head.geometry.worker_groups},
                    {"workgroup_size", head.geometry.workgroup_size}};
}

Report report_of(const engine::RunReport& run) {
  Report report;
  add_head(run, report);
  report.texts.emplace_back("execution_mode",
                            policy::execution_mode_names[static_cast<std::size_t>(run.mode)]);
  report.texts.emplace_back("promoted",
                            engine::promotion_names[static_cast<std::size_t>(run.promotion.promoted)]);
  report.numbers.emplace_back("iterations", run.iterations);
  report.numbers.emplace_back("iteration_ns",
                              static_cast<double>(run.dispatch_ns) /
                                  static_cast<double>(std::max<std::uint64_t>(run.iterations, 1)));
  report.numbers.emplace_back("arena_bytes", run.memory.arena_bytes);
  if (run.wave_times) {
    report.numbers.emplace_back("critical_path_ns", run.wave_times->critical_path_ns);
    report.numbers.emplace_back("synchronization_ns", run.wave_times->synchronization_ns);
    for (const engine::WaveTime& wave : run.wave_times->waves) {
      report.waves.emplace_back(wave.waves,
                                static_cast<double>(wave.time_ns) /
                                    static_cast<double>(std::max<std::uint64_t>(wave.executions, 1)));
    }
  }
  report.timings = timings_of(run);
  return report;
}

Report report_of(const traversal::FrontierReport& run) {
  Report report;
  add_head(run, report);
  report.texts.emplace_back("algorithm", graphs::algorithm_names[static_cast<std::size_t>(run.algorithm)]);
  report.numbers.emplace_back("vertices", run.graph.vertices);
  report.numbers.emplace_back("edges", run.graph.edges);
  report.numbers.emplace_back("waves", run.summary.waves);
  for (const traversal::WaveRecord& wave : run.waves) {
    report.topologies.emplace_back(policy::name(wave.topology));
    if (wave.time_ns) {
      report.waves.emplace_back(fmt::format("wave {}", wave.wave), *wave.time_ns);
    }
  }
  report.timings = timings_of(run);
  return report;
}

Result<Report> read_compared(const std::string& file) {
  return read_report(file).map([](const AnyReport& report) {
    return std::visit([](const auto& run) { return report_of(run); }, report);
  });
}

// Pairs values of the same name, in the order of the first report. A value that only one report has is null for the
// other.
template <class Compared, class Values>
std::vector<Compared> paired(const Values& a, const Values& b) {
  std::vector<Compared> pairs;
  for (const auto& [name, value] : a) {
    pairs.push_back({.name = std::string(name), .a = value});
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto& [name, value] = b[i];
    const bool same_place = i < pairs.size() && pairs[i].name == name;
    const auto at = same_place ? pairs.begin() + static_cast<std::ptrdiff_t>(i)
                               : std::ranges::find(pairs, std::string(name), &Compared::name);
    if (at == pairs.end()) {
      pairs.push_back({.name = std::string(name), .b = value});
    } else {
      at->b = value;
    }
  }
  return pairs;
}

void add_ratios(std::vector<ComparedNumber>& numbers) {
  for (ComparedNumber& number : numbers) {
    if (number.a && number.b && *number.a != 0) {
      number.ratio = *number.b / *number.a;
    }
  }
}

// The comparison of two reports, and the error of --fail-slower.
struct Compared {
  ReportComparison made;
  std::optional<Error> slower;
};

Result<Compared> compare(const std::string& a_file, const std::string& b_file,
                         std::optional<double> fail_slower) {
  TIDEGATE_TRY(const Report a, read_compared(a_file));
  TIDEGATE_TRY(const Report b, read_compared(b_file));
  ReportComparison made{.a = a_file,
                        .b = b_file,
                        .texts = paired<ComparedText>(a.texts, b.texts),
                        .numbers = paired<ComparedNumber>(a.numbers, b.numbers),
                        .waves = paired<ComparedNumber>(a.waves, b.waves)};
  add_ratios(made.numbers);
  add_ratios(made.waves);
  for (std::size_t i = 0; i < std::min({made.waves.size(), a.topologies.size(), b.topologies.size()}); ++i) {
    if (ComparedNumber& wave = made.waves[i]; wave.a && wave.b) {
      wave.a_topology = a.topologies[i];
      wave.b_topology = b.topologies[i];
    }
  }
  if (a.timings && b.timings) {
    made.speed = against_baseline(*b.timings, *a.timings, a_file);
  }
  Compared compared{.made = std::move(made), .slower = {}};
  if (fail_slower) {
    if (!compared.made.speed) {
      return failure(ErrorCode::invalid_usage,
                     "--fail-slower needs two reports with enough rounds to compare",
                     "make both with `tidegate run --compare 9 -o FILE`");
    }
    TIDEGATE_CHECK(refuse_other_work(*b.timings, *a.timings));
    compared.slower = slower_than_baseline(*compared.made.speed, *fail_slower);
  }
  return compared;
}

std::string value_text(std::string_view name, std::optional<double> value) {
  if (!value) {
    return "-";
  }
  return name.ends_with("_ns") ? short_time_text(*value)
         : name.starts_with("bytes") || name.ends_with("_bytes")
             ? bytes_text(static_cast<std::uint64_t>(*value))
             : fmt::format("{:.0f}", *value);
}

std::string ratio_text(const ComparedNumber& number) {
  return number.ratio ? fmt::format("{:.3g}", *number.ratio) : "";
}

// Combines consecutive waves with the same topologies into one row, because a traversal may have thousands of waves.
std::vector<ComparedNumber> stretches(const std::vector<ComparedNumber>& waves) {
  std::vector<ComparedNumber> rows;
  for (std::size_t first = 0; first < waves.size();) {
    ComparedNumber row = waves[first];
    std::size_t end = first + 1;
    for (; row.a_topology && end < waves.size() && waves[end].a_topology == row.a_topology &&
           waves[end].b_topology == row.b_topology;
         ++end) {
      row.a = *row.a + *waves[end].a;
      row.b = *row.b + *waves[end].b;
    }
    if (row.a_topology) {
      row.name =
          fmt::format("{}: {}{}", end - first == 1 ? row.name : fmt::format("waves {} to {}", first, end - 1),
                      *row.a_topology, row.a_topology == row.b_topology ? "" : " / " + *row.b_topology);
    }
    rows.push_back(std::move(row));
    first = end;
  }
  add_ratios(rows);
  return rows;
}

std::string comparison_table(const ReportComparison& made, bool colour) {
  std::string text;
  if (made.speed) {
    text = bold("B: " + speed_text(*made.speed, "A"), colour) + '\n';
  }
  std::vector<std::vector<std::string>> rows{{"", "A", "B", "B / A"}, {"  report", made.a, made.b, ""}};
  for (const ComparedText& pair : made.texts) {
    rows.push_back(
        {"  " + pair.name, pair.a.value_or("-"), pair.a == pair.b ? "the same" : pair.b.value_or("-"), ""});
  }
  for (const ComparedNumber& pair : made.numbers) {
    std::string name = pair.name.ends_with("_ns") ? pair.name.substr(0, pair.name.size() - 3) : pair.name;
    std::ranges::replace(name, '_', ' ');
    rows.push_back(
        {"  " + name, value_text(pair.name, pair.a), value_text(pair.name, pair.b), ratio_text(pair)});
  }
  for (const ComparedNumber& wave : stretches(made.waves)) {
    rows.push_back(
        {"  " + wave.name, value_text("_ns", wave.a), value_text("_ns", wave.b), ratio_text(wave)});
  }
  return text + render_table(rows);
}

} // namespace

CommandModel compare_command() {
  struct Settings {
    std::vector<std::string> reports;
    std::optional<double> fail_slower;
    std::string_view format{};
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  return {
      .options = {percent_option("--fail-slower", settings->fail_slower,
                                 "Exit with 1 if B is slower than A by more, such as 5%"),
                  format_option(settings->format), output_option(settings->output)},
      .positionals = {files_positional("A B...", settings->reports,
                                       "Two reports of tidegate run, the earlier one first")},
      .examples =
          {{"Which wave became slower:",
            "tidegate run examples/programs/heat/program.json --by-wave -o a.json && tidegate run "
            "examples/programs/heat/program.json --strategy barrier --by-wave -o b.json && tidegate compare "
            "a.json b.json --format table"}},
      .run = [settings]() -> Result<ExitCode> {
        if (settings->reports.size() != 2) {
          return failure(ErrorCode::invalid_usage,
                         fmt::format("compare takes two reports, not {}", settings->reports.size()),
                         "name the earlier one first: tidegate compare A.json B.json");
        }
        FileUses files{.inputs = {}, .outputs = {{settings->output, "-o", {}}}};
        for (const std::string& report : settings->reports) {
          files.inputs.push_back({report, "a report", {}});
        }
        TIDEGATE_CHECK(refuse_overwriting(files));
        TIDEGATE_TRY(const Compared compared,
                     compare(settings->reports[0], settings->reports[1], settings->fail_slower));
        auto written = write_document(settings->output, settings->format, compared.made, comparison_table);
        if (written && compared.slower) {
          print_error(*compared.slower);
          return exit_code(*compared.slower);
        }
        return written;
      }};
}

} // namespace tidegate::app
