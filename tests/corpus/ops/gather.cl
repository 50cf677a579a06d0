// Permutations, compaction by a scan within the group, and indirect access.
kernel void permute(global const uint* order, global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  if (i < n) out[order[i] % n] = in[i];
}

kernel void stride_order(global uint* order, uint n, uint stride) {
  const uint i = get_global_id(0);
  if (i < n) order[i] = (i * stride + 3u) % n; // a permutation when stride and n share no factor
}

kernel void compact(global const uint* in, global uint* out, global uint* kept, uint limit) {
  local uint flags[64], places[64];
  const uint l = get_local_id(0), value = in[get_global_id(0)];
  flags[l] = value < limit;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    uint sum = 0;
    for (uint i = 0; i < 64; ++i) {
      places[i] = sum;
      sum += flags[i];
    }
    kept[get_group_id(0)] = sum;
  }
  out[get_global_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (flags[l]) out[get_group_id(0) * 64 + places[l]] = value;
}
