// Random graphs on this machine's first CPU device: every algorithm, topology and rule, launch by launch and
// in one persistent launch, against the serial algorithms.
#include "../test_scale.hpp"
#include "support.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using policy::Topology;

std::uint32_t below(std::mt19937& random, std::uint32_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

graphs::FrontierProgram random_program(Algorithm algorithm, std::mt19937& random) {
  graphs::FrontierProgram program{.algorithm = algorithm};
  graphs::GeneratorSpec generate;
  const bool weights = algorithm == Algorithm::sssp;
  std::uint32_t vertices = 1 + below(random, 300);
  if (below(random, 3) == 0) {
    generate.rmat = {.scale = 1 + below(random, 8), .edge_factor = 6, .seed = random()};
    generate.rmat->max_weight = weights ? 90 : 0;
    vertices = 1U << generate.rmat->scale;
  } else {
    generate.uniform = {.vertices = vertices, .edges = below(random, 900), .seed = random()};
    generate.uniform->max_weight = weights ? 1 + below(random, 1000) : 0;
  }
  program.graph.generate = generate;
  program.graph.undirected = below(random, 2) == 0;
  program.policy.switch_rule =
      below(random, 2) == 0 ? graphs::SwitchRule::density : graphs::SwitchRule::edges;
  program.policy.launch.hot_window_threshold = below(random, 3);
  program.policy.launch.fusion_edge_threshold = 1;
  if (algorithm == Algorithm::bfs || algorithm == Algorithm::reach || weights) {
    for (std::size_t i = 0; i < 1 + below(random, 4); ++i) {
      program.sources.push_back(below(random, vertices));
    }
  }
  if (algorithm == Algorithm::bfs) {
    program.outputs.parents = "/dev/null"; // asks for them
  }
  return program;
}

void check(const graphs::FrontierProgram& program, const device::DeviceInfo& device, RunOptions options) {
  options.verify = true;
  options.scope = PathScope::anywhere;
  options.max_wall_time_ns = 600'000'000'000;
  runtime::Monitor monitor;
  const auto report = run_traversal(program, ".", &device, options, monitor);
  REQUIRE_MESSAGE(report, report.error().message);
  REQUIRE_MESSAGE(report->status == runtime::RunStatus::done, (report->error ? report->error->message : ""));
  // The rules make the device's choices again of the numbers that it logged.
  const auto loaded = load(program, ".", options);
  REQUIRE(loaded);
  const FrontierGeometry geometry = geometry_of(program, device, options);
  const TraversalPolicy topologies = traversal_policy(program, {}, options);
  const tg_policy policy =
      make_setting({program, loaded->graph, report->memory, geometry, topologies}).policy;
  Topology previous = Topology::empty;
  for (const WaveRecord& wave : report->waves) {
    REQUIRE(wave.previous_topology == previous);
    REQUIRE(choose(policy, wave) == wave);
    previous = wave.topology;
    REQUIRE((!options.force_topology || wave.topology == *options.force_topology));
  }
}

} // namespace

TEST_CASE("launch by launch") {
  const device::DeviceInfo device = test::cpu(device::MemoryOrdering::classic);
  std::mt19937 random(12);
  for (const Algorithm algorithm :
       {Algorithm::bfs, Algorithm::reach, Algorithm::sssp, Algorithm::cc, Algorithm::pagerank}) {
    if (tidegate::test::scale != 1 && algorithm != Algorithm::bfs) {
      continue; // each has a kernel of its own, and no sanitizer sees the driver that compiles it
    }
    for (int i = 0; i < 18; ++i) {
      RunOptions options;
      options.strategy = device::Strategy::launch;
      const auto topology = static_cast<Topology>(i % 6);
      if (topology != Topology::empty &&
          (topology != Topology::fused_dense || algorithm != Algorithm::pagerank)) {
        options.force_topology = topology;
      }
      if (i % 4 != 0) {
        options.alone_vertices = 2;
      }
      CAPTURE(static_cast<int>(algorithm));
      CAPTURE(i);
      check(random_program(algorithm, random), device, options);
    }
  }
}

// Dense waves look at no bound of the near, so what they leave may all be put off: the wave is chosen again.
TEST_CASE("a wave that is chosen twice follows the topology of the last that ran") {
  const device::DeviceInfo device = test::cpu(device::MemoryOrdering::classic);
  if (tidegate::test::scale != 1) {
    return;
  }
  graphs::FrontierProgram program{.algorithm = Algorithm::sssp, .sources = {0}};
  program.graph.generate = graphs::GeneratorSpec{.rmat = {}, .grid = graphs::GridSpec{10, 10}, .uniform = {}};
  program.graph.weights = graphs::ProgramWeights::u32;
  RunOptions options;
  options.strategy = device::Strategy::launch;
  check(program, device, options);
}

} // namespace tidegate::traversal
