#if 0
#elif (1 ? 2 : 3/0) && 0x10u == 16 && 'a' < 98 && -1 >> 1 < 0
kernel void k(global int* x) {}
#else
