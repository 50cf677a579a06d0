// Checks frontier programs, and loads or generates their graphs.
#include "graph/program.hpp"

#include "core/files.hpp"
#include "core/npy.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

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

bool uses_weights(Algorithm algorithm) {
  return algorithm == Algorithm::sssp || algorithm == Algorithm::own || algorithm == Algorithm::pagerank;
}

std::string_view source_fix(const FrontierProgram& program, std::string_view by_position) {
  return program.graph.ids != VertexIds::position ? "give the number that the file has for a vertex"
                                                  : by_position;
}

} // namespace

Result<void> check_program(const FrontierProgram& program) {
  ErrorList errors;
  const auto refuse = [&errors](bool wrong, std::string message, std::string_view fix, std::string pointer) {
    if (wrong) {
      errors.add({.code = ErrorCode::invalid_program,
                  .message = std::move(message),
                  .fix = std::string(fix),
                  .pointer = std::move(pointer)});
    }
    return wrong;
  };
  const Algorithm algorithm = program.algorithm;
  const std::string_view who = name(algorithm);

  constexpr std::size_t most_reach_sources = 32; // one bit of a word each
  const std::size_t sources = program.sources.size();
  const bool from_all = algorithm == Algorithm::cc || algorithm == Algorithm::pagerank;
  refuse(from_all && sources != 0, fmt::format("{} takes no sources", who), "leave sources out", "/sources");
  refuse(!from_all && algorithm != Algorithm::own && sources == 0, fmt::format("{} needs a source", who),
         source_fix(program, "give the number of a vertex, counted from 0"), "/sources");
  refuse(algorithm == Algorithm::reach && sources > most_reach_sources,
         fmt::format("reach follows at most {} sources at once, not {}", most_reach_sources, sources),
         "divide them among several programs", "/sources");
  refuse(program.graph.weights && !uses_weights(algorithm), fmt::format("{} does not use weights", who),
         "leave weights out", "/graph/weights");

  for (const OutputOf& output : outputs) {
    const std::string pointer = fmt::format("/outputs/{}", output.name);
    const auto& path = program.outputs.*output.path;
    const Algorithm owner = output.algorithm.value_or(algorithm);
    if (!refuse(path && owner != algorithm, fmt::format("{} has no {}", who, output.name),
                fmt::format("leave it out, or run {}", name(owner)), pointer)) {
      if (const auto named = check_array_name(path.value_or("")); !named) {
        refuse(true, named.error().message, "name it .npy, or .raw for raw bytes", pointer);
      }
    }
  }

  refuse(program.pagerank && algorithm != Algorithm::pagerank,
         fmt::format("{} does not use these settings", who), "leave pagerank out", "/pagerank");
  const PageRankOptions settings = page_rank_options(program);
  if (algorithm == Algorithm::own && !refuse(!program.own, "a program's own algorithm is an object",
                                             "give its source, value and merge", "/algorithm")) {
    const bool bits = program.own->merge == OwnMerge::bit_or || program.own->merge == OwnMerge::bit_and;
    refuse(program.own->value == OwnValue::f32 && (bits || program.own->merge == OwnMerge::add),
           bits ? "f32 values have no bits to merge" : "a sum of f32 values depends on their order",
           bits ? "use u32, or min, max or source" : "use u32, i32 or u64", "/algorithm/merge");
  }

  const GraphSpec& graph = program.graph;
  if (!refuse(graph.file.has_value() == graph.generate.has_value(),
              graph.file ? "the graph has both file and generate" : "the graph has neither file nor generate",
              "give one of them", "/graph") &&
      graph.generate) {
    if (auto size = generated_size(*graph.generate); !size) {
      size.error().pointer = "/graph/generate" + size.error().pointer.value_or("");
      errors.add(std::move(size.error()));
    } else if (!refuse(graph.ids == VertexIds::compact,
                       "\"ids\": \"compact\" is for lists of edges, not for generated graphs", "leave it out",
                       "/graph/ids")) {
      errors.check(check_sources(program, {.vertices = size->vertices}));
    }
  }
  refuse(!(settings.damping >= 0 && settings.damping < 1), fmt::format("the damping is {}", settings.damping),
         "give a number from 0 to below 1", "/pagerank/damping");
  refuse(!(settings.tolerance > 0), fmt::format("the tolerance is {}", settings.tolerance),
         "give a number above 0", "/pagerank/tolerance");
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
                  .fix = std::string(
                      source_fix(program, "give the number of a vertex; they are counted from 0, unless the "
                                          "graph has \"ids\": \"file\"")),
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
  if (uses_weights(program.algorithm) &&
      (program.algorithm != Algorithm::pagerank || program.graph.weights)) {
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
  PageRankOptions options = program.pagerank.value_or(PageRankOptions());
  options.by_shares = program.graph.weights.has_value();
  return options;
}

} // namespace tidegate::graphs
