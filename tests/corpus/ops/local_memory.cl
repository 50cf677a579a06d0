// Local memory declared wherever the scope of a kernel's body allows: several to a line, between statements, after
// barriers, scalars, structs, arrays of arrays, and pointers to all that.
#define FENCE barrier(CLK_LOCAL_MEM_FENCE)
#define PAIRS 16

int pick(local int (*pairs)[2], int i) { return pairs[i % PAIRS][0] - pairs[i % PAIRS][1]; }

typedef struct { short low, high; } Halves;

kernel void scattered(global const int* in, global int* out) {
  local int line[2 * PAIRS], other[2 * PAIRS], total, *place = &line[5]; // the pointer itself is private
  const uint l = get_local_id(0), g = get_global_id(0);
  line[l] = in[g];
  if (l == 0) total = 0;
  FENCE;
  local int pairs[PAIRS][2];
  pairs[l / 2][l % 2] = line[31 - l];
  local Halves cube[4][4][2];
  cube[l / 8][l / 2 % 4][l & 1] = (Halves){(short)(line[l] * 3), (short)l};
  FENCE;
  other[l] = pick(pairs, l) + cube[l % 4][l / 4 % 4][l / 16].low - cube[0][l % 4][1].high + *place;
  local volatile int exchanged[2 * PAIRS];
  for (int round = 0; round < 2; ++round) {
    exchanged[l] = other[l] + round;
    FENCE;
    other[l] = exchanged[(l + 5) % 32] ^ round;
    FENCE;
  }
  {
    int line = other[l]; // hides the array
    atomic_add(&total, line);
  }
  __local uchar __attribute__((aligned(16))) flags[32 * sizeof(int)];
  flags[4 * l] = other[l] & 1;
  FENCE;
  int count = 0;
  for (int i = 0; i < 32; ++i) count += flags[4 * i];
  out[g] = other[l] + total * 100 + count;
}

// Arguments beside it, used as vectors and as bytes.
kernel void mixed(global const float4* in, global float4* out, local float4* tile, local uchar* bytes) {
  local float4 corner;
  const uint l = get_local_id(0), n = get_local_size(0);
  tile[l] = in[get_global_id(0)];
  bytes[l] = (uchar)(l * 7);
  if (l == n - 1) corner = in[get_global_id(0)];
  FENCE;
  out[get_global_id(0)] = tile[n - 1 - l] + corner + (float)bytes[(l + 1) % n];
}
