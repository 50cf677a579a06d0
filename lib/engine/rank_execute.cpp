// A wave program on this rank, from its parts to its files and the report of all ranks.
#include "device/driver_output.hpp"
#include "engine/execute.hpp"
#include "engine/rank_exchange.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

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
    const std::uint64_t bytes = room_of(program, split, i, rank).size();
    all += bytes;
    if (bytes > device.max_allocation_bytes) {
      return over(in_quotes(program.buffers[i].name), bytes, device.max_allocation_bytes);
    }
  }
  const std::uint64_t budget = program.budget_bytes == 0 ? device.global_memory_bytes : program.budget_bytes;
  return all > budget ? over("all buffers together", all, budget) : Result<void>();
}

// Runs the whole program on this rank's device.
Result<PlainRun> run_alone(const device::Session& session, const Job& program,
                           const std::vector<std::vector<std::uint32_t>>& storage,
                           Clock::time_point deadline) {
  const auto explained = [](Error error) {
    error.message += "; --verify runs the whole program on the device of rank 0";
    error.fix = "leave --verify out where one device has no room for the program";
    return tl::unexpected(std::move(error));
  };
  const auto first = first_contents(session, program, 0);
  if (!first) {
    return explained(first.error());
  }
  try {
    return Reference(session, program, storage, *first).run(deadline);
  } catch (device::Refused& refused) {
    return explained(std::move(refused.error));
  }
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
  JobSplit split = split_job(program, static_cast<std::uint32_t>(ranks.size()));
  store_in_parts(program, split);
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
  if (executed.run.outcome.status != RunStatus::done) {
    return executed;
  }
  if (compared && !root) {
    return executed;
  }
  if (options.verify) {
    monitor.begin(Activity::proving);
    const Clock::time_point deadline = Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
    monitor.deadline = deadline;
    TIDEGATE_TRY(const PlainRun plain, run_alone(*session, program, compiled.schedule.storage, deadline));
    executed.proof = Proof{.in_time = plain.in_time};
    if (plain.in_time) {
      executed.proof->parity = compare_outputs(program, plain.outputs, executed.run.outputs);
    }
  }
  executed.expected = compare_expected(program, references, executed.run.outputs);
  if ((!executed.proof || executed.proof->holds()) &&
      std::ranges::all_of(executed.expected, &ExpectedReport::equal)) {
    prints.reset();
    monitor.begin_writing();
    TIDEGATE_TRY(executed.files_written, exchange.write_outputs(executed.run.outputs));
  }
  return executed;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

} // namespace tidegate::engine
