// Names that a generated kernel might want for itself, and declarations in unusual dress.
typedef unsigned int u32;
typedef global float* floats;
struct wave { int tile; };
typedef struct wave wave;
enum op { item, queue_length };

static int tidegate_index(int group) { return group; }
#define args 3
#define run(x) (x)

kernel void dispatch(const global float worker[], floats output, u32 waves, private int tiles) {
  wave group = {.tile = (int)get_group_id(0)};
  int lane = get_local_id(0), item_count = (int)get_local_size(0);
  local float arena[args][16];
  arena[lane % args][lane] = worker[run(get_global_id(0))];
  barrier(CLK_LOCAL_MEM_FENCE);
  int op = (lane + 1) % item_count, done = tiles;
  {
    int lane = op;
    output[get_global_id(0)] = arena[lane % args][lane] + waves * tidegate_index(group.tile) + item + queue_length + done;
  }
}
