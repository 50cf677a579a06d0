#include "traversal/documents.hpp"

#include "runtime/documents.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

using namespace graphs;

constexpr std::string_view seed_meaning = "equal seeds give equal graphs, on every machine";
constexpr std::string_view weight_meaning = "weights are even from 1 to this; 0: all weigh 1";

constexpr Field rmat_fields[] = {
    required<&RmatSpec::scale>("the graph has 2^scale vertices").between(0, 31),
    defaulted<&RmatSpec::edge_factor>("edges of a vertex on average"),
    defaulted<&RmatSpec::a>("probability of the upper left quadrant of the matrix"),
    defaulted<&RmatSpec::b>("probability of the upper right quadrant"),
    defaulted<&RmatSpec::c>(
        "probability of the lower left quadrant; the rest is that of the lower right one"),
    defaulted<&RmatSpec::seed>(seed_meaning),
    defaulted<&RmatSpec::max_weight>(weight_meaning),
};
TIDEGATE_RECORD(RmatSpec, rmat_fields);

constexpr Field grid_fields[] = {
    required<&GridSpec::width>("vertices in a row, each joined with its four neighbours"),
    required<&GridSpec::height>("rows"),
    defaulted<&GridSpec::seed>("seed of the weights; equal seeds produce equal weights on every machine"),
    defaulted<&GridSpec::max_weight>(weight_meaning),
};
TIDEGATE_RECORD(GridSpec, grid_fields);

constexpr Field uniform_fields[] = {
    required<&UniformSpec::vertices>("vertices"),
    required<&UniformSpec::edges>("edges, each between any two vertices"),
    defaulted<&UniformSpec::seed>(seed_meaning),
    defaulted<&UniformSpec::max_weight>(weight_meaning),
};
TIDEGATE_RECORD(UniformSpec, uniform_fields);

constexpr Field generator_fields[] = {
    optional<&GeneratorSpec::rmat>("scale-free graph: few vertices have many edges (R-MAT)"),
    optional<&GeneratorSpec::grid>("road-like graph with long paths"),
    optional<&GeneratorSpec::uniform>("graph whose edges join uniformly random vertices"),
};
TIDEGATE_RECORD(GeneratorSpec, generator_fields);

constexpr Field graph_fields[] = {
    optional<&GraphSpec::file>(
        "Matrix Market, DIMACS .gr, METIS .graph, .csv or a list of edges, plain or gzip, relative to the program"),
    optional<&GraphSpec::generate>("or a generated graph: one of rmat, grid and uniform"),
    defaulted<&GraphSpec::undirected>("whether each edge also represents its opposite"),
    optional<&GraphSpec::weights>(
        "type of the weights of sssp; left out, u32 for whole numbers, else f32; of pagerank: "
        "a vertex passes its rank on in proportion to them; left out, evenly"),
    defaulted<&GraphSpec::ids>(
        "how sources and vertices of the report are counted: by position, from 0, "
        "or as the file counts, for most formats from 1; compact: by the ids of a list of "
        "edges, up to 2^63 - 1, of which those that occur become vertices, in ascending order"),
};
TIDEGATE_RECORD(GraphSpec, graph_fields);

constexpr Field output_fields[] = {
    optional<&FrontierOutputs::levels>(
        "bfs, u32: number of edges from the nearest source; 2^32 - 1: unreached"),
    optional<&FrontierOutputs::parents>("bfs, u32: previous vertex of the path, by position; 2^32 - 1: none"),
    optional<&FrontierOutputs::reached>("reach, u32: bit i is set if source i reaches the vertex"),
    optional<&FrontierOutputs::distances>(
        "sssp, in the type of the weights: least distance; 2^32 - 1 or infinity: unreached"),
    optional<&FrontierOutputs::components>("cc, u32: smallest vertex of the component, by position"),
    optional<&FrontierOutputs::ranks>("pagerank, f32: ranks with sum 1"),
    optional<&FrontierOutputs::values>("a program's own algorithm, in its type: values"),
    optional<&FrontierOutputs::ids>("u64: number of each vertex, as ids of the graph says"),
};
TIDEGATE_RECORD(FrontierOutputs, output_fields);

constexpr Field page_rank_fields[] = {
    defaulted<&PageRankOptions::damping>("share of a rank that is passed along edges"),
    defaulted<&PageRankOptions::tolerance>("total change of the ranks in an iteration below which it ends"),
    defaulted<&PageRankOptions::max_iterations>("most iterations")
        .between(1, std::numeric_limits<std::uint32_t>::max()),
};
TIDEGATE_RECORD(PageRankOptions, page_rank_fields);

// The fields of the launch policy, and one more.
constexpr auto frontier_policy_fields = [] {
  constexpr auto launch = launch_policy_fields<&FrontierPolicy::launch>();
  std::array<Field, launch.size() + 1> fields{};
  std::ranges::copy(launch, fields.begin());
  fields.back() = optional<&FrontierPolicy::switch_rule>(
      "rule that switches topologies; left out, the one that was measured as faster, else edges");
  return fields;
}();
TIDEGATE_RECORD(FrontierPolicy, frontier_policy_fields);

constexpr Field own_fields[] = {
    required<&OwnAlgorithm::source>("OpenCL C file with the functions, relative to the program"),
    defaulted<&OwnAlgorithm::options>("-D and -I for it"),
    required<&OwnAlgorithm::value>("type of the values"),
    required<&OwnAlgorithm::merge>(
        "what becomes of values that meet at a vertex; source: its function merge; add: "
        "a vertex adds once, when it fires"),
    optional<&OwnAlgorithm::initial>(".npy file with the first value of each vertex; left out, those of "
                                     "the function initial, or none but those of sources"),
};
TIDEGATE_RECORD(OwnAlgorithm, own_fields);

// One of the names, or an object in its place.
constexpr Field algorithm_name = [] {
  Field field = required<&FrontierProgram::algorithm>("algorithm to run");
  field.type.choices = graphs::built_in_algorithms;
  return field;
}();
constexpr Field own_algorithm = [] {
  Field field = optional<&FrontierProgram::own>("or the program's own");
  field.name = algorithm_name.name;
  field.access = [](void* object, bool engage) -> void* {
    auto& program = *static_cast<FrontierProgram*>(object);
    program.algorithm = engage ? graphs::Algorithm::own : program.algorithm;
    return engage ? &program.own.emplace() : program.own ? &*program.own : nullptr;
  };
  return field;
}();

constexpr Field frontier_program_fields[] = {
    defaulted<&FrontierProgram::parameters>(parameters_meaning),
    required<&FrontierProgram::graph>("graph to traverse: a file, or generated"),
    algorithm_name,
    own_algorithm,
    defaulted<&FrontierProgram::sources>("start vertices of bfs, sssp and own algorithms, or up to 32 of "
                                         "reach, counted as ids of the graph says")
        .or_single(),
    defaulted<&FrontierProgram::rules>("numbers, below 32, of the source rules that the traversal comes from")
        .of(ranged<std::uint32_t, 0, 31>),
    defaulted<&FrontierProgram::outputs>(".npy files, or else raw bytes, relative to the program"),
    optional<&FrontierProgram::pagerank>("settings of pagerank"),
    defaulted<&FrontierProgram::policy>("overrides of the standard launch policy"),
    defaulted<&FrontierProgram::device_memory_budget_bytes>("most device memory; 0: all of the device"),
};
TIDEGATE_RECORD(FrontierProgram, frontier_program_fields);

TIDEGATE_DOCUMENT(FrontierProgram, "frontier_program",
                  "A graph, and an algorithm that traverses it frontier by frontier", Direction::input);

using namespace traversal;

constexpr Field part_fields[] = {
    required<&MemoryPart::name>("purpose of the part"),
    required<&MemoryPart::bytes>("device memory"),
};
TIDEGATE_RECORD(MemoryPart, part_fields);

constexpr Field memory_fields[] = {
    required<&FrontierMemory::constrained>("whether only bitmaps are used, without queues and transpose"),
    required<&FrontierMemory::bytes>("device memory of all parts"),
    required<&FrontierMemory::full_bytes>("device memory of the layout that serves every topology"),
    required<&FrontierMemory::budget_bytes>("the budget, or the memory of the device"),
    required<&FrontierMemory::pressure_bps>("full layout divided by the budget"),
    required<&FrontierMemory::parts>("parts of the chosen layout"),
};
TIDEGATE_RECORD(FrontierMemory, memory_fields);

constexpr Field traversed_graph_fields[] = {
    required<&GraphReport::vertices>("vertices"),
    required<&GraphReport::edges>("directed edges, as they are traversed"),
    required<&GraphReport::weights>("type of the weights"),
    required<&GraphReport::symmetric>("whether each edge is known to have its opposite"),
    required<&GraphReport::ids>("how sources and the vertices of answer are counted"),
    required<&GraphReport::first_id>("number of the first vertex, which is the first of outputs"),
};
TIDEGATE_RECORD(GraphReport, traversed_graph_fields);

constexpr Field summary_fields[] = {
    required<&FrontierSummary::waves>("number of waves"),
    required<&FrontierSummary::alone_waves>("waves that one work-group processed alone"),
    required<&FrontierSummary::topology_changes>("waves with another topology than the previous wave"),
    required<&FrontierSummary::widest_wave>("first wave with the largest frontier"),
    required<&FrontierSummary::widest_vertices>("vertices of that frontier"),
    required<&FrontierSummary::frontier_edges>("explored edges of all frontiers"),
    required<&FrontierSummary::scanned_edges>("visited edges"),
    required<&FrontierSummary::edges_per_second>("frontier_edges divided by the time of the traversal"),
};
TIDEGATE_RECORD(FrontierSummary, summary_fields);

constexpr Field wave_fields[] = {
    required<&WaveRecord::wave>("counted from 0"),
    required<&WaveRecord::topology>("topology of the wave"),
    required<&WaveRecord::rule>("rule that chose the topology"),
    required<&WaveRecord::threshold>("threshold of the rule: bps, edges or vertices"),
    required<&WaveRecord::vertices>("vertices of the frontier"),
    required<&WaveRecord::density_bps>("vertices divided by those of the graph"),
    required<&WaveRecord::frontier_edges>("edges out of the frontier"),
    required<&WaveRecord::unexplored_edges>("edges of vertices that were in no frontier before this one"),
    required<&WaveRecord::scanned_edges>("visited edges"),
    required<&WaveRecord::trend>("frontier_edges compared with previous_edges"),
    required<&WaveRecord::alone>("whether one work-group processed it alone"),
    optional<&WaveRecord::time_ns>(
        "with --by-wave, --trace or --html: time since the end of the previous wave, by the device's "
        "clock"),
};
TIDEGATE_RECORD(WaveRecord, wave_fields);

constexpr Field verification_fields[] = {
    required<&Verification::checks>("completed checks, up to the first that failed"),
    required<&Verification::right>("whether all of them passed"),
    optional<&Verification::error>("the broken rule and its location").described_by(reported_error),
    optional<&Verification::allowed_change>(
        "pagerank: allowed total change by one more iteration: the tolerance, or the last change, plus "
        "2^-24 of each rank for each of its incoming edges and for 16 more"),
};
TIDEGATE_RECORD(Verification, verification_fields);

constexpr Field top_rank_fields[] = {
    required<&TopRank::vertex>("vertex, counted as graph.ids says"),
    required<&TopRank::rank>("its rank"),
};
TIDEGATE_RECORD(TopRank, top_rank_fields);

constexpr Field answer_fields[] = {
    optional<&Answer::reached>("bfs, sssp, reach: vertices that a source reaches, with the sources; own: "
                               "vertices with a value, or that have fired"),
    optional<&Answer::distance>("bfs, sssp: the greatest level or distance of a reached vertex"),
    optional<&Answer::farthest>("bfs, sssp: the first vertex that far away, counted as graph.ids says"),
    optional<&Answer::components>("cc: number of weakly connected components"),
    optional<&Answer::largest>("cc: vertices of the largest component"),
    optional<&Answer::top>("pagerank: the five highest ranks"),
};
TIDEGATE_RECORD(Answer, answer_fields);

constexpr Field checked_run_fields[] = {
    required<&FirstCheck::compared>("whether the result was compared with the serial algorithm's"),
    required<&FirstCheck::equal>("whether it was equal; of ranks within their rounding"),
    required<&FirstCheck::reason>("what was compared, or why it was not"),
    required<&FirstCheck::elapsed_ns>("time that it took"),
};
constinit const Record checked_run = record_of<FirstCheck>(checked_run_fields);

constexpr Field graph_ranks_fields[] = {
    required<&runtime::RanksReport::ranks>(
        "each of them; of a run that ended early the one alone that reports"),
};
constinit const Record graph_ranks = record_of<runtime::RanksReport>(graph_ranks_fields);

using ReportFields = HeadFields<FrontierReport>;

constexpr auto report_fields = ReportFields::with({
    required<&FrontierReport::algorithm>("algorithm of the traversal"),
    optional<&FrontierReport::source>("own: file with its functions"),
    required<&FrontierReport::semiring>(
        "the pair of operations that multiplies the frontier with the graph's matrix"),
    required<&FrontierReport::switch_rule>("rule that switched topologies"),
    optional<&FrontierReport::forced_topology>("with --set tuning.force-topology: topology of all waves"),
    required<&FrontierReport::graph>("traversed graph"),
    optional<&FrontierReport::answer>("the result in short, once the traversal is done"),
    required<&FrontierReport::memory>("device memory"),
    required<&FrontierReport::summary>("totals of all waves"),
    required<&FrontierReport::load_ns>("time of reading or generating the graph"),
    ReportFields::of<&FrontierReport::dispatch_ns>("time from the first frontier to the last")
        .named("backend_dispatch_ns"),
    required<&FrontierReport::verify_ns>("time of the checks of --verify or of a first run"),
    ReportFields::of<&FrontierReport::items_remaining>(
        "of a traversal that ended before its time: vertices of the frontier that waited, and those that sssp has put off"),
    optional<&FrontierReport::verification>("with --verify and on a first run: checks of the result"),
    ReportFields::of<&FrontierReport::first_run>(
        "whether the result was checked without --verify, and why not")
        .described_by(checked_run),
    ReportFields::of<&FrontierReport::converged>(
        "pagerank: whether the last iteration changed the ranks by less than the tolerance"),
    optional<&FrontierReport::distances>(
        "sssp: type of the distances; u64, if some distance does not fit 32 bits"),
    optional<&FrontierReport::rank_change>("total change by the last iteration"),
    ReportFields::of<&FrontierReport::ranks>("under mpirun: the ranks and what they sent; left out with one")
        .described_by(graph_ranks),
    required<&FrontierReport::waves>(
        "the waves with their numbers and choices; of more than 65535 the first ones: summary is of all"),
});
TIDEGATE_RECORD(FrontierReport, report_fields);

TIDEGATE_DOCUMENT(FrontierReport, "frontier_report",
                  "Results of a frontier program, wave by wave, and the checks of them", Direction::output);

} // namespace tidegate::documents
