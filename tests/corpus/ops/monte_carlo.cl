#include "include/counter_random.h"

/* Points in the unit square that lie in the circle: counted in integers, so that their order does not matter. */
__kernel void count_inside(__global uint* inside, const uint samples, const uint seed)
{
    __local uint in_group;
    if (get_local_id(0) == 0)
        in_group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (uint s = 0; s < samples; ++s) {
        const uint2 r = random_pair((uint2)(get_global_id(0), s), (uint2)(seed, 0));
        const float x = UNIT(r.x), y = UNIT(r.y);
        own += x * x + y * y < 1.0f;
    }
    atomic_add(&in_group, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(inside, in_group);
}
