#include <tidegate/device/handles.hpp>
#include <tidegate/device/opencl_error.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::device {

Result<Session> open_session(const DeviceInfo& info) {
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
      session.queue = cl::CommandQueue(session.context, device, cl_command_queue_properties{0}, &status);
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
  cl_int status = CL_SUCCESS;
  cl::Program program(session.context, std::string(source), false, &status);
  if (status == CL_SUCCESS) {
    status = program.build(session.device, options.c_str());
  }
  if (status == CL_SUCCESS) {
    return program;
  }
  Error error = opencl_failure("building a kernel", status);
  std::string log;
  if (program() != nullptr &&
      program.getBuildInfo(session.device, CL_PROGRAM_BUILD_LOG, &log) == CL_SUCCESS) {
    error.message += "\n" + log;
  }
  return tl::unexpected(std::move(error));
}

} // namespace tidegate::device
