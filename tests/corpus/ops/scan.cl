// Prefix sums: Hillis-Steele with two buffers in one group; Blelloch per block, with the blocks' sums scanned by the
// same kernel and added afterwards.
kernel void hillis_steele(global const int* in, global int* out, local int* a, local int* b) {
  const uint l = get_local_id(0);
  local int* from = a;
  local int* to = b;
  from[l] = in[get_global_id(0)];
  for (uint reach = 1; reach < get_local_size(0); reach *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[l] = l >= reach ? from[l] + from[l - reach] : from[l];
    local int* const previous = from;
    from = to;
    to = previous;
  }
  out[get_global_id(0)] = from[l];
}

#define PAIRS 64 // work-items of a group; each has two elements

kernel void scan_block(global const int* in, global int* out, global int* sums, int n) {
  local int tree[2 * PAIRS];
  const int l = get_local_id(0);
  const int first = 2 * PAIRS * get_group_id(0);
  tree[2 * l] = first + 2 * l < n ? in[first + 2 * l] : 0;
  tree[2 * l + 1] = first + 2 * l + 1 < n ? in[first + 2 * l + 1] : 0;
  int offset = 1;
  for (int d = PAIRS; d > 0; d >>= 1) { // up
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      tree[offset * (2 * l + 2) - 1] += tree[offset * (2 * l + 1) - 1];
    }
    offset *= 2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    sums[get_group_id(0)] = tree[2 * PAIRS - 1];
    tree[2 * PAIRS - 1] = 0;
  }
  for (int d = 1; d <= PAIRS; d *= 2) { // down
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      const int left = offset * (2 * l + 1) - 1, right = offset * (2 * l + 2) - 1;
      const int t = tree[left];
      tree[left] = tree[right];
      tree[right] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first + 2 * l < n) out[first + 2 * l] = tree[2 * l];
  if (first + 2 * l + 1 < n) out[first + 2 * l + 1] = tree[2 * l + 1];
}

kernel void add_sums(global int* out, global const int* sums, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    out[i] += sums[i / (2 * PAIRS)];
  }
}
