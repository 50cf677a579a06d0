// Traversals as a programmer would write them for a CPU: direction-optimizing breadth-first search, shortest
// distances by delta-stepping, and reach from many sources with a bit for each of them in a word a vertex, with OpenMP and
// nothing else. Prints the nanoseconds of each round, a line each, and writes levels, distances or words.
//   traversal_openmp GRAPH bfs|sssp|reach SOURCE|SOURCES ROUNDS RESULTS
//
// Sources: Beamer, Asanovic, Patterson, Direction-Optimizing Breadth-First Search (SC 2012), with the
// constants of the GAP benchmark suite; Meyer, Sanders, Delta-Stepping: A Parallelizable Shortest Path
// Algorithm (2003), with the bins of each thread and the fusion of small buckets of Zhang et al., Optimizing
// Ordered Graph Algorithms with GraphIt (CGO 2020); Then et al., The More the Merrier: Efficient Multi-Source Graph
// Traversal (VLDB 2014).
#include "rows_file.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>

namespace {

using peers::Rows;
using peers::unreached;
using Word = std::uint64_t;

constexpr std::size_t alone = 256;         // vertices that are not worth waking the other threads for
constexpr std::size_t fused_bucket = 1000; // vertices of a bucket that a thread processes without the others

std::uint32_t load(const std::uint32_t& value) {
  return std::atomic_ref(const_cast<std::uint32_t&>(value)).load(std::memory_order_relaxed);
}

// Buffers vertices that a thread has found, before they go to the common queue.
class LocalQueue {
public:
  LocalQueue(std::vector<std::uint32_t>& queue, std::size_t& end) : queue_(queue), end_(end) {}
  ~LocalQueue() { flush(); }

  void push(std::uint32_t v) {
    if (count_ == held_.size()) {
      flush();
    }
    held_[count_++] = v;
  }

private:
  void flush() {
    const std::size_t at = std::atomic_ref(end_).fetch_add(count_, std::memory_order_relaxed);
    std::copy_n(held_.begin(), count_, queue_.begin() + static_cast<std::ptrdiff_t>(at));
    count_ = 0;
  }

  std::vector<std::uint32_t>& queue_;
  std::size_t& end_;
  std::array<std::uint32_t, 1024> held_;
  std::size_t count_ = 0;
};

class BreadthFirst {
public:
  explicit BreadthFirst(const Rows& rows)
      : rows_(rows), in_(peers::transposed(rows)), levels_(rows.vertices()), queue_(rows.vertices()),
        front_((rows.vertices() + 63) / 64), next_(front_.size()) {}

  const std::vector<std::uint32_t>& run(std::uint32_t source) {
    const std::uint32_t n = rows_.vertices();
#pragma omp parallel for schedule(static)
    for (std::uint32_t v = 0; v < n; ++v) {
      levels_[v] = unreached;
    }
    levels_[source] = 0;
    queue_[0] = source;
    begin_ = 0;
    end_ = 1;
    std::uint64_t unexplored = rows_.edges();
    std::uint64_t edges = degree(source);
    std::uint32_t level = 0;
    while (begin_ != end_) {
      if (edges > unexplored / 15) {
        level = pull_while_wide(level);
        edges = 1;
      } else {
        unexplored -= std::min(edges, unexplored);
        edges = push(++level);
      }
    }
    return levels_;
  }

private:
  [[nodiscard]] std::uint64_t degree(std::uint32_t v) const {
    return rows_.offsets[v + std::size_t{1}] - rows_.offsets[v];
  }

  // Vertices of the frontier to their neighbours; the edges that leave what is found.
  std::uint64_t push(std::uint32_t level) {
    const std::size_t begin = begin_, end = end_;
    std::size_t tail = end;
    std::uint64_t edges = 0;
#pragma omp parallel reduction(+ : edges) if (end - begin > alone)
    {
      LocalQueue found(queue_, tail);
#pragma omp for schedule(dynamic, 64) nowait
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t u = queue_[i];
        for (std::uint64_t e = rows_.offsets[u]; e < rows_.offsets[u + std::size_t{1}]; ++e) {
          const std::uint32_t v = rows_.neighbours[e];
          std::uint32_t expected = unreached;
          if (load(levels_[v]) == unreached &&
              std::atomic_ref(levels_[v])
                  .compare_exchange_strong(expected, level, std::memory_order_relaxed)) {
            found.push(v);
            edges += degree(v);
          }
        }
      }
    }
    begin_ = end;
    end_ = tail;
    return edges;
  }

  // From the queue to a bitmap, levels the other way round while the frontier is wide, and back to the queue.
  std::uint32_t pull_while_wide(std::uint32_t level) {
    const std::size_t words = front_.size();
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < words; ++i) {
      front_[i] = 0;
    }
#pragma omp parallel for schedule(static)
    for (std::size_t i = begin_; i < end_; ++i) {
      std::atomic_ref(front_[queue_[i] / 64]).fetch_or(Word{1} << queue_[i] % 64, std::memory_order_relaxed);
    }
    std::size_t awake = end_ - begin_, before = 0;
    do {
      before = awake;
      awake = pull(++level);
      front_.swap(next_);
    } while (awake >= before || awake > rows_.vertices() / 18);
    std::size_t tail = begin_ = end_;
#pragma omp parallel
    {
      LocalQueue found(queue_, tail);
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < words; ++i) {
        for (Word bits = front_[i]; bits != 0; bits &= bits - 1) {
          found.push(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
        }
      }
    }
    end_ = tail;
    return level;
  }

  std::size_t pull(std::uint32_t level) {
    const std::uint32_t n = rows_.vertices();
    std::size_t awake = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : awake)
    for (std::size_t i = 0; i < front_.size(); ++i) {
      Word bits = 0;
      for (std::uint32_t v = static_cast<std::uint32_t>(i * 64); v < n && v < (i + 1) * 64; ++v) {
        if (levels_[v] != unreached) {
          continue;
        }
        for (std::uint64_t e = in_.offsets[v]; e < in_.offsets[v + std::size_t{1}]; ++e) {
          const std::uint32_t u = in_.neighbours[e];
          if ((front_[u / 64] >> u % 64 & 1U) != 0) {
            levels_[v] = level;
            bits |= Word{1} << v % 64;
            ++awake;
            break;
          }
        }
      }
      next_[i] = bits;
    }
    return awake;
  }

  const Rows& rows_;
  const Rows in_;
  std::vector<std::uint32_t> levels_;
  std::vector<std::uint32_t> queue_; // every vertex is in it once at most
  std::size_t begin_ = 0, end_ = 0;  // of the frontier in the queue
  std::vector<Word> front_, next_;
};

class DeltaStepping {
public:
  explicit DeltaStepping(const Rows& rows)
      : rows_(rows), distances_(rows.vertices()), bins_(static_cast<std::size_t>(omp_get_max_threads())) {}

  const std::vector<std::uint32_t>& run(std::uint32_t source, std::uint32_t delta) {
#pragma omp parallel for schedule(static)
    for (std::uint32_t v = 0; v < rows_.vertices(); ++v) {
      distances_[v] = unreached;
    }
    distances_[source] = 0;
    bucket_.assign(1, source);
    std::size_t at = 0;
    for (bool more = true; more;) {
#pragma omp parallel num_threads(bucket_.size() > alone ? static_cast <int>(bins_.size()) : 1)
      {
        Bins& bins = bins_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, 64) nowait
        for (std::size_t i = 0; i < bucket_.size(); ++i) {
          if (load(distances_[bucket_[i]]) >= std::uint64_t{at} * delta) { // else done in an earlier bucket
            relax(bucket_[i], delta, bins);
          }
        }
        std::vector<std::uint32_t> mine;
        while (at < bins.size() && !bins[at].empty() && bins[at].size() < fused_bucket) {
          mine.clear();
          mine.swap(bins[at]);
          for (const std::uint32_t v : mine) {
            relax(v, delta, bins);
          }
        }
      }
      more = gather(at);
    }
    return distances_;
  }

private:
  using Bins = std::vector<std::vector<std::uint32_t>>;

  void relax(std::uint32_t u, std::uint32_t delta, Bins& bins) {
    const std::uint32_t distance = load(distances_[u]);
    for (std::uint64_t e = rows_.offsets[u]; e < rows_.offsets[u + std::size_t{1}]; ++e) {
      const std::uint32_t v = rows_.neighbours[e];
      const std::uint32_t candidate = distance + rows_.weights[e];
      std::uint32_t known = load(distances_[v]);
      while (candidate < known) {
        if (std::atomic_ref(distances_[v])
                .compare_exchange_weak(known, candidate, std::memory_order_relaxed)) {
          const std::size_t bin = candidate / delta;
          if (bin >= bins.size()) {
            bins.resize(bin + 1);
          }
          bins[bin].push_back(v);
          break;
        }
      }
    }
  }

  // The first bucket from `at` on that any thread has something in.
  bool gather(std::size_t& at) {
    std::size_t first = ~std::size_t{0};
    for (const Bins& bins : bins_) {
      for (std::size_t i = at; i < std::min(bins.size(), first); ++i) {
        if (!bins[i].empty()) {
          first = i;
        }
      }
    }
    bucket_.clear();
    if (first == ~std::size_t{0}) {
      return false;
    }
    at = first;
    for (Bins& bins : bins_) {
      if (at < bins.size()) {
        bucket_.insert(bucket_.end(), bins[at].begin(), bins[at].end());
        bins[at].clear();
      }
    }
    return true;
  }

  const Rows& rows_;
  std::vector<std::uint32_t> distances_;
  std::vector<Bins> bins_; // of each thread
  std::vector<std::uint32_t> bucket_;
};

class ManySources {
public:
  explicit ManySources(const Rows& rows)
      : rows_(rows), in_(peers::transposed(rows)), words_(rows.vertices()), stamps_(rows.vertices()) {}

  const std::vector<std::uint32_t>& run(const std::vector<std::uint32_t>& sources) {
#pragma omp parallel for schedule(static)
    for (std::uint32_t v = 0; v < rows_.vertices(); ++v) {
      words_[v] = stamps_[v] = 0;
    }
    queue_.assign(sources.begin(), sources.end());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      words_[sources[i]] |= 1U << i;
    }
    for (std::uint32_t iteration = 1; !queue_.empty(); ++iteration) {
      std::uint64_t edges = 0;
      for (const std::uint32_t u : queue_) {
        edges += rows_.offsets[u + std::size_t{1}] - rows_.offsets[u];
      }
      next_.resize(std::min<std::uint64_t>(edges, rows_.vertices()));
      edges > rows_.edges() / 8 ? pull() : push(iteration);
    }
    return words_;
  }

private:
  void push(std::uint32_t iteration) {
    std::size_t tail = 0;
#pragma omp parallel if (queue_.size() > alone)
    {
      LocalQueue found(next_, tail);
#pragma omp for schedule(dynamic, 64) nowait
      for (std::size_t i = 0; i < queue_.size(); ++i) {
        const std::uint32_t u = queue_[i];
        const std::uint32_t word = load(words_[u]);
        for (std::uint64_t e = rows_.offsets[u]; e < rows_.offsets[u + std::size_t{1}]; ++e) {
          const std::uint32_t v = rows_.neighbours[e];
          if ((word & ~load(words_[v])) != 0 &&
              (word & ~std::atomic_ref(words_[v]).fetch_or(word, std::memory_order_relaxed)) != 0 &&
              std::atomic_ref(stamps_[v]).exchange(iteration, std::memory_order_relaxed) != iteration) {
            found.push(v);
          }
        }
      }
    }
    next_.resize(tail);
    queue_.swap(next_);
  }

  // Every vertex collects from its neighbours, what they have got in this sweep included.
  void pull() {
    std::size_t tail = 0;
    next_.resize(rows_.vertices());
#pragma omp parallel
    {
      LocalQueue found(next_, tail);
#pragma omp for schedule(dynamic, 1024) nowait
      for (std::uint32_t v = 0; v < rows_.vertices(); ++v) {
        std::uint32_t word = words_[v];
        for (std::uint64_t e = in_.offsets[v]; e < in_.offsets[v + std::size_t{1}]; ++e) {
          word |= load(words_[in_.neighbours[e]]);
        }
        if (word != words_[v]) {
          std::atomic_ref(words_[v]).store(word, std::memory_order_relaxed);
          found.push(v);
        }
      }
    }
    next_.resize(tail);
    queue_.swap(next_);
  }

  const Rows& rows_;
  const Rows in_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> stamps_; // the last iteration that a vertex was queued for
  std::vector<std::uint32_t> queue_, next_;
};

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const Rows rows = peers::read_rows(asked.graph);
  if (asked.algorithm == "reach") {
    ManySources search(rows);
    const std::vector<std::uint32_t> sources = peers::spread_sources(asked.source, rows.vertices());
    peers::print_rounds(asked.rounds, [&] { search.run(sources); });
    peers::write_results(asked.results, search.run(sources));
  } else if (asked.algorithm == "sssp") {
    DeltaStepping search(rows);
    const std::uint32_t delta =
        peers::best_delta(rows, [&](std::uint32_t each) { search.run(asked.source, each); });
    peers::print_rounds(asked.rounds, [&] { search.run(asked.source, delta); });
    peers::write_results(asked.results, search.run(asked.source, delta));
  } else {
    BreadthFirst search(rows);
    peers::print_rounds(asked.rounds, [&] { search.run(asked.source); });
    peers::write_results(asked.results, search.run(asked.source));
  }
}
