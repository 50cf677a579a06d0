// Measures how fast graph files are read: text in the page cache to rows in memory, plain and gzip, as the median
// of several readings, with processor time, as the machine may have other work.
//   graph_reading FOLDER [THREADS]      writes its files, about 700 MB, into the folder
#include "core/duration.hpp"
#include <tidegate/graph/load.hpp>

#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tidegate;
using namespace tidegate::graphs;

namespace {

// A graph as text, one way per format.
struct TextGraph {
  std::string name;
  std::string header;
  std::string before; // each edge
  std::uint32_t first_vertex;
  int decimals; // of weights: 0 none, 1 whole numbers, 2 with a fraction
};

void append(std::string& text, std::uint64_t number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

std::string text_of(const Graph& graph, const TextGraph& format) {
  std::string text = format.header;
  const auto* const weights = std::get_if<std::vector<std::uint32_t>>(&graph.out.weights);
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    for (std::uint64_t e = graph.out.offsets[v]; e < graph.out.offsets[v + std::size_t{1}]; ++e) {
      text += format.before;
      append(text, std::uint64_t{v} + format.first_vertex);
      text += ' ';
      append(text, std::uint64_t{graph.out.neighbours[e]} + format.first_vertex);
      if (format.decimals != 0) {
        text += format.decimals == 2 ? " 0." : " ";
        append(text, (*weights)[e]);
      }
      text += '\n';
    }
  }
  return text;
}

void write_plain(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
      std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb6");
  constexpr std::size_t piece = std::size_t{1} << 26U;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    gzwrite(file, text.data() + at, static_cast<unsigned>(std::min(piece, text.size() - at)));
  }
  gzclose(file);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// A row for bench.py: what, measured, aim.
void measure(const std::string& name, const std::string& path, std::size_t text_bytes, unsigned threads) {
  constexpr std::size_t readings = 5;
  std::vector<double> seconds, processor;
  std::uint64_t edges = 0;
  for (std::size_t i = 0; i < readings; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const double before = processor_seconds();
    const auto loaded = load_graph(path, {.weights = WeightUse::as_given, .build = {.threads = threads}});
    if (!loaded) {
      std::fprintf(stderr, "%s\n", describe(loaded.error()).c_str());
      std::exit(1);
    }
    processor.push_back(processor_seconds() - before);
    seconds.push_back(static_cast<double>(elapsed_ns(begin)) * 1e-9);
    edges = edge_count(loaded->graph);
  }
  const double megabytes = static_cast<double>(text_bytes) * 1e-6;
  std::printf("graph file: %s, %.0f MB, %.1f M edges\t%.0f MB/s, %.2f s; %.0f MB a second of processor "
              "time\t300 MB/s\n",
              name.c_str(), megabytes, static_cast<double>(edges) * 1e-6, megabytes / median(seconds),
              median(seconds), megabytes / median(processor));
  std::fflush(stdout);
}

std::string count_line(const Graph& graph) {
  std::string text;
  append(text, vertex_count(graph));
  text += ' ';
  append(text, edge_count(graph));
  return text + '\n';
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: graph_reading FOLDER [THREADS]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  const LoadOptions weighted{.weights = WeightUse::u32};
  const auto grid =
      *generate_graph({.grid = GridSpec{.width = 1500, .height = 1500, .max_weight = 9999}}, weighted);
  const auto rmat = *generate_graph({.rmat = RmatSpec{.scale = 19, .max_weight = 9999}}, weighted);
  struct Case {
    const Graph* graph;
    std::string name;
    TextGraph format;
  };
  const std::string vertices = count_line(rmat).substr(0, count_line(rmat).find(' '));
  const std::vector<Case> cases{
      {&grid, "grid-1500.gr", {"", "p sp " + count_line(grid), "a ", 1, 1}},
      {&rmat, "rmat-19.txt", {"", "# rmat\n", "", 0, 0}},
      {&rmat,
       "rmat-19-pattern.mtx",
       {"", "%%MatrixMarket matrix coordinate pattern general\n" + vertices + ' ' + count_line(rmat), "", 1,
        0}},
      {&rmat,
       "rmat-19-real.mtx",
       {"", "%%MatrixMarket matrix coordinate real general\n" + vertices + ' ' + count_line(rmat), "", 1,
        2}}};
  for (const Case& one : cases) {
    const std::string path = folder + "/" + one.name;
    const std::string text = text_of(*one.graph, one.format);
    write_plain(path, text);
    write_gzip(path + ".gz", text);
    measure(one.name, path, text.size(), threads);
    measure(one.name + ".gz", path + ".gz", text.size(), threads);
  }
}
