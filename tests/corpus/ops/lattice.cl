// Lattice gas: nine populations per cell in planes, streamed and collided in one step (D2Q9).
#define Q 9
__constant int2 directions[Q] = {(int2)(0, 0), (int2)(1, 0), (int2)(0, 1), (int2)(-1, 0), (int2)(0, -1),
                                 (int2)(1, 1), (int2)(-1, 1), (int2)(-1, -1), (int2)(1, -1)};
__constant float weights[Q] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9,
                               1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

__kernel void stream_and_collide(__global const float* restrict from, __global float* restrict to, int2 size,
                                 float omega) {
#pragma OPENCL FP_CONTRACT OFF
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= size.x || y >= size.y) return;
  const int cells = size.x * size.y;
  float f[Q], density = 0.0f;
  float2 momentum = (float2)(0.0f);
  __attribute__((opencl_unroll_hint(Q)))
  for (int d = 0; d < Q; ++d) {
    const int2 source = ((int2)(x, y) - directions[d] + size) % size;
    f[d] = from[d * cells + source.y * size.x + source.x];
    density += f[d];
    momentum += f[d] * convert_float2(directions[d]);
  }
  const float2 u = momentum / density;
  for (int d = 0; d < Q; ++d) {
    const float along = 3.0f * dot(u, convert_float2(directions[d]));
    const float balance = weights[d] * density * (1.0f + along + 0.5f * along * along - 1.5f * dot(u, u));
    to[d * cells + y * size.x + x] = f[d] + omega * (balance - f[d]);
  }
}
