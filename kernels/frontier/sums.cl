// A work-group's local memory, and how totals of its work-items reach the counters of the step.

typedef struct {
#if TG_MAY_WORK_ALONE || TG_MAY_PULL_SHARES
  union {
#if TG_MAY_WORK_ALONE
    uint4 queues[2 * TG_ALONE_ROOM]; // entries of a lone group's current and next wave
#endif
#if TG_MAY_PULL_SHARES
    tg_share share;
#endif
  } of;
#endif
#if TG_ALGORITHM == TG_CC
  uint roots[TG_SAMPLES];
#endif
  tg_position at;         // as computed by the leader
  uint sums[3 * TG_SUMS]; // of the step; of three waves in turn for a lone group
  uint gave_up;           // a wait timed out
  uint goes_on;           // the next wave is of the same kind
  uint entries;           // of the next wave's queue
#if TG_MAY_LEAVE_ROWS
  uint left_rows; // of a pull, in `queues`
#endif
} tg_group;

// The leader waits for other groups and absorbs. It is the last work-item, because that seldom has edges.
TG_INLINE bool tg_is_leader(void) { return TG_LANE == TG_GROUP_SIZE - 1; }

// PoCL compiles the code after a barrier once for each barrier that may be next, and once more for the first work-item, which decides
// which one is. On a CPU this barrier, where nothing has been decided yet, makes one copy of the code that follows.
#if TG_EAGER
#define TG_ONE_COPY()
#else
#define TG_ONE_COPY() TG_BARRIER(CLK_LOCAL_MEM_FENCE)
#endif

// Parameters of a group at the device barrier.
typedef struct {
  volatile global tg_word* counters;
  global uint* report;
  uint most_polls;
  uint arrivals; // per round
} tg_meeting;

// Called by the leader after a local barrier.
TG_INLINE void tg_meet(local tg_group* group, tg_meeting meeting) {
  const uint wanted = group->at.arrivals + meeting.arrivals;
  const uint3 place = (uint3)(group->at.wave, group->at.step, group->at.topology);
  group->at.arrivals = wanted;
  if (!tg_arrive_and_await(meeting.counters, wanted, meeting.most_polls, meeting.report, place)) {
    group->gave_up = 1;
  }
}

// Adds a work-item's totals to its group's sums; skips zeros.
TG_OUTLINED void tg_sum_up(local uint* sums, tg_found found) {
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
  if (found.least != 0) {
    atomic_max(&sums[TG_LEAST * TG_SUM_LINE], found.least);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  TG_ADD_WIDE(sums + TG_CHANGE * TG_SUM_LINE, found.change);
  TG_ADD_WIDE(sums + TG_IDLE * TG_SUM_LINE, found.idle);
#endif
}

// Adds a group's sums to the counters of the step and clears them. Called by one work-item.
TG_OUTLINED void tg_publish_sums(local uint* sums, volatile global uint* slot) {
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
  if (counts.least != 0xffffffffu) {
    atomic_max(&slot[TG_LEAST * TG_COUNTER_LINE], ~counts.least);
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

// Clears the counters of the next step, by one group; they were last read before the last barrier.
TG_OUTLINED void tg_clear_counters(const tg_job* job, const tg_position* at) {
  volatile global uint* const next = tg_slot(job, at->round + 1);
  for (uint i = TG_LANE_OF(job); i < TG_SLOT_WORDS; i += TG_GROUP_SIZE) {
    next[i] = 0;
  }
#if TG_ALGORITHM == TG_SSSP
  if (TG_LANE_OF(job) == 0) {
    *tg_far_tail(job, at->far_turn + 2) = 0; // of the queue that was consumed one turn ago
  }
#endif
}
