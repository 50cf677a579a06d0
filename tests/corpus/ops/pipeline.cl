// Small steps of a longer chain, to be joined: each touches only what its own work-item wrote before.
#define ELEMENTWISE(name, ...) \
  kernel void name(global const float* in, global float* out, uint n) { \
    const uint i = get_global_id(0); \
    if (i >= n) return; \
    const float x = in[i]; \
    out[i] = __VA_ARGS__; \
  }
ELEMENTWISE(scale, x * 1.5f)
ELEMENTWISE(shift, x + 0.25f)
ELEMENTWISE(clip, clamp(x, -1.0f, 1.0f))
ELEMENTWISE(quantise, rint(x * 16.0f) / 16.0f)

kernel void pair_sums(global const float *restrict in, global float *restrict out, uint n) {
  const uint i = get_global_id(0);
  if (i < n / 2) out[i] = in[2 * i] + in[2 * i + 1];
}
