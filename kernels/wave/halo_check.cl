// Checks that accesses stay within the halos that a program states. The user's kernels report each access
// through tg_touch() in their subscripts. A wave records, for every element, the range of tiles that touched
// it; later waves check that those tiles are near enough.
//
//   a row (lib/engine/halo_check.cpp): { argument, flags, shadow, elements, unit, halo x, halo y, halo z }
//   shadow, for each element: tiles that wrote it, then tiles that touched it at all, six words each:
//   { ~lowest x, ~lowest y, ~lowest z, highest x + 1, highest y + 1, highest z + 1 }, 0 where there was none

#define TG_READS 1u
#define TG_WRITES 2u
#define TG_LOOKS 1u     // flags: this wave checks; otherwise it records
#define TG_BY_NUMBER 2u // tiles are counted with x first
#define TG_ROW_WORDS 8
#define TG_SHADOW_WORDS 12
#define TG_VERDICT_WORDS 8 // per tile: found, row, dimension, far tile, subscript (two words), kind, a bit for each row
                           // with recorded accesses (bit 31 for all from row 31 on)

uint tg_number(void) {
  return (uint)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
}

uint tg_place(uint d, ulong flags) { return (flags & TG_BY_NUMBER) == 0 ? (uint)get_group_id(d) : d == 0 ? tg_number() : 0; }

void tg_keep(global uint* seen, ulong flags) {
  for (uint d = 0; d < 3; ++d) {
    atomic_max(seen + d, ~tg_place(d, flags));
    atomic_max(seen + 3 + d, tg_place(d, flags) + 1);
  }
}

void tg_look(global const uint* seen, global const ulong* row, uint index, uint kind, long at, global uint* verdict) {
  if (seen[3] == 0) {
    return;
  }
  global uint* const own = verdict + (size_t)tg_number() * TG_VERDICT_WORDS;
  const uint bit = 1u << min(index, 31u);
  if ((own[7] & bit) == 0) {
    atomic_or(own + 7, bit);
  }
  for (uint d = 0; d < 3; ++d) {
    const ulong here = tg_place(d, row[1]);
    const ulong lowest = ~seen[d];
    const ulong highest = seen[3 + d] - 1;
    const bool below = lowest + row[5 + d] < here;
    if ((below || highest > here + row[5 + d]) && atomic_cmpxchg(own, 0u, 1u) == 0) {
      own[1] = index;
      own[2] = d;
      own[3] = (uint)(below ? lowest : highest);
      own[4] = (uint)at;
      own[5] = (uint)(at >> 32);
      own[6] = kind;
    }
  }
}

// A pointer into a buffer: its argument of the kernel and the checks to make.
typedef struct {
  global const ulong* rows;
  uint count;
  global uint* shadow;
  global uint* verdict;
  uint argument;
} tg_watch;

tg_watch tg_watching(global const ulong* rows, uint count, global uint* shadow, global uint* verdict, uint argument) {
  tg_watch watch = {rows, count, shadow, verdict, argument};
  return watch;
}

// For pointers into other memory.
tg_watch tg_unwatched(void) { return tg_watching(0, 0, 0, 0, 0); }

// Reports an access and returns the subscript; `bytes` is the element size.
long tg_touch(tg_watch watch, uint kind, uint bytes, long at) {
  for (uint i = 0; i < watch.count; ++i) {
    global const ulong* const row = watch.rows + i * TG_ROW_WORDS;
    const uint parts = row[0] == watch.argument ? bytes / (uint)row[4] : 0;
    for (uint part = 0; part < parts; ++part) {
      const long element = at * parts + part;
      if (element < 0 || element >= (long)row[3]) {
        continue; // --check bounds reports these
      }
      global uint* const seen = watch.shadow + row[2] + element * TG_SHADOW_WORDS;
      if ((row[1] & TG_LOOKS) != 0) { // a read checks against writes, a write against all accesses
        tg_look(kind & TG_WRITES ? seen + 6 : seen, row, i, kind, at, watch.verdict);
        continue;
      }
      tg_keep(seen + 6, row[1]);
      if (kind & TG_WRITES) {
        tg_keep(seen, row[1]);
      }
    }
  }
  return at;
}
