// Runs of a program under stress: what a missing dependency, a halo that is too small or a race leaves to chance is made
// to come out differently, in runs that a seed repeats.
//
//   seed % 4 = 1   plain launches of the waves in another order that the dependencies allow: in reverse (seed % 8 = 1) or
//                  shuffled
//              2   one launch with barriers, whose work-groups (of another number, with another tile mapping) run
//                  their tiles of a stage in another order and pause before some of them
//              3   likewise with counters
//              0   a launch per group of waves, with its tiles in another order
//
// A kind that the program or the device does not admit is replaced by the next one.
#pragma once
#include "device/monitor.hpp"
#include "engine/proof.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"

#include <chrono>

namespace tidegate::engine {

// Compares each run with `expected`, the outputs of plain launches in the program's order, and ends with the first that
// differs. Throws device::Refused.
StressReport run_under_stress(const device::Session& session, const device::DeviceInfo& device,
                              const Job& program, const HostContents& first, const HostContents& expected,
                              Reference& reference, std::chrono::steady_clock::time_point deadline,
                              const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
