// Counts the flags of a wave with active tiles, and lists these tiles and the blocks that have some, in any order.
#include "frontier/policy.h"
#include "wave/active_state.h"

// Returns bit i for flag i of 8.
uint tg_eight_bytes(global const uchar* flags) {
  ulong word = *(global const ulong*)flags;
  word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return (uint)((word & 0x0101010101010101ul) * 0x0102040810204080ul >> 56); // gathers the lowest bits of the bytes
}

kernel void count_flags(global const uchar* flags, global uint* state, global uint* active, global uint* blocks, uint bytes,
                        uint tiles, uint mask, uint pressure_bps, uint sparse_bps, uint dense_bps, uint memory_bps, uint iteration) {
  const uint entry = TG_ACTIVE_ENTRY(iteration, mask);
  const uint before = TG_ACTIVE_ENTRY(iteration - 1, mask);
  const uint earlier = TG_ACTIVE_ENTRY(iteration - 2, mask);
  const uint next = TG_ACTIVE_ENTRY(iteration + 1, mask);
  const uint item = get_global_id(0);
  if (item == 0) {
    for (uint i = 0; i < TG_ACTIVE_WORDS; ++i) {
      state[next + i] = 0;
    }
    state[TG_ACTIVE_COUNTED] = iteration + 1;
    if (iteration != 0) {
      const uint previous = state[earlier + TG_ACTIVE_CHOICE];
      const uint count = TG_ACTIVE_COUNT(state[before + TG_ACTIVE_TILES], previous, tiles);
      *(global ulong*)(state + TG_ACTIVE_TOTAL) += count;
      if ((state[before + TG_ACTIVE_CHOICE] & TG_ACTIVE_CHOSEN) == 0) {
        const tg_densities of = {.pressure_bps = pressure_bps, .sparse_bps = sparse_bps, .dense_bps = dense_bps,
                                 .memory_bps = memory_bps};
        const tg_choice choice = tg_choice_of_tiles(of, count, tiles, previous & 0xff);
        state[before + TG_ACTIVE_CHOICE] = TG_ACTIVE_RECORD(choice, previous & 0xff);
      }
    }
  }
  const uint first = item * TG_ACTIVE_ITEM;
  if (first >= tiles) {
    return;
  }
  ulong set = 0; // bit i: flag first + i
  if (bytes == 1 && first + TG_ACTIVE_ITEM <= tiles) {
    for (uint i = 0; i < TG_ACTIVE_ITEM; i += 8) { // without conditions, so that all loads are asked for together
      set |= (ulong)tg_eight_bytes(flags + first + i) << i;
    }
  } else {
    for (uint i = 0; i < TG_ACTIVE_ITEM && first + i < tiles; ++i) {
      const uint flag = bytes == 1 ? flags[first + i] : ((global const uint*)flags)[first + i];
      set |= (flag != 0 ? 1ul : 0ul) << i;
    }
  }
  const uint active_tiles = popcount(set);
  const uint others = min(tiles - first, (uint)TG_ACTIVE_ITEM) - active_tiles;
  if (others != 0) {
    state[TG_ACTIVE_SOME] = iteration + 1; // all work-items that write it write the same
  }
  volatile global uint* count = &state[entry + TG_ACTIVE_TILES];
  if (!TG_ACTIVE_LISTS(state[before + TG_ACTIVE_CHOICE])) {
    if (others != 0) {
      atomic_sub(count, others);
    }
    return;
  }
  if (set == 0) {
    return;
  }
  uint at = atomic_add(count, active_tiles);
  uint some = 0; // bit i: block i has active tiles
  for (uint i = 0; i < TG_ACTIVE_ITEM >> TG_ACTIVE_BLOCK_BITS; ++i) {
    some |= ((set >> (i << TG_ACTIVE_BLOCK_BITS) & 0xff) != 0 ? 1u : 0u) << i;
  }
  for (ulong left = set; left != 0; left &= left - 1) {
    active[at++] = first + 63 - (uint)clz(left & (0ul - left));
  }
  at = atomic_add((volatile global uint*)&state[entry + TG_ACTIVE_BLOCKS], (uint)popcount(some));
  for (uint left = some; left != 0; left &= left - 1) {
    blocks[at++] = (first >> TG_ACTIVE_BLOCK_BITS) + 31 - clz(left & (0u - left));
  }
}
