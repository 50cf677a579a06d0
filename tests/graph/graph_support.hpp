// Helpers of the graph tests.
#pragma once
#include "../temporary_folder.hpp"
#include "core/prelude.hpp"
#include <tidegate/graph/load.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

namespace tidegate::test {

using namespace tidegate::graphs;

inline constexpr std::uint32_t none = 0xffffffff; // the level or parent of a vertex that is not reached

using Pairs = std::vector<std::pair<Vertex, Vertex>>;

inline Pairs pairs(const Rows& rows) {
  Pairs edges;
  for (Vertex v = 0; v < rows.vertices(); ++v) {
    for (const Vertex w : rows.row(v)) {
      edges.emplace_back(v, w);
    }
  }
  return edges;
}

inline std::vector<std::uint32_t> integers_of(const Rows& rows) {
  REQUIRE(rows.weight_type == WeightType::u32);
  return rows.weights;
}

inline std::vector<float> reals_of(const Rows& rows) {
  REQUIRE(rows.weight_type == WeightType::f32);
  std::vector<float> weights;
  for (const std::uint32_t bits : rows.weights) {
    weights.push_back(std::bit_cast<float>(bits));
  }
  return weights;
}

// Returns the graph of these edges, with in rows.
inline Graph graph_of(std::uint32_t vertices, const Pairs& edges, bool undirected = false,
                      const std::vector<std::uint32_t>& weights = {}) {
  EdgeChunk chunk;
  for (const auto& [source, target] : edges) {
    chunk.edges.push_back({source, target});
  }
  chunk.weights = weights;
  EdgeChunks chunks{.vertices = vertices,
                    .chunks = {},
                    .weights = weights.empty() ? WeightType::none : WeightType::u32,
                    .both_directions = undirected};
  chunks.chunks.push_back(std::move(chunk));
  return *build_graph(std::move(chunks), {.in_rows = true, .threads = 1});
}

// Loads a file with this text on two threads, in blocks so small that lines cross them.
inline Result<LoadedGraph> load_text(const std::string& name, const std::string& text,
                                     LoadOptions options = {}) {
  const TemporaryFolder folder;
  options.build.threads = 2;
  options.block_bytes = 64;
  auto loaded = load_graph(folder.write(name, text), options);
  if (!loaded) {
    REQUIRE(loaded.error().source == folder.file(name));
    loaded.error().source = name;
  }
  return loaded;
}

// Returns "message | pointer | fix".
inline std::string in_a_line(const Error& error) {
  return fmt::format("{} | {} | {}", error.message, error.pointer.value_or(""), error.fix);
}

// Returns place and message of the error of a file that is refused, such as "2:5: expected …"; app/transcripts have fixes.
inline std::string fault(const std::string& name, const std::string& text, const LoadOptions& options = {}) {
  const auto loaded = load_text(name, text, options);
  if (loaded) {
    return "it is loaded";
  }
  CHECK(loaded.error().code == ErrorCode::bad_graph);
  CHECK(!loaded.error().fix.empty());
  std::string place;
  for (const auto& number : {loaded.error().line, loaded.error().column}) {
    place += number ? std::to_string(*number) + ":" : "";
  }
  return place + (place.empty() ? "" : " ") + loaded.error().message;
}

// Returns a gzip member with a name and a comment in its header.
inline std::string gzip_member(const std::string& text, int level = 6, int strategy = Z_DEFAULT_STRATEGY) {
  std::string packed(text.size() + text.size() / 100 + 4096, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, strategy) == Z_OK);
  std::string name = "edges.txt", comment = "of a graph", extra = "more";
  gz_header header{};
  header.name = reinterpret_cast<Bytef*>(name.data());
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  header.hcrc = 1;
  REQUIRE(deflateSetHeader(&stream, &header) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

} // namespace tidegate::test
