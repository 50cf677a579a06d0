// Checks on a device that waves stay within the halos that the program states. The program runs wave by wave,
// as plain launches of kernels that report every subscript (lib/opencl_c/accesses.hpp). The earlier
// wave of a dependency records the tiles that touched each element, and the later wave checks that they are
// near enough.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>

namespace tidegate::engine {

// A halo between two waves that access the same memory, one of them writing: there tile t of `after` touches
// only elements of tiles t - halo … t + halo of `before`. `before` runs earlier, in the same or a previous
// iteration; it may be the same wave.
struct StatedHalo {
  std::uint32_t before = 0;
  std::uint32_t before_argument = 0;
  std::uint32_t after = 0;
  std::uint32_t after_argument = 0;
  std::array<std::uint32_t, 3> halo{};
  bool in_iteration = false; // holds only for accesses in the same iteration

  friend bool operator==(const StatedHalo&, const StatedHalo&) = default;
};

// Collects the halos of dependencies, and of argument pairs that both have a halo, at least one of them
// stated. `storage` maps buffers to memory for each phase of the swaps.
std::vector<StatedHalo> stated_halos(const Job& program,
                                     const std::vector<std::vector<std::uint32_t>>& storage);

// Runs the program as written, without writing outputs. Ends at the first violation or when time is up.
// Errors: of the device, of building, of the program's files.
Result<HaloReport> check_halos(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
