#include "app/report_page.hpp"

#include "core/json_text.hpp"
#include <tidegate/core/encode.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace tidegate::app {
namespace {

using engine::Lane;

using documents::JsonWriter;

// Writes an array; `write` writes each item.
template <class List, class Write>
void list(JsonWriter& json, std::string_view key, const List& items, Write write) {
  json.key(key);
  json.open('[');
  for (const auto& item : items) {
    write(item);
  }
  json.close(']');
}

template <class List>
void list(JsonWriter& json, std::string_view key, const List& items) {
  list(json, key, items, [&json](const auto& item) { json.value(item); });
}

void write_program(const engine::ProgramSummary& program, JsonWriter& json) {
  json.open('{');
  list(json, "waves", program.waves, [&](const engine::WaveSummary& wave) {
    json.open('{');
    json.member("name", wave.name);
    json.member("text", wave.text);
    json.member("op", wave.op);
    json.member("phase", engine::section_names[static_cast<std::size_t>(wave.section)]);
    json.member("tiles", wave.tiles);
    json.close('}');
  });
  list(json, "windows", program.windows, [&](const engine::WindowSummary& window) {
    json.open('{');
    json.member("text", window.text);
    list(json, "waves", window.waves);
    json.close('}');
  });
  list(json, "dependencies", program.dependencies, [&](const engine::ResolvedDependency& dependency) {
    json.open('[');
    json.value(dependency.before);
    json.value(dependency.after);
    json.close(']');
  });
  json.member("derived", program.derived);
  list(json, "buffers", program.buffers, [&](const engine::BufferSummary& buffer) {
    json.open('{');
    json.member("name", buffer.name);
    json.member("bytes", buffer.bytes);
    json.member("place", engine::memory_kind_names[static_cast<std::size_t>(buffer.memory)]);
    json.member("offset", buffer.offset);
    json.member("lower", buffer.alive.lower);
    json.member("upper", buffer.alive.upper);
    json.close('}');
  });
  json.member("most_iterations", program.most_iterations);
  json.member("budget_bytes", program.budget_bytes);
  json.member("budget_given", program.budget_given);
  list(json, "reasons", program.reasons, [&](const policy::TraceStep& step) {
    json.open('[');
    json.value(step.step);
    json.value(step.outcome);
    json.value(step.because);
    json.close(']');
  });
  json.close('}');
}

// Writes nine numbers for each span. Two are differences from the previous span: the begin counts from its end, the iteration
// from its iteration.
void write_lanes(std::string_view key, const std::vector<Lane>& lanes, JsonWriter& json) {
  list(json, key, lanes, [&](const Lane& lane) {
    json.open('{');
    json.member("name", lane.name);
    std::uint64_t end = 0;
    std::int64_t iteration = 0;
    list(json, "spans", lane.spans, [&](const engine::TimelineSpan& span) {
      json.value(static_cast<int>(span.kind));
      json.value(span.name);
      json.value(static_cast<std::int64_t>(span.begin_ns) - static_cast<std::int64_t>(end));
      json.value(span.end_ns - span.begin_ns);
      json.value(static_cast<std::int64_t>(span.iteration) - iteration);
      json.value(span.stage ? static_cast<std::int64_t>(*span.stage) : -1);
      const engine::TileRun tiles = span.tiles.value_or(engine::TileRun{});
      json.value(tiles.first);
      json.value(tiles.step);
      json.value(tiles.count);
      end = span.end_ns;
      iteration = span.iteration;
    });
    json.close('}');
  });
}

void write_timeline(const engine::Timeline& timeline, JsonWriter& json) {
  json.open('{');
  json.member("clock", engine::device_clock_names[static_cast<std::size_t>(timeline.clock)]);
  json.member("left_out", timeline.left_out);
  json.key("until_met_ns");
  timeline.until_met_ns ? json.value(*timeline.until_met_ns) : json.verbatim("null");
  list(json, "kinds", engine::span_kind_names);
  list(json, "names", timeline.names);
  write_lanes("measured", timeline.measured, json);
  write_lanes("planned", timeline.planned, json);
  list(json, "arrows", timeline.arrows, [&](const engine::Arrow& arrow) { // five numbers each
    json.value(arrow.from_lane);
    json.value(arrow.from_ns);
    json.value(arrow.to_lane);
    json.value(arrow.to_ns);
    json.value(arrow.name);
  });
  json.close('}');
}

} // namespace

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with('<')) {
      safe += "\\u003c";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) { // line ends in older JavaScript
      safe += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += json[i];
    }
  }
  return safe;
}

// `document` contains `report`. `program` is null for a graph program.
template <class Document>
static std::string data_of(const Document& document, const engine::ReportHead& report,
                           const engine::ProgramSummary* program, const PageOrigin& origin) {
  std::string text;
  JsonWriter json(text);
  json.open('{');
  json.member("program_file", origin.program);
  list(json, "command", origin.command);
  json.member("version", origin.version);
  json.key("report");
  json.verbatim(documents::encode(document, documents::Style::compact));
  json.key("program");
  program == nullptr ? json.verbatim("null") : write_program(*program, json);
  json.key("timeline");
  report.timeline ? write_timeline(*report.timeline, json) : json.verbatim("null");
  json.close('}');
  return text;
}

std::string page_data(const documents::RunReportDocument& document, const PageOrigin& origin) {
  return data_of(document, document.report, &document.report.program, origin);
}

std::string page_data(const traversal::FrontierReport& report, const PageOrigin& origin) {
  return data_of(report, report, nullptr, origin);
}

std::string report_page(std::string_view given) {
  const std::string data = script_safe(given);
  const std::array<std::pair<std::string_view, std::string_view>, 3> parts{
      {{"{{style}}", page_style()}, {"{{data}}", data}, {"{{script}}", page_script()}}};
  std::string page;
  std::string_view rest = page_html();
  for (const auto& [mark, part] : parts) { // in the order in which the page has them
    const std::size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += part;
    rest.remove_prefix(at + mark.size());
  }
  return page += rest;
}

} // namespace tidegate::app
