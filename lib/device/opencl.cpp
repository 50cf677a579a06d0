#include "device/opencl.hpp"

#include "device/driver_output.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
        break; // the device at this index has changed
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
                              .fix = "try again; `tidegate devices` lists the devices"});
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
    error.fix = "remove the options that it does not support";
  }
  return tl::unexpected(std::move(error));
}

namespace {

struct Name {
  int code;
  std::string_view name;
};

#define NAMED(code)                                                                                          \
  Name {                                                                                                     \
    code, #code                                                                                              \
  }
constexpr std::array names{NAMED(CL_SUCCESS),
                           NAMED(CL_DEVICE_NOT_FOUND),
                           NAMED(CL_DEVICE_NOT_AVAILABLE),
                           NAMED(CL_COMPILER_NOT_AVAILABLE),
                           NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                           NAMED(CL_OUT_OF_RESOURCES),
                           NAMED(CL_OUT_OF_HOST_MEMORY),
                           NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
                           NAMED(CL_MEM_COPY_OVERLAP),
                           NAMED(CL_IMAGE_FORMAT_MISMATCH),
                           NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
                           NAMED(CL_BUILD_PROGRAM_FAILURE),
                           NAMED(CL_MAP_FAILURE),
                           NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
                           NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                           NAMED(CL_COMPILE_PROGRAM_FAILURE),
                           NAMED(CL_LINKER_NOT_AVAILABLE),
                           NAMED(CL_LINK_PROGRAM_FAILURE),
                           NAMED(CL_DEVICE_PARTITION_FAILED),
                           NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
                           NAMED(CL_INVALID_VALUE),
                           NAMED(CL_INVALID_DEVICE_TYPE),
                           NAMED(CL_INVALID_PLATFORM),
                           NAMED(CL_INVALID_DEVICE),
                           NAMED(CL_INVALID_CONTEXT),
                           NAMED(CL_INVALID_QUEUE_PROPERTIES),
                           NAMED(CL_INVALID_COMMAND_QUEUE),
                           NAMED(CL_INVALID_HOST_PTR),
                           NAMED(CL_INVALID_MEM_OBJECT),
                           NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
                           NAMED(CL_INVALID_IMAGE_SIZE),
                           NAMED(CL_INVALID_SAMPLER),
                           NAMED(CL_INVALID_BINARY),
                           NAMED(CL_INVALID_BUILD_OPTIONS),
                           NAMED(CL_INVALID_PROGRAM),
                           NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
                           NAMED(CL_INVALID_KERNEL_NAME),
                           NAMED(CL_INVALID_KERNEL_DEFINITION),
                           NAMED(CL_INVALID_KERNEL),
                           NAMED(CL_INVALID_ARG_INDEX),
                           NAMED(CL_INVALID_ARG_VALUE),
                           NAMED(CL_INVALID_ARG_SIZE),
                           NAMED(CL_INVALID_KERNEL_ARGS),
                           NAMED(CL_INVALID_WORK_DIMENSION),
                           NAMED(CL_INVALID_WORK_GROUP_SIZE),
                           NAMED(CL_INVALID_WORK_ITEM_SIZE),
                           NAMED(CL_INVALID_GLOBAL_OFFSET),
                           NAMED(CL_INVALID_EVENT_WAIT_LIST),
                           NAMED(CL_INVALID_EVENT),
                           NAMED(CL_INVALID_OPERATION),
                           NAMED(CL_INVALID_BUFFER_SIZE),
                           NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
                           NAMED(CL_INVALID_PROPERTY),
                           NAMED(CL_INVALID_COMPILER_OPTIONS),
                           NAMED(CL_INVALID_LINKER_OPTIONS),
                           NAMED(CL_INVALID_DEVICE_PARTITION_COUNT)};
#undef NAMED

} // namespace

std::string opencl_error_name(int code) {
  const auto* const found = std::ranges::find(names, code, &Name::code);
  return found != names.end() ? std::string(found->name) : fmt::format("error {}", code);
}

bool is_lack_of_memory(int code) {
  return code == CL_OUT_OF_RESOURCES || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_HOST_MEMORY;
}

Error opencl_failure(std::string_view what, int code) {
  Error error{.code = ErrorCode::opencl_failure,
              .message = fmt::format("{} failed: {}", what, opencl_error_name(code)),
              .fix = "check the driver's messages; `tidegate devices` lists other devices"};
  if (is_lack_of_memory(code)) {
    error.fix = fmt::format("free memory {}, or use smaller buffers",
                            code == CL_OUT_OF_HOST_MEMORY ? "of this machine" : "on the device");
  }
  return error;
}

std::optional<PinnedMemory> PinnedMemory::allocate(const Session& session, std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  cl::Buffer buffer(session.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
  if (status != CL_SUCCESS) {
    return {};
  }
  void* const mapped = session.queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                                      nullptr, nullptr, &status);
  if (status != CL_SUCCESS || mapped == nullptr) {
    return {};
  }
  return PinnedMemory(static_cast<std::byte*>(mapped), bytes,
                      [queue = session.queue, buffer](std::byte* memory) {
                        (void)queue.enqueueUnmapMemObject(buffer, memory);
                      });
}

} // namespace tidegate::device

namespace tidegate::engine {
namespace {

using device::require;

template <class Function>
bool find_function(cl_platform_id platform, const char* name, Function& function) {
  function = reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
  return function != nullptr;
}

template <class Value>
Value device_info(const cl::Device& device, cl_device_info what) {
  Value value{};
  return clGetDeviceInfo(device(), what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

const std::size_t* sizes_of(const cl::NDRange& range) {
  return range.dimensions() == 0 ? nullptr : range.get();
}

} // namespace

std::optional<CommandBuffer::Functions> CommandBuffer::functions_of(const cl::Device& device) {
  const std::string extensions = " " + device.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  const auto capabilities = device_info<cl_device_command_buffer_capabilities_khr>(
      device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR);
  const auto queue = device_info<cl_command_queue_properties>(
      device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
  Functions functions;
  const bool there = extensions.find(" cl_khr_command_buffer ") != std::string::npos && queue == 0 &&
                     (capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0 &&
                     find_function(platform(), "clCreateCommandBufferKHR", functions.create) &&
                     find_function(platform(), "clCommandNDRangeKernelKHR", functions.add) &&
                     find_function(platform(), "clFinalizeCommandBufferKHR", functions.end) &&
                     find_function(platform(), "clEnqueueCommandBufferKHR", functions.enqueue) &&
                     find_function(platform(), "clReleaseCommandBufferKHR", functions.release);
  return there ? std::optional(functions) : std::nullopt;
}

std::optional<CommandBuffer> CommandBuffer::begin(const device::Session& session) {
  const auto functions = functions_of(session.device);
  if (!functions) {
    return {};
  }
  constexpr std::array<cl_command_buffer_properties_khr, 3> properties{
      CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  cl_command_queue queue = session.queue();
  cl_int status = CL_SUCCESS;
  Handle handle(functions->create(1, &queue, properties.data(), &status), functions->release);
  require(status, "beginning to record launches");
  return CommandBuffer(*functions, std::move(handle));
}

void CommandBuffer::add(const cl::Kernel& kernel, const cl::NDRange& offset, const cl::NDRange& global,
                        const cl::NDRange& local) {
  require(functions_.add(handle_.get(), nullptr, nullptr, kernel(), static_cast<cl_uint>(global.dimensions()),
                         sizes_of(offset), sizes_of(global), sizes_of(local), 0, nullptr, nullptr, nullptr),
          "recording a launch");
}

void CommandBuffer::end() {
  require(functions_.end(handle_.get()), "recording launches");
}

void CommandBuffer::enqueue() const {
  require(functions_.enqueue(0, nullptr, handle_.get(), 0, nullptr, nullptr), "launching what was recorded");
}

} // namespace tidegate::engine
