// Computes one generation of Conway's Game of Life on a torus: two or three living neighbours keep a cell alive, three
// wake a dead one.
__kernel void generation(__global const char* cells, __global char* next, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int west = (x + width - 1) % width, east = (x + 1) % width;
  __global const char* here = cells + y * width;
  __global const char* north = cells + (y + height - 1) % height * width;
  __global const char* south = cells + (y + 1) % height * width;

  const int neighbours = north[west] + north[x] + north[east] + here[west] + here[east] +
                         south[west] + south[x] + south[east];
  next[y * width + x] = neighbours == 3 || (neighbours == 2 && here[x]);
}
