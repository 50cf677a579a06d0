// `tidegate tune measure`: measures one knob after the other. Successive halving selects the best
// configuration of a knob; it replaces the incumbent only if it wins a duel of fresh pairs of runs with the
// required confidence.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "graph/program.hpp"
#include "tune/knobs.hpp"
#include "tune/report.hpp"
#include "work/run.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::tuning {

struct MeasureOptions {
  engine::RunOptions run; // for each configuration; strategy, mode, workers and order are unset
  std::uint64_t budget_ns = 60'000'000'000;
  // Called when a kernel does not return; ends the process.
  std::function<void(const Error&)> abandon;
};

// Progress of the measurement, for threads that display it.
struct MeasureProgress {
  std::atomic<Knob> knob = Knob::workgroup_size;
  std::atomic<std::uint32_t> configuration = 0; // being built; 0 while configurations are timed
  std::atomic<std::uint32_t> configurations = 0;
  std::atomic<bool> started = false; // false while the unchanged program runs first
};

// Measures a program on a device whose profile is set. The search skips configurations that would exceed the
// budget. Errors: those of a run, outputs_differ if the unchanged program differs from its plain launches,
// interrupted.
Result<TuningReport> measure(const engine::Lowering& lowering, const device::DeviceInfo& device,
                             const MeasureOptions& options, engine::Monitor& monitor,
                             MeasureProgress& progress);

// Measures a traversal of `folder`; outputs_differ means that the result of the unchanged program is wrong.
Result<TuningReport> measure(const graphs::FrontierProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             engine::Monitor& monitor, MeasureProgress& progress);

// Result of a program's first run, and the settings to launch it with afterwards.
struct FirstRunResult {
  engine::FirstRun report;
  Settings settings;
  // Set if outputs differ from those of plain launches. `settings` then selects plain launches, unless the cause is
  // rounding.
  std::optional<Different> different;
  std::string fault_at; // RFC 6901 pointer to the last wave that writes the buffer that differs
  bool complete = true; // false if time was up before all configurations were built
};

// Without `time_configurations`, compares the cost model's choice with plain launches on the program's data. With it,
// times the configurations that the cost model does not rule out, beginning with plain launches, and selects the
// fastest whose outputs are equal. Ends within the budget, except for builds that have started; runs as many iterations
// as keep plain launches within 1/200 of the budget. If outputs differ by more than rounding or cannot be compared, it
// selects plain launches and the report gives the reason. Errors: interrupted.
Result<FirstRunResult> first_run(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                 const engine::RunOptions& options, std::uint64_t budget_ns,
                                 bool time_configurations, engine::Monitor& monitor,
                                 MeasureProgress& progress);

} // namespace tidegate::tuning
