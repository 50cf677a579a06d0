// The OpenCL devices of this machine with the limits that matter to a launch. Plain data without OpenCL
// types.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/device/profile.hpp>

#include <filesystem>

namespace tidegate::device {

enum class DeviceType : std::uint8_t { cpu, gpu, accelerator, custom };
inline constexpr std::array<std::string_view, 4> device_type_names{"cpu", "gpu", "accelerator", "custom"};

// Says whether the device's limits allow a persistent launch. On a CPU as many work-groups run concurrently
// as there are compute units; on a GPU the self-test must discover the number.
struct Megakernel {
  bool supported = false;
  std::optional<std::uint32_t> max_worker_count; // where it is known
  std::string reason;
};

struct DeviceInfo {
  std::uint32_t index = 0; // counts over all platforms
  std::string name;
  DeviceType type = DeviceType::cpu;
  std::optional<std::string> uuid; // requires cl_khr_device_uuid
  std::string vendor;
  std::string platform;
  std::string opencl_version; // "OpenCL 3.0 …", as the driver reports it
  std::string driver_version;
  bool available = false;
  bool compiler_available = false;
  std::uint32_t compute_units = 0;
  std::uint64_t max_workgroup_size = 0;
  std::vector<std::uint64_t> max_work_item_sizes; // by dimension
  std::uint64_t global_memory_bytes = 0;
  std::uint64_t max_allocation_bytes = 0;
  std::uint64_t local_memory_bytes = 0;
  std::uint32_t base_alignment_bytes = 0; // for sub-buffers
  bool int64_atomics = false;
  bool images = false;
  std::uint32_t max_read_images = 0; // limit of image parameters per kernel
  std::uint32_t max_read_write_images = 0;
  std::uint32_t max_samplers = 0;
  std::string extensions; // separated by spaces

  Megakernel megakernel;
  std::optional<DeviceProfile> profile; // result of the self-test, once it has run
};

// Returns true for the Portable Computing Language, which compiles a kernel with Clang at its first launch
// and caches the result.
bool is_pocl(const DeviceInfo& device);

// Returns true if the self-test proved that kernels can contain PTX (NVIDIA), and so have named barriers and
// a clock.
bool takes_ptx(const DeviceInfo& device);

// Returns what names the device and its driver in the keys of kept results.
std::string cache_key(const DeviceInfo& device);

// A driver that is registered with the loader but cannot be used.
struct BrokenDriver {
  std::string file; // the .icd file
  std::string problem;
};

struct DeviceList {
  std::vector<DeviceInfo> devices; // platform by platform
  std::vector<BrokenDriver> broken_drivers;
  std::vector<std::string> notes; // platforms that have no devices or could not be listed
};

// Returns the limits of the device for the launch policy. OpenCL does not report the most work-groups; drivers accept
// 2^31 - 1 in one dimension.
policy::AdapterLimits adapter_limits(const DeviceInfo& device);

// Returns "NAME VERSION (OpenCL X.Y)" of the OpenCL loader, or "unknown".
std::string loader_version();

// Returns the .icd files in the folder in which the loader looks for drivers, in order.
std::vector<std::filesystem::path> driver_files();

// Queries every platform; the list is empty without drivers.
Result<DeviceList> list_devices();

// Returns the error for an empty list: no_device, with the broken drivers and notes.
Error no_device(const DeviceList& list);

// Returns the device that `selector` names: an index, "cpu" or "gpu" (the first of that type), a UUID, a name
// or part of one (case is ignored). An empty selector selects the first GPU, else the first device. Errors:
// no_device if none matches, ambiguous_device if several names match; both list the devices.
Result<const DeviceInfo*> select_device(const DeviceList& list, std::string_view selector);

// Returns all devices that `selector` names, of a type or without one those of one platform. Error: no_device.
Result<std::vector<const DeviceInfo*>> select_devices(const DeviceList& list, std::string_view selector);

// Runs the self-test on a device of list_devices(). It finds a memory ordering that makes writes of one work-group visible
// to others of the same launch (a litmus test with all resident groups proves it), the number of work-groups that run
// concurrently (on a CPU it is the number of compute units), and the cost of barriers and launches. Persistent launches need
// an ordering that passed. Takes about a second, plus the time the driver needs to compile several small programs; each wait
// that times out adds some seconds. Returns opencl_failure if the driver refuses a basic operation; an ordering that fails
// is a result, not an error.
Result<DeviceProfile> probe(const DeviceInfo& device);

} // namespace tidegate::device

namespace tidegate::documents {

TIDEGATE_CHOICES(device::DeviceType, device::device_type_names);

TIDEGATE_CHOICES(device::MemoryOrdering, device::ordering_names);
TIDEGATE_CHOICES(device::Strategy, device::strategy_names);
TIDEGATE_CHOICES(device::TileMapping, device::tile_mapping_names);
TIDEGATE_CHOICES(device::TrialVerdict, device::trial_verdict_names);

TIDEGATE_CHOICES(policy::SwitchRule, policy::switch_rule_names);
TIDEGATE_HAS_RECORD(device::CostParts);
TIDEGATE_HAS_RECORD(device::DeviceProfile);

TIDEGATE_HAS_DOCUMENT(device::DeviceProfile);
TIDEGATE_HAS_DOCUMENT(device::DeviceList);

} // namespace tidegate::documents
