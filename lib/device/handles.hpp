// OpenCL objects for the rest of this folder and of lib/run; not installed with the others.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/opencl.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate::device {

// A device with a context and an in-order queue of its own.
struct Session {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  // Drivers for CPUs work in the host's own memory, and compile a kernel when it is launched for the first
  // time.
  bool on_host = false;
};

// What events tell of launches: on CPUs always, since it shows how long a first launch has compiled.
enum class Profiling : std::uint8_t { as_needed, always };

// opencl_failure; no_device when the list has changed since.
Result<Session> open_session(const DeviceInfo& device, Profiling profiling = Profiling::as_needed);

// A step that the driver refused, on its way through a chain of them; public functions turn it into a Result.
struct Refused {
  Error error;
};

// Throws Refused with opencl_failure unless the status is CL_SUCCESS.
void require(cl_int status, std::string_view what);

// Waits for the queue; nanoseconds between the submission of a launch and its start: what the driver compiled
// in its first one. 0 where the driver measures nothing. Throws Refused.
std::uint64_t time_before_start(const Session& session, const cl::Event& launched);

// A built program. build_failure with the log and the place of its first error as the compiler tells it, its
// column counted in bytes; kernel_options for options that the compiler does not know.
Result<cl::Program> build_program(const Session& session, std::string_view source,
                                  const std::string& options);

} // namespace tidegate::device
