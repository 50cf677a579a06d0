// Checks frontier programs, and loads or generates their graphs.
#include "graph/program.hpp"

#include "core/files.hpp"
#include "core/npy.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tidegate::graphs {
namespace {

struct OutputOf {
  std::string_view name;
  std::optional<std::string> FrontierOutputs::*path;
  std::optional<Algorithm> algorithm; // that has it; empty: each
};
constexpr std::array outputs{
    OutputOf{"levels", &FrontierOutputs::levels, Algorithm::bfs},
    OutputOf{"parents", &FrontierOutputs::parents, Algorithm::bfs},
    OutputOf{"reached", &FrontierOutputs::reached, Algorithm::reach},
    OutputOf{"distances", &FrontierOutputs::distances, Algorithm::sssp},
    OutputOf{"components", &FrontierOutputs::components, Algorithm::cc},
    OutputOf{"ranks", &FrontierOutputs::ranks, Algorithm::pagerank},
    OutputOf{"values", &FrontierOutputs::values, Algorithm::own},
    OutputOf{"ids", &FrontierOutputs::ids, {}},
};

std::string_view name(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

Result<void> refuse(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::invalid_program, std::move(message), std::move(fix), std::move(pointer));
}

Result<void> check_graph(const FrontierProgram& program) {
  const GraphSpec& graph = program.graph;
  if (graph.file.has_value() == graph.generate.has_value()) {
    return refuse(graph.file ? "the graph has both file and generate"
                             : "the graph has neither file nor generate",
                  "give one of them", "/graph");
  }
  if (graph.generate) {
    auto size = generated_size(*graph.generate);
    if (!size) {
      size.error().pointer = "/graph/generate" + size.error().pointer.value_or("");
      return tl::unexpected(std::move(size.error()));
    }
    if (graph.ids == VertexIds::compact) {
      return refuse("\"ids\": \"compact\" is for lists of edges, not for generated graphs", "leave it out",
                    "/graph/ids");
    }
    return check_sources(program, {.vertices = size->vertices});
  }
  return {};
}

Result<void> check_algorithm_weights(const FrontierProgram& program) {
  return !program.graph.weights || program.algorithm == Algorithm::sssp ||
                 program.algorithm == Algorithm::own || program.algorithm == Algorithm::pagerank
             ? Result<void>()
             : refuse(fmt::format("{} does not use weights", name(program.algorithm)), "leave weights out",
                      "/graph/weights");
}

Result<void> check_source_count(const FrontierProgram& program) {
  constexpr std::size_t most_reach_sources = 32; // one bit of a word each
  const std::size_t count = program.sources.size();
  switch (program.algorithm) {
  case Algorithm::cc:
  case Algorithm::pagerank:
    return count == 0 ? Result<void>()
                      : refuse(fmt::format("{} takes no sources", name(program.algorithm)),
                               "leave sources out", "/sources");
  case Algorithm::reach:
    if (count > most_reach_sources) {
      return refuse(
          fmt::format("reach follows at most {} sources at once, not {}", most_reach_sources, count),
          "divide them among several programs", "/sources");
    }
    break;
  case Algorithm::own: return {}; // its functions say
  case Algorithm::bfs:
  case Algorithm::sssp: break;
  }
  return count != 0 ? Result<void>()
                    : refuse(fmt::format("{} needs a source", name(program.algorithm)),
                             program.graph.ids != VertexIds::position
                                 ? "give the number that the file has for a vertex"
                                 : "give the number of a vertex, counted from 0",
                             "/sources");
}

Result<void> check_outputs(const FrontierProgram& program) {
  ErrorList errors;
  for (const OutputOf& output : outputs) {
    if (program.outputs.*output.path && output.algorithm && *output.algorithm != program.algorithm) {
      errors.check(refuse(fmt::format("{} has no {}", name(program.algorithm), output.name),
                          fmt::format("leave it out, or run {}", name(*output.algorithm)),
                          fmt::format("/outputs/{}", output.name)));
    } else if (auto named = check_array_name((program.outputs.*output.path).value_or("")); !named) {
      named.error().fix = "name it .npy, or .raw for raw bytes";
      named.error().pointer = fmt::format("/outputs/{}", output.name);
      errors.check(named);
    }
  }
  return errors.result();
}

Result<void> check_own(const FrontierProgram& program) {
  if (program.algorithm != Algorithm::own) {
    return {};
  }
  if (!program.own) {
    return refuse("a program's own algorithm is an object", "give its source, value and merge", "/algorithm");
  }
  const bool bits = program.own->merge == OwnMerge::bit_or || program.own->merge == OwnMerge::bit_and;
  if (program.own->value == OwnValue::f32 && (bits || program.own->merge == OwnMerge::add)) {
    return refuse(bits ? "f32 values have no bits to merge" : "a sum of f32 values depends on their order",
                  bits ? "use u32, or min, max or source" : "use u32, i32 or u64", "/algorithm/merge");
  }
  return {};
}

Result<void> check_rank_use(const FrontierProgram& program) {
  const PageRankSettings& settings = program.pagerank;
  const bool given = settings.damping || settings.tolerance || settings.max_iterations;
  return !given || program.algorithm == Algorithm::pagerank
             ? Result<void>()
             : refuse(fmt::format("{} does not use these settings", name(program.algorithm)),
                      "leave pagerank out", "/pagerank");
}

Result<void> check_rank_settings(const PageRankSettings& settings) {
  ErrorList errors;
  if (settings.damping && !(*settings.damping >= 0 && *settings.damping < 1)) {
    errors.check(refuse(fmt::format("the damping is {}", *settings.damping),
                        "give a number from 0 to below 1", "/pagerank/damping"));
  }
  if (settings.tolerance && !(*settings.tolerance > 0)) {
    errors.check(refuse(fmt::format("the tolerance is {}", *settings.tolerance), "give a number above 0",
                        "/pagerank/tolerance"));
  }
  return errors.result();
}

} // namespace

Result<void> check_program(const FrontierProgram& program) {
  ErrorList errors;
  errors.check(check_source_count(program));
  errors.check(check_algorithm_weights(program));
  errors.check(check_outputs(program));
  errors.check(check_rank_use(program));
  errors.check(check_own(program));
  errors.check(check_graph(program));
  errors.check(check_rank_settings(program.pagerank));
  return errors.result();
}

bool is_monotone(const FrontierProgram& program) {
  return program.algorithm != Algorithm::pagerank && (!program.own || program.own->merge != OwnMerge::add);
}

VertexNumbers numbers_of(const FrontierProgram& program, const LoadedGraph& loaded) {
  return {.vertices = vertex_count(loaded.graph),
          .first = program.graph.ids == VertexIds::file && loaded.facts ? loaded.facts->first_vertex : 0,
          .ids = loaded.ids};
}

void use_positions(FrontierProgram& program, const VertexNumbers& numbers) {
  for (std::uint64_t& source : program.sources) {
    source = numbers.position(source);
  }
  program.graph.ids = VertexIds::position;
}

std::vector<Vertex> source_vertices(const FrontierProgram& program) {
  std::vector<Vertex> vertices;
  for (const std::uint64_t source : program.sources) {
    vertices.push_back(static_cast<Vertex>(source));
  }
  return vertices;
}

Result<void> check_sources(const FrontierProgram& program, const VertexNumbers& numbers) {
  ErrorList errors;
  for (std::size_t i = 0; i < program.sources.size() && !errors.full(); ++i) {
    const std::uint64_t source = program.sources[i];
    if (numbers.position(source) >= numbers.vertices) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = numbers.vertices == 0
                                 ? fmt::format("the source is {}, and the graph has no vertices", source)
                             : !numbers.ids.empty()
                                 ? fmt::format("the source is {}, which is in no edge of the file", source)
                                 : fmt::format("the source is {}, and the vertices of the graph are {} to {}",
                                               source, numbers.first, numbers.first + numbers.vertices - 1),
                  .fix = program.graph.ids != VertexIds::position
                             ? "give the number that the file has for a vertex"
                             : "give the number of a vertex; they are counted from 0, unless the graph has "
                               "\"ids\": \"file\"",
                  .pointer = fmt::format("/sources/{}", i)});
    }
  }
  return errors.result();
}

FileUses files_of(const FrontierProgram& program, const std::string& folder) {
  FileUses files;
  if (program.graph.file) {
    files.inputs.push_back({path_in(folder, *program.graph.file), "the graph", "/graph/file"});
  }
  if (program.own) {
    files.inputs.push_back({path_in(folder, program.own->source), "the algorithm", "/algorithm/source"});
    if (program.own->initial) {
      files.inputs.push_back(
          {path_in(folder, *program.own->initial), "the initial values", "/algorithm/initial"});
    }
  }
  for (const OutputOf& output : outputs) {
    if (const auto& path = program.outputs.*output.path) {
      files.outputs.push_back({path_in(folder, *path), fmt::format("the output {}", output.name),
                               fmt::format("/outputs/{}", output.name)});
    }
  }
  return files;
}

LoadOptions load_options(const FrontierProgram& program) {
  LoadOptions options{.undirected = program.graph.undirected,
                      .compact = program.graph.ids == VertexIds::compact};
  const bool weighted_pagerank = program.algorithm == Algorithm::pagerank && program.graph.weights;
  if (program.algorithm == Algorithm::sssp || program.algorithm == Algorithm::own || weighted_pagerank) {
    options.weights = !program.graph.weights                         ? WeightUse::as_given
                      : program.graph.weights == ProgramWeights::u32 ? WeightUse::u32
                                                                     : WeightUse::f32;
  }
  return options;
}

Result<LoadedGraph> load_graph(const FrontierProgram& program, const std::string& folder,
                               const LoadOptions& options) {
  auto loaded = program.graph.file ? load_graph(path_in(folder, *program.graph.file), options)
                                   : generate_graph(*program.graph.generate, options).map([](Graph&& graph) {
                                       return LoadedGraph{.graph = std::move(graph)};
                                     });
  if (loaded) {
    TIDEGATE_CHECK(check_sources(program, numbers_of(program, *loaded)));
    if (program.algorithm == Algorithm::pagerank && program.graph.weights) {
      use_shares(loaded->graph);
    }
  } else if (loaded.error().code == ErrorCode::cannot_read) {
    loaded.error().pointer = "/graph/file";
  }
  return loaded;
}

PageRankOptions page_rank_options(const FrontierProgram& program) {
  const PageRankOptions standard;
  return {.damping = program.pagerank.damping.value_or(standard.damping),
          .tolerance = program.pagerank.tolerance.value_or(standard.tolerance),
          .max_iterations = program.pagerank.max_iterations.value_or(standard.max_iterations),
          .by_shares = program.graph.weights.has_value()};
}

} // namespace tidegate::graphs
