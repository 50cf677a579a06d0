// Checks and meaning of frontier programs.
#include "graph/program.hpp"
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

FrontierProgram program(const std::function<void(FrontierProgram&)>& change = {}) {
  FrontierProgram made{.graph = {.file = "road.mtx"}, .algorithm = Algorithm::bfs, .sources = {0}};
  if (change) {
    change(made);
  }
  return made;
}

std::string refused(const std::function<void(FrontierProgram&)>& change) {
  const auto sound = check_program(program(change));
  return sound ? "it is sound" : describe(sound.error());
}

std::string invalid(const std::string& message, const std::string& pointer, const std::string& fix) {
  return "tidegate: error: " + message + " [invalid_program]\n  at: " + pointer + "\n  fix: " + fix;
}

} // namespace

TEST_CASE("one graph, from a file or generated") {
  CHECK(refused([](FrontierProgram&) {}) == "it is sound");
  CHECK(refused([](FrontierProgram& p) { p.graph.file.reset(); }) ==
        invalid("the graph has neither file nor generate", "/graph", "give one of them"));
  CHECK(refused([](FrontierProgram& p) {
          p.graph.generate = GeneratorSpec{.grid = GridSpec{3, 3}};
        }) == invalid("the graph has both file and generate", "/graph", "give one of them"));
  const auto generated = [](GeneratorSpec spec) {
    return [spec](FrontierProgram& p) { p.graph = {.file = {}, .generate = spec}; };
  };
  CHECK(refused(generated({.grid = GridSpec{3, 3}})) == "it is sound");
  CHECK(refused(generated({})) ==
        invalid("generate has 0 of rmat, grid and uniform", "/graph/generate", "give exactly one of them"));
  CHECK(refused(generated({.rmat = RmatSpec{.scale = 40}})) ==
        invalid("the scale is 40, and vertices are numbers of 32 bits", "/graph/generate/rmat/scale",
                "give a scale up to 31"));
  CHECK(refused([](FrontierProgram& p) { p.graph.weights = ProgramWeights::u32; }) ==
        invalid("bfs does not use weights", "/graph/weights", "leave weights out"));
}

TEST_CASE("sources match the algorithm and are in range") {
  const auto with = [](Algorithm algorithm, std::size_t sources) {
    return [=](FrontierProgram& p) {
      p.algorithm = algorithm;
      p.sources.assign(sources, 1);
    };
  };
  CHECK(refused(with(Algorithm::bfs, 0)) ==
        invalid("bfs needs a source", "/sources", "give the number of a vertex, counted from 0"));
  CHECK(refused(with(Algorithm::sssp, 40)) == "it is sound");
  CHECK(refused(with(Algorithm::reach, 32)) == "it is sound");
  CHECK(refused(with(Algorithm::reach, 33)) == invalid("reach follows at most 32 sources at once, not 33",
                                                       "/sources", "divide them among several programs"));
  CHECK(refused(with(Algorithm::cc, 1)) == invalid("cc takes no sources", "/sources", "leave sources out"));
  CHECK(refused(with(Algorithm::pagerank, 0)) == "it is sound");
  constexpr const char* fix =
      "\n  fix: give the number of a vertex; they are counted from 0, unless the graph has \"ids\": "
      "\"file\"";
  CHECK(refused([](FrontierProgram& p) {
          p.graph = {.generate = GeneratorSpec{.grid = GridSpec{3, 3}}};
          p.sources = {8, 9};
        }) == std::string("tidegate: error: the source is 9, and the vertices of the graph are 0 to 8 "
                          "[out_of_range]\n  at: /sources/1") +
                  fix);
  CHECK(describe(check_sources(program(), {}).error()) ==
        std::string("tidegate: error: the source is 0, and the graph has no vertices [out_of_range]\n"
                    "  at: /sources/0") +
            fix);
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
    CHECK(p.graph.ids == VertexIds::position);
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

TEST_CASE("outputs and settings of another algorithm") {
  CHECK(refused([](FrontierProgram& p) { p.outputs.levels = p.outputs.parents = "x.npy"; }) == "it is sound");
  CHECK(refused([](FrontierProgram& p) { p.outputs.ranks = "x.npy"; }) ==
        invalid("bfs has no ranks", "/outputs/ranks", "leave it out, or run pagerank"));
  const auto ranks = [](PageRankOptions settings) {
    return [settings](FrontierProgram& p) {
      p.algorithm = Algorithm::pagerank;
      p.sources.clear();
      p.pagerank = settings;
    };
  };
  CHECK(refused(ranks({.damping = 0, .tolerance = 1e-9, .max_iterations = 5})) == "it is sound");
  CHECK(refused(ranks({.damping = 1})) ==
        invalid("the damping is 1", "/pagerank/damping", "give a number from 0 to below 1"));
  CHECK(refused(ranks({.tolerance = 0})) ==
        invalid("the tolerance is 0", "/pagerank/tolerance", "give a number above 0"));
  CHECK(refused([](FrontierProgram& p) { p.pagerank = PageRankOptions{.damping = 0.5}; }) ==
        invalid("bfs does not use these settings", "/pagerank", "leave pagerank out"));
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
