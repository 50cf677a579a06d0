// Helper functions, declared ahead, that ask for the place of the work-item and meet at barriers.
typedef struct { size_t global_index, local_index, group, groups; } Place;

Place my_place(void);
uint group_sum(local uint* scratch, uint value);
#define SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#define GID(d) get_global_id(d)

inline size_t flat(size_t x, size_t y, size_t width) { return y * width + x; }

uint group_sum(local uint* scratch, uint value) {
  const size_t l = my_place().local_index;
  scratch[l] = value;
  SYNC();
  uint sum = 0;
  for (size_t i = 0; i < get_local_size(0) * get_local_size(1); ++i) sum += scratch[i];
  SYNC(); // before anybody writes again
  return sum;
}

Place my_place() {
  Place p;
  p.global_index = flat(GID(0), GID(1), get_global_size(0));
  p.local_index = flat(get_local_id(0), get_local_id(1), get_local_size(0));
  p.group = flat(get_group_id(0), get_group_id(1), get_num_groups(0));
  p.groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
  return p;
}

kernel void ask(global const uint* in, global uint* out, local uint* scratch) {
  const Place p = my_place();
  uint sum = group_sum(scratch, in[p.global_index]);
  sum = group_sum(scratch, sum ^ in[p.global_index]);
  out[p.global_index] = sum * (uint)p.groups + (uint)p.group + get_work_dim();
}

// Every query for all three dimensions, also for those that the wave does not have.
kernel void queries(global uint* out) {
  uint hash = 17;
  for (uint d = 0; d < 3; ++d) {
    hash = 31 * hash + (uint)get_global_id(d);
    hash = 31 * hash + (uint)get_global_size(d);
    hash = 31 * hash + (uint)get_global_offset(d);
    hash = 31 * hash + (uint)get_local_id(d);
    hash = 31 * hash + (uint)get_local_size(d);
    hash = 31 * hash + (uint)get_group_id(d);
    hash = 31 * hash + (uint)get_num_groups(d);
  }
  const size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
               z = get_global_id(2) - get_global_offset(2);
  out[(z * get_global_size(1) + y) * get_global_size(0) + x] = hash;
}
