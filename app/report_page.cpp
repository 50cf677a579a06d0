// `tidegate run --html` and `--trace`: the page of a run, and its timeline.
#include "app/run.hpp"
#include "core/json.hpp"
#include "engine/compile.hpp"

#include <regex>

namespace tidegate::app {
namespace {

using runtime::SpanKind;
using runtime::TimelineSpan;
std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return body.empty() ? ""
                      : fmt::format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2><div "
                                    "id=\"{0}-body\">{2}</div></section>\n",
                                    id, title, body);
}

std::string scrolled(std::string_view name, const std::string& inside) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>",
                     name, inside);
}

// Rows of cells, of which the first column, and with `head` the first row, are names. Numbers stand at the right.
std::string table(const TableRows& rows, bool head) {
  std::string text = head ? "<table class=\"headed\">" : "<table>";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "<tr>";
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const std::string& cell = rows[i][column];
      const bool number = column != 0 && !cell.empty() && cell.find_first_not_of("0123456789.") == cell.npos;
      text += fmt::format("<{0}{1}>{2}</{0}>", (i == 0 && head) || column == 0 ? "th" : "td",
                          number ? " class=\"number\"" : "", xml_text(cell));
    }
    text += "</tr>\n";
  }
  return rows.empty() ? "" : scrolled("table", text + "</table>");
}

struct Part {
  std::string name;
  std::uint64_t amount = 0;
};

// Parts of a whole as a bar with a legend; `form` makes texts of amounts.
template <class Form>
std::string part_bar(const std::vector<Part>& parts, Form form) {
  std::uint64_t whole = 0;
  for (const Part& part : parts) {
    whole += part.amount;
  }
  std::string spans, legend;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view colour = picture_colours[i % picture_colours.size()];
    const std::string text = xml_text(fmt::format("{} {}", parts[i].name, form(parts[i].amount)));
    spans += fmt::format("<span title=\"{}\" style=\"width:{:.2f}%;background:{}\"></span>", text,
                         100.0 * static_cast<double>(parts[i].amount) /
                             static_cast<double>(std::max<std::uint64_t>(whole, 1)),
                         colour);
    legend += fmt::format("<li><span class=\"swatch\" style=\"background:{}\"></span>{}</li>", colour, text);
  }
  return fmt::format("<div class=\"bar\">{}</div><ul class=\"legend\">{}</ul>", spans, legend);
}

// `value`: of a field of the report, for programs that read pages.
std::string tile(std::string_view name, const std::string& shown, const std::string& rest,
                 std::string_view field = "", double value = 0) {
  const std::string text = field.empty() ? xml_text(shown)
                                         : fmt::format("<data value=\"{}\" data-field=\"{}\">{}</data>",
                                                       value, field, xml_text(shown));
  return fmt::format("<dl><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"rest\">{}</dd></dl>\n", name,
                     text, xml_text(rest));
}

// The parts of a page in which wave programs and graph programs differ.
struct Shown {
  std::string_view outputs;
  std::string verdict{};
  std::string_view each; // of `iterations`
  std::uint64_t iterations = 0;
  std::vector<Part> times;                 // of the wall time
  std::vector<std::string_view> colours{}; // of the timeline's names
  std::string tiles{}, first{}, further{}; // parts of the kind's own
};

// The tiles at the top of a page: the speed, the outputs, an iteration.
std::string tiles(const runtime::ReportHead& report, std::string_view other, const Shown& shown) {
  std::string text;
  if (const auto& compared = report.comparison) {
    text += tile("Speed", fmt::format("{:.2f} ×", compared->speedup),
                 fmt::format("as fast as {}; {:.2f} to {:.2f} with 95 % confidence", other,
                             compared->speedup_low, compared->speedup_high),
                 "comparison.speedup", compared->speedup);
  }
  text += tile("Outputs", std::string(shown.outputs), shown.verdict);
  const auto dispatch = static_cast<double>(report.dispatch_ns);
  if (dispatch != 0) {
    text +=
        tile(shown.each,
             short_time_text(dispatch / static_cast<double>(std::max<std::uint64_t>(shown.iterations, 1))),
             fmt::format("{} of them in {}", shown.iterations,
                         report.telemetry.kernel_launches == 1
                             ? "1 launch"
                             : fmt::format("{} launches", report.telemetry.kernel_launches)));
    text += tile("Dispatch", short_time_text(dispatch), "from the first launch to the end of the last",
                 "backend_dispatch_ns", dispatch);
  }
  return text +
         tile("Wall time", time_text(report.wall_time_ns), "with building, checking and files",
              "wall_time_ns", static_cast<double>(report.wall_time_ns)) +
         shown.tiles;
}

std::string notices(const runtime::ReportHead& report) {
  std::string text;
  const auto add = [&text](std::string_view kind, std::string_view strong, std::string_view rest) {
    text += fmt::format("<div class=\"notice {}\"><p><strong>{}</strong></p><p>{}</p></div>\n", kind,
                        xml_text(strong), xml_text(rest));
  };
  if (report.error) {
    add("bad\" id=\"error", report.error->message, report.error->fix);
  }
  for (const Warning& warning : report.warnings) {
    add("warn", warning.message, fmt::format("{} {}", warning.fix, warning.pointer));
  }
  return text;
}

// Where the wall time went.
std::string wall_time(const runtime::ReportHead& report, std::vector<Part> parts) {
  std::uint64_t rest = report.wall_time_ns;
  for (const Part& part : parts) {
    rest -= std::min(part.amount, rest);
  }
  parts.push_back({"comparison, files and the rest", rest});
  std::erase_if(parts, [](const Part& part) { return part.amount == 0; });
  return "<h3>Wall time</h3>" + part_bar(parts, time_text);
}

// The speed in words, and every round of both ways as a dot, the median a bar.
std::string speed_part(const runtime::ReportHead& report, std::string_view other) {
  constexpr double left = 104, width = 560, row_height = 40;
  if (!report.comparison) {
    return "";
  }
  const runtime::Comparison& compared = *report.comparison;
  const double slowest =
      std::max({1.0, std::ranges::max(compared.run_rounds_ns), std::ranges::max(compared.plain_rounds_ns)});
  const auto x = [slowest](double ns) { return left + (width - left - 12) * ns / slowest; };
  Drawing picture;
  picture.add(
      R"(<p>{}</p><svg class="picture" viewBox="0 0 {} {}" role="img" aria-label="Times of each round">)",
      xml_text(speed_text(compared, other)), width, 2 * row_height + 24);
  const auto draw = [&](double y, std::string_view name, const std::vector<double>& rounds, double middle,
                        std::string_view colour) {
    picture.add_text(0, y + 4, "name", name);
    for (const double ns : rounds) {
      picture.add(R"(<circle cx="{:.1f}" cy="{}" r="4" fill="{}" fill-opacity="0.55"/>)", x(ns), y, colour);
    }
    picture.add(
        R"(<rect x="{:.1f}" y="{}" width="4" height="24" rx="2" fill="{}"><title>median {}</title></rect>)",
        x(middle) - 2, y - 12, colour, short_time_text(middle));
  };
  draw(row_height / 2, "this run", compared.run_rounds_ns, compared.run_ns, picture_colours[0]);
  draw(row_height * 3 / 2, other, compared.plain_rounds_ns, compared.plain_ns, picture_colours[1]);
  picture.add_text(left, 2 * row_height + 18, "soft", "0");
  picture.add_text(width, 2 * row_height + 18, "soft", short_time_text(slowest), "end");
  picture.add("</svg>");
  return picture.svg;
}

// The timeline: a picture stretched to the page, or wider than that and scrolled. Browsers cut coordinates above 2^25, so
// these are parts of the run and not nanoseconds.

// The text of a span: what, which iteration and tiles, how long.
std::string span_text(const runtime::Timeline& timeline, const TimelineSpan& span) {
  std::string text = span.kind == SpanKind::wait
                         ? fmt::format("waits in front of stage {}", span.stage.value_or(0))
                     : span.kind == SpanKind::until ? "looks at until"
                                                    : timeline.names[span.name];
  text += fmt::format(", iteration {}", span.iteration);
  if (span.tiles && span.tiles->count != 0) {
    text += fmt::format(", {} from {}", plural(span.tiles->count, "tile"), span.tiles->first);
  }
  return fmt::format("{}: {} from {}", text, time_text(span.end_ns - span.begin_ns),
                     time_text(span.begin_ns));
}

std::string timeline_part(const runtime::Timeline& timeline, const std::vector<std::string_view>& colours) {
  constexpr std::size_t most_lanes = 48, most_columns = 3000;
  constexpr double lane_height = 20, whole = 100'000;
  std::vector<const runtime::Lane*> lanes;
  std::uint64_t end = 1;
  for (const runtime::Lane& lane : timeline.lanes) {
    if (!lane.spans.empty()) {
      lanes.push_back(&lane);
      end = std::max(end, lane.spans.back().end_ns);
    }
  }
  if (lanes.empty()) {
    return "";
  }
  const std::size_t shown = std::min(lanes.size(), most_lanes);
  const double column = static_cast<double>(end) /
                        static_cast<double>(most_columns * std::min<std::size_t>(4, most_lanes / shown));
  const double scale = whole / static_cast<double>(end);
  std::string names, spans;
  for (std::size_t row = 0; row < shown; ++row) {
    const double top = lane_height * static_cast<double>(row);
    names += fmt::format("<text class=\"soft\" x=\"0\" y=\"{}\">{}</text>\n", top + 13,
                         xml_text(shortened_middle(lanes[row]->name, 18)));
    const std::vector<TimelineSpan>& all = lanes[row]->spans;
    for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
      // Spans that begin in one column and are narrower than it are drawn as one.
      for (next = i + 1;
           next < all.size() && static_cast<double>(all[next].end_ns - all[i].begin_ns) < column;) {
        ++next;
      }
      const TimelineSpan& span = all[i];
      const bool work = span.kind == SpanKind::work || span.kind == SpanKind::launch;
      const std::string fill =
          work ? fmt::format(" fill=\"{}\"",
                             span.name < colours.size() ? colours[span.name] : picture_colours[0])
               : fmt::format(" class=\"{}\"", runtime::span_kind_names[static_cast<std::size_t>(span.kind)]);
      spans += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"{}><title>{}{}</title></rect>\n",
          scale * static_cast<double>(span.begin_ns), top + (work ? 2 : 4),
          scale * std::max(static_cast<double>(all[next - 1].end_ns - span.begin_ns), column / 2),
          work ? 15 : 11, fill, xml_text(span_text(timeline, span)),
          next == i + 1 ? "" : fmt::format("; and {} more", next - i - 1));
    }
  }
  return fmt::format("<p>{}{}{}, {} in all.</p>\n", plural(timeline.span_count(), "span"),
                     timeline.left_out == 0 ? "" : fmt::format(", {} more had no room", timeline.left_out),
                     shown == lanes.size() ? "" : fmt::format(", {} of {} lanes", shown, lanes.size()),
                     time_text(end)) +
         fmt::format(
             R"(<div><label><input type="radio" name="wide" checked> Whole run</label> <label><input type="radio" name="wide" id="wide4"> 4 ×</label>
<label><input type="radio" name="wide" id="wide16"> 16 × as wide</label>
<div class="timeline"><svg class="picture" width="130" height="{0}">
{1}</svg><div class="scroll" tabindex="0" role="region" aria-label="Timeline"><svg id="lanes" height="{0}" viewBox="0 0 {2} {0}" preserveAspectRatio="none" role="img" aria-label="Timeline of the run">
{3}</svg></div></div></div>
<p class="soft small">A title names each span.</p>)",
             lane_height * static_cast<double>(shown), names, whole, spans);
}

// Graph programs: the frontier wave by wave, on a logarithmic scale.
std::string frontier_part(const traversal::FrontierReport& report) {
  constexpr double width = 1000, height = 220, left = 70, below = 24;
  const std::vector<traversal::WaveRecord>& waves = report.waves;
  if (waves.empty()) {
    return "";
  }
  const auto of_wave = &traversal::WaveRecord::vertices;
  const std::uint32_t widest = std::max(10U, std::ranges::max(waves, {}, of_wave).vertices);
  const double high = std::log10(static_cast<double>(widest));
  const auto y = [high](double count) {
    return height - below - (height - below - 8) * (std::log10(count) + 0.15) / (high + 0.15);
  };
  Drawing picture;
  picture.add(
      R"(<svg class="picture" viewBox="0 0 {} {}" width="100%" role="img" aria-label="Vertices of each wave">)",
      width, height);
  for (double power = 1; power <= static_cast<double>(widest); power *= 10) {
    picture.add(R"(<line class="repeats" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" opacity="0.3"/>)", left,
                width, y(power));
    picture.add_text(left - 6, y(power), "soft", fmt::format("{:.0f}", power), "end");
  }
  constexpr std::size_t most_columns = 900;
  const std::size_t each = (waves.size() + most_columns - 1) / most_columns;
  const double step = (width - left) * static_cast<double>(each) / static_cast<double>(waves.size());
  for (std::size_t i = 0; i < waves.size(); i += each) { // a column shows its widest wave
    const auto column = std::span(waves).subspan(i, std::min(each, waves.size() - i));
    const traversal::WaveRecord& wave = *std::ranges::max_element(column, {}, of_wave);
    const double top = y(std::max(1U, wave.vertices));
    const auto place = i / each;
    picture.add(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>wave {}: {} vertices, {} edges scanned, {} ({}){}{}</title></rect>)",
        left + step * static_cast<double>(place), top, std::max(1.0, step - 0.5), height - below - top,
        picture_colours[static_cast<std::size_t>(wave.topology) % picture_colours.size()], wave.wave,
        wave.vertices, wave.scanned_edges, choice_name(wave.topology), policy::name(wave.rule),
        wave.alone ? ", by one work-group" : "", wave.time_ns ? ", " + time_text(*wave.time_ns) : "");
  }
  picture.add_text(left, height - 6, "soft", "wave 0");
  picture.add_text(width, height - 6, "soft", fmt::format("wave {}", waves.back().wave), "end");
  picture.add(
      "</svg>\n<p class=\"soft small\">Vertices of each wave's frontier; colours are topologies.</p>");
  return picture.svg;
}

// Draws the plan, and gives the names of the timeline the colours of their first waves there.
std::string plan_part(const engine::RunReport& report, std::vector<std::string_view>& colours) {
  const auto& compiled = report.compiled;
  if (!compiled) {
    return "";
  }
  const engine::Job& program = compiled->written;
  const PlannedDag planned{.named = dag_of(program, compiled->budget_bytes),
                           .plan = memory_plan(report.plan)};
  Palette palette;
  std::map<std::string, std::string_view> of_texts;
  for (const std::uint32_t wave : planned.plan.order) { // as the picture does
    of_texts.emplace(program.wave_text(wave), palette(planned.named.wave_label(wave)));
  }
  for (std::uint32_t i = 0; i < compiled->parts.size(); ++i) { // names of windows
    of_texts.emplace(compiled->program.wave_text(i),
                     palette(planned.named.wave_label(compiled->parts[i].front())));
  }
  for (std::size_t i = 0; report.timeline && i < report.timeline->names.size(); ++i) {
    const std::string& name = report.timeline->names[i];
    const auto found = of_texts.find(of_texts.contains(name) ? name : name.substr(0, name.find(" + ")));
    colours.push_back(found == of_texts.end() ? picture_colours[0] : found->second);
  }
  return report.plan.barriers.groups.empty()
             ? ""
             : scrolled("Picture of the plan",
                        plan_svg(planned, {.planner = report.plan.planner}, std::move(palette))) +
                   fmt::format("<p class=\"soft small\">{}</p>",
                               program.derived ? "Dependencies follow from what the kernels read and write."
                                               : "Dependencies are those that the program lists.");
}

std::string memory_part(const engine::RunReport& report) {
  if (!report.compiled || report.compiled->program.buffers.empty()) {
    return "";
  }
  const engine::MemoryReport& memory = report.memory;
  const engine::CompiledProgram& compiled = *report.compiled;
  PlannedArena planned{
      .lifetimes = {},
      .plan = {.height_bytes = memory.arena_bytes, .lower_bound_bytes = memory.lower_bound_bytes}};
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    const engine::ProgramBuffer& buffer = compiled.program.buffers[i];
    if (buffer.in_arena()) {
      planned.lifetimes.buffers.push_back(
          {.id = Identifier(buffer.name), .lifetime = compiled.memory.lifetimes[i]});
      planned.plan.offsets.push_back(compiled.memory.offsets[i]);
    }
  }
  std::string text;
  if (!planned.plan.offsets.empty() && memory.arena_bytes != 0) {
    text = scrolled(
        "Picture of the arena",
        arena_svg(planned, fmt::format("arena of {}, {} without sharing, over the groups of the plan",
                                       bytes_text(memory.arena_bytes), bytes_text(memory.sum_bytes))));
  }
  return text +
         fmt::format(
             "<p class=\"soft small\">Arena {}, images {}, tables {}{}.</p>", bytes_text(memory.arena_bytes),
             bytes_text(memory.image_bytes), bytes_text(memory.table_bytes),
             compiled.budget_bytes == 0 ? "" : fmt::format("; budget {}", bytes_text(compiled.budget_bytes)));
}

std::string policy_part(const engine::RunReport& report) {
  TableRows steps{{"decision", "outcome", "because"}};
  if (report.compiled) {
    std::ranges::move(reason_rows(report.compiled->recommendation.reasons), std::back_inserter(steps));
  }
  return fmt::format("<p>{}</p><details><summary>Decisions</summary>{}</details>",
                     launch_text(report.recommendation), table(steps, true));
}

// A word as a shell takes it for that word.
std::string shell_word(const std::string& word) {
  static const std::regex plain("[\\w@%+=:,./-]+"), quote("'");
  return std::regex_match(word, plain) ? word : fmt::format("'{}'", std::regex_replace(word, quote, "'\\''"));
}

// Puts the parts of a page into report_page.html.
template <class Report>
std::string page_of(const Report& report, const RunTable& made, const std::string& program,
                    const Shown& shown) {
  const std::string_view other = compared_with(report);
  std::string body = notices(report) + "<div class=\"figures\">" + tiles(report, other, shown) +
                     "</div>\n<div class=\"columns\">\n";
  body += section("how", "How it ran",
                  table(made.rows, false) + (report.dispatch_ns == 0 ? "" : wall_time(report, shown.times)));
  body += section("speed", fmt::format("Against {}", other), speed_part(report, other)) + "</div>\n" +
          shown.first;
  body +=
      section("timeline", "Timeline", report.timeline ? timeline_part(*report.timeline, shown.colours) : "");
  body += section("waves", "Where the time went", table(made.waves, true)) + shown.further;
  std::vector<std::string> command;
  std::ranges::transform(reporting.command, std::back_inserter(command), shell_word);
  body += section(
      "again", "Run it again",
      fmt::format("<pre tabindex=\"0\">{}</pre>", xml_text(fmt::format("{}", fmt::join(command, " ")))));
  std::string status(choice_name(report.status));
  std::ranges::replace(status, '_', ' ');
  const std::string heading = fmt::format(
      "<p class=\"over\">tidegate run</p>\n<h1><bdi class=\"name\">{}</bdi><span id=\"status\" class=\"badge {}\">{}</span></h1>\n"
      "<p id=\"lead\">{}{}.</p>",
      xml_text(program), is_success(report.status) ? "good" : "bad", status, xml_text(made.headline),
      report.device ? " on " + xml_text(report.device->name) : "");
  const std::array<std::pair<std::string_view, std::string>, 4> parts{
      {{"{{data}}", script_safe(documents::encode(report, documents::Style::compact))},
       {"{{version}}", TIDEGATE_VERSION},
       {"{{body}}", body},
       {"{{heading}}", heading}}};
  std::string page(page_html());
  for (const auto& [mark, part] : parts) { // from the last in the page, so that no part is searched
    page.replace(page.find(mark), mark.size(), part);
  }
  return page;
}

std::string row_text(const RunTable& made, std::string_view name) {
  const auto row = std::ranges::find(made.rows, name, [](const auto& cells) { return cells[0]; });
  return row == made.rows.end() ? "" : (*row)[1];
}

std::string quoted(std::string_view text) {
  std::string json;
  documents::append_string(json, text);
  return json;
}

} // namespace

std::string script_safe(std::string_view json) {
  std::string safe;
  for (const char c : json) {
    c == '<' ? safe += "\\u003c" : safe += c;
  }
  return safe;
}

std::string report_page(const engine::RunReport& report, const std::string& program) {
  constexpr std::size_t most_waves = 500;
  const RunTable made = run_rows(report, most_waves);
  const bool first_equal = report.first_run && report.first_run->equal;
  std::vector<std::string_view> colours;
  const std::string plan = plan_part(report, colours);
  return page_of(report, made, program,
                 {.outputs = report.output_parity ? report.output_parity->equal ? "equal" : "different"
                             : first_equal        ? "equal"
                                                  : "not compared",
                  .verdict = row_text(made, "  outputs"),
                  .each = "An iteration",
                  .iterations = report.iterations,
                  .times = {{"planning", report.queue_plan_ns},
                            {"building kernels", report.build_ns},
                            {"filling memory", report.queue_publish_ns},
                            {"dispatch", report.dispatch_ns},
                            {"reading back", report.read_back_ns},
                            {"first run", report.first_run ? report.first_run->elapsed_ns : 0}},
                  .colours = std::move(colours),
                  .further = section("plan", "Plan", plan) +
                             section("memory", "Memory", memory_part(report)) +
                             section("policy", "Recommendation", policy_part(report))});
}

std::string report_page(const traversal::FrontierReport& report, const std::string& program) {
  const RunTable made = run_rows(report);
  Shown shown{.outputs =
                  report.verification ? report.verification->right ? "right" : "wrong" : "not verified",
              .verdict = row_text(made, "  result"),
              .each = "A wave",
              .iterations = report.summary.waves,
              .times = {{"reading the graph", report.load_ns},
                        {"building kernels", report.build_ns},
                        {"filling memory", report.queue_publish_ns},
                        {"dispatch", report.dispatch_ns},
                        {"reading back", report.read_back_ns},
                        {"checking", report.verify_ns}},
              .first = section("frontier", "Frontier, wave by wave", frontier_part(report))};
  if (report.answer && report.answer->reached) {
    shown.tiles = tile("Reached", std::to_string(*report.answer->reached),
                       fmt::format("of {} vertices", report.graph.vertices), "answer.reached",
                       static_cast<double>(*report.answer->reached));
  }
  for (std::size_t i = 0; report.timeline && i < report.timeline->names.size(); ++i) {
    const auto found = std::ranges::find(policy::topology_names, report.timeline->names[i]);
    shown.colours.push_back(
        picture_colours[static_cast<std::size_t>(found - policy::topology_names.begin())]);
  }
  std::vector<Part> parts;
  for (const traversal::MemoryPart& part : report.memory.parts) {
    parts.push_back({std::string(choice_name(part.name)), part.bytes});
  }
  shown.further = section("memory", "Memory", parts.empty() ? "" : part_bar(parts, bytes_text));
  return page_of(report, made, program, shown);
}

// The timeline in Chrome's Trace Event Format, which ui.perfetto.dev opens.
std::string trace_json(const runtime::Timeline& timeline, std::string_view title) {
  std::string text = fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"tool":"tidegate","clock":"{}","left_out_spans":{}}},"traceEvents":[)",
      runtime::device_clock_names[static_cast<std::size_t>(timeline.clock)], timeline.left_out);
  const auto micros = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  // Adds an event of thread `tid` of the only process.
  const auto event = [&text](char phase, std::string_view name, std::size_t tid, const std::string& rest) {
    text += fmt::format("{}\n{{\"ph\":\"{}\",\"name\":{},\"pid\":1,\"tid\":{},{}}}",
                        text.ends_with('[') ? "" : ",", phase, quoted(name), tid, rest);
  };
  // Adds the name and the sort index of the process (tid 0) or of a thread.
  const auto metadata = [&event](std::string_view what, std::size_t tid, std::string_view name) {
    event('M', fmt::format("{}_name", what), tid, fmt::format(R"("args":{{"name":{}}})", quoted(name)));
    event('M', fmt::format("{}_sort_index", what), tid, fmt::format(R"("args":{{"sort_index":{}}})", tid));
  };
  metadata("process", 0, title);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    metadata("thread", i + 1, timeline.lanes[i].name);
    for (const runtime::TimelineSpan& span : timeline.lanes[i].spans) {
      std::string more = span.stage ? fmt::format(R"(,"stage":{})", *span.stage) : "";
      if (span.tiles) {
        more += fmt::format(R"(,"first_tile":{},"tile_step":{},"tiles":{})", span.tiles->first,
                            span.tiles->step, span.tiles->count);
      }
      event('X', timeline.names[span.name], i + 1,
            fmt::format(R"("cat":"{}","ts":{},"dur":{},"args":{{"iteration":{}{}}})",
                        runtime::span_kind_names[static_cast<std::size_t>(span.kind)], micros(span.begin_ns),
                        micros(span.end_ns - span.begin_ns), span.iteration, more));
    }
  }
  for (const runtime::Curve& curve : timeline.curves) {
    for (const auto& [ns, value] : curve.points) {
      event('C', curve.name, 0, fmt::format(R"("ts":{},"args":{{"value":{}}})", micros(ns), value));
    }
  }
  if (timeline.until_met_ns) {
    event('i', "until is met", 1, fmt::format(R"("s":"p","ts":{})", micros(*timeline.until_met_ns)));
  }
  return text + "]}\n";
}

} // namespace tidegate::app
