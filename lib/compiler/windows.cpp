#include <tidegate/compiler/windows.hpp>
#include <tidegate/opencl_c/accesses.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tidegate::compiler {
namespace {

// Whom a wave comes behind is kept for each: beyond so many waves there are no windows.
constexpr std::size_t most_waves = 2048;

using Tiles = std::array<std::uint32_t, 3>;
constexpr Tiles none{};

// How two waves of one iteration touch the same memory, one of them writing.
struct Meeting {
  bool any = false;
  std::optional<Tiles> halo = none; // tile t meets tiles t - halo … t + halo; empty: any
  bool by_element = true;           // a work-item meets the one with its own number alone
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
  explicit Meetings(const ResolvedProgram& program) : program_(program) {
    for (const ResolvedDependency& dependency : program.dependencies) {
      dependencies_[{dependency.before, dependency.after}] = &dependency;
    }
  }

  // Of `before` and `after`, which comes later.
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
        const bool alike = x.element_bytes == 0 || y.element_bytes == 0 || x.element_bytes == y.element_bytes;
        const bool known = x.halo && y.halo && alike && a.range == c.range;
        if (!halo && known) {
          halo = Tiles{(*x.halo)[0] + (*y.halo)[0], (*x.halo)[1] + (*y.halo)[1], (*x.halo)[2] + (*y.halo)[2]};
        }
        const bool by_element = known && *x.halo == none && *y.halo == none && x.element_bytes != 0 &&
                                x.element_bytes == y.element_bytes;
        widen(meeting, halo, by_element);
      }
    }
    // A dependency that the program lists may be for what no argument shows.
    if (found != dependencies_.end() && !program_.derived && (!stated || !meeting.any)) {
      widen(meeting, stated, false);
    }
    return meeting;
  }

private:
  const ResolvedProgram& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const ResolvedDependency*> dependencies_;
};

class Finder {
public:
  Finder(const ResolvedProgram& program, const OutlinedOps& ops, const SharedLaunch& shared,
         const KernelLimits& limits)
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
    // A compiler that takes one call of a function with barriers alone would have to leave others behind.
    const bool one_call = limits_.one_call_with_barriers && ops_.kernels[spec.op].needs_whole_group;
    return !spec.transfer && !spec.queue && shared_.obstacles[wave].empty() &&
           !(one_call && calls_[spec.op] > 1) &&
           std::ranges::none_of(spec.arguments, &ProgramArgument::is_object);
  }

  // Windows, and waves that may begin one, of what the wave depends on: the latest first.
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
    if (window.waves.size() == most_waves_per_window || first.phase != spec.phase ||
        first.range != spec.range || !same_options(first.op, spec.op) || !room_for(window, wave)) {
      return false;
    }
    for (const std::uint32_t earlier : before_[wave]) {
      if (node_of_[earlier] != node && ancestors_[node_of_[earlier]].test(node)) {
        return false; // a path leaves the window and comes back
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
    // Only whole work-groups can meet.
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

  // Local variables lie one over the other, local arguments one behind the other.
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
      const auto own = opencl_c::own_elements(unit, kernel);
      std::size_t uses = 0;
      for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        if (!argument.is_memory() || argument.buffer != buffer) {
          continue;
        }
        const opencl_c::Parameter& parameter = kernel.parameters[i];
        if (argument.halo != none || argument.element_bytes == 0 || !own[i] ||
            !opencl_c::may_be_register(unit, parameter) || (!type.empty() && type != parameter.type)) {
          return false;
        }
        type = parameter.type;
        // An iteration may want what the one before it has left.
        const bool repeats = spec.phase == WavePhase::each && program_.iterations > 1;
        const bool fresh = own[i]->assigned_first;
        if (first && (++uses > 1 || (repeats && !fresh))) {
          return false;
        }
      }
      first &= uses == 0;
    }
    return true;
  }

  const ResolvedProgram& program_;
  const OutlinedOps& ops_;
  const SharedLaunch& shared_;
  const KernelLimits& limits_;
  const Meetings meetings_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<Nodes> ancestors_; // by node: a window goes by its first wave
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> calls_; // by op
  std::map<std::uint32_t, Window> windows_;
};

// Between every wave of one node and every wave of another.
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

std::vector<Window> find_windows(const ResolvedProgram& program, const OutlinedOps& ops,
                                 const SharedLaunch& shared, const KernelLimits& limits) {
  return program.waves.size() > most_waves ? std::vector<Window>()
                                           : Finder(program, ops, shared, limits).run();
}

std::uint64_t count_pairs(const ResolvedProgram& program, const std::vector<Window>& windows) {
  std::uint64_t pairs = 0;
  for (const Window& window : windows) {
    const bool repeats = program.waves[window.waves.front()].phase == WavePhase::each;
    pairs += (window.waves.size() - 1) * (repeats ? program.iterations : 1);
  }
  return pairs;
}

std::vector<ResolvedDependency> dependencies_between(const ResolvedProgram& program,
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
      made.halo = between_nodes(meetings, nodes[before], nodes[after]).halo; // what holds for all of them
    }
    dependencies.push_back(made);
  }
  return dependencies;
}

} // namespace tidegate::compiler
