// Sorting networks and a radix sort.
__kernel void bitonic(__global uint* keys, const uint j, const uint k) {
  const uint i = get_global_id(0);
  const uint partner = i ^ j;
  if (partner <= i) return;
  const bool ascending = (i & k) == 0;
  const uint a = keys[i], b = keys[partner];
  if ((a > b) == ascending) {
    keys[i] = b;
    keys[partner] = a;
  }
}

// Batcher's odd-even merge sort: the comparison of the step (p, k) that starts at this element, if there is one.
__kernel void odd_even_merge(__global int* keys, const int n, const int p, const int k) {
  const int i = get_global_id(0);
  const int j = i - k % p;
  if (j < 0 || (j / k) % 2 != 0 || i + k >= n) return;
  if (i / (2 * p) != (i + k) / (2 * p)) return;
  const int low = min(keys[i], keys[i + k]), high = max(keys[i], keys[i + k]);
  keys[i] = low;
  keys[i + k] = high;
}

// Four bits at a time: count per group, scan of the counts by digit and group in one work-item, stable scatter.
#define DIGITS 16
#define GROUP 64

__kernel void radix_count(__global const uint* keys, __global uint* counts, uint shift) {
  __local uint count[DIGITS];
  const uint l = get_local_id(0);
  if (l < DIGITS) count[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&count[(keys[get_global_id(0)] >> shift) % DIGITS]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < DIGITS) counts[l * get_num_groups(0) + get_group_id(0)] = count[l];
}

__kernel void radix_scan(__global uint* counts, uint groups) {
  uint sum = 0;
  for (uint i = 0; i < DIGITS * groups; ++i) {
    const uint count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

__kernel void radix_scatter(__global const uint* keys, __global const uint* starts, __global uint* sorted,
                            uint shift) {
  __local uchar digits[GROUP];
  const uint l = get_local_id(0), key = keys[get_global_id(0)], digit = (key >> shift) % DIGITS;
  digits[l] = digit;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = 0;
  for (uint i = 0; i < l; ++i) before += digits[i] == digit;
  sorted[starts[digit * get_num_groups(0) + get_group_id(0)] + before] = key;
}
