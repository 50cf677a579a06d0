// Whole traversals on this machine's CPU, each verified against the serial algorithm: random graphs and those with next to nothing in
// them, every algorithm, topology and strategy, in one process and on several ranks, which are threads.
#include "../temporary_folder.hpp"
#include "support.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::OwnMerge;
using graphs::OwnValue;
using policy::Topology;

constexpr std::array built_in{Algorithm::bfs, Algorithm::reach, Algorithm::sssp, Algorithm::cc,
                              Algorithm::pagerank};

RunOptions by_launches(Topology topology = Topology::empty) {
  RunOptions options;
  options.strategy = device::Strategy::launch;
  options.force_topology = topology == Topology::empty ? std::nullopt : std::optional(topology);
  return options;
}

graphs::OwnAlgorithm own(std::string source, OwnValue value, OwnMerge merge) {
  return {.source = std::move(source), .value = value, .merge = merge};
}

struct Runs {
  tidegate::test::TemporaryFolder folder;
  device::DeviceInfo device = test::cpu(device::MemoryOrdering::classic);
  std::mt19937 random{77};

  Runs() {
    folder.write("core.cl", "int initial(uint v, uint degree) { return (int)degree; }\n"
                            "bool fires(int left) { return left < 5; }\n"
                            "int along(uint weight) { return -1; }\n");
  }

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

  // Edges of some kind, with weights of which many are 0.
  std::string write_graph(std::uint32_t vertices, std::uint32_t kind) {
    std::string text = fmt::format("%%MatrixMarket matrix coordinate integer general\n{0} {0} {1}\n",
                                   vertices, kind == 0 ? 0 : 3 * vertices);
    for (std::uint32_t i = 0; kind != 0 && i < 3 * vertices; ++i) {
      const std::uint32_t hub = 1 + vertices / 2;
      const std::uint32_t from = kind == 1 ? hub : 1 + (kind == 2 ? i % vertices : below(vertices));
      const std::uint32_t to = kind == 2 ? 1 + (i + i / vertices) % vertices : 1 + below(vertices);
      text += fmt::format("{} {} {}\n", from, kind == 3 && below(5) == 0 ? from : to,
                          below(3) == 0 ? 0 : below(90));
    }
    folder.write("graph.mtx", text);
    return "graph.mtx";
  }

  // In this process, or on `size` ranks.
  Result<FrontierReport> run(const graphs::FrontierProgram& program, const RunOptions& given, int size = 0) {
    const auto one = [&](ranks::Ranks* rank) {
      RunOptions options = given;
      options.ranks = rank;
      options.verify = true;
      options.scope = PathScope::anywhere;
      options.max_wall_time_ns = 600'000'000'000;
      runtime::Monitor monitor;
      return run_traversal(program, folder.path().string(), &device, options, monitor);
    };
    return size == 0 ? one(nullptr) : test::together(size, one);
  }

  // The report, of rank 0, of a result that is right.
  FrontierReport check(const graphs::FrontierProgram& program, const RunOptions& options, int size = 0) {
    CAPTURE(static_cast<int>(program.algorithm));
    CAPTURE(size);
    const auto report = run(program, options, size);
    REQUIRE_MESSAGE(report, report.error().message);
    REQUIRE_MESSAGE(report->status == runtime::RunStatus::done,
                    (report->error ? report->error->message : ""));
    REQUIRE(report->verification);
    CHECK(report->verification->right);
    if (size != 0) {
      REQUIRE(report->ranks);
      CHECK(report->ranks->ranks.size() == static_cast<std::size_t>(size));
      std::uint64_t edges = 0;
      for (const runtime::RankReport& rank : report->ranks->ranks) {
        edges += *rank.numbers.edges;
      }
      CHECK(edges == report->graph.edges);
    }
    return *report;
  }

  // The same, and the rules make the device's choices again of the numbers that it logged.
  void check_choices(const graphs::FrontierProgram& program, const RunOptions& options) {
    const FrontierReport report = check(program, options);
    const auto asked = load_asked(program, ".", {}, options);
    REQUIRE(asked);
    const auto plan = plan_traversal(*asked, asked->program, nullptr, &device, options);
    REQUIRE(plan);
    const tg_policy policy = make_setting(*plan).policy;
    Topology previous = Topology::empty;
    for (const WaveRecord& wave : report.waves) {
      REQUIRE(wave.previous_topology == previous);
      REQUIRE(test::choose(policy, wave) == wave);
      previous = wave.topology;
      REQUIRE((!options.force_topology || wave.topology == *options.force_topology));
    }
  }

  graphs::FrontierProgram random_program(Algorithm algorithm) {
    graphs::FrontierProgram program{.algorithm = algorithm};
    graphs::GeneratorSpec generate;
    const bool weights = algorithm == Algorithm::sssp;
    std::uint32_t vertices = 1 + below(300);
    if (below(3) == 0) {
      generate.rmat = {.scale = 1 + below(8), .edge_factor = 6, .seed = random()};
      generate.rmat->max_weight = weights ? 90 : 0;
      vertices = 1U << generate.rmat->scale;
    } else {
      generate.uniform = {.vertices = vertices, .edges = below(900), .seed = random()};
      generate.uniform->max_weight = weights ? 1 + below(1000) : 0;
    }
    program.graph.generate = generate;
    program.graph.undirected = below(2) == 0;
    program.policy.switch_rule = below(2) == 0 ? graphs::SwitchRule::density : graphs::SwitchRule::edges;
    program.policy.launch.hot_window_threshold = below(3);
    program.policy.launch.fusion_edge_threshold = 1;
    if (algorithm == Algorithm::bfs || algorithm == Algorithm::reach || weights) {
      for (std::size_t i = 0; i < 1 + below(4); ++i) {
        program.sources.push_back(below(vertices));
      }
    }
    if (algorithm == Algorithm::bfs) {
      program.outputs.parents = "/dev/null"; // asks for them
    }
    return program;
  }
};

} // namespace

TEST_CASE("random graphs, launch by launch") {
  Runs runs;
  for (const Algorithm algorithm : built_in) {
    for (int i = 0; i < 18; ++i) {
      CAPTURE(i);
      const auto topology = static_cast<Topology>(i % 6);
      RunOptions options = by_launches(
          topology == Topology::fused_dense && algorithm == Algorithm::pagerank ? Topology::empty : topology);
      options.alone_vertices = i % 4 != 0 ? std::optional(2U) : std::nullopt;
      runs.check_choices(runs.random_program(algorithm), options);
    }
  }
}

// Dense waves look at no bound of the near, so what they leave may all be put off: the wave is chosen again.
TEST_CASE("a wave that is chosen twice follows the topology of the last that ran") {
  graphs::FrontierProgram program{.algorithm = Algorithm::sssp, .sources = {0}};
  program.graph.generate = graphs::GeneratorSpec{.grid = graphs::GridSpec{10, 10}};
  program.graph.weights = graphs::ProgramWeights::u32;
  Runs().check_choices(program, by_launches());
}

TEST_CASE("graphs without vertices, with one, and without edges") {
  struct File {
    const char* name;
    const char* text;
    std::uint32_t vertices;
  };
  constexpr std::array files{
      File{"none.mtx", "%%MatrixMarket matrix coordinate integer general\n0 0 0\n", 0},
      File{"comments.el", "# nothing\n# at all\n", 0},
      File{"header.csv", "source,target,weight\n", 0},
      File{"none.gr", "p sp 0 0\n", 0},
      File{"none.graph", "0 0\n", 0},
      File{"one.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 0\n", 1},
      File{"loop.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 5\n", 1},
      File{"one.graph", "1 0\n\n", 1},
      File{"apart.mtx", "%%MatrixMarket matrix coordinate integer general\n70 70 0\n", 70},
  };
  Runs runs;
  runs.folder.write("least.cl", "uint initial(uint v, uint degree) { return v; }\n"
                                "uint along(uint value, uint weight) { return add_sat(value, weight); }\n");
  for (const File& file : files) {
    runs.folder.write(file.name, file.text);
  }
  std::vector<graphs::FrontierProgram> programs{
      {.algorithm = Algorithm::own, .own = own("least.cl", OwnValue::u32, OwnMerge::min)},
      {.algorithm = Algorithm::own, .own = own("core.cl", OwnValue::i32, OwnMerge::add)}};
  for (const Algorithm algorithm : built_in) {
    programs.push_back({.algorithm = algorithm});
    if (algorithm != Algorithm::cc && algorithm != Algorithm::pagerank) {
      programs.back().sources = {0};
    }
  }
  for (graphs::FrontierProgram& program : programs) {
    const Algorithm algorithm = program.algorithm;
    for (const File& file : files) {
      program.graph.file = file.name;
      CAPTURE(file.name);
      const auto check = [&](const RunOptions& options, int size) {
        if (!program.sources.empty() && file.vertices == 0) {
          const auto report = runs.run(program, options, size);
          REQUIRE(!report);
          CHECK(report.error().message == "the source is 0, and the graph has no vertices");
          return;
        }
        const FrontierReport report = runs.check(program, options, size);
        CHECK(report.graph.vertices == file.vertices);
        CHECK((file.vertices != 0 || report.summary.waves == 0));
      };
      for (const Topology topology : {Topology::empty, Topology::sparse_frontier, Topology::hybrid_frontier,
                                      Topology::dense_frontier, Topology::memory_constrained}) {
        check(by_launches(topology), 0);
      }
      const bool is_first = algorithm == Algorithm::bfs || algorithm == Algorithm::cc;
      if (is_first) { // each launch has a kernel of its own
        RunOptions options;
        options.strategy = device::Strategy::barrier;
        options.workers = 1;
        check(options, 0);
      }
      if (is_first || (program.own && program.own->merge == OwnMerge::add)) {
        check({}, 2); // as these send what they reach, their values or their sums, the others do, too
      }
    }
  }
}

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

TEST_CASE("results of several ranks") {
  Runs runs;
  for (const Algorithm algorithm : built_in) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      CAPTURE(i);
      const std::uint32_t vertices = i < 5 ? 1 + i * 16 : 100 + runs.below(400);
      graphs::FrontierProgram program{.algorithm = algorithm};
      program.graph = {.file = runs.write_graph(vertices, i % 5), .undirected = i % 3 == 0};
      if (algorithm == Algorithm::sssp && i % 2 == 0) {
        program.graph.weights = graphs::ProgramWeights::f32;
      }
      if (algorithm != Algorithm::cc && algorithm != Algorithm::pagerank) {
        program.sources = {runs.below(vertices), vertices / 2};
      }
      if (algorithm == Algorithm::bfs && i % 2 == 0) {
        program.outputs.parents = "parents.bin";
      }
      runs.check(program, {}, 1 + static_cast<int>(i % 6));
    }
  }
}

// Many improved vertices at once, distances of more than 32 bits, and frontiers that cross between parts in both directions, near
// and far ones.
TEST_CASE("long messages between ranks, values of two words, and grids") {
  Runs runs;
  graphs::FrontierProgram program{.algorithm = Algorithm::reach, .sources = {0, 7}};
  program.graph.generate =
      graphs::GeneratorSpec{.rmat = graphs::RmatSpec{.scale = 12, .edge_factor = 8, .seed = 3}};
  runs.check(program, {}, 3);
  std::string text = "%%MatrixMarket matrix coordinate integer general\n200 200 199\n";
  for (int v = 1; v < 200; ++v) {
    text += fmt::format("{} {} 4000000000\n", v, v + 1);
  }
  runs.folder.write("path.mtx", text);
  graphs::FrontierProgram far{.algorithm = Algorithm::sssp, .sources = {0}};
  far.graph.file = "path.mtx";
  CHECK(runs.check(far, {}, 2).distances == OwnValue::u64);
  for (const Algorithm algorithm : {Algorithm::bfs, Algorithm::reach, Algorithm::sssp}) {
    for (const std::uint32_t width : {8U, 32U, 33U}) {
      CAPTURE(width);
      program = {.algorithm = algorithm, .sources = {runs.below(1600)}};
      program.graph.generate =
          graphs::GeneratorSpec{.grid = graphs::GridSpec{.width = width, .height = 1600 / width}};
      if (algorithm == Algorithm::sssp) {
        program.graph.weights = graphs::ProgramWeights::u32;
      }
      runs.check(program, {}, 3);
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
  runs.folder.write(
      "label.cl",
      "ulong at_source(uint v, uint i) { return i; }\n"
      "ulong along(ulong nearest, uint weight) { return add_sat(nearest, (ulong)weight << 32); }\n");
  for (const graphs::OwnAlgorithm& algorithm :
       {own("least.cl", OwnValue::u32, OwnMerge::min), own("core.cl", OwnValue::i32, OwnMerge::add),
        own("label.cl", OwnValue::u64, OwnMerge::min)}) {
    for (int size = 1; size <= 4; ++size) {
      CAPTURE(algorithm.source);
      graphs::FrontierProgram program{.algorithm = Algorithm::own, .own = algorithm};
      program.graph = {.file = runs.write_graph(300, 3), .undirected = true};
      if (algorithm.merge != OwnMerge::add) {
        program.sources = {3, 200};
      }
      runs.check(program, {}, size);
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
