#include <tidegate/documents/graph_documents.hpp>
#include <tidegate/documents/policy_fields.hpp>

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

template <>
struct Description<RmatSpec> {
  static const Record record;
};
template <>
struct Description<GridSpec> {
  static const Record record;
};
template <>
struct Description<UniformSpec> {
  static const Record record;
};
template <>
struct Description<GeneratorSpec> {
  static const Record record;
};
template <>
struct Description<GraphSpec> {
  static const Record record;
};
template <>
struct Description<FrontierOutputs> {
  static const Record record;
};
template <>
struct Description<RankSettings> {
  static const Record record;
};
template <>
struct Description<FrontierPolicy> {
  static const Record record;
};
template <>
struct Description<FrontierProgram> {
  static const Record record;
};
template <>
struct Description<DegreeRange> {
  static const Record record;
};
template <>
struct Description<GraphValues> {
  static const Record record;
};
template <>
struct Description<GraphContents> {
  static const Record record;
};
template <>
struct Description<CheckedGraph> {
  static const Record record;
};
template <>
struct Description<GraphReport> {
  static const Record record;
};

namespace {

constexpr std::string_view seed_meaning = "equal seeds give equal graphs, on every machine";
constexpr std::string_view weight_meaning = "weights are even from 1 to this; 0: all weigh 1";

constexpr Field rmat_fields[] = {
    required<&RmatSpec::scale>("scale", "the graph has 2^scale vertices").between(0, 31),
    defaulted<&RmatSpec::edge_factor>("edge_factor", "edges of a vertex on average"),
    defaulted<&RmatSpec::a>("a", "probability of the upper left quadrant of the matrix"),
    defaulted<&RmatSpec::b>("b", "of the upper right one"),
    defaulted<&RmatSpec::c>("c", "of the lower left one; what is left is that of the lower right one"),
    defaulted<&RmatSpec::seed>("seed", seed_meaning),
    defaulted<&RmatSpec::max_weight>("max_weight", weight_meaning),
};

constexpr Field grid_fields[] = {
    required<&GridSpec::width>("width", "vertices in a row, each joined with its four neighbours"),
    required<&GridSpec::height>("height", "rows"),
    defaulted<&GridSpec::seed>("seed", "of the weights; equal seeds give equal ones, on every machine"),
    defaulted<&GridSpec::max_weight>("max_weight", weight_meaning),
};

constexpr Field uniform_fields[] = {
    required<&UniformSpec::vertices>("vertices", "vertices"),
    required<&UniformSpec::edges>("edges", "edges, each between any two vertices"),
    defaulted<&UniformSpec::seed>("seed", seed_meaning),
    defaulted<&UniformSpec::max_weight>("max_weight", weight_meaning),
};

constexpr Field generator_fields[] = {
    optional<&GeneratorSpec::rmat>("rmat", "scale-free: few vertices have many edges (R-MAT)"),
    optional<&GeneratorSpec::grid>("grid", "road-like: a long way from end to end"),
    optional<&GeneratorSpec::uniform>("uniform", "ends of edges are even among all vertices"),
};

constexpr Field graph_fields[] = {
    optional<&GraphSpec::file>(
        "file", "Matrix Market, DIMACS .gr or a list of edges, plain or gzip, relative to the program"),
    optional<&GraphSpec::generate>("generate", "or a generated graph: one of rmat, grid and uniform"),
    defaulted<&GraphSpec::undirected>("undirected", "whether each edge stands for its opposite as well"),
    optional<&GraphSpec::weights>("weights",
                                  "type of the weights of sssp; left out, u32 for whole numbers, else f32"),
    defaulted<&GraphSpec::cache>("cache", "whether to keep what was read of the file in FILE.rows beside it"),
};

constexpr Field output_fields[] = {
    optional<&FrontierOutputs::levels>("levels",
                                       "of bfs, u32: edges from the nearest source; 2^32 - 1: none"),
    optional<&FrontierOutputs::parents>("parents", "of bfs, u32: the vertex before; 2^32 - 1: none"),
    optional<&FrontierOutputs::reached>("reached", "of reach, u32: bit i says that source i leads here"),
    optional<&FrontierOutputs::distances>(
        "distances", "of sssp, of the weights' type: least sum; 2^32 - 1 or infinity: none"),
    optional<&FrontierOutputs::components>("components", "of cc, u32: the smallest vertex of the component"),
    optional<&FrontierOutputs::ranks>("ranks", "of pagerank, f32: with the sum 1"),
};

constexpr Field rank_fields[] = {
    optional<&RankSettings::damping>("damping", "part of a rank that goes on along edges; left out, 0.85"),
    optional<&RankSettings::tolerance>(
        "tolerance", "change of all ranks in an iteration, in sum, that ends it; left out, 1e-6"),
    optional<&RankSettings::max_iterations>("max_iterations", "iterations at most; left out, 1000")
        .between(1, std::numeric_limits<std::uint32_t>::max()),
};

// The fields of the launch policy, and one more.
constexpr auto frontier_policy_fields = [] {
  constexpr auto launch = launch_policy_fields<&FrontierPolicy::launch>();
  std::array<Field, launch.size() + 1> fields{};
  std::ranges::copy(launch, fields.begin());
  fields.back() = optional<&FrontierPolicy::switch_rule>(
      "switch_rule", "what changes topologies; left out, what was measured as better, else edges");
  return fields;
}();

constexpr Field frontier_program_fields[] = {
    required<&FrontierProgram::graph>("graph", "what is traversed: a file, or generated"),
    required<&FrontierProgram::algorithm>("algorithm", "what is computed"),
    defaulted<&FrontierProgram::sources>(
        "sources", "vertices, counted from 0, that bfs and sssp start from, or up to 32 of reach")
        .or_single(),
    defaulted<&FrontierProgram::outputs>("outputs", ".npy files, or else raw bytes, relative to the program"),
    defaulted<&FrontierProgram::pagerank>("pagerank", "settings of pagerank"),
    defaulted<&FrontierProgram::policy>("policy", "overrides of the standard launch policy"),
    defaulted<&FrontierProgram::device_memory_budget_bytes>("device_memory_budget_bytes",
                                                            "device memory at most; 0: what the device has"),
};

constexpr Field degree_fields[] = {
    required<&DegreeRange::min>("min", "the least"),
    required<&DegreeRange::median>("median", "as many vertices have less as have more"),
    required<&DegreeRange::max>("max", "the greatest"),
};

constexpr Field value_fields[] = {
    required<&GraphValues::type>("type", "what stands behind the two vertices of an entry"),
    optional<&GraphValues::least>("least", "the least value"),
    optional<&GraphValues::greatest>("greatest", "the greatest value"),
    required<&GraphValues::negative>("negative", "values below 0"),
};

template <auto Member>
constexpr Field summary_field(std::string_view name, std::string_view meaning) {
  return required<&GraphContents::summary, Member>(name, meaning);
}

constexpr Field contents_fields[] = {
    required<&GraphContents::format>("format", "format of the file"),
    required<&GraphContents::compressed>("compressed", "whether it is compressed by gzip"),
    required<&GraphContents::lines>("lines", "lines of text"),
    required<&GraphContents::entries>("entries", "lines with an edge"),
    required<&GraphContents::both_directions>("both_directions",
                                              "whether each stands for its opposite as well"),
    summary_field<&GraphSummary::vertices>("vertices", "vertices"),
    summary_field<&GraphSummary::edges>("edges", "directed edges"),
    summary_field<&GraphSummary::symmetric>("symmetric", "whether each edge has its opposite"),
    summary_field<&GraphSummary::out_degree>("out_degree", "edges from a vertex"),
    summary_field<&GraphSummary::in_degree>("in_degree", "edges to a vertex"),
    summary_field<&GraphSummary::isolated_vertices>("isolated_vertices",
                                                    "vertices without an edge to or from another one"),
    summary_field<&GraphSummary::self_loops>("self_loops", "edges from a vertex to itself"),
    summary_field<&GraphSummary::repeated_edges>("repeated_edges",
                                                 "edges beyond the first between their vertices"),
    summary_field<&GraphSummary::components>("components",
                                             "parts without edges between them, isolated vertices included"),
    summary_field<&GraphSummary::largest_component>("largest_component", "vertices of the largest of them"),
    required<&GraphContents::values>("values", "values of the entries, which are weights to sssp"),
};

constexpr Field checked_graph_fields[] = {
    required<&CheckedGraph::file>("file", "path, or - for standard input"),
    required<&CheckedGraph::verdict>("verdict", "valid or invalid"),
    optional<&CheckedGraph::graph>("graph", "what the file holds"),
    optional<&CheckedGraph::error>("error", "why it is not valid"),
};

constexpr Field graph_report_fields[] = {
    required<&GraphReport::checked>("checked", "files looked at"),
    required<&GraphReport::valid>("valid", "files that are graphs"),
    required<&GraphReport::failed>("failed", "the others"),
    required<&GraphReport::graphs>("graphs", "every file with its verdict"),
};

} // namespace

constinit const Record Description<RmatSpec>::record = record_of<RmatSpec>("rmat", rmat_fields);
constinit const Record Description<GridSpec>::record = record_of<GridSpec>("grid", grid_fields);
constinit const Record Description<UniformSpec>::record = record_of<UniformSpec>("uniform", uniform_fields);
constinit const Record Description<GeneratorSpec>::record =
    record_of<GeneratorSpec>("generator", generator_fields);
constinit const Record Description<GraphSpec>::record = record_of<GraphSpec>("graph", graph_fields);
constinit const Record Description<FrontierOutputs>::record =
    record_of<FrontierOutputs>("frontier_outputs", output_fields);
constinit const Record Description<RankSettings>::record =
    record_of<RankSettings>("rank_settings", rank_fields);
constinit const Record Description<FrontierPolicy>::record =
    record_of<FrontierPolicy>("frontier_policy", frontier_policy_fields);
constinit const Record Description<FrontierProgram>::record =
    record_of<FrontierProgram>("frontier_program", frontier_program_fields);
constinit const Record Description<DegreeRange>::record =
    record_of<DegreeRange>("degree_range", degree_fields);
constinit const Record Description<GraphValues>::record =
    record_of<GraphValues>("graph_values", value_fields);
constinit const Record Description<GraphContents>::record =
    record_of<GraphContents>("graph_contents", contents_fields);
constinit const Record Description<CheckedGraph>::record =
    record_of<CheckedGraph>("checked_graph", checked_graph_fields);
constinit const Record Description<GraphReport>::record =
    record_of<GraphReport>("graph_report", graph_report_fields);

constinit const Document DocumentOf<FrontierProgram>::document{
    .kind = "frontier_program",
    .title = "A graph, and an algorithm that works through it frontier by frontier",
    .direction = Direction::input,
    .record = &Description<FrontierProgram>::record};
constinit const Document DocumentOf<GraphReport>::document{.kind = "graph_report",
                                                           .title = "What graph files hold",
                                                           .direction = Direction::output,
                                                           .record = &Description<GraphReport>::record};

} // namespace tidegate::documents
