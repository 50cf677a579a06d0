#include <tidegate/arrays/element_type.hpp>
#include <tidegate/compiler/argument_values.hpp>
#include <tidegate/compiler/generate.hpp>
#include <tidegate/compiler/halos.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/device/kernels.hpp>
#include <tidegate/opencl_c/watched_accesses.hpp>
#include <tidegate/opencl_c/words.hpp>
#include <tidegate/run/device_images.hpp>
#include <tidegate/run/device_memory.hpp>
#include <tidegate/run/halo_check.hpp>
#include <tidegate/run/plain_waves.hpp>
#include <tidegate/run/wave_by_wave.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::run {
namespace {

using compiler::StatedHalo;
using device::require;

// As kernels/halo_check.cl has them.
constexpr std::uint64_t shadow_words = 12;
constexpr std::size_t verdict_words = 8;
constexpr cl_uint writes = 2;

struct Row {
  cl_ulong argument = 0;
  cl_ulong later = 0;  // it looks at what the earlier wave has kept
  cl_ulong shadow = 0; // first word
  cl_ulong elements = 0;
  cl_ulong unit = 0; // bytes of an element
  std::array<cl_ulong, 3> halo{};
};
static_assert(sizeof(Row) == 8 * sizeof(cl_ulong));

struct Shadow {
  std::uint64_t begin = 0; // words
  std::uint64_t words = 0;
};

// What each wave keeps and looks at.
struct Watch {
  std::vector<StatedHalo> stated;
  std::vector<Shadow> shadows;                             // by stated halo
  std::map<std::uint32_t, std::vector<Row>> rows;          // by wave
  std::map<std::uint32_t, std::vector<std::size_t>> halos; // of its rows, which stated halo each is of
  std::uint64_t words = 0;                                 // of all shadows
};

// Bytes of what a pointer points to; 1 for structures, whose size the device alone knows.
std::uint64_t element_size(const ResolvedProgram& program, std::uint32_t op, std::size_t argument) {
  const auto type = opencl_c::arithmetic_type(program.function(op).parameters[argument].type);
  const auto scalar = type ? element_type_of(type->scalar) : std::nullopt;
  return scalar ? element_bytes(*scalar) * (type->width == 3 ? 4 : type->width) : 1;
}

Watch watch_of(const ResolvedProgram& program) {
  Watch watch{.stated = compiler::stated_halos(program), .shadows = {}, .rows = {}, .halos = {}};
  for (std::size_t i = 0; i < watch.stated.size(); ++i) {
    const StatedHalo& halo = watch.stated[i];
    const auto each_argument = [&](auto&& act) {
      for (const std::uint32_t wave : {halo.before, halo.after}) {
        const auto& arguments = program.waves[wave].arguments;
        for (std::size_t a = 0; a < arguments.size() && !program.waves[wave].transfer; ++a) {
          if (arguments[a].kind == ProgramArgument::Kind::buffer && arguments[a].buffer == halo.buffer) {
            act(wave, a);
          }
        }
      }
    };
    std::uint64_t unit = 0;
    each_argument([&](std::uint32_t wave, std::size_t a) {
      unit = std::gcd(unit, element_size(program, program.waves[wave].op, a));
    });
    unit = std::max<std::uint64_t>(unit, 1);
    const std::uint64_t elements = program.buffers[halo.buffer].bytes / unit;
    watch.shadows.push_back({.begin = watch.words, .words = elements * shadow_words});
    each_argument([&](std::uint32_t wave, std::size_t a) {
      watch.rows[wave].push_back({.argument = a,
                                  .later = wave == halo.after ? 1U : 0U,
                                  .shadow = watch.words,
                                  .elements = elements,
                                  .unit = unit,
                                  .halo = {halo.halo[0], halo.halo[1], halo.halo[2]}});
      watch.halos[wave].push_back(i);
    });
    watch.words += elements * shadow_words;
  }
  return watch;
}

std::map<std::uint32_t, opencl_c::WatchedUnit> watched_units(const ResolvedProgram& program,
                                                             const Watch& watch) {
  std::map<std::uint32_t, std::map<std::string, std::set<std::size_t>>> parameters; // by unit and kernel
  for (const auto& [wave, rows] : watch.rows) {
    const std::uint32_t op = program.waves[wave].op;
    for (const Row& row : rows) {
      parameters[program.ops[op].unit][program.function(op).name].insert(row.argument);
    }
  }
  std::map<std::uint32_t, opencl_c::WatchedUnit> units;
  for (const auto& [unit, kernels] : parameters) {
    units[unit] = opencl_c::watch_accesses(program.units[unit].unit, kernels);
  }
  return units;
}

class Checker {
public:
  Checker(const device::Session& session, const ResolvedProgram& program, const Watch& watch,
          const std::map<std::uint32_t, opencl_c::WatchedUnit>& units)
      : session_(session), program_(program), watch_(watch), units_(units),
        shadow_(allocate(session, watch.words * sizeof(cl_uint))) {
    for (const auto& [wave, rows] : watch.rows) {
      rows_[wave] = allocate(session, rows.size() * sizeof(Row));
      upload(session, rows_[wave], 0, std::as_bytes(std::span(rows)));
      const std::uint64_t words = std::uint64_t{program.waves[wave].range.tiles()} * verdict_words;
      verdicts_[wave] = allocate(session, words * sizeof(cl_uint));
      clear(verdicts_[wave], 0, words);
    }
  }

  [[nodiscard]] bool watches(std::uint32_t wave) const {
    const auto found = units_.find(program_.ops[program_.waves[wave].op].unit);
    return rows_.contains(wave) && found != units_.end() &&
           found->second.kernels.contains(program_.function(program_.waves[wave].op).name);
  }

  // Its kernel's last four arguments, and room for what it will keep.
  void prepare(std::uint32_t wave, cl::Kernel& kernel) {
    auto next = static_cast<cl_uint>(program_.waves[wave].arguments.size());
    require(kernel.setArg(next++, rows_.at(wave)), "handing over what to watch");
    require(kernel.setArg(next++, static_cast<cl_uint>(watch_.rows.at(wave).size())),
            "handing over what to watch");
    require(kernel.setArg(next++, shadow_), "handing over what to watch");
    require(kernel.setArg(next, verdicts_.at(wave)), "handing over what to watch");
    for (std::size_t i = 0; i < watch_.stated.size(); ++i) {
      if (watch_.stated[i].before == wave) {
        clear(shadow_, watch_.shadows[i].begin, watch_.shadows[i].words);
      }
    }
  }

  // The first tile that reached too far, if one did.
  std::optional<HaloViolation> violation(std::uint32_t wave, std::uint32_t iteration) {
    const NdRange& range = program_.waves[wave].range;
    std::vector<cl_uint> words(std::size_t{range.tiles()} * verdict_words);
    download(session_, verdicts_.at(wave), 0, std::as_writable_bytes(std::span(words)));
    for (std::uint32_t tile = 0; tile < range.tiles(); ++tile) {
      const std::span<const cl_uint> told = std::span(words).subspan(tile * verdict_words, verdict_words);
      if (told[0] == 0) {
        continue;
      }
      const Row& row = watch_.rows.at(wave)[told[1]];
      const StatedHalo& halo = watch_.stated[watch_.halos.at(wave)[told[1]]];
      const std::array<std::uint32_t, 3> place{tile % range.groups[0],
                                               tile / range.groups[0] % range.groups[1],
                                               tile / range.groups[0] / range.groups[1]};
      const std::uint32_t d = told[2];
      const ProgramWave& spec = program_.waves[wave];
      return HaloViolation{.wave = program_.wave_text(wave),
                           .op = program_.ops[spec.op].name,
                           .argument = row.argument,
                           .parameter = program_.function(spec.op).parameters[row.argument].name,
                           .buffer = program_.buffers[halo.buffer].name,
                           .iteration = iteration,
                           .writes = (told[6] & writes) != 0,
                           .subscript = std::uint64_t{told[5]} << 32U | told[4],
                           .dimension = d,
                           .tile = place[d],
                           .tiles = {place.begin(), place.begin() + range.dimensions},
                           .before = program_.wave_text(halo.before),
                           .before_tile = told[3],
                           .first_allowed = place[d] - std::min(place[d], halo.halo[d]),
                           .last_allowed = std::min(place[d] + halo.halo[d], range.groups[d] - 1)};
    }
    return {};
  }

private:
  void clear(const cl::Buffer& memory, std::uint64_t begin, std::uint64_t words) {
    run::clear(session_, memory, begin * sizeof(cl_uint),
               std::max<std::uint64_t>(words, 1) * sizeof(cl_uint));
  }

  const device::Session& session_;
  const ResolvedProgram& program_;
  const Watch& watch_;
  const std::map<std::uint32_t, opencl_c::WatchedUnit>& units_;
  cl::Buffer shadow_;
  std::map<std::uint32_t, cl::Buffer> rows_;
  std::map<std::uint32_t, cl::Buffer> verdicts_;
};

// Buffers by themselves, with what they hold at first.
std::vector<cl::Buffer> filled(const device::Session& session, const ResolvedProgram& program,
                               const HostContents& first) {
  std::vector<cl::Buffer> memory = allocate_apart(session, program);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (program.buffers[i].image) {
      continue;
    }
    if (!first[i].empty()) {
      upload(session, memory[i], 0, first[i]);
    } else {
      clear(session, memory[i], 0, program.buffers[i].bytes);
    }
  }
  return memory;
}

Result<HaloReport> check_halos_or_throw(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                        std::uint64_t max_wall_time_ns, Monitor& monitor) {
  const ResolvedProgram& program = compiled.written;
  const auto& places = compiled.schedule.places;
  TIDEGATE_TRY(const device::Session session, device::open_session(device));
  check_images(session, program);
  TIDEGATE_TRY(const HostContents first, first_contents(session, program, compiled.tuning.most_pinned_bytes));
  const Watch watch = watch_of(program);
  const auto units = watched_units(program, watch);
  HaloReport report{.stated_halos = watch.stated.size()};
  std::map<std::uint32_t, std::string> texts;
  const std::string prelude = device::with_place("halo_check.cl", device::halo_check_source());
  for (const auto& [unit, watched] : units) {
    texts[unit] = prelude + watched.text;
    for (const opencl_c::UnwatchedUse& use : watched.unwatched) {
      report.unwatched.push_back(
          {.kernel = use.kernel, .parameter = use.parameter, .file = use.file, .line = use.line});
    }
  }

  monitor.activity = Activity::building;
  const std::vector<std::uint32_t> order = program_order(program);
  const PlainPrograms programs(session, program, order, texts);
  const std::vector<cl::Buffer> memory = filled(session, program, first);
  const DeviceImages images = allocate_images(session, program);
  fill_images(session, program, first, images);
  PlainWaves waves(session, programs, program, order, places, memory, images);
  Checker checker(session, program, watch, units);
  require(session.queue.finish(), "filling the buffers");

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(max_wall_time_ns);
  monitor.deadline = deadline;
  const auto run = [&](std::uint32_t wave, std::uint32_t iteration) {
    const auto phase = static_cast<std::uint32_t>(iteration % places.size());
    const bool watched = checker.watches(wave);
    if (watched) {
      checker.prepare(wave, waves.kernel(wave, phase));
    }
    monitor.in_flight = 1;
    waves.launch(wave, iteration, deadline);
    require(session.queue.finish(), "running " + program.wave_text(wave));
    monitor.in_flight = 0;
    ++report.checked_waves;
    if (watched) {
      report.violation = checker.violation(wave, iteration);
    }
    report.complete =
        report.violation || (!InterruptWatch::interrupted() &&
                             Monitor::Clock::now() < deadline + std::chrono::nanoseconds(waves.compile_ns()));
    return !report.violation && report.complete;
  };
  const auto read = [&](std::uint32_t place, std::span<std::byte> value) {
    download(session, memory[place], 0, value);
  };
  run_wave_by_wave(program, places, monitor, {.run = run, .read = read});
  return report;
}

} // namespace

Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               std::uint64_t max_wall_time_ns, Monitor& monitor) {
  try {
    return check_halos_or_throw(compiled, device, max_wall_time_ns, monitor);
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::run
