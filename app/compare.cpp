// `tidegate compare`: two reports of runs next to each other; and texts of measured speeds.
#include "app/run.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

std::string factor_text(double ratio) {
  constexpr double without_fraction = 100;
  return fmt::format("{:.{}f}", ratio, ratio < without_fraction ? 2 : 0);
}

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", factor_text(low), factor_text(high));
}

} // namespace

std::string speed_text(const runtime::Comparison& speed, std::string_view other) {
  const std::string counted = plural(speed.rounds, "round");
  const std::string ratio = factor_text(speed.speedup);
  const std::string spread = range_text(speed.speedup_low, speed.speedup_high);
  switch (speed.verdict) {
  case SpeedVerdict::faster:
    return fmt::format("{} times as fast as {} ({} with 95 % confidence, {})", ratio, other, spread, counted);
  case SpeedVerdict::slower:
    return fmt::format("takes {} times as long as {} ({} with 95 % confidence, {})",
                       factor_text(1 / speed.speedup), other,
                       range_text(1 / speed.speedup_high, 1 / speed.speedup_low), counted);
  case SpeedVerdict::no_difference:
    return fmt::format("no difference from {} is shown ({} times as fast with 95 % confidence, {})", other,
                       spread, counted);
  case SpeedVerdict::same_launches:
    return fmt::format("the same launches as {}; the difference is chance ({} times as fast, {})", other,
                       spread, counted);
  case SpeedVerdict::too_few_rounds:
    return fmt::format("{} times as fast as {} ({}; too few rounds for a verdict: {} of 6)", ratio, other,
                       spread, speed.rounds);
  }
  return {};
}

namespace {

using ReportJson = nlohmann::json;

// A report is read as JSON, key by key: one of another minor version lacks keys, and may have more.

constexpr std::string_view compared_places =
    "program status device/name device/driver_version strategy telemetry/execution_mode promotion/promoted algorithm "
    "wall_time_ns build_ns backend_dispatch_ns iterations telemetry/kernel_launches telemetry/sync_points "
    "telemetry/bytes_uploaded telemetry/bytes_read_back effective_geometry/worker_groups "
    "effective_geometry/workgroup_size memory/arena_bytes wave_times/critical_path_ns wave_times/synchronization_ns "
    "graph/vertices graph/edges summary/waves";

// Returns the value at a pointer, or null.
const ReportJson& value_in(const ReportJson& report, const std::string& pointer) {
  static const ReportJson missing;
  const ReportJson::json_pointer place(pointer);
  return report.contains(place) ? report.at(place) : missing;
}

// Returns the value at a pointer if there is one of this type.
template <class T>
std::optional<T> value_at(const ReportJson& report, const std::string& pointer) {
  const ReportJson& value = value_in(report, pointer);
  const bool fits = std::is_same_v<T, std::string> ? value.is_string() : value.is_number();
  return fits ? std::optional(value.get<T>()) : std::nullopt;
}

// `place` ends with the unit.
std::string value_text(std::string_view place, const ReportJson& value) {
  const bool bytes = place.ends_with("_bytes") || place.find("/bytes_") != place.npos;
  return value.is_string()        ? value.get<std::string>()
         : !value.is_number()     ? "-"
         : place.ends_with("_ns") ? short_time_text(value.get<double>())
         : bytes                  ? bytes_text(value.get<std::uint64_t>())
                                  : fmt::format("{:.0f}", value.get<double>());
}

// Adds a row of two values, unless neither report has one.
void add_pair(std::string name, std::string_view place, const ReportJson& a, const ReportJson& b,
              TableRows& rows) {
  if (a.is_null() && b.is_null()) {
    return;
  }
  const bool ratio = a.is_number() && b.is_number() && a != 0;
  rows.push_back({"  " + std::move(name), value_text(place, a),
                  a.is_string() && a == b ? "the same" : value_text(place, b),
                  ratio ? fmt::format("{:.3g}", b.get<double>() / a.get<double>()) : ""});
}

Result<ReportJson> read_compared(const std::string& file) {
  TIDEGATE_TRY(const DocumentText text, read_document(file));
  const auto kind = documents::kind_of(text.json);
  if (!kind) {
    return tl::unexpected(at_document(kind.error(), file, text));
  }
  const documents::Document& waves = documents::DocumentOf<engine::RunReport>::document;
  const documents::Document& frontier = documents::DocumentOf<traversal::FrontierReport>::document;
  ReportJson report = ReportJson::parse(text.json, nullptr, false);
  const bool of_run = *kind == waves.kind || *kind == frontier.kind;
  if (!of_run || value_at<double>(report, "/schema_version") != waves.schema_version) {
    return tl::unexpected(Error{.code = of_run ? ErrorCode::unsupported_version : ErrorCode::wrong_kind,
                                .message = fmt::format("this is no {} or {} of schema_version {}", waves.kind,
                                                       frontier.kind, waves.schema_version),
                                .fix = "give two reports of `tidegate run`",
                                .source = display_name(file)});
  }
  return report;
}

// Adds the time of an execution of each wave in the mean, in the order of the first report.
void add_waves(const ReportJson& a, const ReportJson& b, TableRows& rows) {
  std::vector<std::string> names;
  std::map<std::string, std::array<ReportJson, 2>> times;
  for (const std::size_t i : {0U, 1U}) {
    for (const ReportJson& wave : value_in(i == 0 ? a : b, "/wave_times/waves")) {
      const std::string name = value_at<std::string>(wave, "/waves").value_or("?");
      const auto [found, is_new] = times.try_emplace(name);
      if (is_new) {
        names.push_back(name);
      }
      found->second[i] = value_at<double>(wave, "/time_ns").value_or(0) /
                         std::max(1.0, value_at<double>(wave, "/executions").value_or(1));
    }
  }
  for (const std::string& name : names) {
    add_pair(name, "_ns", times[name][0], times[name][1], rows);
  }
}

// Items, bytes, and the size and algorithm of a graph, which other work hardly has all alike, and the device.
std::string workload_of(const ReportJson& report) {
  std::string text;
  for (const char* const of : {"/items_in_all", "/memory/sum_bytes", "/graph/vertices", "/graph/edges"}) {
    if (const auto value = value_at<std::uint64_t>(report, of)) {
      text += fmt::format("{} {}, ", std::strrchr(of, '/') + 1, *value);
    }
  }
  const std::string algorithm = value_at<std::string>(report, "/algorithm").value_or("waves");
  return text + value_at<std::string>(report, "/source").value_or(algorithm) + " on " +
         value_at<std::string>(report, "/device/name").value_or("an unknown device");
}

// Returns true unless both reports name a program, and neither path is the end of the other: a run may be started in another
// folder.
bool may_be_one_program(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  const std::string one = '/' + a.value_or(""), other = '/' + b.value_or("");
  return !a || !b || one.ends_with(other) || other.ends_with(one);
}

// Compares the rounds of both reports; returns nothing if there are too few for an interval.
std::optional<runtime::Comparison> speed_of(const ReportJson& a, const ReportJson& b) {
  const auto rounds_of = [](const ReportJson& report) {
    std::vector<double> ns;
    for (const ReportJson& round : value_in(report, "/comparison/run_rounds_ns")) {
      ns.push_back(round.is_number() ? round.get<double>() : 0);
    }
    return ns;
  };
  const std::vector<double> earlier = rounds_of(a);
  const RatioEstimate estimated = unpaired_ratio(rounds_of(b), earlier);
  if (!estimated.certain) {
    return {};
  }
  return runtime::Comparison{.rounds = earlier.size(),
                             .run_ns = median(earlier),
                             .speedup = estimated.ratio,
                             .speedup_low = estimated.low,
                             .speedup_high = estimated.high,
                             .verdict = verdict_of(estimated)};
}

std::string comparison_table(const std::array<std::string, 2>& files, const ReportJson& a,
                             const ReportJson& b) {
  TableRows rows{{"", "A", "B", "B / A"}, {"  report", files[0], files[1], ""}};
  for (const std::string& place : words_in(compared_places, ' ')) {
    std::string name = place.ends_with("_ns") ? place.substr(0, place.size() - 3) : place;
    std::ranges::replace_if(
        name, [](char c) { return c == '_' || c == '/'; }, ' ');
    add_pair(std::move(name), '/' + place, value_in(a, '/' + place), value_in(b, '/' + place), rows);
  }
  const auto iteration_ns = [](const ReportJson& report) {
    const auto dispatch = value_at<double>(report, "/backend_dispatch_ns");
    const auto iterations = value_at<double>(report, "/iterations");
    return dispatch && iterations.value_or(0) != 0 ? ReportJson(*dispatch / *iterations) : ReportJson();
  };
  add_pair("iteration", "_ns", iteration_ns(a), iteration_ns(b), rows);
  add_waves(a, b, rows);
  return render_table(rows);
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

struct CompareSettings {
  std::vector<std::string> reports;
  std::optional<double> fail_slower;
  std::string output = "-";
};

Result<ExitCode> run_compare(const CompareSettings& settings) {
  if (settings.reports.size() != 2) {
    return misuse(fmt::format("compare takes two reports, not {}", settings.reports.size()),
                  "name the earlier one first: tidegate compare A.json B.json");
  }
  const std::string &a_file = settings.reports[0], &b_file = settings.reports[1];
  TIDEGATE_CHECK(refuse_overwriting(FileUses{.inputs = {{a_file, "a report", {}}, {b_file, "a report", {}}},
                                             .outputs = {{settings.output, "-o", {}}}}));
  TIDEGATE_TRY(const ReportJson a, read_compared(a_file));
  TIDEGATE_TRY(const ReportJson b, read_compared(b_file));
  const auto program_a = value_at<std::string>(a, "/program"),
             program_b = value_at<std::string>(b, "/program");
  const bool one_program = may_be_one_program(program_a, program_b);
  const bool same_work = one_program && workload_of(a) == workload_of(b); // times of other work say nothing
  const auto speed = same_work ? speed_of(a, b) : std::nullopt;
  if (settings.fail_slower && !same_work) {
    return misuse(fmt::format("the baseline timed other work: {}; this run: {}",
                              one_program ? workload_of(a) : *program_a,
                              one_program ? workload_of(b) : *program_b),
                  "give the report of this program with the same sizes, on this device");
  }
  if (settings.fail_slower && !speed) {
    return misuse("--fail-slower needs two reports with enough rounds to compare",
                  "make both with `tidegate run --compare 9 -o FILE`");
  }
  const std::string headline =
      speed ? bold("B: " + speed_text(*speed, "A"), use_colour(settings.output)) + '\n' : "";
  TIDEGATE_TRY(const ExitCode written,
               write_text(settings.output, headline + comparison_table({a_file, b_file}, a, b)));
  if (settings.fail_slower && speed->verdict == SpeedVerdict::slower) {
    const double longer = 1 / speed->speedup - 1;
    if (longer > *settings.fail_slower) {
      return failure(ErrorCode::slower_than_baseline,
                     fmt::format("the run takes {:.1f} % longer than that of {}, more than {:.1f} %",
                                 100 * longer, in_quotes(a_file), 100 * *settings.fail_slower),
                     "look at what both reports say of `comparison`; the outputs were written");
    }
  }
  return written;
}

} // namespace

CommandModel compare_command() {
  const auto settings = std::make_shared<CompareSettings>();
  return {
      .options = {option("--fail-slower", "PERCENT", settings->fail_slower, read_percent,
                         "Exit with 1 if B is slower than A by more, such as 5%"),
                  output_option(settings->output, {"txt"})},
      .positionals = {positional(
          "A B...",
          file_option("", settings->reports, "Two reports of tidegate run, the earlier one first"))},
      .examples =
          {{"Which wave became slower:",
            "tidegate run examples/programs/heat/program.json --by-wave -o a.json && tidegate run "
            "examples/programs/heat/program.json --strategy barrier --by-wave -o b.json && tidegate compare "
            "a.json b.json"}},
      .run = [settings] { return run_compare(*settings); }};
}

} // namespace tidegate::app
