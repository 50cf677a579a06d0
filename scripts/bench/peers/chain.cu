// The chains of scripts/bench/chain and scripts/bench/windows in CUDA: microseconds a wave as stream launches, as a CUDA graph
// that is replayed, and as one cooperative kernel with grid.sync(). All three must leave the same bytes.
//
// usage: nvcc -O3 -arch=native -o chain chain.cu && ./chain [ROUNDS] [WAVES]
//        ./chain windows ROUNDS WAVES MIB
//
// The second form runs the element-wise chain of scripts/bench/windows, whose waves read what is at their own place, over two
// buffers of MIB each.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace {

constexpr int lanes = 256;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

__device__ float next(float a) {
  return a * 0.5f + 1.0f;
}
__device__ float4 next(float4 a) {
  return make_float4(next(a.x), next(a.y), next(a.z), next(a.w));
}

template <class T, int ahead>
__global__ void wave(const T* __restrict__ a, T* __restrict__ b) {
  const unsigned i = blockIdx.x * lanes + threadIdx.x;
  b[i] = next(a[i + ahead]);
}

template <class T, int ahead>
__global__ void all_waves(T* a, T* b, int tiles, int waves) {
  const auto grid = cooperative_groups::this_grid();
  for (int w = 0; w < waves; ++w) {
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
      const int i = tile * lanes + static_cast<int>(threadIdx.x);
      b[i] = next(a[i + ahead]);
    }
    grid.sync();
    T* const read = a;
    a = b;
    b = read;
  }
}

// A wave reads `ahead` elements further on than it writes.
template <class T, int ahead = lanes>
class Chain {
public:
  Chain(int tiles, int waves) : tiles_(tiles), waves_(waves), first_((static_cast<std::size_t>(tiles) * lanes + ahead) * sizeof(T) / sizeof(float)) {
    for (std::size_t i = 0; i < first_.size(); ++i) {
      first_[i] = static_cast<float>(i % 1000) * 0.01f;
    }
    check(cudaMalloc(&a_, bytes()), "cudaMalloc");
    check(cudaMalloc(&b_, bytes()), "cudaMalloc");
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "capture");
    launches();
    cudaGraph_t graph;
    check(cudaStreamEndCapture(stream_, &graph), "capture");
    check(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    int device = 0;
    int units = 0;
    check(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "units");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident_, all_waves<T, ahead>, lanes, 0), "occupancy");
    for (const int per_unit : {1, 2, 4, 8}) {
      if (per_unit <= resident_ && (per_unit == 1 || per_unit * units / 2 < tiles)) {
        grids_.push_back(std::min(per_unit * units, tiles));
      }
    }
  }

  void launches() {
    for (int w = 0; w < waves_; ++w) {
      wave<T, ahead><<<tiles_, lanes, 0, stream_>>>(w % 2 == 0 ? a_ : b_, w % 2 == 0 ? b_ : a_);
    }
  }
  void graph() { check(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch"); }
  void cooperative(int grid) {
    void* arguments[] = {&a_, &b_, &tiles_, &waves_};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_waves<T, ahead>), grid, lanes, arguments, 0, stream_),
          "cudaLaunchCooperativeKernel");
  }

  // Microseconds a wave, the median of some rounds from the same first contents.
  double measure(int rounds, const std::function<void()>& run) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    std::vector<double> times;
    for (int round = 0; round <= rounds; ++round) {
      check(cudaMemcpy(a_, first_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
      check(cudaMemcpy(b_, first_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
      check(cudaEventRecord(begin, stream_), "cudaEventRecord");
      run();
      check(cudaEventRecord(end, stream_), "cudaEventRecord");
      check(cudaStreamSynchronize(stream_), "running the waves");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
      if (round != 0) {
        times.push_back(milliseconds * 1000.0 / waves_);
      }
    }
    std::vector<float> last(first_.size());
    check(cudaMemcpy(last.data(), a_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (expected_.empty()) {
      expected_ = last;
    } else if (std::memcmp(expected_.data(), last.data(), bytes()) != 0) {
      std::fprintf(stderr, "the results differ\n");
      std::exit(1);
    }
    std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

  void report(const char* name, int rounds) {
    const double launched = measure(rounds, [this] { launches(); });
    const double replayed = measure(rounds, [this] { graph(); });
    double best = 1e30;
    int best_grid = 0;
    for (const int grid : grids_) {
      const double time = measure(rounds, [this, grid] { cooperative(grid); });
      best_grid = time < best ? grid : best_grid;
      best = std::min(best, time);
    }
    std::printf("%-7s%7d  %8.2f  %8.2f  %8.2f (%d groups)\n", name, tiles_, launched, replayed, best, best_grid);
  }

private:
  [[nodiscard]] std::size_t bytes() const { return first_.size() * sizeof(float); }

  int tiles_;
  int waves_;
  std::vector<float> first_;
  std::vector<float> expected_;
  std::vector<int> grids_;
  T* a_ = nullptr;
  T* b_ = nullptr;
  int resident_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

} // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "windows") == 0) {
    const int floats_a_tile = lanes * 4;
    const int tiles = static_cast<int>(std::atoll(argv[4]) * (1 << 20) / sizeof(float) / floats_a_tile);
    std::printf("us a wave       launches     graph  grid.sync\n");
    Chain<float4, 0>(tiles, std::atoi(argv[3])).report("window", std::atoi(argv[2]));
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const int waves = argc > 2 ? std::atoi(argv[2]) : 1000;
  std::printf("us a wave       launches     graph  grid.sync\n");
  for (const int tiles : {132, 1056, 8448}) {
    Chain<float4>(tiles, waves).report("vector", rounds);
  }
  for (const int tiles : {528, 4224, 33792}) {
    Chain<float>(tiles, waves).report("single", rounds);
  }
}
