// A wave program from start to finish: lower it to a job, and run that.
#pragma once
#include "engine/arena_run.hpp"
#include "runtime/monitor.hpp"
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"

namespace tidegate::engine {

struct Prepared;

// A program of a folder and all that lowers it to a job. Settings that lower it alike share the job.
class Lowering {
public:
  // `device` runs the program, has its profile filled in and outlives this; null: none in particular.
  Lowering(WaveProgram program, std::string folder, const device::DeviceInfo* device,
           const RunOptions& options);

  [[nodiscard]] const WaveProgram& program() const { return program_; }
  [[nodiscard]] const device::DeviceInfo* device() const { return device_; }
  // When job() began to read the sources.
  [[nodiscard]] std::chrono::steady_clock::time_point began() const { return began_; }

  void set_policy(const policy::LaunchPolicy& policy) { program_.policy = policy; }
  void replace(WaveProgram program); // by one that is lowered anew

  // Returns the job, which is valid until the next call of a function that is not const. Errors: those of resolve().
  Result<const Job*> job(const device::Tuning& tuning);

private:
  WaveProgram program_;
  std::string folder_;
  const device::DeviceInfo* device_;
  AnswerMacros answer_; // of the device
  PathScope scope_;
  FileCheck files_;
  std::optional<Job> job_; // the last one, lowered with `tuning_`
  device::Tuning tuning_;
  std::chrono::steady_clock::time_point began_;
};

// Returns the program with room for what a run found: hits, and items that ops published. Nothing if nothing was short of
// room, or if something that was is not to grow.
std::optional<WaveProgram> grown(const WaveProgram& program, std::span<const HitsReport> hits,
                                 std::span<const QueueReport> queues = {});

// The same after an error of a run of this job of the program.
std::optional<WaveProgram> grown(const WaveProgram& program, const Job& job, const Error& error);

// Runs a program, or plans it, and reports its progress to the monitor. What goes wrong in the run itself (a hang, a deadline,
// outputs that differ) is in the report's status and error. All other failures are returned as errors.
Result<RunReport> run_program(Lowering& lowering, const RunOptions& options, Monitor& monitor);

// Returns a key of all that decides which way to launch a program is the fastest, except the kernels' text: numbers count
// only for the sizes, ranges, accesses and dependencies that follow from them.
std::string launch_key(const WaveProgram& program, const Job& job);

// Returns a key of all that decides what a program compiles to, except the files of its kernels; contents of
// inputs and files of outputs do not count. Empty if a part of it is unknown.
std::string stream_key(const WaveProgram& program, const std::string& folder);

// Returns the program that an earlier run of the stream left under RunOptions::kept_key; null if there is none, or if
// sources of its kernels have changed.
std::shared_ptr<Prepared> find_prepared(const RunOptions& options);

// Runs what find_prepared() returned, with the inputs and outputs of `program`; otherwise like run_program().
Result<RunReport> run_again(std::shared_ptr<Prepared> prepared, const WaveProgram& program,
                            const std::string& folder, const device::DeviceInfo& device,
                            const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
