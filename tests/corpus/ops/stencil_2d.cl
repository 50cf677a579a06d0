/* Heat flow in a plate: a 5-point stencil with a tile and its halo in local memory, for work-groups of one size
   only, and a plate that the groups do not divide. */
#define BLOCK 16
#define AT(row, column) ((row) * width + (column))

__attribute__((reqd_work_group_size(BLOCK, BLOCK, 1)))
__kernel void heat_step(__global const float *restrict old, __global float *restrict new_heat,
                        __global const float *restrict power, int width, int height, float rate)
{
    __local float tile[BLOCK + 2][BLOCK + 2];
    int x = get_global_id(0), y = get_global_id(1);
    int lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
    int cx = clamp(x, 0, width - 1), cy = clamp(y, 0, height - 1);

    tile[ly][lx] = old[AT(cy, cx)];
    if (lx == 1) tile[ly][0] = old[AT(cy, max(cx - 1, 0))];
    if (lx == BLOCK) tile[ly][BLOCK + 1] = old[AT(cy, min(cx + 1, width - 1))];
    if (ly == 1) tile[0][lx] = old[AT(max(cy - 1, 0), cx)];
    if (ly == BLOCK) tile[BLOCK + 1][lx] = old[AT(min(cy + 1, height - 1), cx)];
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x >= width || y >= height)
        return;
    float east = x + 1 < width ? tile[ly][lx + 1] : tile[ly][lx];
    float south = y + 1 < height ? tile[ly + 1][lx] : tile[ly][lx];
    float sum = tile[ly][lx - 1] + east + tile[ly - 1][lx] + south;
    new_heat[AT(y, x)] = tile[ly][lx] + rate * (sum - 4.0f * tile[ly][lx]) + power[AT(y, x)];
}
