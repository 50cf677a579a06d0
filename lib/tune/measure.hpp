// `tidegate tune measure`: one knob after the other, the candidates of each by successive halving, the one
// that is left against what was best so far in fresh pairs of runs. What does not win with the required
// confidence changes nothing.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/run.hpp"
#include "graph/program.hpp"
#include "tune/knobs.hpp"
#include "tune/report.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::tuning {

struct MeasureOptions {
  engine::RunOptions run; // of each candidate; its strategy, mode, workers and order are left open
  std::uint64_t budget_ns = 60'000'000'000;
  traversal::Fault fault = traversal::Fault::none; // of frontier programs
  // Called when a kernel does not return; ends the process.
  std::function<void(const Error&)> abandon;
};

// What is being measured, for whoever watches from another thread.
struct MeasureProgress {
  std::atomic<Knob> knob = Knob::workgroup_size;
  std::atomic<std::uint32_t> candidate = 0; // that is built; 0 while candidates are timed
  std::atomic<std::uint32_t> candidates = 0;
  std::atomic<bool> started = false; // with knobs: before that the program runs as it would by itself
};

// Measures a program of `folder` on a device whose profile is filled in. The budget ends the search: no
// candidate is begun with that would take longer than what is left. Errors: those of a run, outputs_differ
// where the program itself is not equal to its plain launches, interrupted.
Result<TuningReport> measure(const engine::WaveProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             engine::Monitor& monitor, MeasureProgress& progress);

// The same for a traversal: outputs_differ where the result of the program as it is is not right.
Result<TuningReport> measure(const graphs::FrontierProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             engine::Monitor& monitor, MeasureProgress& progress);

// What the first run of a program found out, and how it is to be launched from then on.
struct FirstRunResult {
  engine::FirstRun report;
  Settings settings;
  std::optional<Different> different; // from plain launches; then the settings are plain launches
  std::string fault_at;               // RFC 6901 pointer to the wave that wrote it last
};

// Compares what would be launched with plain launches, on the program's own data, and where `measure` says so
// times the candidates that the cost model does not rule out. It ends within the budget but for builds that
// have begun; iterations are as many as keep plain launches within a hundredth of it. What differs in a byte,
// or could not be compared, is launched plainly: the report says why. Errors: interrupted.
Result<FirstRunResult> first_run(const engine::WaveProgram& program, const std::string& folder,
                                 const device::DeviceInfo& device, const engine::RunOptions& options,
                                 std::uint64_t budget_ns, bool measure, engine::Monitor& monitor,
                                 MeasureProgress& progress);

} // namespace tidegate::tuning
