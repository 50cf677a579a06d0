// Converts spans from a device's clock to host time.
#include "runtime/trace.hpp"

namespace {

using namespace tidegate::runtime;

SpanRow row(std::uint64_t asked, std::uint64_t began, std::uint64_t ended, std::uint32_t stage = 1) {
  return {.asked = asked,
          .began = began,
          .ended = ended,
          .iteration = 3,
          .stage = stage,
          .first = 7,
          .step = static_cast<std::uint32_t>(-2),
          .count = 4,
          .unused = 0};
}

TEST_CASE("spans of a device's clock become spans of the dispatch") {
  using Times = std::array<std::uint64_t, 3>; // asked, began, ended
  struct Row {
    DeviceClock clock;
    std::vector<SliceTimes> slices;
    std::vector<SpanRow> rows;
    std::vector<Times> times;
  };
  for (const Row& of : {
           // A clock that counts nanoseconds is only moved.
           Row{DeviceClock::nanoseconds,
               {{100, 900, 5000, 5700}},
               {row(5000, 5010, 5110)},
               {{100, 110, 210}}},
           // The rate of another one follows from the launches as a whole: 4 ticks per nanosecond.
           Row{DeviceClock::processor,
               {{0, 100, 1000, 1400}, {200, 500, 1800, 3000}},
               {row(1000, 1040, 1400), row(1800, 1800, 2200), row(2200, 2280, 3000)},
               {{0, 10, 100}, {200, 200, 300}, {300, 320, 500}}},
           // No span leaves its launch: a group other than the one with the known clock may have begun first.
           Row{DeviceClock::nanoseconds,
               {{50, 60, 1000, 1010}},
               {row(990, 995, 1002, TG_SPAN_UNTIL), row(1002, 1003, 1030)},
               {{50, 50, 52}, {52, 53, 60}}},
           Row{DeviceClock::nanoseconds, {}, {row(1, 2, 3)}, {}},
       }) {
    const std::vector<TaskSpan> spans = task_spans(of.clock, of.slices, 6, of.rows);
    REQUIRE(spans.size() == of.times.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const TaskSpan& span = spans[i];
      CHECK(Times{span.asked_ns, span.began_ns, span.ended_ns} == of.times[i]);
      CHECK(span.row.has_value() == (of.rows[i].stage != TG_SPAN_UNTIL)); // the look for the end has no stage
      CHECK(span.row.value_or(1) == 1);
      CHECK(std::array<std::int64_t, 5>{span.group, span.iteration, span.first, span.step, span.count} ==
            std::array<std::int64_t, 5>{6, 3, 7, -2, 4});
    }
  }
}

} // namespace
