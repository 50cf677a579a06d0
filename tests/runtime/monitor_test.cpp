// The watchdog of runs.
#include "runtime/monitor.hpp"

using namespace tidegate;
using namespace std::chrono_literals;

TEST_CASE("what a driver compiles at a first launch is no wall time") {
  runtime::Monitor monitor;
  monitor.deadline = runtime::Monitor::Clock::now();
  std::atomic<bool> given_up = false;
  device::work_notes().compiling = true;
  const runtime::Watchdog watchdog(monitor, 0ms, [&](bool) { given_up = true; });
  std::this_thread::sleep_for(200ms); // it looks every 50 ms
  CHECK_FALSE(given_up);
  device::work_notes().compiling = false;
  while (!given_up) { // or this test never ends
    std::this_thread::sleep_for(10ms);
  }
}
