/*
 * Conway's game of life on a torus.
 */
#define CELL(x, y) world[(((y) + height) % height) * width + ((x) + width) % width]
__kernel
void
life_step(__global const uchar * world,
          __global uchar * next,
          const int width, const int height)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int around = CELL(x - 1, y - 1) + CELL(x, y - 1) + CELL(x + 1, y - 1)
                     + CELL(x - 1, y    ) +                  CELL(x + 1, y    )
                     + CELL(x - 1, y + 1) + CELL(x, y + 1) + CELL(x + 1, y + 1);
    next[y * width + x] = around == 3 || (around == 2 && CELL(x, y));
}

__kernel void count_alive(__global const uchar *world, __global uint *alive)
{
    if (world[get_global_id(0)]) atomic_inc(alive);
}
