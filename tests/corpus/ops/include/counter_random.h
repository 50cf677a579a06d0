// Random numbers from a key and a counter: Threefry's idea in 32 bits and two words, 12 rounds.
#ifndef COUNTER_RANDOM_H
#define COUNTER_RANDOM_H

#define ROUND(x, r) ((x).s0 += (x).s1, (x).s1 = rotate((x).s1, (uint)(r)) ^ (x).s0)

static uint2 random_pair(uint2 counter, uint2 key) {
  const uint extra = 0x1BD11BDAu ^ key.x ^ key.y;
  uint2 x = counter + key;
  ROUND(x, 13); ROUND(x, 15); ROUND(x, 26); ROUND(x, 6);
  x += (uint2)(key.y, extra + 1);
  ROUND(x, 17); ROUND(x, 29); ROUND(x, 16); ROUND(x, 24);
  x += (uint2)(extra, key.x + 2);
  ROUND(x, 13); ROUND(x, 15); ROUND(x, 26); ROUND(x, 6);
  return x + (uint2)(key.x, key.y + 3);
}

#undef ROUND

#define UNIT(bits) ((float)((bits) >> 8) * 0x1p-24f) // [0, 1)

#endif
