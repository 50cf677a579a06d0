#include "engine/bounds.hpp"

#include "core/files.hpp"
#include "core/program.hpp"
#include "device/driver_output.hpp"
#include "engine/device_images.hpp"
#include "engine/device_memory.hpp"
#include "engine/plain_waves.hpp"
#include <tidegate/core/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>

namespace tidegate::engine {
namespace {

constexpr std::uint64_t guard_bytes = 16384;
constexpr std::uint64_t no_guards = ~std::uint64_t{0}; // in place of an offset, for images

std::byte pattern(std::uint64_t offset) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return static_cast<std::byte>((offset + 1) * golden_ratio >> 56U);
}

// Every buffer between two guards in one block of memory, or each alone without guards. Images have no
// guards, because devices discard writes outside of them.
struct GuardedMemory {
  std::vector<device::Buffer> buffers; // by buffer
  device::Buffer arena;
  std::vector<std::uint64_t> offsets; // by buffer, in the arena; empty without guards
};

void write_guard(const device::Session& session, const device::Buffer& arena, std::uint64_t begin) {
  std::vector<std::byte> guard(guard_bytes);
  for (std::uint64_t i = 0; i < guard_bytes; ++i) {
    guard[i] = pattern(begin + i);
  }
  upload(session, arena, begin, guard);
}

// Returns the distance from the buffer's edge to the nearest changed byte of the guard at `begin`.
std::optional<std::uint64_t> changed(const device::Session& session, const device::Buffer& arena,
                                     std::uint64_t begin, bool after) {
  std::vector<std::byte> guard(guard_bytes);
  download(session, arena, begin, guard);
  for (std::uint64_t i = 0; i < guard_bytes; ++i) {
    const std::uint64_t at = after ? i : guard_bytes - 1 - i;
    if (guard[at] != pattern(begin + at)) {
      return after ? at : guard_bytes - at;
    }
  }
  return {};
}

GuardedMemory allocate_guarded(const device::Session& session, const device::DeviceInfo& device,
                               const Job& program) {
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
    if (!buffer.in_arena()) {
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
    memory.buffers.push_back(sub_buffer(session, memory.arena, memory.offsets[i], program.buffers[i].bytes));
    write_guard(session, memory.arena, memory.offsets[i] - guard_bytes);
    write_guard(session, memory.arena, memory.offsets[i] + program.buffers[i].bytes);
  }
  return memory;
}

// Returns the guards that the last wave changed.
std::vector<BoundsViolation> violations(const device::Session& session, const Job& program,
                                        const GuardedMemory& memory, std::uint32_t wave,
                                        std::uint64_t iteration) {
  std::vector<BoundsViolation> found;
  for (std::size_t i = 0; i < memory.offsets.size(); ++i) {
    if (memory.offsets[i] == no_guards) {
      continue;
    }
    for (const bool after : {false, true}) {
      const std::uint64_t begin =
          after ? memory.offsets[i] + program.buffers[i].bytes : memory.offsets[i] - guard_bytes;
      if (const auto distance = changed(session, memory.arena, begin, after)) {
        found.push_back({.wave = program.wave_text(wave),
                         .iteration = iteration,
                         .buffer = program.buffers[i].name,
                         .side = after ? Side::after : Side::before,
                         .distance_bytes = *distance});
      }
    }
  }
  return found;
}

} // namespace

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
  const GuardedMemory memory = allocate_guarded(session, device, program);
  fill_apart(session, program, first, memory.buffers);
  device::require(session.finish(), "filling the buffers");
  const DeviceImages images = allocate_images(session, program);
  fill_images(session, program, first, images);
  PlainWaves waves(session, programs, program, order, storage, memory.buffers, images);

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
  monitor.deadline = deadline;
  BoundsReport report{.guard_bytes = memory.offsets.empty() ? 0 : guard_bytes};
  // Ends at the first violation or when time is up.
  const auto run = [&](std::uint32_t wave, std::uint32_t iteration) {
    const bool in_time = waves.run(wave, iteration, deadline, monitor);
    ++report.checked_waves;
    report.violations = violations(session, program, memory, wave, iteration);
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

bool is_simulator(const device::DeviceInfo& device) {
  return device.platform.find("Oclgrind") != std::string::npos;
}

// Finds Oclgrind, runs this tool in it and parses its output.

namespace {

// Removes the first line of the text and returns it without its end.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Returns the text after a word of the line, or nothing.
std::string_view text_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + word.size());
}

// A temporary folder, removed by the destructor.
struct ScratchFolder {
  std::filesystem::path path;
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tidegate-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      path = name;
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  TIDEGATE_TRY(Output file, Output::open(path.string()));
  TIDEGATE_CHECK(file.write(text));
  return file.commit();
}

} // namespace

std::string find_simulator() {
  if (const char* const given = std::getenv("TIDEGATE_OCLGRIND"); given != nullptr) {
    return given;
  }
  for (const char* const candidate :
       {"/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so",
        "/usr/lib64/oclgrind/liboclgrind-rt-icd.so"}) {
    if (std::error_code ignored; std::filesystem::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return {};
}

std::vector<SimulatorFinding> parse_simulator_log(std::string_view log) {
  std::vector<SimulatorFinding> findings;
  SimulatorFinding current;
  const auto finish = [&] {
    const auto alike = [&](const SimulatorFinding& other) {
      return other.kernel == current.kernel && other.file == current.file && other.line == current.line &&
             other.message.substr(0, other.message.find(" at ")) ==
                 current.message.substr(0, current.message.find(" at "));
    };
    if (!current.message.empty() && std::ranges::none_of(findings, alike)) {
      findings.push_back(current);
    }
    current = {};
  };
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    if (line.starts_with("Invalid ") || line.starts_with("Work-group divergence") ||
        line.starts_with("Uninitialized ")) {
      finish();
      current.message = line;
    } else if (const auto kernel = text_after(line, "\tKernel: "); !kernel.empty()) {
      current.kernel = kernel;
    } else if (const auto entity = text_after(line, "\tEntity: "); !entity.empty()) {
      current.work_item = entity;
    } else if (const auto place = text_after(line, "\tAt line "); !place.empty()) {
      std::from_chars(place.data(), place.data() + place.size(), current.line);
      current.file = text_after(place, " of ");
      if (current.file.ends_with(':')) {
        current.file.pop_back();
      }
    }
  }
  finish();
  return findings;
}

Result<SimulatorRun> run_in_simulator(const std::string& runtime, const std::string& folder,
                                      const std::vector<std::string>& command, std::string_view input) {
  const ScratchFolder scratch;
  const std::string log = (scratch.path / "log").string();
  const std::string errors = (scratch.path / "errors").string();
  const char* const given_options = std::getenv("OCLGRIND_BUILD_OPTIONS");
  TIDEGATE_CHECK(write_file(scratch.path / "oclgrind.icd", runtime + '\n'));
  std::vector<std::string> whole{
      "setpriv", // ends it with this process
      "--pdeathsig=KILL",
      "env",
      "--chdir=" + folder,
      "OCL_ICD_VENDORS=" + scratch.path.string() + "/",
      "OCL_ICD_FILENAMES=",
      "OCLGRIND_LOG=" + log,
      fmt::format("OCLGRIND_BUILD_OPTIONS={} -cl-opt-disable", given_options == nullptr ? "" : given_options),
      "OCLGRIND_UNINITIALIZED=0",
      "OCLGRIND_DATA_RACES=0"};
  whole.insert(whole.end(), command.begin(), command.end());
  const auto text_of = [](const std::string& file) {
    constexpr std::size_t most = std::size_t{64} << 20U;
    return read_all(file, most).value_or("");
  };
  const auto ran = filter(whole, input, errors);
  std::string said = text_of(errors);
  SimulatorRun run;
  run.findings = parse_simulator_log(text_of(log));
  run.complete = ran || (said.find("[wall_time_exceeded]") == std::string::npos &&
                         said.find("[interrupted]") == std::string::npos);
  if (!ran && run.complete && run.findings.empty()) {
    return tl::unexpected(
        Error{.code = ran.error().code,
              .message = "Oclgrind did not run the program to its end: " + ran.error().message,
              .fix = "correct what it reports, or check without Oclgrind (TIDEGATE_OCLGRIND=)",
              .log = std::move(said)});
  }
  return run;
}

} // namespace tidegate::engine
