// Bit tricks on words of 32 and 64 bits.
#define REVERSE_STEP(x, mask, shift) ((((x) & (mask)) << (shift)) | (((x) >> (shift)) & (mask)))

uint reverse_bits(uint x) {
  x = REVERSE_STEP(x, 0x55555555u, 1);
  x = REVERSE_STEP(x, 0x33333333u, 2);
  x = REVERSE_STEP(x, 0x0f0f0f0fu, 4);
  return rotate(REVERSE_STEP(x, 0x00ff00ffu, 8), 16u);
}

ulong spread(uint x) { // its bits at the even places
  ulong r = x;
  r = (r | r << 16) & 0x0000ffff0000ffffUL;
  r = (r | r << 8) & 0x00ff00ff00ff00ffUL;
  r = (r | r << 4) & 0x0f0f0f0f0f0f0f0fUL;
  r = (r | r << 2) & 0x3333333333333333UL;
  return (r | r << 1) & 0x5555555555555555UL;
}

kernel void tricks(global const uint* words, global uint* out, uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  const uint w = words[i];
  uint r = 0;
  r += popcount(w);
  r = rotate(r, 7u) ^ clz(w);
  r = rotate(r, 7u) ^ (w & -w);
  r = rotate(r, 7u) ^ reverse_bits(w);
  r = rotate(r, 7u) ^ (w ^ w >> 1); // Gray code
  r = rotate(r, 7u) ^ mul_hi(w, 0x9e3779b9u);
  r = rotate(r, 7u) ^ hadd(w, ~i) ^ rhadd(w, i);
  r = rotate(r, 7u) ^ add_sat(w, 0x80000000u) ^ sub_sat(w, 0x80000000u);
  r = rotate(r, 7u) ^ mad24((int)(w & 0xffff), 3, 7) ^ mul24((int)i, -5);
  r = rotate(r, 7u) ^ bitselect(w, i, 0x0f0f0f0fu) ^ upsample((ushort)w, (ushort)i);
  r = rotate(r, 7u) ^ abs_diff((int)w, (int)i);
  out[i] = r;
}

kernel void morton(global const uint2* points, global ulong* codes) {
  const size_t i = get_global_id(0);
  codes[i] = spread(points[i].x) | spread(points[i].y) << 1;
}
