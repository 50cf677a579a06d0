// Tables of a launch in device memory: the stages in order, and in each stage the tiles of its waves in any
// order. Kernels read them and the host writes them (lib/engine/launch_tables.hpp).

typedef struct {
  uint first_entry; // index into the entries of a phase
  uint entry_count;
  uint tiles;
  uint flags;
  uint first_wait;
  uint wait_count;
} tg_stage;

#define TG_EVERYBODY 1u // starts when all groups have completed all previous stages
#define TG_ANNOUNCED 2u // some group waits for others to complete it
#define TG_WAITS_INSIDE 8u // its kernels may wait by themselves (progress.cl)
#define TG_ARRIVES 4u   // its end is an arrival at the barrier; a TG_EVERYBODY stage may follow

typedef struct {
  uint code;       // case of tg_run_tile
  uint descriptor; // first word of the wave's sizes and arguments
  uint first_tile; // in its stage
  uint tiles;
} tg_entry;

// Tiles [begin, end) of a stage wait for tiles [from_begin, from_end) of an earlier one, which has from_tiles
// in total: the nth waits for the nth and `halo` more on both sides, or each waits for all.
typedef struct {
  uint begin, end;
  uint from_begin, from_end;
  uint from_tiles;
  uint halo;
  uint steps; // distance to that stage in steps; an iteration has a step per repeating stage
} tg_wait;

#define TG_WHOLE 0xffffffffu // as a halo: all tiles

// Host and device agree.
typedef char tg_stage_has_24_bytes[sizeof(tg_stage) == 24 ? 1 : -1];
typedef char tg_entry_has_16_bytes[sizeof(tg_entry) == 16 ? 1 : -1];
typedef char tg_wait_has_28_bytes[sizeof(tg_wait) == 28 ? 1 : -1];
