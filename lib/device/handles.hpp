// OpenCL objects for the rest of this folder and of lib/run; not installed with the others.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/opencl.hpp>

#include <string>
#include <string_view>

namespace tidegate::device {

// A device with a context and an in-order queue of its own.
struct Session {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
};

// opencl_failure; no_device when the list has changed since.
Result<Session> open_session(const DeviceInfo& device);

// A built program; opencl_failure with the build log in the message.
Result<cl::Program> build_program(const Session& session, std::string_view source,
                                  const std::string& options);

} // namespace tidegate::device
