// Every OpenCL device of this machine with the limits that matter to a launch. Plain data; nothing of OpenCL
// shows.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::device {

enum class DeviceType : std::uint8_t { cpu, gpu, accelerator, custom };
inline constexpr std::array<std::string_view, 4> device_type_names{"cpu", "gpu", "accelerator", "custom"};

// Whether a persistent launch is possible as far as the limits say. How many work-groups are resident
// together is the number of compute units on a CPU and has to be discovered on a GPU.
struct Megakernel {
  bool supported = false;
  std::optional<std::uint32_t> max_worker_count; // when it is known
  std::string reason;
};

struct DeviceInfo {
  std::uint32_t index = 0; // counted over all platforms
  std::string name;
  DeviceType type = DeviceType::cpu;
  std::optional<std::string> uuid; // of the extension cl_khr_device_uuid
  std::string vendor;
  std::string platform;
  std::string opencl_version;   // "OpenCL 3.0 …", in the driver's words
  std::string opencl_c_version; // "OpenCL C 1.2 …"
  std::string driver_version;
  bool available = false;
  bool compiler_available = false;
  std::uint32_t compute_units = 0;
  std::uint32_t max_clock_mhz = 0;
  std::uint64_t max_workgroup_size = 0;
  std::vector<std::uint64_t> max_work_item_sizes; // by dimension
  std::uint64_t global_memory_bytes = 0;
  std::uint64_t max_allocation_bytes = 0;
  std::uint64_t local_memory_bytes = 0;
  bool dedicated_local_memory = false; // not a part of global memory
  std::uint64_t constant_memory_bytes = 0;
  std::uint64_t global_cache_bytes = 0;
  std::uint32_t cache_line_bytes = 0;
  std::uint32_t base_alignment_bytes = 0; // of a sub-buffer
  std::uint64_t max_argument_bytes = 0;   // of a kernel, together
  std::uint64_t timer_resolution_ns = 0;  // of event profiling
  bool double_precision = false;
  bool half_precision = false;
  bool int64_atomics = false;
  bool images = false;
  std::uint32_t max_read_images = 0; // parameters of a kernel
  std::uint32_t max_write_images = 0;
  std::uint32_t max_read_write_images = 0;
  std::uint32_t max_samplers = 0;
  std::uint32_t max_sub_groups = 0; // of a work-group; 0: there are none, or an older extension has them
  std::string extensions;           // divided by spaces

  Megakernel megakernel;
  std::optional<DeviceProfile> profile; // of the self-test, once it has run
};

// The Portable Computing Language: it compiles with Clang, when a kernel is launched, and keeps what it
// compiled.
bool is_pocl(const DeviceInfo& device);

// A driver that the loader was told of and could not use.
struct BrokenDriver {
  std::string file; // the .icd file
  std::string problem;
};

struct DeviceList {
  std::vector<DeviceInfo> devices; // platform by platform
  std::vector<BrokenDriver> broken_drivers;
  std::vector<std::string> notes; // platforms without devices or that could not be listed
};

// The device as the launch policy sees it. OpenCL names no number of work-groups: it is what drivers take in one
// dimension, 2^31 - 1.
policy::AdapterLimits adapter_limits(const DeviceInfo& device);

// "NAME VERSION (OpenCL X.Y)" of the OpenCL loader, or "unknown".
std::string loader_version();

// Asks every platform; without drivers the list is empty.
Result<DeviceList> list_devices();

// The error for a list in which nothing was found: no_device, with what is known about the reason.
Error no_device(const DeviceList& list);

// Which device a person means.

// The device that `selector` names: an index, "cpu" or "gpu" (the first of that type), a UUID, a whole name
// or a part of one, in any case. An empty selector takes the first GPU, or else the first device. no_device
// when there is none such, ambiguous_device when a part of a name fits several; both list what there is.
Result<const DeviceInfo*> select_device(const DeviceList& list, std::string_view selector);

} // namespace tidegate::device
