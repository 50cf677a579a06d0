#define TILE 16

// Computes c = a * b for an m x k and a k x n matrix, in tiles of local memory; sizes need not be multiples of a tile.
__kernel void multiply(__global const float* a, __global const float* b, __global float* c, int m, int n,
                       int k) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  const int column = get_global_id(0), row = get_global_id(1);
  const int tx = get_local_id(0), ty = get_local_id(1);

  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    tile_a[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0.0f;
    tile_b[ty][tx] = column < n && start + ty < k ? b[(start + ty) * n + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      sum += tile_a[ty][i] * tile_b[i][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}
