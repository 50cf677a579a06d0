// Solutions of the n queens problem by their first two rows: a depth-first search without recursion.
#define MOST 10

__kernel void queens(__global uint* solutions, uint n, volatile __global uint* total)
{
    const uint first = get_global_id(0), second = get_global_id(1);
    const uint all = (1u << n) - 1;
    uint columns[MOST], left[MOST], right[MOST], open[MOST];
    uint count = 0;

    if (first < n && second < n && abs_diff(first, second) > 1) {
        const uint a = 1u << first, b = 1u << second;
        int depth = 0;
        columns[0] = a | b;
        left[0] = (a << 2 | b << 1) & all;
        right[0] = a >> 2 | b >> 1;
        open[0] = all & ~(columns[0] | left[0] | right[0]);
        while (depth >= 0) {
            if (!open[depth]) {
                --depth;
                continue;
            }
            const uint place = open[depth] & -open[depth];
            open[depth] ^= place;
            if ((columns[depth] | place) == all) {
                ++count;
                continue;
            }
            columns[depth + 1] = columns[depth] | place;
            left[depth + 1] = (left[depth] | place) << 1 & all;
            right[depth + 1] = (right[depth] | place) >> 1;
            ++depth;
            open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
        }
    }
    solutions[second * get_global_size(0) + first] = count;
    if (count)
        atomic_add(total, count);
}
