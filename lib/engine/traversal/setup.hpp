// What a traversal is made of before it runs, each part from the program, the device with its profile, and
// the options: for a run, and for each candidate of `tidegate tune measure`. Not installed with the others.
#pragma once
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/replay.hpp"
#include "engine/traversal/run.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

#include <string>

namespace tidegate::traversal {

// Paths stay in the program's folder, and nothing that is read is written over.
Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const TraversalOptions& options);

// Components count edges in both directions; what pulls looks at the edges that lead to a vertex.
Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const TraversalOptions& options);

struct StrategyChoice {
  engine::Strategy strategy = engine::Strategy::launch;
  std::string reason;
};

// `device` may be null: one whose self-test passes. Nothing waits inside a launch where no ordering is
// proved.
StrategyChoice choose_strategy(const TraversalOptions& options, const device::DeviceInfo* device);

// What changes topologies: as the program says, else as the profile does.
TraversalPolicy traversal_policy(const graphs::FrontierProgram& program,
                                 const device::TraversalProfile& profile, const TraversalOptions& options);

// What begins with all vertices is never worked alone.
FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const TraversalOptions& options);

// Of those resident, or in launches a few for each unit, so that what costs unlike evens out; fewer where
// memory is short. too_many_workers where more are asked for than are resident together.
Result<FrontierGroups> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                   engine::BuiltKernel& kernel, const FrontierGeometry& geometry,
                                   const FrontierMemory& memory, const policy::LaunchPolicy& policy,
                                   engine::Strategy strategy, const TraversalOptions& options);

DispatchLimits limits_of(const device::DeviceInfo& device, const TraversalOptions& options,
                         const FrontierGroups& groups, engine::Strategy strategy);

// The policy by which the host makes every choice again.
ReplayPolicy replay_policy(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                           const FrontierMemory& memory, const FrontierGeometry& geometry,
                           const TraversalPolicy& policy);

// Results as no sound device leaves them.
void spoil(Fault fault, TraversalResults& results);

} // namespace tidegate::traversal
