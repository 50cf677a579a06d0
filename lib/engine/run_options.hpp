// A run of a wave program or of a traversal: its options, and what its passes take in place of its parts.
#pragma once
#include "core/files.hpp"
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/compile.hpp"
#include "engine/kernel_cache.hpp"
#include "engine/launch_times.hpp"
#include "engine/plain_programs.hpp"

namespace tidegate::traversal {
struct FrontierReport;
}

namespace tidegate::ranks {
class Ranks;
}

namespace tidegate::engine {

// Options of traversals alone.
struct TraversalOptions {
  std::optional<policy::Topology> force_topology;
  std::optional<std::uint32_t> group_size;     // work-items of a work-group
  std::optional<std::uint32_t> alone_vertices; // largest frontier that one group processes alone
  std::filesystem::path checked; // exists once a run of the program was correct; empty: not stored
  // See RunOptions::abandon.
  std::function<void(const traversal::FrontierReport&)> abandon;
};

struct Kept;
struct RunReport;

struct RunOptions {
  CompileOptions compile;              // traversals use strategy, workers and dry_run
  PathScope scope = PathScope::folder; // of the program's paths
  std::string emit_kernel;             // file for the generated source; empty: none
  std::string export_folder;           // for the kernel with a host program, in place of outputs; empty: none
  FileUses files;                      // further files on the command line
  bool verify = false;
  bool verify_stated =
      false; // compare a first run with a stated strategy, if plain launches fit first_check_ns()
  bool verify_first = true;              // check a program's first run, if that fits the budget
  std::uint64_t first_run_budget_ns = 0; // 0: by what plain launches take
  bool check_bounds = false;             // instead of the ordinary run: detect writes outside buffers
  std::uint64_t compare_rounds = 0;
  std::uint64_t stress_runs = 0;
  std::uint64_t stress_seed = 1; // of the first of them; the next one has the next seed
  std::string trace;             // file for the timeline, which the caller writes; empty: none
  std::string page;              // file for the report as a page, which the caller writes; empty: none
  std::uint64_t trace_spans = default_trace_spans; // limit of recorded spans
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::filesystem::path cache_folder; // for built kernels; empty: none
  device::OpenSession open_session = device::open_session;
  ranks::Ranks* ranks = nullptr; // that run the program together; null: this process alone
  Kept* kept = nullptr;          // of the stream that the run is part of, if any
  std::string kept_key;          // of the wave program there; empty: it is not kept
  // Called with the known facts if the device does not respond; ends the process.
  std::function<void(const RunReport&)> abandon;
  TraversalOptions traversal;

  // The time for checking a result, which no run waits for beyond it.
  [[nodiscard]] std::uint64_t first_check_ns() const {
    constexpr std::uint64_t usual = 10'000'000'000;
    return first_run_budget_ns != 0 ? first_run_budget_ns : usual;
  }
  [[nodiscard]] std::uint64_t most_spans() const {
    return compile.trace ? std::max<std::uint64_t>(trace_spans, 1) : 0;
  }
};

// A compiled program's kernels on their device.
struct BuiltProgram {
  std::optional<BuiltKernel> kernel;           // the generated kernel; empty if every stage is plain
  std::vector<std::uint32_t> plain_waves;      // waves launched as the user's own kernels
  std::optional<PlainPrograms> plain_programs; // programs of plain_waves
  std::uint64_t build_ns = 0;
};

class RankExchange;

// A run of a compiled program on its device. All references outlive it.
struct RunContext {
  const device::Session& session;
  const device::DeviceInfo& device;
  const CompiledProgram& compiled;
  BuiltProgram& built;
  Monitor& monitor;
  const RunOptions& options;
  RankExchange* exchange = nullptr; // of one of several ranks, whose part the program is
};

} // namespace tidegate::engine
