// `tidegate compare`: two reports of runs next to each other.
#include "app/documents.hpp"
#include "app/options.hpp"
#include "app/speed.hpp"
#include "core/table.hpp"
#include "engine/traversal/documents.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

using documents::ComparedNumber;
using documents::ComparedText;
using documents::ReportComparison;

// A report is read as JSON, key by key: one of another minor version lacks keys, and may have more.

// The compared values, and what their rows are called if not by their key.
struct Key {
  const char* pointer;
  std::string_view name{};
};
constexpr std::array text_keys{
    Key{"/status"},   Key{"/device/name", "device"},    Key{"/device/driver_version", "driver"},
    Key{"/strategy"}, Key{"/telemetry/execution_mode"}, Key{"/promotion/promoted"},
    Key{"/algorithm"}};
constexpr std::array number_keys{Key{"/wall_time_ns"},
                                 Key{"/build_ns"},
                                 Key{"/backend_dispatch_ns"},
                                 Key{"/telemetry/kernel_launches"},
                                 Key{"/telemetry/sync_points"},
                                 Key{"/telemetry/bytes_uploaded"},
                                 Key{"/telemetry/bytes_read_back"},
                                 Key{"/effective_geometry/worker_groups"},
                                 Key{"/effective_geometry/workgroup_size"},
                                 Key{"/iterations"},
                                 Key{"/memory/arena_bytes"},
                                 Key{"/wave_times/critical_path_ns"},
                                 Key{"/wave_times/synchronization_ns"},
                                 Key{"/graph/vertices"},
                                 Key{"/graph/edges"},
                                 Key{"/summary/waves"}};

// Returns the value at a pointer if there is one of this type.
template <class T>
std::optional<T> value_at(const nlohmann::json& report, const std::string& pointer) {
  const nlohmann::json::json_pointer at(pointer);
  if (!report.contains(at)) {
    return {};
  }
  const nlohmann::json& value = report[at];
  const bool fits = std::is_same_v<T, std::string> ? value.is_string() : value.is_number();
  return fits ? std::optional(value.get<T>()) : std::nullopt;
}

template <class T>
std::vector<std::pair<std::string, T>> values_of(const nlohmann::json& report, std::span<const Key> keys) {
  std::vector<std::pair<std::string, T>> values;
  for (const Key& key : keys) {
    const std::string_view pointer = key.pointer;
    if (auto value = value_at<T>(report, key.pointer)) {
      values.emplace_back(key.name.empty() ? pointer.substr(pointer.rfind('/') + 1) : key.name, *value);
    }
  }
  return values;
}

std::vector<double> list_at(const nlohmann::json& report, const char* pointer) {
  std::vector<double> list;
  const nlohmann::json::json_pointer at(pointer);
  if (report.contains(at) && report[at].is_array()) {
    for (const nlohmann::json& item : report[at]) {
      list.push_back(item.is_number() ? item.get<double>() : 0);
    }
  }
  return list;
}

// The compared parts of a report of either kind.
struct Report {
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<std::pair<std::string, double>> waves; // mean ns of an execution, by wave
  std::vector<std::string> topologies;               // of each wave of a graph program
  Timings timings;                                   // without rounds: it was not run with --compare
};

void add_waves(const nlohmann::json& json, Report& report) {
  const auto each = [&json](const char* list, auto add) {
    const nlohmann::json::json_pointer at(list);
    for (std::size_t i = 0; json.contains(at) && json[at].is_array() && i < json[at].size(); ++i) {
      add(json[at][i]);
    }
  };
  each("/wave_times/waves", [&](const nlohmann::json& wave) {
    report.waves.emplace_back(value_at<std::string>(wave, "/waves").value_or("?"),
                              value_at<double>(wave, "/time_ns").value_or(0) /
                                  std::max(1.0, value_at<double>(wave, "/executions").value_or(1)));
  });
  each("/waves", [&](const nlohmann::json& wave) {
    report.topologies.push_back(value_at<std::string>(wave, "/topology").value_or("?"));
    if (const auto time = value_at<double>(wave, "/time_ns")) {
      report.waves.emplace_back(fmt::format("wave {}", report.topologies.size() - 1), *time);
    }
  });
}

Result<Report> read_compared(const std::string& file) {
  TIDEGATE_TRY(const DocumentText text, read_document(file));
  const auto kind = documents::kind_of(text.json);
  if (!kind) {
    return tl::unexpected(at_document(kind.error(), file, text.json));
  }
  const documents::Document& waves = documents::DocumentOf<documents::RunReportDocument>::document;
  const documents::Document& frontier = documents::DocumentOf<traversal::FrontierReport>::document;
  const nlohmann::json json = nlohmann::json::parse(text.json, nullptr, false);
  if ((*kind != waves.kind && *kind != frontier.kind) ||
      value_at<double>(json, "/schema_version") != waves.schema_version) {
    Error error{.code = *kind == waves.kind || *kind == frontier.kind ? ErrorCode::unsupported_version
                                                                      : ErrorCode::wrong_kind,
                .message = fmt::format("this is no {} or {} of schema_version {}", waves.kind, frontier.kind,
                                       waves.schema_version),
                .fix = "give two reports of `tidegate run`",
                .source = display_name(file)};
    return tl::unexpected(std::move(error));
  }
  Report report{.texts = values_of<std::string>(json, text_keys),
                .numbers = values_of<double>(json, number_keys),
                .waves = {},
                .topologies = {},
                .timings = {}};
  const auto dispatch = value_at<double>(json, "/backend_dispatch_ns");
  const auto iterations = value_at<double>(json, "/iterations");
  if (dispatch && iterations && *iterations != 0) {
    report.numbers.emplace_back("iteration_ns", *dispatch / *iterations);
  }
  add_waves(json, report);
  report.timings.run_ns = list_at(json, "/comparison/run_rounds_ns");
  // Items, bytes and a graph's size, which other work hardly has all alike.
  for (const char* const of : {"/items_in_all", "/memory/sum_bytes", "/graph/vertices", "/graph/edges"}) {
    if (const auto value = value_at<std::uint64_t>(json, of)) {
      report.timings.workload +=
          fmt::format("{} {}, ", std::string_view(of).substr(std::string_view(of).rfind('/') + 1), *value);
    }
  }
  report.timings.workload += value_at<std::string>(json, "/algorithm").value_or("") + " on " +
                             value_at<std::string>(json, "/device/name").value_or("an unknown device");
  return report;
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
  if (a.timings.workload == b.timings.workload) { // times of other work say nothing
    made.speed = against_baseline(b.timings, a.timings, a_file);
  }
  Compared compared{.made = std::move(made), .slower = {}};
  if (fail_slower) {
    TIDEGATE_CHECK(refuse_other_work(b.timings, a.timings));
    if (!compared.made.speed) {
      return failure(ErrorCode::invalid_usage,
                     "--fail-slower needs two reports with enough rounds to compare",
                     "make both with `tidegate run --compare 9 -o FILE`");
    }
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
  TableRows rows{{"", "A", "B", "B / A"}, {"  report", made.a, made.b, ""}};
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

// 5% or 5 as 0.05.
Result<double> read_percent(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || stop != end || !(percent >= 0 && percent <= 1000)) {
    return tl::unexpected(
        Error{.message = fmt::format("{} is not a percentage such as 5%", in_quotes(text))});
  }
  return percent / 100;
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
      .options = {option("--fail-slower", "PERCENT", settings->fail_slower, read_percent,
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
