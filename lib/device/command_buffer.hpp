// Records launches once and enqueues all of them with one call, using cl_khr_command_buffer.
#pragma once
#include "device/opencl.hpp"

#include <CL/cl_ext.h>

#include <memory>
#include <optional>
#include <type_traits>

namespace tidegate::engine {

class CommandBuffer {
public:
  // Starts recording. Returns nullopt if the device has no command buffers, or none that may be enqueued
  // again while they are still running. Throws device::Refused.
  static std::optional<CommandBuffer> begin(const device::Session& session);

  // Appends a launch with the kernel's current arguments. Throws device::Refused.
  void add(const cl::Kernel& kernel, const cl::NDRange& offset, const cl::NDRange& global,
           const cl::NDRange& local);

  // Ends recording. Throws device::Refused.
  void end();

  // Throws device::Refused.
  void enqueue() const;

private:
  struct Functions {
    clCreateCommandBufferKHR_fn create = nullptr;
    clCommandNDRangeKernelKHR_fn add = nullptr;
    clFinalizeCommandBufferKHR_fn end = nullptr;
    clEnqueueCommandBufferKHR_fn enqueue = nullptr;
    clReleaseCommandBufferKHR_fn release = nullptr;
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<cl_command_buffer_khr>, clReleaseCommandBufferKHR_fn>;

  CommandBuffer(const Functions& functions, Handle handle)
      : functions_(functions), handle_(std::move(handle)) {}
  static std::optional<Functions> functions_of(const cl::Device& device);

  Functions functions_;
  Handle handle_;
};

} // namespace tidegate::engine
