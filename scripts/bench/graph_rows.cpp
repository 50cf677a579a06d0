// Writes the graph of a frontier program, loaded or generated as `tidegate run` does it, to a file for the peers
// of a benchmark (peers/rows_file.hpp). Prints its vertices, its edges, its loops, and four vertices to start from: the first
// neighbour of the vertex with the most of them, and after each quarter of the vertices the next one with two edges.
//   graph_rows PROGRAM FILE
#include "core/files.hpp"
#include "engine/traversal/documents.hpp"
#include "graph/program.hpp"
#include "peers/rows_file.hpp"
#include <tidegate/core/decode.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

using namespace tidegate;

namespace {

template <class T>
T require(Result<T> result) {
  if (!result) {
    peers::fail(result.error().message);
  }
  return std::move(*result);
}

template <class T>
void write_array(Output& file, std::span<const T> values) {
  if (!file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()})) {
    peers::fail("the graph cannot be written");
  }
}

graphs::Vertex usual_start(const graphs::Rows& rows) {
  graphs::Vertex hub = 0;
  for (graphs::Vertex v = 0; v < rows.vertices(); ++v) {
    hub = rows.degree(v) > rows.degree(hub) ? v : hub;
  }
  return rows.edges() == 0 ? 0 : rows.row(hub).front();
}

graphs::Vertex next_with_edges(const graphs::Rows& rows, graphs::Vertex from) {
  graphs::Vertex v = from;
  while (v + 1 < rows.vertices() && rows.degree(v) < 2) {
    ++v;
  }
  return v;
}

std::uint64_t loops_of(const graphs::Rows& rows) {
  std::uint64_t loops = 0;
  for (graphs::Vertex v = 0; v < rows.vertices(); ++v) {
    loops += static_cast<std::uint64_t>(std::ranges::count(rows.row(v), v));
  }
  return loops;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: graph_rows PROGRAM FILE\n", stderr);
    return 2;
  }
  const std::string text = require(read_all(arguments[1], documents::document_bytes_limit));
  const auto program = require(documents::decode<graphs::FrontierProgram>(text));
  const std::string folder = std::filesystem::path(arguments[1]).parent_path().string();
  const graphs::LoadedGraph loaded =
      require(graphs::load_graph(program, folder, graphs::load_options(program)));
  const graphs::Rows& rows = loaded.graph.out;
  const auto* const weights = std::get_if<std::vector<std::uint32_t>>(&rows.weights);
  if (rows.weights.index() != 0 && weights == nullptr) {
    peers::fail("peers know whole weights alone");
  }
  Output file = require(Output::open(arguments[2]));
  const std::array<std::uint64_t, 5> header{peers::rows_magic, rows.vertices(), rows.edges(),
                                            weights != nullptr ? 1U : 0U, loaded.graph.symmetric ? 1U : 0U};
  write_array<std::uint64_t>(file, header);
  write_array<std::uint64_t>(file, rows.offsets);
  write_array<std::uint32_t>(file, rows.neighbours);
  if (weights != nullptr) {
    write_array<std::uint32_t>(file, *weights);
  }
  if (!file.commit()) {
    peers::fail("the graph cannot be written");
  }
  std::printf("%u %llu %llu %u", rows.vertices(), static_cast<unsigned long long>(rows.edges()),
              static_cast<unsigned long long>(loops_of(rows)), usual_start(rows));
  for (std::uint64_t quarter = 1; quarter < 4; ++quarter) {
    std::printf(" %u", next_with_edges(rows, static_cast<graphs::Vertex>(quarter * rows.vertices() / 4)));
  }
  std::printf("\n");
  return 0;
}
