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
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::engine {

// Compares the outputs byte for byte.
OutputParity compare_outputs(const Job& program, const HostContents& expected, const HostContents& found);

// Compares an output with the user's own reference.
ExpectedReport compare_expected(const ProgramBuffer& buffer, std::span<const std::byte> expected,
                                std::span<const std::byte> found);

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

  // The waves of the first iteration run one by one, and the monitor knows which: for runs that are not timed.
  void one_by_one(Monitor& monitor) { monitor_ = &monitor; }

  // Allocates, runs, reads the outputs back and frees the memory; the waves in the program's order, or in `order`.
  // Throws device::Refused.
  PlainRun run(std::chrono::steady_clock::time_point deadline, std::span<const std::uint32_t> order = {},
               QueueWay way = QueueWay::check);

private:
  const device::Session& session_;
  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const HostContents& first_;
  Monitor* monitor_ = nullptr;
  std::vector<std::uint32_t> waves_;
  PlainPrograms programs_;
};

struct Proof {
  bool in_time = true; // the plain launches finished; otherwise nothing was compared
  OutputParity parity;
  std::optional<StressReport> stress;   // if requested and the outputs are equal
  std::optional<Comparison> comparison; // likewise

  // Returns true if all that was requested was done, and no output differed.
  [[nodiscard]] bool holds() const {
    return in_time && parity.equal && (!stress || (stress->in_time && !stress->failure));
  }
};

// Runs the plain launches and compares `outputs` with theirs; then runs the program under stress, and times both ways,
// as the options say. Throws device::Refused.
Proof prove(const device::Session& session, const device::DeviceInfo& device, const CompiledProgram& compiled,
            BuiltProgram& built, const HostContents& first, const HostContents& outputs,
            const DispatchLimits& limits, const RunOptions& options, Monitor& monitor);

// Compares each run with `expected`, the outputs of plain launches in the program's order, and ends with the first that
// differs. Throws device::Refused.
StressReport run_under_stress(const device::Session& session, const device::DeviceInfo& device,
                              const Job& program, const HostContents& first, const HostContents& expected,
                              Reference& reference, std::chrono::steady_clock::time_point deadline,
                              const RunOptions& options, Monitor& monitor);

// Times both ways in pairs of alternating order. Each returns its nanoseconds, or nothing once time is up: then the
// rounds before count. Returns nothing without a round. `same_launches`: both ways are the same, so what differs is
// chance.
std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run);

} // namespace tidegate::engine
