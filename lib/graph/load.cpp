// Loads a graph, and checks stated sizes before allocating memory for them.
#include "core/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/load.hpp>

#include <fmt/format.h>

#include <utility>

namespace tidegate::graphs {
namespace {

Result<FileHeader> read_header(HeaderLines& lines, const std::string& path) {
  TIDEGATE_TRY(const FileFormat format, recognise_format(lines, path));
  switch (format) {
  case FileFormat::matrix_market: return read_matrix_market_header(lines);
  case FileFormat::dimacs: return read_dimacs_header(lines);
  case FileFormat::edge_list: break;
  }
  return read_edge_list_header(lines);
}

// Scanning stops at a count that cannot fit: two lists of edges fill the memory.
std::uint64_t most_entries(const BuildOptions& options) {
  return memory_limit(options) / (2 * sizeof(Edge));
}

Result<void> check_count(const FileHeader& header, const Entries& entries) {
  if (!header.entries || *header.entries == entries.count) {
    return {};
  }
  const bool fewer = entries.count < *header.entries;
  return tl::unexpected(Error{
      .code = ErrorCode::bad_graph,
      .message = fmt::format("line {} states {}, and the file has {}", header.stated_at,
                             *header.entries == 1 ? "1 entry" : fmt::format("{} entries", *header.entries),
                             entries.count),
      .fix = fewer ? "the file may be cut off: download it anew, or correct the number"
                   : "correct the number, or remove the surplus entries",
      .line = fewer ? entries.lines : header.stated_at});
}

Result<LoadedGraph> read_graph(const std::string& path, const LoadOptions& options) {
  TIDEGATE_TRY(TextBlocks blocks, TextBlocks::open(path, options.block_bytes));
  HeaderLines lines(blocks);
  TIDEGATE_TRY(FileHeader header, read_header(lines, path));
  const WeightType weights = kept_weights(options.weights, header.rules.values);
  const bool both_directions = header.both_directions || options.undirected;
  // Refuses a stated size that cannot fit before allocating anything for it.
  TIDEGATE_CHECK(
      check_memory(header.vertices.value_or(0), header.entries.value_or(0), weights, options.build));
  header.rules.weights = weights;
  header.rules.most_entries = most_entries(options.build);
  TIDEGATE_TRY(Entries entries,
               read_entries(blocks, lines.rest(), lines.number(), header.rules, options.build.threads));
  const std::uint64_t vertices =
      header.vertices.value_or(entries.last_vertex ? std::uint64_t{*entries.last_vertex} + 1 : 0);
  TIDEGATE_CHECK(check_memory(vertices, entries.count * (both_directions ? 2 : 1), weights, options.build));
  TIDEGATE_CHECK(check_count(header, entries));

  LoadedGraph loaded{.graph = {},
                     .facts = FileFacts{.format = header.format,
                                        .compressed = blocks.compressed(),
                                        .lines = entries.lines,
                                        .entries = entries.count,
                                        .both_directions = header.both_directions,
                                        .values = header.rules.values,
                                        .value_range = entries.values}};
  TIDEGATE_TRY(loaded.graph, build_graph({.vertices = vertices,
                                          .chunks = std::move(entries.chunks),
                                          .weights = weights,
                                          .both_directions = both_directions},
                                         options.build));
  return loaded;
}

} // namespace

WeightType kept_weights(WeightUse use, ValueColumn given) {
  switch (use) {
  case WeightUse::ignored: return WeightType::none;
  case WeightUse::u32: return WeightType::u32;
  case WeightUse::f32: return WeightType::f32;
  case WeightUse::as_given: break;
  }
  return given == ValueColumn::real ? WeightType::f32 : WeightType::u32;
}

Result<LoadedGraph> load_graph(const std::string& path, const LoadOptions& options) {
  auto loaded = read_graph(path, options);
  if (!loaded) {
    loaded.error().source = display_name(path);
  }
  return loaded;
}

} // namespace tidegate::graphs
