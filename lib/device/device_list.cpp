#include "device/isolation.hpp"
#include "device/opencl.hpp"
#include "device/session.hpp"
#include <tidegate/device/device_list.hpp>

#include <dlfcn.h>

#include <fstream>

namespace tidegate::device {
namespace {

// The headers of Debian 12 do not define this query.
constexpr cl_device_info device_uuid = 0x106A; // cl_khr_device_uuid
constexpr std::size_t uuid_bytes = 16;

// Runs one query; returns a default value if the driver does not support it.
template <class T>
T query(const cl::Device& device, cl_device_info what) {
  T value{};
  (void)device.getInfo(what, &value);
  if constexpr (std::is_same_v<T, std::string>) {
    value.erase(std::min(value.find('\0'), value.size()));
    value.erase(0, std::min(value.find_first_not_of(' '), value.size()));
    value.erase(value.find_last_not_of(' ') + 1);
  }
  return value;
}

bool has(const std::string& extensions, std::string_view name) {
  const std::string all = " " + extensions + " ";
  return all.find(" " + std::string(name) + " ") != std::string::npos;
}

DeviceType type_of(const cl::Device& device) {
  const auto type = query<cl_device_type>(device, CL_DEVICE_TYPE);
  return (type & CL_DEVICE_TYPE_GPU) != 0           ? DeviceType::gpu
         : (type & CL_DEVICE_TYPE_CPU) != 0         ? DeviceType::cpu
         : (type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? DeviceType::accelerator
                                                    : DeviceType::custom;
}

// Formats the UUID as 8-4-4-4-12 hexadecimal digits.
std::optional<std::string> uuid_of(const cl::Device& device, const std::string& extensions) {
  std::array<cl_uchar, uuid_bytes> bytes{};
  if (!has(extensions, "cl_khr_device_uuid") || device.getInfo(device_uuid, &bytes) != CL_SUCCESS) {
    return {};
  }
  std::string text = fmt::format("{:02x}", fmt::join(bytes, ""));
  for (const std::size_t at : {8U, 13U, 18U, 23U}) {
    text.insert(at, 1, '-');
  }
  return text;
}

Megakernel judge_megakernel(const DeviceInfo& info) {
  const std::string_view refused = !info.available            ? "the device is not available"
                                   : !info.compiler_available ? "the driver has no compiler"
                                   : info.type == DeviceType::custom
                                       ? "a custom device cannot run user kernels"
                                       : "";
  if (!refused.empty()) {
    return {.reason = std::string(refused)};
  }
  const bool cpu = info.type == DeviceType::cpu;
  return {.supported = true,
          .max_worker_count = cpu ? std::optional(info.compute_units) : std::nullopt,
          .reason = cpu ? "a CPU device runs one work-group per compute unit at a time"
                        : "the self-test discovers how many work-groups run concurrently"};
}

DeviceInfo describe(const cl::Device& device, const std::string& platform, std::uint32_t index) {
  DeviceInfo info{.index = index, .platform = platform};
  info.name = query<std::string>(device, CL_DEVICE_NAME);
  info.type = type_of(device);
  info.vendor = query<std::string>(device, CL_DEVICE_VENDOR);
  info.opencl_version = query<std::string>(device, CL_DEVICE_VERSION);
  info.driver_version = query<std::string>(device, CL_DRIVER_VERSION);
  info.extensions = query<std::string>(device, CL_DEVICE_EXTENSIONS);
  info.uuid = uuid_of(device, info.extensions);
  info.available = query<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_TRUE;
  info.compiler_available = query<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  info.compute_units = query<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.max_workgroup_size = query<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto sizes = query<std::vector<std::size_t>>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  info.max_work_item_sizes.assign(sizes.begin(), sizes.end());
  info.global_memory_bytes = query<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation_bytes = query<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.local_memory_bytes = query<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.base_alignment_bytes = query<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8; // given in bits
  info.int64_atomics = has(info.extensions, "cl_khr_int64_base_atomics");
  info.images = query<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
  info.max_read_images = query<cl_uint>(device, CL_DEVICE_MAX_READ_IMAGE_ARGS);
  info.max_read_write_images = query<cl_uint>(device, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS);
  info.max_samplers = query<cl_uint>(device, CL_DEVICE_MAX_SAMPLERS);
  info.megakernel = judge_megakernel(info);
  return info;
}

// Returns the folder in which the loader looks for drivers.
std::filesystem::path drivers_folder() {
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
    const char* value = std::getenv(name); // NOLINT: no thread changes the environment
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return "/etc/OpenCL/vendors";
}

// Loaders silently skip a driver that they cannot open; this list tells users why a device is missing.
std::vector<BrokenDriver> broken_drivers() {
  std::vector<BrokenDriver> broken = crashed_drivers();
  for (const auto& file : driver_files()) {
    std::ifstream in(file);
    std::string library;
    std::getline(in, library);
    library.erase(library.find_last_not_of(" \t\r") + 1);
    if (library.empty()) {
      broken.push_back({file.string(), "the file names no library"});
      continue;
    }
    // Not closed: the loader has it open too, and some drivers crash when unloaded.
    if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      const char* why = ::dlerror();
      broken.push_back({file.string(), why != nullptr ? why : "the library cannot be opened"});
    }
  }
  return broken;
}

} // namespace

std::vector<std::filesystem::path> driver_files() {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(drivers_folder(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".icd") {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

policy::AdapterLimits adapter_limits(const DeviceInfo& device) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const auto narrowed = [most](std::uint64_t limit) {
    return static_cast<std::uint32_t>(std::min(limit, most));
  };
  const std::uint64_t in_x =
      device.max_work_item_sizes.empty() ? device.max_workgroup_size : device.max_work_item_sizes.front();
  return {.max_workgroup_size_x = narrowed(std::min(in_x, device.max_workgroup_size)),
          .max_compute_workgroups_per_dimension = narrowed(most),
          .max_compute_invocations_per_workgroup = narrowed(device.max_workgroup_size)};
}

std::string loader_version() {
  // The query is an extension (cl_loader_info); the loader returns it by name.
  using LoaderInfo = cl_int(cl_uint name, std::size_t size, void* value, std::size_t* size_returned);
  auto* const info =
      reinterpret_cast<LoaderInfo*>(::clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD"));
  if (info == nullptr) {
    return "unknown";
  }
  const auto query = [info](cl_uint name) -> std::string {
    std::array<char, 256> value{};
    return info(name, value.size(), value.data(), nullptr) == CL_SUCCESS ? value.data() : "";
  };
  constexpr cl_uint opencl = 1, version = 2, loader_name = 3;
  return query(loader_name) + " " + query(version) + " (" + query(opencl) + ")";
}

Result<DeviceList> list_devices() {
  work_notes().listing = true;
  DeviceList list{.devices = {}, .broken_drivers = broken_drivers(), .notes = {}};
  std::vector<cl::Platform> platforms;
  const cl_int status = cl::Platform::get(&platforms);
  if (status != CL_SUCCESS) {
    platforms.clear();
    constexpr cl_int no_platform = -1001; // the loader has found no driver
    if (status != no_platform) {
      list.notes.push_back("listing the platforms failed: " + opencl_error_name(status));
    }
  }
  for (const cl::Platform& platform : platforms) {
    std::string name;
    (void)platform.getInfo(CL_PLATFORM_NAME, &name);
    name.erase(std::min(name.find('\0'), name.size()));
    std::vector<cl::Device> devices;
    const cl_int listed = platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (listed != CL_SUCCESS || devices.empty()) {
      list.notes.push_back(
          name.starts_with("Portable Computing Language")
              ? fmt::format(
                    "platform {} has no devices; PoCL needs a cache folder it can write to (POCL_CACHE_DIR)",
                    name)
              : fmt::format("platform {} has no devices ({})", name, opencl_error_name(listed)));
      continue;
    }
    for (const cl::Device& device : devices) {
      list.devices.push_back(describe(device, name, static_cast<std::uint32_t>(list.devices.size())));
    }
  }
  work_notes().listing = false;
  return list;
}

Error no_device(const DeviceList& list) {
  Error error{.code = ErrorCode::no_device,
              .message = "there is no OpenCL device",
              .fix = "install a driver (Debian, for the CPU: pocl-opencl-icd); /etc/OpenCL/vendors or "
                     "OCL_ICD_VENDORS says which ones the loader knows"};
  for (const BrokenDriver& broken : list.broken_drivers) {
    error.message += fmt::format("; {}: {}", broken.file, broken.problem);
  }
  for (const std::string& note : list.notes) {
    error.message += "; " + note;
  }
  return error;
}

std::string cache_key(const DeviceInfo& device) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", device.platform, device.name, device.uuid.value_or(""),
                     device.vendor, device.opencl_version, device.driver_version, device.compute_units);
}

bool is_pocl(const DeviceInfo& device) {
  return device.platform == "Portable Computing Language";
}

bool takes_ptx(const DeviceInfo& device) {
  return device.profile && std::ranges::any_of(device.profile->trials, [](const OrderingTrial& trial) {
           return trial.ordering == MemoryOrdering::ptx && trial.verdict == TrialVerdict::passed;
         });
}

namespace {

// Normalizes a UUID: "GPU-1f00…" and "1F00-…" become the same digits.
std::optional<std::string> uuid_digits(std::string_view text) {
  std::string digits = lower_case(text);
  if (digits.starts_with("gpu-")) {
    digits.erase(0, 4);
  }
  std::erase(digits, '-');
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hexadecimal && digits.size() == 32 ? std::optional(digits) : std::nullopt;
}

Error refusal(ErrorCode code, std::string message, const DeviceList& list) {
  Error error{.code = code, .message = std::move(message), .fix = "choose one of"};
  for (const DeviceInfo& device : list.devices) {
    error.fix +=
        fmt::format("{} {}: {} ({})", device.index == 0 ? "" : ",", device.index, shortened(device.name, 60),
                    device_type_names[static_cast<std::size_t>(device.type)]);
  }
  return error;
}

bool names_type(std::string_view selector) {
  const std::string word = lower_case(selector);
  return word.empty() || word == "cpu" || word == "gpu";
}

std::vector<const DeviceInfo*> those(const DeviceList& list, auto fits) {
  std::vector<const DeviceInfo*> found;
  for (const DeviceInfo& device : list.devices) {
    if (fits(device)) {
      found.push_back(&device);
    }
  }
  return found;
}

// Returns all devices that the selector names; those of a type are of one platform, that of the first.
std::vector<const DeviceInfo*> matches(const DeviceList& list, std::string_view selector) {
  const std::string word = lower_case(selector);
  if (names_type(selector)) {
    auto first =
        std::ranges::find(list.devices, word == "cpu" ? DeviceType::cpu : DeviceType::gpu, &DeviceInfo::type);
    first = first == list.devices.end() && word.empty() ? list.devices.begin() : first;
    return those(list, [&](const DeviceInfo& device) {
      return first != list.devices.end() && device.type == first->type && device.platform == first->platform;
    });
  }
  if (const auto index = number_in<std::uint32_t>(selector); index && *index < list.devices.size()) {
    return {&list.devices[*index]};
  } // another number may be part of a name
  if (const auto uuid = uuid_digits(selector)) {
    return those(list,
                 [&](const DeviceInfo& device) { return uuid_digits(device.uuid.value_or("")) == uuid; });
  }
  const auto whole = those(list, [&](const DeviceInfo& device) { return lower_case(device.name) == word; });
  return !whole.empty() ? whole : those(list, [&](const DeviceInfo& device) {
    return lower_case(device.name).find(word) != std::string::npos;
  });
}

} // namespace

Result<std::vector<const DeviceInfo*>> select_devices(const DeviceList& list, std::string_view selector) {
  if (list.devices.empty()) {
    return tl::unexpected(no_device(list));
  }
  std::vector<const DeviceInfo*> found = matches(list, selector);
  if (found.empty()) {
    return tl::unexpected(
        refusal(ErrorCode::no_device, fmt::format("no device is {}", in_quotes(selector)), list));
  }
  return found;
}

Result<const DeviceInfo*> select_device(const DeviceList& list, std::string_view selector) {
  TIDEGATE_TRY(const std::vector<const DeviceInfo*> found, select_devices(list, selector));
  if (found.size() > 1 && !names_type(selector)) {
    return tl::unexpected(
        refusal(ErrorCode::ambiguous_device,
                fmt::format("{} devices are called {} or have it in their names; choose by index or UUID",
                            found.size(), in_quotes(selector)),
                list));
  }
  return found.front();
}

} // namespace tidegate::device
