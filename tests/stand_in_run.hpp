// A wave program on a stand-in for the device, whose kernels do what the program's do unless a test says
// otherwise: for tests of whole runs, and of what measures programs.
#pragma once
#include "engine/arena_run.hpp"
#include "runtime/monitor.hpp"
#include "stand_in.hpp"
#include "temporary_folder.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>

#include <doctest/doctest.h>

#include <fstream>

namespace tidegate::engine::test {

// x counts the iterations, y is its copy: two groups of waves, so that a barrier lies between them.
inline std::string document(std::uint64_t repeat, std::uint32_t local = 8) {
  const std::string sizes = R"("global_size":[64],"local_size":[)" + std::to_string(local) + "]";
  return R"({"buffers":{"x":{"type":"u32","count":64,"init":{"iota":{}},"output":"x.raw"},)"
         R"("y":{"type":"u32","count":64,"output":"y.raw"}},)"
         R"("ops":{"advance":{"source":"ops.cl"},"copied":{"source":"ops.cl"}},)"
         R"("waves":[{"name":"turn","op":"advance",)" +
         sizes + R"(,"args":[{"buffer":"x"}]},{"name":"copy","op":"copied",)" + sizes +
         R"(,"args":[{"buffer":"x"},{"buffer":"y"}]}],"repeat":)" + std::to_string(repeat) + "}";
}

// The program's folder, a device that it can be compiled for, and options.
struct Run {
  tidegate::test::TemporaryFolder folder;
  device::DeviceInfo device{.name = "stand-in",
                            .type = device::DeviceType::gpu,
                            .opencl_version = "OpenCL 3.0",
                            .compute_units = 4,
                            .max_workgroup_size = 256,
                            .max_work_item_sizes = {256, 256, 256},
                            .global_memory_bytes = 1 << 30,
                            .max_allocation_bytes = 1 << 28,
                            .local_memory_bytes = 1 << 15,
                            .base_alignment_bytes = 128};
  RunOptions options;
  Monitor monitor;

  Run() {
    folder.write("ops.cl", "kernel void advance(global uint* x) { x[get_global_id(0)] += 1u; }\n"
                           "kernel void copied(global const uint* x, global uint* y) {\n"
                           "  y[get_global_id(0)] = x[get_global_id(0)];\n"
                           "}\n");
  }

  [[nodiscard]] std::string output(const std::string& name) const {
    return tidegate::test::contents(folder.path() / name);
  }
  [[nodiscard]] bool wrote_outputs() const { return std::filesystem::exists(folder.path() / "x.raw"); }
};

struct StandInRun : Run {
  static constexpr std::uint32_t resident = 8; // work-groups of a persistent launch

  std::set<int> wrong;                  // calls of the op `advance` that get the last element wrong, from 1
  std::function<void(int call)> then{}; // called by each
  bool wrong_persistent = false;        // persistent launches get it wrong
  int last_wrong = 1 << 30;             // of the persistent launches that get it wrong, from 1
  int persistent_runs = 0;
  std::uint32_t wrong_bit = 1U << 24U; // of the element
  int calls = 0;
  std::vector<device::test::StandIn::Failure> failures;
  std::function<void()> while_building;   // a generated kernel
  std::function<void()> while_reading;    // memory back
  std::function<void()> while_persistent; // launches run
  std::shared_ptr<std::map<std::string, int>> calls_of_sessions =
      std::make_shared<std::map<std::string, int>>();

  StandInRun() {
    device.profile =
        device::DeviceProfile{.device = device.name, .ordering = device::MemoryOrdering::c11, .trials = {}};
    options.compile.strategy = Strategy::plain;
    options.open_session = [this](const device::DeviceInfo&, device::Profiling) {
      auto session = std::make_unique<device::test::StandIn>();
      session->failures = failures;
      session->counts = calls_of_sessions;
      session->while_building = while_building;
      session->while_reading = while_reading;
      session->kernels["advance"] = [this](const auto& launch) { advance(launch); };
      session->kernels["copied"] = [](const auto& launch) {
        std::ranges::copy(launch.template buffer<std::uint32_t>(0),
                          launch.template buffer<std::uint32_t>(1).begin());
      };
      session->kernels["tidegate_stage"] = stage;
      session->kernels["tidegate_persistent"] = [this](const auto& launch) { persistent(launch); };
      return Result<std::unique_ptr<device::Session>>(std::move(session));
    };
  }

  // Changes each session that is opened.
  void with_session(std::function<void(device::test::StandIn&)> change) {
    options.open_session = [open = options.open_session, change = std::move(change)](
                               const device::DeviceInfo& info, device::Profiling profiling) {
      auto session = open(info, profiling);
      change(dynamic_cast<device::test::StandIn&>(**session));
      return session;
    };
  }

  void advance(const device::test::StandInLaunch& launch) {
    const auto x = launch.buffer<std::uint32_t>(0);
    for (std::size_t i = 0; i < launch.range.global[0]; ++i) {
      x[i] += 1;
    }
    ++calls;
    x[63] ^= wrong.contains(calls) ? wrong_bit : 0U;
    if (then) {
      then(calls);
    }
  }

  // An iteration in one launch, of a window of both waves.
  static void stage(const device::test::StandInLaunch& launch) {
    constexpr std::uint32_t first_entry = 3;
    const auto arena = launch.buffer<std::uint32_t>(0);
    if (launch.value<std::uint32_t>(first_entry) != ~0U) {
      for (std::size_t i = 0; i < 64; ++i) {
        arena[i] += 1;
      }
      std::ranges::copy(arena.first(64), arena.begin() + 64);
    }
  }

  // The whole program in one launch; without iterations the number of resident groups.
  void persistent(const device::test::StandInLaunch& launch) {
    constexpr std::uint32_t progress = 6;
    constexpr std::uint32_t poll = 7;
    constexpr std::uint32_t stage_end = 10;
    constexpr std::uint32_t iterations = 17;
    const auto repeat = launch.value<std::uint32_t>(iterations);
    if (repeat == 0) {
      launch.buffer<std::uint32_t>(poll)[3 * 64] = resident;
      return;
    }
    const auto arena = launch.buffer<std::uint32_t>(0); // x, then y
    for (std::size_t i = 0; i < 64; ++i) {
      arena[i] += repeat;
    }
    arena[63] ^= wrong_persistent && ++persistent_runs <= last_wrong ? wrong_bit : 0U;
    std::ranges::copy(arena.first(64), arena.begin() + 64);
    const auto head = launch.buffer<std::uint32_t>(progress);
    if (while_persistent) {
      while_persistent();
    }
    head[0] = repeat;
    head[1] = launch.value<std::uint32_t>(stage_end);
  }
};

} // namespace tidegate::engine::test
