#include "engine/access.hpp"

namespace tidegate::engine {

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

} // namespace tidegate::engine
