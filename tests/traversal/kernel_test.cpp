// How work is shared out on a device: what its type suggests, its profile says and a person asks for.
#include "engine/traversal/run.hpp"

namespace tidegate::traversal {

static FrontierGeometry geometry_for(const device::DeviceInfo& device,
                                     std::optional<std::uint32_t> group_size,
                                     std::optional<std::uint32_t> alone_vertices) {
  engine::RunOptions options;
  options.traversal.group_size = group_size;
  options.traversal.alone_vertices = alone_vertices;
  return geometry_of({.algorithm = graphs::Algorithm::bfs}, device, options);
}

TEST_CASE(
    "a frontier is worked alone up to what was asked for, else the profile's size, else the usual one") {
  device::DeviceInfo gpu{.type = device::DeviceType::gpu, .max_workgroup_size = 1024, .profile = {}};
  device::DeviceInfo cpu{.type = device::DeviceType::cpu, .max_workgroup_size = 4096, .profile = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 256);
  CHECK(geometry_for(cpu, {}, {}).alone_vertices == 2048);
  gpu.profile = device::DeviceProfile{.ordering = {}, .trials = {}, .traversal = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 256);
  gpu.profile->traversal =
      device::TraversalProfile{.strategy = {}, .workers = {}, .alone_up_to = 300, .switch_rule = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 300);
  CHECK(geometry_for(gpu, {}, 7).alone_vertices == 7);
  gpu.profile->traversal->alone_up_to = 1'000'000; // more than local memory has room for
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 1024);
}

TEST_CASE("a group on a CPU is one work-item") {
  const device::DeviceInfo cpu{.type = device::DeviceType::cpu, .max_workgroup_size = 4096, .profile = {}};
  CHECK(geometry_for(cpu, {}, {}).group_size == 1);
  CHECK(geometry_for(cpu, 12, {}).group_size == 8); // a power of two
  CHECK(geometry_for(cpu, 12, {}).wide_lanes == 8);
}

} // namespace tidegate::traversal
