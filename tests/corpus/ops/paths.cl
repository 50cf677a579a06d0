// The cheapest way down through a grid, 4 rows at a time with a border of the tile that is computed twice.
#define ROWS 4
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))

__kernel void pathfinder(__global const int* wall, __global const int* above, __global int* below, int columns,
                         int first_row, __local int* now, __local int* then_row) {
  const int l = get_local_id(0), size = get_local_size(0), inner = size - 2 * ROWS;
  const int column = (int)get_group_id(0) * inner - ROWS + l;
  const bool valid = IN_RANGE(column, 0, columns - 1);
  now[l] = valid ? above[column] : INT_MAX / 2;
  for (int row = 0; row < ROWS; ++row) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (IN_RANGE(l, row + 1, size - row - 2) && valid) {
      const int least = min(now[l], min(now[l - 1], now[l + 1]));
      then_row[l] = least + wall[(first_row + row) * columns + column];
    } else {
      then_row[l] = INT_MAX / 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    now[l] = then_row[l];
  }
  if (IN_RANGE(l, ROWS, size - ROWS - 1) && valid) below[column] = now[l];
}
