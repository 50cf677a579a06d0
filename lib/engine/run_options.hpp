// Options of a run.
#pragma once
#include "core/files.hpp"
#include "engine/compile.hpp"
#include "engine/launch_times.hpp"
#include "engine/run_report.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tidegate::engine {

// Faults that tests provoke.
enum class Fault : std::uint8_t {
  none,
  missing_arrival, // every barrier waits for one arrival too many
  failed_litmus,   // the device passes no memory ordering
  wrong_output,    // a byte of the first output is changed before the comparison
};

struct RunOptions {
  CompileOptions compile;
  std::string emit_kernel; // file for the generated source; empty: none
  FileUses files;          // further files on the command line
  bool verify = false;
  bool check_bounds = false;             // instead of the ordinary run: detect writes outside buffers
  bool check_halos = false;              // instead of the ordinary run: detect accesses beyond stated halos
  std::vector<std::string> this_command; // reruns this program with --check-bounds in the simulator
  std::string program_text;              // standard input of that command
  std::uint64_t compare_rounds = 0;
  std::string trace; // file for the timeline, which the caller writes; empty: none
  std::string page;  // file for the report as a page, which the caller writes; empty: none
  std::uint64_t trace_spans = default_trace_spans; // limit of recorded spans
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::filesystem::path cache_folder; // for built kernels; empty: none
  Fault fault = Fault::none;
  // Called with the known facts if the device does not respond; ends the process.
  std::function<void(const RunReport&)> abandon;
};

} // namespace tidegate::engine
