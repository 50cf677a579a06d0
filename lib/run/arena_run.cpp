#include <tidegate/core/elapsed.hpp>
#include <tidegate/run/arena_run.hpp>
#include <tidegate/run/device_images.hpp>
#include <tidegate/run/kernel_arguments.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tidegate::run {
namespace {

bool has_failed(const QueueOutcome& queue) {
  return queue.failure.has_value();
}

// Clears what a program may rely on. Some drivers make the memory only now.
void clear_rest(const device::Session& session, const CompiledProgram& compiled, const HostContents& first,
                const cl::Buffer& arena) {
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = compiled.program.buffers[i];
    if (buffer.in_arena() && first[i].empty() && !buffer.transient()) {
      run::clear(session, arena, compiled.memory.offsets[i], buffer.bytes);
    }
  }
  device::require(session.queue.finish(), "clearing the buffers");
}

Transferred transferred(const HostContents& memory) {
  return memory.pinned() ? Transferred::later : Transferred::now;
}

// Uploads what has contents; returns the bytes.
std::uint64_t fill(const device::Session& session, const CompiledProgram& compiled, const HostContents& first,
                   const cl::Buffer& arena) {
  std::uint64_t uploaded = 0;
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    if (compiled.program.buffers[i].in_arena() && !first[i].empty()) {
      upload(session, arena, compiled.memory.offsets[i], first[i], transferred(first));
      uploaded += first[i].size();
    }
  }
  return uploaded;
}

} // namespace

ArenaRun run_in_arena(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
                      const HostContents& first, const DispatchLimits& limits, Monitor& monitor) {
  const ResolvedProgram& program = compiled.program;
  monitor.begin(Activity::filling);
  HostContents outputs = output_room(session, program, compiled.tuning.most_pinned_bytes);
  const auto start = std::chrono::steady_clock::now();
  ArenaRun run;
  const Arena arena = allocate_arena(session, program, compiled.memory, built.plain_programs.has_value());
  const DeviceImages images = allocate_images(session, program);
  std::optional<BoundObjects> objects;
  if (built.kernel) {
    objects.emplace(session, compiled.tables.objects, images, built.kernel->kernel,
                    first_object_argument(compiled.strategy.strategy));
  }
  std::optional<PlainWaves> plain;
  if (built.plain_programs) {
    plain.emplace(session, *built.plain_programs, program, built.plain_waves, compiled.schedule.places,
                  arena.views, images, QueueWay::drain);
  }
  const QueueStates queues(session, program, compiled.memory.offsets, arena.memory);
  Dispatcher dispatcher(session, program, compiled.schedule, compiled.tables, compiled.strategy.strategy,
                        compiled.synchronization.order, built.kernel ? &*built.kernel : nullptr,
                        plain ? &*plain : nullptr, queues, arena.memory, limits, monitor);
  clear_rest(session, compiled, first, arena.memory);
  const auto cleared = std::chrono::steady_clock::now();
  run.uploaded_bytes = fill(session, compiled, first, arena.memory);
  run.uploaded_bytes += fill_images(session, program, first, images);
  touch(session, arena);
  device::require(session.queue.finish(), "filling the buffers");
  run.upload_ns = elapsed_ns(cleared);
  run.publish_ns = elapsed_ns(start);

  monitor.begin(Activity::running);
  run.outcome = dispatcher.run();

  monitor.begin(Activity::reading);
  if (run.outcome.status == RunStatus::hang) {
    return run;
  }
  const auto& places = compiled.schedule.places[run.outcome.iterations % compiled.schedule.phases()];
  const auto offset = [&](std::size_t buffer) { return compiled.memory.offsets[places[buffer]]; };
  const bool done = run.outcome.status == RunStatus::done;
  for (std::size_t i = 0; i < program.buffers.size() && done; ++i) {
    if (!program.buffers[i].spec.output) {
      continue;
    }
    if (program.buffers[i].image) {
      download_image(session, images[places[i]], *program.buffers[i].image, outputs[i]);
    } else {
      download(session, arena.memory, offset(i), outputs[i], transferred(outputs));
    }
    run.outcome.bytes_read_back += outputs[i].size();
  }
  run.queues = queues.read();
  device::require(session.queue.finish(), "reading device memory back");
  run.read_back_ns = elapsed_ns(run.outcome.ended_at);
  if (run.outcome.status == RunStatus::done && std::ranges::any_of(run.queues, has_failed)) {
    run.outcome.status = RunStatus::queue_failed;
  }
  if (program.until && run.outcome.iterations != 0) {
    run.until = UntilState{.value = std::vector<std::byte>(program.until->value.size())};
    download(session, arena.memory, offset(program.until->buffer), run.until->value);
    run.until->reached = run.outcome.until_met; // what runs after the repetition may have changed it
    if (run.until->reached) {
      run.until->value = program.until->value;
    }
  }
  if (run.outcome.status == RunStatus::done) {
    run.outputs = std::move(outputs);
  }
  return run;
}

} // namespace tidegate::run
