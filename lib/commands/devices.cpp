#include <tidegate/commands/devices.hpp>
#include <tidegate/core/bytes.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <vector>

namespace tidegate::commands {
namespace {

std::vector<std::vector<std::string>> figures(const device::DeviceInfo& device) {
  std::string sizes;
  for (const std::uint64_t size : device.max_work_item_sizes) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", size);
  }
  std::string precision = "single";
  precision += device.double_precision ? ", double" : "";
  precision += device.half_precision ? ", half" : "";
  const device::Megakernel& megakernel = device.megakernel;
  std::string persistent = megakernel.supported ? "possible" : "not possible";
  if (megakernel.max_worker_count) {
    persistent += fmt::format(", up to {}", plural(*megakernel.max_worker_count, "work-group"));
  }
  return {
      {"  platform", printable(device.platform)},
      {"  version", fmt::format("{}; {}; driver {}", printable(device.opencl_version),
                                printable(device.opencl_c_version), printable(device.driver_version))},
      {"  uuid", device.uuid.value_or("not told")},
      {"  compute units", fmt::format("{} at {} MHz", device.compute_units, device.max_clock_mhz)},
      {"  work-group", fmt::format("{} work-items at most, {}", device.max_workgroup_size, sizes)},
      {"  memory", fmt::format("{}, largest buffer {}", bytes_text(device.global_memory_bytes),
                               bytes_text(device.max_allocation_bytes))},
      {"  local memory", fmt::format("{}{}", bytes_text(device.local_memory_bytes),
                                     device.dedicated_local_memory ? "" : ", part of global memory")},
      {"  precision", precision},
      {"  persistent launch", fmt::format("{}: {}", persistent, megakernel.reason)},
  };
}

} // namespace

std::string devices_table(const device::DeviceList& list, bool colour) {
  std::string text;
  for (const device::DeviceInfo& device : list.devices) {
    text += bold(fmt::format("{}  {} ({})", device.index, printable(device.name),
                             device::device_type_names[static_cast<std::size_t>(device.type)]),
                 colour) +
            "\n" + render_table(figures(device)) + "\n";
  }
  text += plural(list.devices.size(), "device") + "\n";
  for (const device::BrokenDriver& broken : list.broken_drivers) {
    text += fmt::format("unusable driver {}: {}\n", printable(broken.file), printable(broken.problem));
  }
  for (const std::string& note : list.notes) {
    text += printable(note) + "\n";
  }
  return text;
}

} // namespace tidegate::commands
