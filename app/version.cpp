// `tidegate version`: versions and devices, for bug reports.
#include "app/command_line.hpp"
#include "app/documents.hpp"

#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>
#include <sys/utsname.h>

namespace tidegate::app {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

// Returns text such as "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64".
std::string system_text() {
  std::string text;
  constexpr std::size_t most = 65536;
  if (const auto release = read_all("/etc/os-release", most)) {
    constexpr std::string_view key = "PRETTY_NAME=\"";
    const std::size_t found = release->find(key);
    if (found != std::string::npos) {
      const std::size_t begin = found + key.size();
      text = release->substr(begin, release->find('"', begin) - begin) + ", ";
    }
  }
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    text += fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
  }
  return text;
}

std::vector<std::string> opencl_environment() {
  std::vector<std::string> found;
  for (const char* const name :
       {"TIDEGATE_DEVICE", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_LAYERS", "POCL_DEVICES",
        "RUSTICL_ENABLE", "CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME"}) {
    if (const char* const value = std::getenv(name)) {
      found.push_back(fmt::format("{}={}", name, value));
    }
  }
  return found;
}

documents::VersionReport versions() {
  return {.tidegate = TIDEGATE_VERSION,
          .build_type = TIDEGATE_BUILD_TYPE,
          .compiler = compiler(),
          .cli11 = CLI11_VERSION,
          .nlohmann_json = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                       NLOHMANN_JSON_VERSION_PATCH),
          .fmt = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
          .opencl_loader = device::loader_version(),
          .system = system_text(),
          .environment = opencl_environment()};
}

// Lists devices in a separate process, because drivers may crash; a crash becomes a note.
void add_devices(documents::VersionReport& report) {
  if (auto isolated = device::isolate_drivers(); !isolated) {
    report.notes.push_back(isolated.error().message);
    return;
  }
  const auto list = device::list_devices();
  if (!list) {
    return;
  }
  for (const device::DeviceInfo& device : list->devices) {
    report.devices.push_back({.name = device.name,
                              .platform = device.platform,
                              .opencl_version = device.opencl_version,
                              .driver_version = device.driver_version});
  }
  for (const device::BrokenDriver& driver : list->broken_drivers) {
    report.notes.push_back(driver.file + ": " + driver.problem);
  }
  report.notes.insert(report.notes.end(), list->notes.begin(), list->notes.end());
}

} // namespace

CommandModel version_command() {
  struct Settings {
    std::string output = "-";
    std::string_view format{};
  };
  const auto settings = std::make_shared<Settings>();
  return {.options = {format_option(settings->format), output_option(settings->output)},
          .examples = {{"Include this in a bug report:", "tidegate version --format table"}},
          .run = [settings] {
            documents::VersionReport report = versions();
            add_devices(report);
            return write_document(settings->output, settings->format, report);
          }};
}

} // namespace tidegate::app
