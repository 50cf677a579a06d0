// tidegate devices
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/devices.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/device/select.hpp>
#include <tidegate/documents/device_documents.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace tidegate::app {
namespace {

enum class DevicesFormat : std::uint8_t { json, table, names };
constexpr std::array<std::string_view, 3> device_formats{"json", "table", "names"};

struct DevicesSettings {
  std::string selector;
  bool probe = false;
  bool fresh = false;
  std::string output = "-";
  DevicesFormat format = DevicesFormat::json;
};

// A line for each word that --device takes and a person may type; escapes would not be what it takes.
std::string device_names(const device::DeviceList& list) {
  std::string names;
  for (const device::DeviceInfo& device : list.devices) {
    if (unprintable_length(device.name) == 0 && printable(device.name) == device.name) {
      names += device.name + '\n';
    }
  }
  for (const auto type : {device::DeviceType::cpu, device::DeviceType::gpu}) {
    if (std::ranges::find(list.devices, type, &device::DeviceInfo::type) != list.devices.end()) {
      names += std::string(device::device_type_names[static_cast<std::size_t>(type)]) + '\n';
    }
  }
  return names;
}

Result<ExitCode> run_devices(const DevicesSettings& settings) {
  if (auto isolated = device::isolate_drivers(); !isolated) {
    return tl::unexpected(std::move(isolated.error()));
  }
  auto list = device::list_devices();
  if (!list) {
    return tl::unexpected(std::move(list.error()));
  }
  if (list->devices.empty()) {
    return tl::unexpected(device::no_device(*list));
  }
  if (!settings.selector.empty()) {
    const auto chosen = device::select_device(*list, settings.selector);
    if (!chosen) {
      return tl::unexpected(chosen.error());
    }
    list->devices = {device::DeviceInfo(**chosen)};
  }
  for (device::DeviceInfo& device : list->devices) {
    if (settings.probe || settings.fresh) {
      if (auto probed = commands::add_profile(device, TIDEGATE_VERSION,
                                              settings.fresh ? commands::SelfTest::made
                                                             : commands::SelfTest::kept_or_made);
          !probed) {
        if (list->devices.size() == 1) {
          return tl::unexpected(std::move(probed.error()));
        }
        list->notes.push_back(device.name + ": " + probed.error().message);
      }
    }
  }
  if (settings.format == DevicesFormat::names) {
    return commands::write_text(settings.output, device_names(*list));
  }
  if (settings.format == DevicesFormat::table) {
    const bool colour = settings.output == "-" && use_colour(STDOUT_FILENO);
    return commands::write_text(settings.output, commands::devices_table(*list, colour));
  }
  return commands::write_text(settings.output, documents::encode(*list) + '\n');
}

} // namespace

CommandModel devices_command() {
  const auto settings = std::make_shared<DevicesSettings>();
  return {
      .options = {device_option(settings->selector,
                                "Only this one: an index, cpu, gpu, a UUID, a name or a part of one"),
                  flag("--probe", settings->probe,
                       "Run the self-test, or take its kept result: memory ordering, resident work-groups, "
                       "costs"),
                  flag("--fresh", settings->fresh, "Run the self-test again"),
                  choice_option(
                      "--format", settings->format, device_formats,
                      "JSON for programs (default), a table for people, or the names that --device takes"),
                  output_option(settings->output)},
      .examples = {{"What is there?", "tidegate devices --format table"},
                   {"How many work-groups are resident together, and what does a barrier cost?",
                    "tidegate devices --probe --format table"}},
      .run = [settings](bool) { return run_devices(*settings); }};
}

} // namespace tidegate::app
