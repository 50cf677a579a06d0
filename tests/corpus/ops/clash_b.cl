// Shares its names, with other meanings, with clash_a.cl.
#define SIZE 2
#define STEP(x, y) ((x) - (y) * SIZE)
#define CLASH_VARIANT
#include "include/clash.h"
typedef float number;
typedef union Item { number value; uint bits; } Item;
typedef enum { SECOND, FIRST } Order;
constant number table[SIZE][2] = {{0.5f, 0.25f}, {8.0f, 16.0f}};

number helper(number x, Order order) { return STEP(x, order) + table[order][1]; }
static number twice(number x) { return helper(x, FIRST) + helper(x, SECOND); }

kernel void process(global const number* in, global uint* out) {
  local uint shared[32 * SIZE];
  Item item;
  item.value = twice(in[get_global_id(0)]) * SHARED_CONSTANT;
  shared[get_local_id(0)] = item.bits;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = shared[get_local_size(0) - 1 - get_local_id(0)];
}
