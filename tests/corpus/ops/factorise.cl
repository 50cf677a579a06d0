// Steps of dense factorisations: LU without pivoting, and Cholesky. The matrix is made diagonally dominant first.
kernel void make_dominant(global float* a, int n, int symmetric) {
  const int row = get_global_id(1), column = get_global_id(0);
  if (row < column) return; // every pair of mirrored entries has one work-item
  if (row == column) {
    a[row * n + row] = n + 1.0f;
  } else if (symmetric) {
    a[column * n + row] = a[row * n + column];
  }
}

kernel void lu_column(global float* a, int n, int k) {
  const int row = get_global_id(0) + k + 1;
  if (row < n) a[row * n + k] /= a[k * n + k];
}

kernel void lu_rest(global float* a, int n, int k) {
  const int row = get_global_id(1) + k + 1;
  const int column = get_global_id(0) + k + 1;
  if (row < n && column < n) a[row * n + column] -= a[row * n + k] * a[k * n + column];
}

// Column k below the diagonal and the diagonal itself, by one group.
kernel void cholesky_column(global float* a, int n, int k) {
  local float root;
  if (get_local_id(0) == 0) root = sqrt(a[k * n + k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = k + get_local_id(0); row < n; row += get_local_size(0)) {
    a[row * n + k] = row == k ? root : a[row * n + k] / root;
  }
}

kernel void cholesky_rest(global float* a, int n, int k) {
  const int row = get_global_id(1) + k + 1;
  const int column = get_global_id(0) + k + 1;
  if (row >= n || column > row) return;
  a[row * n + column] -= a[row * n + k] * a[column * n + k];
}
