// k-means in the plane on a grid of 1/1024, so that sums are integers and come out the same in any order.
#ifndef K
#define K 8
#endif

__kernel void assign(__global const int2* points, __global const int2* centres, __global int* membership,
                     __global int* sums, __global int* counts, int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int best = 0;
    long least = LONG_MAX;
    for (int c = 0; c < K; ++c) {
        const long2 d = convert_long2(points[i] - centres[c]);
        const long distance = d.x * d.x + d.y * d.y;
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    membership[i] = best;
    atomic_add(&sums[2 * best], points[i].x);
    atomic_add(&sums[2 * best + 1], points[i].y);
    atomic_inc(&counts[best]);
}

__kernel void update(__global int2* centres, __global int* sums, __global int* counts)
{
    const int c = get_global_id(0);
    if (c < K) {
        if (counts[c] > 0)
            centres[c] = (int2)(sums[2 * c] / counts[c], sums[2 * c + 1] / counts[c]);
        sums[2 * c] = sums[2 * c + 1] = counts[c] = 0;
    }
}
