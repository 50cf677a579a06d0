// Work-items of a group hand a number to each other through global memory: which one writes it next depends on it.
__kernel void walk(__global const uint *next, __global uint *at, __global uint *ends, uint steps) {
    const uint lane = get_local_id(0), group = get_group_id(0);
    if (lane == 0) at[group] = group;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint step = 0; step < steps; step++) {
        const uint to = next[at[group]];
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (lane == to % get_local_size(0)) at[group] = to;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (lane == 0) ends[group] = at[group];
}
