// Proof of equal output: the same kernels the ordinary way, one plain launch for each wave in the program's
// order, each buffer by itself. Nothing of it goes through the generated kernel, the arena or the plan.
#pragma once

#include <tidegate/device/handles.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/plain_waves.hpp>
#include <tidegate/run/resolved_program.hpp>
#include <tidegate/run/run_report.hpp>
#include <tidegate/run/schedule.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::run {

struct PlainRun {
  BufferContents outputs;        // by buffer; empty for one without an output
  std::uint64_t dispatch_ns = 0; // from the first launch until the last has ended
  bool in_time = true;
};

class Reference {
public:
  // All references outlive it. Throws device::Refused.
  Reference(const device::Session& session, const ResolvedProgram& program,
            const std::vector<std::vector<std::uint32_t>>& places, const BufferContents& first);

  // Allocates, runs, reads the outputs back and gives the memory back. Throws device::Refused.
  PlainRun run(std::chrono::steady_clock::time_point deadline);

private:
  const device::Session& session_;
  const ResolvedProgram& program_;
  const std::vector<std::vector<std::uint32_t>>& places_;
  const BufferContents& first_;
  std::vector<std::uint32_t> waves_;
  PlainPrograms programs_;
};

// The waves in an order that keeps every dependency, as early in the program's own order as they can be.
std::vector<std::uint32_t> program_order(const ResolvedProgram& program);

// Compares the outputs byte for byte.
OutputParity compare_outputs(const ResolvedProgram& program, const BufferContents& expected,
                             const BufferContents& found);

} // namespace tidegate::run
