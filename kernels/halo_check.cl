// Whether accesses stay inside the halos that a program states. Kernels of the user's whose subscripts pass through
// tg_touch() tell of each; the earlier wave of a dependency keeps, for every element, between which tiles those
// lie that touched it, and the later one looks whether they are near enough.
//
//   a row (lib/run/halo_check.cpp): { argument, later, shadow, elements, unit, halo x, halo y, halo z }
//   shadow, for each element: tiles that wrote it, then tiles that touched it at all, six words each:
//   { ~lowest x, ~lowest y, ~lowest z, highest x + 1, highest y + 1, highest z + 1 }, 0 where there was none

#define TG_READS 1u
#define TG_WRITES 2u
#define TG_ROW_WORDS 8
#define TG_SHADOW_WORDS 12
#define TG_VERDICT_WORDS 8 // by tile: found, row, dimension, the far tile, subscript (two words), kind

void tg_keep(global uint* seen) {
  for (uint d = 0; d < 3; ++d) {
    atomic_max(seen + d, ~(uint)get_group_id(d));
    atomic_max(seen + 3 + d, (uint)get_group_id(d) + 1);
  }
}

void tg_look(global const uint* seen, global const ulong* row, uint index, uint kind, long at, global uint* verdict) {
  const size_t tile = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
  global uint* const told = verdict + tile * TG_VERDICT_WORDS;
  for (uint d = 0; d < 3 && seen[3] != 0; ++d) {
    const ulong lowest = ~seen[d];
    const ulong highest = seen[3 + d] - 1;
    const bool below = lowest + row[5 + d] < get_group_id(d);
    if ((below || highest > get_group_id(d) + row[5 + d]) && atomic_cmpxchg(told, 0u, 1u) == 0) {
      told[1] = index;
      told[2] = d;
      told[3] = (uint)(below ? lowest : highest);
      told[4] = (uint)at;
      told[5] = (uint)(at >> 32);
      told[6] = kind;
    }
  }
}

// The subscript as it was; `bytes` has the element.
long tg_touch(global const ulong* rows, uint count, global uint* shadow, global uint* verdict, uint argument, uint kind,
              uint bytes, long at) {
  for (uint i = 0; i < count; ++i) {
    global const ulong* const row = rows + i * TG_ROW_WORDS;
    const uint parts = row[0] == argument ? bytes / (uint)row[4] : 0;
    for (uint part = 0; part < parts; ++part) {
      const long element = at * parts + part;
      if (element < 0 || element >= (long)row[3]) {
        continue; // --check-bounds tells of those
      }
      global uint* const seen = shadow + row[2] + element * TG_SHADOW_WORDS;
      if (row[1] != 0) { // who reads meets those that wrote, who writes meets all
        tg_look(kind & TG_WRITES ? seen + 6 : seen, row, i, kind, at, verdict);
        continue;
      }
      tg_keep(seen + 6);
      if (kind & TG_WRITES) {
        tg_keep(seen);
      }
    }
  }
  return at;
}
