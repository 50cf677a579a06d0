// The options of a run of a wave program, and what its passes take in place of its parts.
#pragma once
#include "engine/compile.hpp"
#include "engine/plain_waves.hpp"
#include "runtime/run.hpp"

namespace tidegate::engine {

struct RunReport;

struct RunOptions : runtime::Options {
  CompileOptions compile;
  std::string export_folder; // for the kernel with a host program, in place of outputs; empty: none
  bool verify_stated =
      false; // compare a first run with a stated strategy, if plain launches fit first_check_ns()
  bool check_bounds = false; // instead of the ordinary run: detect writes outside buffers
  std::uint64_t stress_runs = 0;
  std::uint64_t stress_seed = 1; // of the first of them; the next one has the next seed
  std::string kept_key;          // of the program in `kept`; empty: it is not kept
  // Called with the known facts if the device does not respond; ends the process.
  std::function<void(const RunReport&)> abandon;
};

// A compiled program's kernels on their device.
struct BuiltProgram {
  std::optional<BuiltKernel> kernel;           // the generated kernel; empty if every stage is plain
  std::optional<PlainPrograms> plain_programs; // of waves that are launched as the user's own kernels
  std::uint64_t build_ns = 0;
};

class RankExchange;

// A run of a compiled program on its device. All references outlive it.
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
