// Seven points in a box with three-dimensional work-groups.
typedef struct {
  int x, y, z;
} Cell;

inline int index_of(Cell c, int nx, int ny) { return (c.z * ny + c.y) * nx + c.x; }

kernel void diffuse(global const float* from, global float* to, int nx, int ny, int nz, float4 weights) {
  local float box[4][6][10]; // groups of 8 x 4 x 2 and a cell all around
  const Cell c = {(int)get_global_id(0), (int)get_global_id(1), (int)get_global_id(2)};
  // Cells of the box are loaded in turns.
  const int first_x = get_group_id(0) * get_local_size(0);
  const int first_y = get_group_id(1) * get_local_size(1);
  const int first_z = get_group_id(2) * get_local_size(2);
  const int lane = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
  const int lanes = get_local_size(0) * get_local_size(1) * get_local_size(2);
  for (int k = lane; k < 10 * 6 * 4; k += lanes) {
    const Cell b = {k % 10, k / 10 % 6, k / 60};
    const Cell source = {clamp(first_x + b.x - 1, 0, nx - 1), clamp(first_y + b.y - 1, 0, ny - 1),
                         clamp(first_z + b.z - 1, 0, nz - 1)};
    box[b.z][b.y][b.x] = from[index_of(source, nx, ny)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (c.x >= nx || c.y >= ny || c.z >= nz) {
    return;
  }
  const int x = get_local_id(0) + 1, y = get_local_id(1) + 1, z = get_local_id(2) + 1;
  to[index_of(c, nx, ny)] = weights.x * box[z][y][x] + weights.y * (box[z][y][x - 1] + box[z][y][x + 1]) +
                            weights.z * (box[z][y - 1][x] + box[z][y + 1][x]) +
                            weights.w * (box[z - 1][y][x] + box[z + 1][y][x]);
}
