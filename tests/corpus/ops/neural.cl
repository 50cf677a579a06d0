// Layers of neural networks.
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
