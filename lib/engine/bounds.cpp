// Detects accesses out of bounds, which devices do not report: the program runs wave by wave, as plain
// launches, and the guards around every buffer are checked after each.
//
//   arena:  [guard][  buffer a  ][guard]  [guard][ buffer b ][guard] …
//
// A guard holds a pattern; the wave that has just ended wrote any changed byte. What is written beyond all guards may
// crash the driver: the waiting process then names the wave (device::WorkNotes::checked).
#include "device/isolation.hpp"
#include "engine/device_memory.hpp"
#include "engine/proof.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

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
Arena allocate_guarded(const device::Session& session, const device::DeviceInfo& device, const Job& program,
                       const GuardPattern& pattern) {
  const std::uint64_t alignment = std::max<std::uint64_t>(256, std::bit_ceil(device.base_alignment_bytes));
  Arena arena;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    DevicePart& part = arena.parts.emplace_back();
    part.object = allocate_image(session, program, i);
    if (program.buffers[i].in_arena()) {
      part.offset = (end + pattern.guard_bytes() + alignment - 1) / alignment * alignment;
      end = part.offset + program.buffers[i].bytes + pattern.guard_bytes();
    }
  }
  arena.whole = allocate(session, end);
  for (std::size_t i = 0; i < arena.parts.size(); ++i) {
    DevicePart& part = arena.parts[i];
    const std::uint64_t bytes = program.buffers[i].bytes;
    arena.views.emplace_back();
    if (program.buffers[i].in_arena()) {
      part.memory = arena.whole;
      arena.views.back() = sub_buffer(session, arena.whole, part.offset, bytes);
      pattern.write(session, arena.whole, part.offset - pattern.guard_bytes(), 2 * i);
      pattern.write(session, arena.whole, part.offset + bytes, 2 * i + 1);
    }
  }
  return arena;
}

// Returns the guards that the last wave changed.
std::vector<BoundsViolation> violations(const device::Session& session, const Job& program,
                                        const Arena& arena, GuardPattern& pattern,
                                        const BoundsViolation& at) {
  std::vector<BoundsViolation> found;
  for (std::size_t i = 0; i < arena.parts.size(); ++i) {
    for (const Side side :
         program.buffers[i].in_arena() ? std::vector{Side::before, Side::after} : std::vector<Side>()) {
      const bool after = side == Side::after;
      const std::uint64_t begin = arena.parts[i].offset;
      const std::uint64_t bytes = program.buffers[i].bytes;
      if (const auto changes =
              pattern.changes(session, arena.whole, after ? begin + bytes : begin - pattern.guard_bytes(),
                              2 * i + (after ? 1 : 0))) {
        BoundsViolation& violation = found.emplace_back(at);
        violation.buffer = program.buffers[i].name;
        violation.side = side;
        violation.distance_bytes = after ? changes->first : pattern.guard_bytes() - changes->last;
        violation.changed_bytes = changes->bytes;
        violation.buffer_bytes = bytes;
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
  const device::PrintsToStandardError prints;
  TIDEGATE_TRY(const std::shared_ptr<device::Session> opened,
               options.open_session(device, device::Profiling::as_needed));
  const device::Session& session = *opened;
  check_images(session, program);
  TIDEGATE_TRY(const HostContents first, first_contents(session, program, compiled.tuning.most_pinned_bytes));
  monitor.begin(Activity::building);
  Reference reference(session, program, compiled.schedule.storage, first);
  reference.one_by_one(monitor);
  GuardPattern pattern(size_of_guards(device, program));
  const Arena arena = allocate_guarded(session, device, program, pattern);

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
  monitor.deadline = deadline;
  BoundsReport report;
  // Ends at the first violation or when time is up.
  const auto check = [&](std::uint32_t wave, std::uint32_t iteration) {
    ++report.checked_waves;
    report.violations = violations(session, program, arena, pattern,
                                   {.wave = program.wave_text(wave), .iteration = iteration});
    return report.violations.empty();
  };
  const auto note = [&](std::uint32_t wave, std::uint32_t iteration) {
    device::work_notes().set_checked(fmt::format("{}, in iteration {},", program.wave_text(wave), iteration));
  };
  const PlainRun run = reference.run(deadline, {.memory = &arena, .before = note, .after = check});
  report.complete = !report.violations.empty() || run.in_time;
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

} // namespace tidegate::engine
