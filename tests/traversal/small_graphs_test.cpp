// Graphs with next to nothing in them: every algorithm, topology and strategy, on one rank and on two, on this machine's
// CPU.
#include "../temporary_folder.hpp"
#include "../test_scale.hpp"
#include "support.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using policy::Topology;

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

graphs::FrontierProgram program_of(Algorithm algorithm, const std::string& own) {
  graphs::FrontierProgram program{.algorithm = algorithm};
  if (!own.empty()) {
    const bool sums = own == "core.cl";
    program.own = graphs::OwnAlgorithm{.source = own,
                                       .options = {},
                                       .value = sums ? graphs::OwnValue::i32 : graphs::OwnValue::u32,
                                       .merge = sums ? graphs::OwnMerge::add : graphs::OwnMerge::min,
                                       .initial = {}};
  } else if (algorithm != Algorithm::cc && algorithm != Algorithm::pagerank) {
    program.sources = {0};
  }
  return program;
}

} // namespace

TEST_CASE("graphs without vertices, with one, and without edges") {
  tidegate::test::TemporaryFolder folder;
  folder.write("least.cl", "uint initial(uint v, uint degree) { return v; }\n"
                           "uint along(uint value, uint weight) { return add_sat(value, weight); }\n");
  folder.write("core.cl", "int initial(uint v, uint degree) { return (int)degree; }\n"
                          "bool fires(int left) { return left < 1; }\n"
                          "int along(uint weight) { return -1; }\n");
  for (const File& file : files) {
    folder.write(file.name, file.text);
  }
  const device::DeviceInfo device = test::cpu(device::MemoryOrdering::classic);

  const auto run = [&](const graphs::FrontierProgram& program, RunOptions options) {
    options.verify = true;
    runtime::Monitor monitor;
    return run_traversal(program, folder.path().string(), &device, options, monitor);
  };
  const auto check = [](const Result<FrontierReport>& report, const File& file, bool has_source) {
    if (has_source && file.vertices == 0) {
      REQUIRE(!report);
      CHECK(report.error().message == "the source is 0, and the graph has no vertices");
      return;
    }
    REQUIRE_MESSAGE(report, report.error().message);
    REQUIRE_MESSAGE(report->status == runtime::RunStatus::done,
                    (report->error ? report->error->message : ""));
    REQUIRE(report->verification);
    CHECK(report->verification->right);
    CHECK(report->graph.vertices == file.vertices);
    CHECK((file.vertices != 0 || report->summary.waves == 0));
  };
  using Kind = std::pair<Algorithm, std::string>;
  for (const Kind& kind : {Kind{Algorithm::bfs, ""}, Kind{Algorithm::reach, ""}, Kind{Algorithm::sssp, ""},
                           Kind{Algorithm::cc, ""}, Kind{Algorithm::pagerank, ""},
                           Kind{Algorithm::own, "least.cl"}, Kind{Algorithm::own, "core.cl"}}) {
    const Algorithm algorithm = kind.first;
    const std::string& own = kind.second;
    if (tidegate::test::scale != 1 && algorithm != Algorithm::cc) {
      continue; // each has a kernel of its own, and no sanitizer sees the driver that compiles it
    }
    for (const File& file : files) {
      graphs::FrontierProgram program = program_of(algorithm, own);
      program.graph.file = file.name;
      CAPTURE(static_cast<int>(algorithm));
      CAPTURE(own);
      CAPTURE(file.name);
      const bool has_source = !program.sources.empty();
      for (const Topology topology : {Topology::empty, Topology::sparse_frontier, Topology::hybrid_frontier,
                                      Topology::dense_frontier, Topology::memory_constrained}) {
        RunOptions options;
        options.strategy = device::Strategy::launch;
        options.force_topology = topology == Topology::empty ? std::nullopt : std::optional(topology);
        check(run(program, options), file, has_source);
      }
      if (algorithm == Algorithm::bfs || algorithm == Algorithm::cc) { // each launch has a kernel of its own
        RunOptions options;
        options.strategy = device::Strategy::barrier;
        options.workers = 1;
        check(run(program, options), file, has_source);
      }

      if (algorithm != Algorithm::bfs && algorithm != Algorithm::cc && own != "core.cl") {
        continue; // as these send what they reach, their values or their sums, the others do, too
      }
      check(test::together(2,
                           [&](ranks::Ranks* rank) {
                             RunOptions options;
                             options.ranks = rank;
                             return run(program, options);
                           }),
            file, has_source);
    }
  }
}

} // namespace tidegate::traversal
