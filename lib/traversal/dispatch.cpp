#include "traversal/dispatch.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

// Sets all arguments but the last one, tg_launch; returns its index.
std::uint32_t set_arguments(const device::Session& session, const device::Kernel& kernel,
                            const ResidentGraph& resident, const device::Buffer& counters,
                            const device::Buffer& reports) {
  return session.set(kernel, set_graph(session, kernel, resident), resident.part(Part::log), counters,
                     reports, counters);
}

// Arguments of a launch that does nothing but take part in a poll.
void set_poll(const device::Session& session, const device::Kernel& kernel, const device::Buffer& poll,
              std::uint32_t settle_polls, std::uint32_t most_polls) {
  ResidentGraph nothing;
  nothing.parts.fill(poll);
  const std::uint32_t index = set_arguments(session, kernel, nothing, poll, poll);
  const tg_launch launch{.limit_wave = settle_polls, .most_polls = most_polls, .action = TG_ACTION_POLL};
  session.set(kernel, index, launch);
}

// Returns a value that the device has written, if it is one of those that have names.
template <class Choice>
Choice one_of(std::uint32_t value, std::span<const std::string_view> names) {
  return static_cast<Choice>(runtime::checked_index(value, names.size(), "a topology or a rule"));
}

WaveRecord record_of(const tg_log_row& row, std::uint32_t vertices) {
  return {.wave = row.wave,
          .topology = one_of<policy::Topology>(row.topology, policy::topology_names),
          .previous_topology = one_of<policy::Topology>(row.previous_topology, policy::topology_names),
          .rule = one_of<policy::TopologyRule>(row.rule, policy::topology_rule_names),
          .threshold = row.threshold,
          .vertices = row.vertices,
          .density_bps = policy::tg_density_bps(row.vertices, vertices),
          .frontier_edges = row.frontier_edges,
          .previous_edges = row.previous_edges,
          .unexplored_edges = row.unexplored_edges,
          .scanned_edges = row.scanned_edges,
          .trend = trend_of(row.frontier_edges, row.previous_edges),
          .dense_waves = row.dense_waves,
          .alone = row.alone != 0};
}

// Returns the times of launches and, with a clock, of the first waves. `clocks`: of the launches that `times` has.
runtime::Trace trace_of(const device::Session& session, const runtime::DispatchLimits& limits,
                        const runtime::LaunchTimes& times, std::span<const tg_clock> clocks,
                        std::uint64_t first_wave, std::span<const std::uint64_t> ends) {
  runtime::Trace trace{.launches = times.spans(session), .tasks = {}, .left_out = times.left_out()};
  if (limits.clock == runtime::DeviceClock::none) {
    return trace;
  }
  std::vector<runtime::SliceTimes> slices;
  for (const runtime::LaunchSpan& launch : trace.launches) {
    const tg_clock& clock = clocks[slices.size()];
    slices.push_back({.begin_ns = launch.begin_ns,
                      .end_ns = launch.end_ns,
                      .begin_ticks = clock.begin,
                      .end_ticks = clock.end});
  }
  trace.tasks = wave_spans(limits.clock, slices, first_wave, ends);
  return trace;
}

// The groups that gave up waiting; they report the topology of their wave in place of a tile.
std::vector<runtime::StuckGroup> stuck_groups(const device::Session& session, const device::Buffer& reports,
                                              std::uint32_t groups) {
  auto stuck = runtime::read_stuck_groups(session, reports, 0, groups);
  for (runtime::StuckGroup& group : stuck) {
    const auto topology = std::min<std::uint64_t>(group.tile, policy::topology_names.size() - 1);
    group.waves = {std::string(policy::topology_names[topology])};
    group.tile = 0;
  }
  return stuck;
}

} // namespace

Result<runtime::Residency> find_groups(const device::Session& session, const TraversalPlan& plan,
                                       runtime::BuiltKernel& kernel, const RunOptions& options) {
  constexpr std::uint32_t most_groups = 1U << 16U; // TG_ADD_PARTS of kernels/frontier/job.cl
  const std::optional<std::uint32_t> asked_for = options.workers;
  const bool waits = plan.strategy.strategy != device::Strategy::launch;
  runtime::Residency groups{.workers = plan.shape.groups};
  if (waits) {
    groups.resident = runtime::resident_groups(
        session, *plan.device, kernel, plan.geometry.group_size,
        [&](const device::Buffer& poll, std::uint32_t settle, std::uint32_t most_polls) {
          set_poll(session, kernel.kernel, poll, settle, most_polls);
        });
    groups.workers = asked_for ? groups.workers : std::min(groups.workers, groups.resident);
  }
  TIDEGATE_CHECK(runtime::check_workers(
      groups.workers, waits ? std::min(groups.resident, most_groups) : most_groups, *plan.device));
  if (plan.memory.constrained && !asked_for) {
    policy::LaunchRequest request;
    request.requested_worker_groups = groups.workers;
    request.memory_pressure_bps = plan.memory.pressure_bps;
    if (const auto shed =
            policy::shed_workers(plan.program.policy.launch, request, policy::Topology::memory_constrained)) {
      groups.workers = std::max(shed->worker_groups, 1U);
    }
  }
  groups.workers = std::max(groups.workers, 1U);
  return groups;
}

runtime::DispatchLimits limits_of(const TraversalPlan& plan, const RunOptions& options,
                                  const runtime::Residency& groups) {
  constexpr std::uint32_t gpu_polls = std::uint32_t{1} << 26U; // groups wait long while one works alone
  runtime::DispatchLimits limits =
      runtime::dispatch_limits(*plan.device, groups, gpu_polls, options.slice_ns, options.max_wall_time_ns);
  if (plan.strategy.strategy == device::Strategy::launch) { // nothing waits inside
    limits.arrivals_per_barrier = 0;
  }
  return limits;
}

void compile_now(const device::Session& session, runtime::BuiltKernel& kernel,
                 const FrontierGeometry& geometry, const runtime::Residency& groups) {
  const device::Buffer nothing = session.allocate(runtime::poll_bytes);
  session.clear(nothing, runtime::poll_bytes);
  set_poll(session, kernel.kernel, nothing, 1, 1);
  runtime::compile_by_launching(session, kernel, geometry.group_size, groups.workers);
}

TraversalOutcome traverse(const device::Session& session, runtime::BuiltKernel& kernel,
                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                          const runtime::DispatchLimits& limits, runtime::Monitor& monitor) {
  TraversalOutcome outcome{.waves = {.group_size = geometry.group_size, .workers = limits.workers}};
  outcome.ended_at = runtime::SliceLoop::Clock::now();
  const tg_u32 vertices = resident.setting.vertices, sources = resident.setting.source_count;
  if (vertices == 0) { // no kernel need ask whether there is a first vertex
    return outcome;
  }
  outcome.vertices_left = sources != 0 ? sources : vertices;
  const device::LaunchRange groups = device::work_groups(limits.workers, geometry.group_size);
  const runtime::Counters counters(session, limits.workers, monitor);
  const std::uint64_t report_bytes = runtime::group_report_words * sizeof(std::uint32_t) * limits.workers;
  const device::Buffer reports = session.allocate(report_bytes);
  session.clear(reports, report_bytes);
  session.clear(resident.part(Part::state), sizeof(tg_state));
  session.clear(resident.part(Part::log), log_rows * sizeof(tg_log_row));
  session.finish();

  const std::uint32_t argument = set_arguments(session, kernel.kernel, resident, counters.memory(), reports);
  tg_launch next{.most_polls = limits.most_polls,
                 .arrivals_per_barrier = limits.arrivals_per_barrier,
                 .action = TG_ACTION_RUN};

  // Slices of it, until it is done or time is up.
  const bool persistent = limits.arrivals_per_barrier != 0;
  std::uint64_t budget = persistent ? log_rows : 4096; // waves of the next slice
  std::uint64_t batch = persistent ? 1 : 8;            // launches of the next slice
  constexpr std::uint64_t most_batch = TG_MOST_BATCH;
  // On a CPU a launch in vain costs as much as it does to ask whether there is more to do: launches that take
  // longer than this are worth asking.
  constexpr std::uint64_t short_launch_ns = 50'000;
  const auto start = runtime::SliceLoop::Clock::now();
  const device::CallCounts calls_before = session.calls()->now();
  outcome.ended_at = start;
  runtime::SliceLoop loop(session, monitor, outcome);
  runtime::LaunchTimes times(limits.trace_spans, start);
  std::vector<tg_clock> clocks;    // of the first launches
  std::vector<std::uint64_t> ends; // of the first waves
  const std::uint64_t most_ends = std::min<std::uint64_t>(limits.trace_spans, WaveLog::most_records);
  std::uint64_t first_wave = 0;
  // Takes the first rows of the log, up to one that is not of the wave that follows.
  const auto take_log = [&](std::uint32_t most, std::uint32_t wave) {
    std::vector<tg_log_row> rows(most);
    session.read(resident.part(Part::log), 0, std::as_writable_bytes(std::span(rows)));
    for (const tg_log_row& row : rows) {
      if (row.wave != wave || (wave == 0 && row.vertices == 0)) {
        break;
      }
      ++wave;
      outcome.waves.add(record_of(row, vertices));
      monitor.items += row.vertices;
      if (ends.size() < most_ends) {
        ends.push_back(row.ended);
      }
    }
    monitor.iterations = outcome.waves.sums.waves;
  };
  for (tg_position at{}; at.step != TG_STEP_DONE;) {
    if (loop.out_of_time(limits.deadline)) {
      break;
    }
    next.log_begin = at.wave;
    next.limit_wave =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(at.wave + budget, ~std::uint32_t{0}));
    const auto launch = [&] {
      for (std::uint64_t i = 0; i < batch; ++i) {
        session.set(kernel.kernel, argument, next);
        session.launch(kernel.kernel, groups, times.event({}, at.wave));
        ++next.number;
      }
    };
    struct Head {
      tg_position launches[2];
      tg_u32 stuck;
    } head{};
    static_assert(offsetof(tg_state, stuck) == offsetof(Head, stuck));
    const std::uint64_t elapsed =
        loop.run(batch, launch, resident.part(Part::state), std::as_writable_bytes(std::span(&head, 1)));
    if (limits.trace_spans != 0) {
      struct {
        tg_u64 first_wave;
        tg_clock of[TG_MOST_BATCH];
      } read{};
      static_assert(offsetof(tg_state, clocks) ==
                    offsetof(tg_state, first_wave) + offsetof(decltype(read), of));
      session.read(resident.part(Part::state), offsetof(tg_state, first_wave),
                   std::as_writable_bytes(std::span(&read, 1)));
      first_wave = read.first_wave;
      while (clocks.size() < std::min<std::uint64_t>(next.number, limits.trace_spans)) {
        clocks.push_back(read.of[clocks.size() % TG_MOST_BATCH]);
      }
    }
    const tg_position reached = head.launches[next.number & 1U];
    const bool moved = !persistent || reached.round != at.round || reached.step == TG_STEP_DONE;
    if (!loop.goes_on(head.stuck != 0, moved, limits.deadline,
                      [&] { return stuck_groups(session, reports, limits.workers); })) {
      if (outcome.waited) { // the groups have left where they were; the log has the waves that ended
        take_log(log_rows, at.wave);
        const bool in_next = reached.wave == outcome.waves.sums.waves;
        outcome.vertices_left = std::uint64_t{std::max(1U, in_next ? reached.vertices : 0U)} +
                                reached.far; // of the wave that has not ended
      }
      break;
    }
    take_log(
        static_cast<std::uint32_t>(runtime::checked_index(reached.wave - at.wave, log_rows + 1, "a wave")),
        at.wave);
    outcome.vertices_left = reached.step == TG_STEP_DONE ? 0 : std::uint64_t{reached.vertices} + reached.far;
    at = reached;
    outcome.rank_change = static_cast<double>(at.change) / rank_units;
    // Towards slices of the wanted length, not too fast: the next waves may be larger.
    if (elapsed > limits.slice_ns) {
      budget = std::max<std::uint64_t>(budget * limits.slice_ns / elapsed, 1);
    } else if (elapsed < limits.slice_ns / 4) {
      budget = std::min<std::uint64_t>(budget * 4, log_rows);
    }
    const bool asks_seldom = !session.on_host || elapsed < batch * short_launch_ns;
    batch = persistent
                ? 1
                : runtime::next_batch(batch, elapsed, limits.slice_ns, asks_seldom ? 2 : 1, most_batch);
  }
  outcome.dispatch_ns = elapsed_ns(start, outcome.ended_at);
  outcome.calls = session.calls()->since(calls_before);
  if (limits.trace_spans != 0) {
    outcome.trace = trace_of(session, limits, times, clocks, first_wave, ends);
    outcome.trace->left_out +=
        limits.clock == runtime::DeviceClock::none ? 0 : outcome.waves.sums.waves - ends.size();
    for (const runtime::TaskSpan& task : outcome.trace->tasks) {
      outcome.waves.records[task.iteration].time_ns = task.ended_ns - task.began_ns;
    }
  }
  return outcome;
}

using runtime::TaskSpan;

std::vector<TaskSpan> wave_spans(runtime::DeviceClock clock, std::span<const runtime::SliceTimes> launches,
                                 std::uint64_t first, std::span<const std::uint64_t> ends) {
  // The first wave, too, may end in a later launch than that of its begin: a row of its own ends there.
  std::vector<runtime::SpanRow> rows{{.asked = first, .began = first, .ended = first}};
  for (const std::uint64_t end : ends) {
    rows.push_back(
        {.asked = end, .began = end, .ended = end, .iteration = static_cast<std::uint32_t>(rows.size() - 1)});
  }
  std::vector<TaskSpan> spans = task_spans(clock, launches, 0, rows);
  for (std::size_t i = spans.size(); i-- > 1;) {
    spans[i].began_ns = spans[i - 1].ended_ns;
  }
  spans.erase(spans.begin(), spans.begin() + (spans.empty() ? 0 : 1));
  return spans;
}

runtime::Timeline timeline_of(std::span<const WaveRecord> waves, const runtime::Trace& trace,
                              runtime::DeviceClock clock, bool persistent) {
  runtime::Timeline timeline{.clock = clock, .names = {}, .left_out = trace.left_out};
  for (const std::string_view name : policy::topology_names) {
    timeline.names.emplace_back(name);
  }
  const auto launch = static_cast<std::uint32_t>(timeline.names.size());
  timeline.names.emplace_back(persistent ? "slice" : "step");
  timeline.lanes = {{.name = "launches", .spans = {}}, {.name = "waves", .spans = {}}};
  for (const runtime::LaunchSpan& span : trace.launches) {
    timeline.lanes[0].spans.push_back({.kind = runtime::SpanKind::slice,
                                       .begin_ns = span.begin_ns,
                                       .end_ns = span.end_ns,
                                       .name = launch,
                                       .iteration = span.iteration});
  }
  timeline.curves = {{.name = "vertices in the frontier", .points = {}},
                     {.name = "edges scanned", .points = {}}};
  for (const TaskSpan& task : trace.tasks) {
    const WaveRecord& wave = waves[task.iteration];
    timeline.lanes[1].spans.push_back({.kind = runtime::SpanKind::work,
                                       .begin_ns = task.began_ns,
                                       .end_ns = task.ended_ns,
                                       .name = static_cast<std::uint32_t>(wave.topology),
                                       .iteration = task.iteration});
    timeline.curves[0].points.emplace_back(task.began_ns, wave.vertices);
    timeline.curves[1].points.emplace_back(task.began_ns, wave.scanned_edges);
  }
  if (!trace.tasks.empty()) { // back to nothing
    for (runtime::Curve& curve : timeline.curves) {
      curve.points.emplace_back(trace.tasks.back().ended_ns, 0);
    }
  }
  return timeline;
}

} // namespace tidegate::traversal
