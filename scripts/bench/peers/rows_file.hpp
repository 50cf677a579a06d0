// The graph of a frontier program as graph_rows writes it for peers: a header, then offsets,
// neighbours and weights of the rows; and the command line of a peer. This header uses
// nothing of tidegate.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace peers {

constexpr std::uint64_t rows_magic = 0x53574f5252454550; // "PEERROWS"
constexpr std::uint32_t unreached = 0xffffffff;          // as a level and as a distance

struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> neighbours;
  std::vector<std::uint32_t> weights; // or empty
  bool symmetric = false;             // the graph is its own transpose

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  std::uint64_t edges() const { return neighbours.size(); }
};

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <class T>
void read_array(std::FILE* file, std::vector<T>& values, std::uint64_t count) {
  values.resize(count);
  if (std::fread(values.data(), sizeof(T), count, file) != count) {
    fail("the graph's file ends early");
  }
}

inline Rows read_rows(const char* path) {
  std::FILE* const file = std::fopen(path, "rb");
  std::array<std::uint64_t, 5>
      header{}; // magic, vertices, edges, whether there are weights, whether symmetric
  if (file == nullptr || std::fread(header.data(), sizeof header, 1, file) != 1 || header[0] != rows_magic) {
    fail(std::string(path) + " is no graph of graph_rows");
  }
  Rows rows;
  read_array(file, rows.offsets, header[1] + 1);
  read_array(file, rows.neighbours, header[2]);
  read_array(file, rows.weights, header[3] != 0 ? header[2] : 0);
  rows.symmetric = header[4] != 0;
  std::fclose(file);
  return rows;
}

// Without weights.
inline Rows transposed(const Rows& rows) {
  Rows in;
  if (rows.symmetric) {
    in.offsets = rows.offsets;
    in.neighbours = rows.neighbours;
    return in;
  }
  in.offsets.assign(rows.offsets.size(), 0);
  for (const std::uint32_t v : rows.neighbours) {
    ++in.offsets[v + std::size_t{1}];
  }
  for (std::size_t v = 1; v < in.offsets.size(); ++v) {
    in.offsets[v] += in.offsets[v - 1];
  }
  in.neighbours.resize(rows.neighbours.size());
  std::vector<std::uint64_t> next(in.offsets.begin(), in.offsets.end() - 1);
  for (std::uint32_t u = 0; u < rows.vertices(); ++u) {
    for (std::uint64_t e = rows.offsets[u]; e < rows.offsets[u + std::size_t{1}]; ++e) {
      in.neighbours[next[rows.neighbours[e]]++] = u;
    }
  }
  return in;
}

// With the neighbours of the highest degree in front of each row, as many as tidegate puts there on a GPU.
inline Rows with_hubs_first(Rows rows) {
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    return rows.offsets[a + std::size_t{1}] - rows.offsets[a] >
           rows.offsets[b + std::size_t{1}] - rows.offsets[b];
  };
  for (std::uint32_t v = 0; v < rows.vertices(); ++v) {
    const auto begin = rows.neighbours.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v]);
    const auto end = rows.neighbours.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v + std::size_t{1}]);
    std::partial_sort(begin, begin + std::min<std::ptrdiff_t>(end - begin, 4), end, larger);
  }
  return rows;
}

// 32 times the mean weight over the mean degree (Davidson et al.): where the search for a good delta begins.
inline std::uint32_t usual_delta(const Rows& rows) {
  double sum = 0;
  for (const std::uint32_t weight : rows.weights) {
    sum += weight;
  }
  const double degree = static_cast<double>(rows.edges()) / rows.vertices();
  const double delta = 32.0 * (sum / static_cast<double>(rows.edges())) / degree;
  return delta < 1 ? 1 : static_cast<std::uint32_t>(delta);
}

// The sources of reach: spread evenly over the vertices.
inline std::vector<std::uint32_t> spread_sources(std::uint32_t count, std::uint32_t vertices) {
  std::vector<std::uint32_t> sources;
  for (std::uint64_t i = 0; i < count; ++i) {
    sources.push_back(static_cast<std::uint32_t>(i * vertices / count));
  }
  return sources;
}

struct Question {
  std::string algorithm;
  std::uint32_t source = 0; // pagerank: iterations; reach: the number of sources
  int rounds = 1;
  const char* graph = nullptr;
  const char* results = nullptr; // file for a result of each vertex, 32 bits each
};

inline Question question(int count, char** arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: %s GRAPH ALGORITHM SOURCE ROUNDS RESULTS\n", arguments[0]);
    std::exit(2);
  }
  return {arguments[2], static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10)),
          std::atoi(arguments[4]), arguments[1], arguments[5]};
}

template <class Run>
double nanoseconds(Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// One run to warm up, then the nanoseconds of each round, a line each.
template <class Run>
void print_rounds(int rounds, Run&& run) {
  run();
  for (int round = 0; round < rounds; ++round) {
    std::printf("%.0f\n", nanoseconds(run));
  }
}

// The fastest of the deltas from a 16th of the usual one to 16 times as much; run(delta) is a traversal.
template <class Run>
std::uint32_t best_delta(const Rows& rows, Run&& run) {
  const std::uint32_t usual = usual_delta(rows);
  std::uint32_t best = usual;
  double fastest = 1e30;
  run(usual);
  for (std::uint64_t delta = usual / 16 > 0 ? usual / 16 : 1; delta <= std::uint64_t{usual} * 16;
       delta *= 4) {
    const double time = nanoseconds([&] { run(static_cast<std::uint32_t>(delta)); });
    if (time < fastest) {
      fastest = time;
      best = static_cast<std::uint32_t>(delta);
    }
  }
  return best;
}

inline void write_results(const char* path, const std::vector<std::uint32_t>& results) {
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr ||
      std::fwrite(results.data(), sizeof(std::uint32_t), results.size(), file) != results.size() ||
      std::fclose(file) != 0) {
    fail(std::string("cannot write ") + path);
  }
}

} // namespace peers
