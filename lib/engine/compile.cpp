#include "engine/compile.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t default_alignment = 256;
constexpr std::uint64_t counter_bytes = 4096; // of any launch, at most

bool is_cpu(const device::DeviceInfo* device) {
  return device != nullptr && device->type == device::DeviceType::cpu;
}

// The limits of the device, or usual ones where a program is compiled for none in particular.
policy::AdapterLimits adapter_of(const device::DeviceInfo* device) {
  return device != nullptr ? device::adapter_limits(*device)
                           : policy::AdapterLimits{.max_workgroup_size_x = 256,
                                                   .max_compute_workgroups_per_dimension =
                                                       std::numeric_limits<std::int32_t>::max(),
                                                   .max_compute_invocations_per_workgroup = 256};
}

KernelLimits kernel_limits(const device::DeviceInfo* device, const CompileOptions& options,
                           std::uint32_t side_by_side) {
  KernelLimits limits{.group_size = adapter_of(device).max_workgroup_size_x};
  if (device != nullptr) {
    // A CPU runs work-groups side by side: more work-items in one gain nothing there.
    limits.tiles_side_by_side = is_cpu(device) ? 0 : side_by_side;
    limits.named_barriers = limits.tiles_side_by_side != 0 && takes_ptx(*device);
    limits.local_bytes =
        device->local_memory_bytes - std::min<std::uint64_t>(device->local_memory_bytes, 2048);
    limits.read_images = device->max_read_images;
    limits.samplers = device->max_samplers;
    limits.barrier_kernels_share = device->profile ? device->profile->barrier_kernels_share : options.dry_run;
    limits.one_call_with_barriers = is_cpu(device);
  }
  return limits;
}

// Returns the bytes of descriptors and counters by schedule, which come out of the budget first; with descriptors of
// every wave they are as large as they get. Progress reports: one per work-group, at most one group per tile unless
// `workers` asks for more.
std::vector<std::uint64_t> most_table_bytes(const Job& program, const Schedules& schedules,
                                            const device::DeviceInfo* device,
                                            std::optional<std::uint32_t> workers) {
  constexpr std::uint64_t most_groups_per_unit = 64;
  constexpr std::uint64_t bytes_per_group = 32 + 256; // what it reports, and a line for how far it has come
  const std::uint64_t most_groups =
      device == nullptr ? 0 : most_groups_per_unit * std::max(device->compute_units, 1U);
  const MemoryLayout nowhere{.offsets = std::vector<std::uint64_t>(program.buffers.size())};
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = 0; i < schedules.all.size(); ++i) {
    const Schedule& schedule = schedules.all[i];
    const Synchronization none{.stages = std::vector<StageWaits>(schedule.stages.size())};
    const LaunchTables largest = make_tables(program, schedule, nowhere, none);
    bytes.push_back(largest.bytes() + counter_bytes);
    if (i >= Schedules::first_persistent) {
      std::uint64_t groups = workers.value_or(1);
      for (const StageRow& stage : largest.stages) {
        groups = std::max<std::uint64_t>(groups, stage.tiles);
      }
      bytes.back() += program.waves.size() * most_waits_per_wave * sizeof(WaitRow) +
                      bytes_per_group * std::min(groups, most_groups);
    }
  }
  return bytes;
}

// Returns the bytes of the budget and the largest allocation that are left for the arena; 0 where neither binds.
Result<std::uint64_t> arena_capacity(const Job& program, std::uint64_t table_bytes,
                                     std::uint64_t budget_bytes, const device::DeviceInfo* device) {
  const std::uint64_t images = image_bytes(program);
  const std::uint64_t others = saturating_add(table_bytes, images);
  const std::uint64_t capacity =
      device == nullptr ? budget_bytes
                        : std::min(budget_bytes, saturating_add(device->max_allocation_bytes, others));
  if (capacity != 0 && capacity <= others) {
    return tl::unexpected(Error{
        .code = ErrorCode::arena_over_capacity,
        .message = fmt::format("{} alone take {} of device memory, the budget is {}",
                               images == 0 ? "descriptors and counters" : "images, descriptors and counters",
                               bytes_text(others), bytes_text(capacity)),
        .fix = "raise device_memory_budget_bytes",
        .required_bytes = others,
        .capacity_bytes = capacity});
  }
  return capacity == 0 ? 0 : capacity - others;
}

Result<MemoryLayout> lay_out(const Job& program, const planning::MemoryPlan& plan, std::uint64_t capacity,
                             const device::DeviceInfo* device) {
  const std::uint64_t alignment =
      device == nullptr
          ? default_alignment
          : std::max<std::uint64_t>(default_alignment, std::bit_ceil(device->base_alignment_bytes));
  // Equal places of large buffers whose sizes are multiples of a page fall into the same set of a CPU's first cache,
  // which holds eight lines. Twenty cache lines more shift each buffer from the one before.
  constexpr std::uint64_t stagger_bytes = 5 * default_alignment;
  if (is_cpu(device)) {
    if (auto memory = plan_memory(program, plan, alignment, capacity, stagger_bytes)) {
      return memory;
    }
  }
  return plan_memory(program, plan, alignment, capacity);
}

// A persistent schedule for each number of tiles side by side that makes a difference.
Result<Schedules> make_schedules(const Job& program, const OutlinedOps& ops, const planning::MemoryPlan& plan,
                                 const device::DeviceInfo* device, const CompileOptions& options,
                                 const std::vector<std::uint32_t>& packings) {
  std::vector<Schedule> schedules(2);
  const KernelLimits limits = kernel_limits(device, options, 1);
  TIDEGATE_TRY(schedules[Schedules::launch], make_schedule(program, ops, plan, Strategy::launch, limits));
  TIDEGATE_TRY(schedules[Schedules::plain], make_schedule(program, ops, plan, Strategy::plain, limits));
  for (const std::uint32_t side_by_side : packings) {
    TIDEGATE_TRY(Schedule schedule, make_schedule(program, ops, plan, Strategy::barrier,
                                                  kernel_limits(device, options, side_by_side)));
    if (schedules.size() == Schedules::first_persistent ||
        schedules.back().group_size != schedule.group_size) {
      schedules.push_back(std::move(schedule));
    }
  }
  return Schedules{std::move(schedules)};
}

// The plan by the numbers of the waves as they were written.
planning::MemoryPlan as_written(const planning::MemoryPlan& plan,
                                const std::vector<std::vector<std::uint32_t>>& parts) {
  planning::MemoryPlan written = plan;
  written.order.clear();
  written.group_begin = {0};
  for (std::size_t group = 0; group < plan.group_count(); ++group) {
    for (const std::uint32_t wave : plan.group(group)) {
      written.order.insert(written.order.end(), parts[wave].begin(), parts[wave].end());
    }
    written.group_begin.push_back(static_cast<std::uint32_t>(written.order.size()));
  }
  return written;
}

// Returns how many work-groups a compute unit has to hold if every tile of a stage is to run at once, or 0 if they have
// too many work-items to gain registers by it. Half of the tiles that repeat are in smaller stages than that one, half
// in larger ones. By the largest stage alone, NVIDIA's assembler took so many registers for the language model of
// examples/ that a unit held one group; with two it takes 0.93 of the time.
std::uint32_t groups_per_unit(const Schedule& schedule, std::uint32_t workers,
                              const device::DeviceInfo& device) {
  constexpr std::uint64_t most_work_items = 1024; // at which NVIDIA's GPUs have 64 registers for each
  std::vector<std::uint64_t> tiles;
  for (std::size_t stage = schedule.repeat_begin; stage < schedule.repeat_end; ++stage) {
    if (!schedule.stages[stage].plain) {
      tiles.push_back(schedule.stages[stage].packs);
    }
  }
  std::ranges::sort(tiles);
  const std::uint64_t all = std::accumulate(tiles.begin(), tiles.end(), std::uint64_t{0});
  std::uint64_t groups = std::max(workers, 1U);
  std::uint64_t before = 0;
  for (const std::uint64_t count : tiles) {
    groups = 2 * before < all ? std::max(groups, count) : groups;
    before += count;
  }
  const std::uint64_t units = std::max(device.compute_units, 1U);
  const std::uint64_t per_unit = (groups + units - 1) / units;
  return per_unit * schedule.group_size <= most_work_items ? static_cast<std::uint32_t>(per_unit) : 0;
}

// Marks the stages whose kernels wait by themselves.
void wait_inside(const Job& program, const OutlinedOps& ops, const Schedule& schedule, LaunchTables& tables) {
  for (std::size_t row = 0; row < tables.stages.size(); ++row) {
    const bool all =
        std::ranges::all_of(schedule.stages[schedule.row_stages[row]].waves, [&](std::uint32_t wave) {
          return schedule.tiles_per_pack[wave] == 1 && ops.kernels[program.waves[wave].op].waits;
        });
    tables.stages[row].flags |= all ? TG_WAITS_INSIDE : 0;
  }
}

// Groups, schedule, memory, strategy, waits, tables and text of a program with its ops, for which the policy has been asked
// and promotions are made. `began`: when decisions began.
Result<CompiledProgram> compile_waves(CompiledProgram compiled, const device::DeviceInfo* device,
                                      CompileOptions options, Clock::time_point began) {
  const Job& program = compiled.program;
  const OutlinedOps& ops = compiled.ops;

  // Waves that need no barrier between them share a group; a plan that was given is checked instead.
  TIDEGATE_TRY(const planning::MemoryPlan plan, group_waves(program, compiled.budget_bytes, options.plan));
  compiled.plan = as_written(plan, compiled.parts);
  compiled.planner = options.planner;

  // A schedule of launches and persistent ones, with more and fewer tiles side by side.
  compiled.mode.reason = options.mode ? "requested" : "recommended by the launch policy";
  options.mode = compiled.mode.mode;
  const device::Tuning& tuning = compiled.tuning = options.tuning;
  const DeviceModel& model = compiled.model = model_of(device);
  TIDEGATE_TRY(Schedules schedules, make_schedules(program, ops, plan, device, options,
                                                   packings(program, model.compute_units, options)));

  // Buffers get their places next to the tables of any schedule that may be taken; those that are never needed
  // together share memory.
  const std::vector<std::uint64_t> table_bytes =
      most_table_bytes(program, schedules, device, options.workers);
  const bool may_persist = options.wanted() ? is_persistent(*options.wanted()) : !is_cpu(device);
  const std::uint64_t most_bytes =
      may_persist ? std::ranges::max(table_bytes) : table_bytes[Schedules::launch];
  TIDEGATE_TRY(const std::uint64_t capacity,
               options.memory_apart ? Result<std::uint64_t>(0)
                                    : arena_capacity(program, most_bytes, compiled.budget_bytes, device));
  TIDEGATE_TRY(compiled.memory, lay_out(program, plan, capacity, device));
  TIDEGATE_TRY(compiled.recommendation,
               with_memory(compiled.recommendation, program,
                           compiled.memory.arena_bytes + compiled.memory.image_bytes));

  // Each candidate has its waits and an estimate, and one is taken.
  StrategyChoice& choice = compiled.strategy = choose_strategy(
      options, device, find_candidates(program, ops, schedules, compiled.memory, options, model));
  const Strategy strategy = choice.strategy;
  Candidate& taken = *std::ranges::find(choice.candidates, true, &Candidate::taken);
  compiled.table_bytes = table_bytes[taken.schedule];
  const Schedule& schedule = compiled.schedule = std::move(schedules.all[taken.schedule]);
  compiled.synchronization = std::move(taken.waits);
  compiled.load = taken.load;
  for (Candidate& candidate : choice.candidates) {
    candidate.waits = {};
  }
  if (!model.measured && !options.dry_run) {
    choice.candidates.clear(); // of this device nothing is known
  }

  // Descriptors for the device. PoCL (3.1) miscompiles kernels that hold one function with barriers several
  // times.
  LaunchTables& tables = compiled.tables =
      make_tables(program, schedule, compiled.memory, compiled.synchronization,
                  {.mode = compiled.mode.mode,
                   .most = is_cpu(device) ? 0 : CaseRules().most,
                   .hot = compiled.promotion.ops});
  if (device != nullptr && tables.dynamic_local_bytes > device->local_memory_bytes) {
    return tl::unexpected(too_much_local_memory(tables.dynamic_local_bytes, *device));
  }
  if (tables.cases.empty()) {
    compiled.mode.reason = "no effect: every stage is one wave, launched as the user's own kernel";
  }
  if (options.stress) {
    tables.words.push_back(0);
  }
  compiled.plan_ns = elapsed_ns(began) + program.publish_ns;

  // The kernel itself.
  const bool ptx = device != nullptr && takes_ptx(*device);
  const bool persistent = is_persistent(strategy);
  if (persistent && device != nullptr && device->profile) {
    compiled.ordering = device->profile->ordering.value_or(device::MemoryOrdering::classic);
  }
  compiled.clock =
      options.trace && device != nullptr && persistent ? device_clock(*device) : DeviceClock::none;
  const bool claims = options.claims && strategy == Strategy::barrier && may_claim(program, device) &&
                      !options.stress && compiled.clock == DeviceClock::none;
  // Loads before a wait gain on NVIDIA's GPUs; --stress takes them to other GPUs, too. PoCL 3.1 compiles some of these
  // barriers wrongly, and --stress would blame the program.
  const bool gates = persistent && !claims && compiled.clock == DeviceClock::none &&
                     ((options.stress && !is_cpu(device)) || ptx);
  if (gates) {
    wait_inside(program, ops, schedule, tables);
  }
  compiled.source = generate_kernel(
      compiled, {.restricts = ptx, // Oclgrind (21.10) cannot run it
                 .conditional_barriers = device != nullptr && !is_cpu(device),
                 .opencl_3 = device != nullptr && device->opencl_version.starts_with("OpenCL 3"),
                 .claims = claims,
                 .gates = gates,
                 .stress = options.stress});
  if (ptx) {
    const std::uint32_t stated = tuning.work_items_per_unit;
    compiled.source.groups_per_unit = stated != 0
                                          ? std::max(stated / schedule.group_size, 1U)
                                          : groups_per_unit(schedule, options.workers.value_or(1), *device);
  }
  return compiled;
}

// The flag of a tile is a condition around its kernel. PoCL 3.1 compiles barriers under conditions wrongly, of plain
// launches, too, so that nothing could be compared with.
Result<void> check_conditions(const Job& program, const OutlinedOps& ops, const device::DeviceInfo* device) {
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    if (is_cpu(device) && wave.tests_flags && ops.kernels[wave.op].needs_whole_group) {
      return failure(
          ErrorCode::unsupported_kernel,
          program.wave_text(i) +
              " has active tiles and a kernel with barriers or local memory, which compilers for CPUs get wrong",
          "leave \"active\" out and test the flag in the kernel around what it writes, or take a GPU",
          program.wave_pointer(i) + "/active");
    }
  }
  return {};
}

// Asks the policy, then compiles with windows of waves and separate cases of hot ops if the options or the policy say
// so.
Result<CompiledProgram> compile_promoted(const Job& program, OutlinedOps ops, std::uint64_t budget_bytes,
                                         const device::DeviceInfo* device, const CompileOptions& options) {
  const auto began = Clock::now();
  TIDEGATE_CHECK(check_conditions(program, ops, device));
  const KernelLimits limits = kernel_limits(device, options, 1);
  const bool plain = options.wanted() == Strategy::plain;
  std::vector<Window> windows = options.plan
                                    ? std::vector<Window>() // that says which waves share a group
                                    : find_windows(program, ops, shared_launch(program, ops, limits), limits);

  // The policy's word on mode, promotion, topology and workers.
  CompiledProgram asked{.program = program, .budget_bytes = budget_bytes, .ops = std::move(ops)};
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    asked.parts.push_back({wave});
  }
  TIDEGATE_TRY(asked.recommendation,
               recommend(program, adapter_of(device), budget_bytes, hot_counts(program, windows)));
  asked.mode.mode = options.mode.value_or(asked.recommendation.launch.execution_mode);
  PromotionChoice& promotion = asked.promotion =
      choose_promotion(plain ? Promotion::none : options.promote, asked.recommendation, std::move(windows),
                       hot_opcodes(program));
  if (plain && options.promote != Promotion::none) {
    promotion.reason = "plain launches run the user's own kernels";
  }
  if (!promotion.windows.empty()) {
    FusedProgram fused = fuse(program, asked.ops, promotion.windows);
    CompiledProgram joined = asked;
    joined.program = std::move(fused.program);
    joined.ops = std::move(fused.ops);
    joined.parts = std::move(fused.parts);
    if (!promotion.ops.empty()) {
      joined.promotion.ops = hot_opcodes(joined.program);
    }
    auto compiled = compile_waves(std::move(joined), device, options, began);
    if (compiled && std::ranges::none_of(compiled->schedule.fallbacks, [&](const Fallback& fallback) {
          return compiled->program.waves[fallback.wave].joined_waves != 1;
        })) {
      return compiled;
    }
    // Waves that are one wave hold all of their memory at once, and need one work-group size.
    promotion.windows.clear();
    promotion.promoted = promotion.ops.empty() ? Promotion::none : Promotion::opcodes;
    promotion.reason += compiled ? "; no launch could have had the windows' work-groups"
                                 : "; the windows would not have had room";
  }
  return compile_waves(std::move(asked), device, options, began);
}

} // namespace

bool may_claim(const Job& program, const device::DeviceInfo* device) {
  return is_cpu(device) && device::is_pocl(*device) &&
         device->extensions.find("cl_khr_int64_base_atomics") != std::string::npos &&
         std::ranges::none_of(program.waves, &ProgramWave::in_rounds);
}

Result<CompiledProgram> compile(Job job, const device::DeviceInfo* device, const CompileOptions& options) {
  job.fp_contract_off = options.fp_contract_off;
  if (device != nullptr) {
    TIDEGATE_CHECK(check_device(job, *device));
  }
  const std::uint64_t budget_bytes = options.memory_apart ? 0
                                     : job.budget_bytes == 0 && device != nullptr
                                         ? device->global_memory_bytes
                                         : job.budget_bytes;
  std::vector<Warning> warnings = find_hazards(job);

  // Kernels become functions of a virtual work-group, which any work-group of any launch can call.
  TIDEGATE_TRY(OutlinedOps ops, outline_ops(job));

  // Waves that go on with the same tiles become one, and from there on all goes by the waves that are left.
  TIDEGATE_TRY(CompiledProgram compiled,
               compile_promoted(job, std::move(ops), budget_bytes, device, options));
  compiled.written = std::move(job);
  compiled.warnings = std::move(warnings);
  return compiled;
}

} // namespace tidegate::engine
