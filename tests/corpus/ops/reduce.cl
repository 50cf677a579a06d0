// Sums in two stages by the same kernel: a tree in local memory per group, then one group over the groups' sums.
__kernel void reduce(__global const uint* input, __global uint* sums, uint n, __local uint* scratch)
{
    uint lid = get_local_id(0);
    uint sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += input[i];
    scratch[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint stride = get_local_size(0) >> 1; stride > 0; stride >>= 1)
    {
        if (lid < stride)
            scratch[lid] += scratch[lid + stride];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = scratch[0];
}

// Minimum, maximum and the place of the maximum, of floats, in one group.
__kernel void extremes(__global const float* input, __global float* result, __global int* place, int n)
{
    __local float low[64], high[64];
    __local int where_high[64];
    const int lid = get_local_id(0);
    float least = INFINITY, most = -INFINITY;
    int at = -1;
    for (int i = lid; i < n; i += get_local_size(0)) {
        least = fmin(least, input[i]);
        if (input[i] > most) { most = input[i]; at = i; }
    }
    low[lid] = least; high[lid] = most; where_high[lid] = at;
    for (int s = 32; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < s) {
            low[lid] = fmin(low[lid], low[lid + s]);
            const bool other = high[lid + s] > high[lid] ||
                               (high[lid + s] == high[lid] && where_high[lid + s] < where_high[lid]);
            where_high[lid] = other ? where_high[lid + s] : where_high[lid];
            high[lid] = other ? high[lid + s] : high[lid];
        }
    }
    if (lid == 0) {
        result[0] = low[0];
        result[1] = high[0];
        place[0] = where_high[0];
    }
}
