#include "engine/traversal/dispatch.hpp"

#include "core/duration.hpp"
#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include "engine/dispatch.hpp"
#include "engine/traversal/kernel_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace tidegate::traversal {
namespace {

using device::require;
using Clock = std::chrono::steady_clock;

constexpr std::size_t report_words = 8;

// Purposes of a launch; the numbers match kernels/frontier/traversal.cl.
constexpr cl_uint run_action = 0;
constexpr cl_uint poll_action = 1;

// Arguments of a launch, in the order of the kernel's parameters after the graph's.
struct LaunchArguments {
  cl::Buffer log, counters, reports, poll;
  cl_uint launch = 0;
  cl_uint limit_wave = 0;
  cl_uint log_begin = 0;
  cl_uint most_polls = 0;
  cl_uint arrivals_per_barrier = 0;
  cl_uint action = run_action;
};

cl_uint set_graph(cl::Kernel& kernel, const ResidentGraph& resident) {
  cl_uint index = 0;
  for (; index < static_cast<cl_uint>(Part::log); ++index) {
    require(kernel.setArg(index, resident.parts[index]), "setting an argument of the traversal");
  }
  require(kernel.setArg(index++, resident.setting.size(), resident.setting.data()),
          "setting an argument of the traversal");
  return index;
}

void set_launch(cl::Kernel& kernel, cl_uint index, const LaunchArguments& arguments) {
  for (const cl::Buffer& buffer : {arguments.log, arguments.counters, arguments.reports, arguments.poll}) {
    require(kernel.setArg(index++, buffer), "setting an argument of the traversal");
  }
  for (const cl_uint value : {arguments.launch, arguments.limit_wave, arguments.log_begin,
                              arguments.most_polls, arguments.arrivals_per_barrier, arguments.action}) {
    require(kernel.setArg(index++, value), "setting an argument of the traversal");
  }
}

// Arguments of a launch that does nothing but take part in a poll.
void set_poll(cl::Kernel& kernel, const cl::Buffer& poll, cl_uint settle_polls, cl_uint most_polls) {
  ResidentGraph nothing;
  nothing.parts.fill(poll);
  nothing.setting.resize(sizeof(tg_setting));
  set_launch(kernel, set_graph(kernel, nothing),
             {.log = poll,
              .counters = poll,
              .reports = poll,
              .poll = poll,
              .limit_wave = settle_polls,
              .most_polls = most_polls,
              .action = poll_action});
}

WaveRecord record_of(const tg_log_row& row, std::uint32_t vertices) {
  return {.wave = row.wave,
          .topology = static_cast<policy::Topology>(row.topology),
          .previous_topology = static_cast<policy::Topology>(row.previous_topology),
          .rule = static_cast<policy::TopologyRule>(row.rule),
          .threshold = row.threshold,
          .vertices = row.vertices,
          .density_bps = policy::tg_density_bps(row.vertices, vertices),
          .frontier_edges = row.frontier_edges,
          .previous_edges = row.previous_edges,
          .unexplored_edges = row.unexplored_edges,
          .scanned_edges = row.scanned_edges,
          .trend = row.frontier_edges > row.previous_edges   ? Trend::growing
                   : row.frontier_edges < row.previous_edges ? Trend::shrinking
                                                             : Trend::steady,
          .dense_waves = row.dense_waves,
          .alone = row.alone != 0};
}

// The groups that gave up waiting, as they report it.
std::vector<engine::StuckGroup> stuck_groups(const device::Session& session, const cl::Buffer& reports,
                                             std::uint32_t groups) {
  std::vector<cl_uint> words(report_words * groups);
  engine::download(session, reports, 0, std::as_writable_bytes(std::span(words)));
  std::vector<engine::StuckGroup> stuck;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const cl_uint* const report = words.data() + report_words * group;
    if (report[0] != 0) {
      const cl_uint topology = std::min<cl_uint>(report[3], policy::topology_names.size() - 1);
      stuck.push_back({.group = group,
                       .iteration = report[1],
                       .stage = report[2],
                       .waves = {std::string(policy::topology_names[topology])},
                       .tile = 0,
                       .counter = "arrivals at the barrier",
                       .expected = report[5],
                       .seen = report[6]});
    }
  }
  return stuck;
}

bool out_of_time(const DispatchLimits& limits, TraversalOutcome& outcome) {
  if (InterruptWatch::interrupted()) {
    outcome.status = engine::RunStatus::interrupted;
  } else if (Clock::now() >= limits.deadline) {
    outcome.status = engine::RunStatus::deadline;
  } else {
    return false;
  }
  return true;
}

} // namespace

std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              engine::BuiltKernel& kernel, const FrontierGeometry& geometry) {
  return engine::resident_groups(
      session, device, kernel, geometry.group_size,
      [&kernel](const cl::Buffer& poll, std::uint32_t settle, std::uint32_t most_polls) {
        set_poll(kernel.kernel, poll, settle, most_polls);
      });
}

void compile_now(const device::Session& session, engine::BuiltKernel& kernel,
                 const FrontierGeometry& geometry, const FrontierGroups& groups) {
  constexpr std::uint64_t poll_bytes =
      6 * engine::Counters::line_words * sizeof(cl_uint); // of kernels/common/occupancy.cl
  const cl::Buffer nothing = engine::allocate(session, poll_bytes);
  require(session.queue.enqueueFillBuffer(nothing, cl_uint{0}, 0, poll_bytes), "clearing a buffer");
  set_poll(kernel.kernel, nothing, 1, 1);
  for (const std::uint32_t count : {1U, groups.groups}) { // small and large ranges may be compiled apart
    require(session.queue.enqueueNDRangeKernel(kernel.kernel, cl::NullRange,
                                               cl::NDRange(std::size_t{count} * geometry.group_size),
                                               cl::NDRange(geometry.group_size)),
            "compiling the kernel of a traversal");
  }
  require(session.queue.finish(), "compiling the kernel of a traversal");
}

TraversalOutcome traverse(const device::Session& session, engine::BuiltKernel& kernel,
                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                          const DispatchLimits& limits, engine::Monitor& monitor) {
  TraversalOutcome outcome;
  const cl::NDRange group(geometry.group_size);
  const cl::NDRange all(std::size_t{limits.groups.groups} * geometry.group_size);
  const engine::Counters counters(session, limits.groups.groups, monitor);
  const std::uint64_t report_bytes = report_words * sizeof(cl_uint) * limits.groups.groups;
  const cl::Buffer reports = engine::allocate(session, report_bytes);
  require(session.queue.enqueueFillBuffer(reports, cl_uint{0}, 0, report_bytes), "clearing reports");
  require(session.queue.enqueueFillBuffer(resident.part(Part::state), cl_uint{0}, 0, sizeof(tg_state)),
          "clearing the state of a traversal");
  require(session.queue.finish(), "clearing counters");

  const cl_uint launch_index = set_graph(kernel.kernel, resident);
  const auto start = Clock::now();
  LaunchArguments arguments{.log = resident.part(Part::log),
                            .counters = counters.memory(),
                            .reports = reports,
                            .poll = counters.memory(),
                            .most_polls = limits.most_polls,
                            .arrivals_per_barrier = limits.arrivals_per_barrier};
  const auto launch = [&](const cl::NDRange& range) {
    set_launch(kernel.kernel, launch_index, arguments);
    require(session.queue.enqueueNDRangeKernel(kernel.kernel, cl::NullRange, range, group),
            "launching a traversal");
  };

  // Slices of it, until it is done or time is up.
  const bool persistent = limits.arrivals_per_barrier != 0;
  std::uint64_t budget = persistent ? log_rows : 4096; // waves of the next slice
  std::uint32_t batch = persistent ? 1 : 8;            // launches of the next slice
  constexpr std::uint32_t most_batch = 128;
  // On a CPU a launch in vain costs as much as it does to ask whether there is more to do: launches that take
  // longer than this are worth asking.
  constexpr std::uint64_t short_launch_ns = 50'000;
  for (tg_position at{}; at.step != TG_STEP_DONE;) {
    if (out_of_time(limits, outcome)) {
      break;
    }
    arguments.log_begin = at.wave;
    arguments.limit_wave = static_cast<cl_uint>(std::min<std::uint64_t>(at.wave + budget, ~cl_uint{0}));
    const auto slice_start = Clock::now();
    monitor.in_flight = batch;
    for (std::uint32_t i = 0; i < batch; ++i) {
      launch(all);
      ++arguments.launch;
      ++outcome.launches;
    }
    struct Head {
      tg_position launches[2];
      tg_u32 stuck;
    } head{};
    static_assert(offsetof(tg_state, stuck) == offsetof(Head, stuck));
    // A launch has ended before what it says of itself is read, 10 us later on an H200: the last one's end is
    // the traversal's.
    require(session.queue.finish(), "running a traversal");
    monitor.in_flight = 0;
    const std::uint64_t elapsed = elapsed_ns(slice_start);
    outcome.dispatch_ns = elapsed_ns(start);
    require(session.queue.enqueueReadBuffer(resident.part(Part::state), CL_TRUE, 0, sizeof head, &head),
            "reading where a traversal is");
    outcome.slices_ns.push_back(elapsed);
    ++outcome.sync_points;
    outcome.bytes_read_back += sizeof head;
    if (head.stuck != 0) {
      auto stuck = stuck_groups(session, reports, limits.groups.groups);
      if (!stuck.empty() && monitor.stopped && out_of_time(limits, outcome)) {
        outcome.waited = true;
        break;
      }
      if (!stuck.empty()) {
        outcome.status = engine::RunStatus::hang;
        outcome.stuck_groups = std::move(stuck);
        break;
      }
    }
    const tg_position reached = head.launches[arguments.launch & 1U];
    if (persistent && reached.round == at.round && reached.step != TG_STEP_DONE) {
      outcome.status = engine::RunStatus::hang; // a device that runs nothing at all would be asked for ever
      break;
    }
    std::vector<tg_log_row> rows(reached.wave - at.wave);
    engine::download(session, resident.part(Part::log), 0, std::as_writable_bytes(std::span(rows)));
    outcome.bytes_read_back += rows.size() * sizeof(tg_log_row);
    for (const tg_log_row& row : rows) {
      outcome.waves.push_back(record_of(row, resident.vertices));
    }
    at = reached;
    outcome.rank_change = static_cast<double>(at.change) / rank_units;
    monitor.iterations = at.wave;
    // Towards slices of the wanted length, not too fast: the next waves may be larger.
    if (elapsed > limits.slice_ns) {
      budget = std::max<std::uint64_t>(budget * limits.slice_ns / elapsed, 1);
      batch = std::max(batch / 2, 1U);
    } else if (elapsed < limits.slice_ns / 4) {
      budget = std::min<std::uint64_t>(budget * 4, log_rows);
      const bool asks_seldom = !session.on_host || elapsed < batch * short_launch_ns;
      batch = persistent ? 1 : asks_seldom ? std::min(batch * 2, most_batch) : batch;
    }
  }
  return outcome;
}

} // namespace tidegate::traversal
