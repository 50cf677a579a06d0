// Early returns of all kinds, in groups that never meet at a barrier.
kernel void collatz(global const uint* start, global uint* steps, const uint n, const uint most) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  uint x = start[i];
  if (x == 0) {
    steps[i] = 0xffffffffu;
    return;
  }
  for (uint s = 0; s < most; ++s) {
    if (x == 1) {
      steps[i] = s;
      return;
    }
    x = x % 2 ? 3 * x + 1 : x / 2;
  }
  steps[i] = most;
}

kernel void rectangle(global uchar* image, uint width, uint height, uint4 box, uchar value) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) { return; }
  if (x < box.x || y < box.y) return;
  if (!(x < box.x + box.z && y < box.y + box.w)) return;
  image[y * width + x] ^= value;
}
