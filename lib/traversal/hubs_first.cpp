#include <tidegate/device/kernels.hpp>
#include <tidegate/traversal/hubs_first.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>

namespace tidegate::traversal {

using device::require;

bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry) {
  constexpr std::uint64_t least_degree = 8; // on average: below, a row is looked through as fast
  return geometry.hubs_first && !memory.constrained && shape.algorithm == graphs::Algorithm::bfs &&
         shape.edges >= least_degree * shape.vertices;
}

run::BuiltKernel build_hubs_first(const device::Session& session, const device::DeviceInfo& device,
                                  const TraversalShape& shape, const std::filesystem::path& cache_folder) {
  constexpr std::string_view file = "frontier_rows.cl";
  const bool wide = shape.edges > std::numeric_limits<std::uint32_t>::max();
  return run::build_kernel(
      session, device,
      {.source = device::with_place(file, device::frontier_source(file)),
       .options = fmt::format("-cl-std=CL1.2 -DTG_WIDE_OFFSETS={}", static_cast<int>(wide)),
       .kernel = "tidegate_hubs_first"},
      0, cache_folder);
}

void put_hubs_first(const device::Session& session, run::BuiltKernel& kernel, const ResidentGraph& resident) {
  constexpr const char* doing = "putting hubs first";
  require(kernel.kernel.setArg(0, resident.part(Part::in_offsets)), doing);
  require(kernel.kernel.setArg(1, resident.part(Part::in_neighbours)), doing);
  require(kernel.kernel.setArg(2, cl_uint{resident.vertices}), doing);
  constexpr std::size_t group = 64;
  const std::size_t groups = (std::size_t{resident.vertices} + group - 1) / group;
  require(session.queue.enqueueNDRangeKernel(kernel.kernel, cl::NullRange, cl::NDRange(groups * group)),
          doing);
}

} // namespace tidegate::traversal
