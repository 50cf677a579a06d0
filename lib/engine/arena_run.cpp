#include "engine/arena_run.hpp"

#include "engine/rank_exchange.hpp"

namespace tidegate::engine {

in_kernels::tg_numbers first_numbers(const CompiledProgram& compiled, const DispatchLimits& limits) {
  const Schedule& schedule = compiled.schedule;
  const LaunchTables& tables = compiled.tables;
  const auto stages = static_cast<std::uint32_t>(tables.stages.size());
  return {.stage_count = stages,
          .wait_count = static_cast<std::uint32_t>(tables.waits.size()),
          .stage_end = stages,
          .repeat_begin = schedule.rows_before(schedule.repeat_begin),
          .repeat_end = schedule.rows_before(schedule.repeat_end),
          .steps = tables.steps,
          .phase_count = schedule.phases(),
          .entries_per_phase = tables.entries_per_phase,
          .mapping = static_cast<std::uint32_t>(compiled.synchronization.mapping),
          .iterations = compiled.program.iterations,
          .budget =
              static_cast<std::uint32_t>(std::min<std::uint64_t>(limits.first_turns, ~std::uint32_t{0})),
          .arrivals_per_barrier = limits.arrivals_per_barrier,
          .most_polls = limits.most_polls};
}

void set_arguments(const device::Session& session, const BuiltKernel& kernel, const LaunchTables& tables,
                   std::span<const device::Buffer* const> memory, std::span<const std::uint32_t> numbers) {
  std::uint32_t index = 0;
  for (const device::Buffer* const buffer : memory) {
    index = session.set(kernel.kernel, index, *buffer);
  }
  for (const std::uint32_t number : numbers) {
    index = session.set(kernel.kernel, index, number);
  }
  session.set_local(kernel.kernel, index, local_room(tables));
}

namespace {

// Sets the images and samplers of the generated kernel, which last as long as the result: those of a run, or images of
// one texel for a launch that reads none. Throws device::Refused.
std::vector<device::Object> bind_objects(const device::Session& session, const CompiledProgram& compiled,
                                         const BuiltKernel& kernel, const Arena* arena) {
  const std::size_t common = compiled.persistent()
                                 ? in_kernels::TG_MEMORY_COUNT + numbers_of({}).size() + 1
                                 : 6; // arena, entries, words, first entry, iteration, local memory
  auto index = static_cast<std::uint32_t>(common);
  std::vector<device::Object> bound;
  for (const KernelObject& object : compiled.schedule.objects) {
    if (!object.image) {
      bound.push_back(session.make_sampler(object.sampler));
    } else if (arena != nullptr) {
      bound.push_back(arena->parts[*object.image].object);
    } else {
      ImageShape texel = *compiled.program.buffers[*object.image].image;
      texel.width = texel.height = texel.depth = texel.layers = 1;
      bound.push_back(session.make_image(texel, {.reads = true}));
    }
    index = session.set(kernel.kernel, index, bound.back());
  }
  return bound;
}

// The kernel is compiled before the waves run.
void compile_now(const device::Session& session, const CompiledProgram& compiled, BuiltKernel& kernel) {
  const device::Buffer nothing = session.allocate(poll_bytes);
  const auto objects = bind_objects(session, compiled, kernel, nullptr);
  std::size_t most_groups = 1;
  if (compiled.persistent()) { // without iterations it only counts itself and returns
    session.clear(nothing, poll_bytes);
    set_arguments(session, kernel, compiled.tables, std::vector(in_kernels::TG_MEMORY_COUNT, &nothing),
                  numbers_of({.most_polls = 1}));
  } else {
    constexpr std::uint32_t no_entry = ~0U; // TG_NO_ENTRY
    for (const StageRow& stage : compiled.tables.stages) {
      most_groups = std::max<std::size_t>(most_groups, stage.tiles);
    }
    set_arguments(session, kernel, compiled.tables, std::vector(3, &nothing), std::array{no_entry, 0U});
  }
  compile_by_launching(session, kernel, compiled.schedule.group_size, most_groups);
}

} // namespace

BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder) {
  const auto start = std::chrono::steady_clock::now();
  BuiltProgram built;
  if (!compiled.tables.cases.empty()) {
    built.kernel =
        build_kernel(session, device, compiled.source, compiled.tables.dynamic_local_bytes, folder);
  }
  std::vector<std::uint32_t> plain; // waves that are launched as the user's own kernels
  for (const Stage& stage : compiled.schedule.stages) {
    if (stage.plain) {
      plain.push_back(stage.waves.front());
    }
  }
  if (!plain.empty()) {
    built.plain_programs.emplace(session, compiled.program, std::move(plain));
  }
  if (built.kernel && session.on_host) {
    compile_now(session, compiled, *built.kernel);
  }
  built.build_ns = elapsed_ns(start);
  return built;
}

// Returns the number of groups to launch if `resident` can run concurrently: those that the cost model wants, without what
// the policy sheds where memory is tight.
static std::uint32_t workers_for(const CompiledProgram& compiled, std::uint32_t resident) {
  const std::uint32_t stated = compiled.tuning.workers;
  const std::uint32_t wanted =
      best_workers(compiled.load, compiled.strategy.strategy, compiled.synchronization.mapping,
                   compiled.model, resident, stated == 0 ? std::nullopt : std::optional(stated));
  if (compiled.recommendation.launch.topology != policy::Topology::memory_constrained) {
    return wanted;
  }
  policy::LaunchRequest request;
  request.requested_worker_groups = wanted;
  request.resident_device_bytes = compiled.recommendation.effective.resident_device_bytes;
  request.device_memory_budget_bytes = compiled.budget_bytes;
  const auto shed = policy::shed_workers(compiled.program.policy, policy::infer_missing_signals(request),
                                         policy::Topology::memory_constrained);
  return shed ? std::max(shed->worker_groups, 1U) : wanted;
}

LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency) {
  return {.strategy = compiled.strategy.strategy,
          .mapping = compiled.synchronization.mapping,
          .workers = residency.workers};
}

Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for) {
  if (!compiled.persistent() || !built.kernel) {
    return {};
  }
  const auto objects = bind_objects(session, compiled, *built.kernel, nullptr);
  const std::uint32_t resident =
      resident_groups(session, device, *built.kernel, compiled.schedule.group_size,
                      [&](const device::Buffer& poll, std::uint32_t settle_polls, std::uint32_t most_polls) {
                        // Iterations are 0, so nothing else is read.
                        set_arguments(session, *built.kernel, compiled.tables,
                                      std::vector(in_kernels::TG_MEMORY_COUNT, &poll),
                                      numbers_of({.budget = settle_polls, .most_polls = most_polls}));
                      });
  return {.resident = resident, .workers = asked_for ? *asked_for : workers_for(compiled, resident)};
}

Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device) {
  std::string violation = compiled.promotion.windows.empty()
                              ? ""
                              : window_violation(compiled.written, compiled.program, compiled.parts);
  if (violation.empty()) {
    violation = schedule_violation(compiled.program, compiled.schedule);
  }
  // The rule for waits is the same for any number of groups, so a few numbers show whether it is sound.
  constexpr std::array<std::uint32_t, 4> group_counts{1, 2, 3, 7};
  for (const std::uint32_t groups : group_counts) {
    if (violation.empty() && compiled.persistent()) {
      violation = wait_violation(compiled.program, compiled.schedule, compiled.memory, compiled.tables,
                                 compiled.synchronization.mapping, groups);
    }
  }
  if (!violation.empty()) {
    return failure(ErrorCode::invalid_schedule, "the schedule is refused: " + violation,
                   "this is a bug in tidegate: please report the program");
  }
  return residency.resident == 0 ? Result<void>()
                                 : check_workers(residency.workers, residency.resident, device);
}

namespace {

// Clears the transient buffers, or the others without contents, on which a program may rely.
void clear_arena(const device::Session& session, const Job& program, const Arena& arena, bool transient) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (!buffer.first && buffer.transient() == transient) {
      clear_contents(session, buffer, arena.parts[i]);
    }
  }
  session.finish();
}

Transferred transferred(const HostContents& memory) {
  return memory.pinned() ? Transferred::later : Transferred::now;
}

// Returns true if the buffer's first contents are still there after a run: no wave writes it, and no other buffer has
// its memory at another time.
bool stays(const CompiledProgram& compiled, std::size_t index) {
  const Job& program = compiled.program;
  const auto begin = [&](std::size_t i) { return compiled.memory.offsets[i]; };
  const auto end = [&](std::size_t i) { return begin(i) + program.buffers[i].bytes; };
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (i != index && program.buffers[index].in_arena() && program.buffers[i].in_arena() &&
        begin(i) < end(index) && begin(index) < end(i)) {
      return false;
    }
  }
  return !program.buffers[index].swapped &&
         std::ranges::none_of(program.waves, [index](const ProgramWave& wave) {
           return std::ranges::any_of(wave.arguments, [index](const ProgramArgument& argument) {
             return argument.writes() && argument.buffer == index;
           });
         });
}

// Memory of the device that a stream may fill: the program's budget, or half of all.
std::uint64_t stream_budget(const CompiledProgram& compiled) {
  return compiled.written.budget_bytes != 0 ? compiled.written.budget_bytes : compiled.budget_bytes / 2;
}

// Keeps a copy of contents that the arena is about to lose, if there is room.
void keep_copy(const device::Session& session, const CompiledProgram& compiled, Kept& kept,
               const std::string& content, std::size_t index, const DevicePart& part) {
  const ProgramBuffer& buffer = compiled.program.buffers[index];
  if (content.empty() || kept.find(content) || !kept.make_room(buffer.bytes, stream_budget(compiled))) {
    return;
  }
  const auto input = std::make_shared<Holding>();
  input->bytes = buffer.bytes;
  input->contents = {content};
  input->arena.parts.push_back(
      {.memory = buffer.is_object() ? device::Buffer() : session.allocate(buffer.bytes),
       .object = allocate_image(session, compiled.program, index)});
  copy_contents(session, buffer, part, input->arena.parts.front());
  kept.use(input);
}

// Puts the first contents into the arena and the images, from the device if it has them.
void fill_arena(const device::Session& session, const CompiledProgram& compiled, const HostContents& first,
                Holding& memory, KeptInputs* inputs) {
  const std::vector<DevicePart>& parts = memory.arena.parts;
  for (std::size_t i = 0; inputs != nullptr && i < inputs->replaced.size(); ++i) {
    keep_copy(session, compiled, inputs->kept, inputs->replaced[i], i, parts[i]);
  }
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = compiled.program.buffers[i];
    const std::optional<DevicePart> found = inputs != nullptr ? inputs->found[i] : std::nullopt;
    if (!buffer.first || (found && memory.contents[i] == buffer.content)) {
      continue; // it is where it was
    }
    if (found) {
      copy_contents(session, buffer, *found, parts[i]);
    } else {
      write_first(session, buffer, first[i], parts[i], transferred(first));
    }
    const bool keeps = inputs != nullptr && stays(compiled, i);
    memory.contents[i] = keeps ? buffer.content : "";
    if (inputs != nullptr && !keeps && !found) {
      keep_copy(session, compiled, inputs->kept, buffer.content, i, parts[i]);
    }
  }
}

// The arena of the program's last run, or a new one.
std::shared_ptr<Holding> memory_for(const RunContext& context, ArenaUse use, KeptInputs* inputs) {
  const CompiledProgram& compiled = context.compiled;
  if (inputs != nullptr && inputs->arena) {
    return inputs->arena;
  }
  if (inputs != nullptr) {
    inputs->kept.make_room(compiled.memory.arena_bytes + compiled.memory.image_bytes + compiled.table_bytes,
                           stream_budget(compiled));
  }
  auto memory = std::make_shared<Holding>(
      context.exchange != nullptr ? allocate_apart(context.session, compiled.program)
                                  : allocate_arena(context.session, compiled.program, compiled.memory, use));
  memory->bytes = compiled.memory.arena_bytes + compiled.memory.image_bytes;
  if (inputs != nullptr) {
    inputs->kept.use(memory);
    inputs->arena = memory;
  }
  return memory;
}

// Enqueues the migration of views to the device. On NVIDIA's driver the first launch that uses a sub-buffer
// takes an extra microsecond for each; this keeps most of it out of the dispatch time. Throws device::Refused.
void touch(const device::Session& session, const Arena& arena) {
  std::vector<device::Buffer> views;
  std::ranges::copy_if(arena.views, std::back_inserter(views), [](const auto& view) { return bool(view); });
  if (!views.empty() && !session.on_host) {
    session.migrate(views);
  }
}

} // namespace

bool KeptInputs::hit(const Job& program) const {
  bool any = false;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    any |= found[i].has_value();
    if (buffer.first && !found[i] && buffer.counted_bytes == 0) {
      return false;
    }
  }
  return any;
}

KeptInputs find_inputs(Kept& kept, const Job& program, std::shared_ptr<Holding> arena) {
  KeptInputs inputs{.kept = kept, .arena = std::move(arena)};
  if (inputs.arena) {
    kept.use(inputs.arena);
    for (std::size_t i = 0; i < program.buffers.size();
         ++i) { // a buffer that this run replaces is not a source for it
      std::string& content = inputs.arena->contents[i];
      inputs.replaced.push_back(content == program.buffers[i].content ? "" : std::exchange(content, ""));
    }
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    inputs.found.push_back(buffer.first ? kept.find(buffer.content) : std::nullopt);
  }
  return inputs;
}

DispatchLimits dispatch_limits(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, const Residency& residency) {
  DispatchLimits limits = runtime::dispatch_limits(device, residency, std::uint32_t{1} << 24U,
                                                   options.slice_ns, options.max_wall_time_ns);
  limits.first_turns =
      first_slice_turns(compiled.load, launch_shape(compiled, residency), compiled.model, options.slice_ns);
  return limits;
}

ArenaRun run_in_arena(const RunContext& context, const HostContents& first, const DispatchLimits& limits,
                      KeptInputs* inputs) {
  const device::Session& session = context.session;
  const CompiledProgram& compiled = context.compiled;
  const BuiltProgram& built = context.built;
  const Job& program = compiled.program;
  const device::CallCounts calls_before = session.calls()->now();
  context.monitor.count(session.calls());
  context.monitor.begin(Activity::filling);
  const bool used_before = inputs != nullptr && inputs->arena;
  HostContents outputs = used_before ? std::move(inputs->arena->outputs) : HostContents();
  if (outputs.size() == 0) {
    outputs = output_room(session, program, compiled.tuning.most_pinned_bytes);
  }
  const auto start = std::chrono::steady_clock::now();
  ArenaRun run;
  const ArenaUse use = !built.plain_programs ? ArenaUse::generated_kernel
                       : built.kernel        ? ArenaUse::both
                                             : ArenaUse::plain_launches;
  const std::shared_ptr<Holding> memory = memory_for(context, use, inputs);
  const Arena& arena = memory->arena;
  const auto objects =
      built.kernel ? bind_objects(session, compiled, *built.kernel, &arena) : std::vector<device::Object>();
  std::optional<PlainWaves> plain;
  if (built.plain_programs) {
    plain.emplace(*built.plain_programs, WaveMemory{compiled.schedule.storage, arena}, QueueWay::drain);
  }
  const auto dispatch = prepare_dispatch(context, plain ? &*plain : nullptr, arena, limits);
  clear_arena(session, program, arena, false); // some drivers allocate only now
  fill_arena(session, compiled, first, *memory, inputs);
  if (use == ArenaUse::both) {
    touch(session, arena);
  }
  // With values of an earlier run a tile that does not wait for them would be right. On a GPU the first launch into
  // fresh memory takes longer besides.
  if (!used_before) {
    clear_arena(session, program, arena, true);
  }
  session.finish();
  run.publish_ns = elapsed_ns(start);

  context.monitor.begin(Activity::running);
  run.outcome = dispatch();

  if (context.monitor.in_flight == 0) { // else launches are waited for first, because time is up
    context.monitor.begin(Activity::reading);
  }
  if (run.outcome.status == RunStatus::hang) {
    run.calls = session.calls()->since(calls_before);
    return run;
  }
  const auto& storage = compiled.schedule.storage[run.outcome.iterations % compiled.schedule.phases()];
  const auto part_of = [&](std::size_t buffer) -> const DevicePart& { return arena.parts[storage[buffer]]; };
  const bool done = run.outcome.status == RunStatus::done;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.is_read_back() && (done || buffer.counted_bytes != 0)) {
      read_contents(session, buffer, part_of(i), done ? outputs[i] : outputs[i].first(buffer.counted_bytes),
                    transferred(outputs));
      ++run.buffers_read;
    }
  }
  if (done && context.exchange != nullptr) {
    outputs = context.exchange->gather_outputs(static_cast<std::uint32_t>(run.outcome.iterations));
  }
  run.queues = read_queues(session, program, arena);
  session.finish();
  run.read_back_ns = elapsed_ns(run.outcome.ended_at);
  if (done && std::ranges::any_of(run.queues, [](const auto& queue) { return queue.failure.has_value(); })) {
    run.outcome.status = RunStatus::queue_failed;
  }
  if (program.until && run.outcome.iterations != 0) {
    if (run.outcome.until_met) { // later waves may have changed the value
      run.until_value = program.until->value;
    } else if (context.exchange != nullptr) {
      run.until_value = context.exchange->until_value();
    } else {
      run.until_value.resize(program.until->value.size());
      const DevicePart& part = part_of(program.until->buffer);
      session.read(part.memory, part.offset, run.until_value);
    }
  }
  run.outputs = std::move(outputs);
  run.calls = session.calls()->since(calls_before);
  return run;
}

} // namespace tidegate::engine
