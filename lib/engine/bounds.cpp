// Detects accesses out of bounds, which devices do not report: the program runs wave by wave, as plain
// launches, and the guards around every buffer are checked after each.
//
//   arena:  [guard][  buffer a  ][guard]  [guard][ buffer b ][guard] …
//
// A guard holds a pattern; the wave that has just ended wrote any changed byte. What is written beyond all guards may
// crash the driver: the waiting process then names the wave (device::WorkNotes::checked).
#include "engine/proof.hpp"

namespace tidegate::engine {
namespace {

struct Guard {
  std::size_t buffer = 0;
  Side side = Side::before;
  std::uint64_t begin = 0; // in the arena
  std::span<const std::byte> contents;
};

struct GuardedMemory {
  Arena arena;
  std::vector<std::byte> pattern; // of all guards
  std::vector<Guard> guards;
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
GuardedMemory allocate_guarded(const device::Session& session, const device::DeviceInfo& device,
                               const Job& program) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  // Each guard takes the pattern from another place on, so that bytes which a kernel copies from one guard to another
  // are seen.
  constexpr std::size_t places = 65536;
  constexpr std::size_t prime = 97;
  const std::uint64_t alignment = std::max<std::uint64_t>(256, std::bit_ceil(device.base_alignment_bytes));
  const std::uint64_t bytes_of_guard = size_of_guards(device, program);
  std::vector<std::byte> pattern;
  for (std::uint64_t i = 0; i < bytes_of_guard + places; ++i) {
    pattern.push_back(static_cast<std::byte>((i + 1) * golden_ratio >> 56U));
  }
  std::vector<Guard> guards;
  MemoryLayout layout{.offsets = std::vector<std::uint64_t>(program.buffers.size())};
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].in_arena()) {
      continue;
    }
    const std::uint64_t begin = (layout.arena_bytes + bytes_of_guard + alignment - 1) / alignment * alignment;
    const std::uint64_t end = begin + program.buffers[i].bytes;
    layout.offsets[i] = begin;
    layout.arena_bytes = end + bytes_of_guard;
    for (const auto& [side, at] :
         {std::pair(Side::before, begin - bytes_of_guard), std::pair(Side::after, end)}) {
      guards.push_back(
          {i, side, at, std::span(pattern).subspan(guards.size() * prime % places, bytes_of_guard)});
    }
  }
  GuardedMemory made{.arena = allocate_arena(session, program, layout, ArenaUse::both),
                     .pattern = std::move(pattern),
                     .guards = std::move(guards)};
  for (const Guard& guard : made.guards) {
    session.write(made.arena.whole, guard.begin, guard.contents);
  }
  return made;
}

// Returns the guards that the last wave changed.
std::vector<BoundsViolation> violations(const device::Session& session, const Job& program,
                                        const GuardedMemory& memory, const BoundsViolation& at) {
  std::vector<BoundsViolation> all;
  std::vector<std::byte> found;
  for (const Guard& guard : memory.guards) {
    found.resize(guard.contents.size());
    session.read(memory.arena.whole, guard.begin, found);
    if (same_bytes(found, guard.contents)) {
      continue;
    }
    const bool after = guard.side == Side::after;
    BoundsViolation& violation = all.emplace_back(at);
    violation.buffer = program.buffers[guard.buffer].name;
    violation.side = guard.side;
    violation.buffer_bytes = program.buffers[guard.buffer].bytes;
    violation.distance_bytes = found.size();
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      if (found[i] != guard.contents[i]) {
        violation.distance_bytes = std::min(violation.distance_bytes, after ? i : found.size() - i);
        ++violation.changed_bytes;
      }
    }
  }
  return all;
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
  const GuardedMemory memory = allocate_guarded(session, device, program);

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
  monitor.deadline = deadline;
  BoundsReport report;
  // Ends at the first violation or when time is up.
  const auto check = [&](std::uint32_t wave, std::uint32_t iteration) {
    ++report.checked_waves;
    report.violations =
        violations(session, program, memory, {.wave = program.wave_text(wave), .iteration = iteration});
    return report.violations.empty();
  };
  const auto note = [&](std::uint32_t wave, std::uint32_t iteration) {
    device::work_notes().set_checked(fmt::format("{}, in iteration {},", program.wave_text(wave), iteration));
  };
  const PlainRun run = reference.run(deadline, {.memory = &memory.arena, .before = note, .after = check});
  report.complete = !report.violations.empty() || run.in_time;
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

} // namespace tidegate::engine
