// Proof of equal output: the same kernels as plain launches, one per wave in the program's order, with
// separate buffers. It uses neither the generated kernel nor the arena nor the plan.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/arena_run.hpp"
#include "engine/compile.hpp"
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/plain_waves.hpp"
#include "engine/run_report.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::engine {

// Compares the outputs byte for byte.
OutputParity compare_outputs(const Job& program, const HostContents& expected, const HostContents& found);

// Returns the most likely cause of a difference, given whether each way repeats its outputs: a way that does
// not has a race. Repeatable floats that differ by up to some thousand units in the last place were rounded
// differently.
DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats,
                             bool publishes = false);

struct PlainRun {
  HostContents outputs;          // by buffer; empty without an output
  std::uint64_t dispatch_ns = 0; // from the first launch to the end of the last
  bool in_time = true;
};

class Reference {
public:
  // All references must outlive it. Throws device::Refused.
  Reference(const device::Session& session, const Job& program,
            const std::vector<std::vector<std::uint32_t>>& storage, const HostContents& first);

  // Allocates, runs, reads the outputs back and frees the memory. Throws device::Refused.
  PlainRun run(std::chrono::steady_clock::time_point deadline);

private:
  const device::Session& session_;
  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const HostContents& first_;
  std::vector<std::uint32_t> waves_;
  PlainPrograms programs_;
};

struct Proof {
  bool in_time = true; // the plain launches finished; otherwise nothing was compared
  OutputParity parity;
  std::optional<Comparison> comparison; // if rounds were requested and the outputs are equal
};

// Runs the plain launches and compares `outputs` with theirs; then times both ways in each of `rounds`
// rounds. Throws device::Refused.
Proof prove(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
            const HostContents& first, const HostContents& outputs, const DispatchLimits& limits,
            std::uint64_t rounds, Monitor& monitor);

} // namespace tidegate::engine
