// Windows: consecutive waves that continue with the same tiles become one wave, in which one work-group runs
// a tile from the first of them to the last.
//
//   a: t[i] = f(x[i])     b: u[i] = g(t[i])     c: y[i] = h(u[i], x[i])
//   the window: t[i] = f(x[i]), u[i] = g(t[i]), y[i] = h(u[i], x[i])
//
// The result is again a program, so planning, schedules, waits and checks do not know about windows. Between
// waves that pass values from work-item to work-item there is a barrier in the tile.
#include "engine/recommend.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <bitset>

namespace tidegate::engine {
namespace {

// The ancestors of each wave are stored; beyond this limit there are no windows.
constexpr std::size_t most_waves = 2048;

constexpr Tiles none{};

struct Finder {
  using Nodes = std::bitset<most_waves>;

  const Job& program;
  const OutlinedOps& ops;
  const SharedLaunch& shared;
  const KernelLimits& limits;
  const std::vector<std::vector<MemoryUse>> uses = uses_by_buffer(program);
  const Conflicts conflicts{program};
  std::vector<std::vector<std::uint32_t>> before{program.waves.size()};
  std::vector<Nodes> ancestors = std::vector<Nodes>(program.waves.size()); // by node: a window's first wave
  std::vector<std::uint32_t> node_of = std::vector<std::uint32_t>(program.waves.size());
  std::vector<std::uint32_t> calls = std::vector<std::uint32_t>(program.ops.size()); // by op
  std::map<std::uint32_t, Window> windows{};

  std::vector<Window> run() {
    for (const ResolvedDependency& dependency : program.dependencies) {
      before[dependency.after].push_back(dependency.before);
    }
    for (const ProgramWave& wave : program.waves) {
      ++calls[wave.op];
    }
    for (const std::uint32_t wave : program_order(program)) {
      node_of[wave] = wave;
      for (const std::uint32_t earlier : before[wave]) {
        ancestors[wave].set(node_of[earlier]);
        ancestors[wave] |= ancestors[node_of[earlier]];
      }
      Window& own = windows[wave];
      own = {.waves = {wave}, .meets = {false}};
      if (!may_join(wave)) {
        continue;
      }
      for (const std::uint32_t node : candidates(wave)) {
        if (join(wave, node)) {
          windows.erase(wave);
          break;
        }
      }
    }
    std::vector<Window> found;
    for (auto& [first, window] : windows) {
      if (window.waves.size() > 1) {
        found.push_back(std::move(window));
      }
    }
    return found;
  }

  [[nodiscard]] bool may_join(std::uint32_t wave) const {
    const ProgramWave& spec = program.waves[wave];
    // If a function with barriers may be called only once, a window with it would exclude other waves.
    const bool one_call = limits.one_call_with_barriers && ops.kernels[spec.op].needs_whole_group;
    return spec.users_kernel && shared.obstacles[wave].empty() && !(one_call && calls[spec.op] > 1) &&
           std::ranges::none_of(spec.arguments, &ProgramArgument::is_object);
  }

  // Returns windows, and waves that may start one, among the wave's dependencies; the latest first.
  [[nodiscard]] std::vector<std::uint32_t> candidates(std::uint32_t wave) const {
    std::vector<std::uint32_t> nodes;
    for (auto earlier = before[wave].rbegin(); earlier != before[wave].rend(); ++earlier) {
      const std::uint32_t node = node_of[*earlier];
      if (may_join(windows.at(node).waves.front()) && std::ranges::find(nodes, node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    return nodes;
  }

  bool join(std::uint32_t wave, std::uint32_t node) {
    Window& window = windows.at(node);
    const ProgramWave& first = program.waves[window.waves.front()];
    const ProgramWave& spec = program.waves[wave];
    if (window.waves.size() == most_waves_per_window || first.section != spec.section ||
        first.range != spec.range || !same_options(first.op, spec.op) || !room_for(window, wave)) {
      return false;
    }
    for (const std::uint32_t earlier : before[wave]) {
      if (node_of[earlier] != node && ancestors[node_of[earlier]].test(node)) {
        return false; // a path leaves the window and returns
      }
    }
    bool meets = false;
    bool met = false; // work-items that have run an earlier wave meet before a later one
    for (std::size_t i = window.waves.size(); i-- > 0;) {
      const auto conflict = conflicts.between(window.waves[i], wave);
      if (conflict && conflict->halo != none) {
        return false;
      }
      meets |=
          !met && ((conflict && !conflict->by_element) || (has_locals(window.waves[i]) && has_locals(wave)));
      met |= window.meets[i];
    }
    // Only whole work-groups can have barriers.
    if (meets && (spec.range.ragged() || spec.range.group_size() != shared.group_size)) {
      return false;
    }
    window.waves.push_back(wave);
    window.meets.push_back(meets);
    node_of[wave] = node;
    Nodes inherited = ancestors[wave];
    inherited.reset(node);
    for (std::size_t other = 0; other < ancestors.size(); ++other) {
      if (other == node || ancestors[other].test(node)) {
        ancestors[other] |= inherited;
      }
    }
    return true;
  }

  [[nodiscard]] bool same_options(std::uint32_t a, std::uint32_t b) const {
    return program.unit(a).parsed_options.others == program.unit(b).parsed_options.others;
  }

  [[nodiscard]] bool has_locals(std::uint32_t wave) const {
    return !ops.kernels[program.waves[wave].op].locals.empty();
  }

  // Local variables of parts share memory; local arguments do not.
  [[nodiscard]] bool room_for(const Window& window, std::uint32_t wave) const {
    std::uint64_t variables = 0;
    std::uint64_t arguments = 0;
    const auto add = [&](std::uint32_t part) {
      variables = std::max(variables, ops.kernels[program.waves[part].op].local_bytes);
      for (const ProgramArgument& argument : program.waves[part].arguments) {
        arguments += argument.local_bytes;
      }
    };
    std::ranges::for_each(window.waves, add);
    add(wave);
    return variables + arguments == 0 || limits.local_bytes == 0 ||
           variables + arguments <= limits.local_bytes;
  }
};

// Returns dependencies between nodes (sets of waves) that preserve all of the program's.
std::vector<ResolvedDependency> dependencies_between(const Job& program,
                                                     const std::vector<std::vector<std::uint32_t>>& nodes) {
  std::vector<std::uint32_t> node_of(program.waves.size());
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const std::uint32_t wave : nodes[node]) {
      node_of[wave] = node;
    }
  }
  const Conflicts conflicts(program);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<ResolvedDependency> dependencies;
  for (const ResolvedDependency& dependency : program.dependencies) {
    const std::uint32_t before = node_of[dependency.before];
    const std::uint32_t after = node_of[dependency.after];
    if (before == after || !seen.emplace(before, after).second) {
      continue;
    }
    ResolvedDependency made{.before = before, .after = after, .halo = dependency.halo};
    if (nodes[before].size() + nodes[after].size() > 2 && !program.derived) {
      Conflict widest;
      for (const std::uint32_t a : nodes[before]) {
        for (const std::uint32_t c : nodes[after]) {
          widest.widen(conflicts.between(a, c).value_or(Conflict{}));
        }
      }
      made.halo = widest.halo;
    }
    dependencies.push_back(made);
  }
  return dependencies;
}

// Returns the memory that two waves of a window share beyond their tiles, or an empty string.
std::string shared_beyond(const Job& program, std::uint32_t first, std::uint32_t second) {
  bool stated = false;
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (dependency.before == first && dependency.after == second) {
      stated = dependency.tile_local();
      if (!stated && !program.derived) {
        return "a dependency that is not tile-local";
      }
    }
  }
  for (const ProgramArgument& x : program.waves[first].arguments) {
    for (const ProgramArgument& y : program.waves[second].arguments) {
      const bool same = x.is_memory() && y.is_of(x.buffer) && (x.writes() || y.writes());
      if (same && !stated && !(x.halo == none && y.halo == none && x.counts_like(y))) {
        return fmt::format("\"{}\"", program.buffers[x.buffer].name);
      }
    }
  }
  return {};
}

} // namespace

std::vector<Window> find_windows(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared,
                                 const KernelLimits& limits) {
  return program.waves.size() > most_waves ? std::vector<Window>()
                                           : Finder{program, ops, shared, limits}.run();
}

std::string window_violation(const Job& program, const Job& fused,
                             const std::vector<std::vector<std::uint32_t>>& parts) {
  constexpr std::size_t nowhere = ~std::size_t{0};
  std::vector<std::size_t> node_of(program.waves.size(), nowhere); // the wave of the fused program
  std::vector<std::size_t> place_of(program.waves.size());         // in its window
  for (std::uint32_t node = 0; node < fused.waves.size(); ++node) {
    if (node >= parts.size() || parts[node].size() != fused.waves[node].joined_waves) {
      return fmt::format("{} stands for other waves", fused.wave_text(node));
    }
    for (std::size_t at = 0; at < parts[node].size(); ++at) {
      const std::uint32_t wave = parts[node][at];
      if (wave >= node_of.size() || node_of[wave] != nowhere) {
        return fmt::format("{} runs a wave that another one runs, too", fused.wave_text(node));
      }
      node_of[wave] = node;
      place_of[wave] = at;
    }
  }
  if (const auto missing = std::ranges::find(node_of, nowhere); missing != node_of.end()) {
    return fmt::format("{} is nowhere",
                       program.wave_text(static_cast<std::uint32_t>(missing - node_of.begin())));
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    const std::size_t before = node_of[dependency.before];
    const std::size_t after = node_of[dependency.after];
    const bool kept = std::ranges::any_of(fused.dependencies, [&](const ResolvedDependency& other) {
      return other.before == before && other.after == after;
    });
    if (before == after ? place_of[dependency.before] >= place_of[dependency.after] : !kept) {
      return fmt::format("{} does not come after {}", program.wave_text(dependency.after),
                         program.wave_text(dependency.before));
    }
  }
  for (std::uint32_t node = 0; node < fused.waves.size(); ++node) {
    const std::vector<std::uint32_t>& window = parts[node];
    for (std::size_t i = 0; i < window.size(); ++i) {
      const ProgramWave& wave = program.waves[window[i]];
      if (wave.range != fused.waves[node].range || wave.section != fused.waves[node].section) {
        return fmt::format("{} has other tiles than its window", program.wave_text(window[i]));
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (auto what = shared_beyond(program, window[j], window[i]); !what.empty()) {
          return fmt::format("{} and {} share {} beyond their tiles", program.wave_text(window[j]),
                             program.wave_text(window[i]), what);
        }
      }
    }
  }
  return {};
}

namespace {

// A wave in a window.
struct Part {
  std::uint32_t op = 0;
  bool meets = false;

  friend auto operator<=>(const Part&, const Part&) = default; // NOLINT: no pointer is meant
};
using Parts = std::vector<Part>; // windows with equal parts share code

struct Fuser {
  const Job& program;
  const OutlinedOps& ops;
  const std::vector<Window>& windows;
  std::map<Parts, std::uint32_t> op_by_parts{};

  FusedProgram run() {
    FusedProgram fused{.program = program, .ops = ops, .parts = {}};
    fused.program.waves.clear();

    std::vector<std::size_t> window_of(program.waves.size(), windows.size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
      for (const std::uint32_t wave : windows[i].waves) {
        window_of[wave] = i;
      }
    }
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      const std::size_t i = window_of[wave];
      if (i == windows.size()) {
        fused.program.waves.push_back(program.waves[wave]);
        fused.program.waves.back().title = program.wave_text(wave);
        fused.parts.push_back({wave});
      } else if (wave == std::ranges::min(windows[i].waves)) {
        fused.program.waves.push_back(fused_wave(windows[i], op_of(parts_of(windows[i]), fused)));
        fused.parts.push_back(windows[i].waves);
      }
    }
    fused.program.dependencies = dependencies_between(program, fused.parts);
    return fused;
  }

  [[nodiscard]] Parts parts_of(const Window& window) const {
    Parts parts;
    for (std::size_t i = 0; i < window.waves.size(); ++i) {
      parts.push_back({.op = program.waves[window.waves[i]].op, .meets = window.meets[i]});
    }
    return parts;
  }

  [[nodiscard]] ProgramWave fused_wave(const Window& window, std::uint32_t op) const {
    ProgramWave wave = program.waves[window.waves.front()];
    wave.name.clear();
    wave.op = op;
    wave.arguments.clear();
    wave.rules = 0;
    wave.joined_waves = static_cast<std::uint32_t>(window.waves.size());
    std::uint64_t scratch = 0; // the largest that is stated
    for (const std::uint32_t part : window.waves) {
      const ProgramWave& spec = program.waves[part];
      wave.rules |= spec.rules;
      wave.title += (wave.title.empty() ? "" : ", ") + program.wave_text(part);
      wave.arguments.insert(wave.arguments.end(), spec.arguments.begin(), spec.arguments.end());
      scratch = std::max(scratch, spec.bytes.scratch_bytes);
    }
    wave.bytes = envelope_of(program.buffers, wave.arguments);
    wave.bytes.scratch_bytes = scratch;
    return wave;
  }

  // Returns the op that runs these parts; a new op gets a unit with the compiler facts of the parts' unit.
  std::uint32_t op_of(const Parts& parts, FusedProgram& fused) {
    const auto [found, is_new] =
        op_by_parts.emplace(parts, static_cast<std::uint32_t>(fused.program.ops.size()));
    if (!is_new) {
      return found->second;
    }
    const ProgramUnit& like = program.unit(parts.front().op);
    ProgramUnit unit{.path = like.path,
                     .files = {},
                     .options = like.options,
                     .parsed_options = like.parsed_options,
                     .unit = {}};
    opencl_c::Function function{.name = fmt::format("tg_window{}", op_by_parts.size() - 1),
                                .is_kernel = true};
    ProgramOp op{.name = {}, .unit = static_cast<std::uint32_t>(fused.program.units.size())};
    opencl_c::OutlinedKernel kernel{.function = function.name};
    for (const Part& part : parts) {
      const opencl_c::OutlinedKernel& own = fused.ops.kernels[part.op];
      op.name += (op.name.empty() ? "" : ", ") + program.ops[part.op].name;
      kernel.rounds |= own.rounds;
      kernel.loop_depth = std::max(kernel.loop_depth, own.loop_depth);
      kernel.accesses += own.accesses;
      kernel.needs_whole_group |= own.needs_whole_group || part.meets;
      kernel.local_bytes = std::max(kernel.local_bytes, own.local_bytes);
      kernel.packs &= own.packs;
      if (!own.locals.empty()) {
        kernel.locals = "tg_locals_" + function.name;
      }
    }
    fused.ops.texts.push_back(text_of(parts, kernel, function));
    fused.ops.order.push_back(static_cast<std::uint32_t>(fused.ops.texts.size() - 1));
    fused.ops.kernels.push_back(std::move(kernel));
    fused.ops.alone.emplace_back();
    fused.ops.renamed.emplace_back();
    unit.unit.functions.push_back(std::move(function));
    fused.program.units.push_back(std::move(unit));
    fused.program.ops.push_back(std::move(op));
    return found->second;
  }

  // Generates the function of a window; its parameters are those of its parts in order.
  std::string text_of(const Parts& parts, const opencl_c::OutlinedKernel& kernel,
                      opencl_c::Function& function) const {
    std::string unions;
    std::string parameters;
    std::string calls;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      calls += part.meets ? "  tg_barrier(tg_self, CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n" : "";
      const opencl_c::OutlinedKernel& called = ops.kernels[part.op];
      calls += fmt::format("  {}(tg_self", called.function);
      const auto& own = program.function(part.op).parameters;
      for (std::size_t i = 0; i < own.size(); ++i) {
        opencl_c::Parameter parameter = own[i];
        parameter.type = ops.type_text(program.ops[part.op].unit, parameter.type);
        calls += fmt::format(", tg_{}_{}", p, i);
        parameters += fmt::format(",\n    {} tg_{}_{}", parameter_text(parameter), p, i);
        function.parameters.push_back(std::move(parameter));
      }
      if (!called.locals.empty()) {
        unions += fmt::format("  {} of_{};\n", called.locals, p);
        calls += fmt::format(", &tg_locals->of_{}", p);
      }
      calls += ");\n";
    }
    std::string text = "\n#line 1 \"tidegate/windows.cl\"\n";
    if (!kernel.locals.empty()) {
      text += fmt::format("typedef union {{\n{}}} {};\n", unions, kernel.locals);
    }
    text += fmt::format("// A tile from the first wave to the last.\n"
                        "__attribute__((always_inline)) static void {}(tg_item tg_self{}{}) {{\n",
                        function.name, parameters,
                        kernel.locals.empty() ? "" : fmt::format(", local {}* tg_locals", kernel.locals));
    return text + calls + "}\n";
  }

  static std::string parameter_text(const opencl_c::Parameter& parameter) {
    return parameter.space == opencl_c::AddressSpace::local ? "local void*"
           : parameter.is_pointer                           ? "global void*"
                                                            : parameter.type;
  }
};

} // namespace

FusedProgram fuse(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows) {
  return Fuser{program, ops, windows}.run();
}

} // namespace tidegate::engine
