// Finds every occurrence of four patterns in a text. A pattern has 4 to 15 bytes; patterns.txt pads each with spaces to a
// line of 16.
//
// Nearly all of a text is no occurrence, so the kernel is as fast as it reads. A work-item loads CHUNKS times 16 bytes, and
// compares the four bytes that start at each of them with the first four of each pattern. Only where those are equal does
// it look at the rest.
#ifndef CHUNKS
#define CHUNKS 4
#endif
#define PATTERNS 4
#define PADDED 16

// Without tidegate: the first 64 bytes of `found` are zeros and count its hits, and it has room for all of them.
#ifndef TIDEGATE_HIT
#define TIDEGATE_HIT(list, value) \
  ((list)[64 / sizeof(*(list)) + atomic_inc((volatile global uint*)(list))] = (value))
#endif

uint matches(uint four, uint4 starts) {
  return four == starts.x || four == starts.y || four == starts.z || four == starts.w;
}

// Returns whether a pattern may start in the first of two words of the text.
uint starts_in(uint word, uint next, uint4 starts) {
  return matches(word, starts) | matches(word >> 8 | next << 24, starts) | matches(word >> 16 | next << 16, starts) |
         matches(word >> 24 | next << 8, starts);
}

bool occurs(global const uchar* text, uint at, uint bytes, global const uchar* pattern) {
  uint length = PADDED;
  while (pattern[length - 1] <= ' ') {
    --length;
  }
  uint same = 0;
  while (same < length && at + same < bytes && text[at + same] == pattern[same]) {
    ++same;
  }
  return same == length;
}

kernel void search(global const uint4* text, uint bytes, global const uint4* patterns, global uint2* found) {
  const uint4 starts = (uint4)(patterns[0].x, patterns[1].x, patterns[2].x, patterns[3].x);
  const uint end = bytes / 16;
  const uint first = get_group_id(0) * CHUNKS * get_local_size(0) + get_local_id(0);
  uint4 chunk[CHUNKS]; // start all loads before the first use
  uint next[CHUNKS];
#pragma unroll
  for (uint i = 0; i < CHUNKS; ++i) {
    const uint at = first + i * get_local_size(0);
    chunk[i] = at < end ? text[at] : (uint4)(0);
    next[i] = at + 1 < end ? ((global const uint*)text)[4 * at + 4] : 0;
  }
  uint candidates = 0; // a bit for each chunk
#pragma unroll
  for (uint i = 0; i < CHUNKS; ++i) {
    const uint4 c = chunk[i];
    const uint any = starts_in(c.x, c.y, starts) | starts_in(c.y, c.z, starts) | starts_in(c.z, c.w, starts) |
                     starts_in(c.w, next[i], starts);
    candidates |= any << i;
  }
  for (uint i = 0; candidates >> i != 0; ++i) {
    const uint at = 16 * (first + i * get_local_size(0));
    for (uint byte = at; (candidates >> i & 1) != 0 && byte < at + 16; ++byte) {
      for (uint pattern = 0; pattern < PATTERNS; ++pattern) {
        if (occurs((global const uchar*)text, byte, bytes, (global const uchar*)(patterns + pattern))) {
          TIDEGATE_HIT(found, (uint2)(byte, pattern));
        }
      }
    }
  }
}
