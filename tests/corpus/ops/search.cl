// Where a pattern occurs in a text: naively per place, and with Knuth-Morris-Pratt per chunk.
__kernel void search_naive(__global const uchar* text, uint n, __constant uchar* pattern, uint m,
                           __global uchar* found, __global uint* count) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  uint k = 0;
  if (i + m <= n)
    while (k < m && text[i + k] == pattern[k]) ++k;
  found[i] = k == m;
  if (k == m) atomic_inc(count);
}

#define LONGEST 8

__kernel void search_kmp(__global const uchar* text, uint n, __global const uchar* pattern, uint m, uint chunk,
                         __global uchar* found) {
  __local uchar p[LONGEST];
  __local int fallback[LONGEST + 1];
  if (get_local_id(0) == 0) {
    int k = -1;
    fallback[0] = -1;
    for (uint i = 0; i < m; ++i) {
      p[i] = pattern[i];
      while (k >= 0 && p[k] != p[i]) k = fallback[k];
      fallback[i + 1] = ++k;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = get_global_id(0) * chunk;
  const uint end = min(first + chunk + m - 1, n); // the last match may end in the next chunk
  int k = 0;
  for (uint i = first; i < end; ++i) {
    while (k >= 0 && (k == (int)m || p[k] != text[i])) k = fallback[k];
    ++k;
    if (i + 1 >= first + m) found[i + 1 - m] = k == (int)m;
  }
}
