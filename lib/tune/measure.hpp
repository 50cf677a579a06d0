// The two searches for the fastest way to run a program. `tidegate tune measure` is the patient one: it measures one
// knob after another. First runs try a short list of candidates, each once, within a time that plain launches set.
#pragma once
#include "graph/program.hpp"
#include "tune/report.hpp"
#include "work/run.hpp"

namespace tidegate::tuning {

struct MeasureOptions {
  engine::RunOptions run; // for each configuration; strategy, mode, workers and order are unset
  std::uint64_t budget_ns = 60'000'000'000;
  // Called when a kernel does not return; ends the process.
  std::function<void(const Error&)> abandon;
};

// Measures a program, or a traversal of `folder`, on a device whose profile is set. The search skips configurations that
// would exceed the budget. Errors: those of a run, outputs_differ if the unchanged program's outputs are wrong, interrupted.
Result<TuningReport> measure(const engine::Lowering& lowering, const device::DeviceInfo& device,
                             const MeasureOptions& options, runtime::Monitor& monitor);
Result<TuningReport> measure(const graphs::FrontierProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             runtime::Monitor& monitor);

// Findings of first runs so far, and the settings to launch the program with.
struct FirstRunResult {
  engine::FirstRun report;
  Settings settings;
  // Set if outputs differ from those of plain launches. `settings` then selects plain launches, unless the cause is
  // rounding.
  std::optional<Different> different;
  std::string fault_at; // RFC 6901 pointer to the last wave that writes the buffer that differs
};

// Goes on with the candidates that `earlier` runs have not tried, the lowest estimate first, in a limited time. Once all are
// tried, the fastest are timed again in turns. A build that is not finished by then goes on without being waited for
// (abandoned_builds()), and a run is ended. If outputs differ by more than rounding or cannot be compared, plain launches are
// selected and the report gives the reason. Errors: interrupted.
Result<FirstRunResult> first_run(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                 const engine::RunOptions& options, FirstRunResult earlier,
                                 runtime::Monitor& monitor);

// Compares the cost model's choice with plain launches on the program's data, without timing it. Otherwise like first_run().
Result<FirstRunResult> compare_choice(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                      const engine::RunOptions& options, runtime::Monitor& monitor);

} // namespace tidegate::tuning
