// Files that several processes read together: their parts are those of the graph that one reads.
#include "graph_support.hpp"
#include "parts.hpp"
#include <tidegate/graph/serial.hpp>

#include <fmt/ranges.h>

#include <random>
#include <set>

using namespace tidegate;
using namespace tidegate::test;

namespace {

template <class List>
List slice(const List& list, const Rows& all, Vertex first, Vertex end) {
  return {list.begin() + static_cast<std::ptrdiff_t>(all.offsets[first]),
          list.begin() + static_cast<std::ptrdiff_t>(all.offsets[end])};
}

void check_part(const Rows& part, const Rows& all, Vertex first, Vertex end) {
  CHECK(part.offsets == all.offsets);
  CHECK(part.first_edge == all.offsets[first]);
  CHECK(part.neighbours == slice(all.neighbours, all, first, end));
  REQUIRE(part.weights.index() == all.weights.index());
  std::visit(
      [&](const auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          CHECK(std::get<std::decay_t<decltype(weights)>>(part.weights) == slice(weights, all, first, end));
        }
      },
      all.weights);
}

} // namespace

TEST_CASE("files of all formats are read in parts") {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  const auto below = [&random](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  constexpr std::uint32_t vertices = 90;
  std::string list, reals, matrix = "%%MatrixMarket matrix coordinate real symmetric\n% c\n90 90 800\n",
                           metis;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> rows(vertices);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < 800; ++i) {
    const std::uint32_t a = below(vertices), b = below(vertices), weight = below(5);
    list += (i % 50 == 3 ? "# note\n" : "") + fmt::format("{} {} {}\n", a, b, weight);
    reals += fmt::format("{} {} {}\n", a, b, i == 700 ? "0.5" : std::to_string(weight));
    matrix += fmt::format("{} {} {}.25\n", std::max(a, b) + 1, std::min(a, b) + 1, weight);
    if (a != b && pairs.insert(std::minmax(a, b)).second) {
      rows[a].emplace_back(b, weight);
      rows[b].emplace_back(a, weight);
    }
  }
  metis = fmt::format("% rows\n{} {} 001\n", vertices, pairs.size());
  for (const auto& row : rows) {
    for (const auto& [neighbour, weight] : row) {
      metis += fmt::format("{} {} ", neighbour + 1, weight);
    }
    metis += "\n";
  }
  for (const auto& file :
       {std::pair{"list.txt", list}, {"reals.txt", reals}, {"a.mtx", matrix}, {"a.graph", metis}}) {
    for (const WeightUse weights : {WeightUse::ignored, WeightUse::as_given, WeightUse::f32}) {
      for (std::uint32_t parts = 2; parts < 5; ++parts) {
        CAPTURE(file.first);
        CAPTURE(parts);
        LoadOptions options{
            .weights = weights,
            .undirected = parts == 3,
            .build = {.in_rows = true, .threads = 2, .parts = 1, .cut_by_in_rows = parts == 4},
            .block_bytes = 512};
        const std::string path = folder.write(file.first, file.second);
        auto whole = load_graph(path, options);
        REQUIRE(whole);
        const bool shares = weights == WeightUse::f32;
        const VertexCut cut =
            cut_vertices(options.build.cut_by_in_rows ? *in_rows(whole->graph) : whole->graph.out, parts);
        CHECK((!shares || use_shares(whole->graph)));
        options.build.parts = parts;
        std::vector<std::optional<LoadedGraph>> found(parts);
        in_parts(options.build, [&](const BuildOptions& of_part) {
          LoadOptions own = options;
          own.build = of_part;
          auto loaded = load_graph(path, own);
          if (loaded && (!shares || use_shares(loaded->graph, of_part))) {
            found[of_part.part] = std::move(*loaded);
          }
        });
        for (std::uint32_t i = 0; i < parts; ++i) {
          REQUIRE(found[i]);
          const LoadedGraph& part = *found[i];
          CHECK(part.graph.cut == cut);
          CHECK(part.graph.symmetric == whole->graph.symmetric);
          check_part(part.graph.out, whole->graph.out, cut[i], cut[i + 1]);
          REQUIRE(part.graph.in.has_value() == whole->graph.in.has_value());
          if (part.graph.in) {
            check_part(*part.graph.in, *whole->graph.in, cut[i], cut[i + 1]);
          }
          CHECK(part.facts->lines == whole->facts->lines);
          CHECK(part.facts->entries == whole->facts->entries);
          CHECK(part.facts->value_range.greatest == whole->facts->value_range.greatest);
          CHECK(part.facts->value_range.least == whole->facts->value_range.least);
        }
      }
    }
  }
}

TEST_CASE("a fault in a part of a file is reported with its line, as by one process") {
  const TemporaryFolder folder;
  std::mt19937 random(11);
  for (std::uint32_t round = 0; round < 80; ++round) {
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < 400; ++i) {
      lines.push_back(i % 50 == 3 ? "# note" : fmt::format("{} {}", random() % 900, random() % 90));
    }
    lines[1 + random() % 399] = round == 0 ? std::string(3U << 20U, '1') : "1 flaw";
    const std::string path = folder.write("list.txt", fmt::format("{}\n", fmt::join(lines, "\n")));
    LoadOptions options{.build = {.threads = 2}, .block_bytes = 64U << round % 4};
    const auto whole = load_graph(path, options);
    REQUIRE_FALSE(whole);
    const PartExchange exchange{.add_up = {}, .exchange = [](const auto&) {
                                  return failure(ErrorCode::interrupted, "another part has the fault", "");
                                }};
    options.build.exchange = &exchange;
    options.build.parts = 2 + round % 3;
    int faults = 0;
    for (options.build.part = 0; options.build.part < options.build.parts; ++options.build.part) {
      const auto part = load_graph(path, options);
      REQUIRE_FALSE(part);
      if (part.error().code == ErrorCode::bad_graph) {
        CHECK(describe(part.error()) == describe(whole.error()));
        ++faults;
      }
    }
    CHECK((round == 0 ? faults > 0 : faults == 1));
  }
}
