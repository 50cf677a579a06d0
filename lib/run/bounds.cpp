#include <tidegate/core/interrupt.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/device/driver_output.hpp>
#include <tidegate/run/bounds.hpp>
#include <tidegate/run/device_images.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/plain_waves.hpp>
#include <tidegate/run/wave_by_wave.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

namespace tidegate::run {
namespace {

constexpr std::uint64_t guard_bytes = 16384;
constexpr std::uint64_t no_guards = ~std::uint64_t{0}; // in place of an offset: an image

std::byte pattern(std::uint64_t offset) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return static_cast<std::byte>((offset + 1) * golden_ratio >> 56U);
}

// Every buffer between two guards in one block of memory, or each by itself without any. Images have no
// guards: devices drop what is written outside of them.
struct GuardedMemory {
  std::vector<cl::Buffer> buffers; // by buffer
  cl::Buffer arena;
  std::vector<std::uint64_t> offsets; // by buffer, in the arena; empty without guards
};

void write_guard(const device::Session& session, const cl::Buffer& arena, std::uint64_t begin) {
  std::vector<std::byte> guard(guard_bytes);
  for (std::uint64_t i = 0; i < guard_bytes; ++i) {
    guard[i] = pattern(begin + i);
  }
  upload(session, arena, begin, guard);
}

// Where the guard that begins there has changed, nearest to the buffer first: the distance to the buffer's
// edge.
std::optional<std::uint64_t> changed(const device::Session& session, const cl::Buffer& arena,
                                     std::uint64_t begin, bool behind) {
  std::vector<std::byte> guard(guard_bytes);
  download(session, arena, begin, guard);
  for (std::uint64_t i = 0; i < guard_bytes; ++i) {
    const std::uint64_t at = behind ? i : guard_bytes - 1 - i;
    if (guard[at] != pattern(begin + at)) {
      return behind ? at : guard_bytes - at;
    }
  }
  return {};
}

GuardedMemory allocate_guarded(const device::Session& session, const device::DeviceInfo& device,
                               const ResolvedProgram& program) {
  if (is_simulator(device)) {
    return {.buffers = allocate_apart(session, program), .arena = {}, .offsets = {}};
  }
  const std::uint64_t alignment = std::max<std::uint64_t>(256, std::bit_ceil(device.base_alignment_bytes));
  const auto aligned = [alignment](std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  GuardedMemory memory;
  std::uint64_t end = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.image) {
      memory.offsets.push_back(no_guards);
      continue;
    }
    memory.offsets.push_back(aligned(end + guard_bytes));
    end = memory.offsets.back() + buffer.bytes + guard_bytes;
  }
  memory.arena = allocate(session, end);
  for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
    if (memory.offsets[i] == no_guards) {
      memory.buffers.emplace_back();
      continue;
    }
    const cl_buffer_region region{memory.offsets[i], program.buffers[i].bytes};
    cl_int status = CL_SUCCESS;
    memory.buffers.push_back(
        memory.arena.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    device::require(status, "making a sub-buffer");
    write_guard(session, memory.arena, memory.offsets[i] - guard_bytes);
    write_guard(session, memory.arena, memory.offsets[i] + program.buffers[i].bytes);
  }
  return memory;
}

void fill(const device::Session& session, const ResolvedProgram& program, const HostContents& first,
          const GuardedMemory& memory) {
  for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
    if (program.buffers[i].image) {
      continue;
    }
    if (!first[i].empty()) {
      upload(session, memory.buffers[i], 0, first[i]);
    } else {
      clear(session, memory.buffers[i], 0, program.buffers[i].bytes);
    }
  }
  device::require(session.queue.finish(), "filling the buffers");
}

// What the wave that has just run has changed around the buffers.
std::vector<BoundsViolation> violations(const device::Session& session, const ResolvedProgram& program,
                                        const GuardedMemory& memory, std::uint32_t wave,
                                        std::uint64_t iteration) {
  std::vector<BoundsViolation> found;
  for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
    if (memory.offsets[i] == no_guards) {
      continue;
    }
    for (const bool behind : {false, true}) {
      const std::uint64_t begin =
          behind ? memory.offsets[i] + program.buffers[i].bytes : memory.offsets[i] - guard_bytes;
      if (const auto distance = changed(session, memory.arena, begin, behind)) {
        found.push_back({.wave = program.wave_text(wave),
                         .iteration = iteration,
                         .buffer = program.buffers[i].name,
                         .side = behind ? Side::behind : Side::before,
                         .distance_bytes = *distance});
      }
    }
  }
  return found;
}

Result<BoundsReport> check_or_throw(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                    std::uint64_t max_wall_time_ns, Monitor& monitor) {
  const ResolvedProgram& program = compiled.program;
  const auto& places = compiled.schedule.places;
  const device::PrintsToStandardError prints;
  TIDEGATE_TRY(const device::Session session, device::open_session(device));
  check_images(session, program);
  TIDEGATE_TRY(const HostContents first, first_contents(session, program, compiled.tuning.most_pinned_bytes));
  const std::vector<std::uint32_t> order = program_order(program);
  monitor.begin(Activity::building);
  const PlainPrograms programs(session, program, order);
  const GuardedMemory memory = allocate_guarded(session, device, program);
  fill(session, program, first, memory);
  const DeviceImages images = allocate_images(session, program);
  fill_images(session, program, first, images);
  PlainWaves waves(session, programs, program, order, places, memory.buffers, images);

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(max_wall_time_ns);
  monitor.deadline = deadline;
  BoundsReport report{.guard_bytes = memory.offsets.empty() ? 0 : guard_bytes};
  const auto out_of_time = [&] {
    return InterruptWatch::interrupted() ||
           Monitor::Clock::now() >= deadline + std::chrono::nanoseconds(waves.compile_ns());
  };
  // Ends at the first violation, and when time is up.
  const auto run = [&](std::uint32_t wave, std::uint32_t iteration) {
    monitor.in_flight = 1;
    waves.launch(wave, iteration, deadline);
    device::require(session.queue.finish(), "running " + program.wave_text(wave));
    monitor.in_flight = 0;
    ++report.checked_waves;
    report.violations = violations(session, program, memory, wave, iteration);
    report.complete = !report.violations.empty() || !out_of_time();
    return report.violations.empty() && report.complete;
  };
  const auto read = [&](std::uint32_t place, std::span<std::byte> value) {
    download(session, memory.buffers[place], 0, value);
  };
  run_wave_by_wave(program, places, monitor, {.run = run, .read = read});
  return report;
}

} // namespace

bool is_simulator(const device::DeviceInfo& device) {
  return device.platform.find("Oclgrind") != std::string::npos;
}

Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  std::uint64_t max_wall_time_ns, Monitor& monitor) {
  try {
    return check_or_throw(compiled, device, max_wall_time_ns, monitor);
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::run
