// Image processing on plain buffers.
#define CLAMPED(image, x, y) image[clamp((y), 0, height - 1) * width + clamp((x), 0, width - 1)]

// A filter of any odd size, given as a constant buffer.
kernel void convolve(global const float* image, global float* out, constant float* weights, int size, int width,
                     int height) {
  const int x = get_global_id(0), y = get_global_id(1), reach = size / 2;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx)
      sum += weights[(dy + reach) * size + dx + reach] * CLAMPED(image, x + dx, y + dy);
  out[y * width + x] = sum;
}

kernel void sobel(global const float* image, global uchar* edges, int width, int height, float threshold) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
#define P(dx, dy) CLAMPED(image, x + (dx), y + (dy))
  const float gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
  const float gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
#undef P
  const float strength = hypot(gx, gy);
  edges[y * width + x] = strength > threshold ? 255 : convert_uchar_sat(strength * 32.0f);
}

kernel void bilateral(global const float* image, global float* out, int width, int height, float near, float alike) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const float centre = image[y * width + x];
  float sum = 0.0f, weights = 0.0f;
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) {
      const float value = CLAMPED(image, x + dx, y + dy);
      const float difference = value - centre;
      const float weight = exp(-(dx * dx + dy * dy) * near - difference * difference * alike);
      sum += weight * value;
      weights += weight;
    }
  }
  out[y * width + x] = sum / weights;
}

// Middle of nine by a partial sort in registers.
kernel void median(global const float* image, global float* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float v[9];
  int k = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) v[k++] = CLAMPED(image, x + dx, y + dy);
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j) {
      const float least = fmin(v[i], v[j]);
      v[j] = fmax(v[i], v[j]);
      v[i] = least;
    }
  out[y * width + x] = v[4];
}
