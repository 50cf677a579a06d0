// Which vertices are connected, as edges are looked at one after the other. Source: Tarjan, van Leeuwen,
// Worst-Case Analysis of Set Union Algorithms (1984), with path halving.
#pragma once

#include <tidegate/graphs/graph.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tidegate::graphs {

// Weakly connected components as trees, each vertex below another one or a root.
class DisjointSets {
public:
  explicit DisjointSets(std::uint32_t vertices) : above_(vertices) {
    std::iota(above_.begin(), above_.end(), 0U);
  }

  Vertex root(Vertex v) {
    while (above_[v] != v) {
      above_[v] = above_[above_[v]];
      v = above_[v];
    }
    return v;
  }

  // The smaller root stays one, and so is the smallest vertex of its tree.
  void join(Vertex a, Vertex b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    above_[high] = low;
  }

private:
  std::vector<Vertex> above_;
};

} // namespace tidegate::graphs
