// A prepared program on its device: build, prove the schedule, dispatch, prove the outputs, write them.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/run/prepare.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/run/run_report.hpp>

#include <chrono>

namespace tidegate::run {

// Fills in the report. A run that ends without its outputs (deadline, interrupt, hang, outputs that differ)
// is told by the report's status and error; what else fails is an error.
Result<void> execute(const PreparedRun& made, const device::DeviceInfo& device, const RunOptions& options,
                     std::chrono::steady_clock::time_point deadline, RunReport& report);

} // namespace tidegate::run
