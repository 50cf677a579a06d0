#define TILE 16
kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void sum(global float* x, local float* room) {
  local float tile[TILE + 2], other;
  tile[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) { other = tile[0] + room[0]; x[get_group_id(0)] = other; }
}
