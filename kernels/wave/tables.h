// What a launch works through, as it lies in device memory: stages one after another, in a stage the tiles of its waves in
// any order. Kernels read it and the host writes it; lib/engine/launch_tables.cpp compiles this file too, and holds its own
// structures against these.

typedef struct {
  uint first_entry; // in the entries of a phase
  uint entry_count;
  uint tiles;
  uint flags;
  uint first_wait;
  uint wait_count;
} tg_stage;

#define TG_EVERYBODY 1u // begins when all groups have ended everything before it
#define TG_ANNOUNCED 2u // some group waits for others to have ended it
#define TG_ARRIVES 4u   // its end is an arrival at the barrier: what follows may begin with everybody

typedef struct {
  uint code;       // which case of tg_run_tile
  uint descriptor; // first word of the wave's sizes and arguments
  uint first_tile; // in its stage
  uint tiles;
} tg_entry;

// Tiles [begin, end) of a stage wait for tiles [from_begin, from_end) of one before it, which has from_tiles in
// all: the nth for the nth of those with `halo` more on both sides, or each for all of them.
typedef struct {
  uint begin, end;
  uint from_begin, from_end;
  uint from_tiles;
  uint halo;
  uint steps; // back to that stage; an iteration has as many steps as stages that repeat
} tg_wait;

#define TG_WHOLE 0xffffffffu // as a halo: all of them
