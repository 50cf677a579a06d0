// Properties that a job alone decides: uses of memory, dependencies between waves, orders, names in sentences.
#include "engine/job.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::engine {

std::vector<MemoryUse> uses_of(std::span<const ProgramArgument> arguments) {
  std::map<std::uint32_t, MemoryUse> uses;
  for (const ProgramArgument& argument : arguments) {
    if (argument.is_memory()) {
      MemoryUse& use = uses.try_emplace(argument.buffer, MemoryUse{.buffer = argument.buffer}).first->second;
      use.reads |= argument.access != Access::write;
      use.writes |= argument.writes();
      use.stated &= argument.access_stated;
      use.overwrites &= argument.overwrites;
    }
  }
  std::vector<MemoryUse> in_order;
  for (const auto& [buffer, use] : uses) {
    in_order.push_back(use);
  }
  return in_order;
}

std::vector<std::vector<MemoryUse>> uses_by_buffer(const Job& program) {
  std::vector<std::vector<MemoryUse>> uses(program.buffers.size());
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    for (MemoryUse use : uses_of(program.waves[wave].arguments)) {
      use.wave = wave;
      uses[use.buffer].push_back(use);
    }
  }
  return uses;
}

void Conflict::widen(const Conflict& other) {
  by_element &= other.by_element;
  if (!halo || !other.halo) {
    halo.reset();
    return;
  }
  std::ranges::transform(*halo, *other.halo, halo->begin(),
                         [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

Conflicts::Conflicts(const Job& program) : program_(program) {
  for (const ResolvedDependency& dependency : program.dependencies) {
    listed_[{dependency.before, dependency.after}] = &dependency;
  }
}

// Returns true if no two work-items share an element.
static bool by_id(const ProgramArgument& argument, const NdRange& range) {
  bool all = argument.halo == Tiles{} && argument.id_bytes != std::array<std::uint64_t, 3>{};
  for (std::size_t d = 0; d < range.dimensions; ++d) {
    all = all && (argument.id_bytes[d] != 0 || range.global[d] == 1);
  }
  return all;
}

std::optional<Conflict> Conflicts::between(std::uint32_t first, std::uint32_t second, std::uint32_t distance,
                                           const SharingOf& sharing) const {
  const ProgramWave& a = program_.waves[first];
  const ProgramWave& c = program_.waves[second];
  // A stated dependency also holds for other iterations, unless buffers are swapped.
  std::optional<Tiles> stated;
  const auto listed = listed_.find({first, second});
  for (const auto& found : {listed, distance == 0 ? listed_.end() : listed_.find({second, first})}) {
    if (found != listed_.end() && found->second->halo && (distance == 0 || program_.swaps.empty())) {
      stated = found->second->halo;
    }
  }
  std::optional<Conflict> conflict;
  const auto add = [&conflict](const Conflict& found) {
    conflict ? conflict->widen(found) : void(conflict = found);
  };
  for (const ProgramArgument& x : a.arguments) {
    for (const ProgramArgument& y : c.arguments) {
      if (!x.is_memory() || !y.is_memory() || (!x.writes() && !y.writes())) {
        continue;
      }
      const Sharing shared = sharing                ? sharing(x.buffer, y.buffer)
                             : x.buffer == y.buffer ? Sharing::all
                                                    : Sharing::nothing;
      const bool known = shared == Sharing::all && x.halo && y.halo && x.counts_like(y) && a.range == c.range;
      Conflict found{.halo = shared == Sharing::all ? stated : std::nullopt,
                     .by_element = known && by_id(x, a.range) && by_id(y, c.range)};
      if (!found.halo && known) {
        found.halo =
            Tiles{(*x.halo)[0] + (*y.halo)[0], (*x.halo)[1] + (*y.halo)[1], (*x.halo)[2] + (*y.halo)[2]};
      }
      if (shared != Sharing::nothing) {
        add(found);
      }
    }
  }
  // A listed dependency may be for memory that no argument shows.
  if (distance == 0 && listed != listed_.end() && !program_.derived && (!stated || !conflict)) {
    add({.halo = stated, .by_element = false});
  }
  return conflict;
}

planning::Wave envelope_of(std::span<const ProgramBuffer> buffers,
                           std::span<const ProgramArgument> arguments) {
  planning::Wave bytes;
  for (const MemoryUse& use : uses_of(arguments)) {
    (use.writes ? bytes.output_bytes : bytes.frontier_bytes) += buffers[use.buffer].bytes;
  }
  return bytes;
}

std::vector<std::uint32_t> section_order(const std::vector<ProgramWave>& waves) {
  std::vector<std::uint32_t> order(waves.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&waves](std::uint32_t wave) {
    return std::tuple(waves[wave].section, waves[wave].prepares.value_or(wave), !waves[wave].prepares);
  });
  return order;
}

std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count) {
  struct History {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers; // since the last write
  };
  std::vector<History> histories(buffer_count);
  std::vector<ResolvedDependency> dependencies;
  for (const std::uint32_t wave : section_order(waves)) {
    std::map<std::uint32_t, bool> before; // whether it contributes
    for (const MemoryUse& use : uses_of(waves[wave].arguments)) {
      History& history = histories[use.buffer];
      if (history.writer) {
        before[*history.writer] = true;
      }
      if (!use.writes) {
        history.readers.push_back(wave);
        continue;
      }
      for (const std::uint32_t reader : history.readers) {
        before.emplace(reader, false);
      }
      history = {.writer = wave, .readers = {}};
    }
    before.erase(wave);
    for (const auto& [earlier, contributes] : before) {
      dependencies.push_back({.before = earlier, .after = wave, .contributes = contributes});
    }
  }
  return dependencies;
}

std::vector<std::uint32_t> program_order(const Job& program, std::span<const std::uint64_t> ranks) {
  std::vector<std::vector<std::uint32_t>> after(program.waves.size());
  std::vector<std::uint32_t> waits(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    after[dependency.before].push_back(dependency.after);
    ++waits[dependency.after];
  }
  // No wave waits for a later section, so while waves of a section remain, one of them is ready.
  using Rank = std::tuple<Section, std::uint64_t, std::uint32_t>;
  const auto rank_of = [&](std::uint32_t wave) {
    return Rank(program.waves[wave].section, ranks.empty() ? 0 : ranks[wave], wave);
  };
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> ready;
  std::vector<std::uint32_t> order;
  for (std::uint32_t wave = 0; wave < waits.size(); ++wave) {
    if (waits[wave] == 0) {
      ready.push(rank_of(wave));
    }
  }
  while (!ready.empty()) {
    const std::uint32_t wave = std::get<std::uint32_t>(ready.top());
    ready.pop();
    order.push_back(wave);
    for (const std::uint32_t next : after[wave]) {
      if (--waits[next] == 0) {
        ready.push(rank_of(next));
      }
    }
  }
  return order;
}

// Each last wave of a section precedes each first wave of the next.
static void add_section_order(const Job& program, planning::WaveDag& dag) {
  std::vector<bool> has_before(program.waves.size());
  std::vector<bool> has_after(program.waves.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const ResolvedDependency& dependency : program.dependencies) {
    known.emplace(dependency.before, dependency.after);
    if (program.waves[dependency.before].section == program.waves[dependency.after].section) {
      has_after[dependency.before] = true;
      has_before[dependency.after] = true;
    }
  }
  for (std::uint32_t before = 0; before < program.waves.size(); ++before) {
    const auto next = static_cast<Section>(static_cast<unsigned>(program.waves[before].section) + 1);
    for (std::uint32_t after = 0; !has_after[before] && after < program.waves.size(); ++after) {
      if (program.waves[after].section == next && !has_before[after] && !known.contains({before, after})) {
        dag.dependencies.push_back({.before = before, .after = after});
      }
    }
  }
}

planning::WaveDag wave_dag(const Job& program, std::uint64_t budget_bytes) {
  planning::WaveDag dag;
  std::uint64_t all_buffers = 0;
  bool overflow = false;
  for (const ProgramBuffer& buffer : program.buffers) {
    overflow |= __builtin_add_overflow(all_buffers, buffer.bytes, &all_buffers);
  }
  const bool binds = budget_bytes != 0 && (overflow || all_buffers > budget_bytes);
  dag.budget_bytes = binds ? budget_bytes : std::numeric_limits<std::uint64_t>::max();
  for (const ProgramWave& wave : program.waves) {
    dag.waves.push_back(wave.bytes);
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    dag.dependencies.push_back({.before = dependency.before, .after = dependency.after});
  }
  if (std::ranges::any_of(program.waves,
                          [](const ProgramWave& wave) { return wave.section != Section::each; })) {
    add_section_order(program, dag);
  }
  return dag;
}

std::string Job::wave_text(std::uint32_t wave) const {
  const ProgramWave& what = waves[wave];
  return !what.title.empty()    ? what.title
         : !what.name.empty()   ? in_quotes(what.name)
         : what.op < ops.size() ? fmt::format("wave {} ({})", wave, shortened(ops[what.op].name))
                                : fmt::format("wave {}", wave);
}

std::string Job::wave_pointer(std::uint64_t wave) const {
  return fmt::format("/waves/{}", waves[wave].place.value_or(static_cast<std::uint32_t>(wave)));
}

Result<void> keep_inputs(const Job& job, FileUses files) {
  files.inputs.insert(files.inputs.end(), job.files.inputs.begin(), job.files.inputs.end());
  files.outputs.insert(files.outputs.end(), job.files.outputs.begin(), job.files.outputs.end());
  return refuse_overwriting(files);
}

namespace {

// The formula itself is the kernels' own source.
namespace on_device_too {
using uint = std::uint32_t;
using ulong = std::uint64_t;
using std::fma;
float as_float(uint bits) {
  return std::bit_cast<float>(bits);
}
double as_double(ulong bits) {
  return std::bit_cast<double>(bits);
}
#define global
#define TG_DOUBLE_PROGRESSIONS
#include "wave/progression.cl"
#undef TG_DOUBLE_PROGRESSIONS
#undef global
} // namespace on_device_too

} // namespace

Progression constant_progression(ElementType type, std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), element_bytes(type));
  const auto unused = static_cast<unsigned>(64 - 8 * element_bytes(type));
  return {.type = type,
          .first = is_signed_integer(type)
                       ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused)
                       : bits};
}

std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration) {
  const auto words = descriptor_words(progression);
  const std::uint64_t bits =
      progression.type == ElementType::f32
          ? std::bit_cast<std::uint32_t>(on_device_too::tg_progression_float(words.data(), iteration))
      : progression.type == ElementType::f64
          ? std::bit_cast<std::uint64_t>(on_device_too::tg_progression_double(words.data(), iteration))
          : on_device_too::tg_progression(words.data(), iteration);
  std::vector<std::byte> value(element_bytes(progression.type));
  std::memcpy(value.data(), &bits, value.size());
  return value;
}

std::vector<std::byte> value_in(std::vector<std::byte> value, std::span<const Change> changes,
                                std::uint32_t iteration) {
  for (const Change& change : changes) {
    std::ranges::copy(value_in(change.progression, iteration),
                      value.begin() + static_cast<std::ptrdiff_t>(change.offset));
  }
  return value;
}

std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression) {
  return {progression.first, progression.by, static_cast<std::uint64_t>(progression.form)};
}

} // namespace tidegate::engine
