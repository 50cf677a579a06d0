// Any bytes as a graph file: a sound error, or rows that hold together and are what is read again.
#include "fuzz.hpp"
#include <tidegate/graph/load.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace tidegate;

namespace {

// The file that an input is read from.
std::string file_with(const std::uint8_t* data, std::size_t size, const std::string& ending) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tidegate-fuzz-" + std::to_string(::getpid()) + ending))
          .string();
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  fuzz::require(file != nullptr && (size == 0 || std::fwrite(data, 1, size, file) == size) &&
                    std::fclose(file) == 0,
                "the input is written");
  return path;
}

} // namespace

FUZZ_TARGET(graphs) {
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20U;
  // Some formats are known by the name of the file: a letter in front of an input says that it has such a name.
  const std::string ending = size == 0 ? "" : data[0] == 'C' ? ".csv" : data[0] == 'M' ? ".graph" : "";
  const std::size_t letters = ending.empty() ? 0 : 1;
  const std::string path = file_with(data + letters, size - letters, ending);
  for (const graphs::WeightUse use : {graphs::WeightUse::ignored, graphs::WeightUse::as_given}) {
    const graphs::LoadOptions options{.weights = use,
                                      .build = {.in_rows = true, .threads = 1, .most_bytes = most_bytes}};
    graphs::LoadOptions other_blocks = options;
    other_blocks.block_bytes = 16;
    const auto loaded = graphs::load_graph(path, options), again = graphs::load_graph(path, other_blocks);
    fuzz::require(loaded.has_value() == again.has_value(), "blocks make no difference");
    if (!loaded) {
      fuzz::require_sound(loaded.error());
      fuzz::require(describe(loaded.error()) == describe(again.error()),
                    "blocks make no difference to an error");
      continue;
    }
    const graphs::Rows& rows = loaded->graph.out;
    fuzz::require(rows.edges() == rows.neighbours.size() && std::ranges::is_sorted(rows.offsets),
                  "the offsets are those of the edges");
    fuzz::require(std::ranges::all_of(rows.neighbours, [&](graphs::Vertex v) { return v < rows.vertices(); }),
                  "every neighbour is a vertex");
    fuzz::require(rows.neighbours == again->graph.out.neighbours, "blocks make no difference to edges");
    fuzz::require(graphs::in_rows(loaded->graph)->edges() == rows.edges(), "the transpose has as many edges");
  }
  ::unlink(path.c_str());
  return 0;
}
