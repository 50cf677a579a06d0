#include "engine/window.hpp"

#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tidegate::engine {
namespace {

// The ancestors of each wave are stored; beyond this limit there are no windows.
constexpr std::size_t most_waves = 2048;

using Tiles = std::array<std::uint32_t, 3>;
constexpr Tiles none{};

// Conflict of two waves of one iteration: accesses to the same memory, one of them writing.
struct Meeting {
  bool any = false;
  std::optional<Tiles> halo = none; // tile t conflicts with tiles t - halo … t + halo; empty: any
  bool by_element = true;           // a work-item conflicts only with the one that has its number
};

void widen(Meeting& meeting, const std::optional<Tiles>& halo, bool by_element) {
  meeting.any = true;
  meeting.by_element &= by_element;
  if (!meeting.halo || !halo) {
    meeting.halo.reset();
    return;
  }
  for (std::size_t i = 0; i < halo->size(); ++i) {
    (*meeting.halo)[i] = std::max((*meeting.halo)[i], (*halo)[i]);
  }
}

class Meetings {
public:
  explicit Meetings(const Job& program) : program_(program) {
    for (const ResolvedDependency& dependency : program.dependencies) {
      dependencies_[{dependency.before, dependency.after}] = &dependency;
    }
  }

  // Returns the conflict of `before` with the later `after`.
  [[nodiscard]] Meeting between(std::uint32_t before, std::uint32_t after) const {
    const ProgramWave& a = program_.waves[before];
    const ProgramWave& c = program_.waves[after];
    const auto found = dependencies_.find({before, after});
    const std::optional<Tiles> stated = found == dependencies_.end() ? std::nullopt : found->second->halo;
    Meeting meeting;
    for (const ProgramArgument& x : a.arguments) {
      for (const ProgramArgument& y : c.arguments) {
        if (!x.is_memory() || !y.is_memory() || x.buffer != y.buffer ||
            (x.access == Access::read && y.access == Access::read)) {
          continue;
        }
        std::optional<Tiles> halo = stated;
        const bool known = x.halo && y.halo && x.counts_like(y) && a.range == c.range;
        if (!halo && known) {
          halo = Tiles{(*x.halo)[0] + (*y.halo)[0], (*x.halo)[1] + (*y.halo)[1], (*x.halo)[2] + (*y.halo)[2]};
        }
        const bool by_element = known && *x.halo == none && *y.halo == none && by_id(x, a) && by_id(y, c);
        widen(meeting, halo, by_element);
      }
    }
    // A listed dependency may be for memory that no argument shows.
    if (found != dependencies_.end() && !program_.derived && (!stated || !meeting.any)) {
      widen(meeting, stated, false);
    }
    return meeting;
  }

private:
  // True if no two work-items share an element.
  static bool by_id(const ProgramArgument& argument, const ProgramWave& wave) {
    bool all = true;
    for (std::size_t d = 0; d < wave.range.dimensions; ++d) {
      all = all && (argument.id_bytes[d] != 0 || wave.range.global[d] == 1);
    }
    return all && argument.id_bytes != std::array<std::uint64_t, 3>{};
  }

  const Job& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const ResolvedDependency*> dependencies_;
};

class Finder {
public:
  Finder(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared, const KernelLimits& limits)
      : program_(program), ops_(ops), shared_(shared), limits_(limits), meetings_(program),
        before_(program.waves.size()), ancestors_(program.waves.size()), node_of_(program.waves.size()),
        calls_(program.ops.size()) {
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
        window.registers = registers(window);
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
      const Meeting meeting = meetings_.between(window.waves[i], wave);
      if (meeting.any && meeting.halo != none) {
        return false;
      }
      meets |= i >= last_meeting(window) && meeting.any && !meeting.by_element;
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
    return program_.units[program_.ops[a].unit].parsed_options.others ==
           program_.units[program_.ops[b].unit].parsed_options.others;
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

  [[nodiscard]] std::vector<std::uint32_t> registers(const Window& window) const {
    std::set<std::uint32_t> touched;
    for (const std::uint32_t wave : window.waves) {
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        if (argument.kind == ProgramArgument::Kind::buffer) {
          touched.insert(argument.buffer);
        }
      }
    }
    std::vector<std::uint32_t> found;
    std::ranges::copy_if(touched, std::back_inserter(found),
                         [&](std::uint32_t buffer) { return stays_in_registers(window, buffer); });
    return found;
  }

  [[nodiscard]] bool stays_in_registers(const Window& window, std::uint32_t buffer) const {
    if (!program_.buffers[buffer].transient() || (program_.until && program_.until->buffer == buffer)) {
      return false;
    }
    for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
      const bool inside = std::ranges::find(window.waves, wave) != window.waves.end();
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        if (!inside && argument.is_memory() && argument.buffer == buffer) {
          return false;
        }
      }
    }
    bool first = true;
    std::string type;
    for (const std::uint32_t wave : window.waves) {
      const ProgramWave& spec = program_.waves[wave];
      const opencl_c::TranslationUnit& unit = program_.units[program_.ops[spec.op].unit].unit;
      const opencl_c::Function& kernel = program_.function(spec.op);
      std::size_t uses = 0;
      for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        if (!argument.is_memory() || argument.buffer != buffer) {
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
        if (first && (++uses > 1 || (repeats && !argument.assigned_first))) {
          return false;
        }
      }
      first &= uses == 0;
    }
    return true;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  const SharedLaunch& shared_;
  const KernelLimits& limits_;
  const Meetings meetings_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<Nodes> ancestors_; // by node; a window's node is its first wave
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> calls_; // by op
  std::map<std::uint32_t, Window> windows_;
};

// Returns the conflict between any wave of one node and any wave of another.
Meeting between_nodes(const Meetings& meetings, const std::vector<std::uint32_t>& before,
                      const std::vector<std::uint32_t>& after) {
  Meeting all;
  for (const std::uint32_t a : before) {
    for (const std::uint32_t c : after) {
      const Meeting found = meetings.between(a, c);
      if (found.any) {
        widen(all, found.halo, false);
      }
    }
  }
  return all;
}

} // namespace

std::vector<Window> find_windows(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared,
                                 const KernelLimits& limits) {
  return program.waves.size() > most_waves ? std::vector<Window>()
                                           : Finder(program, ops, shared, limits).run();
}

std::uint64_t count_pairs(const Job& program, const std::vector<Window>& windows) {
  std::uint64_t pairs = 0;
  for (const Window& window : windows) {
    const bool repeats = program.waves[window.waves.front()].section == Section::each;
    pairs += (window.waves.size() - 1) * (repeats ? program.iterations : 1);
  }
  return pairs;
}

std::vector<ResolvedDependency> dependencies_between(const Job& program,
                                                     const std::vector<std::vector<std::uint32_t>>& nodes) {
  std::vector<std::uint32_t> node_of(program.waves.size());
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const std::uint32_t wave : nodes[node]) {
      node_of[wave] = node;
    }
  }
  const Meetings meetings(program);
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
      made.halo = between_nodes(meetings, nodes[before], nodes[after]).halo; // the widest of all
    }
    dependencies.push_back(made);
  }
  return dependencies;
}

namespace {

struct Place {
  std::uint32_t node = 0; // wave of the fused program
  std::size_t at = 0;     // index in its window
};

bool writes(const ProgramArgument& argument) {
  return argument.access != Access::read;
}

// Returns true if tile t accesses no element of other tiles through the argument.
bool stays_in_tile(const ProgramArgument& argument) {
  return argument.halo && (*argument.halo)[0] + (*argument.halo)[1] + (*argument.halo)[2] == 0;
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
      const bool same = x.is_memory() && y.is_memory() && x.buffer == y.buffer && (writes(x) || writes(y));
      if (same && !stated && !(stays_in_tile(x) && stays_in_tile(y) && x.counts_like(y))) {
        return fmt::format("\"{}\"", program.buffers[x.buffer].name);
      }
    }
  }
  return {};
}

} // namespace

std::string window_violation(const Job& program, const Job& fused,
                             const std::vector<std::vector<std::uint32_t>>& parts) {
  std::vector<std::optional<Place>> places(program.waves.size());
  for (std::uint32_t node = 0; node < fused.waves.size(); ++node) {
    if (node >= parts.size() || parts[node].size() != fused.waves[node].joined_waves) {
      return fmt::format("{} stands for other waves", fused.wave_text(node));
    }
    for (std::size_t at = 0; at < parts[node].size(); ++at) {
      const std::uint32_t wave = parts[node][at];
      if (wave >= places.size() || places[wave]) {
        return fmt::format("{} runs a wave that another one runs, too", fused.wave_text(node));
      }
      places[wave] = {.node = node, .at = at};
    }
  }
  for (std::uint32_t wave = 0; wave < places.size(); ++wave) {
    if (!places[wave]) {
      return fmt::format("{} is nowhere", program.wave_text(wave));
    }
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    const Place& before = *places[dependency.before];
    const Place& after = *places[dependency.after];
    bool kept = before.node == after.node && before.at < after.at;
    for (const ResolvedDependency& other : fused.dependencies) {
      kept |= other.before == before.node && other.after == after.node;
    }
    if (!kept) {
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
    std::optional<std::uint32_t> node;
    bool sound = !spec.first && !spec.output && !spec.swapped && spec.in_arena() &&
                 !(program.until && program.until->buffer == buffer);
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      for (const ProgramArgument& argument : program.waves[wave].arguments) {
        if (argument.is_memory() && argument.buffer == buffer) {
          sound &= parts[places[wave]->node].size() > 1 &&
                   node.value_or(places[wave]->node) == places[wave]->node && stays_in_tile(argument) &&
                   argument.own;
          node = places[wave]->node;
        }
      }
    }
    for (const ProgramWave& wave : fused.waves) {
      for (const ProgramArgument& argument : wave.arguments) {
        sound &= !argument.is_memory() || argument.buffer != buffer;
      }
    }
    if (!sound) {
      return fmt::format("\"{}\" is in registers and needed elsewhere", spec.name);
    }
  }
  return {};
}

namespace {

// A wave in a window: its parameters that point to registers.
struct Part {
  std::uint32_t op = 0;
  bool meets = false;
  std::map<std::size_t, std::size_t> registers; // by parameter: index of the register in the window

  friend bool operator<(const Part& a, const Part& b) {
    return std::tie(a.op, a.meets, a.registers) < std::tie(b.op, b.meets, b.registers);
  }
};
using Parts = std::vector<Part>; // windows with equal parts share code

Parts parts_of(const Job& program, const Window& window) {
  Parts parts;
  for (std::size_t i = 0; i < window.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[window.waves[i]];
    Part part{.op = wave.op, .meets = window.meets[i], .registers = {}};
    for (std::size_t a = 0; a < wave.arguments.size(); ++a) {
      const auto found = std::ranges::find(window.registers, wave.arguments[a].buffer);
      if (wave.arguments[a].kind == ProgramArgument::Kind::buffer && found != window.registers.end()) {
        part.registers[a] = static_cast<std::size_t>(found - window.registers.begin());
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::set<std::size_t> parameters(const Part& part) {
  std::set<std::size_t> result;
  for (const auto& [parameter, number] : part.registers) {
    result.insert(parameter);
  }
  return result;
}

class Fuser {
public:
  Fuser(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows)
      : program_(program), ops_(ops), windows_(windows) {}

  Result<FusedProgram> run() {
    std::vector<Parts> parts;
    for (const Window& window : windows_) {
      parts.push_back(parts_of(program_, window));
      for (const Part& part : parts.back()) {
        name_copy(part);
      }
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
  // Copies a kernel once for each set of register parameters.
  void name_copy(const Part& part) {
    const std::set<std::size_t> wanted = parameters(part);
    const std::uint32_t unit = program_.ops[part.op].unit;
    const std::string& kernel = program_.function(part.op).name;
    if (wanted.empty() || copy_names_.contains({unit, kernel, wanted})) {
      return;
    }
    std::string name = fmt::format("tg_registers{}_{}", copy_names_.size(), ops_.kernels[part.op].function);
    copies_[unit].push_back({.kernel = kernel, .parameters = wanted, .function = name});
    copy_names_[{unit, kernel, wanted}] = std::move(name);
  }

  [[nodiscard]] std::string function_of(const Part& part) const {
    const auto found =
        copy_names_.find({program_.ops[part.op].unit, program_.function(part.op).name, parameters(part)});
    return found == copy_names_.end() ? ops_.kernels[part.op].function : found->second;
  }

  [[nodiscard]] ProgramWave fused_wave(const Window& window, std::uint32_t op) const {
    ProgramWave wave = program_.waves[window.waves.front()];
    wave.name.clear();
    wave.op = op;
    wave.arguments.clear();
    wave.rules = 0;
    wave.joined_waves = static_cast<std::uint32_t>(window.waves.size());
    std::map<std::uint32_t, bool> written; // by buffer
    planning::Wave stated;                 // the largest stated sizes
    for (const std::uint32_t part : window.waves) {
      const ProgramWave& spec = program_.waves[part];
      wave.rules |= spec.rules;
      wave.title += (wave.title.empty() ? "" : ", ") + program_.wave_text(part);
      for (const ProgramArgument& argument : spec.arguments) {
        const bool kept = argument.kind == ProgramArgument::Kind::buffer &&
                          std::ranges::find(window.registers, argument.buffer) != window.registers.end();
        if (!kept) {
          wave.arguments.push_back(argument);
        }
        if (!kept && argument.is_memory()) {
          written[argument.buffer] |= argument.access != Access::read;
        }
      }
      stated.scratch_bytes = std::max(stated.scratch_bytes, spec.bytes.scratch_bytes);
    }
    wave.bytes = {.frontier_bytes = 0, .scratch_bytes = stated.scratch_bytes, .output_bytes = 0};
    for (const auto& [buffer, is_written] : written) {
      (is_written ? wave.bytes.output_bytes : wave.bytes.frontier_bytes) += program_.buffers[buffer].bytes;
    }
    return wave;
  }

  // Returns the op that runs these parts; a new op gets a unit with the compiler facts of the parts' unit.
  std::uint32_t op_of(const Parts& parts, FusedProgram& fused) {
    const auto [found, is_new] =
        op_by_parts_.emplace(parts, static_cast<std::uint32_t>(fused.program.ops.size()));
    if (!is_new) {
      return found->second;
    }
    const ProgramUnit& like = program_.units[program_.ops[parts.front().op].unit];
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
      const std::string name = function_of(part);
      calls += part.meets ? "  tg_barrier(tg_self, CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n" : "";
      calls += fmt::format("  {}(tg_self", name);
      const auto& own = program_.function(part.op).parameters;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (const auto kept = part.registers.find(i); kept != part.registers.end()) {
          registers[kept->second] = own[i].type;
          calls += fmt::format(", &tg_register{}", kept->second);
          continue;
        }
        opencl_c::Parameter parameter = own[i];
        parameter.type = type_text(part.op, parameter.type);
        calls += fmt::format(", tg_{}_{}", p, i);
        parameters += fmt::format(",\n    {} tg_{}_{}", parameter_text(parameter), p, i);
        function.parameters.push_back(std::move(parameter));
      }
      if (!ops_.kernels[part.op].locals.empty()) {
        unions += fmt::format("  tg_locals_{} of_{};\n", name, p);
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

  // Returns a type's name in the outlined sources.
  [[nodiscard]] std::string type_text(std::uint32_t op, const std::string& type) const {
    const auto& renamed = ops_.renamed[program_.ops[op].unit];
    const std::size_t tag = type.rfind(' ') + 1; // "struct point"
    const auto found = renamed.find(type.substr(tag));
    return found == renamed.end() ? type : type.substr(0, tag) + found->second;
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
