// What a launch works through: stages one after another, in a stage the tiles of its waves in any order.
// lib/compiler/launch_tables.hpp holds the same structures for the host.

typedef struct {
  uint first_entry; // in the entries of a phase
  uint entry_count;
  uint tiles;
  uint unused;
} tg_stage;

typedef struct {
  uint code;       // which case of tg_run_tile
  uint descriptor; // first word of the wave's sizes and arguments
  uint first_tile; // in its stage
  uint tiles;
} tg_entry;

// The buffer that a word of a descriptor stands for, where it may be none.
global void* tg_buffer(global uchar* arena, ulong offset) { return offset == ~0ul ? (global void*)0 : (global void*)(arena + offset); }
