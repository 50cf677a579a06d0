// Words of the state of a wave with active tiles, shared by kernels and the host: a header, then entries of iterations,
// which take turns.
#ifndef TG_ACTIVE_ENTRIES
#define TG_ACTIVE_ENTRIES 256 // the last 255 iterations and the next one

#define TG_ACTIVE_TOTAL 0 // active tiles of all iterations but the last; two words, the low one first
#define TG_ACTIVE_HEADER 4

// Words of an entry.
enum {
  TG_ACTIVE_TILES,  // active ones
  TG_ACTIVE_BLOCKS, // blocks with active tiles, if there are lists
  TG_ACTIVE_CHOICE, // topology | rule << 8 | previous topology << 16 | 1 << 24; 0 where the device chose none
  TG_ACTIVE_WORDS = 4
};

#define TG_ACTIVE_ENTRY(iteration) (TG_ACTIVE_HEADER + (iteration) % TG_ACTIVE_ENTRIES * TG_ACTIVE_WORDS)
#define TG_ACTIVE_SIZE (TG_ACTIVE_HEADER + TG_ACTIVE_ENTRIES * TG_ACTIVE_WORDS)
#define TG_ACTIVE_BLOCK_BITS 3 // a block has 8 consecutive tiles
#define TG_ACTIVE_ITEM 64      // flags that a work-item counts

// There are lists unless the iteration before walked all tiles: so dense waves cost only the count, and the first one
// after them that could use a list walks all tiles once more.
#define TG_ACTIVE_LISTS(previous) ((previous) < 3) // TG_DENSE
#endif
