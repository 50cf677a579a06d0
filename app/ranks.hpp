// `mpirun -n N tidegate`: which device each rank takes, and how they end together.
#pragma once
#include "app/run.hpp"

namespace tidegate::app {

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
