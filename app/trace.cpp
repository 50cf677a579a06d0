// `tidegate run --trace`: writes a timeline in Chrome's Trace Event Format, which ui.perfetto.dev opens.
#include "app/run.hpp"
#include "core/json.hpp"

namespace tidegate::app {
namespace {

std::string quoted(std::string_view text) {
  std::string json;
  documents::append_string(json, text);
  return json;
}

std::string micros(std::uint64_t ns) {
  std::string json;
  documents::append_number(json, static_cast<double>(ns) / 1000);
  return json;
}

} // namespace

std::string trace_json(const runtime::Timeline& timeline, std::string_view title) {
  std::string text = fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"tool":"tidegate","clock":"{}","left_out_spans":{}}},"traceEvents":[)",
      runtime::device_clock_names[static_cast<std::size_t>(timeline.clock)], timeline.left_out);
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
