// PageRank in CUDA by cuSPARSE: an iteration is a sparse matrix-vector product along the edges that lead to each vertex, and
// a kernel that ranks the vertices and adds up what those without edges have. Prints the nanoseconds of each round, a line
// each, and writes the ranks, 32 bits each.
//   pagerank_cuda GRAPH pagerank ITERATIONS ROUNDS RESULTS
#include "cuda_memory.hpp"
#include "rows_file.hpp"

#include <cusparse.h>

#include <cstdint>
#include <cstring>

namespace {

using peers::check;
using std::uint32_t;

constexpr int lanes = 256;
constexpr float damping = 0.85F;

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    peers::fail(std::string(what) + ": " + cusparseGetErrorString(status));
  }
}

struct Ranks {
  uint32_t vertices;
  const uint32_t* offsets; // of rows of edges out of each vertex
  float* passed;           // to each neighbour
  float* received;
  float* ranks;
  float* idle; // rank of vertices without edges: of this iteration and of the next one
};

// Ranks all vertices and writes what they pass on.
__global__ void rank(Ranks all, int iteration) {
  __shared__ float sums[lanes];
  const float base = (1 - damping + damping * all.idle[iteration % 2]) / static_cast<float>(all.vertices);
  float idle = 0;
  for (uint32_t v = blockIdx.x * lanes + threadIdx.x; v < all.vertices; v += gridDim.x * lanes) {
    const uint32_t degree = all.offsets[v + 1] - all.offsets[v];
    const float after =
        iteration == 0 ? 1.0F / static_cast<float>(all.vertices) : base + damping * all.received[v];
    all.ranks[v] = after;
    all.passed[v] = degree == 0 ? 0 : after / static_cast<float>(degree);
    idle += degree == 0 ? after : 0;
  }
  sums[threadIdx.x] = idle;
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    sums[threadIdx.x] += threadIdx.x < half ? sums[threadIdx.x + half] : 0;
  }
  if (threadIdx.x == 0 && sums[0] != 0) {
    atomicAdd(&all.idle[(iteration + 1) % 2], sums[0]);
  }
}

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const int iterations = static_cast<int>(asked.source);
  const peers::Rows rows = peers::read_rows(asked.graph);
  const peers::Rows in = peers::transposed(rows);
  const uint32_t n = rows.vertices();
  const auto narrow = [](const std::vector<std::uint64_t>& offsets) {
    return peers::uploaded(std::vector<uint32_t>(offsets.begin(), offsets.end()));
  };
  const Ranks all{n,
                  narrow(rows.offsets),
                  peers::device_array<float>(n),
                  peers::device_array<float>(n),
                  peers::device_array<float>(n),
                  peers::device_array<float>(2)};
  const float one = 1;
  const float zero = 0;
  cusparseHandle_t handle{};
  cusparseSpMatDescr_t matrix{};
  cusparseDnVecDescr_t passed{};
  cusparseDnVecDescr_t received{};
  check(cusparseCreate(&handle), "cusparseCreate");
  check(cusparseCreateCsr(&matrix, n, n, static_cast<std::int64_t>(in.edges()), narrow(in.offsets),
                          peers::uploaded(in.neighbours), peers::uploaded(std::vector<float>(in.edges(), 1.0F)),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
        "cusparseCreateCsr");
  check(cusparseCreateDnVec(&passed, n, all.passed, CUDA_R_32F), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&received, n, all.received, CUDA_R_32F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  const auto algorithm = CUSPARSE_SPMV_CSR_ALG1;
  check(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, passed, &zero, received,
                                CUDA_R_32F, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
  char* const room = peers::device_array<char>(bytes);
  check(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, passed, &zero, received,
                                CUDA_R_32F, algorithm, room),
        "cusparseSpMV_preprocess");
  const auto groups = static_cast<unsigned>(peers::multiprocessors() * 8);
  peers::print_rounds(asked.rounds, [&] {
    check(cudaMemsetAsync(all.idle, 0, 2 * sizeof(float)), "cudaMemsetAsync");
    rank<<<groups, lanes>>>(all, 0);
    for (int i = 1; i <= iterations; ++i) {
      check(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, passed, &zero, received, CUDA_R_32F,
                         algorithm, room),
            "cusparseSpMV");
      check(cudaMemsetAsync(all.idle + (i + 1) % 2, 0, sizeof(float)), "cudaMemsetAsync");
      rank<<<groups, lanes>>>(all, i);
    }
    check(cudaDeviceSynchronize(), "the iterations");
  });
  const std::vector<float> ranks = peers::downloaded(all.ranks, n);
  std::vector<uint32_t> bits(n);
  std::memcpy(bits.data(), ranks.data(), ranks.size() * sizeof(float));
  peers::write_results(asked.results, bits);
}
