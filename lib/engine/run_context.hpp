// A run of a compiled program on its device, which the passes take in place of its parts.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/compile.hpp"
#include "engine/kernel_cache.hpp"
#include "engine/plain_programs.hpp"
#include "engine/run_options.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::engine {

// A compiled program's kernels on their device.
struct BuiltProgram {
  std::optional<BuiltKernel> kernel;           // the generated kernel; empty if every stage is plain
  std::vector<std::uint32_t> plain_waves;      // waves launched as the user's own kernels
  std::optional<PlainPrograms> plain_programs; // programs of plain_waves
  std::uint64_t build_ns = 0;
};

class RankExchange;

// All references outlive it.
struct RunContext {
  const device::Session& session;
  const device::DeviceInfo& device;
  const CompiledProgram& compiled;
  BuiltProgram& built;
  Monitor& monitor;
  const RunOptions& options;
  RankExchange* exchange = nullptr; // of one of several ranks, whose part the program is
};

} // namespace tidegate::engine
