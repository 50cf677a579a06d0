// Contents in host memory, pinned as for a GPU and not, copied to a device and back; spans from a device's clock in host time;
// the watchdog.
#include "runtime/memory.hpp"
#include "runtime/monitor.hpp"
#include "runtime/trace.hpp"

namespace tidegate::runtime {
namespace {

using namespace std::chrono_literals;

// This machine's CPU, treated as a device across a bus or as a host device.
std::unique_ptr<device::Session> session_on_cpu(bool on_host) {
  const auto list = device::list_devices();
  REQUIRE(list);
  const auto found = device::select_device(*list, "cpu");
  REQUIRE(found);
  auto session = device::open_session(**found);
  REQUIRE(session);
  (*session)->on_host = on_host;
  return *std::move(session);
}

BufferContents random_contents(std::mt19937& random) {
  BufferContents contents(1 + random() % 6);
  for (auto& bytes : contents) {
    bytes.resize(random() % 3 == 0 ? 0 : random() % 5000);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random() & 255U);
    }
  }
  return contents;
}

constexpr std::uint64_t plenty = 1 << 20U;

} // namespace

TEST_CASE("contents stay what they are, and go to the device and back") {
  std::mt19937 random(1);
  for (const bool on_host : {false, true}) {
    const auto opened = session_on_cpu(on_host);
    const device::Session& session = *opened;
    for (int round = 0; round < 20; ++round) {
      BufferContents contents = random_contents(random);
      contents[0].resize(7);
      std::vector<std::uint64_t> sizes;
      for (const auto& bytes : contents) {
        sizes.push_back(bytes.size());
      }
      const HostContents plain(contents);
      const HostContents first(session, contents, plenty);
      HostContents back(session, sizes, plenty);
      CHECK(!plain.pinned());
      CHECK(first.pinned() == !on_host);
      CHECK(back.pinned() == !on_host);
      CHECK(first == plain);
      CHECK(first.size() == contents.size());
      for (std::size_t i = 0; i < contents.size(); ++i) {
        REQUIRE(same_bytes(first[i], contents[i]));
        REQUIRE(back[i].size() == contents[i].size());
        const device::Buffer memory = session.allocate(sizes[i]);
        session.write(memory, 0, first[i], Transferred::later);
        session.read(memory, 0, back[i], Transferred::later);
      }
      session.finish();
      CHECK(back == first);
      back[0].back() ^= std::byte{1};
      CHECK(!(back == first));
    }
  }
}

namespace {

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
      CHECK(std::array<std::int64_t, 5>{span.group, span.iteration, span.tiles.first, span.tiles.step,
                                        span.tiles.count} == std::array<std::int64_t, 5>{6, 3, 7, -2, 4});
    }
  }
}

TEST_CASE("launches are traced as long as there is room, and counted from there on") {
  for (const std::uint64_t room : {0U, 1U, 3U}) {
    CAPTURE(room);
    LaunchTimes times(room, LaunchTimes::Clock::now());
    for (std::uint32_t launch = 0; launch < 5; ++launch) {
      CHECK((times.event(launch, 0) != nullptr) == (launch < room));
      CHECK(times.left_out() ==
            (room == 0 || launch < room ? 0 : launch + 1 - room)); // with no room nobody asks
    }
  }
}

TEST_CASE("memory that is kept may fill its budget, and no more") {
  for (const auto& [bytes, kept_after] : {std::pair(50U, 1U), {51U, 0U}}) {
    Kept kept;
    kept.use(std::make_shared<Holding>());
    kept.holdings.front()->bytes = 50;
    ++kept.run;
    CHECK(kept.make_room(bytes, 100));
    CHECK(kept.holdings.size() == kept_after);
  }
}

TEST_CASE("what a driver compiles at a first launch is no wall time") {
  Monitor monitor;
  monitor.deadline = Monitor::Clock::now();
  std::atomic<bool> given_up = false;
  device::work_notes().compiling = true;
  const Watchdog watchdog(monitor, 0ms, [&](bool) { given_up = true; });
  std::this_thread::sleep_for(200ms); // it looks every 50 ms
  CHECK_FALSE(given_up);
  device::work_notes().compiling = false;
  while (!given_up) { // or this test never ends
    std::this_thread::sleep_for(10ms);
  }
}

} // namespace

} // namespace tidegate::runtime
