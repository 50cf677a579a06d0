#include "app/run.hpp"
#include "core/interrupt.hpp"
#include "device/kernels.hpp"
#include <tidegate/device/device_list.hpp>

#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>
#include <sys/utsname.h>
#include <unistd.h>

namespace tidegate::app {
namespace {

// Returns the file of the profile of this device, driver and tool.
std::filesystem::path cache_file(const device::DeviceInfo& device) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) {
    return {};
  }
  const std::string key =
      device::cache_key(device) + TIDEGATE_VERSION + '\n' + device::kernel_source("common/self_test.cl");
  return folder / ("device-" + hash_of(key) + ".json");
}

// A damaged entry must not become a launch that hangs.
bool plausible(const device::DeviceProfile& profile, const device::DeviceInfo& device) {
  constexpr std::uint64_t most_groups_per_unit = 64;
  return profile.device == device.name && profile.driver_version == device.driver_version &&
         profile.ordering && profile.workgroup_size != 0 &&
         profile.workgroup_size <= device.max_workgroup_size && profile.co_resident_groups != 0 &&
         profile.co_resident_groups <= most_groups_per_unit * device.compute_units;
}

TableRows figures(const device::DeviceInfo& device) {
  const device::Megakernel& persistent = device.megakernel;
  TableRows rows;
  add_row(rows, "platform", "{}", device.platform);
  add_row(rows, "version", "{}; driver {}", device.opencl_version, device.driver_version);
  add_row(rows, "compute units", "{}, work-groups of {} work-items at most", device.compute_units,
          device.max_workgroup_size);
  add_row(rows, "memory", "{}, largest buffer {}, local {}", bytes_text(device.global_memory_bytes),
          bytes_text(device.max_allocation_bytes), bytes_text(device.local_memory_bytes));
  add_row(rows, "persistent launch", "{}: {}", persistent.supported ? "possible" : "not possible",
          persistent.reason);
  if (const auto& profile = device.profile) {
    add_row(rows, "resident", "{} of {} work-items", plural(profile->co_resident_groups, "work-group"),
            profile->workgroup_size);
    for (const device::OrderingTrial& trial : profile->trials) {
      add_row(rows, fmt::format("ordering {}", choice_name(trial.ordering)), "{}{}{}",
              choice_name(trial.verdict),
              trial.barrier_ns ? ", barrier " + short_time_text(*trial.barrier_ns) : "",
              profile->ordering == trial.ordering ? ", used" : "");
    }
    add_row(rows, "launch", "{} in a row, {} with a wait", short_time_text(profile->launch_ns),
            short_time_text(profile->launch_round_trip_ns));
  }
  return rows;
}

} // namespace

std::optional<device::DeviceProfile> kept_profile(std::string_view json, const device::DeviceInfo& device) {
  auto profile = documents::decode<device::DeviceProfile>(json);
  return profile && plausible(*profile, device) ? std::optional(std::move(*profile)) : std::nullopt;
}

Result<void> add_profile(device::DeviceInfo& device, SelfTest from, const std::function<void()>& begins) {
  if (!device.megakernel.supported) {
    return {}; // nothing can be run on it
  }
  const std::filesystem::path file = cache_file(device);
  constexpr std::size_t most = std::size_t{1} << 20U;
  auto profile = from == SelfTest::made || file.empty()
                     ? std::nullopt
                     : kept_profile(read_all(file.string(), most).value_or(""), device);
  if (!profile && from == SelfTest::kept) {
    return {};
  }
  if (!profile) {
    if (begins) {
      begins();
    }
    auto measured = device::probe(device);
    if (InterruptWatch::interrupted()) { // which a run does not see before its kernels run
      end_interrupted();
    }
    if (!measured) {
      device.megakernel = {.reason = "the self-test was refused: " + measured.error().message};
      return tl::unexpected(std::move(measured.error()));
    }
    measured->tidegate = TIDEGATE_VERSION;
    profile = std::move(*measured);
    // A busy machine can make a trial fail: the next run tries again.
    if (!file.empty() && plausible(*profile, device)) {
      (void)keep_file(file, documents::encode(*profile) + '\n');
    }
  }
  device.megakernel.supported = profile->ordering.has_value();
  if (profile->ordering) {
    device.megakernel.max_worker_count = profile->co_resident_groups;
    device.megakernel.reason =
        fmt::format("the self-test passed with the memory ordering {}", choice_name(*profile->ordering));
    if (profile->co_resident_groups == 1) {
      device.megakernel.reason += "; one work-group is resident, so nothing crossed between groups";
    }
  } else {
    device.megakernel.max_worker_count.reset();
    device.megakernel.reason = "no memory ordering passed the self-test";
  }
  device.profile = std::move(*profile);
  return {};
}

namespace {

// A paragraph for each device, then what is wrong with drivers.
std::string devices_table(const device::DeviceList& list, bool colour) {
  std::string text;
  for (const device::DeviceInfo& device : list.devices) {
    text += bold(fmt::format("{}  {} ({})", device.index, device.name, choice_name(device.type)), colour) +
            "\n" + render_table(figures(device)) + "\n";
  }
  text += plural(list.devices.size(), "device") + "\n";
  TableRows remarks;
  for (const device::BrokenDriver& broken : list.broken_drivers) {
    remarks.push_back({fmt::format("unusable driver {}: {}", broken.file, broken.problem)});
  }
  for (const std::string& note : list.notes) {
    remarks.push_back({note});
  }
  return text + render_table(std::move(remarks), std::string::npos);
}

struct DevicesSettings {
  std::string selector;
  bool probe = false;
  bool fresh = false;
  std::string output = "-";
  std::string_view format{};
};

Result<ExitCode> run_devices(const DevicesSettings& settings) {
  TIDEGATE_CHECK(device::isolate_drivers());
  TIDEGATE_TRY(auto list, device::list_devices());
  if (list.devices.empty()) {
    return tl::unexpected(device::no_device(list));
  }
  if (!settings.selector.empty()) {
    TIDEGATE_TRY(const auto chosen, device::select_device(list, settings.selector));
    list.devices = {device::DeviceInfo(*chosen)};
  }
  for (device::DeviceInfo& device : list.devices) {
    if (settings.probe || settings.fresh) {
      if (auto probed = add_profile(device, settings.fresh ? SelfTest::made : SelfTest::kept_or_made);
          !probed) {
        if (list.devices.size() == 1) {
          return tl::unexpected(std::move(probed.error()));
        }
        list.notes.push_back(device.name + ": " + probed.error().message);
      }
    }
  }
  return write_document(settings.output, settings.format, list, devices_table);
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
                  format_option(settings->format), output_option(settings->output)},
      .examples = {{"What is there?", "tidegate devices --format table"},
                   {"How many work-groups are resident together, and what does a barrier cost?",
                    "tidegate devices --probe --format table"}},
      .run = [settings] { return run_devices(*settings); }};
}

// `tidegate version`: versions and what affects the tool, for bug reports.

namespace {

// Returns text such as "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64".
std::string system_text() {
  constexpr std::size_t most = 65536;
  const std::string release = read_all("/etc/os-release", most).value_or("");
  const std::size_t name = release.find("PRETTY_NAME=\"");
  utsname kernel{};
  (void)::uname(&kernel);
  return fmt::format("{}, {} {} {}", name == release.npos ? "?" : words_in(release.substr(name), '"')[1],
                     kernel.sysname, kernel.release, kernel.machine);
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
          .compiler = TIDEGATE_COMPILER,
          .cli11 = CLI11_VERSION,
          .nlohmann_json = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                       NLOHMANN_JSON_VERSION_PATCH),
          .fmt = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
          .opencl_loader = device::loader_version(),
          .system = system_text(),
          .environment = opencl_environment()};
}

} // namespace

CommandModel version_command() {
  const auto settings = std::make_shared<DevicesSettings>();
  return {.options = {format_option(settings->format), output_option(settings->output)},
          .examples = {{"Include this in a bug report:", "tidegate version --format table"}},
          .run = [settings] { return write_document(settings->output, settings->format, versions()); }};
}

} // namespace tidegate::app
