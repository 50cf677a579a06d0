// Shares its names, with other meanings, with clash_b.cl.
#define SIZE 4
#define STEP(x) ((x) + SIZE)
#include "include/clash.h"
typedef int number;
typedef struct Item { number key; number value; } Item;
enum { FIRST = 3, SECOND = 5 };
constant number table[SIZE] = {1, 2, 3, 4};

number helper(number x) { return STEP(x) * FIRST + table[x & 3]; }
static number twice(number x) { return 2 * helper(x); }

kernel void process(global const number* in, global number* out) {
  local number shared[SIZE * 16];
  const Item item = {in[get_global_id(0)], SECOND};
  shared[get_local_id(0)] = twice(item.key) + item.value + SHARED_CONSTANT;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared[get_local_id(0) ^ 1];
}
