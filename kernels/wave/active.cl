// A persistent launch walks the tiles of a wave with active tiles as the rules of the launch policy say for the count
// of its flags, with hysteresis:
//
//   empty            nothing
//   sparse_frontier  the list of active tiles
//   hybrid_frontier  the list of blocks that have some; the kernel tests the flags of their tiles
//   others           all tiles; the kernel tests their flags
//
// Each group makes the choice itself, from counts that do not change while the wave runs. Group 0 records it; where
// tiles are claimed any group does, as each may be the first to go on.
#include "frontier/policy.h"
#include "wave/active_state.h"

typedef struct {
  global const uint* entries; // 0: all tiles
  uint bits;                  // an entry has 1 << bits consecutive tiles
  uint places;                // tiles of all entries
  uint packs;                 // of places
  bool all_active;            // the tiles of all entries, so that their flags need no test
} tg_list;

// Returns the tile at a place of the walk; 0xffffffff past its end.
uint tg_listed(tg_list list, uint place) {
  if (list.entries == 0) {
    return place;
  }
  return place >= list.places ? 0xffffffffu
                              : (list.entries[place >> list.bits] << list.bits) + (place & ((1u << list.bits) - 1));
}

// The walk of a stage, of which generated macros have the memory, the tiles and how many are a pack.
tg_list tg_list_of(uint stage, uint iteration, global uchar* arena, bool records) {
  const uint tiles = TG_LIST_TILES(stage);
  tg_list list = {0, 0, tiles, 0, false};
  if (!TG_HAS_LIST(stage)) {
    return list;
  }
  global uint* const state = (global uint*)(arena + TG_LIST_STATE(stage));
  const uint entry = TG_ACTIVE_ENTRY(iteration, TG_ACTIVE_MASK);
  const uint before = state[TG_ACTIVE_ENTRY(iteration - 1, TG_ACTIVE_MASK) + TG_ACTIVE_CHOICE];
  const uint previous = before & 0xff;
  const uint count = TG_ACTIVE_COUNT(state[entry + TG_ACTIVE_TILES], before, tiles);
  const tg_densities of = {.pressure_bps = TG_ACTIVE_PRESSURE_BPS, .sparse_bps = TG_ACTIVE_SPARSE_BPS,
                           .dense_bps = TG_ACTIVE_DENSE_BPS, .memory_bps = TG_ACTIVE_MEMORY_BPS};
  const tg_choice choice = tg_choice_of_tiles(of, count, tiles, previous);
  if (records) {
    state[entry + TG_ACTIVE_CHOICE] = TG_ACTIVE_RECORD(choice, previous) | TG_ACTIVE_CHOSEN;
  }
  list.all_active = count == tiles;
  if (choice.topology == TG_EMPTY || (choice.topology == TG_SPARSE && TG_ACTIVE_LISTS(before))) {
    list.entries = (global const uint*)(arena + TG_LIST_ACTIVE(stage));
    list.places = count;
    list.all_active = true;
  } else if (choice.topology == TG_HYBRID && TG_ACTIVE_LISTS(before)) {
    list.entries = (global const uint*)(arena + TG_LIST_BLOCKS(stage));
    list.bits = TG_ACTIVE_BLOCK_BITS;
    list.places = state[entry + TG_ACTIVE_BLOCKS] << TG_ACTIVE_BLOCK_BITS;
  }
  list.packs = (list.places + TG_LIST_PACK(stage) - 1) / TG_LIST_PACK(stage);
  return list;
}
