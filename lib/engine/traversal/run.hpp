// A frontier program from start to finish: load → check → memory → build → run → verify → report. Its preparation serves
// each candidate of `tidegate tune measure`, too.
#pragma once
#include "engine/run_options.hpp"
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>

namespace tidegate::traversal {

// Runs a program of `folder` on a device whose profile is set; with dry_run it plans the memory for a device
// (null: one without limits). Updates the monitor. A failure on the device is in the report's status and
// error.
Result<FrontierReport> run_traversal(const graphs::FrontierProgram& program, const std::string& folder,
                                     const device::DeviceInfo* device, const engine::RunOptions& options,
                                     engine::Monitor& monitor);

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

// Returns how many work-groups a traversal launches if as many can be resident.
std::uint32_t wanted_groups(const device::DeviceInfo& device, const FrontierGeometry& geometry,
                            engine::Strategy strategy, const engine::RunOptions& options);

// Chooses the work-groups: the resident ones, or with launches a few per compute unit, to balance unequal
// work; fewer if memory is short. Returns too_many_workers if the options exceed the resident groups.
Result<engine::Residency> find_groups(const device::Session& session, const device::DeviceInfo& device,
                                      engine::BuiltKernel& kernel, const TraversalFacts& facts,
                                      engine::Strategy strategy, const engine::RunOptions& options);

engine::DispatchLimits limits_of(const device::DeviceInfo& device, const engine::RunOptions& options,
                                 const engine::Residency& groups, engine::Strategy strategy);

} // namespace tidegate::traversal
