#include "device/command_buffer.hpp"

#include <array>
#include <string>
#include <utility>

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
