// OpenCL for C++ (error codes, no exceptions), sessions, builds, pinned memory and command buffers.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS // clGetExtensionFunctionAddress, which queries the loader
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110

#include <CL/opencl.hpp>

namespace tidegate::device {

// A device with a context and an in-order queue.
struct Session {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  // CPU drivers work in the host's memory and compile a kernel at its first launch.
  bool on_host = false;
};

// Selects event profiling. CPUs always profile, because it shows how long a first launch compiled.
enum class Profiling : std::uint8_t { as_needed, always };

// Errors: opencl_failure; no_device if the device list has changed.
Result<Session> open_session(const DeviceInfo& device, Profiling profiling = Profiling::as_needed);

// A step that the driver refused, thrown through nested calls; public functions convert it to a Result.
struct Refused {
  Error error;
};

// Throws Refused with opencl_failure unless the status is CL_SUCCESS.
void require(cl_int status, std::string_view what);

// Waits for the queue. Returns nanoseconds between submission and start of a kernel's first launch, which is
// the time the driver compiled; 0 if the driver does not measure it. Throws Refused.
std::uint64_t time_before_start(const Session& session, const cl::Event& launched);

// Builds a program. Errors: build_failure with the log and its first error's location (columns count bytes);
// kernel_options if the compiler does not know an option.
Result<cl::Program> build_program(const Session& session, std::string_view source,
                                  const std::string& options);

// Returns the name of an OpenCL error code: "CL_OUT_OF_RESOURCES" for -5, "error -9999" for an unknown code.
std::string opencl_error_name(int code);

// Returns true if the code means that the device or host is out of memory or another resource.
bool is_lack_of_memory(int code);

// The error for an operation `what` that failed with this code.
Error opencl_failure(std::string_view what, int code);

// Host memory that a GPU accesses directly, at the full rate of the bus. The driver copies other memory of a
// process into such pages first, which takes several times as long as the transfer.

class PinnedMemory {
public:
  // Allocates and maps a host buffer; `bytes` must be at least 1. Returns nullopt if the driver has none
  // left; the caller can use ordinary memory, which is slower.
  static std::optional<PinnedMemory> allocate(const Session& session, std::size_t bytes);

  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_}; }

private:
  using GiveBack = std::function<void(std::byte*)>; // enqueues the unmap and does not wait for it
  PinnedMemory(std::byte* memory, std::size_t size, GiveBack give_back)
      : memory_(memory, std::move(give_back)), size_(size) {}

  std::unique_ptr<std::byte, GiveBack> memory_;
  std::size_t size_;
};

} // namespace tidegate::device

namespace tidegate::engine {

// Records launches once and enqueues all of them with one call, using cl_khr_command_buffer.
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
