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

bool is_start(uint four, uint4 starts) {
  return (four == starts.x) | (four == starts.y) | (four == starts.z) | (four == starts.w);
}

// Returns whether a pattern may start in the first of two words of the text.
bool starts_in(uint word, uint next, uint4 starts) {
  const ulong both = (ulong)next << 32 | word;
  return is_start(word, starts) | is_start((uint)(both >> 8), starts) | is_start((uint)(both >> 16), starts) |
         is_start((uint)(both >> 24), starts);
}

bool starts_in_chunk(uint4 chunk, uint next, uint4 starts) {
  return starts_in(chunk.x, chunk.y, starts) | starts_in(chunk.y, chunk.z, starts) | starts_in(chunk.z, chunk.w, starts) |
         starts_in(chunk.w, next, starts);
}

bool occurs(global const uchar* text, uint at, uint bytes, global const uchar* pattern) {
  uint length = PADDED;
  while (pattern[length - 1] <= ' ') {
    --length;
  }
  bool same = at + length <= bytes;
  for (uint i = 0; same && i < length; ++i) {
    same = text[at + i] == pattern[i];
  }
  return same;
}

// Appends all occurrences that start in a chunk.
void search_chunk(global const uchar* text, uint chunk, uint bytes, global const uint4* patterns, global uint2* found) {
  for (uint at = 16 * chunk; at < 16 * chunk + 16 && at + 4 <= bytes; ++at) {
    const uint four = text[at] | text[at + 1] << 8 | text[at + 2] << 16 | (uint)text[at + 3] << 24;
    for (uint pattern = 0; pattern < PATTERNS; ++pattern) {
      if (four == patterns[pattern].x && occurs(text, at, bytes, (global const uchar*)&patterns[pattern])) {
        TIDEGATE_HIT(found, (uint2)(at, pattern));
      }
    }
  }
}

// The word of the text after a chunk.
uint after(global const uint4* text, uint chunk, uint chunks) {
  return chunk + 1 < chunks ? ((global const uint*)text)[4 * chunk + 4] : 0;
}

kernel void search(global const uint4* text, uint bytes, global const uint4* patterns, global uint2* found) {
  const uint4 starts = (uint4)(patterns[0].x, patterns[1].x, patterns[2].x, patterns[3].x);
  const uint chunks = bytes / 16;
  const uint first = get_group_id(0) * CHUNKS * get_local_size(0) + get_local_id(0);
  uint4 chunk[CHUNKS]; // start all loads before the first use
  uint next[CHUNKS];
#pragma unroll
  for (uint i = 0; i < CHUNKS; ++i) {
    const uint at = first + i * get_local_size(0);
    chunk[i] = at < chunks ? text[at] : (uint4)(0);
    next[i] = after(text, at, chunks);
  }
  bool any = false;
#pragma unroll
  for (uint i = 0; i < CHUNKS; ++i) {
    any |= starts_in_chunk(chunk[i], next[i], starts);
  }
  for (uint i = 0; any && i < CHUNKS; ++i) {
    const uint at = first + i * get_local_size(0);
    if (at < chunks && starts_in_chunk(text[at], after(text, at, chunks), starts)) {
      search_chunk((global const uchar*)text, at, bytes, patterns, found);
    }
  }
}
