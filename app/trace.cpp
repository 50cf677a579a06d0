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

class TraceWriter {
public:
  explicit TraceWriter(const engine::Timeline& timeline) : timeline_(timeline) {}

  std::string write(std::string_view title) {
    text_ = fmt::format(
        R"({{"displayTimeUnit":"ns","otherData":{{"tool":"tidegate","clock":"{}","left_out_spans":{}}},"traceEvents":[)",
        engine::device_clock_names[static_cast<std::size_t>(timeline_.clock)], timeline_.left_out);
    metadata("process", 0, title);
    for (std::size_t i = 0; i < timeline_.lanes.size(); ++i) {
      metadata("thread", i + 1, timeline_.lanes[i].name);
      for (const engine::TimelineSpan& span : timeline_.lanes[i].spans) {
        add_span(span, i + 1);
      }
    }
    for (const engine::Curve& curve : timeline_.curves) {
      for (const auto& [ns, value] : curve.points) {
        event('C', curve.name, 0, R"(,"ts":{},"args":{{"value":{}}})", micros(ns), value);
      }
    }
    if (timeline_.until_met_ns) {
      event('i', "until is met", 1, R"(,"s":"p","ts":{})", micros(*timeline_.until_met_ns));
    }
    return std::move(text_) + "]}\n";
  }

private:
  // Adds an event of thread `tid` of the only process.
  template <class... Values>
  void event(char phase, std::string_view name, std::size_t tid, fmt::format_string<Values...> rest,
             Values&&... values) {
    text_ += fmt::format("\n{}{{\"ph\":\"{}\",\"name\":{},\"pid\":1,\"tid\":{}",
                         text_.ends_with('[') ? "" : ",", phase, quoted(name), tid);
    fmt::format_to(std::back_inserter(text_), rest, std::forward<Values>(values)...);
    text_ += '}';
  }

  // Adds the name and the sort index of the process (tid 0) or of a thread.
  void metadata(std::string_view what, std::size_t tid, std::string_view name) {
    event('M', fmt::format("{}_name", what), tid, R"(,"args":{{"name":{}}})", quoted(name));
    event('M', fmt::format("{}_sort_index", what), tid, R"(,"args":{{"sort_index":{}}})", tid);
  }

  void add_span(const engine::TimelineSpan& span, std::size_t tid) {
    std::string more = span.stage ? fmt::format(R"(,"stage":{})", *span.stage) : "";
    if (span.tiles) {
      more += fmt::format(R"(,"first_tile":{},"tile_step":{},"tiles":{})", span.tiles->first,
                          span.tiles->step, span.tiles->count);
    }
    event('X', timeline_.names[span.name], tid, R"(,"cat":"{}","ts":{},"dur":{},"args":{{"iteration":{}{}}})",
          engine::span_kind_names[static_cast<std::size_t>(span.kind)], micros(span.begin_ns),
          micros(span.end_ns - span.begin_ns), span.iteration, more);
  }

  const engine::Timeline& timeline_;
  std::string text_;
};

} // namespace

std::string trace_json(const engine::Timeline& timeline, std::string_view title) {
  return TraceWriter(timeline).write(title);
}

} // namespace tidegate::app
