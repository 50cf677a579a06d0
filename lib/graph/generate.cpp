// Computes each edge and each weight from its number by counter-based random numbers.
#include "core/npy.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/rows.hpp>

namespace tidegate::graphs {
namespace {

// Maps 32 random bits to [0, range): the high half of their 64-bit product.
constexpr std::uint32_t scaled(std::uint32_t bits, std::uint32_t range) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * range) >> 32U);
}

constexpr std::uint32_t high_half(std::uint64_t bits) {
  return static_cast<std::uint32_t>(bits >> 32U);
}

// Returns a pseudo-random permutation of the numbers below 2^scale; every step is invertible.
auto renumbering(unsigned scale, const RandomNumbers& numbers) {
  std::array<std::uint64_t, 6> random{}; // a factor and a summand for each round
  for (std::size_t i = 0; i < random.size(); ++i) {
    random[i] = numbers.bits(i);
  }
  return [random, mask = (std::uint64_t{1} << scale) - 1, shift = std::max(scale / 2, 1U)](std::uint64_t v) {
    for (std::size_t i = 0; i < random.size(); i += 2) {
      v = (v * (random[i] | 1U) + random[i + 1]) & mask;
      v ^= v >> shift;
    }
    return static_cast<Vertex>(v);
  };
}

auto rmat_edges(const RmatSpec& spec) {
  constexpr double unit = 4294967296.0;
  std::array<std::uint64_t, 3> below{}; // cumulative probabilities in units of 2^-32
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    below[i] = sum += static_cast<std::uint64_t>(std::array{spec.a, spec.b, spec.c}[i] * unit);
  }
  return [below, scale = spec.scale, numbers = RandomNumbers(spec.seed),
          renumbered = renumbering(spec.scale, RandomNumbers(mixed(~spec.seed)))](std::uint64_t edge) {
    const std::uint64_t words = (scale + 1) / 2; // 64-bit random words per edge
    std::uint64_t source = 0, target = 0, bits = 0;
    for (unsigned level = 0; level < scale; ++level) {
      bits = level % 2 == 0 ? numbers.bits(edge * words + level / 2) : bits >> 32U;
      const std::uint64_t at = bits & 0xffffffffU;
      const unsigned quadrant =
          (at >= below[0] ? 1U : 0U) + (at >= below[1] ? 1U : 0U) + (at >= below[2] ? 1U : 0U);
      source = source << 1U | quadrant >> 1U;
      target = target << 1U | (quadrant & 1U);
    }
    return std::optional(Edge{renumbered(source), renumbered(target)});
  };
}

// A vertex has an edge to the right, numbered by twice the vertex, and one downwards.
auto grid_edges(const GridSpec& spec) {
  return [spec](std::uint64_t i) -> std::optional<Edge> {
    const std::uint64_t from = i / 2, to = from + (i % 2 == 0 ? 1 : spec.width);
    return to >= std::uint64_t{spec.width} * spec.height || (i % 2 == 0 && to % spec.width == 0)
               ? std::nullopt
               : std::optional(Edge{static_cast<Vertex>(from), static_cast<Vertex>(to)});
  };
}

auto uniform_edges(const UniformSpec& spec) {
  return [spec, numbers = RandomNumbers(spec.seed)](std::uint64_t i) {
    const auto end = [&](std::uint64_t number) {
      return scaled(high_half(numbers.bits(number)), spec.vertices);
    };
    return std::optional(Edge{end(2 * i), end(2 * i + 1)});
  };
}

// Makes the edges that `edge_of` has for the numbers below `count`, in chunks of them. Weights are functions of the edge's number,
// from 1 to the greatest of `spec`.
template <class Spec, class EdgeOf>
std::vector<EdgeChunk> numbered_edges(const Spec& spec, std::uint64_t count, const EdgeOf& edge_of,
                                      WeightType type, unsigned threads) {
  constexpr std::uint64_t numbers_of_a_chunk = std::uint64_t{1} << 16U;
  const RandomNumbers random(mixed(spec.seed));
  std::vector<EdgeChunk> chunks((count + numbers_of_a_chunk - 1) / numbers_of_a_chunk);
  for_each_index(threads, chunks.size(), [&](std::size_t i) {
    EdgeChunk& chunk = chunks[i];
    const std::uint64_t end = std::min((i + 1) * numbers_of_a_chunk, count);
    chunk.edges.reserve(end - i * numbers_of_a_chunk);
    for (std::uint64_t number = i * numbers_of_a_chunk; number < end; ++number) {
      if (const std::optional<Edge> edge = edge_of(number)) {
        chunk.edges.push_back(*edge);
        if (type != WeightType::none) {
          const std::uint32_t weight =
              spec.max_weight == 0 ? 1 : 1 + scaled(high_half(random.bits(number)), spec.max_weight);
          chunk.weights.push_back(
              type == WeightType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(weight)) : weight);
        }
      }
    }
  });
  return chunks;
}

tl::unexpected<Error> impossible(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::invalid_program, std::move(message), std::move(fix), std::move(pointer));
}

Result<GeneratedSize> size_of(const RmatSpec& spec) {
  constexpr std::uint32_t most_scale = 31;
  if (spec.scale > most_scale) {
    return impossible(fmt::format("the scale is {}, and vertices are numbers of 32 bits", spec.scale),
                      fmt::format("give a scale up to {}", most_scale), "/rmat/scale");
  }
  for (const auto& [name, value] : {std::pair{"a", spec.a}, std::pair{"b", spec.b}, std::pair{"c", spec.c}}) {
    if (!(value >= 0 && value <= 1)) {
      return impossible(fmt::format("the probability {} is {}", name, value), "give a number from 0 to 1",
                        fmt::format("/rmat/{}", name));
    }
  }
  if (spec.a + spec.b + spec.c > 1) {
    return impossible(fmt::format("the probabilities a, b and c have the sum {}", spec.a + spec.b + spec.c),
                      "make them smaller; the fourth quadrant gets the rest up to 1", "/rmat");
  }
  const std::uint64_t vertices = std::uint64_t{1} << spec.scale;
  return GeneratedSize{.vertices = vertices, .edges = vertices * spec.edge_factor};
}

Result<GeneratedSize> size_of(const GridSpec& spec) {
  const std::uint64_t vertices = std::uint64_t{spec.width} * spec.height;
  if (vertices > most_vertices) {
    return impossible(fmt::format("the grid has {} vertices, more than {}", vertices, most_vertices),
                      "make it smaller", "/grid");
  }
  // One edge to the right except in the last column, one down except in the last row.
  return GeneratedSize{.vertices = vertices,
                       .edges = vertices == 0 ? 0 : 2 * vertices - spec.width - spec.height};
}

Result<GeneratedSize> size_of(const UniformSpec& spec) {
  if (spec.vertices == 0 && spec.edges != 0) {
    return impossible("a graph without vertices has no edges", "give it vertices", "/uniform/vertices");
  }
  return GeneratedSize{.vertices = spec.vertices, .edges = spec.edges};
}

} // namespace

Result<GeneratedSize> generated_size(const GeneratorSpec& spec) {
  const int said = int{spec.rmat.has_value()} + int{spec.grid.has_value()} + int{spec.uniform.has_value()};
  if (said != 1) {
    return impossible(fmt::format("generate has {} of rmat, grid and uniform", said),
                      "give exactly one of them", "");
  }
  return spec.rmat ? size_of(*spec.rmat) : spec.grid ? size_of(*spec.grid) : size_of(*spec.uniform);
}

Result<Graph> generate_graph(const GeneratorSpec& spec, const LoadOptions& options) {
  TIDEGATE_TRY(const GeneratedSize size, generated_size(spec));
  const WeightType type = kept_weights(options.weights, ValueColumn::integer);
  EdgeChunks edges{.vertices = size.vertices,
                   .chunks = {},
                   .weights = type,
                   .both_directions = options.undirected || spec.grid.has_value()};
  TIDEGATE_CHECK(check_memory(size.vertices, size.edges, type, options.build));
  const auto make = [&](const auto& of, std::uint64_t count, const auto& edge_of) {
    edges.chunks = numbered_edges(of, count, edge_of, type, thread_count(options.build.threads));
  };
  if (spec.rmat) {
    make(*spec.rmat, size.edges, rmat_edges(*spec.rmat));
  } else if (spec.grid) {
    make(*spec.grid, 2 * size.vertices, grid_edges(*spec.grid));
  } else {
    make(*spec.uniform, size.edges, uniform_edges(*spec.uniform));
  }
  return build_graph(std::move(edges), options.build);
}

} // namespace tidegate::graphs
