// tidegate run --trace: a timeline in the Trace Event Format of Chrome, which ui.perfetto.dev opens.
#include "app/run.hpp"
#include "core/json_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <vector>

namespace tidegate::commands {
namespace {

using engine::Lane;
using engine::SpanKind;
using engine::Timeline;
using engine::TimelineSpan;

constexpr int measured_process = 1;
constexpr int planned_process = 2;

class Writer {
public:
  explicit Writer(const Timeline& timeline) : timeline_(timeline) {
    for (const std::string& name : timeline.names) {
      names_.push_back(quoted(name));
    }
  }

  std::string write(std::string_view title) {
    text_ = R"({"displayTimeUnit":"ns","otherData":{"tool":"tidegate","clock":)";
    text_ += quoted(run_clock());
    add(R"(,"left_out_spans":{}}},"traceEvents":[)", timeline_.left_out);
    process(measured_process, std::string(title) + ", measured", timeline_.measured);
    process(planned_process, std::string(title) + ", planned", timeline_.planned);
    lanes(measured_process, timeline_.measured);
    lanes(planned_process, timeline_.planned);
    arrows();
    if (timeline_.until_met_ns) {
      event(R"({{"ph":"i","s":"p","name":"until is met","pid":{},"tid":1,"ts":{}}})", measured_process,
            microseconds(*timeline_.until_met_ns));
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

private:
  static std::string quoted(std::string_view text) {
    std::string json;
    documents::append_string(json, text);
    return json;
  }

  [[nodiscard]] std::string_view run_clock() const {
    return engine::device_clock_names[static_cast<std::size_t>(timeline_.clock)];
  }

  static std::string microseconds(std::uint64_t ns) {
    constexpr std::uint64_t thousand = 1000;
    return fmt::format("{}.{:03}", ns / thousand, ns % thousand);
  }

  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  template <class... T>
  void event(fmt::format_string<T...> format, T&&... values) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    add(format, std::forward<T>(values)...);
  }

  void process(int pid, const std::string& name, const std::vector<Lane>& lanes) {
    event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", pid, quoted(name));
    event(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", pid, pid);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, i + 1,
            quoted(lanes[i].name));
      event(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", pid,
            i + 1, i + 1);
    }
  }

  void lanes(int pid, const std::vector<Lane>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      for (const TimelineSpan& span : lanes[i].spans) {
        event(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"iteration":{})",
              names_[span.name], engine::span_kind_names[static_cast<std::size_t>(span.kind)], pid, i + 1,
              microseconds(span.begin_ns), microseconds(span.end_ns - span.begin_ns), span.iteration);
        if (span.stage) {
          add(R"(,"stage":{})", *span.stage);
        }
        if (span.tiles) {
          add(R"(,"first_tile":{},"tile_step":{},"tiles":{})", span.tiles->first, span.tiles->step,
              span.tiles->count);
        }
        text_ += "}}";
      }
    }
  }

  // An arrow begins in the span around its time and ends at the one that begins then.
  void arrows() {
    for (std::size_t i = 0; i < timeline_.arrows.size(); ++i) {
      const engine::Arrow& arrow = timeline_.arrows[i];
      event(R"({{"ph":"s","id":{},"name":{},"cat":"dependency","pid":{},"tid":{},"ts":{}}})", i + 1,
            names_[arrow.name], measured_process, arrow.from_lane + 1, microseconds(arrow.from_ns));
      event(R"({{"ph":"f","bp":"e","id":{},"name":{},"cat":"dependency","pid":{},"tid":{},"ts":{}}})", i + 1,
            names_[arrow.name], measured_process, arrow.to_lane + 1, microseconds(arrow.to_ns));
    }
  }

  const Timeline& timeline_;
  std::vector<std::string> names_; // as JSON
  std::string text_;
  bool first_ = true;
};

} // namespace

std::string trace_json(const Timeline& timeline, std::string_view title) {
  return Writer(timeline).write(title);
}

} // namespace tidegate::commands
