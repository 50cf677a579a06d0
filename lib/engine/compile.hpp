// From a job to a kernel: outline, promote, group, schedule, lay memory out, choose a strategy,
// recommend, generate. Every pass takes plain structs and returns one.
#pragma once
#include "engine/cost_model.hpp"
#include "engine/generate.hpp"
#include "engine/job.hpp"
#include "engine/launch_tables.hpp"
#include "engine/memory_layout.hpp"
#include "engine/recommend.hpp"
#include "engine/schedule.hpp"
#include "engine/strategy.hpp"
#include "engine/synchronization.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::engine {

struct CompileOptions {
  std::optional<Strategy> strategy;          // empty: chosen by the device's profile
  std::optional<Mode> mode;                  // empty: the policy's
  std::optional<planning::MemoryPlan> plan;  // empty: planned with the strategy `layered`
  std::optional<std::uint32_t> workers;      // work-groups of a persistent launch; empty: by the tiles
  std::optional<std::uint32_t> side_by_side; // tiles in a work-group of a persistent launch; empty: chosen
  std::optional<Promotion> promote;          // empty: the policy's
  std::optional<TileMapping> mapping;        // of the tiles; empty: chosen
  device::Tuning tuning;                     // decides the choices that are left open
  std::string why = "measured as the fastest, by the profile"; // why the tuning has a strategy, for people
  bool fp_contract_off = false; // a * b + c is rounded twice, here and in plain launches
  bool stress = false;          // tiles in another order: the last of the tables' words is the seed
  bool trace = false;           // work-groups report when they wait and work, by the device's clock
  bool claims = true;           // work-groups claim tiles, where the device and the program allow it
  // The file that states the policy; "" if the program states it, nothing if tidegate kept it for the program.
  std::optional<std::string> policy_file = "";
  bool memory_apart = false; // no arena: nothing limits what all buffers take together
  bool dry_run = false;      // ends before a device is touched; it may be unknown
};

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
  std::vector<std::vector<std::uint32_t>> parts; // by wave, the waves as written; empty: the same
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

// Runs all passes. `device` is null if the program is compiled for none in particular. Errors: of the
// program, its kernels, its plan and its memory.
Result<CompiledProgram> compile(Job job, const device::DeviceInfo* device, const CompileOptions& options);

} // namespace tidegate::engine
