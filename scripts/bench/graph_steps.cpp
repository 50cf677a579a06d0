// Runs a traversal with a launch for each step, and prints the device's time for the steps of the fastest of some rounds: steps
// that repeat as they are in one line, and if there are still many, all that are alike.
//   graph_steps PROGRAM DEVICE ROUNDS
#include "app/run.hpp"
#include "core/files.hpp"
#include "engine/device_memory.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/kernel_layout.hpp"
#include "engine/traversal/setup.hpp"
#include <tidegate/core/decode.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace tidegate;

namespace {

constexpr std::array step_names{"start", "seed",   "wave", "to bitmap", "to queue", "refill",
                                "apply", "finish", "link", "compress",  "done"};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <class T>
T require(Result<T> result) {
  if (!result) {
    fail(result.error().message);
  }
  return std::move(*result);
}

struct Step {
  std::string name;
  std::uint64_t launches = 1;
  std::uint64_t waves = 0;
  std::uint64_t vertices = 0; // of the frontier
  std::uint64_t edges = 0;
  double ns = 0;
};

struct Run {
  std::vector<Step> steps;
  double ns = 0;
};

// Arguments of the kernel that change from launch to launch follow the graph's.
Run run_once(const device::Session& session, const device::Kernel& kernel, std::uint32_t first_argument,
             const traversal::ResidentGraph& resident, const device::LaunchRange& groups) {
  constexpr const char* doing = "running a step";
  const device::Buffer& state = resident.part(traversal::Part::state);
  device::require(session.clear(state, sizeof(traversal::tg_state)), doing);
  Run run;
  traversal::tg_position at{};
  for (std::uint32_t launch = 0; at.step != TG_STEP_DONE; ++launch) {
    const std::uint32_t most_waves = at.wave + traversal::log_rows;
    std::uint32_t index = first_argument;
    for (const std::uint32_t value : {launch, most_waves, at.wave, 1U, 0U, 0U}) {
      device::require(session.set_value(kernel, index++, value), doing);
    }
    device::Event event;
    device::require(session.launch(kernel, groups, &event), doing);
    device::require(session.finish(), doing);
    const device::EventTimes times = device::require(session.times_of(event), doing);
    std::array<traversal::tg_position, 2> positions{};
    engine::download(session, state, 0, std::as_writable_bytes(std::span(positions)));
    const traversal::tg_position reached = positions[(launch + 1) & 1U];
    // A launch first absorbs what the one before has counted: it ran the step that it leaves to be absorbed.
    Step step{.name = step_names.at(reached.step),
              .vertices = reached.vertices,
              .edges = reached.frontier_edges,
              .ns = static_cast<double>(times.ended - times.started)};
    if (reached.step == TG_STEP_WAVE) {
      step.name += ' ' + std::string(policy::topology_names.at(reached.topology));
    }
    if (reached.executed == 0) { // a lone group has absorbed its waves, or there was nothing to do
      step.name = reached.wave > at.wave + 1 ? "waves alone" : "end";
    }
    step.waves = reached.wave - at.wave;
    run.ns += step.ns;
    run.steps.push_back(std::move(step));
    at = reached;
  }
  return run;
}

// `all`: steps of one name; else only those that repeat with the same frontier.
std::vector<Step> summed(const std::vector<Step>& steps, bool all) {
  std::vector<Step> sums;
  for (const Step& step : steps) {
    auto same = std::ranges::find(sums, step.name, &Step::name);
    if (!all && !sums.empty()) {
      const Step& last = sums.back();
      same = last.name == step.name && last.vertices == step.vertices ? std::prev(sums.end()) : sums.end();
    }
    if (same == sums.end()) {
      sums.push_back(step);
      continue;
    }
    ++same->launches;
    same->waves += step.waves;
    same->vertices += all ? step.vertices : 0;
    same->edges += all ? step.edges : 0;
    same->ns += step.ns;
  }
  return sums;
}

void measure(const graphs::FrontierProgram& program, const std::string& folder,
             const device::DeviceInfo& device, int rounds) {
  const engine::RunOptions options;
  const graphs::LoadedGraph loaded = require(traversal::load(program, folder, options));
  const graphs::Graph& graph = loaded.graph;
  const traversal::TraversalShape shape = traversal::shape_of(program, graph);
  const traversal::FrontierMemory memory = require(traversal::plan_memory(
      shape, program.policy.launch, program.device_memory_budget_bytes, device.global_memory_bytes, {}));
  const traversal::FrontierGeometry geometry = traversal::geometry_of(program, device, options);
  const traversal::StrategyChoice strategy = traversal::choose_strategy(options, &device);
  const auto session = require(options.open_session(device, device::Profiling::always));
  engine::BuiltKernel kernel = engine::build_kernel(
      *session, device,
      traversal::frontier_kernel(shape, graphs::weight_type(graph.out) == graphs::WeightType::f32, geometry,
                                 device.profile ? device.profile->ordering : std::nullopt,
                                 device.opencl_version),
      0, {});
  const engine::Residency groups = require(traversal::find_groups(
      *session, device, kernel, geometry, memory, program.policy.launch, strategy.strategy, options));
  traversal::ResidentGraph resident = traversal::make_resident(
      *session, program, graph, memory, geometry,
      traversal::traversal_policy(program, traversal::traversal_profile(device), options));
  if (auto change = traversal::build_row_change(*session, device, shape, memory, geometry, {})) {
    traversal::change_rows(*session, *change, graph, shape, resident);
  }
  constexpr const char* doing = "setting arguments";
  const device::Buffer nothing = engine::allocate(*session, engine::poll_bytes);
  device::require(session->clear(nothing, engine::poll_bytes), doing);
  std::uint32_t index = 0;
  for (; index < static_cast<std::uint32_t>(traversal::Part::log); ++index) {
    device::require(session->set_object(kernel.kernel, index, resident.parts[index]), doing);
  }
  device::require(session->set_bytes(kernel.kernel, index++, resident.setting), doing);
  device::require(session->set_object(kernel.kernel, index++, resident.part(traversal::Part::log)), doing);
  const device::Buffer reports = engine::allocate(*session, std::uint64_t{groups.workers} * 32);
  for (const device::Buffer* const buffer : {&nothing, &reports, &nothing}) {
    device::require(session->set_object(kernel.kernel, index++, *buffer), doing);
  }
  const device::LaunchRange range = device::work_groups(groups.workers, geometry.group_size);
  Run best;
  for (int round = 0; round <= rounds; ++round) { // the first one warms up
    Run run = run_once(*session, kernel.kernel, index, resident, range);
    if (round <= 1 || run.ns < best.ns) {
      best = std::move(run);
    }
  }
  constexpr std::size_t few = 24;
  std::printf("    %zu launches of %u x %u, %.3f ms on the device\n", best.steps.size(), groups.workers,
              geometry.group_size, best.ns / 1e6);
  const std::vector<Step> steps = summed(best.steps, false);
  for (const Step& step : steps.size() <= few ? steps : summed(best.steps, true)) {
    std::printf("    %-26s%8llu launches%8llu waves%12llu vertices%14llu edges%11.2f us\n", step.name.c_str(),
                static_cast<unsigned long long>(step.launches), static_cast<unsigned long long>(step.waves),
                static_cast<unsigned long long>(step.vertices), static_cast<unsigned long long>(step.edges),
                step.ns / 1e3);
  }
}

} // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: graph_steps PROGRAM DEVICE ROUNDS\n", stderr);
    return 2;
  }
  try {
    const std::string text = require(read_all(arguments[1], documents::document_bytes_limit));
    const auto program = require(documents::decode<graphs::FrontierProgram>(text));
    app::RunSettings settings;
    settings.selector = arguments[2];
    measure(program, std::filesystem::path(arguments[1]).parent_path().string(),
            require(app::find_device(settings)), std::atoi(arguments[3]));
  } catch (const device::Refused& refused) {
    fail(refused.error.message);
  }
  return 0;
}
