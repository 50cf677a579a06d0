// Sparse matrix times vector in three storage formats, all made from one rule: row i has 2 + i % 7 entries.
inline uint row_start(uint row) {
  const uint whole = row / 7, rest = row % 7;
  return whole * (2 * 7 + 21) + 2 * rest + rest * (rest - 1) / 2 * (rest > 0);
}

__kernel void make_rows(__global uint* row_ptr, uint rows) {
  const uint i = get_global_id(0);
  if (i <= rows) row_ptr[i] = row_start(i);
}

__kernel void csr_scalar(uint rows, __global const uint* row_ptr, __global const uint* cols,
                         __global const float* vals, __global const float* x, __global float* y) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (uint j = row_ptr[row]; j < row_ptr[row + 1]; ++j) sum += vals[j] * x[cols[j]];
  y[row] = sum;
}

#define LANES 8 // a row's work-items

__kernel void csr_vector(uint rows, __global const uint* row_ptr, __global const uint* cols,
                         __global const float* vals, __global const float* x, __global float* y,
                         volatile __local float* partial) {
  const uint l = get_local_id(0), lane = l % LANES;
  const uint row = get_global_id(0) / LANES;
  float sum = 0;
  if (row < rows)
    for (uint j = row_ptr[row] + lane; j < row_ptr[row + 1]; j += LANES) sum += vals[j] * x[cols[j]];
  partial[l] = sum;
  for (uint s = LANES / 2; s; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < s) partial[l] += partial[l + s];
  }
  if (lane == 0 && row < rows) y[row] = partial[l];
}

#define WIDTH 8 // entries of an ELL row, stored by columns; rows that have fewer are padded with zeros

__kernel void to_ell(uint rows, __global const uint* row_ptr, __global const uint* cols, __global const float* vals,
                     __global uint* ell_cols, __global float* ell_vals) {
  const uint row = get_global_id(0), k = get_global_id(1);
  if (row >= rows) return;
  const uint j = row_ptr[row] + k;
  const bool there = j < row_ptr[row + 1];
  ell_cols[k * rows + row] = there ? cols[j] : 0;
  ell_vals[k * rows + row] = there ? vals[j] : 0.0f;
}

__kernel void ell(uint rows, __global const uint* ell_cols, __global const float* ell_vals, __global const float* x,
                  __global float* y) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (uint k = 0; k < WIDTH; ++k) sum += ell_vals[k * rows + row] * x[ell_cols[k * rows + row]];
  y[row] = sum;
}
