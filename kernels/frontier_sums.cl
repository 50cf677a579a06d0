// What a work-group keeps in its local memory, and how what its work-items have found gets from there to the counters of the
// step.

typedef struct {
#if TG_MAY_WORK_ALONE
  uint4 queues[2 * TG_ALONE_ROOM]; // of a wave that it works alone, and of the next one
#endif
  tg_position at;         // as work-item 0 has made it out
  uint sums[3 * TG_SUMS]; // of the step; of three waves in turn where it works alone
  uint gave_up;           // somebody has waited too long
  uint goes_on;           // alone
} tg_group;

// Adds what a work-item has found to its group's sums; nothing is written for nothing.
void tg_sum_up(local uint* sums, tg_found found) {
  if (found.vertices != 0) {
    atomic_add(&sums[TG_VERTICES * TG_SUM_LINE], found.vertices);
    TG_ADD_PARTS(sums + TG_EDGES * TG_SUM_LINE, found.edges);
  }
  if (found.scanned != 0) {
    TG_ADD_PARTS(sums + TG_SCANNED * TG_SUM_LINE, found.scanned);
  }
#if TG_ALGORITHM == TG_SSSP
  if (found.nearest != 0) {
    atomic_add(&sums[TG_FAR * TG_SUM_LINE], found.far);
    atomic_max(&sums[TG_NEAREST * TG_SUM_LINE], found.nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  TG_ADD_WIDE(sums + TG_CHANGE * TG_SUM_LINE, found.change);
  TG_ADD_WIDE(sums + TG_IDLE * TG_SUM_LINE, found.idle);
#endif
}

// Adds a group's sums to the counters of the step, and clears them. One work-item's.
void tg_tell(local uint* sums, volatile global uint* slot) {
  const tg_counts counts = tg_counts_of_sums(sums);
  if (counts.vertices != 0) {
    atomic_add(&slot[TG_VERTICES * TG_COUNTER_LINE], counts.vertices);
    TG_ADD_PARTS(slot + TG_EDGES * TG_COUNTER_LINE, counts.edges);
  }
  if (counts.scanned != 0) {
    TG_ADD_PARTS(slot + TG_SCANNED * TG_COUNTER_LINE, counts.scanned);
  }
#if TG_ALGORITHM == TG_SSSP
  if (counts.nearest != 0xffffffffu) {
    atomic_add(&slot[TG_FAR * TG_COUNTER_LINE], counts.far);
    atomic_max(&slot[TG_NEAREST * TG_COUNTER_LINE], ~counts.nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  TG_ADD_WIDE(slot + TG_CHANGE * TG_COUNTER_LINE, counts.change);
  TG_ADD_WIDE(slot + TG_IDLE * TG_COUNTER_LINE, counts.idle);
#endif
  for (uint i = 0; i < TG_SUMS; ++i) {
    sums[i] = 0;
  }
}
