// Sequence alignment by dynamic programming.

// --- Needleman-Wunsch: tiles of 16 x 16 along block diagonals, a tile's anti-diagonals within one group.
#define TILE 16
#define GAP 3

kernel void nw_borders(global int* score, int columns) {
  const int i = get_global_id(0);
  if (i < columns) {
    score[i] = -GAP * i;
    score[i * columns] = -GAP * i;
  }
}

// The sequences have 4 letters; equal ones score 5, others -4. score has n + 1 columns.
kernel void nw_diagonal(global const uchar* a, global const uchar* b, global int* score, int n, int diagonal,
                        int first) {
  local int s[TILE + 1][TILE + 1];
  const int columns = n + 1;
  const int block_column = first + get_group_id(0);
  const int block_row = diagonal - block_column;
  const int l = get_local_id(0);
  const int top = block_row * TILE, left = block_column * TILE;
  s[l + 1][0] = score[(top + l + 1) * columns + left];
  s[0][l + 1] = score[top * columns + left + l + 1];
  if (l == 0) s[0][0] = score[top * columns + left];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int m = 0; m < 2 * TILE - 1; ++m) {
    const int row = l + 1, column = m - l + 1;
    if (column >= 1 && column <= TILE) {
      const int match = a[top + row - 1] == b[left + column - 1] ? 5 : -4;
      s[row][column] = max(s[row - 1][column - 1] + match, max(s[row - 1][column], s[row][column - 1]) - GAP);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int row = 1; row <= TILE; ++row) {
    score[(top + row) * columns + left + l + 1] = s[row][l + 1];
  }
}

// --- Smith-Waterman with affine gaps: one anti-diagonal of cells per iteration, counted by the device.
enum { OPEN = 6, EXTEND = 1 };

kernel void sw_diagonal(global const uchar* a, global const uchar* b, global int* h, global int* e, global int* f,
                        global const int* diagonal, global int* best, int n) {
  const int d = *diagonal;
  const int row = get_global_id(0) + 1;
  const int column = d - row;
  if (row > n || column < 1 || column > n) return;
  const int width = n + 1;
  const int here = row * width + column;
  const int along = max(h[here - 1] - OPEN, e[here - 1] - EXTEND);
  const int down = max(h[here - width] - OPEN, f[here - width] - EXTEND);
  const int match = h[here - width - 1] + (a[row - 1] == b[column - 1] ? 5 : -3);
  e[here] = along;
  f[here] = down;
  const int score = max(max(0, match), max(along, down));
  h[here] = score;
  atomic_max(best, score);
}

kernel void sw_advance(global int* diagonal) { ++*diagonal; }
