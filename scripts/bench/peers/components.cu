// Connected components in CUDA after ECL-CC: labels start at the first smaller neighbour, a kernel a class of degrees hooks
// the greater of two representatives under the smaller one, and finds shorten their path on the way. Prints the nanoseconds of
// each round, a line each, and writes the smallest vertex of each vertex's component.
//   components_cuda GRAPH cc 0 ROUNDS RESULTS
//
// Source: Jaiganesh, Burtscher, A High-Performance Connected Components Implementation for GPUs (HPDC 2018).
#include "cuda_memory.hpp"
#include "rows_file.hpp"

#include <cstdint>

namespace {

using peers::check;
using std::uint32_t;

constexpr uint32_t lanes = 256; // of a work-group
constexpr uint32_t warp = 32;
constexpr uint32_t most_of_lane = 16; // edges of a vertex
constexpr uint32_t most_of_warp = 352;

struct Work {
  uint32_t vertices;
  const uint32_t* offsets;
  const uint32_t* neighbours;
  uint32_t* labels;
  uint32_t* queue;  // vertices for warps from the front, vertices for groups from the back
  uint32_t* counts; // of both
};

__device__ uint32_t representative(uint32_t v, uint32_t* labels) {
  uint32_t at = labels[v];
  if (at != v) {
    uint32_t before = v;
    for (uint32_t next = labels[at]; at > next; next = labels[at]) {
      labels[before] = next;
      before = at;
      at = next;
    }
  }
  return at;
}

// Returns the representative of both.
__device__ uint32_t hook(uint32_t a, uint32_t other, uint32_t* labels) {
  uint32_t b = representative(other, labels);
  while (a != b) {
    const uint32_t high = max(a, b);
    const uint32_t low = min(a, b);
    const uint32_t seen = atomicCAS(&labels[high], high, low);
    if (seen == high) {
      return low;
    }
    a = low;
    b = seen;
  }
  return a;
}

__device__ void visit(const Work& work, uint32_t v, uint32_t first, uint32_t step) {
  const uint32_t end = work.offsets[v + 1];
  uint32_t own = representative(v, work.labels);
  for (uint32_t e = work.offsets[v] + first; e < end; e += step) {
    const uint32_t u = work.neighbours[e];
    if (u < v) { // the opposite edge is there, too
      own = hook(own, u, work.labels);
    }
  }
}

__global__ void begin(Work work) {
  for (uint32_t v = blockIdx.x * lanes + threadIdx.x; v < work.vertices; v += gridDim.x * lanes) {
    uint32_t label = v;
    for (uint32_t e = work.offsets[v]; label == v && e < work.offsets[v + 1]; ++e) {
      label = min(label, work.neighbours[e]);
    }
    work.labels[v] = label;
  }
  if (blockIdx.x == 0 && threadIdx.x < 2) {
    work.counts[threadIdx.x] = 0;
  }
}

__global__ void visit_by_lanes(Work work) {
  for (uint32_t v = blockIdx.x * lanes + threadIdx.x; v < work.vertices; v += gridDim.x * lanes) {
    const uint32_t degree = work.offsets[v + 1] - work.offsets[v];
    if (degree <= most_of_lane) {
      visit(work, v, 0, 1);
    } else if (degree <= most_of_warp) {
      work.queue[atomicAdd(&work.counts[0], 1u)] = v;
    } else {
      work.queue[work.vertices - 1 - atomicAdd(&work.counts[1], 1u)] = v;
    }
  }
}

__global__ void visit_by_warps(Work work) {
  const uint32_t count = work.counts[0];
  for (uint32_t i = (blockIdx.x * lanes + threadIdx.x) / warp; i < count; i += gridDim.x * (lanes / warp)) {
    visit(work, work.queue[i], threadIdx.x % warp, warp);
  }
}

__global__ void visit_by_groups(Work work) {
  const uint32_t count = work.counts[1];
  for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    visit(work, work.queue[work.vertices - 1 - i], threadIdx.x, lanes);
  }
}

__global__ void finish(Work work) {
  for (uint32_t v = blockIdx.x * lanes + threadIdx.x; v < work.vertices; v += gridDim.x * lanes) {
    uint32_t label = work.labels[v];
    for (uint32_t next = work.labels[label]; next != label; next = work.labels[label]) {
      label = next;
    }
    work.labels[v] = label;
  }
}

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const peers::Rows rows = peers::read_rows(asked.graph);
  const uint32_t n = rows.vertices();
  const std::vector<uint32_t> offsets(rows.offsets.begin(), rows.offsets.end());
  const Work work{n,
                  peers::uploaded(offsets),
                  peers::uploaded(rows.neighbours),
                  peers::device_array<uint32_t>(n),
                  peers::device_array<uint32_t>(n),
                  peers::device_array<uint32_t>(2)};
  const uint32_t groups = peers::multiprocessors() * 8;
  peers::print_rounds(asked.rounds, [&] {
    begin<<<groups, lanes>>>(work);
    visit_by_lanes<<<groups, lanes>>>(work);
    visit_by_warps<<<groups, lanes>>>(work);
    visit_by_groups<<<groups, lanes>>>(work);
    finish<<<groups, lanes>>>(work);
    check(cudaDeviceSynchronize(), "the components");
  });
  peers::write_results(asked.results, peers::downloaded(work.labels, n));
}
