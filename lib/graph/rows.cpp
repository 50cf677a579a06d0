#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/rows.hpp>

#include <unistd.h>

namespace tidegate::graphs {
namespace {

// A neighbour and its weight as a number in the order of a row; rows by neighbours have them in this order, else swapped. Weights
// are not negative, so the order of their bits is the order of the weights, for floats too.
constexpr std::uint64_t packed(std::uint64_t high, std::uint64_t low) {
  return high << 32U | low;
}

// A counting sort of the edges for which for_each(visit) calls visit(source, target, bits of the weight). Each thread takes a range of vertices, and reads all edges: so no two write to the same place. Then it sorts its
// rows.
template <class ForEach>
Rows build(const ForEach& for_each, std::uint64_t vertices, std::uint64_t listed_edges, WeightType weights,
           RowOrder order, unsigned most_threads) {
  constexpr std::uint64_t edges_worth_a_thread = std::uint64_t{1} << 16U;
  const auto threads = static_cast<unsigned>(
      std::min<std::uint64_t>(thread_count(most_threads), listed_edges / edges_worth_a_thread + 1));
  const auto each_edge_of = [&for_each](std::uint64_t first, std::uint64_t end, auto visit) {
    for_each([&](Vertex from, Vertex to, std::uint32_t weight) {
      if (from - first < end - first) {
        visit(from, to, weight);
      }
    });
  };
  Rows rows;
  auto& offsets = rows.offsets;
  offsets.assign(vertices + 2,
                 0); // of v at v + 2, then at v + 1 where the next edge goes, which ends as that of v + 1
  for_each_index(threads, threads, [&](std::size_t i) {
    each_edge_of(vertices * i / threads, vertices * (i + 1) / threads,
                 [&](Vertex from, Vertex, std::uint32_t) { ++offsets[from + std::size_t{2}]; });
  });
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  const std::uint64_t edges = offsets.back();
  std::vector<std::uint64_t> cut; // into ranges of about equal edges
  for (std::uint64_t i = 0; i < threads; ++i) {
    cut.push_back(static_cast<std::uint64_t>(
        std::lower_bound(offsets.begin() + 1, offsets.end() - 1, edges / threads * i) - offsets.begin() - 1));
  }
  cut.push_back(vertices);
  const bool weighted = weights != WeightType::none, lightest_first = order == RowOrder::lightest_first;
  std::vector<std::uint64_t> pairs(weighted ? edges : 0);
  rows.neighbours.resize(edges);
  rows.weight_type = weights;
  rows.weights.resize(pairs.size());
  for_each_index(threads, threads, [&](std::size_t i) {
    if (cut[i] == cut[i + 1]) {
      return;
    }
    std::uint64_t begin = offsets[cut[i] + 1];
    each_edge_of(cut[i], cut[i + 1], [&](Vertex from, Vertex to, std::uint32_t weight) {
      const std::uint64_t at = offsets[from + std::size_t{1}]++;
      if (weighted) {
        pairs[at] = lightest_first ? packed(weight, to) : packed(to, weight);
      } else {
        rows.neighbours[at] = to;
      }
    });
    for (std::uint64_t v = cut[i]; v < cut[i + 1]; ++v) {
      const std::uint64_t end = offsets[v + 1];
      const auto sort = [begin, end](auto& elements) {
        const auto row = std::span(elements).subspan(begin, end - begin);
        if (!std::ranges::is_sorted(row)) {
          std::ranges::sort(row);
        }
      };
      weighted ? sort(pairs) : sort(rows.neighbours);
      for (std::uint64_t e = begin; weighted && e < end; ++e) {
        const auto high = static_cast<std::uint32_t>(pairs[e] >> 32U),
                   low = static_cast<std::uint32_t>(pairs[e]);
        rows.neighbours[e] = lightest_first ? low : high;
        rows.weights[e] = lightest_first ? high : low;
      }
      begin = end;
    }
  });
  offsets.pop_back();
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
  const auto for_each = [&edges](auto visit) {
    for (const EdgeChunk& chunk : edges.chunks) {
      for (std::size_t i = 0; i < chunk.edges.size(); ++i) {
        const auto [source, target] = chunk.edges[i];
        const std::uint32_t weight = edges.weights == WeightType::none ? 0 : chunk.weights[i];
        visit(source, target, weight);
        if (edges.both_directions && source != target) {
          visit(target, source, weight);
        }
      }
    }
  };
  return build(for_each, edges.vertices, listed(edges), edges.weights, order, threads);
}

Rows transposed(const Rows& rows, unsigned threads, RowOrder order) {
  const auto for_each = [&rows](auto visit) {
    for (Vertex v = 0; v < rows.vertices(); ++v) {
      for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
        visit(rows.neighbours[e], v, rows.weights.empty() ? 0 : rows.weights[e]);
      }
    }
  };
  return build(for_each, rows.vertices(), rows.edges(), rows.weight_type, order, threads);
}

std::uint64_t build_bytes(std::uint64_t vertices, std::uint64_t edges, WeightType weights, bool in_rows) {
  const std::uint64_t weight = weights == WeightType::none ? 0 : sizeof(std::uint32_t);
  const Wide offsets = (Wide{vertices} + 1) * sizeof(std::uint64_t);
  const Wide rows = offsets + Wide{edges} * (sizeof(Vertex) + weight);
  const Wide list = Wide{edges} * (sizeof(Edge) + weight);
  const Wide pairs = Wide{edges} * 2 * weight;
  // Next to the rows that are built there are the list of edges, or the rows that are transposed.
  const Wide bytes = rows + pairs + (in_rows ? std::max(list, rows) : list);
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
