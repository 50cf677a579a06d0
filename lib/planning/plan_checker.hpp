// An independent check of a memory plan: recomputes every promise from its definition, in plain code that
// shares nothing with the planners, and names the first one that is broken: every wave once, dependencies in
// earlier groups, groups within the budget, the figures that are told.
#pragma once

#include <tidegate/planning/wave_dag.hpp>

#include <optional>
#include <string>

namespace tidegate::planning {

// The first violation as one sentence with indices, or nothing for a correct plan, whatever the strategy. The
// DAG may be one that no plan fits: then every plan violates something. Takes linear time.
std::optional<std::string> first_violation(const WaveDag& dag, const MemoryPlan& plan);

} // namespace tidegate::planning
