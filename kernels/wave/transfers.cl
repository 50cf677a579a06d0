// Waves that fill and copy. Each work-item moves eight words of eight bytes; consecutive work-items take
// consecutive words.

#define TG_ITEMS 64
#define TG_WORDS 8

// Fills bytes [begin, end) of a buffer; `pattern` is the content of an aligned word.
kernel void fill_bytes(global ulong* to, ulong begin, ulong end, ulong pattern) {
  ulong word = begin / 8 + get_group_id(0) * (TG_ITEMS * TG_WORDS) + get_local_id(0);
  for (uint i = 0; i < TG_WORDS; ++i) {
    const ulong first = word * 8;
    if (first >= begin && first + 8 <= end) {
      to[word] = pattern;
    } else {
      for (ulong at = max(first, begin); at < min(first + 8, end); ++at) {
        ((global uchar*)to)[at] = (uchar)(pattern >> (at - first) * 8);
      }
    }
    word += TG_ITEMS;
  }
}

// Copies `count` bytes, whole words at once if both offsets are aligned.
kernel void copy_bytes(global const uchar* from, global uchar* to, ulong from_begin, ulong to_begin, ulong count) {
  const bool aligned = (from_begin | to_begin) % 8 == 0;
  ulong at = (get_group_id(0) * (TG_ITEMS * TG_WORDS) + get_local_id(0)) * 8;
  for (uint i = 0; i < TG_WORDS; ++i) {
    if (aligned && at + 8 <= count) {
      *(global ulong*)(to + to_begin + at) = *(global const ulong*)(from + from_begin + at);
    } else {
      for (ulong byte = at; byte < min(at + 8, count); ++byte) {
        to[to_begin + byte] = from[from_begin + byte];
      }
    }
    at += TG_ITEMS * 8;
  }
}
