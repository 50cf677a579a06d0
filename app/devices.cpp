// The devices of this machine, their self-tests, and which of them a run takes, alone or as one of several ranks; how ranks end
// together; `tidegate devices` and `tidegate version`.
#include "app/run.hpp"
#include "core/interrupt.hpp"
#include "device/kernels.hpp"
#include <tidegate/device/device_list.hpp>

#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>
#include <sys/socket.h>
#include <sys/un.h>
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

// Runs the self-test of a device, or takes its kept result. If the driver crashes in it, the process begins again without
// this test.
Result<void> probed_alone(device::DeviceInfo& device, SelfTest from) {
  const auto& crashed = device::crashed_tests();
  if (const auto found = std::ranges::find(crashed, device.index, &device::CrashedTest::device);
      found != crashed.end()) {
    const std::string why = fmt::format("its driver has crashed in the self-test ({})", found->how);
    device.megakernel = {.reason = why};
    return failure(ErrorCode::driver_crash, why, "see what it prints");
  }
  device::work_notes().testing = device.index;
  auto probed = add_profile(device, from);
  device::work_notes().testing = device::WorkNotes::none;
  return probed;
}

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
      if (auto probed = probed_alone(device, settings.fresh ? SelfTest::made : SelfTest::kept_or_made);
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

documents::VersionReport versions() {
  return {.tidegate = TIDEGATE_VERSION,
          .build_type = TIDEGATE_BUILD_TYPE,
          .compiler = TIDEGATE_COMPILER,
          .cli11 = CLI11_VERSION,
          .nlohmann_json = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                       NLOHMANN_JSON_VERSION_PATCH),
          .fmt = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
          .opencl_loader = device::loader_version()};
}

// Returns true in the first process of a job on this host that calls it: it takes a name, which ends with the process.
bool is_first_of_job() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("tidegate-error-{}", job == nullptr ? "" : job);
  const int taken = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (job == nullptr || taken < 0 || name.size() >= sizeof address.sun_path) {
    return true;
  }
  name.copy(address.sun_path + 1, name.size()); // after a zero: no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(taken, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno != EADDRINUSE;
}

// The device of this rank. Ranks of one host take different ones as long as there are enough.
Result<device::DeviceInfo> device_of_rank(Run& run, const device::DeviceList& list,
                                          std::string_view selectors) {
  const auto& place = run.ranks->place();
  std::vector<const device::DeviceInfo*> devices; // that the words of a list select
  for (const std::string& selector : words_in(selectors)) {
    TIDEGATE_TRY(const auto named, device::select_devices(list, selector));
    devices.insert(devices.end(), named.begin(), named.end());
  }
  const auto local = static_cast<std::size_t>(place.local_size);
  if (local > devices.size()) {
    run.device_warning =
        Warning{.message = fmt::format("{} of this host share {}", plural(local, "rank"),
                                       plural(devices.size(), "device")),
                .fix = "start as many ranks on a host as it has devices, or list them: --device 0,1",
                .pointer = {}};
  }
  return *devices[static_cast<std::size_t>(place.local_rank) % devices.size()];
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

Error after_first_rank(Error error, std::chrono::milliseconds first) {
  constexpr std::chrono::milliseconds each{50}; // later for each further rank
  const ranks::Launched launched = ranks::launched();
  if (launched.rank != 0 &&
      error.code != ErrorCode::driver_crash) { // mpirun kills within a second of a crash
    std::this_thread::sleep_for(first + each * std::min(launched.rank, 20));
  }
  static const bool is_first = is_first_of_job();
  if (!is_first && error.code != ErrorCode::driver_crash) { // another rank has an error, and ends all of them
    std::this_thread::sleep_for(std::chrono::seconds(20));  // a busy machine has taken more than 2 s for that
  }
  error.message = launched.size == 0
                      ? fmt::format("rank {}: {}", launched.rank, error.message)
                      : fmt::format("rank {} of {}: {}", launched.rank, launched.size, error.message);
  return error;
}

Result<ExitCode> end_together(Result<ExitCode> result, ranks::Ranks& ranks) {
  if (result && *result == ExitCode::done) {
    const auto met = ranks.barrier();
    if (met) {
      return result;
    }
    result = tl::unexpected(met.error());
  }
  if (InterruptWatch::interrupted()) { // by mpirun, perhaps after another rank's error: prints nothing
    ::_exit(static_cast<int>(ExitCode::interrupted));
  }
  ExitCode code = result ? *result : exit_code(result.error());
  if (!result) {
    print_error(after_first_rank(std::move(result.error())));
  }
  ranks.abort(static_cast<int>(code));
}

Result<device::DeviceInfo> find_device(Run& run) {
  TIDEGATE_TRY(const auto list, device::list_devices());
  const char* const usual = std::getenv("TIDEGATE_DEVICE");
  const bool by_environment = run.selector.empty() && usual != nullptr;
  const std::string selector = by_environment ? usual : run.selector;
  auto found = run.ranks ? device_of_rank(run, list, selector)
                         : device::select_device(list, selector).map([](const auto* one) { return *one; });
  if (!found) {
    Error error = found.error();
    error.message += by_environment ? ", as TIDEGATE_DEVICE says" : "";
    return tl::unexpected(std::move(error));
  }
  if (!run.options.compile.dry_run) {
    // The strategies `plain` and `launch`, and ranks, do not need it: their work-groups never wait for each other.
    const auto& strategy = run.options.compile.strategy;
    const bool may_wait = run.options.ranks == nullptr && (!strategy || is_persistent(*strategy));
    const SelfTest from = may_wait || run.options.stress_runs != 0 ? SelfTest::kept_or_made : SelfTest::kept;
    TIDEGATE_CHECK(add_profile(*found, from, [&] {
      if (progress_style(run) != ProgressStyle::none) {
        fmt::print(stderr, "tidegate: a first run here tests {}, once; later runs take the result\n",
                   printable(found->name));
      }
    }));
  }
  return found;
}

CommandModel devices_command() {
  const auto settings = std::make_shared<DevicesSettings>();
  return {
      .options = {option("--device", as_device(), settings->selector,
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

CommandModel version_command() {
  const auto settings = std::make_shared<DevicesSettings>();
  return {.options = {format_option(settings->format), output_option(settings->output)},
          .examples = {{"Include this in a bug report:", "tidegate version --format table"}},
          .run = [settings] {
            return write_document(
                settings->output, settings->format, versions(), [](const auto& report, bool /*colour*/) {
                  return table_of(*documents::DocumentOf<documents::VersionReport>::document.record, &report);
                });
          }};
}

} // namespace tidegate::app
