// From a job to a kernel: outline, promote, group, schedule, lay memory out, choose a strategy,
// recommend, generate. Every pass takes plain structs and returns one.
#pragma once
#include "engine/job.hpp"
#include "engine/launch_tables.hpp"
#include "engine/recommend.hpp"
#include "engine/schedule.hpp"
#include "engine/strategy.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/trace.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::engine {

struct ModeChoice {
  Mode mode = Mode::interpreter;
  std::string reason; // for people
};

// The results of all passes.
struct CompiledProgram {
  Job written;                    // as its document has it
  Job program;                    // as it runs: waves that are one window are one wave
  std::uint64_t budget_bytes = 0; // the program's, or all that the device has; 0 when neither is known
  planning::MemoryPlan plan;      // of the waves as they were written
  documents::Planner planner = documents::Planner::layered; // that made it
  std::vector<std::vector<std::uint32_t>> parts;            // by wave, the waves as written
  OutlinedOps ops;
  PromotionChoice promotion;
  StrategyChoice strategy;
  ProgramLoad load; // of the chosen schedule
  DeviceModel model;
  Schedule schedule;
  std::uint64_t table_bytes = 0; // of the budget, for descriptors and counters
  MemoryLayout memory;
  Synchronization synchronization;
  Recommendation recommendation;
  ModeChoice mode;
  LaunchTables tables;
  std::optional<device::MemoryOrdering> ordering; // of a persistent launch
  DeviceClock clock = DeviceClock::none;          // that a traced launch reads
  device::Tuning tuning;
  KernelSource source;
  std::vector<Warning> warnings; // likely mistakes in the program
  // Time of all decisions before a kernel is generated: of publishing queues, finding windows, asking the policy,
  // grouping, scheduling, laying memory out and choosing a strategy.
  std::uint64_t plan_ns = 0;

  [[nodiscard]] bool persistent() const { return is_persistent(strategy.strategy); }
};

// Returns true if work-groups of a launch with barriers may claim tiles (kernels/wave/claims.cl): on PoCL's CPUs, and
// without a queue in rounds, at whose ends all groups meet. Runs that are traced, stressed or exported do without.
bool may_claim(const Job& program, const device::DeviceInfo* device);

// Facts about the device and the launch on which a generated kernel depends.
struct KernelFeatures {
  bool restricts = false;            // pointers that never alias are declared restrict
  bool conditional_barriers = false; // compiled rightly; by PoCL (3.1) they may not be
  bool opencl_3 = false;             // there is OpenCL C 3.0
  bool claims = false;               // work-groups claim tiles (kernels/wave/claims.cl)
  bool gates = false;                // ops wait where TG_PASS is (kernels/wave/progress.cl)
  bool stress = false;               // the last of the tables' words is the seed of --stress
};

// Generates the user's kernels as functions, a dispatch function with a case for each way in which they are called, and
// the loop around it from kernels/. Comments everything except the user's text.
KernelSource generate_kernel(const CompiledProgram& compiled, const KernelFeatures& features);

// Runs all passes. `device` is null if the program is compiled for none in particular. Errors: of the
// program, its kernels, its plan and its memory.
Result<CompiledProgram> compile(Job job, const device::DeviceInfo* device, const CompileOptions& options);

// Checks of a job before it is compiled (job_checks.cpp): for what a device cannot do, and for likely mistakes.

// Returns the error for waves that need more local memory than the device has.
Error too_much_local_memory(std::uint64_t bytes, const device::DeviceInfo& device);

// Returns out_of_range for work-groups and local arguments that the device cannot have, and unsupported_kernel for
// images.
Result<void> check_device(const Job& program, const device::DeviceInfo& device);

// Warns of waves that access the same buffer in an order that the listed dependencies leave open, of
// transient buffers that are read before any wave can write them, and of programs without a result. Accesses
// follow from the kernels' signatures; a stated "access" overrides them. The dependencies must be acyclic.
std::vector<Warning> find_hazards(const Job& program);

} // namespace tidegate::engine
