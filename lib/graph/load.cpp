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

// More entries than fit need not be read to say that they do not.
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
                   : "correct the number, or take the surplus away",
      .line = fewer ? entries.lines : header.stated_at});
}

Result<LoadedGraph> read_graph(const std::string& path, const LoadOptions& options) {
  TIDEGATE_TRY(TextBlocks blocks, TextBlocks::open(path, options.block_bytes));
  HeaderLines lines(blocks);
  TIDEGATE_TRY(FileHeader header, read_header(lines, path));
  const WeightType weights = kept_weights(options.weights, header.rules.values);
  const bool both_directions = header.both_directions || options.undirected;
  // What the header states is known not to fit before anything of that size is made.
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
                                        .value_range = entries.values},
                     .cache = CacheUse::unused};
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
  const auto key = options.cache ? cache_key(path, options) : std::nullopt;
  if (key) {
    if (auto rows = read_cache(*key, options.build)) {
      return LoadedGraph{.graph = std::move(*rows), .facts = {}, .cache = CacheUse::read};
    }
  }
  auto loaded = read_graph(path, options);
  if (!loaded) {
    loaded.error().source = display_name(path);
    return loaded;
  }
  if (options.cache) {
    // A file that changed while it was read is nobody's key.
    const bool kept = key && cache_key(path, options) == key && write_cache(*key, loaded->graph);
    loaded->cache = kept ? CacheUse::written : CacheUse::not_written;
  }
  return loaded;
}

} // namespace tidegate::graphs

#define XXH_INLINE_ALL
#ifdef __SANITIZE_ADDRESS__
#define XXH_NO_INLINE_HINTS                                                                                  \
  1 // at -Og some calls through pointers are not inlined, which its hints take for errors
#endif
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace tidegate::graphs {
namespace {

constexpr std::uint64_t cache_magic = 0x3153574f52454454; // "TDEROWS1"

struct CacheHeader {
  std::uint64_t magic = cache_magic;
  std::uint64_t checksum = 0; // of the rest of the header and of the arrays
  std::uint64_t file_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t weight_use = 0;
  std::uint64_t undirected = 0;
  std::uint64_t symmetric = 0;
  std::uint64_t weight_type = 0;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
};

CacheHeader header_of(const CacheKey& key) {
  return {.file_bytes = key.file_bytes,
          .modified_ns = key.modified_ns,
          .changed_ns = key.changed_ns,
          .weight_use = static_cast<std::uint64_t>(key.weights),
          .undirected = key.undirected ? 1U : 0U};
}

bool belongs_to(const CacheHeader& header, const CacheKey& key) {
  const CacheHeader wanted = header_of(key);
  return header.magic == wanted.magic && header.file_bytes == wanted.file_bytes &&
         header.modified_ns == wanted.modified_ns && header.changed_ns == wanted.changed_ns &&
         header.weight_use == wanted.weight_use && header.undirected == wanted.undirected;
}

// The arrays of the rows one after the other, as they stand in the file.
template <class AnyRows, class Visit>
void for_each_array(AnyRows& rows, Visit visit) {
  visit(std::span(rows.offsets));
  visit(std::span(rows.neighbours));
  std::visit(
      [&](auto& weights) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(weights)>, std::monostate>) {
          visit(std::span(weights));
        }
      },
      rows.weights);
}

std::uint64_t checksum(const CacheHeader& header, const Rows& rows) {
  constexpr std::size_t covered = offsetof(CacheHeader, file_bytes);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, reinterpret_cast<const char*>(&header) + covered, sizeof header - covered);
  for_each_array(rows, [&](auto values) { XXH3_64bits_update(&state, values.data(), values.size_bytes()); });
  return XXH3_64bits_digest(&state);
}

bool read_exactly(const Descriptor& file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      return false;
    }
    bytes = bytes.subspan(got < 0 ? 0 : static_cast<std::size_t>(got));
  }
  return true;
}

bool read_header(const Descriptor& file, CacheHeader& header) {
  return read_exactly(file, std::as_writable_bytes(std::span(&header, 1)));
}

// Whether the file is as large as its header says, so that nothing of another size is made.
bool has_size_of(const Descriptor& file, const CacheHeader& header) {
  struct stat status {};
  if (header.vertices > most_vertices || header.edges > (std::uint64_t{1} << 48U) || header.weight_type > 2 ||
      ::fstat(file.get(), &status) != 0) {
    return false;
  }
  const std::uint64_t bytes = sizeof header + (header.vertices + 1) * sizeof(std::uint64_t) +
                              header.edges * sizeof(Vertex) * (header.weight_type == 0 ? 1 : 2);
  return bytes == static_cast<std::uint64_t>(status.st_size);
}

// What everybody relies on who goes through rows. A checksum keeps accidents away, and this the rest.
bool sound(const Rows& rows) {
  const auto* const reals = std::get_if<std::vector<float>>(&rows.weights);
  return rows.offsets.front() == 0 && rows.offsets.back() == rows.neighbours.size() &&
         std::ranges::is_sorted(rows.offsets) &&
         std::ranges::all_of(rows.neighbours, [&](Vertex v) { return v < rows.vertices(); }) &&
         (reals == nullptr ||
          std::ranges::all_of(*reals, [](float weight) { return weight >= 0 && std::isfinite(weight); }));
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A pipe would not even open before somebody writes to it.
bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Whether there is something here that no cache was written to.
bool is_foreign(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return false;
  }
  if (!is_regular_file(path)) {
    return true;
  }
  const auto file = open_input(path);
  std::uint64_t magic = 0;
  return !file || !read_exactly(*file, std::as_writable_bytes(std::span(&magic, 1))) || magic != cache_magic;
}

} // namespace

std::optional<CacheKey> cache_key(const std::string& path, const LoadOptions& options) {
  struct stat status {};
  if (path == standard_stream || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return CacheKey{.path = path + ".rows",
                  .file_bytes = static_cast<std::uint64_t>(status.st_size),
                  .modified_ns = nanoseconds(status.st_mtim),
                  .changed_ns = nanoseconds(status.st_ctim),
                  .weights = options.weights,
                  .undirected = options.undirected};
}

std::optional<Graph> read_cache(const CacheKey& key, const BuildOptions& options) {
  if (!is_regular_file(key.path)) {
    return std::nullopt;
  }
  const auto file = open_input(key.path);
  CacheHeader header;
  if (!file || !read_header(*file, header) || !belongs_to(header, key) || !has_size_of(*file, header) ||
      !check_memory(header.vertices, header.edges, static_cast<WeightType>(header.weight_type), options)) {
    return std::nullopt;
  }
  Graph graph{.out = {}, .in = {}, .symmetric = header.symmetric != 0};
  Rows& rows = graph.out;
  rows.offsets.resize(header.vertices + 1);
  rows.neighbours.resize(header.edges);
  if (header.weight_type == static_cast<std::uint64_t>(WeightType::u32)) {
    rows.weights = std::vector<std::uint32_t>(header.edges);
  } else if (header.weight_type == static_cast<std::uint64_t>(WeightType::f32)) {
    rows.weights = std::vector<float>(header.edges);
  }
  bool complete = true;
  for_each_array(
      rows, [&](auto values) { complete = complete && read_exactly(*file, std::as_writable_bytes(values)); });
  if (!complete || header.checksum != checksum(header, rows) || !sound(rows)) {
    return std::nullopt;
  }
  if (options.in_rows && !graph.symmetric) {
    graph.in = transposed(rows, options.threads);
  }
  return graph;
}

bool write_cache(const CacheKey& key, const Graph& graph) {
  if (is_foreign(key.path)) {
    return false;
  }
  CacheHeader header = header_of(key);
  header.symmetric = graph.symmetric ? 1 : 0;
  header.weight_type = static_cast<std::uint64_t>(weight_type(graph.out));
  header.vertices = vertex_count(graph);
  header.edges = edge_count(graph);
  header.checksum = checksum(header, graph.out);
  auto output = Output::open(key.path);
  if (!output) {
    return false;
  }
  bool written = true;
  const auto write = [&](auto values) {
    written = written &&
              output->write({reinterpret_cast<const char*>(values.data()), values.size_bytes()}).has_value();
  };
  write(std::span(&header, 1));
  for_each_array(graph.out, write);
  return written && output->commit().has_value();
}

} // namespace tidegate::graphs
