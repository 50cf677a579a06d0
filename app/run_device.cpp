// The device that a run takes, alone or as one of several ranks, with what its self-test has found.
#include "app/devices.hpp"
#include "app/ranks.hpp"

#include <sys/types.h>
#include <unistd.h>

namespace tidegate::app {

// Returns whether to run the self-test now. The strategies `plain` and `launch`, and ranks, do not need it: their
// work-groups never wait for each other.
static SelfTest self_test_of(const engine::RunOptions& options) {
  const auto& strategy = options.compile.strategy;
  const bool may_wait = options.ranks == nullptr && (!strategy || is_persistent(*strategy));
  return may_wait || options.stress_runs != 0 ? SelfTest::kept_or_made : SelfTest::kept;
}

// Returns the drivers that mpirun was started with and has replaced by PoCL: Open MPI's hwloc may do that where it
// finds PoCL. Empty if it has not, or runs on another host.
static std::string replaced_drivers() {
  constexpr std::string_view variable = "OCL_ICD_FILENAMES";
  const char* const own = std::getenv(variable.data());
  if (own == nullptr || std::string_view(own).find("pocl") == std::string_view::npos) {
    return {};
  }
  constexpr std::size_t most = std::size_t{1} << 20U;
  pid_t process = ::getppid();
  for (int parents = 0; process > 1 && parents < 8; ++parents) {
    const std::string folder = fmt::format("/proc/{}/", process);
    const std::string environment = '\0' + read_all(folder + "environ", most).value_or("") + '\0';
    const std::size_t begin = environment.find('\0' + std::string(variable) + '=');
    if (begin != std::string::npos) {
      const std::string given = environment.c_str() + begin + variable.size() + 2;
      if (!given.empty() && given != own) {
        return given;
      }
    }
    const std::string status = read_all(folder + "status", most).value_or("");
    const std::size_t parent = status.find("PPid:");
    process = parent == std::string::npos ? 0 : std::atoi(status.c_str() + parent + 5);
  }
  return {};
}

// The device of this rank. Ranks of one host take different ones as long as there are enough.
static Result<device::DeviceInfo> device_of_rank(Run& run, const device::DeviceList& list,
                                                 std::string_view selectors) {
  TIDEGATE_TRY(const auto devices, rank_devices(list, selectors));
  const auto& place = run.ranks->place();
  const auto local = static_cast<std::size_t>(place.local_size);
  if (local > devices.size()) {
    run.device_warning =
        engine::Warning{.message = fmt::format("{} of this host share {}", plural(local, "rank"),
                                               plural(devices.size(), "device")),
                        .fix = "start as many ranks on a host as it has devices, or list them: --device 0,1",
                        .pointer = {}};
  }
  if (const std::string drivers = replaced_drivers(); !drivers.empty()) {
    run.device_warning = engine::Warning{
        .message =
            fmt::format("mpirun has replaced OCL_ICD_FILENAMES={}, so its devices are missing", drivers),
        .fix = fmt::format("state it for each rank: mpirun -n {} env OCL_ICD_FILENAMES={} tidegate run …",
                           place.size, drivers),
        .pointer = {}};
  }
  return device_of(devices, place);
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
    TIDEGATE_CHECK(add_profile(*found, TIDEGATE_VERSION, self_test_of(run.options), [&] {
      if (progress_style(run) != ProgressStyle::none) {
        fmt::print(stderr, "tidegate: a first run here tests {}, once; later runs take the result\n",
                   printable(found->name));
      }
    }));
  }
  return found;
}

} // namespace tidegate::app
