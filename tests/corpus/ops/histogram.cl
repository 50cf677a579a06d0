// 64 bins: by group in local memory, then into the global ones with atomics.
#define BINS 64

__kernel void histogram(__global const uchar* data, uint n, __global uint* bins) {
  __local uint own[BINS];
  for (uint b = get_local_id(0); b < BINS; b += get_local_size(0)) own[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[data[i] >> 2]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = get_local_id(0); b < BINS; b += get_local_size(0))
    if (own[b]) atomic_add(bins + b, own[b]);
}

// The fullest bin, and a count by compare and exchange.
__kernel void tally(__global const uint* bins, volatile __global uint* most, volatile __global uint* odd_bins) {
  const uint b = get_global_id(0);
  if (b >= BINS) return;
  atomic_max(most, bins[b]);
  if (bins[b] & 1) {
    uint seen, wanted;
    do {
      seen = atomic_or(odd_bins, 0);
      wanted = seen + 1;
    } while (atomic_cmpxchg(odd_bins, seen, wanted) != seen);
  }
}
