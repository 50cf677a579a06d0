#include "engine/traversal/run.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/npy.hpp"
#include "device/monitor.hpp"
#include "engine/kept.hpp"
#include "engine/proof.hpp"
#include "engine/report.hpp"
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/own.hpp"
#include "engine/traversal/rank_run.hpp"
#include "engine/traversal/resident.hpp"
#include "engine/traversal/setup.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace tidegate::traversal {
namespace {

using engine::RunStatus;
using engine::Strategy;
using graphs::Algorithm;
using Clock = std::chrono::steady_clock;

// A graph, on the host and on the device, with what was built for it. In a stream it stays for the next traversal.
struct KeptGraph final : engine::Holding {
  std::string key;
  graphs::LoadedGraph loaded;
  std::optional<ResidentGraph> resident;
  engine::KernelSource source;    // that `kernel` was built from
  std::vector<std::byte> initial; // first values of the vertices, if the program has a file of them
  std::optional<engine::BuiltKernel> kernel;
  bool checked = false;                      // a result of this graph was checked and right
  std::optional<device::Program> own_checks; // set once the algorithm has kept its laws

  [[nodiscard]] std::optional<engine::DevicePart> find(const std::string&) const override { return {}; }
};

// Returns a key of all that decides how a program's graph is loaded and laid out in memory; empty if a file's
// state is unknown.
std::string graph_key(graphs::FrontierProgram program, const std::string& folder) {
  std::string key = folder + '\n';
  if (program.graph.file) {
    const std::string state = file_state(path_in(folder, *program.graph.file));
    if (state.empty()) {
      return {};
    }
    key += state + '\n';
  }
  if (program.own && program.own->initial) {
    const std::string state = file_state(path_in(folder, *program.own->initial));
    if (state.empty()) {
      return {};
    }
    key += state + '\n';
  }
  const bool parents = program.outputs.parents.has_value();
  program.outputs = {};
  program.graph.ids = {};
  program.outputs.parents = parents ? std::optional<std::string>("") : std::nullopt;
  program.sources.clear();
  program.rules.clear();
  program.pagerank = {};
  return key + documents::encode(program, documents::Style::compact);
}

// Returns the graph that an earlier traversal of the stream left, or null.
std::shared_ptr<KeptGraph> find_graph(engine::Kept& kept, const std::string& key) {
  for (const auto& holding : kept.holdings) {
    const auto graph = std::dynamic_pointer_cast<KeptGraph>(holding);
    if (graph && !key.empty() && graph->key == key) {
      kept.use(graph);
      return graph;
    }
  }
  return {};
}

struct OutputFile {
  std::string_view name;
  std::string path;
  bool parents = false; // writes parents, otherwise values
};

std::vector<OutputFile> outputs_of(const graphs::FrontierProgram& program, const std::string& folder) {
  const graphs::FrontierOutputs& outputs = program.outputs;
  std::vector<OutputFile> files;
  const auto add = [&](std::string_view name, const std::optional<std::string>& path, bool parents = false) {
    if (path) {
      files.push_back(
          {name, (std::filesystem::path(folder.empty() ? "." : folder) / *path).string(), parents});
    }
  };
  add("levels", outputs.levels);
  add("parents", outputs.parents, true);
  add("reached", outputs.reached);
  add("distances", outputs.distances);
  add("components", outputs.components);
  add("ranks", outputs.ranks);
  add("values", outputs.values);
  return files;
}

Result<void> check_outputs(const graphs::FrontierProgram& program, const std::string& folder) {
  for (const OutputFile& file : outputs_of(program, folder)) {
    if (auto probe = Output::open(file.path, FileKinds::no_named_pipes); !probe) {
      probe.error().pointer = fmt::format("/outputs/{}", file.name);
      return tl::unexpected(std::move(probe.error()));
    }
  }
  return {};
}

std::string output_head(const std::string& path, ElementType type, std::uint64_t elements) {
  return path.ends_with(".npy") ? npy_header(type, std::array{elements}) : std::string();
}

Result<void> write_outputs(const graphs::FrontierProgram& program, const std::string& folder,
                           const TraversalResults& results, ElementType value_type,
                           std::vector<engine::WrittenFile>& written) {
  for (const OutputFile& file : outputs_of(program, folder)) {
    const std::vector<std::uint32_t>& values = file.parents ? results.parents : results.values;
    const auto bytes = std::as_bytes(std::span(values));
    const ElementType type = file.parents ? ElementType::u32 : value_type;
    TIDEGATE_TRY(Output output, Output::open(file.path, FileKinds::no_named_pipes));
    TIDEGATE_CHECK(output.write(output_head(file.path, type, bytes.size() / element_bytes(type))));
    TIDEGATE_CHECK(output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    TIDEGATE_CHECK(output.commit());
    written.push_back(engine::written_file(file.path, std::string(file.name)));
  }
  return {};
}

// Writes the outputs together with all ranks: each writes the results of its own vertices, from `first` on.
Result<void> write_in_parts(const graphs::FrontierProgram& program, const std::string& folder,
                            const TraversalResults& results, std::uint32_t first, const RankPart& part,
                            ElementType value_type, ranks::Ranks& ranks,
                            std::vector<engine::WrittenFile>& written) {
  for (const OutputFile& output : outputs_of(program, folder)) {
    const auto bytes = std::as_bytes(std::span(output.parents ? results.parents : results.values));
    const ElementType type = output.parents ? ElementType::u32 : value_type;
    const std::uint64_t size = element_bytes(type);
    ranks::FileInParts file{.path = output.path,
                            .head = output_head(output.path, type, part.cut.back()),
                            .begin = {},
                            .read = [&](std::uint64_t at, std::span<std::byte> block) {
                              std::ranges::copy(bytes.subspan(at - first * size, block.size()),
                                                block.begin());
                            }};
    for (const std::uint32_t vertex : part.cut) {
      file.begin.push_back(vertex * size);
    }
    TIDEGATE_CHECK(ranks::write_in_parts(file, ranks));
    if (ranks.rank() == 0) {
      written.push_back(engine::written_file(output.path, std::string(output.name)));
    }
  }
  return {};
}

// Says why the outputs of a run that came to its end are withheld.
Error differing(const FrontierReport& report) {
  if (!report.replay->first_difference) {
    return *report.verification->error;
  }
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format("replay_differs: the device chose another topology for wave {} than the "
                                 "policy makes of the logged numbers",
                                 *report.replay->first_difference),
          .fix = "this is a bug in tidegate or in the device's compiler: please report the program",
          .field = "replay_differs"};
}

// Returns the bytes that the host can still give out; 0 if it does not report them.
std::uint64_t available_memory() {
  constexpr std::size_t most = 4096;
  constexpr std::string_view name = "MemAvailable:";
  const std::string text = read_all("/proc/meminfo", most).value_or("");
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10) << 10U;
}

// Names what a result is compared with.
std::string_view reference_of(const graphs::FrontierProgram& program) {
  return program.own ? "plain rounds over all edges" : "the serial algorithm";
}

// Decides whether to check this run's result as a first run's: yes if `compared` and not `kept`.
engine::FirstRun plan_first_check(const graphs::FrontierProgram& program, const KeptGraph& kept,
                                  const engine::RunOptions& options, std::size_t waves) {
  const graphs::Graph& graph = kept.loaded.graph;
  engine::FirstRun first{.budget_ns = options.first_run_budget_ns};
  const std::string_view reference = reference_of(program);
  std::error_code unknown;
  if (!options.verify_first) {
    first.reason = "not checked: --set verify-first=no";
  } else if (!options.traversal.checked.empty() &&
             std::filesystem::exists(options.traversal.checked, unknown)) {
    first.compared = first.equal = first.kept = true;
    first.reason = "checked on an earlier run here, right by " + std::string(reference);
  } else if (kept.checked) {
    first.compared = first.equal = first.kept = true;
    first.reason = "checked with this graph for an earlier request, right by " + std::string(reference);
  } else if (!graph.cut.empty()) {
    first.reason =
        "not checked: each rank has its part of a graph of this size; with --verify rank 0 has all of it";
  } else {
    VerificationCost cost = verification_cost(program, graph);
    // A pass over all edges for each wave, on the device: taken as 8 times as fast as a serial one.
    cost.ns = program.own ? cost.ns / 8 * waves : cost.ns;
    const std::uint64_t memory = available_memory();
    first.compared = cost.ns <= first.budget_ns && cost.bytes <= memory;
    if (!first.compared) {
      const std::string edges = plural(graphs::edge_count(graph), "edge");
      first.reason =
          cost.ns > first.budget_ns
              ? fmt::format("not checked: by estimate the serial check of {} takes {}, and "
                            "measure-budget is {}",
                            edges, seconds_text(cost.ns), seconds_text(first.budget_ns))
              : fmt::format("not checked: the serial check of {} may take {} of the host's memory, "
                            "and {} are available",
                            edges, bytes_text(cost.bytes), bytes_text(memory));
    }
  }
  return first;
}

// Passes the result of a program's own algorithm along all edges once more, on the device: a part of every run.
void check_fix_point(OwnChecks& own, const TraversalResults& results, FrontierReport& report) {
  const auto start = Clock::now();
  std::uint64_t reached = 0;
  report.verification = Verification{.checks = {"laws", "fix_point"},
                                     .error = own.check_fix_point(results.values, reached),
                                     .allowed_change = {}};
  report.verification->right = !report.verification->error;
  report.answer = Answer{.reached = reached};
  report.verify_ns = elapsed_ns(start);
}

// Checks the result as the program's first run or --verify wants it.
void check_result(const graphs::FrontierProgram& program, KeptGraph& kept, TraversalResults& results,
                  engine::FirstRun first, OwnChecks* own, const engine::RunOptions& options,
                  engine::Monitor& monitor, FrontierReport& report) {
  if (options.verify || (first.compared && !first.kept)) {
    monitor.begin(engine::Activity::verifying);
    const auto start = Clock::now();
    monitor.deadline = start + engine::build_limit; // the check may take long: the watchdog must not end it
    if (own == nullptr) {
      report.verification = verify(program, kept.loaded.graph, results);
    } else {
      const std::uint64_t most_ns = options.verify ? options.max_wall_time_ns : first.budget_ns;
      report.verification->error =
          own->check_by_plain_rounds(results.values, start + std::chrono::nanoseconds(most_ns));
      if (report.verification->error && report.verification->error->code == ErrorCode::wall_time_exceeded &&
          !options.verify) {
        first.reason = "not checked: plain rounds over all edges took longer than measure-budget";
        first.compared = false;
        report.verification->error.reset();
        report.first_run = std::move(first);
        return;
      }
      report.verification->checks.emplace_back("plain_rounds");
      report.verification->right = !report.verification->error;
    }
    if (report.verification->error && report.graph.first_id != 0) {
      report.verification->error->message += " (vertices counted from 0)";
    }
    first.elapsed_ns = elapsed_ns(start);
    report.verify_ns += first.elapsed_ns;
    first.runs = 1;
    first.iterations = report.waves.size();
    first.compared = true;
    first.equal = report.verification->right;
    kept.checked = first.equal && !report.replay->first_difference;
    first.kept = kept.checked && keep_file(options.traversal.checked, "right by the serial algorithm\n");
    first.reason =
        first.equal ? "right by " + std::string(reference_of(program)) : report.verification->error->message;
    if (!first.equal && !options.verify) {
      report.warnings.push_back(
          {.message = fmt::format("the result of this program's first run here is wrong after {}: {}",
                                  plural(report.waves.size(), "wave"), first.reason),
           .fix = "this is a bug in tidegate or in the device's compiler: please report it, with the program "
                  "and this report",
           .pointer = "/algorithm"});
    }
  }
  report.first_run = std::move(first);
}

// Times the traversal as it ran, and launch by launch.
std::optional<engine::Comparison> compare(const device::Session& session, engine::BuiltKernel& kernel,
                                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                                          const engine::DispatchLimits& limits, std::uint64_t rounds,
                                          engine::Monitor& monitor) {
  engine::DispatchLimits launches = limits;
  launches.arrivals_per_barrier = 0;
  const auto timed = [&](const engine::DispatchLimits& way) -> std::optional<std::uint64_t> {
    const TraversalOutcome once = traverse(session, kernel, resident, geometry, way, monitor);
    return once.status == RunStatus::done ? std::optional(once.dispatch_ns) : std::nullopt;
  };
  return engine::compare_ways(
      rounds, limits.arrivals_per_barrier == 0, [&] { return timed(launches); },
      [&] { return timed(limits); });
}

// Returns the clock that the kernel reads, if the traversal is traced.
engine::DeviceClock clock_of(const engine::RunOptions& options, const device::DeviceInfo& device) {
  return options.compile.trace ? engine::device_clock(device) : engine::DeviceClock::none;
}

// Refuses devices and forced topologies that cannot run the program's algorithm.
Result<void> check_own_use(const graphs::FrontierProgram& program, const device::DeviceInfo* device,
                           const engine::RunOptions& options) {
  if (program.own && program.own->value == graphs::OwnValue::u64 && device != nullptr &&
      !device->int64_atomics) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = in_quotes(device->name) + " has no atomic functions of 64 bits",
                                .fix = "use values of 32 bits, or another device",
                                .pointer = "/algorithm/value"});
  }
  if (options.traversal.force_topology == policy::Topology::fused_dense && program.own &&
      !graphs::is_monotone(program)) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_usage,
              .message = "fused_dense is not for sums: a vertex would add to its neighbours several times",
              .fix = "force another topology"});
  }
  return {};
}

// Checks a result. Returns true if its outputs may be written.
bool is_right(const graphs::FrontierProgram& asked, KeptGraph& kept, TraversalResults& results,
              engine::FirstRun first, OwnChecks* own, const engine::RunOptions& options,
              engine::Monitor& monitor, FrontierReport& report) {
  if (own == nullptr) {
    report.answer = answer_of(asked.algorithm, report.graph.weights == graphs::WeightType::f32, results,
                              report.graph.first_id);
  }
  if (own == nullptr || report.verification->right) {
    check_result(asked, kept, results, std::move(first), own, options, monitor, report);
  }
  if (report.replay->first_difference || (report.verification && !report.verification->right)) {
    report.status = RunStatus::outputs_differ;
    report.error = differing(report);
    return false;
  }
  return true;
}

ElementType output_type(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  const bool floats =
      program.algorithm == Algorithm::pagerank || graphs::weight_type(graph.out) == graphs::WeightType::f32;
  return program.own ? element_type(program.own->value) : floats ? ElementType::f32 : ElementType::u32;
}

// Does the same as execute(), on several ranks.
Result<void> execute_on_ranks(const graphs::FrontierProgram& program, const graphs::FrontierProgram& asked,
                              const std::string& folder, KeptGraph& kept, const device::DeviceInfo& device,
                              const FrontierGeometry& geometry, const engine::KernelSource& source,
                              const OwnCode* own_code, const TraversalPolicy& policy,
                              const engine::RunOptions& options, engine::Monitor& monitor,
                              FrontierReport& report) {
  const graphs::Graph& graph = kept.loaded.graph;
  const TraversalShape shape = shape_of(program, graph);
  ranks::Ranks& ranks = *options.ranks;
  const bool root = ranks.rank() == 0;
  FrontierMemory whole; // rank 0 checks the program's own algorithm in it
  if (asked.own && root) {
    TIDEGATE_TRY(whole, plan_memory(shape, program.policy.launch, program.device_memory_budget_bytes,
                                    device.global_memory_bytes, policy::Topology::memory_constrained));
  }
  TIDEGATE_TRY(const std::shared_ptr<device::Session> session,
               options.open_session(device, device::Profiling::as_needed));
  monitor.begin(engine::Activity::building);
  const auto start = Clock::now();
  engine::BuiltKernel kernel = engine::build_kernel(*session, device, source, 0, options.cache_folder);
  TIDEGATE_TRY(const engine::Residency groups, find_groups(*session, device, kernel, geometry, report.memory,
                                                           program.policy.launch, Strategy::launch, options));
  report.build_ns = elapsed_ns(start);
  report.telemetry.compiled_pipeline_cache_hit = kernel.from_cache;
  report.geometry = {.workgroup_size = geometry.group_size, .worker_groups = groups.workers};

  const device::CallCounts calls_before = session->calls()->now();
  monitor.count(session->calls());
  const RankPart part = part_of(program, kept.loaded, ranks);
  if (program.algorithm == Algorithm::sssp && shape.weights) {
    TIDEGATE_TRY(kept.loaded.graph.out.mean_weight, mean_weight(part, ranks));
  }
  std::vector<std::uint32_t> distances;
  if (program.algorithm != Algorithm::cc && program.algorithm != Algorithm::pagerank) {
    TIDEGATE_TRY(distances, distances_to_others(part, ranks));
  }
  const ReplayPolicy choices = rank_policy(replay_policy(program, graph, report.memory, geometry, policy),
                                           program.algorithm, !distances.empty());
  engine::FirstRun first = plan_first_check(asked, kept, options, 0);
  std::uint64_t checks = asked.own || options.verify || (first.compared && !first.kept) ? 1 : 0;
  // Rank 0 decides, as hosts' cache folders may differ.
  TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&checks, 1))));
  // All ranks check whether distances fit 32 bits.
  const bool sums = program.algorithm == Algorithm::sssp && shape.weights;
  const bool files_in_parts = checks == 0 && program.algorithm != Algorithm::cc;
  const bool results_in_parts = files_in_parts && !sums;
  TIDEGATE_TRY(RankTraversalRun run,
               run_on_ranks(*session, kernel, program, shape, part,
                            {.setting = make_setting(program, graph, report.memory, geometry, policy),
                             .policy = choices,
                             .initial = kept.initial,
                             .distances = distances,
                             .group_size = geometry.group_size,
                             .groups = groups.workers,
                             .trace_spans =
                                 options.compile.trace ? std::max<std::uint64_t>(options.trace_spans, 1) : 0,
                             .in_parts = results_in_parts},
                            ranks, std::chrono::nanoseconds(options.max_wall_time_ns), monitor));
  report.upload_ns = report.queue_publish_ns = run.times.upload_ns;
  report.read_back_ns = run.times.read_back_ns;
  engine::report_calls(report.telemetry, session->calls()->since(calls_before), run.outcome.calls);
  const double rank_change = run.outcome.rank_change;
  report_outcome(program, run.outcome, groups, options, report);
  const engine::RankReport numbers{.host = {},
                                   .device = device.name,
                                   .dispatch_ns = report.dispatch_ns,
                                   .edges = part.shape().edges,
                                   .device_bytes = report.memory.bytes};
  TIDEGATE_TRY(report.ranks, engine::report_ranks(report.status, run.times.traffic, numbers, ranks));
  if (report.status != RunStatus::done) {
    return {};
  }
  report.replay = replay(choices, report.waves);
  if (run.times.trace.on()) {
    std::vector<std::string> names(policy::topology_names.begin(), policy::topology_names.end());
    TIDEGATE_TRY(report.timeline, engine::timeline_of_ranks(run.times.trace, std::move(names), ranks));
    if (root) {
      engine::report_timeline(report, options);
    }
  }
  if (sums) {
    TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(run.results.values))));
    const auto fit = check_distances_fit(graph, run.results, report.graph.first_id); // along own edges
    std::uint64_t fits = fit ? 1 : 0;
    TIDEGATE_CHECK(ranks.reduce(std::span(&fits, 1), [](std::uint64_t a, std::uint64_t b) { return a & b; }));
    TIDEGATE_CHECK(fit);
    if (fits == 0) {
      return failure(ErrorCode::overflow, "distances exceed 32 bits", "give smaller weights");
    }
  }
  report.telemetry.readback_buffers =
      part_bytes(report.memory, "parents") == 0 ? 1 : 2; // a rank's part may be empty
  if (files_in_parts) {
    const std::uint32_t own_first = results_in_parts ? part.first() : 0;
    report.answer = answer_of(asked.algorithm, report.graph.weights == graphs::WeightType::f32, run.results,
                              report.graph.first_id + own_first);
    if (results_in_parts) {
      TIDEGATE_TRY(report.answer, answer_of_parts(*report.answer, ranks));
    }
    report.first_run = std::move(first);
    if (report.replay->first_difference) {
      report.status = RunStatus::outputs_differ;
      report.error = differing(report);
      return {};
    }
    monitor.begin_writing();
    return write_in_parts(asked, folder, run.results, own_first, part, output_type(program, graph), ranks,
                          report.files_written);
  }
  if (!root) {
    return {};
  }
  run.results.rank_change = rank_change;
  run.results.wide = shape.value_words == 2;
  ResidentGraph resident;
  std::optional<OwnChecks> own;
  if (asked.own) {
    resident = make_resident(*session, program, graph, whole, geometry, policy, kept.initial);
    engine::upload(*session, resident.part(Part::values), 0, std::as_bytes(std::span(run.results.values)));
    own.emplace(*session, program, *own_code, resident, shape,
                build_own_checks(*session, device, *own_code, shape, options.cache_folder));
    TIDEGATE_CHECK(own->check_laws());
    check_fix_point(*own, run.results, report);
    engine::report_calls(report.telemetry, session->calls()->since(calls_before), run.outcome.calls);
    first = plan_first_check(asked, kept, options, report.waves.size());
  }
  if (!is_right(asked, kept, run.results, std::move(first), own ? &*own : nullptr, options, monitor,
                report)) {
    return {};
  }
  monitor.begin_writing();
  return write_outputs(asked, folder, run.results, output_type(program, graph), report.files_written);
}

// Builds, uploads, traverses, replays, verifies, writes. `program` runs; `asked` is the user's.
Result<void> execute(const graphs::FrontierProgram& program, const graphs::FrontierProgram& asked,
                     const std::string& folder, const std::shared_ptr<KeptGraph>& kept,
                     const device::DeviceInfo& device, const FrontierGeometry& geometry,
                     const engine::KernelSource& source, const OwnCode* own_code,
                     const TraversalPolicy& policy, const engine::RunOptions& options,
                     engine::Monitor& monitor, FrontierReport& report) {
  const graphs::Graph& graph = kept->loaded.graph;
  const TraversalShape shape = shape_of(program, graph);
  TIDEGATE_TRY(const std::shared_ptr<device::Session> opened,
               options.open_session(device, options.compile.trace ? device::Profiling::always
                                                                  : device::Profiling::as_needed));
  const device::Session& session = *opened;

  monitor.begin(engine::Activity::building);
  auto start = Clock::now();
  const bool built_before =
      kept->kernel && kept->source.source == source.source && kept->source.options == source.options;
  if (!built_before) {
    kept->kernel = engine::build_kernel(session, device, source, 0, options.cache_folder);
    kept->source = source;
    kept->checked = false;
    kept->own_checks.reset();
  }
  engine::BuiltKernel& kernel = *kept->kernel;
  TIDEGATE_TRY(const engine::Residency groups, find_groups(session, device, kernel, geometry, report.memory,
                                                           program.policy.launch, report.strategy, options));
  if (session.on_host && !built_before) {
    compile_now(session, kernel, geometry, groups);
  }
  std::optional<engine::BuiltKernel> row_change;
  const bool resident_before = kept->resident.has_value();
  if (!resident_before) {
    row_change = build_row_change(session, device, shape, report.memory, geometry, options.cache_folder);
  }
  report.build_ns = elapsed_ns(start);
  report.telemetry.compiled_pipeline_cache_hit = built_before || kernel.from_cache;
  report.telemetry.resident_input_cache_hit = resident_before;
  report.geometry = {.workgroup_size = geometry.group_size, .worker_groups = groups.workers};

  const device::CallCounts calls_before = session.calls()->now();
  monitor.count(session.calls());
  monitor.begin(engine::Activity::filling);
  start = Clock::now();
  if (resident_before) {
    exchange_sources(session, program,
                     make_setting(program, graph, report.memory, geometry, policy, kept->resident->has_seats),
                     *kept->resident);
  } else {
    if (options.kept != nullptr) {
      const std::uint64_t stated = program.device_memory_budget_bytes;
      options.kept->make_room(report.memory.bytes, stated != 0 ? stated : report.memory.budget_bytes / 2);
    }
    kept->resident = make_resident(session, program, graph, report.memory, geometry, policy, kept->initial);
    kept->bytes = report.memory.bytes;
  }
  if (row_change) {
    change_rows(session, *row_change, graph, shape, *kept->resident);
  }
  const ResidentGraph& resident = *kept->resident;
  device::require(session.finish(), "filling the buffers");
  if (options.kept != nullptr && !kept->key.empty()) {
    options.kept->use(kept);
  }
  report.upload_ns = report.queue_publish_ns = elapsed_ns(start);

  std::optional<OwnChecks> own;
  if (asked.own) {
    const bool tried = kept->own_checks.has_value(); // with this source and graph
    const device::Program checks =
        tried ? *kept->own_checks : build_own_checks(session, device, *own_code, shape, options.cache_folder);
    own.emplace(session, program, *own_code, resident, shape, checks);
    if (!tried) {
      TIDEGATE_CHECK(own->check_laws());
    }
    kept->own_checks = checks;
  }

  // The run itself; its wall time begins here.
  monitor.begin(engine::Activity::running);
  engine::DispatchLimits limits = limits_of(device, options, groups, report.strategy);
  limits.trace_spans = options.compile.trace ? std::max<std::uint64_t>(options.trace_spans, 1) : 0;
  limits.clock = clock_of(options, device);
  monitor.deadline = limits.deadline;
  TraversalOutcome outcome = traverse(session, kernel, resident, geometry, limits, monitor);
  const device::CallCounts dispatched = outcome.calls;
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), dispatched);
  report_outcome(program, outcome, groups, options, report);
  if (outcome.trace) {
    report.timeline =
        timeline_of(report.waves, *outcome.trace, limits.clock, report.strategy == Strategy::barrier);
    engine::report_timeline(report, options);
  }
  if (report.status != RunStatus::done) {
    return {};
  }

  // The policy must choose what the device chose; then the results are checked.
  report.replay = replay(replay_policy(program, graph, report.memory, geometry, policy), report.waves);
  monitor.begin(engine::Activity::reading);
  start = Clock::now();
  TraversalResults results = read_back(session, resident, shape);
  report.read_back_ns = elapsed_ns(start);
  report.telemetry.readback_buffers = results.parents.empty() ? 1 : 2;
  if (own) {
    check_fix_point(*own, results, report);
  }
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), dispatched);
  results.rank_change = outcome.rank_change;
  results.wide = shape.value_words == 2;
  if (program.algorithm == Algorithm::sssp) {
    TIDEGATE_CHECK(check_distances_fit(graph, results, report.graph.first_id));
  }
  if (!is_right(asked, *kept, results, plan_first_check(asked, *kept, options, report.waves.size()),
                own ? &*own : nullptr, options, monitor, report)) {
    return {};
  }
  if (options.compare_rounds != 0) {
    monitor.begin(engine::Activity::comparing);
    engine::DispatchLimits again = limits_of(device, options, groups, report.strategy);
    monitor.deadline = again.deadline;
    report.comparison = compare(session, kernel, resident, geometry, again, options.compare_rounds, monitor);
    if (report.comparison && limits.clock != engine::DeviceClock::none) {
      report.comparison->traced = true;
    }
  }
  monitor.begin_writing();
  return write_outputs(asked, folder, results, output_type(program, graph), report.files_written);
}

// The run that the user asked for, with its graph.
struct Asked {
  graphs::FrontierProgram program; // with sources by position
  graphs::VertexIds ids;           // as they were stated
  std::uint32_t first_id = 0;
  std::string folder;
  std::shared_ptr<KeptGraph> kept;
  Clock::time_point start;
  std::uint64_t load_ns = 0;
};

// Runs the program on the graph that is loaded: the user's, or one that gives the same results.
Result<FrontierReport> run_loaded(const Asked& asked, const graphs::FrontierProgram& program,
                                  const OwnCode* own, const device::DeviceInfo* device,
                                  const TraversalPolicy& policy, const engine::RunOptions& options,
                                  engine::Monitor& monitor) {
  const graphs::Graph& graph = asked.kept->loaded.graph;

  // Plans all memory before any is allocated.
  const auto planned_from = Clock::now();
  const TraversalShape shape = shape_of(program, graph);
  const std::uint64_t device_bytes =
      device == nullptr ? std::numeric_limits<std::uint64_t>::max() : device->global_memory_bytes;
  const std::uint64_t budget = program.device_memory_budget_bytes;
  const std::optional<RankPart> part =
      options.ranks == nullptr ? std::nullopt
                               : std::optional(part_of(program, asked.kept->loaded, *options.ranks));
  TIDEGATE_TRY(const FrontierMemory memory,
               part ? plan_rank_memory(shape, part->shape(), budget, device_bytes)
                    : plan_memory(shape, program.policy.launch, budget, device_bytes,
                                  options.traversal.force_topology));

  // Chooses the strategy, begins the report and generates the source.
  const FrontierStrategy strategy = choose_strategy(options, device);
  FrontierReport report =
      report_of(asked.program, graph, shape.value_words == 2, memory, strategy, device, policy);
  report.graph.ids = asked.ids;
  report.graph.first_id = asked.first_id;
  report.load_ns = asked.load_ns;
  const FrontierGeometry geometry = geometry_of(
      program,
      device == nullptr ? device::DeviceInfo{.type = device::DeviceType::gpu, .max_workgroup_size = 1024}
                        : *device,
      options);
  report_recommendation(program, graph, memory, device, report);
  report.queue_plan_ns = elapsed_ns(planned_from);
  const bool floats = graphs::weight_type(graph.out) == graphs::WeightType::f32;
  const std::string version = device == nullptr ? "" : device->opencl_version;
  const engine::KernelSource source =
      part ? rank_kernel(shape, *part, floats, geometry, version, own)
           : frontier_kernel(shape, floats, geometry, report.ordering, version,
                             device == nullptr ? engine::DeviceClock::none : clock_of(options, *device), own);
  TIDEGATE_CHECK(engine::write_kernel(options, fmt::format("// {}\n{}", source.options, source.source),
                                      report.files_written));
  if (options.compile.dry_run) {
    report.status = RunStatus::planned;
    report.wall_time_ns = elapsed_ns(asked.start);
    return report;
  }

  // Runs on the device; another thread reports a kernel that does not come back.
  monitor.counted = "wave";
  monitor.most_iterations = engine::Monitor::unlimited;
  monitor.deadline = Clock::now() + engine::build_limit;
  const engine::Watchdog watchdog(monitor, engine::grace, [&, known = report](bool interrupted) mutable {
    engine::report_silence(known, monitor, interrupted, options, false);
    known.items_processed = known.published_items = monitor.items;
    known.wall_time_ns = elapsed_ns(asked.start);
    if (part) {
      known.ranks = *engine::report_ranks(known.status, {},
                                          {.host = {},
                                           .device = device->name,
                                           .dispatch_ns = known.dispatch_ns,
                                           .edges = part->shape().edges,
                                           .device_bytes = known.memory.bytes},
                                          *options.ranks);
    }
    options.traversal.abandon(known);
  });
  try {
    TIDEGATE_CHECK(part ? execute_on_ranks(program, asked.program, asked.folder, *asked.kept, *device,
                                           geometry, source, own, policy, options, monitor, report)
                        : execute(program, asked.program, asked.folder, asked.kept, *device, geometry, source,
                                  own, policy, options, monitor, report));
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
  report.wall_time_ns = elapsed_ns(asked.start);
  return report;
}

} // namespace

Result<FrontierReport> run_traversal(const graphs::FrontierProgram& given, const std::string& folder,
                                     const device::DeviceInfo* device, const engine::RunOptions& options,
                                     engine::Monitor& monitor) {
  graphs::FrontierProgram program = given;
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  const device::TraversalProfile profile =
      device == nullptr ? device::TraversalProfile() : traversal_profile(*device);
  const TraversalPolicy policy = traversal_policy(program, profile, options);

  // Load and check, without touching the device.
  TIDEGATE_CHECK(graphs::check_program(program));
  TIDEGATE_CHECK(check_files(program, folder, options));
  TIDEGATE_CHECK(check_own_use(program, device, options));
  if (options.ranks != nullptr) {
    TIDEGATE_CHECK(check_rankable(options));
  }
  std::optional<OwnCode> own;
  if (program.own) {
    TIDEGATE_TRY(own, read_own(program, folder, options.scope));
  }
  if (!options.compile.dry_run) {
    TIDEGATE_CHECK(check_outputs(program, folder));
  }
  monitor.begin(engine::Activity::loading);
  const std::string key = options.kept == nullptr ? "" : graph_key(program, folder);
  std::shared_ptr<KeptGraph> kept = options.kept == nullptr ? nullptr : find_graph(*options.kept, key);
  if (kept) {
    TIDEGATE_CHECK(graphs::check_sources(program, graphs::vertex_count(kept->loaded.graph),
                                         graphs::first_id(program, kept->loaded)));
  } else {
    kept = std::make_shared<KeptGraph>();
    kept->key = key;
    TIDEGATE_TRY(kept->loaded, load(program, folder, options));
  }
  const graphs::Graph& graph = kept->loaded.graph;
  const std::uint32_t first_id = graphs::first_id(program, kept->loaded);
  graphs::use_positions(program, first_id);
  if (own) {
    TIDEGATE_CHECK(check_weights(*own, graph));
    TIDEGATE_TRY(kept->initial, read_initial(program, folder, graphs::vertex_count(graph)));
  }
  const Asked asked{.program = program,
                    .ids = given.graph.ids,
                    .first_id = first_id,
                    .folder = folder,
                    .kept = kept,
                    .start = start,
                    .load_ns = elapsed_ns(start)};
  auto report = run_loaded(asked, program, own ? &*own : nullptr, device, policy, options, monitor);
  const bool too_far =
      program.algorithm == Algorithm::sssp && !report && report.error().code == ErrorCode::overflow;
  if (!too_far || graphs::weight_type(graph.out) != graphs::WeightType::u32 || !device->int64_atomics) {
    return report;
  }
  // Some distance needs more than 32 bits. A later request begins with 32 again.
  const auto forget = [&kept] {
    kept->resident.reset();
    kept->kernel.reset();
    kept->own_checks.reset();
    kept->bytes = 0;
  };
  forget();
  const graphs::FrontierProgram wide = with_wide_distances(program);
  const OwnCode code = wide_distances(wide);
  report = run_loaded(asked, wide, &code, device, policy, options, monitor);
  forget();
  return report;
}

} // namespace tidegate::traversal
