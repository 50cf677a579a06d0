// Words at the start of a list of hits, shared by kernels/wave/hits.cl and the host.
#ifndef TG_HITS_LIMIT
#define TG_HITS_LIMIT 0x80000000u // capacities are lower

enum {
  TG_HITS_COUNT,     // hits, those without room included; those claimed from TG_HITS_LIMIT on move to TG_HITS_MORE
  TG_HITS_CAPACITY,  // hits that have room
  TG_HITS_MORE,      // two words, the low one first
  TG_HITS_BYTES = 64 // of this header
};
#endif

