// The kernels of examples/programs/decode in CUDA, for the shape of scripts/bench/decode: milliseconds a token as launches and as a
// CUDA graph that is replayed for each token. Prints both, and the tokens, which are those of decode.cl up to rounding.
//
// usage: nvcc -O3 -arch=native -o decode decode.cu && ./decode [TOKENS] [ROUNDS] [LAYERS]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int hidden = 2048, heads = 32, kv_heads = 8, feed_width = 8192, vocabulary = 128256;
constexpr int lanes = 256, head_width = 64, share = heads / kv_heads, split_width = 32, choices = 32;
constexpr int loads = feed_width / hidden;
constexpr float theta = 500000.0f;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

constexpr int team_width = lanes / 8, row_loads = hidden / 8, own_loads = row_loads / team_width, line = team_width + 1;
constexpr int feed_rows = 32, groups = vocabulary / choices, answers_each = (groups + lanes - 1) / lanes;

__device__ float4 pair_of(unsigned a, unsigned b) {
  return make_float4(__uint_as_float(a << 16), __uint_as_float(a & 0xffff0000u), __uint_as_float(b << 16),
                     __uint_as_float(b & 0xffff0000u));
}
__device__ float4 fused(float4 a, float4 b, float4 c) {
  return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
__device__ float4 product(float4 a, float4 b) {
  return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ float sum_of(float4 a) {
  return (a.x + a.y) + (a.z + a.w);
}
__device__ float4 load(const float* from, unsigned index) {
  return reinterpret_cast<const float4*>(from)[index];
}

__device__ void ask(uint4* words, const uint4* row, unsigned lane, unsigned loads = own_loads) {
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) {
    words[i] = row[i * team_width + lane % team_width];
  }
}

// The input in local memory, in two parts of four of every eight elements.
struct Input {
  float4 low[row_loads], high[row_loads];
};

__device__ float4 times(const uint4* words, const float4* low, const float4* high, unsigned lane, unsigned loads = own_loads) {
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) {
    sum = fused(pair_of(words[i].x, words[i].y), low[i * team_width + lane % team_width], sum);
    sum = fused(pair_of(words[i].z, words[i].w), high[i * team_width + lane % team_width], sum);
  }
  return sum;
}

__device__ void normalise(const float* x, const uint4* norm, Input& input, float* squares, unsigned lane) {
  const float4 a = load(x, 2 * lane), b = load(x, 2 * lane + 1);
  const uint4 factors = norm[lane];
  input.low[lane] = product(a, pair_of(factors.x, factors.y));
  input.high[lane] = product(b, pair_of(factors.z, factors.w));
  squares[lane] = sum_of(fused(b, b, product(a, a)));
}

__device__ void leave(float* sums, float sum, unsigned row, unsigned lane) {
  sums[row * line + lane % team_width] = sum;
}

__device__ void leave_squares(float* sums, const float* squares, unsigned lane) {
  if (lane < team_width) {
    float part = 0;
    for (unsigned i = lane; i < row_loads; i += team_width) {
      part += squares[i];
    }
    sums[lane] = part;
  }
}

__device__ float added_up(const float* sums, unsigned row) {
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
  for (unsigned i = 0; i < team_width; i += 4) {
    const float* const four = sums + row * line + i;
    sum = make_float4(sum.x + four[0], sum.y + four[1], sum.z + four[2], sum.w + four[3]);
  }
  return sum_of(sum);
}

__device__ float scale_of(const float* sums, unsigned row) {
  return 1 / sqrtf(added_up(sums, row) / hidden + 1e-5f);
}

__device__ void put_embedding(const uint4* embedding, unsigned token, float* x, unsigned lane) {
  const uint4 words = embedding[std::size_t{token} * row_loads + lane];
  reinterpret_cast<float4*>(x)[2 * lane] = pair_of(words.x, words.y);
  reinterpret_cast<float4*>(x)[2 * lane + 1] = pair_of(words.z, words.w);
}

__global__ void embed(const unsigned* token, const uint4* embedding, float* x) {
  put_embedding(embedding, token[0], x, threadIdx.x);
}

__device__ const uint4* projection(const uint4* query, const uint4* key, const uint4* value, unsigned row) {
  constexpr unsigned keys = heads * head_width, values = keys + kv_heads * head_width;
  return row < keys ? query + row * row_loads : row < values ? key + (row - keys) * row_loads : value + (row - values) * row_loads;
}

__global__ void project(const float* x, const uint4* norm, const uint4* query, const uint4* key, const uint4* value,
                        float* projected) {
  __shared__ Input input;
  __shared__ float squares[row_loads], sums[17 * line];
  const unsigned lane = threadIdx.x, team = lane / team_width, first = 12 * blockIdx.x, half_row = team % 2 * (row_loads / 2);
  uint4 words[own_loads], halves[own_loads / 2];
  ask(words, projection(query, key, value, first + team), lane);
  ask(halves, projection(query, key, value, first + 8 + team / 2) + half_row, lane, own_loads / 2);
  normalise(x, norm, input, squares, lane);
  __syncthreads();
  leave(sums, sum_of(times(words, input.low, input.high, lane)), team, lane);
  leave(sums, sum_of(times(halves, input.low + half_row, input.high + half_row, lane, own_loads / 2)), 8 + team, lane);
  leave_squares(sums + 16 * line, squares, lane);
  __syncthreads();
  if (lane < 12) {
    const float sum = lane < 8 ? added_up(sums, lane) : added_up(sums, 2 * lane - 8) + added_up(sums, 2 * lane - 7);
    projected[first + lane] = sum * scale_of(sums, 16);
  }
}

__device__ float rotated(const float* head, float2 turn, unsigned d) {
  return d < 32 ? fmaf(head[d], turn.x, -(head[d + 32] * turn.y)) : fmaf(head[d], turn.x, head[d - 32] * turn.y);
}

__global__ void attend(const float* projected, const float2* rotation, float* keys, float* values, float* parts,
                       float2* weights, const unsigned* at_position, unsigned positions, const uint4* gate, const uint4* up, unsigned* unused) {
  constexpr unsigned vectors = head_width / 4, key_line = vectors + 1;
  __shared__ float4 key[split_width * key_line], value[split_width * vectors];
  __shared__ __align__(16) float query[share * head_width];
  __shared__ float score[share * split_width], shares[share * split_width];
  if (blockIdx.x >= kv_heads * (positions / split_width)) { // these blocks read ahead
    const unsigned from = ((blockIdx.x - kv_heads * (positions / split_width)) * feed_rows + 4) * row_loads;
    uint4 read = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (unsigned i = threadIdx.x; i < 4 * row_loads; i += lanes) {
      const uint4 a = gate[from + i], b = up[from + i];
      read = make_uint4(read.x ^ a.x ^ b.x, read.y ^ a.y ^ b.y, read.z ^ a.z ^ b.z, read.w ^ a.w ^ b.w);
    }
    if ((read.x ^ read.y ^ read.z ^ read.w) == 0x9e3779b9u) {
      unused[threadIdx.x] = read.x;
    }
    return;
  }
  const unsigned splits = positions / split_width, position = *at_position;
  const unsigned lane = threadIdx.x, shared = blockIdx.x / splits, split = blockIdx.x % splits;
  const float2 turn = rotation[position * 32 + lane % 32];
  const unsigned begin = split * split_width, newest = position - begin;
  const unsigned count = position < begin ? 0 : min(position + 1 - begin, unsigned(split_width));
  float* const own_keys = keys + (shared * positions + begin) * head_width;
  float* const own_values = values + (shared * positions + begin) * head_width;
  for (unsigned i = lane; i < split_width * vectors; i += lanes) {
    const unsigned at = i / vectors;
    const float4 none = make_float4(0, 0, 0, 0), k = at < count ? load(own_keys, i) : none, v = at < count ? load(own_values, i) : none;
    if (at != newest) {
      key[at * key_line + i % vectors] = k;
      value[i] = v;
    }
  }
  for (unsigned i = lane; i < share * head_width; i += lanes) {
    query[i] = rotated(projected + (shared * share + i / head_width) * head_width, turn, i % head_width) * 0.125f;
  }
  if (newest < split_width && lane < head_width) {
    const float* const now = projected + heads * head_width + shared * head_width;
    const float k = rotated(now, turn, lane), v = now[kv_heads * head_width + lane];
    reinterpret_cast<float*>(key + newest * key_line)[lane] = k;
    reinterpret_cast<float*>(value + newest * vectors)[lane] = v;
    own_keys[newest * head_width + lane] = k;
    own_values[newest * head_width + lane] = v;
  }
  __syncthreads();
  for (unsigned i = lane; i < share * split_width; i += lanes) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (unsigned d = 0; d < vectors; ++d) {
      sum = fused(key[i % split_width * key_line + d], load(query, i / split_width * vectors + d), sum);
    }
    score[i] = i % split_width < count ? sum_of(sum) : -INFINITY;
  }
  __syncthreads();
  for (unsigned i = lane; i < share * split_width; i += lanes) {
    float most = -INFINITY;
    for (unsigned at = 0; at < split_width; ++at) {
      most = fmaxf(most, score[i / split_width * split_width + at]);
    }
    shares[i] = i % split_width < count ? expf(score[i] - most) : 0;
  }
  __syncthreads();
  for (unsigned i = lane; i < share * head_width; i += lanes) {
    const unsigned head = i / head_width, d = i % head_width;
    float most = -INFINITY, total = 0, sum = 0;
    for (unsigned at = 0; at < split_width; ++at) {
      const float weight = shares[head * split_width + at];
      most = fmaxf(most, score[head * split_width + at]);
      total += weight;
      sum = fmaf(weight, reinterpret_cast<const float*>(value)[at * head_width + d], sum);
    }
    const unsigned part = (shared * share + head) * splits + split;
    parts[part * head_width + d] = sum;
    if (d == 0) {
      weights[part] = make_float2(most, total);
    }
  }
}

__global__ void join(const float* x, const float* parts, const float2* weights, const uint4* output, float* joined,
                     unsigned splits) {
  __shared__ Input input;
  __shared__ float sums[8 * line];
  const unsigned lane = threadIdx.x, first = 8 * blockIdx.x;
  uint4 words[own_loads];
  ask(words, output + (first + lane / team_width) * row_loads, lane);
  const unsigned head = lane / 8;
  float most = -INFINITY, total = 0;
  for (unsigned s = 0; s < splits; ++s) {
    most = fmaxf(most, weights[head * splits + s].x);
  }
  float4 a = make_float4(0, 0, 0, 0), b = a;
  for (unsigned s = 0; s < splits; ++s) {
    const float2 part = weights[head * splits + s];
    const float scale = part.y == 0 ? 0 : expf(part.x - most);
    const float4 scales = make_float4(scale, scale, scale, scale);
    const unsigned at = ((head * splits + s) * 8 + lane % 8) * 2;
    total = fmaf(scale, part.y, total);
    a = fused(scales, load(parts, at), a);
    b = fused(scales, load(parts, at + 1), b);
  }
  input.low[lane] = make_float4(a.x / total, a.y / total, a.z / total, a.w / total);
  input.high[lane] = make_float4(b.x / total, b.y / total, b.z / total, b.w / total);
  __syncthreads();
  leave(sums, sum_of(times(words, input.low, input.high, lane)), lane / team_width, lane);
  __syncthreads();
  if (lane < 8) {
    joined[first + lane] = x[first + lane] + added_up(sums, lane);
  }
}

// A team's rows one after the other: while one is worked on, the next one is on its way.
template <unsigned count>
__device__ void rows_in_turn(const Input& input, uint4* words, const uint4* own_row, unsigned stride, float* sums, unsigned lane) {
#pragma unroll
  for (unsigned row = 0; row < count; ++row) {
    uint4 next[own_loads];
    if (row + 1 < count) {
      ask(next, own_row + (row + 1) * stride * row_loads, lane);
    }
    leave(sums, sum_of(times(words, input.low, input.high, lane)), 8 * row + lane / team_width, lane);
#pragma unroll
    for (unsigned i = 0; i < own_loads; ++i) {
      words[i] = next[i];
    }
  }
}

__global__ void feed(const float* x, const uint4* norm, const uint4* gate, const uint4* up, float* fed) {
  __shared__ Input input;
  __shared__ float squares[row_loads], sums[(2 * feed_rows + 1) * line];
  const unsigned lane = threadIdx.x, first = feed_rows * blockIdx.x, team = lane / team_width;
  const uint4* const own_row = (team < 4 ? gate : up) + (first + team % 4) * row_loads;
  uint4 words[own_loads];
  ask(words, own_row, lane);
  normalise(x, norm, input, squares, lane);
  __syncthreads();
  leave_squares(sums + 2 * feed_rows * line, squares, lane);
  rows_in_turn<feed_rows / 4>(input, words, own_row, 4, sums, lane);
  __syncthreads();
  if (lane < feed_rows) {
    const unsigned own = lane / 4 * 8 + lane % 4;
    const float scale = scale_of(sums, 2 * feed_rows), opened = added_up(sums, own) * scale;
    fed[first + lane] = opened / (1 + expf(-opened)) * (added_up(sums, own + 4) * scale);
  }
}

__global__ void down(const float* x, const float* fed, const uint4* back, float* out) {
  __shared__ float4 low[feed_width / 8], high[feed_width / 8];
  __shared__ float sums[8 * line];
  const unsigned lane = threadIdx.x, first = 8 * blockIdx.x;
  const uint4* const own_row = back + (first + lane / team_width) * (feed_width / 8);
  uint4 words[own_loads];
  ask(words, own_row, lane);
#pragma unroll
  for (unsigned i = lane; i < feed_width / 8; i += lanes) {
    low[i] = load(fed, 2 * i);
    high[i] = load(fed, 2 * i + 1);
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (unsigned part = 0; part < loads; ++part) {
    uint4 next[own_loads];
    if (part + 1 < loads) {
      ask(next, own_row + (part + 1) * row_loads, lane);
    }
    sum += sum_of(times(words, low + part * row_loads, high + part * row_loads, lane));
#pragma unroll
    for (unsigned i = 0; i < own_loads; ++i) {
      words[i] = next[i];
    }
  }
  leave(sums, sum, lane / team_width, lane);
  __syncthreads();
  if (lane < 8) {
    out[first + lane] = x[first + lane] + added_up(sums, lane);
  }
}

__global__ void weigh(const float* x, const uint4* norm, const uint4* embedding, float* likely, unsigned* best) {
  __shared__ Input input;
  __shared__ float squares[row_loads], sums[choices * line], each[choices];
  const unsigned lane = threadIdx.x, first = choices * blockIdx.x;
  const uint4* const own_row = embedding + (first + lane / team_width) * row_loads;
  uint4 words[own_loads];
  ask(words, own_row, lane);
  normalise(x, norm, input, squares, lane);
  __syncthreads();
  rows_in_turn<choices / 8>(input, words, own_row, 8, sums, lane);
  __syncthreads();
  if (lane < choices) {
    each[lane] = added_up(sums, lane);
  }
  __syncthreads();
  if (lane == 0) {
    unsigned at = 0;
    for (unsigned i = 1; i < choices; ++i) {
      at = each[i] > each[at] ? i : at;
    }
    likely[blockIdx.x] = each[at];
    best[blockIdx.x] = first + at;
  }
}

__global__ void choose(const float* likely, const unsigned* best, const uint4* embedding, unsigned* token, unsigned* tokens, float* x,
                       unsigned* position) {
  __shared__ float most[lanes];
  __shared__ unsigned at[lanes];
  const unsigned lane = threadIdx.x;
  float answers[answers_each];
#pragma unroll
  for (unsigned i = 0; i < answers_each; ++i) {
    answers[i] = i * lanes + lane < groups ? likely[i * lanes + lane] : -INFINITY;
  }
  unsigned first = 0;
#pragma unroll
  for (unsigned i = 1; i < answers_each; ++i) {
    first = answers[i] > answers[0] ? i : first;
    answers[0] = fmaxf(answers[0], answers[i]);
  }
  most[lane] = answers[0];
  at[lane] = first * lanes + lane < groups ? best[first * lanes + lane] : 0xffffffffu;
  __syncthreads();
  for (unsigned reach = lanes / 2; reach != 0; reach /= 2) {
    if (lane < reach && (most[lane + reach] > most[lane] || (most[lane + reach] == most[lane] && at[lane + reach] < at[lane]))) {
      most[lane] = most[lane + reach];
      at[lane] = at[lane + reach];
    }
    __syncthreads();
  }
  if (lane == 0) {
    token[0] = at[0];
    tokens[(*position)++] = at[0];
  }
  put_embedding(embedding, at[0], x, lane);
}

__global__ void rotation_table(float2* rotation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float angle = powf(theta, -float(i % 32) / 32) * float(i / 32);
  rotation[i] = make_float2(cosf(angle), sinf(angle));
}

__global__ void made_up(unsigned* words, unsigned seed, float center, float spread) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned two = 0;
  for (unsigned part = 0; part < 2; ++part) {
    unsigned hash = (2 * at + part) * 0x9e3779b9u ^ seed * 0x85ebca6bu;
    hash = (hash ^ (hash >> 16)) * 0x7feb352du;
    hash = (hash ^ (hash >> 15)) * 0x846ca68bu;
    hash ^= hash >> 16;
    const float value = center + (float(hash >> 8) * (1.0f / 8388608) - 1) * spread;
    two |= ((__float_as_uint(value) + 0x8000u) >> 16) << 16 * part;
  }
  words[at] = two;
}

template <class T>
T* room(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "allocating");
  check(cudaMemset(memory, 0, count * sizeof(T)), "clearing");
  return memory;
}

unsigned seeds = 0; // weights in the order of scripts/bench/decode

const uint4* weights(std::size_t elements, bool norm) {
  auto* const words = room<unsigned>(elements / 2);
  made_up<<<unsigned(elements / 2 / 64), 64>>>(words, seeds++, norm ? 1.0f : 0.0f,
                                              norm ? 0.1f : float(2 * std::sqrt(3.0 / hidden)));
  return reinterpret_cast<const uint4*>(words);
}

struct Layer {
  const uint4 *norm1, *query, *key, *value, *output, *norm2, *gate, *up, *down;
  float *keys, *values;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  const unsigned tokens = argc > 1 ? std::atoi(argv[1]) : 128;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const int layer_count = argc > 3 ? std::atoi(argv[3]) : 16;
  const unsigned positions = (tokens + split_width - 1) / split_width * split_width, splits = positions / split_width;
  const uint4* const embedding = weights(std::size_t{vocabulary} * hidden, false);
  const uint4* const norm = weights(hidden, true);
  constexpr std::size_t square = std::size_t{hidden} * heads * head_width, kv = std::size_t{hidden} * kv_heads * head_width;
  constexpr std::size_t wide = std::size_t{hidden} * feed_width;
  std::vector<Layer> layers(layer_count);
  for (Layer& layer : layers) {
    layer.norm1 = weights(hidden, true);
    layer.query = weights(square, false);
    layer.key = weights(kv, false);
    layer.value = weights(kv, false);
    layer.output = weights(square, false);
    layer.norm2 = weights(hidden, true);
    layer.gate = weights(wide, false);
    layer.up = weights(wide, false);
    layer.down = weights(wide, false);
    layer.keys = room<float>(kv_heads * head_width * positions);
    layer.values = room<float>(kv_heads * head_width * positions);
  }
  auto* const rotation = room<float2>(positions * 32);
  rotation_table<<<positions / 2, 64>>>(rotation);
  auto* const x = room<float>(hidden);
  auto* const joined = room<float>(hidden);
  auto* const projected = room<float>(heads * head_width + 2 * kv_heads * head_width);
  auto* const parts = room<float>(heads * splits * head_width);
  auto* const shares = room<float2>(heads * splits);
  auto* const fed = room<float>(feed_width);
  auto* const likely = room<float>(vocabulary / choices);
  auto* const best = room<unsigned>(vocabulary / choices);
  auto* const token = room<unsigned>(1);
  auto* const position = room<unsigned>(1);
  auto* const chosen = room<unsigned>(tokens);
  auto* const unused = room<unsigned>(lanes);
  cudaStream_t stream{};
  check(cudaStreamCreate(&stream), "making a stream");

  const auto one_token = [&] {
    for (const Layer& layer : layers) {
      project<<<(heads + 2 * kv_heads) * head_width / 12, lanes, 0, stream>>>(x, layer.norm1, layer.query, layer.key, layer.value, projected);
      attend<<<std::max(kv_heads * splits, unsigned(feed_width / feed_rows)), lanes, 0, stream>>>(projected, rotation, layer.keys, layer.values, parts, shares,
                                                                                 position, positions, layer.gate, layer.up, unused);
      join<<<hidden / 8, lanes, 0, stream>>>(x, parts, shares, layer.output, joined, splits);
      feed<<<feed_width / feed_rows, lanes, 0, stream>>>(joined, layer.norm2, layer.gate, layer.up, fed);
      down<<<hidden / 8, lanes, 0, stream>>>(joined, fed, layer.down, x);
    }
    weigh<<<vocabulary / choices, lanes, 0, stream>>>(x, norm, embedding, likely, best);
    choose<<<1, lanes, 0, stream>>>(likely, best, embedding, token, chosen, x, position);
  };
  cudaGraph_t graph{};
  cudaGraphExec_t replay{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capturing");
  one_token();
  check(cudaStreamEndCapture(stream, &graph), "capturing");
  check(cudaGraphInstantiate(&replay, graph, 0), "making the graph");

  const unsigned first = 1;
  const auto timed = [&](bool as_graph) {
    check(cudaMemcpy(token, &first, sizeof first, cudaMemcpyHostToDevice), "starting");
    check(cudaMemset(position, 0, sizeof(unsigned)), "starting");
    embed<<<1, lanes, 0, stream>>>(token, embedding, x);
    check(cudaDeviceSynchronize(), "starting");
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < tokens; ++i) {
      if (as_graph) {
        check(cudaGraphLaunch(replay, stream), "launching");
      } else {
        one_token();
      }
    }
    check(cudaStreamSynchronize(stream), "decoding");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / tokens;
  };
  std::vector<double> launches, graphs;
  timed(false);
  for (int i = 0; i < rounds; ++i) {
    launches.push_back(timed(false));
    graphs.push_back(timed(true));
  }
  std::vector<unsigned> found(tokens);
  check(cudaMemcpy(found.data(), chosen, tokens * sizeof(unsigned), cudaMemcpyDeviceToHost), "reading the tokens");
  std::printf("CUDA launches %.3f ms a token, CUDA graph %.3f\n", median(launches), median(graphs));
  for (unsigned i = 0; i < tokens; ++i) {
    std::printf("%u%c", found[i], i + 1 == tokens ? '\n' : ' ');
  }
}
