// The device that a run takes, alone or as one of several ranks, and how ranks end together.
#include "app/run.hpp"
#include "core/interrupt.hpp"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

namespace tidegate::app {

namespace {

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

} // namespace

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

// The device of this rank. Ranks of one host take different ones as long as there are enough.
static Result<device::DeviceInfo> device_of_rank(Run& run, const device::DeviceList& list,
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

} // namespace tidegate::app
