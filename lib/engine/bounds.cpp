#include "engine/bounds.hpp"

#include "device/driver_output.hpp"
#include "device/isolation.hpp"
#include "engine/device_images.hpp"
#include "engine/device_memory.hpp"
#include "engine/plain_waves.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace tidegate::engine {
namespace {

constexpr std::uint64_t no_guards = ~std::uint64_t{0}; // in place of an offset, for images

// The contents of all guards. Each guard takes them from another place on, so that bytes which a kernel copies from one
// guard to another are seen.
class GuardPattern {
public:
  explicit GuardPattern(std::uint64_t guard_bytes) : bytes_(guard_bytes + places), found_(guard_bytes) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    for (std::uint64_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = static_cast<std::byte>((i + 1) * golden_ratio >> 56U);
    }
  }

  [[nodiscard]] std::uint64_t guard_bytes() const { return found_.size(); }

  void write(const device::Session& session, const device::Buffer& arena, std::uint64_t begin,
             std::size_t guard) const {
    upload(session, arena, begin, of(guard));
  }

  struct Changes {
    std::uint64_t first = 0; // offset in the guard
    std::uint64_t last = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<Changes> changes(const device::Session& session, const device::Buffer& arena,
                                 std::uint64_t begin, std::size_t guard) {
    download(session, arena, begin, found_);
    const std::span<const std::byte> expected = of(guard);
    if (std::memcmp(found_.data(), expected.data(), found_.size()) == 0) {
      return {};
    }
    Changes changes;
    for (std::uint64_t i = 0; i < found_.size(); ++i) {
      if (found_[i] != expected[i]) {
        changes.first = changes.bytes == 0 ? i : changes.first;
        changes.last = i;
        ++changes.bytes;
      }
    }
    return changes;
  }

private:
  static constexpr std::uint64_t places = 65536;

  [[nodiscard]] std::span<const std::byte> of(std::size_t guard) const {
    constexpr std::size_t prime = 97;
    return std::span(bytes_).subspan(guard * prime % places, found_.size());
  }

  std::vector<std::byte> bytes_;
  std::vector<std::byte> found_; // of the guard that was read last
};

// Returns the size of the guards: as large as a check after every wave allows, because what is written beyond them may
// crash the driver.
std::uint64_t size_of_guards(const device::DeviceInfo& device, const Job& program) {
  constexpr std::uint64_t least = 16384;
  constexpr std::uint64_t most = std::uint64_t{8} << 20U;
  constexpr std::uint64_t most_in_all = std::uint64_t{64} << 20U;
  std::uint64_t buffers = 0;
  std::uint64_t count = 1;
  for (const ProgramBuffer& buffer : program.buffers) {
    buffers += buffer.in_arena() ? buffer.bytes : 0;
    count += buffer.in_arena() ? 1 : 0;
  }
  const std::uint64_t room = device.max_allocation_bytes - std::min(buffers, device.max_allocation_bytes);
  const std::uint64_t each = std::min(most_in_all, room / 2) / (2 * count);
  return std::clamp(each, least, most) / least * least;
}

// Every buffer between two guards in one block of memory. Images have no guards, because devices discard writes outside
// of them.
struct GuardedMemory {
  std::vector<device::Buffer> buffers; // by buffer
  device::Buffer arena;
  std::vector<std::uint64_t> offsets; // by buffer, in the arena
};

GuardedMemory allocate_guarded(const device::Session& session, const device::DeviceInfo& device,
                               const Job& program, const GuardPattern& pattern) {
  const std::uint64_t alignment = std::max<std::uint64_t>(256, std::bit_ceil(device.base_alignment_bytes));
  const auto aligned = [alignment](std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  GuardedMemory memory;
  std::uint64_t end = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (!buffer.in_arena()) {
      memory.offsets.push_back(no_guards);
      continue;
    }
    memory.offsets.push_back(aligned(end + pattern.guard_bytes()));
    end = memory.offsets.back() + buffer.bytes + pattern.guard_bytes();
  }
  memory.arena = allocate(session, end);
  for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
    if (memory.offsets[i] == no_guards) {
      memory.buffers.emplace_back();
      continue;
    }
    memory.buffers.push_back(sub_buffer(session, memory.arena, memory.offsets[i], program.buffers[i].bytes));
    pattern.write(session, memory.arena, memory.offsets[i] - pattern.guard_bytes(), 2 * i);
    pattern.write(session, memory.arena, memory.offsets[i] + program.buffers[i].bytes, 2 * i + 1);
  }
  return memory;
}

// Returns the guards that the last wave changed.
std::vector<BoundsViolation> violations(const device::Session& session, const Job& program,
                                        const GuardedMemory& memory, GuardPattern& pattern,
                                        std::uint32_t wave, std::uint64_t iteration) {
  std::vector<BoundsViolation> found;
  for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
    if (memory.offsets[i] == no_guards) {
      continue;
    }
    for (const bool after : {false, true}) {
      const std::uint64_t begin =
          after ? memory.offsets[i] + program.buffers[i].bytes : memory.offsets[i] - pattern.guard_bytes();
      if (const auto changes = pattern.changes(session, memory.arena, begin, 2 * i + (after ? 1 : 0))) {
        found.push_back({.wave = program.wave_text(wave),
                         .iteration = iteration,
                         .buffer = program.buffers[i].name,
                         .side = after ? Side::after : Side::before,
                         .distance_bytes = after ? changes->first : pattern.guard_bytes() - changes->last,
                         .changed_bytes = changes->bytes,
                         .buffer_bytes = program.buffers[i].bytes});
      }
    }
  }
  return found;
}

} // namespace

std::string place_text(const BoundsViolation& violation) {
  const std::string changed = plural(violation.changed_bytes, "byte");
  return violation.side == Side::after
             ? fmt::format("past the end of {} (first byte at offset {}, {} changed)",
                           in_quotes(violation.buffer), violation.buffer_bytes + violation.distance_bytes,
                           changed)
             : fmt::format("before the start of {} (last byte at offset -{}, {} changed)",
                           in_quotes(violation.buffer), violation.distance_bytes, changed);
}

Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  const RunOptions& options, Monitor& monitor) try {
  const Job& program = compiled.program;
  const auto& storage = compiled.schedule.storage;
  const device::PrintsToStandardError prints;
  TIDEGATE_TRY(const std::shared_ptr<device::Session> opened,
               options.open_session(device, device::Profiling::as_needed));
  const device::Session& session = *opened;
  check_images(session, program);
  TIDEGATE_TRY(const HostContents first, first_contents(session, program, compiled.tuning.most_pinned_bytes));
  const std::vector<std::uint32_t> order = program_order(program);
  monitor.begin(Activity::building);
  const PlainPrograms programs(session, program, order);
  GuardPattern pattern(size_of_guards(device, program));
  const GuardedMemory memory = allocate_guarded(session, device, program, pattern);
  fill_apart(session, program, first, memory.buffers);
  device::require(session.finish(), "filling the buffers");
  const DeviceImages images = allocate_images(session, program);
  fill_images(session, program, first, images);
  PlainWaves waves(session, programs, program, order, {storage, memory.buffers, images});

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
  monitor.deadline = deadline;
  BoundsReport report{.guard_bytes = pattern.guard_bytes()};
  // Ends at the first violation or when time is up.
  const auto run = [&](std::uint32_t wave, std::uint32_t iteration) {
    device::work_notes().set_checked(fmt::format("{}, in iteration {},", program.wave_text(wave), iteration));
    const bool in_time = waves.run(wave, iteration, deadline, monitor);
    ++report.checked_waves;
    report.violations = violations(session, program, memory, pattern, wave, iteration);
    report.complete = !report.violations.empty() || in_time;
    return report.violations.empty() && report.complete;
  };
  const auto read = [&](std::uint32_t owner, std::span<std::byte> value) {
    download(session, memory.buffers[owner], 0, value);
  };
  run_wave_by_wave(program, order, storage, {.run = run, .read = read});
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

} // namespace tidegate::engine
