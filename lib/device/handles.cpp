#include <tidegate/core/text.hpp>
#include <tidegate/device/build_log.hpp>
#include <tidegate/device/driver_output.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/device/opencl_error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::device {

std::uint64_t time_before_start(const Session& session, const cl::Event& launched) {
  require(session.queue.finish(), "running the first launch of a kernel");
  cl_ulong submitted = 0;
  cl_ulong started = 0;
  const bool measured = launched.getProfilingInfo(CL_PROFILING_COMMAND_SUBMIT, &submitted) == CL_SUCCESS &&
                        launched.getProfilingInfo(CL_PROFILING_COMMAND_START, &started) == CL_SUCCESS;
  return measured && started > submitted ? started - submitted : 0;
}

void require(cl_int status, std::string_view what) {
  if (status != CL_SUCCESS) {
    throw Refused{opencl_failure(what, status)};
  }
}

Result<Session> open_session(const DeviceInfo& info, Profiling profiling) {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::uint32_t index = 0;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      if (index++ != info.index) {
        continue;
      }
      std::string name;
      (void)device.getInfo(CL_DEVICE_NAME, &name);
      if (name.find(info.name) == std::string::npos) {
        break; // another device has this index by now
      }
      cl_int status = CL_SUCCESS;
      Session session{
          .device = device, .context = cl::Context(device, nullptr, nullptr, nullptr, &status), .queue = {}};
      if (status != CL_SUCCESS) {
        return tl::unexpected(opencl_failure("making a context", status));
      }
      session.on_host = info.type == DeviceType::cpu;
      const bool profiled = session.on_host || profiling == Profiling::always;
      const cl_command_queue_properties properties = profiled ? CL_QUEUE_PROFILING_ENABLE : 0;
      session.queue = cl::CommandQueue(session.context, device, properties, &status);
      if (status != CL_SUCCESS) {
        return tl::unexpected(opencl_failure("making a queue", status));
      }
      return session;
    }
  }
  return tl::unexpected(Error{.code = ErrorCode::no_device,
                              .message = "the device has gone since it was listed",
                              .fix = "try again; `tidegate devices` lists what there is"});
}

Result<cl::Program> build_program(const Session& session, std::string_view source,
                                  const std::string& options) {
  CapturedErrors printed;
  cl_int status = CL_SUCCESS;
  cl::Program program(session.context, std::string(source), false, &status);
  if (status == CL_SUCCESS) {
    status = program.build(session.device, options.c_str());
  }
  if (status == CL_SUCCESS) {
    return program;
  }
  const Error refused = opencl_failure("building a kernel", status);
  std::string log;
  if (program() != nullptr) {
    (void)program.getBuildInfo(session.device, CL_PROGRAM_BUILD_LOG, &log);
  }
  Error error = build_error(source, log + printed.take());
  if (error.message.empty()) {
    error.message = refused.message;
    error.fix = refused.fix;
    if (is_lack_of_memory(status)) {
      error.code = refused.code;
    }
  }
  if (status == CL_INVALID_BUILD_OPTIONS) {
    error.code = ErrorCode::kernel_options;
    error.message = fmt::format("the compiler of the device refuses the options {}", in_quotes(options));
    error.fix = "leave out what it does not know";
  }
  return tl::unexpected(std::move(error));
}

} // namespace tidegate::device
