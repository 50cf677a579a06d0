// The rows of a file, kept beside it.
#include "graph_support.hpp"
#include <tidegate/graph/load.hpp>

#include <sstream>

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("a graph is read from its cache as from its file") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.wel", "0 1 5\n1 2 3\n2 2 0\n0 1 2\n");
  for (const WeightUse use : {WeightUse::ignored, WeightUse::u32, WeightUse::f32}) {
    for (const bool undirected : {false, true}) {
      const LoadOptions options{
          .weights = use, .undirected = undirected, .cache = true, .build = {.in_rows = true}};
      const auto first = load_graph(path, options), second = load_graph(path, options);
      REQUIRE(second);
      CHECK(first->cache == CacheUse::written);
      CHECK(second->cache == CacheUse::read);
      CHECK_FALSE(second->facts);
      CHECK(second->graph.out.offsets == first->graph.out.offsets);
      CHECK(second->graph.out.neighbours == first->graph.out.neighbours);
      CHECK(second->graph.out.weights == first->graph.out.weights);
      CHECK(second->graph.symmetric == undirected);
      REQUIRE(in_rows(second->graph) != nullptr);
      CHECK(pairs(*in_rows(second->graph)) == pairs(*in_rows(first->graph)));
    }
  }
  CHECK(load_graph(path, {})->cache == CacheUse::unused);
}

TEST_CASE("a cache of another state of the file is made anew") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.el", "0 1\n1 2\n");
  const LoadOptions options{.cache = true};
  CHECK(load_graph(path, options)->cache == CacheUse::written);
  folder.write("a.el", "0 1\n2 1\n"); // as long as it was
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
  const auto changed = load_graph(path, options);
  CHECK(changed->cache == CacheUse::written);
  CHECK(pairs(changed->graph.out) == Pairs{{0, 1}, {2, 1}});
  CHECK(load_graph(path, options)->cache == CacheUse::read);
}

TEST_CASE("a damaged cache is made anew, whichever byte is wrong") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.wel", "0 1 5\n1 2 3\n");
  const LoadOptions options{.weights = WeightUse::u32, .cache = true};
  const auto wanted = load_graph(path, options);
  const std::string cache = contents(path + ".rows");
  // The magic is what makes it a cache; behind it every byte counts.
  for (std::size_t at = sizeof(std::uint64_t); at < cache.size(); at += 3) {
    std::string damaged = cache;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder.write("a.wel.rows", damaged);
    const auto loaded = load_graph(path, options);
    REQUIRE(loaded);
    CHECK(loaded->cache == CacheUse::written);
    CHECK(loaded->graph.out.neighbours == wanted->graph.out.neighbours);
  }
  for (const std::size_t size : {std::size_t{8}, std::size_t{50}, cache.size() - 1}) {
    folder.write("a.wel.rows", cache.substr(0, size));
    CHECK(load_graph(path, options)->cache == CacheUse::written);
  }
}

TEST_CASE("what is no cache stays as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.el", "0 1\n");
  for (const std::string mine : {"", "my own rows"}) {
    folder.write("a.el.rows", mine);
    CHECK(load_graph(path, {.cache = true})->cache == CacheUse::not_written);
    CHECK(contents(path + ".rows") == mine);
  }
  std::filesystem::remove(path + ".rows");
  std::filesystem::create_directory(path + ".rows");
  CHECK(load_graph(path, {.cache = true})->cache == CacheUse::not_written);
}
