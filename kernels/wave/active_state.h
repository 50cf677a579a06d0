// Words of the state of a wave with active tiles, shared by kernels and the host: a header, then entries of iterations,
// which take turns. `mask` is the number of entries, a power of two, minus 1.
#ifndef TG_ACTIVE_TOTAL
#define TG_ACTIVE_LEAST_ENTRIES 256
#define TG_ACTIVE_MOST_ENTRIES 65536 // the one before an iteration, which stays unchanged while it runs, and the next one

#define TG_ACTIVE_TOTAL 0 // active tiles of all iterations but the last; two words, the low one first
#define TG_ACTIVE_SOME 2  // 1 + the last iteration with tiles that were not active
#define TG_ACTIVE_COUNTED 3 // iterations that were counted
#define TG_ACTIVE_HEADER 4

// Words of an entry.
enum {
  TG_ACTIVE_TILES,  // active ones if there are lists; otherwise 0 minus the others, as then nothing is added if all are
  TG_ACTIVE_BLOCKS, // blocks with active tiles, if there are lists
  TG_ACTIVE_CHOICE, // topology | rule << 8 | previous topology << 16; | TG_ACTIVE_CHOSEN if the wave was walked by it,
                    // otherwise written by the count of the next iteration
  TG_ACTIVE_WORDS = 4
};

// The entry of the iteration before the first one comes first.
#define TG_ACTIVE_ENTRY(iteration, mask) (TG_ACTIVE_HEADER + (((iteration) + 1) & (mask)) * TG_ACTIVE_WORDS)
#define TG_ACTIVE_BLOCK_BITS 3 // a block has 8 consecutive tiles
#define TG_ACTIVE_ITEM 64      // flags that a work-item counts

// There are lists if the iteration before was walked by the device's choice, and not all over: so dense waves cost only
// the count, and the first one after them that could use a list walks all tiles once more. `choice` is that of the
// iteration before; the host states one before the first iteration.
#define TG_ACTIVE_CHOSEN (1u << 24)
#define TG_ACTIVE_LISTS(choice) (((choice) & TG_ACTIVE_CHOSEN) != 0 && ((choice) & 0xff) < 3) // TG_DENSE
#define TG_ACTIVE_RECORD(choice, previous) ((choice).topology | (choice).rule << 8 | (previous) << 16)

// The active tiles of an iteration; `choice` is that of the iteration before.
#define TG_ACTIVE_COUNT(word, choice, tiles) ((word) + (TG_ACTIVE_LISTS(choice) ? 0 : (tiles)))
#endif
