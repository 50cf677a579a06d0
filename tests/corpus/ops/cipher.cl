// Rounds of a block cipher in the manner of AES: substitution through a table that the device makes, rows shifted,
// columns mixed in GF(2^8), a key added. Four work-items to a block, a column each.
inline uchar times_x(uchar a) { return (uchar)(a << 1) ^ (a & 0x80 ? 0x1b : 0); }

uchar gf_times(uchar a, uchar b) {
  uchar r = 0;
  for (; b; b >>= 1, a = times_x(a))
    if (b & 1) r ^= a;
  return r;
}

// S(x) is an affine map of x's inverse, x^254.
kernel void make_sbox(global uchar* sbox) {
  const uchar x = get_global_id(0);
  uchar inverse = 1;
  for (int i = 0; i < 254; ++i) inverse = gf_times(inverse, x);
  uchar s = inverse;
  for (int i = 1; i <= 4; ++i) s ^= rotate(inverse, (uchar)i);
  sbox[x] = s ^ 0x63;
}

#define BLOCKS 16 // of a group

kernel void encrypt(global const uchar4* in, global uchar4* out, constant uchar* sbox, constant uchar4* key, int rounds) {
  local uchar4 state[BLOCKS][4];
  local uchar cached[256];
  const int l = get_local_id(0), block = l / 4, column = l % 4;
  for (int i = l; i < 256; i += get_local_size(0)) cached[i] = sbox[i];
  uchar4 c = in[get_global_id(0)] ^ key[column];
  for (int round = 1; round <= rounds; ++round) {
    state[block][column] = c;
    barrier(CLK_LOCAL_MEM_FENCE);
    c.s0 = cached[state[block][column].s0];
    c.s1 = cached[state[block][(column + 1) % 4].s1];
    c.s2 = cached[state[block][(column + 2) % 4].s2];
    c.s3 = cached[state[block][(column + 3) % 4].s3];
    if (round < rounds) {
      const uchar4 d = (uchar4)(times_x(c.x), times_x(c.y), times_x(c.z), times_x(c.w));
      c = d ^ (d ^ c).yzwx ^ c.zwxy ^ c.wxyz;
    }
    c ^= key[column] + (uchar4)(round);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = c;
}
