// What a person asks of a run.
#pragma once

#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/run/launch_tables.hpp>
#include <tidegate/run/run_report.hpp>
#include <tidegate/run/schedule.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::run {

// What a test provokes that no sound program does.
enum class Fault : std::uint8_t {
  none,
  missing_arrival, // every barrier waits for one arrival more than there are groups
  failed_litmus,   // the device passes no memory ordering
  wrong_output,    // a byte of the first output is changed before it is compared
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

} // namespace tidegate::run
