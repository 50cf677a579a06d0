// OpenCL for C++ as this project uses it: error codes and no exceptions.
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
#include <utility>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS // clGetExtensionFunctionAddress, which asks the loader itself
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110

#include <CL/opencl.hpp>

namespace tidegate::device {

// OpenCL objects for the engine and the rest of this folder.

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

// OpenCL's error codes by name.

// "CL_OUT_OF_RESOURCES" for -5; "error -9999" for a code that the standard does not name.
std::string opencl_error_name(int code);

// Whether it says that the device or this machine has no memory, or no other resource, left.
bool is_lack_of_memory(int code);

// opencl_failure: `what` failed with this code.
Error opencl_failure(std::string_view what, int code);

// Host memory in which a GPU reads and writes by itself, at the full rate of the bus. Of a process's other
// memory the driver first makes a copy in such pages, which takes several times as long as the transfer.

struct Session;

class PinnedMemory {
public:
  // A buffer in host memory, mapped once, of at least one byte. Nothing where the driver has none to give:
  // other memory serves as well, more slowly.
  static std::optional<PinnedMemory> allocate(const Session& session, std::size_t bytes);

  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_}; }

private:
  using GiveBack = std::function<void(std::byte*)>; // behind what was enqueued before, waiting for nothing
  PinnedMemory(std::byte* memory, std::size_t size, GiveBack give_back)
      : memory_(memory, std::move(give_back)), size_(size) {}

  std::unique_ptr<std::byte, GiveBack> memory_;
  std::size_t size_;
};

} // namespace tidegate::device
