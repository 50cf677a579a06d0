// Proof of equal output: the same kernels the ordinary way, one plain launch for each wave in the program's
// order, each buffer by itself. Nothing of it goes through the generated kernel, the arena or the plan.
#pragma once

#include <tidegate/compiler/compile.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/arena_run.hpp>
#include <tidegate/run/built_program.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/monitor.hpp>
#include <tidegate/run/plain_waves.hpp>
#include <tidegate/run/run_report.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::run {

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

} // namespace tidegate::run
