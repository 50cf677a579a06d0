// Everything before a device is touched: resolve, plan, choose a strategy, lay memory out, recommend,
// generate.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/run/generate.hpp>
#include <tidegate/run/launch_tables.hpp>
#include <tidegate/run/memory_layout.hpp>
#include <tidegate/run/program.hpp>
#include <tidegate/run/resolved_program.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/run/run_report.hpp>
#include <tidegate/run/schedule.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::run {

struct PreparedRun {
  ResolvedProgram program;
  std::uint64_t budget_bytes = 0; // the program's, or all that the device has; 0 when neither is known
  planning::MemoryPlan plan;
  CarriedOps ops;
  Schedule schedule;
  MemoryLayout memory;
  std::uint64_t table_bytes = 0; // of the budget, for descriptors and counters
  LaunchTables tables;
  KernelSource source;
};

// Fills in what the report tells of it. `device` is null when the program is planned for none in particular.
// Errors: of the program, its kernels, its plan and its memory, and of writing the generated kernel where
// that was asked for.
Result<PreparedRun> prepare(const WaveProgram& program, const std::string& folder,
                            const device::DeviceInfo* device, const RunOptions& options, RunReport& report);

} // namespace tidegate::run
