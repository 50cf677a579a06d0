// A wave program from start to finish: resolve, plan, recommend, generate, build, dispatch, prove, report.
// Sources: run.md, sections 2 to 5.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/run/launch_tables.hpp>
#include <tidegate/run/program.hpp>
#include <tidegate/run/request.hpp>
#include <tidegate/run/resolved_program.hpp>
#include <tidegate/run/run_report.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::run {

// What a test provokes that no sound program does.
enum class Fault : std::uint8_t {
  none,
  missing_arrival,  // every barrier waits for one arrival more than there are groups
  failed_litmus,    // the device passes no memory ordering
  wrong_output,     // a byte of the first output is changed before it is compared
};

struct RunOptions {
  std::optional<Strategy> strategy;         // empty: chosen by the device's profile
  std::optional<Mode> mode;                 // empty: the policy's
  std::optional<planning::MemoryPlan> plan; // empty: planned with the strategy `layered`
  bool dry_run = false;                     // ends before a device is touched
  bool verify = false;
  std::uint64_t compare_rounds = 0;
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::optional<std::uint32_t> workers; // work-groups of a persistent launch
  std::string emit_kernel;              // file for the generated source; empty: none
  std::filesystem::path cache_folder;   // for built kernels; empty: none
  Fault fault = Fault::none;
  // Called with what is known when a kernel never returns; ends the process.
  std::function<void(const RunReport&)> abandon;
};

// The macros that a device's compiler predefines, as far as its limits tell; those of a common device without one.
std::vector<opencl_c::MacroDefinition> predefined_macros(const device::DeviceInfo* device);

// Runs a program of `folder` on a device whose profile is filled in, or plans it for one (null: for none in
// particular). What comes to a negative answer on the device is in the report's status and error; everything
// else that fails is an error: of the program, its kernels, its plan, its memory, of building and of OpenCL.
Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options);

} // namespace tidegate::run
