// tidegate devices
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/devices.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/device/select.hpp>
#include <tidegate/documents/device_documents.hpp>

#include <unistd.h>

#include <memory>
#include <utility>

namespace tidegate::app {
namespace {

struct DevicesSettings {
  std::string selector;
  bool probe = false;
  bool fresh = false;
  std::string output = "-";
  Format format = Format::json;
};

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
      if (auto probed = commands::add_profile(device, TIDEGATE_VERSION, settings.fresh); !probed) {
        if (list->devices.size() == 1) {
          return tl::unexpected(std::move(probed.error()));
        }
        list->notes.push_back(device.name + ": " + probed.error().message);
      }
    }
  }
  if (settings.format == Format::table) {
    const bool colour = settings.output == "-" && use_colour(STDOUT_FILENO);
    return commands::write_text(settings.output, commands::devices_table(*list, colour));
  }
  return commands::write_text(settings.output, documents::encode(*list) + '\n');
}

} // namespace

CommandModel devices_command() {
  const auto settings = std::make_shared<DevicesSettings>();
  return {
      .options = {text_option("--device", "SEL", settings->selector,
                              "Only this one: an index, cpu, gpu, a UUID, a name or a part of one"),
                  flag("--probe", settings->probe,
                       "Run the self-test, or take its kept result: memory ordering, resident work-groups, "
                       "costs"),
                  flag("--fresh", settings->fresh, "Run the self-test again"),
                  format_option(settings->format), output_option(settings->output)},
      .run = [settings](bool) { return run_devices(*settings); }};
}

} // namespace tidegate::app
