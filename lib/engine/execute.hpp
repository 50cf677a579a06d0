// A compiled program on its device: build, prove the schedule, dispatch, prove the outputs, write them.
#pragma once
#include "engine/proof.hpp"
#include "runtime/rank_report.hpp"

namespace tidegate::engine {

// A program that is compiled and, once it has run, built. A stream keeps it for the next run.
struct Prepared : runtime::KeptProgram {
  explicit Prepared(CompiledProgram made) : compiled(std::move(made)) {}

  CompiledProgram compiled;
  std::optional<BuiltProgram> built;
  Residency residency;

  // These are used in a stream.
  std::weak_ptr<Holding> arena;                           // others may have taken its room
  std::map<std::string, std::string> sources;             // states of the files of its kernels
  std::optional<FirstRun> first_run;                      // as its next run reports it
  std::optional<std::string> profile_file, policy_file{}; // likewise
};

// Results of the passes. A run that ends without outputs (deadline, interrupt, hang, differing outputs) is not an error;
// the report states it.
struct ExecutedProgram {
  std::uint64_t build_ns = 0;
  bool built_from_cache = false;
  bool inputs_kept = false; // the device had all inputs from earlier runs
  Residency residency;
  ArenaRun run;
  std::vector<HitsReport> hits;         // of a run that was done
  std::vector<ActiveReport> active;     // likewise
  std::optional<Proof> proof;           // if requested and the run was done
  std::optional<OutputParity> stated;   // of a first run with a stated strategy
  std::vector<ExpectedReport> expected; // of a run that was done
  std::vector<WrittenFile> files_written;
  std::optional<RanksReport> ranks; // of several ranks, of rank 0
};

// Returns the longest time that a persistent launch may take if a first run on a CPU chose it: another
// program may have taken a core since.
std::optional<double> longest_ns(const device::Tuning& tuning, std::uint64_t iterations);

// Writes outputs only if the run is done and equal to its plain launches, if these were requested. Errors: of
// the device, of building, of the program's files; wall_time_exceeded if a persistent launch takes so long that
// plain launches are the better choice (Tuning::plain_iteration_ns).
Result<ExecutedProgram> execute(Prepared& prepared, const device::DeviceInfo& device,
                                const RunOptions& options, Monitor& monitor);

// As execute(), on the ranks of the options; proof, comparison and files are those of rank 0. Error: invalid_program for
// kinds of waves and of buffers that do not run on several ranks yet.
Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor);

// Checks that the host program can run all of it. Error: cannot_export for launches between persistent ones,
// images, queues and hits.
Result<void> check_exportable(const CompiledProgram& compiled);

// Writes the generated kernel, its tables, the first contents of buffers and a host program in C (kernels/host/main.c)
// with a Makefile into a folder, which is made if it is missing. The program is exportable. Errors: cannot_export for
// an output whose file is not a header and the buffer's bytes; cannot_write.
Result<std::vector<WrittenFile>> export_program(const CompiledProgram& compiled, const DispatchLimits& limits,
                                                const device::DeviceInfo& device, const HostContents& first,
                                                const std::string& folder);

// Compiles a job for a device whose profile is filled in, or for none in particular (null). Errors: of kernels, the
// plan and memory.
Result<std::shared_ptr<Prepared>> prepare(Job job, const device::DeviceInfo* device,
                                          const RunOptions& options, Monitor& monitor);

// Runs a program on the device that it is compiled for, or plans it, and reports its progress to the monitor; `start`
// is when its wall time began. Another way to launch replaces `prepared` if its own does not hold. A negative answer on
// the device is in the report's status and error; everything else that fails is an error: of files, building and
// OpenCL.
Result<RunReport> run_prepared(std::shared_ptr<Prepared>& prepared, const device::DeviceInfo* device,
                               const RunOptions& options, Monitor& monitor,
                               std::chrono::steady_clock::time_point start);

} // namespace tidegate::engine
