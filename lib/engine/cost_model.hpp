// What a schedule would take on a device, in one strategy and with so many work-groups: the sum of
//
//   start     a launch and the wait for it
//   launches  each further one, where the work is not longer
//   barriers  of all work-groups: the more groups, the longer
//   waits     for neighbours: as long for any number of groups; for whole waves: the more groups, the longer
//   work      a tile from its first read to its last write, once for each round of a stage, or the bytes that
//             the stage moves
//
// What a kernel computes is not known: a tile takes as long as the self-test's, which reads one element and
// writes one, for each two elements that its kernel reads or writes (opencl_c::CallGraph counts them), until
// `tidegate tune measure` has measured the program (device::Tuning::scales). No device is needed.
#pragma once
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::engine {

// What a stage gives a device to do.
struct StageLoad {
  enum class Waits : std::uint8_t { nobody, few, everybody };

  bool plain = false; // a launch of its own
  Waits waits = Waits::everybody;
  std::uint32_t awaited_packs = 0; // of stages all of which a tile waits for
  std::uint32_t packs = 0;
  std::uint64_t work_items = 0;
  std::uint64_t bytes = 0; // read and written
  bool meets = false;      // work-items of a tile wait for each other: tiles of a group do not overlap
  bool loops = false;
  double accesses = 0; // of memory by a work-item, one behind another
  double turns = 0;    // of a queue whose items may go back to it: all meet twice in each, or the host looks
};

// Of a whole run: stages [repeat_begin, repeat_end) in each iteration.
struct ProgramLoad {
  std::vector<StageLoad> stages;
  std::size_t repeat_begin = 0;
  std::size_t repeat_end = 0;
  double iterations = 1;             // once it has run, how many there were
  bool until = false;                // somebody looks after each of them
  bool interpreted = false;          // arguments are read from descriptors
  std::uint32_t group_size = 1;      // of a persistent launch
  std::uint64_t footprint_bytes = 0; // of all buffers that are touched
};

ProgramLoad load_of(const ResolvedProgram& program, const OutlinedOps& ops, const Schedule& schedule,
                    const Synchronization& synchronization, bool interpreted);

// A device as the model sees it.
struct DeviceModel {
  bool measured = false;             // by the self-test
  bool cpu = false;                  // cores that other programs may take away for a while
  std::uint32_t compute_units = 132; // without a device, and without its self-test: one H200
  std::uint64_t resident_work_items = 132 * 2048;
  double launch_ns = 4'500;
  double round_trip_ns = 10'900;
  device::DeviceCosts costs;
  device::CostParts scales{1, 1, 1, 1, 1};
};

// `device` may be null, and may have no profile.
DeviceModel model_of(const device::DeviceInfo* device, const device::Tuning& tuning);

// How a schedule is launched.
struct LaunchShape {
  Strategy strategy = Strategy::launch;
  TileOrder order = TileOrder::strided;
  std::uint32_t workers = 0; // of a persistent launch
};

device::CostParts estimate(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model);

// What each further iteration adds.
device::CostParts estimate_of_iteration(ProgramLoad load, const LaunchShape& shape, const DeviceModel& model);

// The number of work-groups with the least estimate, of those that are `resident` together; the least number
// of equals. On a CPU as many as there are: each has a core. Or as many as are wanted, of those.
std::uint32_t best_workers(const ProgramLoad& load, Strategy strategy, TileOrder order,
                           const DeviceModel& model, std::uint32_t resident,
                           std::optional<std::uint32_t> wanted = {});

// Walking back over what was touched last pays where the caches do not hold all of it; neighbours' tiles in
// one group keep waits few. Otherwise tiles are dealt out one by one, which evens out what costs unlike.
TileOrder best_order(const ProgramLoad& load, Strategy strategy, const DeviceModel& model);

// Rounds of the first slice of a persistent launch. The model may be wrong by far, and where kernels loop it
// knows nothing: then, and on CPUs, they are few enough for rounds of half a millisecond.
std::uint64_t first_slice_rounds(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model,
                                 std::uint64_t slice_ns);

} // namespace tidegate::engine
