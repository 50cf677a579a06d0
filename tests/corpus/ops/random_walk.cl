#include <counter_random.h> // by -I
#include "include/counter_random.h"

typedef struct { uint state; short x, y; } Walker; // 8 bytes

uint next_random(uint* state) { // xorshift32
  uint s = *state;
  s ^= s << 13; s ^= s >> 17; s ^= s << 5;
  return *state = s;
}

kernel void place(global Walker* walkers, uint seed) {
  const uint i = get_global_id(0);
  global Walker* w = &walkers[i];
  w->state = random_pair((uint2)(i, 0), (uint2)(seed)).x | 1;
  w->x = w->y = 0;
}

kernel void walk(global Walker* walkers, int steps) {
  Walker w = walkers[get_global_id(0)];
  while (steps-- > 0) {
    switch (next_random(&w.state) >> 30) {
    case 0: ++w.x; break;
    case 1: --w.x; break;
    case 2: ++w.y; break;
    default: --w.y;
    }
  }
  walkers[get_global_id(0)] = w;
}

kernel void how_far(global const Walker* walkers, global int* histogram) {
  const Walker w = walkers[get_global_id(0)];
  atomic_inc(&histogram[min(abs(w.x) + abs(w.y), 63)]);
}
