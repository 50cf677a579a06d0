// A wave program on this rank, from its parts to its files and the report of all ranks.
#include "core/duration.hpp"
#include "device/driver_output.hpp"
#include "engine/proof.hpp"
#include "engine/rank_run.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

// Reports why a buffer is not split (a wave that is not cut writes it, or ranks combine it), or why every rank has
// memory for all of it.
RankBufferReport buffer_report(const Job& program, const JobSplit& split, std::uint32_t buffer,
                               std::uint64_t bytes_sent) {
  RankBufferReport report{.buffer = program.buffers[buffer].name,
                          .split = split.split(buffer),
                          .in_parts = split.in_parts(buffer),
                          .bytes_sent = bytes_sent,
                          .reason = {},
                          .fix = {}};
  if (report.split) {
    report.reason = split.whole[buffer].reason;
    report.fix = split.whole[buffer].fix;
    return report;
  }
  report.reason = "no wave writes it";
  bool whole = false; // some wave that is not cut writes it
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const WaveCut& cut = split.waves[wave];
    for (const ProgramArgument& argument : program.waves[wave].arguments) {
      if (!argument.is_memory() || split.swap_set[argument.buffer] != split.swap_set[buffer] ||
          argument.access == Access::read || (cut.cut() && whole) || cut.local) {
        continue;
      }
      whole = cut.on_one_rank();
      report.fix = cut.fix;
      report.reason = fmt::format("{} {}{}", whole ? "rank 0 runs all of" : "ranks combine theirs after",
                                  program.wave_text(wave), whole ? ", which writes it" : "");
      if (argument.buffer != buffer) {
        report.reason += " when it is swapped";
      }
    }
  }
  return report;
}

// Errors: as Ranks::wait().
Result<RanksReport> ranks_report(const Job& program, const JobSplit& split, const RankRun& run,
                                 const std::string& device, ranks::Ranks& ranks) {
  TIDEGATE_TRY(RanksReport report, report_ranks(run.outcome.status, run.times.traffic,
                                                {.host = {},
                                                 .device = device,
                                                 .dispatch_ns = run.outcome.dispatch_ns,
                                                 .edges = {},
                                                 .device_bytes = run.device_bytes},
                                                ranks));
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    report.waves.push_back({.wave = program.wave_text(wave),
                            .runs_on = split.waves[wave].on_one_rank() ? RunsOn::one : RunsOn::parts,
                            .reason = split.waves[wave].reason,
                            .fix = split.waves[wave].fix});
  }
  for (std::uint32_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
    if (!program.buffers[buffer].pointer.empty()) { // the others belong to queues
      report.buffers.push_back(buffer_report(program, split, buffer, run.buffer_bytes[buffer]));
    }
  }
  return report;
}

// Returns the position in the schedule at which a run has ended.
Position end_of(const Schedule& schedule, const RankRun& run) {
  const auto end = static_cast<std::uint32_t>(schedule.stages.size());
  if (run.ended_before) {
    const auto stage = std::ranges::find_if(schedule.stages, [&run](const Stage& one) {
      return std::ranges::find(one.waves, *run.ended_before) != one.waves.end();
    });
    return {.iteration = run.outcome.reached.iteration,
            .stage = static_cast<std::uint32_t>(stage - schedule.stages.begin())};
  }
  return {.iteration = run.outcome.reached.iteration,
          .stage = schedule.repeat_end == end ? static_cast<std::uint32_t>(schedule.repeat_begin) : end};
}

// Outputs in the order of buffers, those in parts by all ranks and the others by rank 0.
Result<std::vector<WrittenFile>> write_all(const device::Session& session, const Job& program,
                                           const JobSplit& split, const RankRun& run, ranks::Ranks& ranks) {
  std::vector<WrittenFile> written;
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    const auto part = std::ranges::find(run.parts, i, &OutputInParts::buffer);
    if (part != run.parts.end()) {
      ranks::FileInParts file{.path = *buffer.output,
                              .head = *buffer.output_head,
                              .begin = {0},
                              .read = [&](std::uint64_t at, std::span<std::byte> bytes) {
                                download(session, part->memory, at - part->begin, bytes);
                              }};
      for (const ByteRange& owned : split.owned[i]) {
        file.begin.push_back(owned.end);
      }
      TIDEGATE_CHECK(ranks::write_in_parts(file, ranks));
    } else if (buffer.output && ranks.rank() == 0) {
      TIDEGATE_CHECK(buffer.write(run.outputs[i]));
    }
    if (buffer.output && ranks.rank() == 0) {
      written.push_back(output_file(buffer));
    }
  }
  return written;
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
  ranks::Ranks& ranks = *options.ranks;
  const auto& storage = compiled.schedule.storage;
  const bool root = ranks.rank() == 0;
  std::optional<device::PrintsToStandardError> prints(std::in_place);
  TIDEGATE_TRY(const std::shared_ptr<device::Session> session,
               options.open_session(device, device::Profiling::as_needed));
  const auto own = static_cast<std::uint32_t>(ranks.rank());
  const std::chrono::nanoseconds most(options.max_wall_time_ns);
  monitor.count(session->calls());
  JobSplit split = split_job(program, static_cast<std::uint32_t>(ranks.size()));
  const bool compared =
      options.verify || std::ranges::any_of(program.buffers, [](const ProgramBuffer& buffer) {
        return buffer.expected.has_value();
      });
  const RankSettings settings{.whole_outputs = compared, .trace_spans = options.most_spans(), .most = most};
  store_in_parts(program, split);
  TIDEGATE_CHECK(check_room(program, split, own, device));
  TIDEGATE_TRY(const HostContents first, first_contents_of(*session, program, split, own));
  const device::CallCounts calls_before = session->calls()->now();
  TIDEGATE_TRY(const BufferContents references, root ? read_expected(program) : Result<BufferContents>());
  TIDEGATE_TRY(RankRun run, run_on_ranks(*session, compiled, split, first, ranks, monitor, settings));

  ExecutedProgram executed;
  executed.run.outcome = run.outcome;
  executed.run.outcome.reached = end_of(compiled.schedule, run);
  executed.run.queues = run.queues;
  executed.run.outcome.calls = executed.run.calls = session->calls()->since(calls_before);
  executed.run.publish_ns = executed.run.upload_ns = run.times.upload_ns;
  executed.run.read_back_ns = run.times.read_back_ns;
  TIDEGATE_TRY(executed.ranks, ranks_report(program, split, run, device.name, ranks));
  if (run.outcome.status != RunStatus::done) {
    return executed;
  }
  if (program.until) {
    executed.run.until = UntilState{.reached = run.outcome.until_met, .value = std::move(run.until_value)};
  }
  if (run.times.trace.on()) {
    std::vector<std::string> names;
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      names.push_back(program.wave_text(wave));
    }
    TIDEGATE_TRY(executed.timeline, timeline_of_ranks(run.times.trace, std::move(names), ranks));
  }
  if (compared && !root) {
    return executed;
  }
  if (options.verify) {
    monitor.begin(Activity::proving);
    const Clock::time_point deadline = Clock::now() + most;
    monitor.deadline = deadline;
    TIDEGATE_TRY(const PlainRun plain, run_alone(*session, program, storage, deadline));
    executed.proof = Proof{.in_time = plain.in_time};
    if (plain.in_time) {
      executed.proof->parity = compare_outputs(program, plain.outputs, run.outputs);
    }
  }
  executed.expected = compare_expected(program, references, run.outputs);
  if ((!executed.proof || executed.proof->holds()) &&
      std::ranges::all_of(executed.expected, &ExpectedReport::equal)) {
    prints.reset();
    monitor.begin_writing();
    TIDEGATE_TRY(executed.files_written, write_all(*session, program, split, run, ranks));
  }
  return executed;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

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

Result<HostContents> first_contents_of(const device::Session& session, const Job& program,
                                       const JobSplit& split, std::uint32_t rank) {
  return first_contents(session, program, 0, [&](std::size_t buffer) -> Result<std::vector<std::byte>> {
    const ProgramBuffer& of = program.buffers[buffer];
    if (!split.in_parts(static_cast<std::uint32_t>(buffer))) {
      return of.first();
    }
    const ByteRange part = split.parts[buffer][rank];
    return part.size() == 0 ? Result<std::vector<std::byte>>() : of.first_part(part.begin, part.size());
  });
}

} // namespace tidegate::engine
