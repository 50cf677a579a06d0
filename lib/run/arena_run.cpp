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

// Uploads what has contents and clears what a program may rely on; returns the bytes that were uploaded.
std::uint64_t fill(const device::Session& session, const CompiledProgram& compiled,
                   const BufferContents& first, const cl::Buffer& arena) {
  std::uint64_t uploaded = 0;
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = compiled.program.buffers[i];
    if (!buffer.in_arena()) {
      continue;
    }
    if (!first[i].empty()) {
      upload(session, arena, compiled.memory.offsets[i], first[i]);
      uploaded += first[i].size();
    } else if (!buffer.transient()) {
      const cl_uchar zero = 0;
      device::require(session.queue.enqueueFillBuffer(arena, zero, compiled.memory.offsets[i], buffer.bytes),
                      "clearing a buffer");
    }
  }
  return uploaded;
}

} // namespace

ArenaRun run_in_arena(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
                      const BufferContents& first, const DispatchLimits& limits, Monitor& monitor) {
  const ResolvedProgram& program = compiled.program;
  const auto start = std::chrono::steady_clock::now();
  ArenaRun run;
  monitor.begin(Activity::filling);
  const Arena arena = allocate_arena(session, program, compiled.memory, built.plain_programs.has_value());
  run.uploaded_bytes = fill(session, compiled, first, arena.memory);
  const DeviceImages images = allocate_images(session, program);
  run.uploaded_bytes += fill_images(session, program, first, images);
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
  device::require(session.queue.finish(), "filling the buffers");
  run.publish_ns = elapsed_ns(start);

  monitor.begin(Activity::running);
  run.outcome = dispatcher.run();

  monitor.begin(Activity::reading);
  run.outputs.resize(program.buffers.size());
  if (run.outcome.status == RunStatus::hang) {
    return run;
  }
  run.queues = queues.read();
  if (run.outcome.status == RunStatus::done && std::ranges::any_of(run.queues, has_failed)) {
    run.outcome.status = RunStatus::queue_failed;
  }
  const auto& places = compiled.schedule.places[run.outcome.iterations % compiled.schedule.phases()];
  const auto offset = [&](std::size_t buffer) { return compiled.memory.offsets[places[buffer]]; };
  if (program.until && run.outcome.iterations != 0) {
    run.until = UntilState{.value = std::vector<std::byte>(program.until->value.size())};
    download(session, arena.memory, offset(program.until->buffer), run.until->value);
    run.until->reached = run.outcome.until_met; // what runs after the repetition may have changed it
    if (run.until->reached) {
      run.until->value = program.until->value;
    }
  }
  if (run.outcome.status == RunStatus::done) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      if (program.buffers[i].spec.output) {
        run.outputs[i].resize(program.buffers[i].bytes);
        if (program.buffers[i].image) {
          download_image(session, images[places[i]], *program.buffers[i].image, run.outputs[i]);
        } else {
          download(session, arena.memory, offset(i), run.outputs[i]);
        }
        run.outcome.bytes_read_back += run.outputs[i].size();
      }
    }
  }
  return run;
}

} // namespace tidegate::run
