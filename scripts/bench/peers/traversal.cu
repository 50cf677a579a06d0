// Level-synchronous traversals in CUDA as they are usually written: a kernel for each level, after which the host reads its
// counters. Direction-optimizing breadth-first search, with the edges of a frontier dealt out by degree to work-groups,
// warps and lanes; shortest distances by near and far queues; reach from many sources with a bit for each of them in a word a
// vertex. Prints the nanoseconds of each round, a line each, and writes levels, distances or words.
//   traversal_cuda GRAPH bfs|sssp|reach SOURCE|SOURCES ROUNDS RESULTS
//
// With PEER_READBACK=mapped the last work-group of a kernel writes its counters to the host's memory, where the host waits for
// them; otherwise they are copied and the stream is waited for. With PEER_ROWS=hubs pulls read rows with hubs in front.
//
// Sources: Merrill, Garland, Grimshaw, Scalable GPU Graph Traversal (PPoPP 2012); Beamer, Asanovic, Patterson,
// Direction-Optimizing Breadth-First Search (SC 2012); Davidson, Baxter, Garland, Owens, Work-Efficient Parallel GPU Methods for
// Single-Source Shortest Paths (IPDPS 2014).
#include "cuda_memory.hpp"
#include "rows_file.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace {

using peers::check;
using peers::device_array;
using peers::unreached;
using peers::uploaded;
using std::uint32_t;
using std::uint64_t;

constexpr int lanes = 256; // of a work-group
constexpr int warp = 32;
constexpr uint32_t window = 4 * lanes; // edges that a work-group deals out at a time
constexpr uint32_t everyone = 0xffffffffu;

struct Graph {
  uint32_t vertices = 0;
  const uint32_t* offsets = nullptr;
  const uint32_t* neighbours = nullptr;
  const uint32_t* weights = nullptr;
};

Graph upload(const peers::Rows& rows) {
  if (rows.edges() > std::numeric_limits<uint32_t>::max()) {
    peers::fail("this peer knows up to 2^32 edges");
  }
  return {rows.vertices(), uploaded(std::vector<uint32_t>(rows.offsets.begin(), rows.offsets.end())),
          uploaded(rows.neighbours), uploaded(rows.weights)};
}

bool asked_for(const char* variable, const char* value) {
  const char* const given = std::getenv(variable);
  return given != nullptr && std::strcmp(given, value) == 0;
}

peers::Rows rows_to_pull(const peers::Rows& rows) {
  peers::Rows in = peers::transposed(rows);
  return asked_for("PEER_ROWS", "hubs") ? peers::with_hubs_first(std::move(in)) : in;
}

// Counters of a kernel. The last work-group hands them to the host and clears them for the next kernel.
struct Counts {
  uint32_t size;          // of the next queue
  uint32_t far;           // vertices put off
  unsigned long long edges; // that leave what was found
  uint32_t nearest;       // distance of what was put off
  uint32_t sequence;      // of the kernel that has counted
};

struct Counter {
  Counts* counts = nullptr;
  uint32_t* arrived = nullptr; // work-groups
  volatile Counts* published = nullptr;
  uint32_t sequence = 0;
};

// Each work-item adds what it has found, and the kernel ends.
__device__ void publish(const Counter& counter, unsigned long long edges, uint32_t nearest, bool shortest) {
  for (int offset = warp / 2; offset > 0; offset /= 2) {
    edges += __shfl_down_sync(everyone, edges, offset);
    nearest = min(nearest, __shfl_down_sync(everyone, nearest, offset));
  }
  if (threadIdx.x % warp == 0) {
    if (edges != 0) {
      atomicAdd(&counter.counts->edges, edges);
    }
    if (shortest && nearest != unreached) {
      atomicMin(&counter.counts->nearest, nearest);
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) {
    return;
  }
  __threadfence();
  if (atomicAdd(counter.arrived, 1u) != gridDim.x - 1) {
    return;
  }
  __threadfence();
  volatile Counts* const counts = counter.counts;
  counter.published->size = counts->size;
  counter.published->far = counts->far;
  counter.published->edges = counts->edges;
  counter.published->nearest = counts->nearest;
  __threadfence_system();
  counter.published->sequence = counter.sequence;
  counts->size = 0;
  counts->far = 0;
  counts->edges = 0;
  counts->nearest = unreached;
  *counter.arrived = 0;
}

// Adds to a queue with one atomic for all lanes that are here together.
__device__ void push(uint32_t* queue, uint32_t* tail, uint32_t v) {
  const auto together = cooperative_groups::coalesced_threads();
  uint32_t at = 0;
  if (together.thread_rank() == 0) {
    at = atomicAdd(tail, static_cast<uint32_t>(together.size()));
  }
  queue[together.shfl(at, 0) + together.thread_rank()] = v;
}

// visit(vertex, edge) for every edge of a queue's vertices: a work-group together for hubs, a warp for what has at least as
// many edges as lanes, and edge by edge for the rest, by a sum over their degrees.
template <class Visit>
__device__ void expand(const Graph& graph, const uint32_t* queue, uint32_t size, Visit visit) {
  __shared__ uint32_t hub, hub_begin, hub_end;
  __shared__ uint32_t sums[lanes / warp];
  __shared__ uint32_t edge_of[window];
  __shared__ uint32_t owner_of[window];
  const uint32_t lane = threadIdx.x % warp;
  for (uint32_t first = blockIdx.x * lanes; first < size; first += gridDim.x * lanes) {
    const uint32_t i = first + threadIdx.x;
    const uint32_t u = i < size ? queue[i] : 0;
    uint32_t begin = i < size ? graph.offsets[u] : 0;
    uint32_t degree = i < size ? graph.offsets[u + 1] - begin : 0;
    while (__syncthreads_or(degree >= lanes)) {
      if (degree >= lanes) {
        hub = threadIdx.x; // one of them wins
      }
      __syncthreads();
      const bool mine = hub == threadIdx.x;
      __syncthreads();
      if (mine) {
        hub = u;
        hub_begin = begin;
        hub_end = begin + degree;
        degree = 0;
      }
      __syncthreads();
      for (uint32_t e = hub_begin + threadIdx.x; e < hub_end; e += lanes) {
        visit(hub, e);
      }
    }
    for (uint32_t wide = __ballot_sync(everyone, degree >= warp); wide != 0; wide &= wide - 1) {
      const int leader = __ffs(static_cast<int>(wide)) - 1;
      const uint32_t vertex = __shfl_sync(everyone, u, leader);
      const uint32_t from = __shfl_sync(everyone, begin, leader);
      const uint32_t count = __shfl_sync(everyone, degree, leader);
      for (uint32_t e = lane; e < count; e += warp) {
        visit(vertex, from + e);
      }
      __syncwarp();
    }
    degree = degree >= warp ? 0 : degree;
    uint32_t place = degree; // among the edges that are left: an inclusive sum, and then what is before
    for (int offset = 1; offset < warp; offset *= 2) {
      const uint32_t before = __shfl_up_sync(everyone, place, offset);
      place += lane >= static_cast<uint32_t>(offset) ? before : 0;
    }
    if (lane == warp - 1) {
      sums[threadIdx.x / warp] = place;
    }
    __syncthreads();
    uint32_t total = 0;
    place -= degree;
    for (uint32_t w = 0; w < lanes / warp; ++w) {
      place += w < threadIdx.x / warp ? sums[w] : 0;
      total += sums[w];
    }
    for (uint32_t base = 0; base < total; base += window) {
      __syncthreads(); // the window before has been read
      for (uint32_t k = place < base ? base - place : 0; k < degree && place + k < base + window; ++k) {
        edge_of[place + k - base] = begin + k;
        owner_of[place + k - base] = u;
      }
      __syncthreads();
      for (uint32_t k = threadIdx.x; k < min(window, total - base); k += lanes) {
        visit(owner_of[k], edge_of[k]);
      }
    }
    __syncthreads();
  }
}

__global__ void start(uint32_t* values, uint32_t* queue, uint32_t source) {
  values[source] = 0;
  queue[0] = source;
}

__global__ void push_level(Graph graph, const uint32_t* queue, uint32_t size, uint32_t* levels, uint32_t level, uint32_t* next,
                           Counter counter) {
  unsigned long long edges = 0;
  expand(graph, queue, size, [&](uint32_t, uint32_t e) {
    const uint32_t v = graph.neighbours[e];
    if (levels[v] == unreached && atomicCAS(&levels[v], unreached, level) == unreached) {
      push(next, &counter.counts->size, v);
      edges += graph.offsets[v + 1] - graph.offsets[v];
    }
  });
  publish(counter, edges, unreached, false);
}

__global__ void to_bitmap(const uint32_t* queue, uint32_t size, uint32_t* bitmap) {
  for (uint32_t i = blockIdx.x * lanes + threadIdx.x; i < size; i += gridDim.x * lanes) {
    atomicOr(&bitmap[queue[i] / 32], 1u << queue[i] % 32);
  }
}

__global__ void to_queue(const uint32_t* bitmap, uint32_t vertices, uint32_t* queue, Counter counter) {
  for (uint32_t v = blockIdx.x * lanes + threadIdx.x; v < vertices; v += gridDim.x * lanes) {
    if ((bitmap[v / 32] >> v % 32 & 1u) != 0) {
      push(queue, &counter.counts->size, v);
    }
  }
  publish(counter, 0, unreached, false);
}

// A warp has a word of the bitmaps.
__global__ void pull_level(Graph in, const uint32_t* front, uint32_t* levels, uint32_t level, uint32_t* next, Counter counter) {
  const uint32_t words = (in.vertices + 31) / 32;
  const uint32_t lane = threadIdx.x % warp;
  uint32_t found_here = 0;
  for (uint32_t word = (blockIdx.x * lanes + threadIdx.x) / warp; word < words; word += gridDim.x * (lanes / warp)) {
    const uint32_t v = word * 32 + lane;
    bool found = false;
    if (v < in.vertices && levels[v] == unreached) {
      const uint32_t end = in.offsets[v + 1];
      for (uint32_t e = in.offsets[v]; e < end && !found; ++e) {
        const uint32_t u = in.neighbours[e];
        found = (front[u / 32] >> u % 32 & 1u) != 0;
      }
      if (found) {
        levels[v] = level;
      }
    }
    const uint32_t bits = __ballot_sync(everyone, found);
    if (lane == 0) {
      next[word] = bits;
      found_here += __popc(bits);
    }
  }
  if (found_here != 0) {
    atomicAdd(&counter.counts->size, found_here);
  }
  publish(counter, 0, unreached, false);
}

struct Queues {
  uint32_t* distances;
  uint32_t* stamps;   // the last iteration that a vertex was queued for
  uint32_t* put_off;  // a bit for each vertex of the far queue
  uint32_t* next;
  uint32_t* far;
  uint32_t far_size;  // in it already
};

__global__ void relax(Graph graph, const uint32_t* queue, uint32_t size, Queues queues, uint32_t near, uint32_t iteration,
                      Counter counter) {
  uint32_t nearest = unreached;
  expand(graph, queue, size, [&](uint32_t u, uint32_t e) {
    const uint32_t v = graph.neighbours[e];
    const uint32_t candidate = queues.distances[u] + graph.weights[e];
    if (candidate >= queues.distances[v] || atomicMin(&queues.distances[v], candidate) <= candidate) {
      return;
    }
    if (candidate < near) {
      if (atomicExch(&queues.stamps[v], iteration) != iteration) {
        push(queues.next, &counter.counts->size, v);
      }
      return;
    }
    nearest = min(nearest, candidate);
    const uint32_t bit = 1u << v % 32;
    if ((atomicOr(&queues.put_off[v / 32], bit) & bit) == 0) {
      push(queues.far + queues.far_size, &counter.counts->far, v);
    }
  });
  publish(counter, 0, nearest, true);
}

// Splits the postponed vertices: near now, processed since, and the rest.
__global__ void split(const uint32_t* far, uint32_t size, Queues queues, uint32_t done, uint32_t near, uint32_t iteration,
                      Counter counter) {
  uint32_t nearest = unreached;
  for (uint32_t i = blockIdx.x * lanes + threadIdx.x; i < size; i += gridDim.x * lanes) {
    const uint32_t v = far[i];
    const uint32_t distance = queues.distances[v];
    if (distance >= near) {
      nearest = min(nearest, distance);
      push(queues.far, &counter.counts->far, v);
      continue;
    }
    atomicAnd(&queues.put_off[v / 32], ~(1u << v % 32));
    if (distance >= done) {
      queues.stamps[v] = iteration;
      push(queues.next, &counter.counts->size, v);
    }
  }
  __syncwarp();
  publish(counter, 0, nearest, true);
}

__global__ void start_all(uint32_t* words, uint32_t* queue, const uint32_t* sources, uint32_t count) {
  const uint32_t i = threadIdx.x;
  if (i < count) {
    atomicOr(&words[sources[i]], 1u << i);
    queue[i] = sources[i];
  }
}

__global__ void spread(Graph graph, const uint32_t* queue, uint32_t size, uint32_t* words, uint32_t* stamps, uint32_t iteration,
                       uint32_t* next, Counter counter) {
  expand(graph, queue, size, [&](uint32_t u, uint32_t e) {
    const uint32_t v = graph.neighbours[e];
    const uint32_t word = *const_cast<volatile uint32_t*>(&words[u]);
    if ((word & ~words[v]) != 0 && (word & ~atomicOr(&words[v], word)) != 0 && atomicExch(&stamps[v], iteration) != iteration) {
      push(next, &counter.counts->size, v);
    }
  });
  publish(counter, 0, unreached, false);
}

class Device {
public:
  Device() {
    most_groups_ = peers::multiprocessors() * 8;
    mapped_ = asked_for("PEER_READBACK", "mapped");
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    counter_.counts = device_array<Counts>(1);
    counter_.arrived = device_array<uint32_t>(1);
    check(cudaMallocHost(&host_, sizeof(Counts)), "cudaMallocHost");
    *host_ = {};
    void* published = mapped_ ? nullptr : device_array<Counts>(1);
    if (mapped_) {
      check(cudaHostGetDevicePointer(&published, host_, 0), "cudaHostGetDevicePointer");
    }
    counter_.published = static_cast<Counts*>(published);
    const Counts nothing{0, 0, 0, unreached, 0};
    check(cudaMemcpy(counter_.counts, &nothing, sizeof nothing, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(counter_.arrived, 0, sizeof(uint32_t)), "cudaMemset");
  }

  // The number of work-groups for `items`.
  [[nodiscard]] uint32_t groups(uint32_t items) const {
    return std::min(std::max((items + lanes - 1) / lanes, 1u), most_groups_);
  }

  // Launches a kernel that counts, and waits for its counters.
  template <class Launch>
  Counts count(Launch launch) {
    ++counter_.sequence;
    launch(counter_);
    if (!mapped_) {
      check(cudaMemcpyAsync(host_, const_cast<Counts*>(counter_.published), sizeof(Counts), cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
      check(cudaStreamSynchronize(stream), "a level");
      return *host_;
    }
    volatile Counts* const published = host_;
    for (uint64_t look = 0; published->sequence != counter_.sequence; ++look) {
      if ((look + 1) % (1u << 24) == 0 && cudaStreamQuery(stream) != cudaErrorNotReady && published->sequence != counter_.sequence) {
        check(cudaStreamSynchronize(stream), "a level"); // it has failed, or is just done
      }
    }
    return {published->size, published->far, published->edges, published->nearest, published->sequence};
  }

  void finish() { check(cudaStreamSynchronize(stream), "the end"); }

  cudaStream_t stream = nullptr;

private:
  uint32_t most_groups_ = 1;
  bool mapped_ = false;
  Counter counter_;
  Counts* host_ = nullptr;
};

class BreadthFirst {
public:
  BreadthFirst(Device& device, const peers::Rows& rows)
      : device_(device), edges_(rows.edges()), graph_(upload(rows)), in_(upload(rows_to_pull(rows))),
        words_((rows.vertices() + 31) / 32), levels_(device_array<uint32_t>(rows.vertices())),
        queue_(device_array<uint32_t>(rows.vertices())), next_(device_array<uint32_t>(rows.vertices())),
        front_(device_array<uint32_t>(words_)), next_front_(device_array<uint32_t>(words_)) {}

  uint32_t* run(uint32_t source) {
    const cudaStream_t stream = device_.stream;
    check(cudaMemsetAsync(levels_, 0xff, graph_.vertices * sizeof(uint32_t), stream), "cudaMemsetAsync");
    start<<<1, 1, 0, stream>>>(levels_, queue_, source);
    uint64_t unexplored = edges_;
    uint64_t edges = 1;
    uint32_t size = 1;
    for (uint32_t level = 0; size != 0;) {
      if (edges > unexplored / 15) {
        level = pull_while_wide(level, size);
        edges = 1;
        continue;
      }
      unexplored -= std::min(edges, unexplored);
      ++level;
      const Counts counts = device_.count([&](const Counter& counter) {
        push_level<<<device_.groups(size), lanes, 0, stream>>>(graph_, queue_, size, levels_, level, next_, counter);
      });
      size = counts.size;
      edges = counts.edges;
      std::swap(queue_, next_);
    }
    device_.finish();
    return levels_;
  }

private:
  uint32_t pull_while_wide(uint32_t level, uint32_t& size) {
    const cudaStream_t stream = device_.stream;
    check(cudaMemsetAsync(front_, 0, words_ * sizeof(uint32_t), stream), "cudaMemsetAsync");
    to_bitmap<<<device_.groups(size), lanes, 0, stream>>>(queue_, size, front_);
    uint32_t before = 0;
    do {
      before = size;
      ++level;
      size = device_
                 .count([&](const Counter& counter) {
                   pull_level<<<device_.groups(graph_.vertices), lanes, 0, stream>>>(in_, front_, levels_, level, next_front_,
                                                                                     counter);
                 })
                 .size;
      std::swap(front_, next_front_);
    } while (size >= before || size > graph_.vertices / 18);
    if (size != 0) {
      device_.count([&](const Counter& counter) {
        to_queue<<<device_.groups(graph_.vertices), lanes, 0, stream>>>(front_, graph_.vertices, queue_, counter);
      });
    }
    return level;
  }

  Device& device_;
  uint64_t edges_;
  Graph graph_, in_;
  uint32_t words_;
  uint32_t* levels_;
  uint32_t* queue_;
  uint32_t* next_;
  uint32_t* front_;
  uint32_t* next_front_;
};

class NearAndFar {
public:
  NearAndFar(Device& device, const peers::Rows& rows)
      : device_(device), graph_(upload(rows)), words_((rows.vertices() + 31) / 32), near_(device_array<uint32_t>(rows.vertices())),
        other_far_(device_array<uint32_t>(rows.vertices())) {
    const std::size_t n = rows.vertices();
    queues_ = {device_array<uint32_t>(n), device_array<uint32_t>(n), device_array<uint32_t>(words_),
               device_array<uint32_t>(n), device_array<uint32_t>(n), 0};
  }

  uint32_t* run(uint32_t source, uint32_t delta) {
    const cudaStream_t stream = device_.stream;
    check(cudaMemsetAsync(queues_.distances, 0xff, graph_.vertices * sizeof(uint32_t), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(queues_.stamps, 0, graph_.vertices * sizeof(uint32_t), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(queues_.put_off, 0, words_ * sizeof(uint32_t), stream), "cudaMemsetAsync");
    start<<<1, 1, 0, stream>>>(queues_.distances, near_, source);
    queues_.far_size = 0;
    uint32_t near = delta;
    uint32_t nearest = unreached;
    uint32_t size = 1;
    for (uint32_t iteration = 1; size != 0 || queues_.far_size != 0; ++iteration) {
      Counts counts{};
      if (size != 0) {
        counts = device_.count([&](const Counter& counter) {
          relax<<<device_.groups(size), lanes, 0, stream>>>(graph_, near_, size, queues_, near, iteration, counter);
        });
        queues_.far_size += counts.far;
        nearest = std::min(nearest, counts.nearest);
      } else {
        const uint32_t done = near;
        const uint32_t put_off = queues_.far_size;
        near = nearest > unreached - delta ? unreached : nearest + delta;
        std::swap(queues_.far, other_far_);
        counts = device_.count([&](const Counter& counter) {
          split<<<device_.groups(put_off), lanes, 0, stream>>>(other_far_, put_off, queues_, done, near, iteration, counter);
        });
        queues_.far_size = counts.far;
        nearest = counts.nearest;
      }
      size = counts.size;
      std::swap(near_, queues_.next);
    }
    device_.finish();
    return queues_.distances;
  }

private:
  Device& device_;
  Graph graph_;
  uint32_t words_;
  uint32_t* near_;
  uint32_t* other_far_;
  Queues queues_{};
};

class ManySources {
public:
  ManySources(Device& device, const peers::Rows& rows, uint32_t sources)
      : device_(device), graph_(upload(rows)), count_(sources), sources_(uploaded(peers::spread_sources(sources, rows.vertices()))),
        words_(device_array<uint32_t>(rows.vertices())), stamps_(device_array<uint32_t>(rows.vertices())),
        queue_(device_array<uint32_t>(rows.vertices() + sources)), next_(device_array<uint32_t>(rows.vertices() + sources)) {}

  uint32_t* run() {
    const cudaStream_t stream = device_.stream;
    check(cudaMemsetAsync(words_, 0, graph_.vertices * sizeof(uint32_t), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(stamps_, 0, graph_.vertices * sizeof(uint32_t), stream), "cudaMemsetAsync");
    start_all<<<1, 32, 0, stream>>>(words_, queue_, sources_, count_);
    uint32_t size = count_;
    for (uint32_t iteration = 1; size != 0; ++iteration) {
      size = device_
                 .count([&](const Counter& counter) {
                   spread<<<device_.groups(size), lanes, 0, stream>>>(graph_, queue_, size, words_, stamps_, iteration, next_, counter);
                 })
                 .size;
      std::swap(queue_, next_);
    }
    device_.finish();
    return words_;
  }

private:
  Device& device_;
  Graph graph_;
  uint32_t count_; // at most 32
  uint32_t* sources_;
  uint32_t* words_;
  uint32_t* stamps_;
  uint32_t* queue_;
  uint32_t* next_;
};

void write(const char* path, const uint32_t* values, uint32_t count) {
  peers::write_results(path, peers::downloaded(values, count));
}

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const peers::Rows rows = peers::read_rows(asked.graph);
  Device device;
  if (asked.algorithm == "reach") {
    ManySources search(device, rows, asked.source);
    peers::print_rounds(asked.rounds, [&] { search.run(); });
    write(asked.results, search.run(), rows.vertices());
  } else if (asked.algorithm == "sssp") {
    NearAndFar search(device, rows);
    const uint32_t delta = peers::best_delta(rows, [&](uint32_t each) { search.run(asked.source, each); });
    peers::print_rounds(asked.rounds, [&] { search.run(asked.source, delta); });
    write(asked.results, search.run(asked.source, delta), rows.vertices());
  } else {
    BreadthFirst search(device, rows);
    peers::print_rounds(asked.rounds, [&] { search.run(asked.source); });
    write(asked.results, search.run(asked.source), rows.vertices());
  }
}
