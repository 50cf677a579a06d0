// Checks on a device that waves stay within the halos that the program states. The program runs wave by wave,
// as plain launches of kernels that report every subscript (lib/opencl_c/accesses.hpp). The earlier
// wave of a dependency records the tiles that touched each element, and the later wave checks that they are
// near enough.
#include "core/npy.hpp"
#include "device/kernels.hpp"
#include "engine/bounds.hpp"
#include "engine/device_images.hpp"
#include "engine/device_memory.hpp"
#include "engine/generate.hpp"
#include "engine/plain_waves.hpp"
#include "opencl_c/accesses.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

using device::require;
using Storage = std::vector<std::vector<std::uint32_t>>;

// Constants of kernels/wave/halo_check.cl.
constexpr std::uint64_t shadow_words = 12;
constexpr std::size_t verdict_words = 8;
constexpr std::uint32_t write_bit = 2;
constexpr std::uint64_t looks = 1;
constexpr std::uint64_t by_number = 2;
constexpr std::size_t most_verdict_rows = 31; // each row has a bit for recorded accesses

struct Row {
  std::uint64_t argument = 0;
  std::uint64_t flags = 0;
  std::uint64_t shadow = 0; // first word
  std::uint64_t elements = 0;
  std::uint64_t unit = 0; // bytes of an element
  std::array<std::uint64_t, 3> halo{};
};
static_assert(sizeof(Row) == 8 * sizeof(std::uint64_t));

// Key of a shadow, which records the tiles of a wave that touched a buffer through one argument.
struct ShadowKey {
  std::uint32_t wave = 0;
  std::uint32_t argument = 0;
  std::uint32_t owner = 0;   // memory of the buffer
  bool in_iteration = false; // reset with every launch of the wave
  bool by_number = false;    // numbered tiles, because the waves have different work-groups

  friend auto operator<=>(const ShadowKey&, const ShadowKey&) = default; // NOLINT(modernize-use-nullptr)
};
struct Shadow {
  std::uint64_t kept = 0; // first word; `seen` is the copy that later waves check
  std::uint64_t seen = 0;
  std::uint64_t words = 0; // of each record
};

using WaveInPhase = std::pair<std::uint32_t, std::uint32_t>; // wave and swap phase

// The shadows and rows of all waves.
struct Watch {
  std::vector<StatedHalo> stated;
  std::map<ShadowKey, Shadow> shadows;
  std::map<WaveInPhase, std::vector<Row>> rows;          // checking rows first
  std::map<WaveInPhase, std::vector<std::size_t>> halos; // by checking row: index of the stated halo
  std::uint64_t words = 0;                               // of all shadows
};

// Returns the element size of a pointer argument; 1 for structures, whose size only the device knows.
std::uint64_t element_size(const Job& program, std::uint32_t wave, std::size_t argument) {
  const auto type =
      opencl_c::arithmetic_type(program.function(program.waves[wave].op).parameters[argument].type);
  const auto scalar = type ? element_type_of(type->scalar) : std::nullopt;
  return scalar ? element_bytes(*scalar) * (type->width == 3 ? 4 : type->width) : 1;
}

Watch watch_of(const Job& program, const Storage& storage) {
  Watch watch{.stated = stated_halos(program, storage), .shadows = {}, .rows = {}, .halos = {}};
  std::vector<std::uint64_t> units(program.buffers.size()); // by memory
  const auto for_each_owner = [&](std::uint32_t wave, std::uint32_t argument, auto&& act) {
    for (std::uint32_t phase = 0; phase < storage.size(); ++phase) {
      act(phase, storage[phase][program.waves[wave].arguments[argument].buffer]);
    }
  };
  for (const StatedHalo& halo : watch.stated) {
    for (const auto& side :
         {std::pair(halo.before, halo.before_argument), std::pair(halo.after, halo.after_argument)}) {
      for_each_owner(side.first, side.second, [&](std::uint32_t /*phase*/, std::uint32_t owner) {
        units[owner] = std::gcd(units[owner], element_size(program, side.first, side.second));
      });
    }
  }
  const auto row_of = [&](const ShadowKey& key, const Shadow& shadow, std::uint32_t argument) {
    return Row{.argument = argument,
               .flags = key.by_number ? by_number : 0,
               .shadow = shadow.kept,
               .elements = shadow.words / shadow_words,
               .unit = units[key.owner]};
  };
  for (std::size_t i = 0; i < watch.stated.size(); ++i) {
    const StatedHalo& halo = watch.stated[i];
    const bool alike = program.waves[halo.before].range.groups == program.waves[halo.after].range.groups;
    for_each_owner(halo.after, halo.after_argument, [&](std::uint32_t phase, std::uint32_t owner) {
      const ShadowKey key{.wave = halo.before,
                          .argument = halo.before_argument,
                          .owner = owner,
                          .in_iteration = halo.in_iteration,
                          .by_number = !alike};
      const auto [found, is_new] = watch.shadows.try_emplace(key);
      Shadow& shadow = found->second;
      if (is_new) {
        const std::uint64_t words = program.buffers[owner].bytes / units[owner] * shadow_words;
        shadow = {.kept = watch.words, .seen = watch.words + words, .words = words};
        watch.words += 2 * words;
      }
      Row row = row_of(key, shadow, halo.after_argument);
      row.flags |= looks;
      row.shadow = shadow.seen;
      row.halo = {halo.halo[0], halo.halo[1], halo.halo[2]};
      watch.rows[{halo.after, phase}].push_back(row);
      watch.halos[{halo.after, phase}].push_back(i);
    });
  }
  for (const auto& [key, shadow] : watch.shadows) {
    for_each_owner(key.wave, key.argument,
                   [&, &k = key, &s = shadow](std::uint32_t phase, std::uint32_t owner) {
                     if (owner == k.owner) {
                       watch.rows[{k.wave, phase}].push_back(row_of(k, s, k.argument));
                     }
                   });
  }
  return watch;
}

std::map<std::uint32_t, opencl_c::WatchedUnit> watched_units(const Job& program, const Watch& watch) {
  std::map<std::uint32_t, std::map<std::string, std::set<std::size_t>>> parameters; // by unit and kernel
  for (const auto& [at, rows] : watch.rows) {
    const std::uint32_t op = program.waves[at.first].op;
    for (const Row& row : rows) {
      if (program.waves[at.first].users_kernel) {
        parameters[program.ops[op].unit][program.function(op).name].insert(row.argument);
      }
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
  Checker(const device::Session& session, const Job& program, const Watch& watch,
          const std::map<std::uint32_t, opencl_c::WatchedUnit>& units)
      : session_(session), program_(program), watch_(watch), units_(units),
        shadow_(allocate(session, watch.words * sizeof(std::uint32_t))), looked_at_(watch.stated.size()) {
    clear(shadow_, 0, watch.words);
    for (const auto& [at, rows] : watch.rows) {
      rows_[at] = allocate(session, rows.size() * sizeof(Row));
      upload(session, rows_[at], 0, std::as_bytes(std::span(rows)));
      const std::uint64_t words = std::uint64_t{program.waves[at.first].range.tiles()} * verdict_words;
      verdicts_[at] = allocate(session, words * sizeof(std::uint32_t));
      clear(verdicts_[at], 0, words);
    }
  }

  // Returns true if the wave's kernel reports accesses.
  [[nodiscard]] bool watches(std::uint32_t wave) const {
    const std::uint32_t op = program_.waves[wave].op;
    const auto found = units_.find(program_.ops[op].unit);
    return found != units_.end() && found->second.kernels.contains(program_.function(op).name);
  }

  // Sets the last four arguments of the wave's kernel, and clears its records.
  void prepare(WaveInPhase at, const device::Kernel& kernel) {
    auto next = static_cast<std::uint32_t>(program_.waves[at.first].arguments.size());
    const auto rows = watch_.rows.find(at); // none if only other waves of the kernel are checked
    const bool any = rows != watch_.rows.end();
    require(session_.set_object(kernel, next++, any ? rows_.at(at) : shadow_), "handing over what to watch");
    require(session_.set_value(kernel, next++, static_cast<std::uint32_t>(any ? rows->second.size() : 0)),
            "handing over what to watch");
    require(session_.set_object(kernel, next++, shadow_), "handing over what to watch");
    require(session_.set_object(kernel, next, any ? verdicts_.at(at) : shadow_),
            "handing over what to watch");
    for (const auto& [key, shadow] : watch_.shadows) {
      if (key.wave == at.first && key.in_iteration) {
        clear(shadow_, shadow.kept, shadow.words);
      }
    }
  }

  // Makes the wave's records visible to later waves; returns its first violation, if any.
  std::optional<HaloViolation> violation(WaveInPhase at, std::uint32_t iteration) {
    if (!watch_.rows.contains(at)) {
      return {};
    }
    for (const auto& [key, shadow] : watch_.shadows) {
      if (key.wave == at.first) {
        require(session_.copy(shadow_, shadow.kept * sizeof(std::uint32_t), shadow_,
                              shadow.seen * sizeof(std::uint32_t), shadow.words * sizeof(std::uint32_t),
                              nullptr),
                "keeping what was touched");
      }
    }
    const ProgramWave& wave = program_.waves[at.first];
    const NdRange& range = wave.range;
    std::vector<std::uint32_t> words(std::size_t{range.tiles()} * verdict_words);
    download(session_, verdicts_.at(at), 0, std::as_writable_bytes(std::span(words)));
    const auto stated = watch_.halos.find(at);
    std::optional<HaloViolation> found;
    for (std::uint32_t tile = 0; stated != watch_.halos.end() && tile < range.tiles(); ++tile) {
      const std::span<const std::uint32_t> verdict =
          std::span(words).subspan(tile * verdict_words, verdict_words);
      for (std::size_t row = 0; row < stated->second.size(); ++row) {
        const bool looked = (verdict[7] >> std::min(row, most_verdict_rows) & 1U) != 0;
        looked_at_[stated->second[row]] = looked_at_[stated->second[row]] || looked;
      }
      if (verdict[0] == 0 || found) {
        continue;
      }
      const Row& row = watch_.rows.at(at)[verdict[1]];
      const StatedHalo& halo = watch_.stated[stated->second[verdict[1]]];
      const bool numbered = (row.flags & by_number) != 0;
      const std::array<std::uint32_t, 3> place{tile % range.groups[0],
                                               tile / range.groups[0] % range.groups[1],
                                               tile / range.groups[0] / range.groups[1]};
      const std::uint32_t d = verdict[2];
      const std::uint32_t own = numbered ? tile : place[d];
      const NdRange& before = program_.waves[halo.before].range;
      found = HaloViolation{
          .wave = program_.wave_text(at.first),
          .op = program_.ops[wave.op].name,
          .argument = row.argument,
          .parameter = program_.function(wave.op).parameters[row.argument].name,
          .buffer = program_.buffers[wave.arguments[row.argument].buffer].name,
          .iteration = iteration,
          .writes = (verdict[6] & write_bit) != 0,
          .subscript = std::uint64_t{verdict[5]} << 32U | verdict[4],
          .dimension = d,
          .tile = own,
          .tiles = {place.begin(), place.begin() + range.dimensions},
          .before = program_.wave_text(halo.before),
          .before_tile = verdict[3],
          .first_allowed = own - std::min(own, halo.halo[d]),
          .last_allowed = std::min(own + halo.halo[d], (numbered ? before.tiles() : before.groups[d]) - 1)};
    }
    return found;
  }

  // Returns the number of stated halos with at least one checked access.
  [[nodiscard]] std::uint64_t looked_at() const {
    return static_cast<std::uint64_t>(std::ranges::count(looked_at_, true));
  }

private:
  void clear(const device::Buffer& memory, std::uint64_t begin, std::uint64_t words) {
    engine::clear(session_, memory, begin * sizeof(std::uint32_t),
                  std::max<std::uint64_t>(words, 1) * sizeof(std::uint32_t));
  }

  const device::Session& session_;
  const Job& program_;
  const Watch& watch_;
  const std::map<std::uint32_t, opencl_c::WatchedUnit>& units_;
  device::Buffer shadow_;
  std::map<WaveInPhase, device::Buffer> rows_;
  std::map<WaveInPhase, device::Buffer> verdicts_;
  std::vector<bool> looked_at_; // by stated halo
};

} // namespace

Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, Monitor& monitor) try {
  const Job& program = compiled.written;
  const Storage& storage = compiled.schedule.storage;
  const Watch watch = watch_of(program, storage);
  if (watch.stated.empty()) {
    return HaloReport{};
  }
  TIDEGATE_TRY(const std::shared_ptr<device::Session> opened,
               options.open_session(device, device::Profiling::as_needed));
  const device::Session& session = *opened;
  check_images(session, program);
  TIDEGATE_TRY(const HostContents first, first_contents(session, program, compiled.tuning.most_pinned_bytes));
  const auto units = watched_units(program, watch);
  HaloReport report{.stated_halos = watch.stated.size()};
  std::map<std::uint32_t, std::string> texts;
  const std::string prelude = device::kernel_source("wave/halo_check.cl");
  for (const auto& [unit, watched] : units) {
    texts[unit] = prelude + watched.text;
    for (const opencl_c::UnwatchedUse& use : watched.unwatched) {
      report.unwatched.push_back(
          {.kernel = use.kernel, .parameter = use.parameter, .file = use.file, .line = use.line});
    }
  }

  std::set<std::uint32_t> own; // waves that run tidegate's kernels
  for (const auto& [at, rows] : watch.rows) {
    const ProgramWave& wave = program.waves[at.first];
    if (!wave.users_kernel && own.insert(at.first).second) {
      const std::uint32_t buffer = wave.arguments[rows.front().argument].buffer;
      report.unwatched.push_back({.kernel = program.ops[wave.op].name,
                                  .parameter = program.buffers[buffer].name,
                                  .file = program.units[program.ops[wave.op].unit].path});
    }
  }

  monitor.activity = Activity::building;
  const std::vector<std::uint32_t> order = program_order(program);
  const PlainPrograms programs(session, program, order, texts);
  const std::vector<device::Buffer> memory = allocate_apart(session, program);
  fill_apart(session, program, first, memory);
  const DeviceImages images = allocate_images(session, program);
  fill_images(session, program, first, images);
  PlainWaves waves(session, programs, program, order, {storage, memory, images});
  Checker checker(session, program, watch, units);
  require(session.finish(), "filling the buffers");

  monitor.begin(Activity::running);
  const auto deadline = Monitor::Clock::now() + std::chrono::nanoseconds(options.max_wall_time_ns);
  monitor.deadline = deadline;
  const auto run = [&](std::uint32_t wave, std::uint32_t iteration) {
    const WaveInPhase at(wave, static_cast<std::uint32_t>(iteration % storage.size()));
    const bool watched = checker.watches(wave);
    if (watched) {
      checker.prepare(at, waves.kernel(at.first, at.second));
    }
    const bool in_time = waves.run(wave, iteration, deadline, monitor);
    ++report.checked_waves;
    if (watched) {
      report.violation = checker.violation(at, iteration);
    }
    report.complete = report.violation || in_time;
    return !report.violation && report.complete;
  };
  const auto read = [&](std::uint32_t owner, std::span<std::byte> value) {
    download(session, memory[owner], 0, value);
  };
  run_wave_by_wave(program, order, storage, {.run = run, .read = read});
  report.looked_at = checker.looked_at();
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

std::vector<StatedHalo> stated_halos(const Job& program,
                                     const std::vector<std::vector<std::uint32_t>>& storage) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::uint32_t, 3>> by_dependency;
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (dependency.halo) {
      by_dependency[{dependency.before, dependency.after}] = *dependency.halo;
    }
  }
  const std::vector<std::uint32_t> order = program_order(program);
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
  }
  // True if swaps make both arguments the same memory some iterations apart.
  const auto meet_later = [&](const ProgramArgument& x, const ProgramArgument& y) {
    const std::size_t phases = storage.size();
    for (std::size_t distance = 1; distance <= phases && distance < program.iterations; ++distance) {
      for (std::size_t phase = 0; phase < phases; ++phase) {
        if (storage[phase][x.buffer] == storage[(phase + distance) % phases][y.buffer]) {
          return true;
        }
      }
    }
    return false;
  };
  std::vector<StatedHalo> stated;
  for (const std::uint32_t after : order) {
    for (const std::uint32_t before : order) {
      const ProgramWave& a = program.waves[before];
      const ProgramWave& c = program.waves[after];
      auto dependency = by_dependency.find({before, after});
      dependency = dependency != by_dependency.end() ? dependency : by_dependency.find({after, before});
      const bool depends = dependency != by_dependency.end();
      for (std::uint32_t i = 0; a.section == c.section && i < a.arguments.size(); ++i) {
        for (std::uint32_t k = 0; k < c.arguments.size(); ++k) {
          const ProgramArgument& x = a.arguments[i];
          const ProgramArgument& y = c.arguments[k];
          if (x.kind != ProgramArgument::Kind::buffer || y.kind != ProgramArgument::Kind::buffer ||
              (x.access == Access::read && y.access == Access::read)) {
            continue;
          }
          const bool now = x.buffer == y.buffer && rank[before] < rank[after];
          const bool later = a.section == Section::each && meet_later(x, y);
          const auto state = [&](const std::array<std::uint32_t, 3>& halo, bool in_iteration) {
            stated.push_back({.before = before,
                              .before_argument = i,
                              .after = after,
                              .after_argument = k,
                              .halo = halo,
                              .in_iteration = in_iteration});
          };
          const bool by_arguments =
              x.halo && y.halo && a.range == c.range && (x.element_bytes == 0 || y.element_bytes == 0);
          // Under swaps a dependency covers only accesses of the same iteration.
          const bool always = depends && program.swaps.empty();
          if (depends && (now || (always && later))) {
            state(dependency->second, !always);
          }
          if (by_arguments && !always && (later || (now && !depends))) {
            state({(*x.halo)[0] + (*y.halo)[0], (*x.halo)[1] + (*y.halo)[1], (*x.halo)[2] + (*y.halo)[2]},
                  false);
          }
        }
      }
    }
  }
  return stated;
}

} // namespace tidegate::engine
