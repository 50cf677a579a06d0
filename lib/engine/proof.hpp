// Proof of equal output: the same kernels the ordinary way, one plain launch for each wave in the program's
// order, each buffer by itself. Nothing of it goes through the generated kernel, the arena or the plan.
#pragma once
#include "device/monitor.hpp"
#include "device/opencl.hpp"
#include "engine/arena_run.hpp"
#include "engine/compile.hpp"
#include "engine/device_memory.hpp"
#include "engine/plain_waves.hpp"
#include "engine/run_report.hpp"
#include "work/resolved_program.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::engine {

// Outputs beside those of plain launches, and what a difference between them most likely means.

// Compares the outputs byte for byte.
OutputParity compare_outputs(const ResolvedProgram& program, const HostContents& expected,
                             const HostContents& found);

// Why outputs differ, from whether each way repeats itself when it is run again: what does not is a race.
// Outputs that both ways repeat, and that lie within some thousand units in the last place of floats, were
// rounded differently.
DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats);

struct PlainRun {
  HostContents outputs;          // by buffer; empty for one without an output
  std::uint64_t dispatch_ns = 0; // from the first launch until the last has ended
  bool in_time = true;
};

class Reference {
public:
  // All references outlive it. Throws device::Refused.
  Reference(const device::Session& session, const ResolvedProgram& program,
            const std::vector<std::vector<std::uint32_t>>& places, const HostContents& first);

  // Allocates, runs, reads the outputs back and gives the memory back. Throws device::Refused.
  PlainRun run(std::chrono::steady_clock::time_point deadline);

private:
  const device::Session& session_;
  const ResolvedProgram& program_;
  const std::vector<std::vector<std::uint32_t>>& places_;
  const HostContents& first_;
  std::vector<std::uint32_t> waves_;
  PlainPrograms programs_;
};

struct Proof {
  bool in_time = true; // the plain launches have ended; otherwise nothing was compared
  OutputParity parity;
  std::optional<Comparison> comparison; // where rounds were asked for, and the outputs are equal
};

// Runs the plain launches and compares `outputs` with theirs; then times both, one after the other in each of
// `rounds` rounds. Throws device::Refused.
Proof prove(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
            const HostContents& first, const HostContents& outputs, const DispatchLimits& limits,
            std::uint64_t rounds, Monitor& monitor);

// Changes a byte of the first output, for the test that the proof sees it.
void spoil(HostContents& outputs);

} // namespace tidegate::engine
