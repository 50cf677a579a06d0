// From which source rules the work of each group of waves descends.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::engine {

struct Lineage {
  std::vector<std::uint32_t> regions; // by group: the union over its waves and all their ancestors
  std::uint64_t items = 0;            // waves that descend from any rule
};

Lineage trace_lineage(const ResolvedProgram& program, const planning::WaveGroups& groups);

} // namespace tidegate::engine
