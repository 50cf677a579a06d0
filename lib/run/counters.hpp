// What the work-groups of a persistent launch wait by (kernels/device_barrier.cl): arrivals at the barrier,
// groups that gave up, and how far each has come. They count on from launch to launch.
#pragma once

#include <tidegate/device/handles.hpp>
#include <tidegate/run/monitor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidegate::run {

// On a CPU a work-group may wait long for one whose core is busy: there the memory is the host's too, and
// the monitor can end the wait.
class Counters {
public:
  static constexpr std::size_t line_words = 64; // TG_LINE of the kernels

  // All 0, once the queue has come to it. Throws device::Refused.
  Counters(const device::Session& session, std::uint32_t groups, Monitor& monitor);
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  [[nodiscard]] const cl::Buffer& memory() const { return memory_; }

private:
  Monitor& monitor_;
  std::vector<cl_uint> shared_; // of the device that works in the host's memory
  cl::Buffer memory_;
};

} // namespace tidegate::run
