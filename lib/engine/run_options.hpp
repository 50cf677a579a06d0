// What a person asks of a run.
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

// What a test provokes that no sound program does.
enum class Fault : std::uint8_t {
  none,
  missing_arrival, // every barrier waits for one arrival more than there are groups
  failed_litmus,   // the device passes no memory ordering
  wrong_output,    // a byte of the first output is changed before it is compared
};

struct RunOptions {
  CompileOptions compile;
  std::string emit_kernel; // file for the generated source; empty: none
  FileUses files;          // that the command line names beside it
  bool verify = false;
  bool check_bounds = false;             // instead of the ordinary run: what is written beside buffers
  bool check_halos = false;              // instead of the ordinary run: what reaches beyond stated halos
  std::vector<std::string> this_command; // that runs this program with --check-bounds again, in the simulator
  std::string program_text;              // standard input of that command
  std::uint64_t compare_rounds = 0;
  std::string trace; // file for the timeline, which the caller writes; empty: none
  std::string page;  // file for the report as a page, which the caller writes; empty: none
  std::uint64_t trace_spans = default_trace_spans; // that are kept of the run
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::filesystem::path cache_folder; // for built kernels; empty: none
  Fault fault = Fault::none;
  // Called with what is known when the device does not come back; ends the process.
  std::function<void(const RunReport&)> abandon;
};

} // namespace tidegate::engine
