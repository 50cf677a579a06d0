// tidegate devices
#include "command_line.hpp"
#include "terminal.hpp"
#include <tidegate/commands/devices.hpp>
#include <tidegate/device/select.hpp>
#include <tidegate/documents/device_documents.hpp>

#include <unistd.h>

#include <utility>

namespace tidegate::app {
namespace {

struct DevicesSettings {
  std::string selector;
  std::string output = "-";
  Format format = Format::json;
};

Result<ExitCode> run_devices(const DevicesSettings& settings) {
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
  if (settings.format == Format::table) {
    const bool colour = settings.output == "-" && use_colour(STDOUT_FILENO);
    return commands::write_text(settings.output, commands::devices_table(*list, colour));
  }
  return commands::write_text(settings.output, documents::encode(*list) + '\n');
}

} // namespace

void define_devices(CLI::App& command, Invocation& invocation) {
  const auto settings = std::make_shared<DevicesSettings>();
  command
      .add_option("--device", settings->selector,
                  "Only this one: an index, cpu, gpu, a UUID, a name or a part of one")
      ->type_name("SEL");
  add_format(command, settings->format);
  add_output(command, settings->output);
  command.callback(
      [&invocation, settings] { invocation.run = [settings] { return run_devices(*settings); }; });
}

} // namespace tidegate::app
