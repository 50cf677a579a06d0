// What a run that withholds its outputs says of it.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/run/monitor.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/run/run_report.hpp>

#include <optional>
#include <vector>

namespace tidegate::run {

// The iterations of a program with `until` ran out first.
Warning convergence_warning(const RunReport& report);

// The wall time is over; `waited`: while work-groups waited for others.
Error deadline_error(const RunReport& report, const RunOptions& options, bool waited);

Error interrupt_error(const RunReport& report);
Error hang_error(const std::vector<StuckGroup>& stuck_groups);

// Of outputs that differ from those of plain launches.
Error difference_error(const OutputParity& parity, const RunOptions& options);

// Of violations or findings, of which there is at least one.
Error bounds_error(const BoundsReport& bounds);

// Of a violation, or of halos that were not checked; empty where all was looked at and lies inside.
std::optional<Error> halo_error(const HaloReport& halos);

// Of a device that has not come back since the run was to end.
Error silence_error(const Monitor& monitor, bool interrupted, const RunOptions& options);

} // namespace tidegate::run
