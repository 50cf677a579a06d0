// Windows: consecutive waves that continue with the same tiles become one wave, in which one work-group runs
// a tile from the first of them to the last.
//
//   a: t[i] = f(x[i])     b: u[i] = g(t[i])     c: y[i] = h(u[i], x[i])
//   the window: y[i] = h(g(f(x[i])), x[i])      t and u stay in registers without memory
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

class Finder {
public:
  Finder(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared, const KernelLimits& limits)
      : program_(program), ops_(ops), shared_(shared), limits_(limits), uses_(uses_by_buffer(program)),
        conflicts_(program), before_(program.waves.size()), ancestors_(program.waves.size()),
        node_of_(program.waves.size()), calls_(program.ops.size()) {
    for (const ResolvedDependency& dependency : program.dependencies) {
      before_[dependency.after].push_back(dependency.before);
    }
    for (const ProgramWave& wave : program.waves) {
      ++calls_[wave.op];
    }
  }

  std::vector<Window> run() {
    for (const std::uint32_t wave : program_order(program_)) {
      node_of_[wave] = wave;
      for (const std::uint32_t earlier : before_[wave]) {
        ancestors_[wave].set(node_of_[earlier]);
        ancestors_[wave] |= ancestors_[node_of_[earlier]];
      }
      Window& own = windows_[wave];
      own = {.waves = {wave}, .meets = {false}, .registers = {}};
      if (!may_join(wave)) {
        continue;
      }
      for (const std::uint32_t node : candidates(wave)) {
        if (join(wave, node)) {
          windows_.erase(wave);
          break;
        }
      }
    }
    std::vector<Window> found;
    for (auto& [first, window] : windows_) {
      if (window.waves.size() > 1) {
        for (std::uint32_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
          if (stays_in_registers(window, buffer)) {
            window.registers.push_back(buffer);
          }
        }
        found.push_back(std::move(window));
      }
    }
    return found;
  }

private:
  using Nodes = std::bitset<most_waves>;

  [[nodiscard]] bool may_join(std::uint32_t wave) const {
    const ProgramWave& spec = program_.waves[wave];
    // If a function with barriers may be called only once, a window with it would exclude other waves.
    const bool one_call = limits_.one_call_with_barriers && ops_.kernels[spec.op].needs_whole_group;
    return spec.users_kernel && shared_.obstacles[wave].empty() && !ops_.kernels[spec.op].idles &&
           !(one_call && calls_[spec.op] > 1) &&
           std::ranges::none_of(spec.arguments, &ProgramArgument::is_object);
  }

  // Returns windows, and waves that may start one, among the wave's dependencies; the latest first.
  [[nodiscard]] std::vector<std::uint32_t> candidates(std::uint32_t wave) const {
    std::vector<std::uint32_t> nodes;
    for (auto earlier = before_[wave].rbegin(); earlier != before_[wave].rend(); ++earlier) {
      const std::uint32_t node = node_of_[*earlier];
      if (may_join(windows_.at(node).waves.front()) && std::ranges::find(nodes, node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    return nodes;
  }

  bool join(std::uint32_t wave, std::uint32_t node) {
    Window& window = windows_.at(node);
    const ProgramWave& first = program_.waves[window.waves.front()];
    const ProgramWave& spec = program_.waves[wave];
    if (window.waves.size() == most_waves_per_window || first.section != spec.section ||
        first.range != spec.range || !same_options(first.op, spec.op) || !room_for(window, wave)) {
      return false;
    }
    for (const std::uint32_t earlier : before_[wave]) {
      if (node_of_[earlier] != node && ancestors_[node_of_[earlier]].test(node)) {
        return false; // a path leaves the window and returns
      }
    }
    bool meets = false;
    for (std::size_t i = 0; i < window.waves.size(); ++i) {
      const auto conflict = conflicts_.between(window.waves[i], wave);
      if (conflict && conflict->halo != none) {
        return false;
      }
      meets |= i >= last_meeting(window) && conflict && !conflict->by_element;
      meets |= i >= last_meeting(window) && has_locals(window.waves[i]) && has_locals(wave);
    }
    // Only whole work-groups can have barriers.
    if (meets && (spec.range.ragged() || spec.range.group_size() != shared_.group_size)) {
      return false;
    }
    window.waves.push_back(wave);
    window.meets.push_back(meets);
    node_of_[wave] = node;
    Nodes inherited = ancestors_[wave];
    inherited.reset(node);
    for (std::size_t other = 0; other < ancestors_.size(); ++other) {
      if (other == node || ancestors_[other].test(node)) {
        ancestors_[other] |= inherited;
      }
    }
    return true;
  }

  static std::size_t last_meeting(const Window& window) {
    std::size_t last = window.meets.size();
    while (last != 0 && !window.meets[--last]) {
    }
    return last;
  }

  [[nodiscard]] bool same_options(std::uint32_t a, std::uint32_t b) const {
    return program_.unit(a).parsed_options.others == program_.unit(b).parsed_options.others;
  }

  [[nodiscard]] bool has_locals(std::uint32_t wave) const {
    return !ops_.kernels[program_.waves[wave].op].locals.empty();
  }

  // Local variables of parts share memory; local arguments do not.
  [[nodiscard]] bool room_for(const Window& window, std::uint32_t wave) const {
    std::uint64_t variables = 0;
    std::uint64_t arguments = 0;
    const auto add = [&](std::uint32_t part) {
      variables = std::max(variables, ops_.kernels[program_.waves[part].op].local_bytes);
      for (const ProgramArgument& argument : program_.waves[part].arguments) {
        arguments += argument.local_bytes;
      }
    };
    std::ranges::for_each(window.waves, add);
    add(wave);
    return variables + arguments == 0 || limits_.local_bytes == 0 ||
           variables + arguments <= limits_.local_bytes;
  }

  [[nodiscard]] bool stays_in_registers(const Window& window, std::uint32_t buffer) const {
    const std::vector<MemoryUse>& uses = uses_[buffer];
    const std::uint32_t node = node_of_[window.waves.front()];
    if (!program_.buffers[buffer].transient() || (program_.until && program_.until->buffer == buffer) ||
        uses.empty() ||
        !std::ranges::all_of(uses, [&](const MemoryUse& use) { return node_of_[use.wave] == node; })) {
      return false;
    }
    bool first = true;
    std::string type;
    for (const std::uint32_t wave : window.waves) {
      const ProgramWave& spec = program_.waves[wave];
      const opencl_c::TranslationUnit& unit = program_.unit(spec.op).unit;
      const opencl_c::Function& kernel = program_.function(spec.op);
      std::size_t arguments = 0;
      for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        if (!argument.is_of(buffer)) {
          continue;
        }
        const opencl_c::Parameter& parameter = kernel.parameters[i];
        if (argument.halo != none || !argument.own || !opencl_c::may_be_register(unit, parameter) ||
            (!type.empty() && type != parameter.type)) {
          return false;
        }
        type = parameter.type;
        // An iteration may read what the previous one left.
        const bool repeats = spec.section == Section::each && program_.iterations > 1;
        if (first && (++arguments > 1 || (repeats && !argument.assigned_first))) {
          return false;
        }
      }
      first &= arguments == 0;
    }
    return true;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  const SharedLaunch& shared_;
  const KernelLimits& limits_;
  const std::vector<std::vector<MemoryUse>> uses_; // by buffer
  const Conflicts conflicts_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<Nodes> ancestors_; // by node; a window's node is its first wave
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> calls_; // by op
  std::map<std::uint32_t, Window> windows_;
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
                                           : Finder(program, ops, shared, limits).run();
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
  for (std::uint32_t buffer = 0; buffer < fused.buffers.size(); ++buffer) {
    const ProgramBuffer& spec = program.buffers[buffer];
    if (!fused.buffers[buffer].in_registers) {
      continue;
    }
    bool sound = spec.transient() && spec.in_arena() && !(program.until && program.until->buffer == buffer);
    std::set<std::size_t> nodes; // that use it
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      for (const ProgramArgument& argument : program.waves[wave].arguments) {
        if (argument.is_of(buffer)) {
          sound &= argument.halo == none && argument.own && parts[node_of[wave]].size() > 1;
          nodes.insert(node_of[wave]);
        }
      }
    }
    sound &= nodes.size() <= 1;
    for (const ProgramWave& wave : fused.waves) {
      for (const ProgramArgument& argument : wave.arguments) {
        sound &= !argument.is_of(buffer);
      }
    }
    if (!sound) {
      return fmt::format("\"{}\" is in registers and needed elsewhere", spec.name);
    }
  }
  return {};
}

namespace {

// A wave in a window.
struct Part {
  std::uint32_t op = 0;
  bool meets = false;
  std::map<std::size_t, std::size_t>
      registers;        // by parameter that points to one: index of the register in the window
  std::string function; // the op's, or a copy of it with these registers

  friend auto operator<=>(const Part&, const Part&) = default; // NOLINT: no pointer is meant
};
using Parts = std::vector<Part>; // windows with equal parts share code

class Fuser {
public:
  Fuser(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows)
      : program_(program), ops_(ops), windows_(windows) {}

  Result<FusedProgram> run() {
    std::vector<Parts> parts;
    for (const Window& window : windows_) {
      parts.push_back(parts_of(window));
    }
    FusedProgram fused{.program = program_, .ops = ops_, .parts = {}};
    if (!copies_.empty()) {
      std::set<std::uint32_t> idling;
      for (std::uint32_t op = 0; op < ops_.kernels.size(); ++op) {
        if (ops_.kernels[op].idles) {
          idling.insert(op);
        }
      }
      TIDEGATE_TRY(fused.ops, outline_ops(program_, copies_, idling));
    }
    fused.program.waves.clear();

    std::map<std::uint32_t, std::size_t> window_of; // by its first wave
    std::set<std::uint32_t> others;                 // other waves of windows
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const auto& waves = windows_[i].waves;
      window_of[*std::ranges::min_element(waves)] = i;
      others.insert(waves.begin(), waves.end());
      for (const std::uint32_t buffer : windows_[i].registers) {
        fused.program.buffers[buffer].in_registers = true;
      }
    }
    for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
      if (const auto found = window_of.find(wave); found != window_of.end()) {
        const Window& window = windows_[found->second];
        fused.program.waves.push_back(fused_wave(window, op_of(parts[found->second], fused)));
        fused.parts.push_back(window.waves);
      } else if (!others.contains(wave)) {
        fused.program.waves.push_back(program_.waves[wave]);
        fused.program.waves.back().title = program_.wave_text(wave);
        fused.parts.push_back({wave});
      }
    }
    fused.program.dependencies = dependencies_between(program_, fused.parts);
    return fused;
  }

private:
  Parts parts_of(const Window& window) {
    Parts parts;
    for (std::size_t i = 0; i < window.waves.size(); ++i) {
      const ProgramWave& wave = program_.waves[window.waves[i]];
      Part part{.op = wave.op, .meets = window.meets[i], .registers = {}, .function = {}};
      std::set<std::size_t> parameters;
      for (std::size_t a = 0; a < wave.arguments.size(); ++a) {
        if (const auto kept = register_of(window, wave.arguments[a])) {
          part.registers[a] = *kept;
          parameters.insert(a);
        }
      }
      part.function = function_of(wave.op, parameters);
      parts.push_back(std::move(part));
    }
    return parts;
  }

  static std::optional<std::size_t> register_of(const Window& window, const ProgramArgument& argument) {
    const auto found = std::ranges::find(window.registers, argument.buffer);
    return argument.kind == ProgramArgument::Kind::buffer && found != window.registers.end()
               ? std::optional(static_cast<std::size_t>(found - window.registers.begin()))
               : std::nullopt;
  }

  // Copies a kernel once for each set of register parameters.
  std::string function_of(std::uint32_t op, const std::set<std::size_t>& registers) {
    const std::uint32_t unit = program_.ops[op].unit;
    const std::string& kernel = program_.function(op).name;
    if (registers.empty()) {
      return ops_.kernels[op].function;
    }
    std::string& name = copy_names_[{unit, kernel, registers}];
    if (name.empty()) {
      name = fmt::format("tg_registers{}_{}", copy_names_.size() - 1, ops_.kernels[op].function);
      copies_[unit].push_back({.kernel = kernel, .parameters = registers, .function = name});
    }
    return name;
  }

  [[nodiscard]] ProgramWave fused_wave(const Window& window, std::uint32_t op) const {
    ProgramWave wave = program_.waves[window.waves.front()];
    wave.name.clear();
    wave.op = op;
    wave.arguments.clear();
    wave.rules = 0;
    wave.joined_waves = static_cast<std::uint32_t>(window.waves.size());
    std::uint64_t scratch = 0; // the largest that is stated
    for (const std::uint32_t part : window.waves) {
      const ProgramWave& spec = program_.waves[part];
      wave.rules |= spec.rules;
      wave.title += (wave.title.empty() ? "" : ", ") + program_.wave_text(part);
      std::ranges::copy_if(spec.arguments, std::back_inserter(wave.arguments),
                           [&](const ProgramArgument& argument) { return !register_of(window, argument); });
      scratch = std::max(scratch, spec.bytes.scratch_bytes);
    }
    wave.bytes = envelope_of(program_.buffers, wave.arguments);
    wave.bytes.scratch_bytes = scratch;
    return wave;
  }

  // Returns the op that runs these parts; a new op gets a unit with the compiler facts of the parts' unit.
  std::uint32_t op_of(const Parts& parts, FusedProgram& fused) {
    const auto [found, is_new] =
        op_by_parts_.emplace(parts, static_cast<std::uint32_t>(fused.program.ops.size()));
    if (!is_new) {
      return found->second;
    }
    const ProgramUnit& like = program_.unit(parts.front().op);
    ProgramUnit unit{.path = like.path,
                     .files = {},
                     .options = like.options,
                     .parsed_options = like.parsed_options,
                     .unit = {}};
    opencl_c::Function function{.name = fmt::format("tg_window{}", op_by_parts_.size() - 1),
                                .is_kernel = true};
    ProgramOp op{.name = {}, .unit = static_cast<std::uint32_t>(fused.program.units.size())};
    opencl_c::OutlinedKernel kernel{.function = function.name};
    for (const Part& part : parts) {
      const opencl_c::OutlinedKernel& own = fused.ops.kernels[part.op];
      op.name += (op.name.empty() ? "" : ", ") + program_.ops[part.op].name;
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
    std::map<std::size_t, std::string> registers;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      calls += part.meets ? "  tg_barrier(tg_self, CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n" : "";
      calls += fmt::format("  {}(tg_self", part.function);
      const auto& own = program_.function(part.op).parameters;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (const auto kept = part.registers.find(i); kept != part.registers.end()) {
          registers[kept->second] = own[i].type;
          calls += fmt::format(", &tg_register{}", kept->second);
          continue;
        }
        opencl_c::Parameter parameter = own[i];
        parameter.type = ops_.type_text(program_.ops[part.op].unit, parameter.type);
        calls += fmt::format(", tg_{}_{}", p, i);
        parameters += fmt::format(",\n    {} tg_{}_{}", parameter_text(parameter), p, i);
        function.parameters.push_back(std::move(parameter));
      }
      if (!ops_.kernels[part.op].locals.empty()) {
        unions += fmt::format("  tg_locals_{} of_{};\n", part.function, p);
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
    for (const auto& [number, type] : registers) {
      text += fmt::format("  {0} tg_register{1} = ({0})(0);\n", type, number);
    }
    return text + calls + "}\n";
  }

  static std::string parameter_text(const opencl_c::Parameter& parameter) {
    return parameter.space == opencl_c::AddressSpace::local ? "local void*"
           : parameter.is_pointer                           ? "global void*"
                                                            : parameter.type;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  const std::vector<Window>& windows_;
  RegisterCopies copies_;
  std::map<std::tuple<std::uint32_t, std::string, std::set<std::size_t>>, std::string> copy_names_;
  std::map<Parts, std::uint32_t> op_by_parts_;
};

} // namespace

Result<FusedProgram> fuse(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows) {
  return Fuser(program, ops, windows).run();
}

} // namespace tidegate::engine
