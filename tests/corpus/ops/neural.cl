// Layers of neural networks; a group per row where a row has to be summed.
#define ROW_THREADS 32

float row_reduce(local float* scratch, float value, bool largest) {
  const int l = get_local_id(0);
  scratch[l] = value;
  for (int s = ROW_THREADS / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) scratch[l] = largest ? fmax(scratch[l], scratch[l + s]) : scratch[l] + scratch[l + s];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float result = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return result;
}

// One query's row of attention per group: scores, their softmax, the weighted sum of the values.
#define DEPTH 16
kernel void attention_row(global const float* q, global const float* k, global const float* v, global float* out,
                          int length, local float* scores) {
  local float scratch[ROW_THREADS];
  const int l = get_local_id(0), row = get_group_id(0);
  float most = -INFINITY, sum = 0.0f;
  for (int j = l; j < length; j += ROW_THREADS) {
    float score = 0.0f;
    for (int d = 0; d < DEPTH; ++d) score += q[row * DEPTH + d] * k[j * DEPTH + d];
    scores[j] = score * 0.25f;
    most = fmax(most, scores[j]);
  }
  most = row_reduce(scratch, most, true);
  for (int j = l; j < length; j += ROW_THREADS) {
    scores[j] = exp(scores[j] - most);
    sum += scores[j];
  }
  sum = row_reduce(scratch, sum, false);
  if (l < DEPTH) {
    float weighted = 0.0f;
    for (int j = 0; j < length; ++j) weighted += scores[j] * v[j * DEPTH + l];
    out[row * DEPTH + l] = weighted / sum;
  }
}

// Channels of a convolution over the third dimension; no padding.
kernel void conv2d(global const float* in, global const float* filters, global const float* bias, global float* out,
                   int in_channels, int size, int filter) {
  const int x = get_global_id(0), y = get_global_id(1), channel = get_global_id(2), out_size = size - filter + 1;
  if (x >= out_size || y >= out_size) return;
  float sum = bias[channel];
  for (int c = 0; c < in_channels; ++c)
    for (int dy = 0; dy < filter; ++dy)
      for (int dx = 0; dx < filter; ++dx)
        sum += in[(c * size + y + dy) * size + x + dx] * filters[((channel * in_channels + c) * filter + dy) * filter + dx];
  out[(channel * out_size + y) * out_size + x] = sum;
}

#define ACTIVATION(name, expression)                              \
  kernel void name(global float* data, int n) {                   \
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) { \
      const float x = data[i];                                    \
      data[i] = (expression);                                     \
    }                                                             \
  }
ACTIVATION(relu, fmax(x, 0.0f))
ACTIVATION(sigmoid, 1.0f / (1.0f + exp(-x)))

kernel void max_pool(global const float* in, global float* out, global uchar* place, int size) {
  const int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2), half_size = size / 2;
  if (x >= half_size || y >= half_size) return;
  const int at = (c * size + 2 * y) * size + 2 * x;
  const float v[2][2] = {{in[at], in[at + 1]}, {in[at + size], in[at + size + 1]}};
  int best = 0;
  for (int k = 1; k < 4; ++k)
    if (v[k / 2][k % 2] > v[best / 2][best % 2]) best = k;
  out[(c * half_size + y) * half_size + x] = v[best / 2][best % 2];
  place[(c * half_size + y) * half_size + x] = best;
}
