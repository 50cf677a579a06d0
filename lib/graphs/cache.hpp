// The rows of a graph file in a binary file beside it, FILE.rows, so that the text is read once.
//
// A cache belongs to one state of its file (size and times) and to one way of reading it. One that belongs to
// another, is damaged, or was not written here counts as none, and a file of somebody else's that has its
// name stays as it is.
#pragma once

#include <tidegate/graphs/graph.hpp>
#include <tidegate/graphs/load.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::graphs {

struct CacheKey {
  std::string path; // of the cache
  std::uint64_t file_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  WeightUse weights = WeightUse::ignored;
  bool undirected = false;

  bool operator==(const CacheKey&) const = default;
};

// Nothing for what is no regular file.
std::optional<CacheKey> cache_key(const std::string& path, const LoadOptions& options);

// The graph, with in rows as the options say, which are not in the cache.
std::optional<Graph> read_cache(const CacheKey& key, const BuildOptions& options);

// Whether it could be written.
bool write_cache(const CacheKey& key, const Graph& graph);

} // namespace tidegate::graphs
