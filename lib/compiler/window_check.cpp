#include <tidegate/compiler/windows.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace tidegate::compiler {
namespace {

struct Place {
  std::uint32_t node = 0; // wave of the fused program
  std::size_t at = 0;     // in its window
};

bool writes(const ProgramArgument& argument) {
  return argument.access != Access::read;
}

// Of an argument that tile t touches nothing of what belongs to other tiles.
bool stays_in_tile(const ProgramArgument& argument) {
  return argument.halo && (*argument.halo)[0] + (*argument.halo)[1] + (*argument.halo)[2] == 0;
}

// What two waves of a window share beyond their tiles, or an empty string.
std::string shared_beyond(const ResolvedProgram& program, std::uint32_t first, std::uint32_t second) {
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
      const bool alike = x.element_bytes * y.element_bytes == 0 || x.element_bytes == y.element_bytes;
      if (same && !stated && !(stays_in_tile(x) && stays_in_tile(y) && alike)) {
        return fmt::format("\"{}\"", program.buffers[x.buffer].name);
      }
    }
  }
  return {};
}

} // namespace

std::string window_violation(const ResolvedProgram& program, const ResolvedProgram& fused) {
  std::vector<std::optional<Place>> places(program.waves.size());
  std::uint32_t alone = 0; // waves that are in no window keep their order
  const auto put = [&](std::uint32_t wave, Place place) {
    const bool again = wave >= places.size() || places[wave].has_value();
    if (!again) {
      places[wave] = place;
    }
    return !again;
  };
  std::vector<bool> in_window(program.waves.size());
  for (std::uint32_t node = 0; node < fused.waves.size(); ++node) {
    for (std::size_t at = 0; at < fused.waves[node].window.size(); ++at) {
      const std::uint32_t wave = fused.waves[node].window[at];
      if (!put(wave, {.node = node, .at = at})) {
        return fmt::format("{} runs a wave that another one runs, too", fused.wave_text(node));
      }
      in_window[wave] = true;
    }
  }
  for (std::uint32_t node = 0; node < fused.waves.size(); ++node) {
    if (fused.waves[node].window.empty()) {
      while (alone < in_window.size() && in_window[alone]) {
        ++alone;
      }
      if (!put(alone++, {.node = node})) {
        return fmt::format("{} stands for no wave", fused.wave_text(node));
      }
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
      return fmt::format("{} does not come behind {}", program.wave_text(dependency.after),
                         program.wave_text(dependency.before));
    }
  }
  for (const ProgramWave& node : fused.waves) {
    for (std::size_t i = 0; i < node.window.size(); ++i) {
      const ProgramWave& wave = program.waves[node.window[i]];
      if (wave.range != node.range || wave.phase != node.phase) {
        return fmt::format("{} has other tiles than its window", program.wave_text(node.window[i]));
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (auto what = shared_beyond(program, node.window[j], node.window[i]); !what.empty()) {
          return fmt::format("{} and {} share {} beyond their tiles", program.wave_text(node.window[j]),
                             program.wave_text(node.window[i]), what);
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
    bool sound = !spec.spec.init && !spec.spec.output && !spec.swapped && !spec.image &&
                 !(program.until && program.until->buffer == buffer);
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      for (const ProgramArgument& argument : program.waves[wave].arguments) {
        if (argument.is_memory() && argument.buffer == buffer) {
          sound &= in_window[wave] && node.value_or(places[wave]->node) == places[wave]->node &&
                   stays_in_tile(argument) && argument.element_bytes != 0;
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

} // namespace tidegate::compiler
