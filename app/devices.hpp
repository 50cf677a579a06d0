// The devices of this machine, their self-tests, and which device each rank of `mpirun -n N tidegate` takes.
#pragma once
#include "app/run.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::app {

enum class SelfTest : std::uint8_t {
  kept,         // an earlier run, or nowhere
  kept_or_made, // an earlier run, or else it runs now
  made,         // it runs now
};

// Adds the device's self-test: fills in `profile`, and sets `megakernel` to the test's verdict. A result
// under the user's cache folder (XDG_CACHE_HOME, or .cache in the home folder) serves when device, driver and
// tool are the same; a new one is kept there if the folder can be written to. `begins` is called before a
// test, which takes seconds. Errors: those of device::probe().
Result<void> add_profile(device::DeviceInfo& device, const std::string& tool_version, SelfTest from,
                         const std::function<void()>& begins = {});

std::string device_key(const device::DeviceInfo& device);

// Reads a kept profile. Returns nothing if it is damaged, impossible, or of another device or driver.
std::optional<device::DeviceProfile> kept_profile(std::string_view json, const device::DeviceInfo& device);

// Returns the devices that the ranks of one host take in turn: all that the words of a comma-separated list select.
// Error: as select_devices().
Result<std::vector<device::DeviceInfo>> rank_devices(const device::DeviceList& list,
                                                     std::string_view selectors);

// Returns the one among them that a rank of this place takes.
const device::DeviceInfo& device_of(const std::vector<device::DeviceInfo>& devices,
                                    const ranks::Transport::Place& place);

// Returns the devices that all ranks take, in rank 0; the others get an empty list. Errors: as Ranks::wait().
Result<std::vector<device::RankDevice>> devices_of_ranks(ranks::Ranks& ranks, const device::DeviceInfo& own);

// Waits until all ranks have come here. A rank with an error prints it, unless another rank's came first, and ends all;
// one with another exit code than `done` ends all, too.
Result<ExitCode> end_together(Result<ExitCode> result, ranks::Ranks& ranks);

// Returns the error of one of several ranks with the rank's number, once rank 0 has had the time to report an error
// that all have.
Error after_first_rank(Error error, std::chrono::milliseconds first = std::chrono::milliseconds(300));
inline constexpr std::chrono::seconds without_mpi{3}; // until mpirun has ended the others

} // namespace tidegate::app
