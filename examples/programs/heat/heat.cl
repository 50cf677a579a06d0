#define TILE 16

// Returns the temperature of a cell. Beyond the plate the north side is held at `north` degrees and the others at 0.
float temperature(__global const float* plate, int x, int y, int width, int height, float north) {
  if (y < 0) return north;
  if (x < 0 || x >= width || y >= height) return 0.0f;
  return plate[y * width + x];
}

// Takes one explicit time step of the heat equation. A work-group reads its tile and the cells around it once.
__kernel void diffuse(__global const float* now, __global float* next, int width, int height, float rate,
                      float north) {
  __local float tile[TILE + 2][TILE + 2];
  const int x = get_global_id(0), y = get_global_id(1);
  const int tx = get_local_id(0) + 1, ty = get_local_id(1) + 1;

  const float here = temperature(now, x, y, width, height, north);
  tile[ty][tx] = here;
  if (tx == 1) tile[ty][0] = temperature(now, x - 1, y, width, height, north);
  if (tx == TILE) tile[ty][TILE + 1] = temperature(now, x + 1, y, width, height, north);
  if (ty == 1) tile[0][tx] = temperature(now, x, y - 1, width, height, north);
  if (ty == TILE) tile[TILE + 1][tx] = temperature(now, x, y + 1, width, height, north);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (x < width && y < height) {
    const float around = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
    next[y * width + x] = here + rate * (around - 4.0f * here);
  }
}
