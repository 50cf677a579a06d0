// Real graphs, and malformed ones, from ../shared/data/graphs (see its SOURCES.md); skipped elsewhere.
#include "graph_support.hpp"
#include <tidegate/graph/serial.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

const std::filesystem::path folder = TIDEGATE_SOURCE_DIR "/../shared/data/graphs";

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

// File, and its error after the file name.
const std::map<std::string, std::string> malformed{
    {"complex.mtx", ":1:23: error: the format \"array\" is not supported"},
    {"empty.mtx", ":4: error: the matrix has 3 rows and 4 columns; an adjacency matrix is square"},
    {"full_noheader.mtx", ":1: error: expected the banner %%MatrixMarket, got \"3 3\""},
    {"mangled1.mtx", ":1:16: error: unknown object \"mangled\""},
    {"mangled2.mtx", ":1:23: error: unknown format \"mangled\""},
    {"mangled3.mtx", ":1:34: error: unknown field \"mangled\""},
    {"mangled4.mtx", ":1:39: error: unknown symmetry \"mangled\""},
    {"mangled5.mtx", ":1:42: error: the symmetry \"hermitian\" is not supported"},
    {"mangled6.mtx", ":1:39: error: the symmetry \"hermitian\" is not supported"},
    {"mangled7.mtx", ":2:18: error: unknown value type \"gunk\""},
    {"mangled8.mtx", ":4:2: error: the size line has 1 of 3 numbers"},
    {"mangled9.mtx", ":4: error: the matrix has 3 rows and 4 columns; an adjacency matrix is square"},
    {"mangled10.mtx", ":4: error: the matrix has 3 rows and 4 columns; an adjacency matrix is square"},
    {"mangled_format.mtx", ":1:23: error: the format \"array\" is not supported"},
    {"mangled_int32.mtx", ":8:5: error: the value -2147483649 is not an int32_t: -2147483648 to 2147483647"}};

} // namespace

TEST_CASE("every graph loads, or is refused with its line" *
          doctest::skip(!std::filesystem::is_directory(folder))) {
  std::set<std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    seen.insert(name);
    const bool road = name.starts_with("road-");
    const auto loaded = load_graph(entry.path(), {.undirected = road, .build = {.in_rows = true}});
    if (const auto refused = malformed.find(name); refused != malformed.end()) {
      REQUIRE_FALSE(loaded);
      const std::string said = describe(loaded.error());
      CHECK(said.starts_with("tidegate: " + entry.path().string() + refused->second + " [bad_graph]\n"));
      continue;
    }
    REQUIRE(loaded);
    REQUIRE(sound.contains(name));
    const GraphSummary summary = summarise(loaded->graph);
    CHECK(summary.vertices == sound.at(name).vertices);
    CHECK(summary.edges == sound.at(name).edges);
    CHECK(summary.components == sound.at(name).components);
  }
  CHECK(seen.size() == sound.size() + malformed.size());
}
