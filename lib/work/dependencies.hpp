// Traces which source rules each group of waves derives from.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::engine {

struct Lineage {
  std::vector<std::uint32_t> regions; // by group: bit set of the rules of its waves and all their ancestors
  std::uint64_t items = 0;            // waves with a rule, their own or an ancestor's
};

Lineage trace_lineage(const ResolvedProgram& program, const planning::WaveGroups& groups);

} // namespace tidegate::engine
