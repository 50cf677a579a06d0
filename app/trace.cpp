// `tidegate run --trace`: writes a timeline in Chrome's Trace Event Format, which ui.perfetto.dev opens.
#include "app/run.hpp"
#include "core/json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

using engine::Lane;
using engine::Timeline;

constexpr int process_id = 1;

class TraceWriter {
public:
  explicit TraceWriter(const Timeline& timeline) : timeline_(timeline) {}

  std::string write(const std::string& title) {
    json_.open('{');
    json_.member("displayTimeUnit", "ns");
    json_.key("otherData");
    json_.open('{');
    json_.member("tool", "tidegate");
    json_.member("clock", engine::device_clock_names[static_cast<std::size_t>(timeline_.clock)]);
    json_.member("left_out_spans", timeline_.left_out);
    json_.close('}');
    json_.key("traceEvents");
    json_.open('[');
    process(title, timeline_.lanes);
    arrows();
    curves();
    if (timeline_.until_met_ns) {
      begin_event("i", "until is met", 1);
      json_.member("s", "p");
      time("ts", *timeline_.until_met_ns);
      json_.close('}');
    }
    json_.close(']');
    json_.close('}');
    return std::move(text_) + '\n';
  }

private:
  void begin_event(std::string_view phase, std::string_view name, std::size_t tid) {
    text_ += '\n';
    json_.open('{');
    json_.member("ph", phase);
    json_.member("name", name);
    json_.member("pid", process_id);
    json_.member("tid", tid);
  }

  // Writes a time in microseconds.
  void time(std::string_view key, std::uint64_t ns) { json_.member(key, static_cast<double>(ns) / 1000); }

  // Writes the name and the sort index of a process (tid 0) or of a thread.
  void metadata(std::string_view what, std::size_t tid, std::string_view name) {
    for (const bool of_name : {true, false}) {
      begin_event("M", fmt::format("{}_{}", what, of_name ? "name" : "sort_index"), tid);
      json_.key("args");
      json_.open('{');
      of_name ? json_.member("name", name) : json_.member("sort_index", tid);
      json_.close('}');
      json_.close('}');
    }
  }

  void process(const std::string& name, const std::vector<Lane>& lanes) {
    metadata("process", 0, name);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      metadata("thread", i + 1, lanes[i].name);
      for (const engine::TimelineSpan& span : lanes[i].spans) {
        begin_event("X", timeline_.names[span.name], i + 1);
        json_.member("cat", engine::span_kind_names[static_cast<std::size_t>(span.kind)]);
        time("ts", span.begin_ns);
        time("dur", span.end_ns - span.begin_ns);
        json_.key("args");
        json_.open('{');
        json_.member("iteration", span.iteration);
        if (span.stage) {
          json_.member("stage", *span.stage);
        }
        if (span.tiles) {
          json_.member("first_tile", span.tiles->first);
          json_.member("tile_step", span.tiles->step);
          json_.member("tiles", span.tiles->count);
        }
        json_.close('}');
        json_.close('}');
      }
    }
  }

  // Writes each arrow as two flow events: it leaves the span around from_ns and reaches the span that begins at to_ns.
  void arrows() {
    for (std::size_t i = 0; i < timeline_.arrows.size(); ++i) {
      const engine::Arrow& arrow = timeline_.arrows[i];
      for (const bool start : {true, false}) {
        begin_event(start ? "s" : "f", timeline_.names[arrow.name],
                    (start ? arrow.from_lane : arrow.to_lane) + 1);
        json_.member("id", i + 1);
        json_.member("cat", "dependency");
        if (!start) {
          json_.member("bp", "e");
        }
        time("ts", start ? arrow.from_ns : arrow.to_ns);
        json_.close('}');
      }
    }
  }

  void curves() {
    for (const engine::Curve& curve : timeline_.curves) {
      for (const auto& [ns, value] : curve.points) {
        begin_event("C", curve.name, 0);
        time("ts", ns);
        json_.key("args");
        json_.open('{');
        json_.member("value", value);
        json_.close('}');
        json_.close('}');
      }
    }
  }

  const Timeline& timeline_;
  std::string text_;
  documents::JsonWriter json_{text_};
};

} // namespace

std::string trace_json(const Timeline& timeline, std::string_view title) {
  return TraceWriter(timeline).write(std::string(title));
}

} // namespace tidegate::app
