// Checks that the figures of a traversal's report agree with each other.
#include "app/check.hpp"
#include "app/report_figures.hpp"
#include "core/npy.hpp"
#include "engine/traversal/report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace tidegate::app {
namespace {

// Recomputes the answer from the output file, and compares.
void check_answer(const traversal::FrontierReport& report, const std::string& file, FigureChecks& checks) {
  for (const engine::WrittenFile& written : report.files_written) {
    const bool none = written.what == "parents" || written.what == "ids";
    const auto array = none ? std::nullopt : read_output(written, file);
    if (!report.answer || report.graph.ids == graphs::VertexIds::compact || !array ||
        report.algorithm == graphs::Algorithm::own) {
      continue;
    }
    traversal::TraversalResults results{.values = std::vector<std::uint32_t>(array->bytes.size() / 4),
                                        .wide = element_bytes(array->type) == 8};
    std::memcpy(results.values.data(), array->bytes.data(), results.values.size() * 4);
    checks.require(traversal::answer_of(report.algorithm, array->type == ElementType::f32, results,
                                        {.first = report.graph.first_id}) == report.answer,
                   "/answer", fmt::format("the answer is not that of {}", in_quotes(written.file)));
  }
}

// Facts that all reports of an algorithm share.
struct AlgorithmFacts {
  std::string_view semiring;                              // for a program's own algorithm the suffix
  std::array<std::string_view, 2> files;                  // of results
  bool distance = false, components = false, top = false; // in the answer, next to `reached`
};

AlgorithmFacts facts_of(graphs::Algorithm algorithm) {
  switch (algorithm) {
  case graphs::Algorithm::bfs: return {"any_secondi", {"levels", "parents"}, true};
  case graphs::Algorithm::reach: return {"or_and", {"reached", "parents"}};
  case graphs::Algorithm::sssp: return {"min_plus", {"distances", "parents"}, true};
  case graphs::Algorithm::cc: return {"min_second", {"components", ""}, false, true};
  case graphs::Algorithm::pagerank: return {"plus_times", {"ranks", ""}, false, false, true};
  case graphs::Algorithm::own: return {"_along", {"values", ""}};
  }
  return {};
}

// Checks what follows from the algorithm: the semiring, the fields of the answer, the files and their sizes.
void check_algorithm(const traversal::FrontierReport& report, FigureChecks& checks) {
  const AlgorithmFacts expected = facts_of(report.algorithm);
  const bool own = report.algorithm == graphs::Algorithm::own;
  const bool merges = std::ranges::any_of(graphs::own_merge_names, [&](std::string_view merge) {
    return report.semiring == fmt::format("{}{}", merge, expected.semiring);
  });
  checks.require(own ? merges : report.semiring == expected.semiring, "/semiring",
                 "the semiring is not that of the algorithm");
  checks.require(own == report.source.has_value() &&
                     (report.algorithm == graphs::Algorithm::sssp) == report.distances.has_value(),
                 "/algorithm", "only a program's own algorithm has a source, and only sssp has distances");
  if (report.answer) {
    const traversal::Answer& answer = *report.answer;
    checks.require((!answer.distance || expected.distance) &&
                       answer.components.has_value() == expected.components &&
                       answer.top.has_value() == expected.top,
                   "/answer", "the answer is that of another algorithm");
  }
  for (std::size_t i = 0; i < report.files_written.size(); ++i) {
    const engine::WrittenFile& written = report.files_written[i];
    const bool result =
        !written.what.empty() && std::ranges::find(expected.files, written.what) != expected.files.end();
    checks.require(result || is_about_run(written.what), fmt::format("/files_written/{}/what", i),
                   "no run of this algorithm writes such a file");
    const std::uint64_t vertices = report.graph.vertices;
    const std::uint64_t head =
        written.file.ends_with(".npy") ? npy_header(ElementType::u32, std::array{vertices}).size() : 0;
    const bool wide = own || report.distances == graphs::OwnValue::u64;
    checks.require(
        !result || has_no_size(written) || written.bytes == head + vertices * sizeof(std::uint32_t) ||
            (wide && written.bytes == head + vertices * sizeof(std::uint64_t)),
        fmt::format("/files_written/{}/bytes", i),
        fmt::format("the file has {} for {}", plural(written.bytes, "byte"), plural(vertices, "value")));
  }
  if (report.status == engine::RunStatus::done && !report.ranks) {
    checks.at_most("/telemetry/bytes_read_back", "bytes of the results",
                   std::uint64_t{report.graph.vertices} * sizeof(std::uint32_t) *
                       report.telemetry.readback_buffers,
                   "bytes_read_back", report.telemetry.bytes_read_back);
  }
}

// Returns the fraction of a graph's vertices in bps, rounded down, and at least 1 unless there are none.
std::uint64_t density_bps(std::uint64_t vertices, std::uint64_t of_graph) {
  const std::uint64_t fraction = of_graph == 0 ? 0 : vertices * policy::full_scale_bps / of_graph;
  return std::clamp<std::uint64_t>(fraction, vertices == 0 || of_graph == 0 ? 0 : 1, policy::full_scale_bps);
}

// Checks a wave against the graph and the wave before it.
void check_wave(const traversal::FrontierReport& report, std::size_t index, std::uint32_t dense_waves,
                FigureChecks& checks) {
  const traversal::WaveRecord& wave = report.waves[index];
  const traversal::WaveRecord* const before = index == 0 ? nullptr : &report.waves[index - 1];
  const std::string pointer = fmt::format("/waves/{}/", index);
  checks.equal(pointer + "density_bps", "density_bps is", wave.density_bps, "that of its vertices",
               density_bps(wave.vertices, report.graph.vertices));
  checks.equal(pointer + "dense_waves", "dense_waves is", wave.dense_waves,
               "the dense waves directly before it are", dense_waves);
  checks.require(wave.previous_topology == (before ? before->topology : policy::Topology::empty),
                 pointer + "previous_topology", "previous_topology is not that of the wave before");
  const traversal::Trend trend = wave.frontier_edges > wave.previous_edges   ? traversal::Trend::growing
                                 : wave.frontier_edges < wave.previous_edges ? traversal::Trend::shrinking
                                                                             : traversal::Trend::steady;
  checks.require(wave.trend == trend, pointer + "trend",
                 "trend is not that of frontier_edges and previous_edges");
  checks.at_most(pointer + "frontier_edges", "frontier_edges", wave.frontier_edges, "edges of the graph",
                 report.graph.edges);
  if (before == nullptr) {
    checks.equal(pointer + "unexplored_edges", "unexplored_edges is", wave.unexplored_edges,
                 "before the first wave it is all edges:", report.graph.edges);
  } else { // in a breadth-first search a vertex enters a frontier once
    const std::uint64_t explored = before->frontier_edges;
    const std::uint64_t remaining = before->unexplored_edges - std::min(before->unexplored_edges, explored);
    const bool once = report.algorithm == graphs::Algorithm::bfs;
    checks.require(wave.unexplored_edges >= remaining &&
                       wave.unexplored_edges <= (once ? remaining : before->unexplored_edges),
                   pointer + "unexplored_edges",
                   fmt::format("unexplored_edges is {}; the wave before had {} and explored {} of them",
                               wave.unexplored_edges, before->unexplored_edges, explored));
  }
}

// Checks the telemetry of a traversal, which follows from its waves, the geometry and the graph.
void check_traversal_telemetry(const traversal::FrontierReport& report, FigureChecks& checks) {
  const engine::Telemetry& telemetry = report.telemetry;
  const auto same = [&](std::string_view field, std::string_view given, std::string_view expected) {
    checks.require(given == expected, fmt::format("/telemetry/{}", field),
                   fmt::format("{} is {}, and that of the waves {}", field, given, expected));
  };
  policy::Topology topology = policy::Topology::empty;
  std::uint32_t density_bps = 0;
  std::uint64_t lanes = 0; // work-items of all passes
  for (const traversal::WaveRecord& wave : report.waves) {
    const std::uint64_t of_pass =
        std::uint64_t{report.geometry.workgroup_size} * (wave.alone ? 1 : report.geometry.worker_groups);
    lanes += of_pass == 0 ? 0 : (wave.vertices + of_pass - 1) / of_pass * of_pass;
    topology = wave.density_bps >= density_bps ? wave.topology : topology;
    density_bps = std::max(density_bps, wave.density_bps);
  }
  same("topology", policy::name(telemetry.topology), policy::name(topology));
  checks.equal("/telemetry/occupancy_proxy_bps", "occupancy_proxy_bps is", telemetry.occupancy_proxy_bps,
               "that of the waves", lanes == 0 ? 0 : policy::full_scale_bps * report.items_processed / lanes);
  same("execution_mode", policy::name(telemetry.execution_mode), policy::name(policy::ExecutionMode::jit));
  checks.equal("/telemetry/hit_capacity", "hit_capacity is", telemetry.hit_capacity, "traversals have", 0);
  checks.equal("/lineage_items", "lineage_items is", report.lineage_items, "those of the rules are",
               report.region_lineage.empty() ? 0 : report.items_processed);
  checks.equal("/deduped_items", "deduped_items is", report.deduped_items, "traversals have", 0);
  if (report.status != engine::RunStatus::done) {
    return; // after a hang, some launches have not completed
  }
  if (report.strategy == engine::Strategy::barrier) {
    checks.equal("/telemetry/kernel_launches", "kernel_launches is", telemetry.kernel_launches,
                 "slices:", report.slices_ns.size());
  } else {
    checks.at_most("/telemetry/kernel_launches", "waves of all work-groups",
                   report.summary.waves - std::min(report.summary.waves, report.summary.alone_waves),
                   "kernel_launches", telemetry.kernel_launches);
  }
}

// Checks that the memory and the recommendation of a traversal fit the graph.
void check_graph(const traversal::FrontierReport& report, FigureChecks& checks) {
  const auto bytes_of = [&report](std::string_view part) {
    return traversal::part_bytes(report.memory, part);
  };
  const traversal::GraphReport& graph = report.graph;
  constexpr std::uint64_t word = sizeof(std::uint32_t);
  if (!report.ranks) { // each rank has only its part
    const bool wide = graph.edges > std::numeric_limits<std::uint32_t>::max();
    checks.equal("/graph", "bytes of offsets and edges are",
                 (std::uint64_t{graph.vertices} + 1) * word * (wide ? 2 : 1) +
                     graph.edges * word * (graph.weights == graphs::WeightType::none ? 1 : 2),
                 "their part of the memory has", bytes_of("graph"));
    checks.require((bytes_of("transpose") != 0) == (!graph.symmetric && !report.memory.constrained),
                   "/graph/symmetric", "a graph has a transpose in the memory if it is not symmetric");
    const double share =
        static_cast<double>(report.memory.full_bytes) / static_cast<double>(report.memory.budget_bytes);
    if (report.memory.budget_bytes != 0) {
      checks.equal("/memory/pressure_bps", "pressure_bps is", report.memory.pressure_bps,
                   "full_bytes of the budget are",
                   static_cast<std::uint64_t>(std::min(share, 1.0) * policy::full_scale_bps));
    }
  }
  if (report.ranks && report.status == engine::RunStatus::done) { // each has the edges of its vertices
    std::uint64_t edges = 0;
    for (const engine::RankReport& rank : report.ranks->ranks) {
      edges += rank.edges.value_or(0);
    }
    checks.equal("/ranks/ranks", "edges of the ranks are together", edges,
                 "edges of the graph:", graph.edges);
  }
  checks.require(report.recommendation.has_value() == (report.recommended_geometry.worker_groups != 0),
                 "/recommendation", "recommended_geometry is not that of the recommendation");
  if (report.recommendation) {
    check_recommendation(*report.recommendation, {}, report.memory.bytes, checks);
    checks.equal("/recommendation/hit_capacity", "hit_capacity is", report.recommendation->hit_capacity,
                 "the least that a launch has is", 1);
    checks.equal("/recommendation/device_memory_budget_bytes", "device_memory_budget_bytes is",
                 report.recommendation->device_memory_budget_bytes, "that of the memory",
                 report.memory.budget_bytes);
  }
}

// Checks that next_request holds what this run measured, and that promotion_evidence agrees with it.
void check_next_request(const traversal::FrontierReport& report, FigureChecks& checks) {
  if (!report.next_request || report.status != engine::RunStatus::done || report.ranks) {
    return;
  }
  const policy::LaunchRequest& request = report.next_request->request;
  const auto equal = [&](std::string_view field, std::uint64_t given, std::uint64_t measured) {
    checks.equal(fmt::format("/next_request/{}", field), fmt::format("{} is", field), given,
                 "of this run it is", measured);
  };
  std::uint32_t dense_waves = 0;
  for (const traversal::WaveRecord& wave : report.waves) {
    dense_waves = std::max(dense_waves, wave.dense_waves);
  }
  if (!report.waves.empty()) {
    equal("queue_len", request.queue_len, report.summary.widest_vertices);
    equal("frontier_density_bps", request.frontier_density_bps, report.telemetry.frontier_density_bps);
  }
  equal("requested_worker_groups", request.requested_worker_groups, report.geometry.worker_groups);
  // Sums of PageRank cannot be fused; the report of an own algorithm does not say whether it sums.
  const bool is_pagerank = report.algorithm == graphs::Algorithm::pagerank;
  const bool none = request.hot_window_count == 0 && (is_pagerank || report.source);
  equal("hot_window_count", request.hot_window_count, none ? 0 : dense_waves);
  equal("graph_node_count", request.graph_node_count, report.graph.vertices);
  equal("graph_edge_count", request.graph_edge_count,
        std::min<std::uint64_t>(report.graph.edges, std::numeric_limits<std::uint32_t>::max()));
  equal("memory_pressure_bps", request.memory_pressure_bps, report.memory.pressure_bps);
  equal("resident_device_bytes", request.resident_device_bytes, report.memory.bytes);
  equal("device_memory_budget_bytes", request.device_memory_budget_bytes, report.memory.budget_bytes);
  equal("requeue_count", request.requeue_count, 0);
  equal("max_priority_age", request.max_priority_age, 0);
}

// Checks that the result was verified as the report claims, and that its answer fits the graph.
void check_result(const traversal::FrontierReport& report, FigureChecks& checks) {
  if (report.verification) {
    checks.require_section(!report.verification->checks.empty(), "/verification/checks",
                           "checks that verified the result");
  }
  if (report.status != engine::RunStatus::done) {
    return;
  }
  checks.require_section(report.answer.has_value(), "/answer", "answer");
  checks.require_section(report.first_run.has_value(), "/first_run", "first_run");
  checks.require_section(report.verification || !report.first_run || report.first_run->runs == 0,
                         "/verification", "verification, though its first run was compared");
  const traversal::Answer answer = report.answer.value_or(traversal::Answer());
  checks.at_most("/answer/reached", "reached", answer.reached.value_or(0), "vertices of the graph",
                 report.graph.vertices);
  checks.require(!answer.farthest || report.graph.ids == graphs::VertexIds::compact ||
                     *answer.farthest - report.graph.first_id < report.graph.vertices,
                 "/answer/farthest", "the graph has no such vertex");
  checks.at_most("/answer/largest", "vertices of all components",
                 answer.largest.value_or(0) + std::max<std::uint64_t>(answer.components.value_or(1), 1) - 1,
                 "those of the graph", report.graph.vertices);
  checks.equal("/telemetry/readback_buffers", "readback_buffers is", report.telemetry.readback_buffers,
               "results in the memory:", traversal::part_bytes(report.memory, "parents") == 0 ? 1 : 2);
  const bool is_pagerank = report.algorithm == graphs::Algorithm::pagerank;
  checks.require_section((report.converged && report.rank_change) || !is_pagerank, "/converged",
                         "converged and rank_change of PageRank");
  if (!is_pagerank || !report.converged || !report.rank_change) {
    return;
  }
  const bool warned =
      std::ranges::find(report.warnings, "/pagerank", &engine::Warning::pointer) != report.warnings.end();
  checks.require(*report.converged != warned, "/converged",
                 "a run of PageRank warns if it has not converged, and only then");
  if (report.verification && report.verification->allowed_change) {
    const double change = *report.rank_change;
    checks.require(change <= *report.verification->allowed_change, "/rank_change",
                   fmt::format("rank_change is {}, above allowed_change, {}", change,
                               *report.verification->allowed_change));
  }
}

// Checks the sizes of the memory that the report has more than once.
void check_memory_sums(const traversal::FrontierReport& report, FigureChecks& checks) {
  const engine::Telemetry& telemetry = report.telemetry;
  std::uint64_t bytes = 0;
  for (const traversal::MemoryPart& part : report.memory.parts) {
    bytes += part.bytes;
  }
  checks.equal("/memory/bytes", "bytes is", report.memory.bytes, "the parts have together", bytes);
  checks.equal("/memory", "bytes is", report.memory.bytes, "that of the layout is",
               report.memory.constrained ? report.memory.constrained_bytes : report.memory.full_bytes);
  checks.equal("/telemetry/estimated_peak_device_bytes", "estimated_peak_device_bytes is",
               telemetry.estimated_peak_device_bytes, "bytes of the memory are", report.memory.bytes);
  checks.equal("/telemetry/device_memory_budget_bytes", "device_memory_budget_bytes is",
               telemetry.device_memory_budget_bytes, "that of the memory", report.memory.budget_bytes);
}

// Checks the numbers of the report that follow from its waves.
void check_waves(const traversal::FrontierReport& report, FigureChecks& checks) {
  const engine::Telemetry& telemetry = report.telemetry;
  const traversal::FrontierSummary& summary = report.summary;
  const bool done = report.status == engine::RunStatus::done;
  if (report.waves.size() < summary.waves) {
    return; // a long run lists only its first waves
  }
  traversal::FrontierSummary expected{.waves = report.waves.size()};
  std::uint64_t vertices = 0;
  std::uint32_t density_bps = 0;
  std::uint32_t dense_waves = 0; // before the wave
  for (std::size_t i = 0; i < report.waves.size(); ++i) {
    const traversal::WaveRecord& wave = report.waves[i];
    vertices += wave.vertices;
    density_bps = std::max(density_bps, wave.density_bps);
    expected.alone_waves += wave.alone ? 1 : 0;
    expected.topology_changes += i != 0 && wave.topology != report.waves[i - 1].topology ? 1 : 0;
    expected.frontier_edges += wave.frontier_edges;
    expected.scanned_edges += wave.scanned_edges;
    if (wave.vertices > expected.widest_vertices) {
      expected.widest_vertices = wave.vertices;
      expected.widest_wave = wave.wave;
    }
    const std::string pointer = fmt::format("/waves/{}/", i);
    checks.equal(pointer + "wave", "wave is", wave.wave, "its place is", i);
    checks.equal(pointer + "previous_edges", "previous_edges is", wave.previous_edges,
                 "frontier_edges before it are", i == 0 ? 0 : report.waves[i - 1].frontier_edges);
    checks.at_most(pointer + "vertices", "vertices", wave.vertices, "vertices of the graph",
                   report.graph.vertices);
    check_wave(report, i, dense_waves, checks);
    const bool dense =
        wave.topology == policy::Topology::dense_frontier || wave.topology == policy::Topology::fused_dense;
    dense_waves = dense ? dense_waves + 1 : 0;
  }
  const auto equal = [&](std::string_view field, std::uint64_t given, std::uint64_t of_waves) {
    checks.equal(fmt::format("/summary/{}", field), fmt::format("{} is", field), given, "of the waves it is",
                 of_waves);
  };
  equal("waves", summary.waves, expected.waves);
  equal("alone_waves", summary.alone_waves, expected.alone_waves);
  equal("topology_changes", summary.topology_changes, expected.topology_changes);
  equal("frontier_edges", summary.frontier_edges, expected.frontier_edges);
  equal("scanned_edges", summary.scanned_edges, expected.scanned_edges);
  equal("widest_vertices", summary.widest_vertices, expected.widest_vertices);
  equal("widest_wave", summary.widest_wave, expected.widest_wave);
  const bool in_place = std::ranges::any_of(report.waves, [](const traversal::WaveRecord& wave) {
    return wave.topology == policy::Topology::fused_dense; // several levels
  });
  if (done && report.algorithm == graphs::Algorithm::bfs && report.answer && !in_place) {
    checks.equal("/answer/reached", "reached is", report.answer->reached.value_or(0),
                 "vertices of the waves are", vertices);
    checks.require(report.answer->distance == static_cast<double>(report.waves.size()) - 1,
                   "/answer/distance",
                   fmt::format("distance is {}, and there are {}", report.answer->distance.value_or(0),
                               plural(report.waves.size(), "wave")));
  }
  const double edges_per_ns =
      static_cast<double>(expected.frontier_edges) / static_cast<double>(report.dispatch_ns);
  checks.require(
      report.dispatch_ns == 0 || std::abs(summary.edges_per_second - 1e9 * edges_per_ns) <= edges_per_ns,
      "/summary/edges_per_second", "edges_per_second is not frontier_edges divided by backend_dispatch_ns");
  if (done || !report.waves.empty()) { // after a hang the report lists no waves
    checks.equal("/items_processed", "items_processed is", report.items_processed,
                 "vertices of the waves are", vertices);
    checks.equal("/telemetry/frontier_density_bps", "frontier_density_bps is", telemetry.frontier_density_bps,
                 "that of the widest frontier", density_bps);
  }
  if (done) {
    checks.equal("/items_remaining", "items_remaining is", report.items_remaining,
                 "of a run that is done it is", 0);
  }
  checks.equal("/published_items", "published_items is", report.published_items,
               "items_processed and items_remaining are together",
               report.items_processed + report.items_remaining);
}

} // namespace

void check_figures(const traversal::FrontierReport& report, const std::string& file, ErrorList& errors) {
  FigureChecks checks(errors);
  const bool good = report.status == engine::RunStatus::done || report.status == engine::RunStatus::planned;
  checks.require(good != report.error.has_value(), "/status",
                 fmt::format("the status is {}, and there is {} error",
                             engine::run_status_names[static_cast<std::size_t>(report.status)],
                             report.error ? "an" : "no"));
  check_counts(report, report.recommendation ? &*report.recommendation : nullptr,
               report.load_ns + report.verify_ns, checks);
  check_algorithm(report, checks);
  check_graph(report, checks);
  check_next_request(report, checks);
  check_result(report, checks);
  if (report.status != engine::RunStatus::planned) {
    check_waves(report, checks);
    check_memory_sums(report, checks);
    check_traversal_telemetry(report, checks);
  }
  check_answer(report, file, checks);
}

} // namespace tidegate::app
