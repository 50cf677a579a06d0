// Sorts edges into buckets in parallel, then each bucket into rows.
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/rows.hpp>

#include <unistd.h>

namespace tidegate::graphs {
namespace {

// Edges of a list, in `slices` that one thread each can visit. for_each(slice, visit) calls visit(source,
// target, bits of the weight).
struct ChunkSource {
  const EdgeChunks& from;

  [[nodiscard]] std::size_t slices() const { return from.chunks.size(); }

  template <class Visit>
  void for_each(std::size_t slice, Visit visit) const {
    const EdgeChunk& chunk = from.chunks[slice];
    const bool weighted = from.weights != WeightType::none;
    for (std::size_t i = 0; i < chunk.edges.size(); ++i) {
      const auto [source, target] = chunk.edges[i];
      const std::uint32_t weight = weighted ? chunk.weights[i] : 0;
      visit(source, target, weight);
      if (from.both_directions && source != target) {
        visit(target, source, weight);
      }
    }
  }
};

std::uint32_t weight_bits(const Weights& weights, std::uint64_t edge) {
  if (const auto* const integers = std::get_if<std::vector<std::uint32_t>>(&weights)) {
    return (*integers)[edge];
  }
  const auto* const reals = std::get_if<std::vector<float>>(&weights);
  return reals ? std::bit_cast<std::uint32_t>((*reals)[edge]) : 0;
}

struct TransposeSource {
  const Rows& from;
  static constexpr std::uint64_t slice_vertices = std::uint64_t{1} << 16U;

  [[nodiscard]] std::size_t slices() const { return (from.vertices() + slice_vertices - 1) / slice_vertices; }

  template <class Visit>
  void for_each(std::size_t slice, Visit visit) const {
    const std::uint64_t last = std::min<std::uint64_t>((slice + 1) * slice_vertices, from.vertices());
    for (std::uint64_t v = slice * slice_vertices; v < last; ++v) {
      for (std::uint64_t e = from.offsets[v]; e < from.offsets[v + 1]; ++e) {
        visit(from.neighbours[e], static_cast<Vertex>(v), weight_bits(from.weights, e));
      }
    }
  }
};

// Bucket b holds the vertices v with v >> shift == b.
struct Buckets {
  unsigned shift = 0;
  std::size_t count = 1;
};

Buckets choose_buckets(std::uint64_t vertices, std::uint64_t edges) {
  constexpr std::uint64_t edges_of_a_bucket = std::uint64_t{1} << 15U; // 256 KiB
  constexpr std::uint64_t most = 512; // write positions of a thread that stay in the cache
  const std::uint64_t wanted = std::clamp<std::uint64_t>(edges / edges_of_a_bucket, 1, most);
  Buckets buckets;
  while (((vertices == 0 ? 0 : vertices - 1) >> buckets.shift) >= wanted) {
    ++buckets.shift;
  }
  buckets.count = vertices == 0 ? 1 : ((vertices - 1) >> buckets.shift) + 1;
  return buckets;
}

// The edges grouped by bucket, in any order within a bucket.
struct BucketedEdges {
  Buckets buckets;
  std::vector<std::uint64_t> begins; // first edge of each bucket, then the number of edges
  std::unique_ptr<Edge[]> edges;
  std::unique_ptr<std::uint32_t[]> weights;
};

// Groups of consecutive slices, because each group needs a counter per bucket.
template <class Source>
struct Portions {
  const Source& source;
  std::size_t count;

  template <class Visit>
  void for_each(std::size_t portion, Visit visit) const {
    for (std::size_t slice = portion * source.slices() / count;
         slice < (portion + 1) * source.slices() / count; ++slice) {
      source.for_each(slice, visit);
    }
  }
};

template <class Source>
BucketedEdges distribute(const Source& source, Buckets buckets, bool weighted, unsigned threads) {
  constexpr std::size_t portions_of_a_thread = 8;
  const Portions<Source> portions{source, threads * portions_of_a_thread};
  std::vector<std::vector<std::uint64_t>> places(portions.count); // counts, then next write positions
  for_each_index(threads, portions.count, [&](std::size_t portion) {
    std::vector<std::uint64_t> counts(buckets.count);
    portions.for_each(portion, [&](Vertex from, Vertex, std::uint32_t) { ++counts[from >> buckets.shift]; });
    places[portion] = std::move(counts);
  });
  BucketedEdges bucketed{.buckets = buckets};
  std::uint64_t edges = 0;
  for (std::size_t bucket = 0; bucket < buckets.count; ++bucket) {
    bucketed.begins.push_back(edges);
    for (auto& counts : places) {
      edges += std::exchange(counts[bucket], edges);
    }
  }
  bucketed.begins.push_back(edges);
  bucketed.edges = std::make_unique_for_overwrite<Edge[]>(edges);
  bucketed.weights = weighted ? std::make_unique_for_overwrite<std::uint32_t[]>(edges) : nullptr;
  for_each_index(threads, portions.count, [&](std::size_t portion) {
    std::vector<std::uint64_t>& place = places[portion];
    portions.for_each(portion, [&](Vertex from, Vertex to, std::uint32_t weight) {
      const std::uint64_t at = place[from >> buckets.shift]++;
      bucketed.edges[at] = {from, to};
      if (weighted) {
        bucketed.weights[at] = weight;
      }
    });
  });
  return bucketed;
}

template <class Value>
void sort_rows(std::span<Value> values, std::span<const std::uint64_t> ends) {
  std::size_t begin = 0;
  for (const std::uint64_t end : ends) {
    const auto row = values.subspan(begin, end - begin);
    if (!std::ranges::is_sorted(row)) {
      std::ranges::sort(row);
    }
    begin = end;
  }
}

// A neighbour and its weight as a number in the order of a row; rows by neighbours have them in this order, else swapped. Weights
// are not negative, so the order of their bits is the order of the weights, for floats too.
constexpr std::uint64_t packed(std::uint64_t high, std::uint64_t low) {
  return high << 32U | low;
}

void store_weights(Weights& weights, std::uint64_t at, std::uint32_t bits) {
  if (auto* const integers = std::get_if<std::vector<std::uint32_t>>(&weights)) {
    (*integers)[at] = bits;
  } else {
    std::get<std::vector<float>>(weights)[at] = std::bit_cast<float>(bits);
  }
}

Weights room_for_weights(WeightType type, std::uint64_t edges) {
  switch (type) {
  case WeightType::u32: return std::vector<std::uint32_t>(edges);
  case WeightType::f32: return std::vector<float>(edges);
  case WeightType::none: break;
  }
  return {};
}

// Writes the rows of one bucket by a counting sort.
void fill_rows(const BucketedEdges& bucketed, std::size_t bucket, RowOrder order, Rows& rows) {
  const std::uint64_t begin = bucketed.begins[bucket];
  const std::uint64_t size = bucketed.begins[bucket + 1] - begin;
  const std::uint64_t first = std::uint64_t{bucket} << bucketed.buckets.shift;
  const std::uint64_t last =
      std::min<std::uint64_t>(first + (std::uint64_t{1} << bucketed.buckets.shift), rows.vertices());
  const std::span edges(bucketed.edges.get() + begin, size);

  std::vector<std::uint64_t> place(last - first); // next write position of each row; at last, its end
  for (const Edge& edge : edges) {
    ++place[edge.source - first];
  }
  std::uint64_t before = 0;
  for (std::uint64_t v = first; v < last; ++v) {
    rows.offsets[v] = begin + before;
    before += std::exchange(place[v - first], before);
  }
  const std::span neighbours = std::span(rows.neighbours).subspan(begin, size);
  if (!bucketed.weights) {
    for (const Edge& edge : edges) {
      neighbours[place[edge.source - first]++] = edge.target;
    }
    sort_rows(neighbours, std::span<const std::uint64_t>(place));
    return;
  }
  const bool lightest_first = order == RowOrder::lightest_first;
  std::vector<std::uint64_t> pairs(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint32_t weight = bucketed.weights[begin + i];
    pairs[place[edges[i].source - first]++] =
        lightest_first ? packed(weight, edges[i].target) : packed(edges[i].target, weight);
  }
  sort_rows(std::span(pairs), std::span<const std::uint64_t>(place));
  for (std::uint64_t i = 0; i < size; ++i) {
    const auto high = static_cast<std::uint32_t>(pairs[i] >> 32U), low = static_cast<std::uint32_t>(pairs[i]);
    neighbours[i] = lightest_first ? low : high;
    store_weights(rows.weights, begin + i, lightest_first ? high : low);
  }
}

template <class Source>
Rows build(const Source& source, std::uint64_t vertices, std::uint64_t edges, WeightType weights,
           RowOrder order, unsigned most_threads) {
  constexpr std::uint64_t edges_worth_a_thread = std::uint64_t{1} << 16U;
  const auto threads = static_cast<unsigned>(
      std::min<std::uint64_t>(thread_count(most_threads), edges / edges_worth_a_thread + 1));
  BucketedEdges bucketed =
      distribute(source, choose_buckets(vertices, edges), weights != WeightType::none, threads);
  Rows rows;
  rows.offsets.assign(vertices + 1, bucketed.begins.back());
  rows.neighbours.resize(bucketed.begins.back());
  rows.weights = room_for_weights(weights, bucketed.begins.back());
  for_each_index(threads, bucketed.buckets.count,
                 [&](std::size_t bucket) { fill_rows(bucketed, bucket, order, rows); });
  return rows;
}

__extension__ using Wide = unsigned __int128;

std::uint64_t listed(const EdgeChunks& edges) {
  std::uint64_t count = 0;
  for (const EdgeChunk& chunk : edges.chunks) {
    count += chunk.edges.size();
  }
  return count;
}

} // namespace

Rows build_rows(const EdgeChunks& edges, unsigned threads, RowOrder order) {
  return build(ChunkSource{edges}, edges.vertices, listed(edges), edges.weights, order, threads);
}

Rows transposed(const Rows& rows, unsigned threads, RowOrder order) {
  return build(TransposeSource{rows}, rows.vertices(), rows.edges(), weight_type(rows), order, threads);
}

std::uint64_t build_bytes(std::uint64_t vertices, std::uint64_t edges, WeightType weights, bool in_rows) {
  const std::uint64_t weight = weights == WeightType::none ? 0 : sizeof(std::uint32_t);
  const Wide offsets = (Wide{vertices} + 1) * sizeof(std::uint64_t);
  const Wide rows = offsets + Wide{edges} * (sizeof(Vertex) + weight);
  const Wide list = Wide{edges} * (sizeof(Edge) + weight);
  // The peak is the edge list, its copy in buckets and the rows; with the transpose, it may be the copy and
  // both rows.
  const Wide bytes = list + rows + (in_rows ? std::max(list, rows) : list);
  return static_cast<std::uint64_t>(std::min(bytes, Wide{std::numeric_limits<std::uint64_t>::max()}));
}

std::uint64_t memory_limit(const BuildOptions& options) {
  return options.most_bytes != 0 ? options.most_bytes
                                 : static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                       static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Result<void> check_memory(std::uint64_t vertices, std::uint64_t edges, WeightType weights,
                          const BuildOptions& options) {
  const std::uint64_t most = memory_limit(options);
  const std::uint64_t bytes = build_bytes(vertices, edges, weights, options.in_rows);
  if (bytes <= most) {
    return {};
  }
  return tl::unexpected(
      Error{.code = ErrorCode::input_too_large,
            .message = fmt::format("a graph of {} and {} needs {} of memory to build; {} are available",
                                   vertices == 1 ? "1 vertex" : fmt::format("{} vertices", vertices),
                                   plural(edges, "edge"), bytes_text(bytes), bytes_text(most)),
            .fix = "take a machine with more memory; vertices that are numbered without gaps need the least",
            .required_bytes = bytes,
            .budget_bytes = most});
}

Result<Graph> build_graph(EdgeChunks edges, const BuildOptions& options) {
  TIDEGATE_CHECK(
      check_memory(edges.vertices, listed(edges) * (edges.both_directions ? 2 : 1), edges.weights, options));
  Graph graph{
      .out = build_rows(edges, options.threads, options.order), .in = {}, .symmetric = edges.both_directions};
  edges.chunks.clear();
  edges.chunks.shrink_to_fit();
  if (options.in_rows && !graph.symmetric) {
    graph.in = transposed(graph.out, options.threads, options.order);
  }
  return graph;
}

VertexCut cut_vertices(const Rows& rows, std::uint32_t parts) {
  constexpr std::uint64_t word_vertices = 32; // of a bitmap
  VertexCut cut{0};
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint64_t target = rows.edges() * part / parts; // products of edges and parts fit 64 bits
    const auto found = std::ranges::lower_bound(rows.offsets, target);
    const auto vertex = static_cast<std::uint64_t>(found - rows.offsets.begin());
    // The word's end that is nearer in edges: a hub may have most of them.
    std::uint64_t rounded = vertex / word_vertices * word_vertices;
    const std::uint64_t next = rounded + word_vertices;
    if (next <= rows.vertices() &&
        rows.offsets[next] - target < target - std::min(target, rows.offsets[rounded])) {
      rounded = next;
    }
    cut.push_back(static_cast<Vertex>(std::clamp<std::uint64_t>(rounded, cut.back(), rows.vertices())));
  }
  cut.push_back(rows.vertices());
  return cut;
}

} // namespace tidegate::graphs
