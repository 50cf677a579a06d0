#include "engine/traversal/documents.hpp"

#include "device/documents.hpp"
#include "engine/documents.hpp"
#include <tidegate/policy/documents.hpp>

#include <algorithm>

namespace tidegate::documents {

using graphs::DegreeRange;
using graphs::FrontierOutputs;
using graphs::FrontierPolicy;
using graphs::FrontierProgram;
using graphs::GeneratorSpec;
using graphs::GraphSpec;
using graphs::GraphSummary;
using graphs::GridSpec;
using graphs::RankSettings;
using graphs::RmatSpec;
using graphs::UniformSpec;

constexpr std::string_view seed_meaning = "equal seeds give equal graphs, on every machine";
constexpr std::string_view weight_meaning = "weights are even from 1 to this; 0: all weigh 1";

constexpr Field rmat_fields[] = {
    required<&RmatSpec::scale>("scale", "the graph has 2^scale vertices").between(0, 31),
    defaulted<&RmatSpec::edge_factor>("edge_factor", "edges of a vertex on average"),
    defaulted<&RmatSpec::a>("a", "probability of the upper left quadrant of the matrix"),
    defaulted<&RmatSpec::b>("b", "probability of the upper right quadrant"),
    defaulted<&RmatSpec::c>(
        "c", "probability of the lower left quadrant; the rest is that of the lower right one"),
    defaulted<&RmatSpec::seed>("seed", seed_meaning),
    defaulted<&RmatSpec::max_weight>("max_weight", weight_meaning),
};
template <>
constinit const Record Description<RmatSpec>::record = record_of<RmatSpec>(rmat_fields);

constexpr Field grid_fields[] = {
    required<&GridSpec::width>("width", "vertices in a row, each joined with its four neighbours"),
    required<&GridSpec::height>("height", "rows"),
    defaulted<&GridSpec::seed>("seed",
                               "seed of the weights; equal seeds produce equal weights on every machine"),
    defaulted<&GridSpec::max_weight>("max_weight", weight_meaning),
};
template <>
constinit const Record Description<GridSpec>::record = record_of<GridSpec>(grid_fields);

constexpr Field uniform_fields[] = {
    required<&UniformSpec::vertices>("vertices", "vertices"),
    required<&UniformSpec::edges>("edges", "edges, each between any two vertices"),
    defaulted<&UniformSpec::seed>("seed", seed_meaning),
    defaulted<&UniformSpec::max_weight>("max_weight", weight_meaning),
};
template <>
constinit const Record Description<UniformSpec>::record = record_of<UniformSpec>(uniform_fields);

constexpr Field generator_fields[] = {
    optional<&GeneratorSpec::rmat>("rmat", "scale-free graph: few vertices have many edges (R-MAT)"),
    optional<&GeneratorSpec::grid>("grid", "road-like graph with long paths"),
    optional<&GeneratorSpec::uniform>("uniform", "graph whose edges join uniformly random vertices"),
};
template <>
constinit const Record Description<GeneratorSpec>::record = record_of<GeneratorSpec>(generator_fields);

constexpr Field graph_fields[] = {
    optional<&GraphSpec::file>(
        "file",
        "Matrix Market, DIMACS .gr, METIS .graph, .csv or a list of edges, plain or gzip, relative to the program"),
    optional<&GraphSpec::generate>("generate", "or a generated graph: one of rmat, grid and uniform"),
    defaulted<&GraphSpec::undirected>("undirected", "whether each edge also represents its opposite"),
    optional<&GraphSpec::weights>("weights",
                                  "type of the weights of sssp; left out, u32 for whole numbers, else f32"),
    defaulted<&GraphSpec::ids>("ids",
                               "how sources and vertices of the report are counted: by position, from 0, "
                               "or as the file counts, for most formats from 1"),
};
template <>
constinit const Record Description<GraphSpec>::record = record_of<GraphSpec>(graph_fields);

constexpr Field output_fields[] = {
    optional<&FrontierOutputs::levels>(
        "levels", "bfs, u32: number of edges from the nearest source; 2^32 - 1: unreached"),
    optional<&FrontierOutputs::parents>("parents",
                                        "bfs, u32: previous vertex of the path, by position; 2^32 - 1: none"),
    optional<&FrontierOutputs::reached>("reached", "reach, u32: bit i is set if source i reaches the vertex"),
    optional<&FrontierOutputs::distances>(
        "distances", "sssp, in the type of the weights: least distance; 2^32 - 1 or infinity: unreached"),
    optional<&FrontierOutputs::components>("components",
                                           "cc, u32: smallest vertex of the component, by position"),
    optional<&FrontierOutputs::ranks>("ranks", "pagerank, f32: ranks with sum 1"),
};
template <>
constinit const Record Description<FrontierOutputs>::record = record_of<FrontierOutputs>(output_fields);

constexpr Field rank_fields[] = {
    optional<&RankSettings::damping>("damping", "share of a rank that is passed along edges; left out, 0.85"),
    optional<&RankSettings::tolerance>(
        "tolerance", "total change of the ranks in an iteration below which it ends; left out, 1e-6"),
    optional<&RankSettings::max_iterations>("max_iterations", "most iterations; left out, 1000")
        .between(1, std::numeric_limits<std::uint32_t>::max()),
};
template <>
constinit const Record Description<RankSettings>::record = record_of<RankSettings>(rank_fields);

// The fields of the launch policy, and one more.
constexpr auto frontier_policy_fields = [] {
  constexpr auto launch = launch_policy_fields<&FrontierPolicy::launch>();
  std::array<Field, launch.size() + 1> fields{};
  std::ranges::copy(launch, fields.begin());
  fields.back() = optional<&FrontierPolicy::switch_rule>(
      "switch_rule",
      "rule that switches topologies; left out, the one that was measured as faster, else edges");
  return fields;
}();
template <>
constinit const Record
    Description<FrontierPolicy>::record = record_of<FrontierPolicy>(frontier_policy_fields);

constexpr Field frontier_program_fields[] = {
    defaulted<&FrontierProgram::parameters>("parameters", parameters_meaning),
    required<&FrontierProgram::graph>("graph", "graph to traverse: a file, or generated"),
    required<&FrontierProgram::algorithm>("algorithm", "algorithm to run"),
    defaulted<&FrontierProgram::sources>(
        "sources", "start vertices of bfs and sssp, or up to 32 of reach, counted as ids of the graph says")
        .or_single(),
    defaulted<&FrontierProgram::rules>(
        "rules", "numbers, below 32, of the source rules that the traversal comes from"),
    defaulted<&FrontierProgram::outputs>("outputs", ".npy files, or else raw bytes, relative to the program"),
    defaulted<&FrontierProgram::pagerank>("pagerank", "settings of pagerank"),
    defaulted<&FrontierProgram::policy>("policy", "overrides of the standard launch policy"),
    defaulted<&FrontierProgram::device_memory_budget_bytes>("device_memory_budget_bytes",
                                                            "most device memory; 0: all of the device"),
};
template <>
constinit const Record
    Description<FrontierProgram>::record = record_of<FrontierProgram>(frontier_program_fields);

constexpr Field degree_fields[] = {
    required<&DegreeRange::min>("min", "least degree"),
    required<&DegreeRange::median>("median", "median degree"),
    required<&DegreeRange::max>("max", "greatest degree"),
};
template <>
constinit const Record Description<DegreeRange>::record = record_of<DegreeRange>(degree_fields);

constexpr Field value_fields[] = {
    required<&GraphValues::type>("type", "type of the value after the two vertices of an entry"),
    optional<&GraphValues::least>("least", "the least value"),
    optional<&GraphValues::greatest>("greatest", "the greatest value"),
    required<&GraphValues::negative>("negative", "values below 0"),
};
template <>
constinit const Record Description<GraphValues>::record = record_of<GraphValues>(value_fields);

template <auto Member>
constexpr Field summary_field(std::string_view name, std::string_view meaning) {
  return required<&GraphContents::summary, Member>(name, meaning);
}

constexpr Field contents_fields[] = {
    required<&GraphContents::format>("format", "format of the file"),
    required<&GraphContents::first_id>("first_id", "number that the file has for its first vertex"),
    required<&GraphContents::compressed>("compressed", "whether it is compressed by gzip"),
    required<&GraphContents::lines>("lines", "lines of text"),
    required<&GraphContents::entries>("entries",
                                      "edges as they are listed: one a line, or each neighbour of METIS"),
    required<&GraphContents::both_directions>("both_directions", "whether each also represents its opposite"),
    summary_field<&GraphSummary::vertices>("vertices", "vertices"),
    summary_field<&GraphSummary::edges>("edges", "directed edges"),
    summary_field<&GraphSummary::symmetric>("symmetric", "whether each edge has its opposite"),
    summary_field<&GraphSummary::out_degree>("out_degree", "edges from a vertex"),
    summary_field<&GraphSummary::in_degree>("in_degree", "edges to a vertex"),
    summary_field<&GraphSummary::isolated_vertices>("isolated_vertices",
                                                    "vertices without an edge to or from another one"),
    summary_field<&GraphSummary::self_loops>("self_loops", "edges from a vertex to itself"),
    summary_field<&GraphSummary::repeated_edges>("repeated_edges",
                                                 "further edges between the same two vertices"),
    summary_field<&GraphSummary::components>("components",
                                             "connected components, including isolated vertices"),
    summary_field<&GraphSummary::largest_component>("largest_component", "vertices of the largest component"),
    required<&GraphContents::values>("values", "values of the entries, which sssp uses as weights"),
};
template <>
constinit const Record Description<GraphContents>::record = record_of<GraphContents>(contents_fields);

constexpr Field checked_graph_fields[] = {
    required<&CheckedGraph::file>("file", "path, or - for standard input"),
    required<&CheckedGraph::verdict>("verdict", "valid or invalid"),
    optional<&CheckedGraph::graph>("graph", "content of the file"),
    optional<&CheckedGraph::error>("error", "why it is invalid"),
};
template <>
constinit const Record Description<CheckedGraph>::record = record_of<CheckedGraph>(checked_graph_fields);

constexpr Field graph_report_fields[] = {
    required<&GraphReport::checked>("checked", "number of files"),
    required<&GraphReport::valid>("valid", "number of valid files"),
    required<&GraphReport::failed>("failed", "number of other files"),
    required<&GraphReport::graphs>("graphs", "all files with their verdicts"),
};
template <>
constinit const Record Description<GraphReport>::record = record_of<GraphReport>(graph_report_fields);

template <>
constinit const Document DocumentOf<FrontierProgram>::document = document_of<FrontierProgram>(
    "frontier_program", "A graph, and an algorithm that traverses it frontier by frontier", Direction::input);
template <>
constinit const Document DocumentOf<GraphReport>::document =
    document_of<GraphReport>("graph_report", "Contents of graph files", Direction::output);

using engine::Telemetry;
using traversal::Answer;
using traversal::FrontierMemory;
using traversal::FrontierReport;
using traversal::MemoryPart;
using traversal::RepeatedTimes;
using traversal::Replay;
using traversal::TopRank;
using traversal::Verification;
using traversal::WaveRecord;
using traversal::WaveSummary;
using TraversedGraph = traversal::GraphReport;

constexpr Field part_fields[] = {
    required<&MemoryPart::name>("name", "purpose of the part"),
    required<&MemoryPart::bytes>("bytes", "device memory"),
};
template <>
constinit const Record Description<MemoryPart>::record = record_of<MemoryPart>(part_fields);

constexpr Field memory_fields[] = {
    required<&FrontierMemory::constrained>("constrained",
                                           "whether only bitmaps are used, without queues and transpose"),
    required<&FrontierMemory::bytes>("bytes", "device memory of all parts"),
    required<&FrontierMemory::full_bytes>("full_bytes",
                                          "device memory of the layout that serves every topology"),
    required<&FrontierMemory::constrained_bytes>("constrained_bytes", "device memory of the smallest layout"),
    required<&FrontierMemory::budget_bytes>("budget_bytes", "the budget, or the memory of the device"),
    required<&FrontierMemory::pressure_bps>("pressure_bps", "full layout divided by the budget"),
    required<&FrontierMemory::parts>("parts", "parts of the chosen layout"),
};
template <>
constinit const Record Description<FrontierMemory>::record = record_of<FrontierMemory>(memory_fields);

constexpr Field traversed_graph_fields[] = {
    required<&TraversedGraph::vertices>("vertices", "vertices"),
    required<&TraversedGraph::edges>("edges", "directed edges, as they are traversed"),
    required<&TraversedGraph::weights>("weights", "type of the weights"),
    required<&TraversedGraph::symmetric>("symmetric", "whether each edge is known to have its opposite"),
    required<&TraversedGraph::ids>("ids", "how sources and the vertices of answer are counted"),
    required<&TraversedGraph::first_id>("first_id",
                                        "number of the first vertex, which is the first of outputs"),
};
template <>
constinit const Record
    Description<TraversedGraph>::record = record_of<TraversedGraph>(traversed_graph_fields);

constexpr Field summary_fields[] = {
    required<&WaveSummary::waves>("waves", "number of waves"),
    required<&WaveSummary::alone_waves>("alone_waves", "waves that one work-group processed alone"),
    required<&WaveSummary::topology_changes>("topology_changes",
                                             "waves with another topology than the previous wave"),
    required<&WaveSummary::widest_wave>("widest_wave", "first wave with the largest frontier"),
    required<&WaveSummary::widest_vertices>("widest_vertices", "vertices of that frontier"),
    required<&WaveSummary::frontier_edges>("frontier_edges", "explored edges of all frontiers"),
    required<&WaveSummary::scanned_edges>("scanned_edges", "visited edges"),
    required<&WaveSummary::edges_per_second>("edges_per_second",
                                             "frontier_edges divided by the time of the traversal"),
};
template <>
constinit const Record Description<WaveSummary>::record = record_of<WaveSummary>(summary_fields);

constexpr Field wave_fields[] = {
    required<&WaveRecord::wave>("wave", "counted from 0"),
    required<&WaveRecord::topology>("topology", "topology of the wave"),
    required<&WaveRecord::previous_topology>("previous_topology",
                                             "topology of the previous wave; empty: there was none"),
    required<&WaveRecord::rule>("rule", "rule that chose the topology"),
    required<&WaveRecord::threshold>("threshold", "threshold of the rule: bps, edges or vertices"),
    required<&WaveRecord::vertices>("vertices", "vertices of the frontier"),
    required<&WaveRecord::density_bps>("density_bps", "vertices divided by those of the graph"),
    required<&WaveRecord::frontier_edges>("frontier_edges", "edges out of the frontier"),
    required<&WaveRecord::previous_edges>("previous_edges", "edges out of the previous frontier"),
    required<&WaveRecord::unexplored_edges>("unexplored_edges",
                                            "edges of vertices that were in no frontier before this one"),
    required<&WaveRecord::scanned_edges>("scanned_edges", "visited edges"),
    required<&WaveRecord::trend>("trend", "frontier_edges compared with previous_edges"),
    required<&WaveRecord::dense_waves>("dense_waves", "consecutive dense waves before it"),
    required<&WaveRecord::alone>("alone", "whether one work-group processed it alone"),
    optional<&WaveRecord::time_ns>(
        "time_ns",
        "with --by-wave, --trace or --report: time since the end of the previous wave, by the device's "
        "clock"),
};
template <>
constinit const Record Description<WaveRecord>::record = record_of<WaveRecord>(wave_fields);

constexpr Field replay_fields[] = {
    required<&Replay::waves>("waves", "replayed waves"),
    required<&Replay::agreed>("agreed", "waves for which host and device made the same choice"),
    optional<&Replay::first_difference>("first_difference", "first wave with a different choice"),
};
template <>
constinit const Record Description<Replay>::record = record_of<Replay>(replay_fields);

constexpr Field verification_fields[] = {
    required<&Verification::checks>("checks", "completed checks, up to the first that failed"),
    required<&Verification::right>("right", "whether all of them passed"),
    optional<&Verification::error>("error", "the broken rule and its location"),
    optional<&Verification::allowed_change>(
        "allowed_change",
        "pagerank: allowed total change by one more iteration: the tolerance, or the last change, plus "
        "2^-24 of each rank for each of its incoming edges and for 16 more"),
};
template <>
constinit const Record Description<Verification>::record = record_of<Verification>(verification_fields);

constexpr Field top_rank_fields[] = {
    required<&TopRank::vertex>("vertex", "vertex, counted from graph.first_id"),
    required<&TopRank::rank>("rank", "its rank"),
};
template <>
constinit const Record Description<TopRank>::record = record_of<TopRank>(top_rank_fields);

constexpr Field answer_fields[] = {
    optional<&Answer::reached>("reached",
                               "bfs, sssp, reach: vertices that a source reaches, with the sources"),
    optional<&Answer::distance>("distance", "bfs, sssp: the greatest level or distance of a reached vertex"),
    optional<&Answer::farthest>("farthest",
                                "bfs, sssp: the first vertex that far away, counted from graph.first_id"),
    optional<&Answer::components>("components", "cc: number of weakly connected components"),
    optional<&Answer::largest>("largest", "cc: vertices of the largest component"),
    optional<&Answer::top>("top", "pagerank: the five highest ranks"),
};
template <>
constinit const Record Description<Answer>::record = record_of<Answer>(answer_fields);

constexpr Field times_fields[] = {
    required<&RepeatedTimes::rounds>("rounds", "number of timings"),
    required<&RepeatedTimes::run_ns>("run_ns", "median of the traversal"),
    required<&RepeatedTimes::run_rounds_ns>("run_rounds_ns", "every round"),
    optional<&RepeatedTimes::launches_ns>("launches_ns", "median of the same with a launch for each step"),
    optional<&RepeatedTimes::speedup>(
        "speedup", "median over the rounds of the time with a launch for each step divided by the run's"),
    optional<&RepeatedTimes::speedup_low>(
        "speedup_low", "lower end of the interval that holds the true median with 95 % confidence"),
    optional<&RepeatedTimes::speedup_high>("speedup_high", "upper end of that interval"),
    optional<&RepeatedTimes::verdict>("verdict",
                                      "faster or slower if the interval leaves out 1; too_few_rounds: "
                                      "fewer than six, so the interval is the range of all rounds"),
    required<&RepeatedTimes::launches_rounds_ns>("launches_rounds_ns",
                                                 "every round with a launch for each step"),
};
template <>
constinit const Record Description<RepeatedTimes>::record = record_of<RepeatedTimes>(times_fields);

using Head = HeadFields<FrontierReport>;
constexpr Head head;

constexpr Field report_fields[] = {
    head.id,
    head.status,
    head.error,
    head.device,
    head.strategy,
    head.strategy_reason,
    head.ordering,
    required<&FrontierReport::algorithm>("algorithm", "algorithm of the traversal"),
    required<&FrontierReport::semiring>(
        "semiring", "the pair of operations that multiplies the frontier with the graph's matrix"),
    required<&FrontierReport::switch_rule>("switch_rule", "rule that switched topologies"),
    optional<&FrontierReport::forced_topology>("forced_topology",
                                               "with --set force-topology: topology of all waves"),
    required<&FrontierReport::graph>("graph", "traversed graph"),
    optional<&FrontierReport::answer>("answer", "the result in short, once the traversal is done"),
    required<&FrontierReport::memory>("memory", "device memory"),
    required<&FrontierReport::summary>("summary", "totals of all waves"),
    head.wall_time_ns,
    required<&FrontierReport::load_ns>("load_ns", "time of reading or generating the graph"),
    head.build_ns,
    Head::of<&FrontierReport::upload_ns>("upload_ns", "time of filling device memory"),
    Head::of<&FrontierReport::dispatch_ns>("traversal_ns", "time from the first frontier to the last"),
    required<&FrontierReport::verify_ns>("verify_ns", "time of the checks of --verify or of a first run"),
    Head::of<&FrontierReport::geometry>("geometry", "geometry of the launches"),
    Head::of<&FrontierReport::telemetry, &Telemetry::kernel_launches>("kernel_launches",
                                                                      "launches of the traversal"),
    Head::of<&FrontierReport::telemetry, &Telemetry::sync_points>(
        "sync_points", "times that the host waited for the device"),
    Head::of<&FrontierReport::telemetry, &Telemetry::bytes_uploaded>("bytes_uploaded",
                                                                     "bytes written to the device"),
    Head::of<&FrontierReport::telemetry, &Telemetry::bytes_read_back>("bytes_read_back",
                                                                      "bytes read from it"),
    Head::of<&FrontierReport::telemetry, &Telemetry::compiled_pipeline_cache_hit>(
        "built_from_cache", "whether the kernels came from the cache"),
    Head::of<&FrontierReport::telemetry, &Telemetry::resident_input_cache_hit>(
        "resident_input_cache_hit", "whether the device had the graph from an earlier request of a stream"),
    head.items_processed,
    Head::of<&FrontierReport::items_remaining>(
        "items_remaining", "vertices of the frontier that waited when a traversal ended before its time"),
    head.queue_plan_ns,
    head.queue_publish_ns,
    head.read_back_ns,
    head.lineage_ns,
    head.published_items,
    head.deduped_items,
    head.lineage_items,
    head.lineage_iterations,
    head.region_lineage,
    optional<&FrontierReport::recommendation>(
        "recommendation",
        "recommendation of the launch policy for the first wave; left out if no launch keeps the budget"),
    head.recommended_geometry,
    head.telemetry,
    head.slices_ns,
    optional<&FrontierReport::replay>("replay", "the host's choices for the logged numbers"),
    optional<&FrontierReport::verification>("verification",
                                            "with --verify and on a first run: checks of the result"),
    Head::of<&FrontierReport::first_run>("first_run",
                                         "whether the result was checked without --verify, and why not"),
    Head::of<&FrontierReport::converged>(
        "converged", "pagerank: whether the last iteration changed the ranks by less than the tolerance"),
    optional<&FrontierReport::rank_change>("rank_change", "total change by the last iteration"),
    optional<&FrontierReport::comparison>("comparison", "with --compare: times of more rounds"),
    optional<&FrontierReport::baseline>("baseline",
                                        "with --baseline: times next to those of an earlier report"),
    required<&FrontierReport::evidence>("evidence", "evidence of every chosen topology, at its first wave"),
    head.profile_file,
    head.policy_file,
    head.warnings,
    head.files_written,
    head.stuck_groups,
    Head::of<&FrontierReport::trace>("trace", "with --trace: content of its file"),
    required<&FrontierReport::waves>("waves", "every wave with its numbers and choice"),
};
template <>
constinit const Record Description<FrontierReport>::record = record_of<FrontierReport>(report_fields);

template <>
constinit const Document DocumentOf<FrontierReport>::document = document_of<FrontierReport>(
    "frontier_report", "Results of a frontier program, wave by wave, and the checks of them",
    Direction::output);

} // namespace tidegate::documents
