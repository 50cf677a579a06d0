// The NDRange of a wave for kernels that run as functions inside another launch: a virtual work-group is a
// tile, and a tg_item is a work-item's position in it. tg_get_global_id(item, 0) returns for the wave what
// get_global_id(0) returns for a launch; lib/opencl_c/outline.hpp replaces the latter by the former.

typedef struct {
  uint dimensions;
  uint global_x, global_y, global_z; // work-items
  uint local_x, local_y, local_z;    // work-items of a group
  uint groups_x, groups_y, groups_z;
  ulong offset_x, offset_y, offset_z;
} tg_range;

#if TG_GATES // the wait of a work-group that is still to come (wave/progress.cl)
typedef struct {
  bool closed;
  volatile global uint* counters;
  uint arrivals;
  uint most_polls;
  global uint* report;
  uint3 place;
  local uint* gave_up;
} tg_gate;
#endif

typedef struct {
  tg_range range;
  uint side; // index among the tiles that a work-group runs concurrently
  uint group_x, group_y, group_z;
  uint lane_x, lane_y, lane_z; // local id
#if TG_GATES
  tg_gate gate;
#endif
} tg_item;

uint tg_lanes(tg_range range) { return range.local_x * range.local_y * range.local_z; }
uint tg_tiles(tg_range range) { return range.groups_x * range.groups_y * range.groups_z; }

// The barrier of the work-items of a tile.
#if TG_SIDE_BY_SIDE
// NVIDIA only: a named barrier per tile (0 is the work-group's); tiles within a warp use a warp barrier.
void tg_barrier(tg_item item, uint flags) {
  const uint lanes = tg_lanes(item.range);
  if (lanes > 32) {
    asm volatile("bar.sync %0, %1;" : : "r"(item.side + 1), "r"(lanes) : "memory");
  } else {
    const uint members = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u) << item.side * lanes % 32;
    asm volatile("bar.warp.sync %0;" : : "r"(members) : "memory");
  }
}
#else
#define tg_barrier(item, flags) barrier(flags)
#endif

// Ends the case of a kernel with barriers; the next tile reuses the local memory.
//
// PoCL (3.1) duplicates the code after a conditional barrier for each edge into code that other paths share.
// If both sides of a divergent branch lead there, each side gets a copy of the next barrier, and PoCL applies
// the first work-item's branch to all. So the barrier that ends a case must belong to this case alone, and
// LLVM must not merge the ends of two cases: it never merges volatile stores to different variables.
#if TG_CLOSED_CASES
#define TG_CASE_ENDS { barrier(CLK_LOCAL_MEM_FENCE); volatile uint tg_case_ended; tg_case_ended = 0; }
#else
#define TG_CASE_ENDS barrier(CLK_LOCAL_MEM_FENCE);
#endif

// Returns the item of `lane` in `tile`; both count with x first.
tg_item tg_place(tg_range range, uint tile, uint lane, uint side) {
  tg_item item = {.range = range, .side = side, .group_x = tile, .lane_x = lane};
  if (range.dimensions != 1) {
    item.group_x = tile % range.groups_x;
    item.group_y = tile / range.groups_x % range.groups_y;
    item.group_z = tile / range.groups_x / range.groups_y;
    item.lane_x = lane % range.local_x;
    item.lane_y = lane / range.local_x % range.local_y;
    item.lane_z = lane / range.local_x / range.local_y;
  }
  return item;
}

// Returns the work-items of a group along one dimension; the last group may have fewer. Where sizes are constants and
// groups are whole, the compiler sees a constant.
uint tg_extent(uint global_size, uint local_size, uint groups, uint group) {
  if (groups * local_size == global_size) {
    return local_size;
  }
  const uint left = global_size - group * local_size;
  return left < local_size ? left : local_size;
}

uint tg_get_work_dim(tg_item item) { return item.range.dimensions; }

#define TG_BY_DIMENSION(name, x, y, z, past) \
  size_t tg_get_##name(tg_item item, uint d) { return d == 0 ? x : d == 1 ? y : d == 2 ? z : past; }
TG_BY_DIMENSION(global_size, item.range.global_x, item.range.global_y, item.range.global_z, 1)
TG_BY_DIMENSION(num_groups, item.range.groups_x, item.range.groups_y, item.range.groups_z, 1)
TG_BY_DIMENSION(group_id, item.group_x, item.group_y, item.group_z, 0)
TG_BY_DIMENSION(local_id, item.lane_x, item.lane_y, item.lane_z, 0)
TG_BY_DIMENSION(enqueued_local_size, item.range.local_x, item.range.local_y, item.range.local_z, 1)
TG_BY_DIMENSION(global_offset, item.range.offset_x, item.range.offset_y, item.range.offset_z, 0)
#define TG_EXTENT(d) tg_extent(item.range.global_##d, item.range.local_##d, item.range.groups_##d, item.group_##d)
TG_BY_DIMENSION(local_size, TG_EXTENT(x), TG_EXTENT(y), TG_EXTENT(z), 1)

// False for work-items outside a ragged last group.
bool tg_inside(tg_item item) {
  return item.lane_x < TG_EXTENT(x) && item.lane_y < TG_EXTENT(y) && item.lane_z < TG_EXTENT(z);
}

size_t tg_get_global_id(tg_item item, uint d) {
  return d > 2 ? 0
               : tg_get_group_id(item, d) * tg_get_enqueued_local_size(item, d) + tg_get_local_id(item, d) +
                     tg_get_global_offset(item, d);
}
size_t tg_get_global_linear_id(tg_item item) {
  const size_t x = tg_get_global_id(item, 0) - item.range.offset_x;
  const size_t y = tg_get_global_id(item, 1) - item.range.offset_y;
  const size_t z = tg_get_global_id(item, 2) - item.range.offset_z;
  return (z * item.range.global_y + y) * item.range.global_x + x;
}
size_t tg_get_local_linear_id(tg_item item) {
  return (item.lane_z * tg_get_local_size(item, 1) + item.lane_y) * tg_get_local_size(item, 0) + item.lane_x;
}

// Reads a wave's sizes from a descriptor (words as in lib/engine/launch_tables.hpp).
tg_range tg_range_at(global const ulong* words) {
  const tg_range range = {(uint)words[0], (uint)words[1], (uint)words[2], (uint)words[3], (uint)words[4], (uint)words[5], (uint)words[6],
                          (uint)words[7], (uint)words[8], (uint)words[9], words[10], words[11], words[12]};
  return range;
}

// Returns the buffer of a descriptor's word, or null.
global void* tg_buffer(global uchar* arena, ulong offset) {
  return offset == ~0ul ? (global void*)0 : (global void*)((ulong)arena + offset);
}
