// A frontier program from start to finish: load → check → memory → build → run → replay → verify → report.
#pragma once
#include "core/files.hpp"
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/report.hpp"
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::traversal {

// Faults that tests provoke.
enum class Fault : std::uint8_t {
  none,
  missing_arrival, // every barrier waits for one arrival too many
  failed_litmus,   // the device passes no memory ordering
  wrong_value,     // the result of the last vertex is changed before the check
  wrong_parent,    // and its parent
  wrong_log,       // the topology of the last wave is changed before the replay
};

struct TraversalOptions {
  std::optional<engine::Strategy> strategy; // launch or barrier
  std::optional<policy::Topology> force_topology;
  std::optional<std::uint32_t> workers;        // work-groups of a persistent launch
  std::optional<std::uint32_t> group_size;     // work-items of a work-group
  std::optional<std::uint32_t> alone_vertices; // largest frontier that one group processes alone
  bool dry_run = false;
  bool verify = false;
  bool verify_first = true; // check the program's first run if that fits budget and memory
  std::uint64_t verify_budget_ns = 10'000'000'000; // estimated time limit for the check of a first run
  std::filesystem::path checked; // exists once a run of the program was correct; empty: not stored
  std::uint64_t compare_rounds = 0;
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::filesystem::path cache_folder; // for built kernels; empty: none
  std::string emit_kernel;            // file for the source; empty: none
  FileUses files;                     // further files on the command line
  bool allow_outside = false;         // paths may lead out of the program's folder
  Fault fault = Fault::none;
  // Called with the known facts if the device does not respond; ends the process.
  std::function<void(const FrontierReport&)> abandon;
};

// Runs a program of `folder` on a device whose profile is set; with dry_run it plans the memory for a device
// (null: one without limits). Updates the monitor. A failure on the device is in the report's status and
// error.
Result<FrontierReport> run_traversal(const graphs::FrontierProgram& program, const std::string& folder,
                                     const device::DeviceInfo* device, const TraversalOptions& options,
                                     engine::Monitor& monitor);

} // namespace tidegate::traversal
