// When the waves of a traced traversal ran: the device's clock stamps the rows of the log.
#include "engine/traversal/dispatch.hpp"

namespace tidegate::traversal {

using engine::TaskSpan;

std::vector<TaskSpan> wave_spans(engine::DeviceClock clock, std::span<const engine::SliceTimes> launches,
                                 std::uint64_t first, std::span<const std::uint64_t> ends) {
  std::vector<engine::SpanRow> rows;
  for (const std::uint64_t end : ends) {
    rows.push_back(
        {.asked = first, .began = first, .ended = end, .iteration = static_cast<std::uint32_t>(rows.size())});
  }
  std::vector<TaskSpan> spans = task_spans(clock, launches, 0, rows);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    spans[i].began_ns = spans[i - 1].ended_ns;
  }
  return spans;
}

engine::Timeline timeline_of(std::span<const WaveRecord> waves, const engine::Trace& trace,
                             engine::DeviceClock clock, bool persistent) {
  engine::Timeline timeline{.clock = clock, .names = {}, .left_out = trace.left_out};
  for (const std::string_view name : policy::topology_names) {
    timeline.names.emplace_back(name);
  }
  const auto launch = static_cast<std::uint32_t>(timeline.names.size());
  timeline.names.emplace_back(persistent ? "slice" : "step");
  timeline.measured = {{.name = "launches", .spans = {}}, {.name = "waves", .spans = {}}};
  for (const engine::LaunchSpan& span : trace.launches) {
    timeline.measured[0].spans.push_back({.kind = engine::SpanKind::slice,
                                          .begin_ns = span.begin_ns,
                                          .end_ns = span.end_ns,
                                          .name = launch,
                                          .iteration = span.iteration});
  }
  timeline.curves = {{.name = "vertices in the frontier", .points = {}},
                     {.name = "edges scanned", .points = {}}};
  for (const TaskSpan& task : trace.tasks) {
    const WaveRecord& wave = waves[task.iteration];
    timeline.measured[1].spans.push_back({.kind = engine::SpanKind::work,
                                          .begin_ns = task.began_ns,
                                          .end_ns = task.ended_ns,
                                          .name = static_cast<std::uint32_t>(wave.topology),
                                          .iteration = task.iteration});
    timeline.curves[0].points.emplace_back(task.began_ns, wave.vertices);
    timeline.curves[1].points.emplace_back(task.began_ns, wave.scanned_edges);
  }
  if (!trace.tasks.empty()) { // back to nothing
    for (engine::Curve& curve : timeline.curves) {
      curve.points.emplace_back(trace.tasks.back().ended_ns, 0);
    }
  }
  return timeline;
}

} // namespace tidegate::traversal
