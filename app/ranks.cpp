#include "app/ranks.hpp"

#include "core/interrupt.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tidegate::app {

Result<std::vector<device::DeviceInfo>> rank_devices(const device::DeviceList& list,
                                                     std::string_view selectors) {
  std::vector<device::DeviceInfo> found;
  for (std::size_t begin = 0; begin <= selectors.size();) {
    const std::size_t end = std::min(selectors.find(',', begin), selectors.size());
    TIDEGATE_TRY(const auto named, device::select_devices(list, selectors.substr(begin, end - begin)));
    std::ranges::transform(named, std::back_inserter(found), [](const auto* one) { return *one; });
    begin = end + 1;
  }
  return found;
}

const device::DeviceInfo& device_of(const std::vector<device::DeviceInfo>& devices,
                                    const ranks::Transport::Place& place) {
  return devices[static_cast<std::size_t>(place.local_rank) % devices.size()];
}

Result<std::vector<device::RankDevice>> devices_of_ranks(ranks::Ranks& ranks, const device::DeviceInfo& own) {
  const std::string host = ranks::host_name();
  TIDEGATE_TRY(const auto indices, ranks.gather(std::as_bytes(std::span(&own.index, 1))));
  TIDEGATE_TRY(const auto hosts, ranks.gather(std::as_bytes(std::span(host))));
  TIDEGATE_TRY(const auto names, ranks.gather(std::as_bytes(std::span(own.name))));
  std::vector<device::RankDevice> all;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    device::RankDevice& of = all.emplace_back();
    of.rank = static_cast<std::uint32_t>(i);
    of.host = ranks::string_from(hosts[i]);
    std::memcpy(&of.index, indices[i].data(), sizeof of.index);
    of.device = ranks::string_from(names[i]);
  }
  return all;
}

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

} // namespace tidegate::app
