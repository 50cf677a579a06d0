// Everything that matters comes from the options: -D with and without a value, and -I.
#include "sized.h"

#ifndef FLAG
#error "FLAG is missing"
#endif
#if WIDTH * 2 != 8 || !defined(OPERATION)
#error "WIDTH is not 4"
#endif

__kernel void NAME(__global const SIZED(float, WIDTH)* in, __global SIZED(float, WIDTH)* out) {
  const size_t i = get_global_id(0);
  out[i] = OPERATION(in[i], (SIZED(float, WIDTH))(BOUND + FLAG));
}
