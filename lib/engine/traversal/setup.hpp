// Prepares a traversal from the program, the device with its profile, and the options, for runs and for each candidate of
// `tidegate tune measure`; fills its report: what was asked for, what the policy recommends, and what the waves did.
#pragma once
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/replay.hpp"
#include "engine/traversal/run.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

#include <string>

namespace tidegate::traversal {

// Checks that paths stay in the program's folder and that no input is overwritten.
Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const engine::RunOptions& options);

// Loads the graph: components use edges in both directions; pulls use incoming edges.
Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const engine::RunOptions& options);

struct FrontierStrategy {
  engine::Strategy strategy = engine::Strategy::launch;
  std::string reason;
};

// A null `device` means one whose self-test passes. Without a proved ordering nothing waits inside a launch.
FrontierStrategy choose_strategy(const engine::RunOptions& options, const device::DeviceInfo* device);

// The program's choice of a switch rule overrides the profile's.
TraversalPolicy traversal_policy(const graphs::FrontierProgram& program,
                                 const device::TraversalProfile& profile, const engine::RunOptions& options);

// Warns of fields of the policy that the program states and cannot use, with the rule that switches its topologies.
std::optional<engine::Warning> idle_policy_fields(const graphs::FrontierProgram& program,
                                                  graphs::SwitchRule rule, std::string_view file = "");

// Algorithms that start from all vertices never use a lone group.
FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const engine::RunOptions& options);

// Chooses the work-groups: the resident ones, or with launches a few per compute unit, to balance unequal
// work; fewer if memory is short. Returns too_many_workers if the options exceed the resident groups.
Result<engine::Residency> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                      engine::BuiltKernel& kernel, const FrontierGeometry& geometry,
                                      const FrontierMemory& memory, const policy::LaunchPolicy& policy,
                                      engine::Strategy strategy, const engine::RunOptions& options);

engine::DispatchLimits limits_of(const device::DeviceInfo& device, const engine::RunOptions& options,
                                 const engine::Residency& groups, engine::Strategy strategy);

// Returns the policy with which the host replays the choices.
ReplayPolicy replay_policy(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                           const FrontierMemory& memory, const FrontierGeometry& geometry,
                           const TraversalPolicy& policy);

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
