// A forest fire. A cell is bare ground (0), a tree (1), a burning tree (2 to 9) or ash (10).
#define TREE 1
#define ASH 10

uint mixed(uint a) {
  a = (a ^ (a >> 16)) * 0x7feb352du;
  a = (a ^ (a >> 15)) * 0x846ca68bu;
  return a ^ (a >> 16);
}

// Trees on two cells of three, of which the one in the middle burns.
kernel void plant(global uchar* forest, global uchar* next) {
  const uint width = get_global_size(0), height = get_global_size(1);
  const uint x = get_global_id(0), y = get_global_id(1);
  const uint at = y * width + x;
  const uchar cell = x == width / 2 && y == height / 2 ? TREE + 1 : mixed(at) % 3 != 0 ? TREE : 0;
  forest[at] = cell;
  next[at] = cell;
}

// One step: a tree next to a burning one starts to burn. A work-group's cells can change only if some cell of its or of
// a work-group around it has just changed, so a cell that changes sets the flags of those in `wake`. Work-groups
// without a flag do not run: for their cells `next` already has what `forest` has.
kernel void burn(global const uchar* forest, global uchar* next, global uchar* wake) {
  const int width = get_global_size(0), height = get_global_size(1);
  const int x = get_global_id(0), y = get_global_id(1);
  const int at = y * width + x;
  const uchar cell = forest[at];
  uchar then = cell;
  if (cell == TREE) {
    bool burns = false;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const uchar near = forest[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
        burns = burns || (near > TREE && near < ASH);
      }
    }
    then = burns ? TREE + 1 : TREE;
  } else if (cell > TREE && cell < ASH) {
    then = cell + 1;
  }
  next[at] = then;
  if (then != cell) {
    const int columns = get_num_groups(0), rows = get_num_groups(1);
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int column = clamp((int)get_group_id(0) + dx, 0, columns - 1);
        const int row = clamp((int)get_group_id(1) + dy, 0, rows - 1);
        wake[row * columns + column] = 1;
      }
    }
  }
}
