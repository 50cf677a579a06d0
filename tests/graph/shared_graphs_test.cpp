// Real graphs, and malformed ones, from ../shared/data/graphs (see its SOURCES.md); skipped elsewhere.
#include "../skipped.hpp"
#include "graph_support.hpp"
#include <tidegate/graph/serial.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

struct Sizes {
  std::uint64_t vertices, edges, components;
};

const std::map<std::string, Sizes> sound{{"bips98_606.mtx", {7135, 34738, 542}},
                                         {"chesapeake.mtx", {39, 340, 1}},
                                         {"cover.mtx", {7, 12, 1}},
                                         {"jagmesh7.mtx", {1138, 7450, 1}},
                                         {"karate.mtx", {34, 156, 1}},
                                         {"ldbc-directed-example.mtx", {10, 17, 1}},
                                         {"ldbc-undirected-example.mtx", {9, 24, 1}},
                                         // Junctions count from 1, so vertex 0 is a component alone.
                                         {"road-fla.txt.gz", {1070377, 2 * 1343951, 2}},
                                         {"road-ny.txt.gz", {264347, 2 * 365050, 2}},
                                         {"skew_int32.mtx", {6, 20, 1}},
                                         {"west0067.mtx", {67, 294, 1}}};

// Each error alone, with its text: malformed_test.cpp.
const std::set<std::string> malformed{
    "complex.mtx",  "empty.mtx",    "full_noheader.mtx", "mangled_format.mtx", "mangled_int32.mtx",
    "mangled1.mtx", "mangled2.mtx", "mangled3.mtx",      "mangled4.mtx",       "mangled5.mtx",
    "mangled6.mtx", "mangled7.mtx", "mangled8.mtx",      "mangled9.mtx",       "mangled10.mtx"};

} // namespace

TEST_CASE("every graph loads, or is refused with its line") {
  const auto folder = shared_folder("graphs");
  if (!folder) {
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    seen.insert(name);
    const bool road = name.starts_with("road-");
    const auto loaded = load_graph(entry.path(), {.undirected = road, .build = {.in_rows = true}});
    if (malformed.contains(name)) {
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().code == ErrorCode::bad_graph);
      CHECK(loaded.error().line);
      continue;
    }
    REQUIRE(loaded);
    REQUIRE(sound.contains(name));
    CHECK(vertex_count(loaded->graph) == sound.at(name).vertices);
    CHECK(edge_count(loaded->graph) == sound.at(name).edges);
    const std::vector<Vertex> labels = components(loaded->graph);
    CHECK(std::set(labels.begin(), labels.end()).size() == sound.at(name).components);
  }
  CHECK(seen.size() == sound.size() + malformed.size());
}
