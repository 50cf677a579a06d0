// Converts spans from a device's clock to host time.
#include "runtime/trace.hpp"

namespace {

using tidegate::runtime::DeviceClock;
using tidegate::runtime::SliceTimes;
using tidegate::runtime::SpanRow;
using tidegate::runtime::task_spans;
using tidegate::runtime::TaskSpan;

SpanRow row(std::uint64_t asked, std::uint64_t began, std::uint64_t ended) {
  return {.asked = asked,
          .began = began,
          .ended = ended,
          .iteration = 3,
          .stage = 1,
          .first = 7,
          .step = static_cast<std::uint32_t>(-2),
          .count = 4,
          .unused = 0};
}

TEST_CASE("a clock that counts nanoseconds is only moved") {
  const std::vector<SliceTimes> slices{
      {.begin_ns = 100, .end_ns = 900, .begin_ticks = 5000, .end_ticks = 5700}};
  const std::vector<SpanRow> rows{row(5000, 5010, 5110)};
  const std::vector<TaskSpan> spans = task_spans(DeviceClock::nanoseconds, slices, 6, rows);
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].group == 6);
  CHECK(spans[0].asked_ns == 100);
  CHECK(spans[0].began_ns == 110);
  CHECK(spans[0].ended_ns == 210);
  CHECK(spans[0].iteration == 3);
  CHECK(spans[0].row == 1);
  CHECK(spans[0].first == 7);
  CHECK(spans[0].step == -2);
  CHECK(spans[0].count == 4);
}

TEST_CASE("the rate of a clock follows from the launches as a whole") {
  // 4 ticks per nanosecond.
  const std::vector<SliceTimes> slices{
      {.begin_ns = 0, .end_ns = 100, .begin_ticks = 1000, .end_ticks = 1400},
      {.begin_ns = 200, .end_ns = 500, .begin_ticks = 1800, .end_ticks = 3000}};
  const std::vector<SpanRow> rows{row(1000, 1040, 1400), row(1800, 1800, 2200), row(2200, 2280, 3000)};
  const std::vector<TaskSpan> spans = task_spans(DeviceClock::processor, slices, 0, rows);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].began_ns == 10);
  CHECK(spans[0].ended_ns == 100);
  CHECK(spans[1].asked_ns == 200);
  CHECK(spans[1].ended_ns == 300);
  CHECK(spans[2].began_ns == 320);
  CHECK(spans[2].ended_ns == 500);
}

TEST_CASE("no span leaves its launch, and the look for the end has no stage") {
  const std::vector<SliceTimes> slices{
      {.begin_ns = 50, .end_ns = 60, .begin_ticks = 1000, .end_ticks = 1010}};
  SpanRow early = row(990, 995, 1002); // a group other than the one with the known clock began first
  early.stage = TG_SPAN_UNTIL;
  const std::vector<SpanRow> rows{early, row(1002, 1003, 1030)};
  const std::vector<TaskSpan> spans = task_spans(DeviceClock::nanoseconds, slices, 1, rows);
  REQUIRE(spans.size() == 2);
  CHECK(!spans[0].row);
  CHECK(spans[0].asked_ns == 50);
  CHECK(spans[0].began_ns == 50);
  CHECK(spans[0].ended_ns == 52);
  CHECK(spans[1].ended_ns == 60);
  CHECK(task_spans(DeviceClock::nanoseconds, {}, 1, rows).empty());
}

} // namespace
