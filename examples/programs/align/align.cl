// Local alignment after Smith and Waterman with affine gaps: each launch is one diagonal of cells, which needs the two before it.
kernel void diagonal(global const char* a, global const char* b, global const int* h2, global const int* h1,
                     global int* h, global int* e, global int* f, global int* best, int n, int d) {
  const int row = get_global_id(0), column = d - row;
  if (row >= n || column < 0 || column >= n) return;
  const int up = row > 0 ? h1[row - 1] : 0, left = column > 0 ? h1[row] : 0;
  const int corner = row > 0 && column > 0 ? h2[row - 1] : 0;
  e[row] = max(left - 5, (column > 0 ? e[row] : -1000) - 1);
  f[column] = max(up - 5, (row > 0 ? f[column] : -1000) - 1);
  h[row] = max(max(0, corner + (a[row] == b[column] ? 3 : -2)), max(e[row], f[column]));
  best[row] = max(best[row], h[row]);
}
