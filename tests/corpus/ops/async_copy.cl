// Copies by the whole group, waited for with events.
__kernel void staged(__global const int* in, __global int* out, __local int* stage) {
  const int n = get_local_size(0);
  const int first = get_group_id(0) * n;
  __local int result[64];
  event_t loaded = async_work_group_copy(stage, in + first, n, 0);
  wait_group_events(1, &loaded);
  const int l = get_local_id(0);
  result[l] = stage[n - 1 - l] * 2 + stage[(l + 1) % n];
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t stored = async_work_group_copy(out + first, result, n, 0);
  wait_group_events(1, &stored);
}
