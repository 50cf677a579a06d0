// `tidegate compare`: two reports of runs next to each other; and texts of measured speeds.
#include "app/run.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::app {
namespace {

std::string factor_text(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 100 ? 2 : 0);
}

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", factor_text(low), factor_text(high));
}

using documents::ComparedNumber;
using documents::ReportComparison;
using ReportJson = nlohmann::json;

// A report is read as JSON, key by key: one of another minor version lacks keys, and may have more.
// Texts are compared by the names of their rows, numbers by their keys.
constexpr std::array<std::pair<const char*, const char*>, 8> text_keys{
    {{"program", "/program"},
     {"status", "/status"},
     {"device", "/device/name"},
     {"driver", "/device/driver_version"},
     {"strategy", "/strategy"},
     {"execution_mode", "/telemetry/execution_mode"},
     {"promoted", "/promotion/promoted"},
     {"algorithm", "/algorithm"}}};
// The numbers of the report and of its objects; blanks separate the keys.
constexpr std::array<std::pair<const char*, const char*>, 7> number_keys{
    {{"", "wall_time_ns build_ns backend_dispatch_ns iterations"},
     {"/telemetry", "kernel_launches sync_points bytes_uploaded bytes_read_back"},
     {"/effective_geometry", "worker_groups workgroup_size"},
     {"/memory", "arena_bytes"},
     {"/wave_times", "critical_path_ns synchronization_ns"},
     {"/graph", "vertices edges"},
     {"/summary", "waves"}}};

const ReportJson& value_in(const ReportJson& report, const std::string& pointer) {
  static const ReportJson missing = ReportJson::array();
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

void add_number(std::string name, std::optional<double> a, std::optional<double> b,
                std::vector<ComparedNumber>& numbers) {
  if (a || b) {
    numbers.push_back({.name = std::move(name),
                       .a = a,
                       .b = b,
                       .ratio = a && b && *a != 0 ? std::optional(*b / *a) : std::nullopt});
  }
}

Result<ReportJson> read_compared(const std::string& file) {
  TIDEGATE_TRY(const std::string json, read_document(file));
  const auto at = [&](Error error) { return at_document(std::move(error), file, json); };
  TIDEGATE_TRY(const Head head, head_of(json).map_error(at));
  const documents::Document& waves = documents::DocumentOf<engine::RunReport>::document;
  const documents::Document& frontier = documents::DocumentOf<traversal::FrontierReport>::document;
  ReportJson report = ReportJson::parse(json, nullptr, false);
  const bool of_run = head.kind == waves.kind || head.kind == frontier.kind;
  if (!of_run || value_at<double>(report, "/schema_version") != waves.schema_version) {
    return tl::unexpected(Error{.code = of_run ? ErrorCode::unsupported_version : ErrorCode::wrong_kind,
                                .message = fmt::format("this is no {} or {} of schema_version {}", waves.kind,
                                                       frontier.kind, waves.schema_version),
                                .fix = "give two reports of `tidegate run`",
                                .source = display_name(file)});
  }
  return report;
}

// Adds the nanoseconds of an execution of each wave in the mean, in the order of the first report.
void add_waves(const ReportJson& a, const ReportJson& b, std::vector<ComparedNumber>& waves) {
  std::vector<std::string> names;
  std::map<std::string, std::array<std::optional<double>, 2>> times;
  for (const ReportJson* const report : {&a, &b}) {
    for (const ReportJson& wave : value_in(*report, "/wave_times/waves")) {
      const std::string name = value_at<std::string>(wave, "/waves").value_or("?");
      const auto [found, is_new] = times.try_emplace(name);
      if (is_new) {
        names.push_back(name);
      }
      std::optional<double>& time = found->second[report == &a ? 0 : 1];
      time = time.value_or(value_at<double>(wave, "/time_ns").value_or(0) /
                           std::max(1.0, value_at<double>(wave, "/executions").value_or(1)));
    }
  }
  for (const std::string& name : names) {
    add_number(name, times[name][0], times[name][1], waves);
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

std::string value_text(std::string_view name, std::optional<double> value) {
  const bool bytes = name.starts_with("bytes") || name.ends_with("_bytes");
  return !value                  ? "-"
         : name.ends_with("_ns") ? short_time_text(*value)
         : bytes                 ? bytes_text(static_cast<std::uint64_t>(*value))
                                 : fmt::format("{:.0f}", *value);
}

std::string comparison_table(const ReportComparison& made, bool colour) {
  const std::string text = made.speed ? bold("B: " + speed_text(*made.speed, "A"), colour) + '\n' : "";
  TableRows rows{{"", "A", "B", "B / A"}, {"  report", made.a, made.b, ""}};
  for (const documents::ComparedText& pair : made.texts) {
    rows.push_back(
        {"  " + pair.name, pair.a.value_or("-"), pair.a == pair.b ? "the same" : pair.b.value_or("-"), ""});
  }
  const auto add = [&rows](std::string name, std::string_view unit, const ComparedNumber& pair) {
    rows.push_back({"  " + name, value_text(unit, pair.a), value_text(unit, pair.b),
                    pair.ratio ? fmt::format("{:.3g}", *pair.ratio) : ""});
  };
  for (const ComparedNumber& pair : made.numbers) {
    std::string name = pair.name.ends_with("_ns") ? pair.name.substr(0, pair.name.size() - 3) : pair.name;
    std::ranges::replace(name, '_', ' ');
    add(std::move(name), pair.name, pair);
  }
  for (const ComparedNumber& wave : made.waves) {
    add(wave.name, "_ns", wave);
  }
  return text + render_table(rows);
}

// 5% or 5 as 0.05.
Result<double> read_percent(const std::string& text) {
  const auto percent = number_in<double>(text.ends_with('%') ? text.substr(0, text.size() - 1) : text);
  if (!percent || !(*percent >= 0 && *percent <= 1000)) {
    return tl::unexpected(
        Error{.message = fmt::format("{} is not a percentage such as 5%", in_quotes(text))});
  }
  return *percent / 100;
}

struct CompareSettings {
  std::vector<std::string> reports;
  std::optional<double> fail_slower;
  std::string_view format{};
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
  ReportComparison made{.a = a_file, .b = b_file, .speed = {}, .texts = {}, .numbers = {}, .waves = {}};
  for (const auto& [name, pointer] : text_keys) {
    if (const auto in_a = value_at<std::string>(a, pointer), in_b = value_at<std::string>(b, pointer);
        in_a || in_b) {
      made.texts.push_back({.name = name, .a = in_a, .b = in_b});
    }
  }
  for (const auto& [object, keys] : number_keys) {
    for (const std::string& key : words_in(keys, ' ')) {
      const std::string pointer = fmt::format("{}/{}", object, key);
      add_number(key, value_at<double>(a, pointer), value_at<double>(b, pointer), made.numbers);
    }
  }
  const auto iteration_ns = [](const ReportJson& report) -> std::optional<double> {
    const auto dispatch = value_at<double>(report, "/backend_dispatch_ns");
    const auto iterations = value_at<double>(report, "/iterations");
    return dispatch && iterations && *iterations != 0 ? std::optional(*dispatch / *iterations) : std::nullopt;
  };
  add_number("iteration_ns", iteration_ns(a), iteration_ns(b), made.numbers);
  add_waves(a, b, made.waves);
  const auto program_a = value_at<std::string>(a, "/program"),
             program_b = value_at<std::string>(b, "/program");
  const bool one_program = may_be_one_program(program_a, program_b);
  const bool same_work = one_program && workload_of(a) == workload_of(b); // times of other work say nothing
  made.speed = same_work ? speed_of(a, b) : std::nullopt;
  if (settings.fail_slower && !made.speed) {
    return same_work ? misuse("--fail-slower needs two reports with enough rounds to compare",
                              "make both with `tidegate run --compare 9 -o FILE`")
                     : misuse(fmt::format("the baseline timed other work: {}; this run: {}",
                                          one_program ? workload_of(a) : *program_a,
                                          one_program ? workload_of(b) : *program_b),
                              "give the report of this program with the same sizes, on this device");
  }
  TIDEGATE_TRY(const ExitCode written,
               write_document(settings.output, settings.format, made, comparison_table));
  if (settings.fail_slower && made.speed->verdict == SpeedVerdict::slower) {
    const double longer = 1 / made.speed->speedup - 1;
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

CommandModel compare_command() {
  const auto settings = std::make_shared<CompareSettings>();
  return {
      .options = {option("--fail-slower", ValueKind<double>{"PERCENT", read_percent}, settings->fail_slower,
                         "Exit with 1 if B is slower than A by more, such as 5%"),
                  format_option(settings->format), output_option(settings->output)},
      .positionals = {option("", as_file("A B..."), settings->reports,
                             "Two reports of tidegate run, the earlier one first")},
      .examples =
          {{"Which wave became slower:",
            "tidegate run examples/programs/heat/program.json --by-wave -o a.json && tidegate run "
            "examples/programs/heat/program.json --strategy barrier --by-wave -o b.json && tidegate compare "
            "a.json b.json --format table"}},
      .run = [settings] { return run_compare(*settings); }};
}

} // namespace tidegate::app
