#include "app/report_page.hpp"

#include "app/arena.hpp"
#include "app/plan.hpp"
#include "app/run.hpp"
#include "core/json.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
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

// Returns the place of each wave's colour: waves of a small program have one each, those of a large one share their op's.
std::vector<std::size_t> colours_of(const engine::ProgramSummary& program) {
  std::vector<std::size_t> colours;
  std::map<std::string_view, std::size_t> ops;
  for (const engine::WaveSummary& wave : program.waves) {
    const std::size_t of_op = ops.emplace(wave.op, ops.size()).first->second;
    const std::size_t all = picture_colours.size();
    colours.push_back((program.waves.size() <= all ? colours.size() : of_op) % all);
  }
  return colours;
}

void write_rows(JsonWriter& json, std::string_view key, const RunTable::Rows& rows) {
  list(json, key, rows, [&json](const std::vector<std::string>& row) {
    json.open('[');
    for (const std::string& cell : row) {
      json.value(cell);
    }
    json.close(']');
  });
}

void write_program(const engine::ProgramSummary& program, JsonWriter& json) {
  json.open('{');
  json.key("waves");
  json.open('[');
  const std::vector<std::size_t> colours = colours_of(program);
  for (std::size_t i = 0; i < program.waves.size(); ++i) {
    const engine::WaveSummary& wave = program.waves[i];
    json.open('{');
    json.member("name", wave.name);
    json.member("text", wave.text);
    json.member("op", wave.op);
    json.member("tiles", wave.tiles);
    json.member("colour", colours[i]);
    json.close('}');
  }
  json.close(']');
  list(json, "windows", program.windows, [&](const engine::WindowSummary& window) {
    json.open('{');
    json.member("text", window.text);
    list(json, "waves", window.waves);
    json.close('}');
  });
  list(json, "dependencies", program.dag.dependencies, [&](const planning::Dependency& dependency) {
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
  json.member("budget_bytes", program.budget_bytes);
  json.member("budget_given", program.budget_given);
  list(json, "reasons", program.reasons, [&](const policy::ExplanationStep& step) {
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
void write_lanes(const std::vector<Lane>& lanes, JsonWriter& json) {
  list(json, "lanes", lanes, [&](const Lane& lane) {
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
  write_lanes(timeline.lanes, json);
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
static std::string data_of(const Document& document, const engine::ReportHead& report, const RunTable& table,
                           const engine::ProgramSummary* program, const PageOrigin& origin) {
  std::string text;
  JsonWriter json(text);
  json.open('{');
  json.member("program_file", origin.program);
  list(json, "command", origin.command);
  json.member("version", origin.version);
  json.key("report");
  json.verbatim(documents::encode(document, documents::Style::compact));
  json.member("headline", table.headline);
  write_rows(json, "rows", table.rows);
  write_rows(json, "waves", table.waves);
  json.key("program");
  program == nullptr ? json.verbatim("null") : write_program(*program, json);
  json.key("timeline");
  report.timeline ? write_timeline(*report.timeline, json) : json.verbatim("null");
  json.close('}');
  return text;
}

std::string page_data(const documents::RunReportDocument& document, const PageOrigin& origin) {
  constexpr std::size_t most_waves = 500;
  return data_of(document, document.report, run_rows(document, most_waves), &document.report.program, origin);
}

std::string page_data(const traversal::FrontierReport& report, const PageOrigin& origin) {
  return data_of(report, report, run_rows(report), nullptr, origin);
}

// Returns a part of the page that scrolls.
static std::string scrolled(std::string_view name, const std::string& picture) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>",
                     name, picture);
}

static std::string plan_picture(const documents::RunReportDocument& document) {
  const engine::ProgramSummary& program = document.report.program;
  PlannedDag planned{.named = {.dag = program.dag, .names = {}, .iterations = program.most_iterations},
                     .plan = memory_plan(document.plan)};
  for (const engine::WaveSummary& wave : program.waves) {
    planned.named.names.push_back(wave.name);
    planned.named.sections.push_back(wave.section);
  }
  return planned.plan.order.empty()
             ? ""
             : scrolled("Picture of the plan",
                        plan_svg(planned, {.planner = document.plan.planner}, colours_of(program)));
}

static std::string memory_picture(const engine::RunReport& report) {
  const auto& [arena, sum] = std::pair(report.memory.arena_bytes, report.memory.sum_bytes);
  PlannedArena planned{.lifetimes = {},
                       .plan = {.height_bytes = arena, .lower_bound_bytes = report.memory.lower_bound_bytes}};
  for (const engine::BufferSummary& buffer : report.program.buffers) {
    if (buffer.memory == engine::MemoryKind::arena) {
      planned.lifetimes.buffers.push_back({.id = Identifier(buffer.name), .lifetime = buffer.alive});
      planned.plan.offsets.push_back(buffer.offset);
    }
  }
  return planned.plan.offsets.empty() || arena == 0
             ? ""
             : scrolled("Picture of the arena",
                        arena_svg(planned,
                                  fmt::format("arena of {}, {} without sharing, over the groups of the plan",
                                              bytes_text(arena), bytes_text(sum))));
}

static std::string page_of(std::string_view given, std::string_view plan, std::string_view memory) {
  const std::string data = script_safe(given);
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts{{{"{{style}}", page_style()},
                                                                            {"{{plan}}", plan},
                                                                            {"{{memory}}", memory},
                                                                            {"{{data}}", data},
                                                                            {"{{script}}", page_script()}}};
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

std::string report_page(const documents::RunReportDocument& document, const PageOrigin& origin) {
  return page_of(page_data(document, origin), plan_picture(document), memory_picture(document.report));
}

std::string report_page(const traversal::FrontierReport& report, const PageOrigin& origin) {
  return page_of(page_data(report, origin), "", "");
}

} // namespace tidegate::app
