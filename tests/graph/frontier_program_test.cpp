// Checks and meaning of frontier programs.
#include "graph/program.hpp"
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

using Change = std::function<void(FrontierProgram&)>;

FrontierProgram program(const Change& change = [](FrontierProgram&) {}) {
  FrontierProgram made{.graph = {.file = "road.mtx"}, .algorithm = Algorithm::bfs, .sources = {0}};
  change(made);
  return made;
}

Change generated(const GeneratorSpec& spec) {
  return [=](FrontierProgram& p) { p.graph = {.generate = spec}; };
}
Change with(Algorithm algorithm, std::size_t sources, std::optional<PageRankOptions> settings = {}) {
  return [=](FrontierProgram& p) {
    p.algorithm = algorithm;
    p.sources.assign(sources, 1);
    p.pagerank = settings;
  };
}

} // namespace

TEST_CASE("programs are refused with the place, the reason and a fix") {
  const std::vector<std::pair<Change, std::string>> rows{
      {[](FrontierProgram&) {}, "sound"},
      {[](FrontierProgram& p) { p.graph.file.reset(); },
       "the graph has neither file nor generate | /graph | give one of them"},
      {generated({.grid = GridSpec{3, 3}}), "sound"},
      {generated({}),
       "generate has 0 of rmat, grid and uniform | /graph/generate | give exactly one of them"},
      {generated({.rmat = RmatSpec{.scale = 40}}), "the scale is 40, and vertices are numbers of 32 bits | "
                                                   "/graph/generate/rmat/scale | give a scale up to 31"},
      {[](FrontierProgram& p) { p.graph.weights = ProgramWeights::u32; },
       "bfs does not use weights | /graph/weights | leave weights out"},
      {with(Algorithm::sssp, 40), "sound"},
      {with(Algorithm::reach, 32), "sound"},
      {with(Algorithm::reach, 33),
       "reach follows at most 32 sources at once, not 33 | /sources | divide them among several programs"},
      {with(Algorithm::cc, 1), "cc takes no sources | /sources | leave sources out"},
      {with(Algorithm::pagerank, 0), "sound"},
      {[](FrontierProgram& p) { p.outputs.levels = p.outputs.parents = "x.npy"; }, "sound"},
      {with(Algorithm::pagerank, 0, PageRankOptions{.damping = 0, .tolerance = 1e-9, .max_iterations = 5}),
       "sound"},
      {with(Algorithm::pagerank, 0, PageRankOptions{.damping = 1}),
       "the damping is 1 | /pagerank/damping | give a number from 0 to below 1"},
      {with(Algorithm::pagerank, 0, PageRankOptions{.tolerance = 0}),
       "the tolerance is 0 | /pagerank/tolerance | give a number above 0"},
      {with(Algorithm::bfs, 1, PageRankOptions{.damping = 0.5}),
       "bfs does not use these settings | /pagerank | leave pagerank out"},
  };
  for (const auto& [change, error] : rows) {
    const auto sound = check_program(program(change));
    CHECK((sound ? "sound" : in_a_line(sound.error())) == error);
    CHECK((sound || sound.error().code == ErrorCode::invalid_program));
  }
  CHECK(in_a_line(check_sources(program(), {}).error()) ==
        "the source is 0, and the graph has no vertices | /sources/0 | give the number of a "
        "vertex; they are counted from 0, unless the graph has \"ids\": \"file\"");
}

TEST_CASE("sources are counted by position, or as the file counts") {
  const TemporaryFolder folder;
  folder.write("one.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n");
  folder.write("zero.csv", "0,2\n");
  const auto sources_in = [&](const char* file, VertexIds ids, std::vector<std::uint64_t> sources) {
    FrontierProgram p = program();
    p.graph = {.file = file, .ids = ids};
    p.sources = std::move(sources);
    const auto loaded = load_graph(p, folder.path(), load_options(p));
    if (!loaded) {
      return loaded.error().message;
    }
    use_positions(p, numbers_of(p, *loaded));
    return fmt::format("{}", fmt::join(p.sources, " "));
  };
  CHECK(sources_in("one.mtx", VertexIds::position, {0, 2}) == "0 2");
  CHECK(sources_in("one.mtx", VertexIds::file, {1, 3}) == "0 2");
  CHECK(sources_in("zero.csv", VertexIds::file, {0, 2}) == "0 2");
  CHECK(sources_in("one.mtx", VertexIds::position, {3}) ==
        "the source is 3, and the vertices of the graph are 0 to 2");
  CHECK(sources_in("one.mtx", VertexIds::file, {0}) ==
        "the source is 0, and the vertices of the graph are 1 to 3");
  CHECK(sources_in("one.mtx", VertexIds::file, {4}) ==
        "the source is 4, and the vertices of the graph are 1 to 3");
  CHECK(sources_in("zero.csv", VertexIds::file, {3}) ==
        "the source is 3, and the vertices of the graph are 0 to 2");
  CHECK(sources_in("zero.csv", VertexIds::compact, {2, 0}) == "1 0");
  CHECK(sources_in("zero.csv", VertexIds::compact, {1}) ==
        "the source is 1, which is in no edge of the file");
  CHECK(sources_in("one.mtx", VertexIds::compact, {1}) ==
        "\"ids\": \"compact\" is for lists of edges, and this matrix_market file states its vertices");
}

TEST_CASE("a program's graph, its files and its options") {
  const TemporaryFolder folder;
  folder.write("road.wel", "0 1 5\n1 2 6\n");
  FrontierProgram sssp = program([](FrontierProgram& p) {
    p.graph = {.file = "road.wel", .undirected = true, .weights = ProgramWeights::f32};
    p.algorithm = Algorithm::sssp;
    p.sources = {2};
    p.outputs.distances = "out/d.npy";
  });
  const FileUses files = files_of(sssp, folder.path());
  REQUIRE(files.inputs.size() == 1);
  REQUIRE(files.outputs.size() == 1);
  CHECK(files.inputs[0].path == folder.file("road.wel"));
  CHECK(files.inputs[0].pointer == "/graph/file");
  CHECK(files.outputs[0].path == folder.file("out/d.npy"));
  CHECK(files.outputs[0].role == "the output distances");
  CHECK(files_of(program([](FrontierProgram& p) { p.graph.file = "-"; }), "").inputs[0].path == "./-");

  const auto loaded = load_graph(sssp, folder.path(), load_options(sssp));
  REQUIRE(loaded);
  CHECK(edge_count(loaded->graph) == 4);
  CHECK(loaded->graph.out.weight_type == WeightType::f32);
  sssp.sources = {3};
  CHECK(load_graph(sssp, folder.path(), load_options(sssp)).error().code == ErrorCode::out_of_range);
  CHECK(load_options(program()).weights == WeightUse::ignored);
  const FrontierProgram grid = program([](FrontierProgram& p) {
    p.graph = {.generate = GeneratorSpec{.grid = GridSpec{3, 3}}};
  });
  CHECK(edge_count(load_graph(grid, "", load_options(grid))->graph) == 24);
  CHECK(page_rank_options(program()).damping == 0.85);
}
