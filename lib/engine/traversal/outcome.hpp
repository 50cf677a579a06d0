// Fills the report of a traversal: what was asked for, what the policy recommends, and what the waves did.
#pragma once
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/report.hpp"
#include "engine/traversal/setup.hpp"

namespace tidegate::traversal {

// Returns the report of a traversal that has not begun. `wide`: distances have 64 bits; `device` may be null.
FrontierReport report_of(const graphs::FrontierProgram& program, const graphs::Graph& graph, bool wide,
                         const FrontierMemory& memory, const FrontierStrategy& strategy,
                         const device::DeviceInfo* device, const TraversalPolicy& policy);

// Adds the policy's recommendation for the first wave; none if it breaks the budget.
void report_recommendation(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                           const FrontierMemory& memory, const device::DeviceInfo* device,
                           FrontierReport& report);

// Adds what was dispatched and what the waves did, of a run that may be under way, and why it did not come to its end.
void report_outcome(const graphs::FrontierProgram& program, TraversalOutcome& outcome,
                    const engine::Residency& groups, const engine::RunOptions& options,
                    FrontierReport& report);

} // namespace tidegate::traversal
