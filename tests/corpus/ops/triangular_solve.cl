// L x = b by blocks: the diagonal block is solved in one group, then all rows below take their products off.
// L is made of the strictly lower part of `values` and a diagonal of 4.
#define BLOCK 16

float entry(__global const float* values, int n, int row, int column) {
  return row == column ? 4.0f : values[row * n + column];
}

__kernel void solve_diagonal(__global const float* values, __global float* x, int n, int first) {
  __local float solved[BLOCK];
  const int l = get_local_id(0);
  float right = x[first + l];
  for (int k = 0; k < BLOCK; ++k) {
    if (l == k)
      solved[k] = right / entry(values, n, first + k, first + k);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l > k)
      right -= entry(values, n, first + l, first + k) * solved[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  x[first + l] = solved[l];
}

__kernel void update_below(__global const float* values, __global float* x, int n, int first) {
  const int row = get_global_id(0) + first + BLOCK;
  if (row >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < BLOCK; ++k)
    sum += entry(values, n, row, first + k) * x[first + k];
  x[row] -= sum;
}
