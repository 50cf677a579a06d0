#include "app/report_page.hpp"

#include "core/json_text.hpp"
#include <tidegate/core/encode.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

namespace tidegate::commands {
namespace {

using engine::Lane;
using engine::TimelineSpan;

// JSON as a text that grows; lists are written element by element.
class DataWriter {
public:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(json_), format, std::forward<T>(values)...);
  }
  void add_string(std::string_view text) { documents::append_string(json_, text); }

  template <class List, class Write>
  void add_list(const List& list, Write write) {
    json_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      json_ += i == 0 ? "" : ",";
      write(list[i]);
    }
    json_ += ']';
  }
  void add_strings(const std::vector<std::string>& list) {
    add_list(list, [this](const std::string& text) { add_string(text); });
  }

  std::string take() { return std::move(json_); }

private:
  std::string json_;
};

void add_program(const engine::ProgramSummary& program, DataWriter& data) {
  data.add(R"({{"waves":)");
  data.add_list(program.waves, [&](const engine::WaveSummary& wave) {
    data.add(R"({{"name":)");
    data.add_string(wave.name);
    data.add(R"(,"text":)");
    data.add_string(wave.text);
    data.add(R"(,"op":)");
    data.add_string(wave.op);
    data.add(R"(,"phase":"{}","tiles":{}}})", engine::wave_phase_names[static_cast<std::size_t>(wave.phase)],
             wave.tiles);
  });
  data.add(R"(,"windows":)");
  data.add_list(program.windows, [&](const engine::WindowSummary& window) {
    data.add(R"({{"text":)");
    data.add_string(window.text);
    data.add(R"(,"waves":)");
    data.add_list(window.waves, [&](std::uint32_t wave) { data.add("{}", wave); });
    data.add("}}");
  });
  data.add(R"(,"dependencies":)");
  data.add_list(program.dependencies, [&](const engine::ResolvedDependency& dependency) {
    data.add("[{},{}]", dependency.before, dependency.after);
  });
  data.add(R"(,"derived":{},"buffers":)", program.derived);
  data.add_list(program.buffers, [&](const engine::BufferSummary& buffer) {
    data.add(R"({{"name":)");
    data.add_string(buffer.name);
    data.add(R"(,"bytes":{},"place":"{}","offset":{},"lower":{},"upper":{}}})", buffer.bytes,
             engine::buffer_place_names[static_cast<std::size_t>(buffer.place)], buffer.offset,
             buffer.alive.lower, buffer.alive.upper);
  });
  data.add(R"(,"most_iterations":{},"budget_bytes":{},"budget_given":{},"reasons":)", program.most_iterations,
           program.budget_bytes, program.budget_given);
  data.add_list(program.reasons, [&](const policy::TraceStep& step) {
    data.add_list(std::array{step.step, step.outcome, step.because},
                  [&](const std::string& text) { data.add_string(text); });
  });
  data.add("}}");
}

// Nine numbers a span, those that grow as steps from the span before: its begin from that one's end.
void add_spans(const std::vector<TimelineSpan>& spans, DataWriter& data) {
  std::uint64_t end = 0;
  std::int64_t iteration = 0;
  data.add_list(spans, [&](const TimelineSpan& span) {
    data.add("{},{},{},{},{},{}", static_cast<int>(span.kind), span.name,
             static_cast<std::int64_t>(span.begin_ns) - static_cast<std::int64_t>(end),
             span.end_ns - span.begin_ns, static_cast<std::int64_t>(span.iteration) - iteration,
             span.stage ? static_cast<std::int64_t>(*span.stage) : -1);
    const engine::TileRun tiles = span.tiles.value_or(engine::TileRun{});
    data.add(",{},{},{}", tiles.first, tiles.step, tiles.count);
    end = span.end_ns;
    iteration = span.iteration;
  });
}

void add_lanes(const std::vector<Lane>& lanes, DataWriter& data) {
  data.add_list(lanes, [&](const Lane& lane) {
    data.add(R"({{"name":)");
    data.add_string(lane.name);
    data.add(R"(,"spans":)");
    add_spans(lane.spans, data);
    data.add("}}");
  });
}

void add_timeline(const engine::Timeline& timeline, DataWriter& data) {
  data.add(R"({{"clock":"{}","left_out":{},"until_met_ns":)",
           engine::device_clock_names[static_cast<std::size_t>(timeline.clock)], timeline.left_out);
  timeline.until_met_ns ? data.add("{}", *timeline.until_met_ns) : data.add("null");
  data.add(R"(,"kinds":)");
  data.add_list(engine::span_kind_names, [&](std::string_view name) { data.add_string(name); });
  data.add(R"(,"names":)");
  data.add_strings(timeline.names);
  data.add(R"(,"measured":)");
  add_lanes(timeline.measured, data);
  data.add(R"(,"planned":)");
  add_lanes(timeline.planned, data);
  data.add(R"(,"arrows":)"); // five numbers each
  data.add_list(timeline.arrows, [&](const engine::Arrow& arrow) {
    data.add("{},{},{},{},{}", arrow.from_lane, arrow.from_ns, arrow.to_lane, arrow.to_ns, arrow.name);
  });
  data.add("}}");
}

} // namespace

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with('<')) {
      safe += "\\u003c";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) { // ends of lines to older scripts
      safe += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += json[i];
    }
  }
  return safe;
}

std::string page_data(const documents::RunReportDocument& document, const PageOrigin& origin) {
  DataWriter data;
  data.add(R"({{"program_file":)");
  data.add_string(origin.program);
  data.add(R"(,"command":)");
  data.add_strings(origin.command);
  data.add(R"(,"version":)");
  data.add_string(origin.version);
  data.add(R"(,"report":{},"program":)", documents::encode(document, documents::Style::compact));
  add_program(document.report.program, data);
  data.add(R"(,"timeline":)");
  if (document.report.timeline) {
    add_timeline(*document.report.timeline, data);
  } else {
    data.add("null");
  }
  data.add("}}");
  return data.take();
}

std::string report_page(const documents::RunReportDocument& document, const PageOrigin& origin) {
  const std::string data = script_safe(page_data(document, origin));
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

} // namespace tidegate::commands
