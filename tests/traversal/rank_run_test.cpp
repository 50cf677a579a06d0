// Traversals on several ranks, as threads with this machine's CPU device each, against the serial algorithms.
#include "../temporary_folder.hpp"
#include "../test_scale.hpp"
#include "support.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;

struct Runs {
  tidegate::test::TemporaryFolder folder;
  device::DeviceInfo device = test::cpu();
  std::mt19937 random{77};

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

  // Edges of some kind, with weights of which many are 0.
  void write_graph(std::uint32_t vertices, std::uint32_t kind, const std::string& name) {
    std::string text = fmt::format("%%MatrixMarket matrix coordinate integer general\n{0} {0} {1}\n",
                                   vertices, kind == 0 ? 0 : 3 * vertices);
    for (std::uint32_t i = 0; kind != 0 && i < 3 * vertices; ++i) {
      const std::uint32_t hub = 1 + vertices / 2;
      const std::uint32_t from = kind == 1 ? hub : 1 + (kind == 2 ? i % vertices : below(vertices));
      const std::uint32_t to = kind == 2 ? 1 + (i + i / vertices) % vertices : 1 + below(vertices);
      text += fmt::format("{} {} {}\n", from, kind == 3 && below(5) == 0 ? from : to,
                          below(3) == 0 ? 0 : below(90));
    }
    folder.write(name, text);
  }

  // The report of rank 0, which verifies the result.
  FrontierReport check(const graphs::FrontierProgram& program, int size) {
    const auto ran = test::together(size, [&](ranks::Ranks* rank) {
      RunOptions options;
      options.verify = true;
      options.ranks = rank;
      runtime::Monitor monitor;
      return run_traversal(program, folder.path().string(), &device, options, monitor);
    });
    REQUIRE_MESSAGE(ran, ran.error().message);
    const FrontierReport& report = *ran;
    CHECK_MESSAGE(report.status == runtime::RunStatus::done, (report.error ? report.error->message : ""));
    REQUIRE(report.verification);
    CHECK(report.verification->right);
    REQUIRE(report.ranks);
    CHECK(report.ranks->ranks.size() == static_cast<std::size_t>(size));
    std::uint64_t edges = 0;
    for (const runtime::RankReport& rank : report.ranks->ranks) {
      edges += *rank.edges;
    }
    CHECK(edges == report.graph.edges);
    return report;
  }
};

} // namespace

TEST_CASE("parts of a graph begin at whole words of bitmaps and have about equal edges") {
  graphs::Rows rows;
  for (std::uint64_t v = 1; v <= 1000; ++v) {
    rows.offsets.push_back(v * 10);
  }
  CHECK(cut_vertices(rows, 1) == graphs::VertexCut{0, 1000});
  CHECK(cut_vertices(rows, 4) == graphs::VertexCut{0, 256, 512, 736, 1000});
  rows.offsets.assign(21, 0);
  CHECK(cut_vertices(rows, 3) == graphs::VertexCut{0, 0, 0, 20});
  rows.offsets = {0}; // a star, whose hub has half of all edges
  for (std::uint64_t v = 1; v <= 1000; ++v) {
    rows.offsets.push_back(999 + v - 1);
  }
  CHECK(cut_vertices(rows, 2) == graphs::VertexCut{0, 32, 1000});
}

TEST_CASE("on several ranks results are those of the serial algorithms") {
  Runs runs;
  for (const Algorithm algorithm :
       {Algorithm::bfs, Algorithm::reach, Algorithm::sssp, Algorithm::cc, Algorithm::pagerank}) {
    if (tidegate::test::scale != 1 && algorithm != Algorithm::bfs) {
      continue; // each has a kernel of its own, and no sanitizer sees the driver that compiles it
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t vertices = i < 5 ? 1 + i * 16 : 100 + runs.below(400);
      runs.write_graph(vertices, i % 5, "graph.mtx");
      graphs::FrontierProgram program{.algorithm = algorithm};
      program.graph.file = "graph.mtx";
      program.graph.undirected = i % 3 == 0;
      if (algorithm == Algorithm::sssp && i % 2 == 0) {
        program.graph.weights = graphs::ProgramWeights::f32;
      }
      if (algorithm != Algorithm::cc && algorithm != Algorithm::pagerank) {
        program.sources = {runs.below(vertices), vertices / 2};
      }
      if (algorithm == Algorithm::bfs && i % 2 == 0) {
        program.outputs.parents = "parents.bin";
      }
      CAPTURE(static_cast<int>(algorithm));
      CAPTURE(i);
      runs.check(program, 1 + static_cast<int>(i % 6));
    }
  }
}

// Many improved vertices at once, and distances of more than 32 bits.
TEST_CASE("long messages between ranks, and values of two words") {
  Runs runs;
  graphs::FrontierProgram program{.algorithm = Algorithm::reach, .sources = {0, 7}};
  program.graph.generate = graphs::GeneratorSpec{
      .rmat = graphs::RmatSpec{.scale = 12, .edge_factor = 8, .seed = 3}, .grid = {}, .uniform = {}};
  runs.check(program, 3);
  std::string text = "%%MatrixMarket matrix coordinate integer general\n200 200 199\n";
  for (int v = 1; v < 200; ++v) {
    text += fmt::format("{} {} 4000000000\n", v, v + 1);
  }
  runs.folder.write("path.mtx", text);
  graphs::FrontierProgram far{.algorithm = Algorithm::sssp, .sources = {0}};
  far.graph.file = "path.mtx";
  CHECK(runs.check(far, 2).distances == graphs::OwnValue::u64);
}

// Frontiers that cross between parts in both directions, near and far ones.
TEST_CASE("ranks of a grid send each other what they reach") {
  Runs runs;
  for (const Algorithm algorithm : {Algorithm::bfs, Algorithm::reach, Algorithm::sssp}) {
    for (const std::uint32_t width : {8U, 32U, 33U}) {
      graphs::FrontierProgram program{.algorithm = algorithm, .sources = {runs.below(1600)}};
      program.graph.generate = graphs::GeneratorSpec{
          .rmat = {}, .grid = graphs::GridSpec{.width = width, .height = 1600 / width}, .uniform = {}};
      if (algorithm == Algorithm::sssp) {
        program.graph.weights = graphs::ProgramWeights::u32;
      }
      CAPTURE(static_cast<int>(algorithm));
      CAPTURE(width);
      runs.check(program, 3);
    }
  }
}

// The first has a better value than a neighbour of another rank has at first, the second sums, which ranks collect before they send
// them, and the third values of two words.
TEST_CASE("algorithms of a program's own on several ranks") {
  Runs runs;
  runs.folder.write("least.cl",
                    "uint initial(uint v, uint degree) { return v % 7u == 0 ? v * 3u : 0xffffffffu; }\n"
                    "uint at_source(uint v, uint i) { return 5; }\n"
                    "uint along(uint value, uint weight) { return add_sat(value, weight); }\n");
  runs.folder.write("core.cl", "int initial(uint v, uint degree) { return (int)degree; }\n"
                               "bool fires(int left) { return left < 5; }\n"
                               "int along(uint weight) { return -1; }\n");
  runs.folder.write(
      "label.cl",
      "ulong at_source(uint v, uint i) { return i; }\n"
      "ulong along(ulong nearest, uint weight) { return add_sat(nearest, (ulong)weight << 32); }\n");
  using graphs::OwnMerge;
  using graphs::OwnValue;
  const std::array<graphs::OwnAlgorithm, 3> all{
      {{.source = "least.cl", .options = {}, .value = OwnValue::u32, .merge = OwnMerge::min, .initial = {}},
       {.source = "core.cl", .options = {}, .value = OwnValue::i32, .merge = OwnMerge::add, .initial = {}},
       {.source = "label.cl", .options = {}, .value = OwnValue::u64, .merge = OwnMerge::min, .initial = {}}}};
  for (const graphs::OwnAlgorithm& own : all) {
    if (tidegate::test::scale != 1) {
      continue;
    }
    for (int size = 1; size <= 4; ++size) {
      runs.write_graph(300, 3, "graph.mtx");
      graphs::FrontierProgram program{.algorithm = Algorithm::own, .own = own};
      program.graph.file = "graph.mtx";
      program.graph.undirected = true;
      if (own.merge != OwnMerge::add) {
        program.sources = {3, 200};
      }
      CAPTURE(own.source);
      CAPTURE(size);
      runs.check(program, size);
    }
  }
}

TEST_CASE("a part of half of the edges takes half of the memory for rows, and an error advises more ranks") {
  const TraversalShape shape{.vertices = 1000, .edges = 8000, .sources = 1};
  const RankPart part{.cut = {0, 500, 1000}, .rank = 1, .edges = 4000, .in_edges = {}};
  const auto memory = plan_memory(shape, {}, 0, 1U << 30U, {}, &part);
  REQUIRE(memory);
  CHECK(part_bytes(*memory, Memory::graph) == (501 + 4000) * 4);
  CHECK(part_bytes(*memory, Memory::values) == 1000 * 4);
  const auto refused = plan_memory(shape, {}, 10'000, 1U << 30U, {}, &part);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::device_out_of_memory);
  CHECK(refused.error().fix == "start more ranks, or give device_memory_budget_bytes more");
}

} // namespace tidegate::traversal
