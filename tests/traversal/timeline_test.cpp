// When waves ran: from stamps of the device's clock to spans and curves.
#include "traversal/dispatch.hpp"

#include <doctest/doctest.h>

namespace tidegate::traversal {

TEST_CASE("a wave lasts from the end of the previous one, also across launches") {
  // Two ticks per nanosecond. A wave is absorbed by a later launch where a launch is one step.
  const std::vector<runtime::SliceTimes> launches{
      {.begin_ns = 100, .end_ns = 200, .begin_ticks = 1000, .end_ticks = 1200},
      {.begin_ns = 300, .end_ns = 500, .begin_ticks = 1400, .end_ticks = 1800}};
  using Ends = std::vector<std::uint64_t>;
  using Spans = std::vector<std::array<std::uint64_t, 3>>; // iteration, begin, end
  for (const auto& [ends, expected] :
       {std::pair(Ends{1100, 1420, 1700}, Spans{{0, 120, 150}, {1, 150, 310}, {2, 310, 450}}),
        {Ends{1420, 1700}, Spans{{0, 120, 310}, {1, 310, 450}}}}) {
    Spans spans;
    for (const auto& span : wave_spans(runtime::DeviceClock::processor, launches, 1040, ends)) {
      spans.push_back({span.iteration, span.began_ns, span.ended_ns});
    }
    CHECK(spans == expected);
    CHECK(wave_spans(runtime::DeviceClock::nanoseconds, {}, 0, ends).empty());
  }
}

TEST_CASE("a timeline has the launches, the waves by topology, and their frontiers as curves") {
  const std::vector<WaveRecord> waves{
      {.topology = policy::Topology::sparse_frontier, .vertices = 1, .scanned_edges = 3},
      {.wave = 1, .topology = policy::Topology::dense_frontier, .vertices = 7, .scanned_edges = 2}};
  const runtime::Trace trace{
      .launches = {{.begin_ns = 5, .end_ns = 90, .stage = {}}},
      .tasks = {{.began_ns = 10, .ended_ns = 20}, {.iteration = 1, .began_ns = 20, .ended_ns = 80}},
      .left_out = 4};
  const runtime::Timeline timeline = timeline_of(waves, trace, runtime::DeviceClock::nanoseconds, true);
  CHECK(timeline.left_out == 4);
  REQUIRE(timeline.lanes.size() == 2);
  CHECK(timeline.lanes[0].name == "launches");
  CHECK(timeline.names[timeline.lanes[0].spans.at(0).name] == "slice");
  REQUIRE(timeline.lanes[1].spans.size() == 2);
  CHECK(timeline.names[timeline.lanes[1].spans[1].name] == "dense_frontier");
  CHECK(timeline.lanes[1].spans[1].iteration == 1);
  CHECK(timeline.lanes[1].spans[1].end_ns == 80);
  CHECK(timeline.curves.at(0).points ==
        std::vector<std::pair<std::uint64_t, std::uint64_t>>{{10, 1}, {20, 7}, {80, 0}});
  CHECK(timeline.curves.at(1).points.at(1).second == 2);
}

} // namespace tidegate::traversal
