// Lists of hits: bounded lists that any lane of any wave appends to.
//
//   header, 64 bytes           hits                        one more
//   count, capacity, more      h0 h1 h2 … h(capacity - 1)  hits without room go here
//
// TIDEGATE_HIT(list, value) claims the next place with one atomic addition. The place after the last one takes what has
// no room, so that a hit needs no branch, and evaluates its value once. Counting goes on when the list is full: the
// host reads how many hits there were. It is exact for any number: a claim from 2^31 on moves to a counter of 64 bits,
// so the count never wraps while fewer than 2^31 work-items are under way.
//
// A claim is made for each hit, not for each work-group. A kernel may call TIDEGATE_HIT in divergent control flow, in
// helper functions and after some work-items have returned, where OpenCL C has no operation of a whole work-group; and
// it may run alone, where nothing could empty a list in local memory after it. On NVIDIA the lanes of a warp that append
// to one list at the same time make one claim.
#include "wave/hits_state.h"

#define TIDEGATE_HITS 1
#define TIDEGATE_HIT(list, value) ((list)[tg_hit_place((volatile global uint*)(list), sizeof(*(list)))] = (value))

// Claims places for `hits` hits; returns the number of hits before them: TG_HITS_LIMIT or more if they have no room in
// any list.
uint tg_hit_claim_many(volatile global uint* list, uint hits) {
  const uint at = atomic_add(&list[TG_HITS_COUNT], hits);
  if (at >= TG_HITS_LIMIT) {
    atomic_sub(&list[TG_HITS_COUNT], hits);
    const uint more = atomic_add(&list[TG_HITS_MORE], hits);
    if (more + hits < more) {
      atomic_inc(&list[TG_HITS_MORE + 1]);
    }
  }
  return at;
}

uint tg_hit_claim(volatile global uint* list) {
#ifdef __NV_CL_C_VERSION
  uint asking, lane, low, high;
  asm volatile("activemask.b32 %0;" : "=r"(asking));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const uint first = 31 - clz(asking & (0u - asking));
  const uint own_low = (uint)(ulong)list;
  const uint own_high = (uint)((ulong)list >> 32);
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(low) : "r"(own_low), "r"(first), "r"(asking));
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(high) : "r"(own_high), "r"(first), "r"(asking));
  const uint same = low == own_low && high == own_high; // as the list of the first lane
  uint together;
  asm volatile("{ .reg .pred same; setp.ne.u32 same, %1, 0; vote.sync.ballot.b32 %0, same, %2; }"
               : "=r"(together)
               : "r"(same), "r"(asking));
  if (!same) {
    return tg_hit_claim_many(list, 1);
  }
  uint begin = 0;
  if (lane == first) {
    begin = tg_hit_claim_many(list, popcount(together));
  }
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(begin) : "r"(begin), "r"(first), "r"(together));
  return begin + popcount(together & ((1u << lane) - 1));
#else
  return tg_hit_claim_many(list, 1);
#endif
}

// Returns the index of this lane's hit in a list with elements of `bytes`.
uint tg_hit_place(volatile global uint* list, uint bytes) {
  const uint header = (TG_HITS_BYTES + bytes - 1) / bytes;
  return header + min(tg_hit_claim(list), ((global const uint*)list)[TG_HITS_CAPACITY]);
}
