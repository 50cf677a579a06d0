// Rows that vertices pull along, with hubs in front: kernels/frontier_rows.cl; not installed with the others.
#pragma once

#include <tidegate/device/handles.hpp>
#include <tidegate/run/kernel_cache.hpp>
#include <tidegate/traversal/kernel.hpp>
#include <tidegate/traversal/memory.hpp>
#include <tidegate/traversal/resident.hpp>

#include <filesystem>

namespace tidegate::traversal {

// Whether rows are put in order once they are in device memory: where vertices leave a pull early, have
// neighbours to choose from, and the device does it in a fraction of the time that their upload takes.
bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry);

// Throws device::Refused, both of them.
run::BuiltKernel build_hubs_first(const device::Session& session, const device::DeviceInfo& device,
                                  const TraversalShape& shape, const std::filesystem::path& cache_folder);
void put_hubs_first(const device::Session& session, run::BuiltKernel& kernel, const ResidentGraph& resident);

} // namespace tidegate::traversal
