#include <tidegate/compiler/lineage.hpp>

namespace tidegate::compiler {

Lineage trace_lineage(const ResolvedProgram& program, const planning::WaveGroups& groups) {
  std::vector<std::vector<std::uint32_t>> before(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    before[dependency.after].push_back(dependency.before);
  }
  Lineage lineage;
  std::vector<std::uint32_t> rules(program.waves.size());
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    std::uint32_t region = 0;
    for (const std::uint32_t wave : groups.group(group)) { // what it descends from ran in earlier groups
      rules[wave] = program.waves[wave].rules;
      for (const std::uint32_t ancestor : before[wave]) {
        rules[wave] |= rules[ancestor];
      }
      region |= rules[wave];
      lineage.items += rules[wave] != 0 ? 1U : 0U;
    }
    lineage.regions.push_back(region);
  }
  return lineage;
}

} // namespace tidegate::compiler
