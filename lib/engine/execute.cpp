#include "engine/execute.hpp"

#include "core/interrupt.hpp"
#include "engine/rank_exchange.hpp"

namespace tidegate::engine {

namespace {

using Clock = std::chrono::steady_clock;

// Reads the user's own references, by buffer; empty without one. Errors: of files.
Result<BufferContents> read_expected(const Job& program) {
  BufferContents expected(program.buffers.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (const auto& of = program.buffers[i].expected) {
      TIDEGATE_TRY(expected[i], of->read().map_error([&](Error error) {
        error.pointer = program.buffers[i].pointer + "/expect/file";
        return error;
      }));
    }
  }
  return expected;
}

// Compares the outputs of a run with the user's references, and calls `write` with each output if they are complete and equal
// to all that they were compared with: then it returns true.
template <class Write>
Result<bool> compare_and_write(ExecutedProgram& executed, const Job& program,
                               const BufferContents& references, Monitor& monitor,
                               std::optional<device::PrintsToStandardError>& prints, const Write& write) {
  if (executed.run.outcome.status != RunStatus::done) {
    return false;
  }
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (program.buffers[i].expected) {
      executed.expected.push_back(
          compare_expected(program.buffers[i], references[i], executed.run.outputs[i]));
    }
  }
  if ((executed.proof && !executed.proof->holds()) ||
      !std::ranges::all_of(executed.expected, &ExpectedReport::equal)) {
    return false;
  }
  monitor.begin_writing();
  prints.reset();
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.output) {
      TIDEGATE_CHECK(write(i));
      executed.files_written.push_back(
          written_file(*buffer.output, fmt::format("{} {}", buffer.kind(), in_quotes(buffer.name))));
    }
  }
  return true;
}

// The time after which a persistent launch that a first run chose on a CPU is ended, if the program's wall time is
// longer.
std::optional<std::chrono::nanoseconds> patience(const CompiledProgram& compiled, const RunOptions& options) {
  constexpr double least_ns = 100e6; // the watchdog looks twice in that time
  const double most_ns =
      std::max(least_ns, longest_ns(compiled.tuning, compiled.program.iterations).value_or(0));
  const bool chosen = compiled.tuning.plain_iteration_ns != 0 && !options.compile.strategy;
  return chosen && compiled.persistent() && most_ns < static_cast<double>(options.max_wall_time_ns)
             ? std::optional(std::chrono::nanoseconds(static_cast<std::int64_t>(most_ns)))
             : std::nullopt;
}

BuiltProgram build_or_blame(const device::Session& session, const device::DeviceInfo& device,
                            const CompiledProgram& compiled, const std::filesystem::path& cache_folder) {
  try {
    return build(session, device, compiled, cache_folder);
  } catch (device::Refused& refused) {
    if (refused.error.code == ErrorCode::build_failure || refused.error.code == ErrorCode::kernel_options) {
      refused.error = blame_sources(session, compiled.written, std::move(refused.error));
    }
    throw;
  }
}

// Compares a first run with a stated strategy. Empty where plain launches cannot run or take too long.
std::optional<OutputParity> compare_stated(const RunContext& run, const HostContents& first,
                                           const HostContents& outputs, DispatchLimits limits) {
  limits.deadline = Clock::now() + std::chrono::nanoseconds(run.options.first_check_ns());
  run.monitor.deadline = Clock::now() + build_limit; // it never costs the run its result
  try {
    Proof proof = prove(run, first, outputs, limits);
    return proof.in_time ? std::optional(std::move(proof.parity)) : std::nullopt;
  } catch (const device::Refused& refused) {
    if (refused.error.code != ErrorCode::invalid_program) {
      throw;
    }
    return std::nullopt; // work-groups of several sizes, which a persistent launch can have on any device
  }
}

} // namespace

Result<ExecutedProgram> execute(Prepared& prepared, const device::DeviceInfo& device,
                                const RunOptions& options, Monitor& monitor) try {
  const CompiledProgram& compiled = prepared.compiled;
  if (!options.export_folder.empty()) {
    TIDEGATE_CHECK(check_exportable(compiled));
  }
  const bool prove_it = options.verify || options.compare_rounds != 0 || options.stress_runs != 0;

  // Kernel output must not mix with the report or outputs.
  std::optional<device::PrintsToStandardError> prints(std::in_place);

  // Open a context and a queue for the run, and load first contents.
  TIDEGATE_TRY(const std::shared_ptr<device::Session> opened,
               options.open_session(device, options.compile.trace ? device::Profiling::always
                                                                  : device::Profiling::as_needed));
  const device::Session& session = *opened;
  check_images(session, compiled.program);
  std::optional<KeptInputs> inputs;
  std::vector<bool> passed_over(compiled.program.buffers.size()); // not needed on the host
  if (options.kept != nullptr) {
    inputs.emplace(find_inputs(*options.kept, compiled.program, prepared.arena.lock()));
    for (std::size_t i = 0; i < passed_over.size() && !prove_it && !options.verify_stated; ++i) {
      passed_over[i] = inputs->found[i].has_value();
    }
  }
  TIDEGATE_TRY(const HostContents first,
               first_contents(session, compiled.program, compiled.tuning.most_pinned_bytes, passed_over));

  TIDEGATE_TRY(const BufferContents references, read_expected(compiled.program));

  // Build the generated kernel, from the cache if possible, and the user's kernels that are launched alone. Find how
  // many work-groups may wait for each other; refuse waits that are not proved to end.
  const bool built_before = prepared.built.has_value();
  if (!built_before) {
    monitor.begin(Activity::building);
    BuiltProgram made = build_or_blame(session, device, compiled, options.cache_folder);
    prepared.residency = find_residency(session, device, compiled, made, options.compile.workers);
    TIDEGATE_CHECK(check_schedule(compiled, prepared.residency, device));
    prepared.built.emplace(std::move(made));
  }
  BuiltProgram& built = *prepared.built;
  const RunContext context{session, device, compiled, built, monitor, options};

  // Run; the wall time starts here.
  const DispatchLimits limits = dispatch_limits(compiled, device, options, prepared.residency);
  DispatchLimits traced = limits; // later runs are not traced
  const auto most = patience(compiled, options);
  if (most) {
    traced.deadline = Clock::now() + *most;
  }
  monitor.deadline = traced.deadline;
  traced.trace_spans = options.most_spans(options.compile.trace);
  traced.clock = compiled.clock;
  ExecutedProgram executed{.build_ns = built_before ? 0 : built.build_ns,
                           .built_from_cache = built_before || (built.kernel && built.kernel->from_cache),
                           .residency = prepared.residency,
                           .run = run_in_arena(context, first, traced, inputs ? &*inputs : nullptr)};
  ArenaRun& run = executed.run;
  if (inputs) {
    prepared.arena = inputs->arena;
    executed.inputs_kept = inputs->hit(compiled.program);
  }
  if (most && run.outcome.status == RunStatus::deadline && Clock::now() < limits.deadline) {
    return failure(ErrorCode::wall_time_exceeded,
                   "the persistent launch took far longer than plain launches did on the first run: "
                   "another program may have a core",
                   "run it on an idle machine, or give --strategy launch");
  }
  monitor.deadline = limits.deadline;

  executed.hits = count_hits(compiled.program, run.outputs); // so far, if the run was stopped
  if (run.outcome.status == RunStatus::done && std::ranges::any_of(executed.hits, overflows)) {
    run.outcome.status = RunStatus::hits_overflow;
  }
  executed.active =
      read_active(compiled.program, compiled.schedule, run.outputs, run.outcome.reached); // none after a hang

  // Run the same kernels as plain launches, compare byte for byte, and time both.
  if (run.outcome.status == RunStatus::done && prove_it) {
    executed.proof = prove(context, first, run.outputs, limits);
  } else if (run.outcome.status == RunStatus::done && options.verify_stated &&
             run.outcome.dispatch_ns < options.first_check_ns()) {
    executed.stated = compare_stated(context, first, run.outputs, limits);
  }

  TIDEGATE_TRY(
      const bool written,
      compare_and_write(executed, compiled.program, references, monitor, prints,
                        [&](std::uint32_t i) { return compiled.program.buffers[i].write(run.outputs[i]); }));
  if (written && !options.export_folder.empty()) {
    TIDEGATE_TRY(const auto exported, export_program(compiled, limits, device, first, options.export_folder));
    executed.files_written.insert(executed.files_written.end(), exported.begin(), exported.end());
  }
  if (inputs) {
    inputs->arena->outputs = std::move(run.outputs);
  }
  return executed;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

std::optional<double> longest_ns(const device::Tuning& tuning, std::uint64_t iterations) {
  constexpr double times = 3; // fewer than a busy core costs, more than times scatter
  return tuning.plain_iteration_ns == 0
             ? std::nullopt
             : std::optional(times * static_cast<double>(tuning.plain_iteration_ns) *
                             static_cast<double>(iterations));
}

namespace {

// Refuses what does not run on several ranks yet: kinds of waves and of buffers.
Result<void> check_rankable(const Job& program) {
  const auto refused = [](const std::string& what, const std::string& pointer) {
    return failure(ErrorCode::invalid_program, fmt::format("{} cannot run on several ranks yet", what),
                   "run it in one process, without mpirun", pointer);
  };
  for (std::uint32_t i = 0; i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    if (wave.prepared) {
      return refused(program.wave_text(i) + " with active tiles", program.wave_pointer(i));
    }
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.is_object() || buffer.is_unordered()) {
      return refused(
          fmt::format("the {} {}", buffer.is_object() ? "image" : "list of hits", in_quotes(buffer.name)),
          buffer.pointer);
    }
  }
  return {};
}

// Refuses a rank whose part of the program is more than the device may hold.
Result<void> check_room(const Job& program, const JobSplit& split, std::uint32_t rank,
                        const device::DeviceInfo& device) {
  const auto over = [rank](std::string what, std::uint64_t bytes, std::uint64_t capacity) {
    return tl::unexpected(Error{
        .code = ErrorCode::arena_over_capacity,
        .message =
            fmt::format("{} on rank {}, {} may take {}", bytes_text(bytes), rank, what, bytes_text(capacity)),
        .fix =
            "start more ranks: each has the smaller parts, of buffers whose ranks.buffers/in_parts is true "
            "in the report of a smaller run",
        .required_bytes = bytes,
        .capacity_bytes = capacity});
  };
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const std::uint64_t bytes = split.room[i][rank].size();
    all += bytes;
    if (bytes > device.max_allocation_bytes) {
      return over(in_quotes(program.buffers[i].name), bytes, device.max_allocation_bytes);
    }
  }
  const std::uint64_t budget = program.budget_bytes == 0 ? device.global_memory_bytes : program.budget_bytes;
  return all > budget ? over("all buffers together", all, budget) : Result<void>();
}

// Runs the whole program on this rank's device.
PlainRun run_alone(const device::Session& session, const Job& program,
                   const std::vector<std::vector<std::uint32_t>>& storage, Clock::time_point deadline) try {
  const HostContents first = or_refuse(first_contents(session, program, 0));
  return Reference(session, program, storage, first).run(deadline);
} catch (device::Refused& refused) {
  refused.error.message += "; --verify runs the whole program on the device of rank 0";
  refused.error.fix = "leave --verify out where one device has no room for the program";
  throw;
}

} // namespace

Result<ExecutedProgram> execute_on_ranks(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                         const RunOptions& options, Monitor& monitor) try {
  const Job& program = compiled.written;
  TIDEGATE_CHECK(check_rankable(program));
  ranks::Ranks& ranks = *options.ranks;
  const auto own = static_cast<std::uint32_t>(ranks.rank());
  const bool root = own == 0;
  std::optional<device::PrintsToStandardError> prints(std::in_place);
  TIDEGATE_TRY(const std::shared_ptr<device::Session> session,
               options.open_session(device, device::Profiling::as_needed));
  const bool compared = is_compared(program, options);

  // This rank's part of the program runs as any program of plain launches does, with exchanges around its waves.
  const JobSplit split = split_job(program, static_cast<std::uint32_t>(ranks.size()));
  TIDEGATE_CHECK(check_room(program, split, own, device));
  const CompiledProgram part = part_of(compiled, split, own);
  TIDEGATE_TRY(const HostContents first, first_contents(*session, part.program, 0));
  TIDEGATE_TRY(const BufferContents references, root ? read_expected(program) : Result<BufferContents>());
  monitor.begin(Activity::building);
  BuiltProgram built = build(*session, device, part, {});
  RankExchange exchange(*session, compiled, split, options, monitor);
  const RunContext context{*session, device, part, built, monitor, options, &exchange};
  ExecutedProgram executed{.run = run_in_arena(context, first, dispatch_limits(part, device, options, {}))};
  executed.ranks = exchange.report(executed.run.outcome, device.name);
  if (executed.run.outcome.status != RunStatus::done || (compared && !root)) {
    return executed;
  }
  if (options.verify) {
    monitor.begin(Activity::proving);
    const Clock::time_point deadline = Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
    monitor.deadline = deadline;
    const PlainRun plain = run_alone(*session, program, compiled.schedule.storage, deadline);
    executed.proof = Proof{.in_time = plain.in_time};
    if (plain.in_time) {
      executed.proof->parity = compare_outputs(program, plain.outputs, executed.run.outputs);
    }
  }
  TIDEGATE_CHECK(compare_and_write(executed, program, references, monitor, prints, [&](std::uint32_t i) {
    return exchange.write_output(i, executed.run.outputs);
  }));
  return executed;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

} // namespace tidegate::engine
