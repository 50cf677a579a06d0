// A work-group's local memory, and how totals of its work-items reach the counters of the step.

typedef struct {
  union {
    uint4 queues[TG_MAY_WORK_ALONE ? 2 * TG_ALONE_ROOM : 1]; // entries of a lone group's current and next wave; rows left by a pull
    tg_share share;
  } of;
  tg_position at;           // as computed by the leader
  uint sums[3 * TG_SUMS];   // of the step; of three waves in turn for a lone group
  uint gave_up;             // a wait timed out
  uint goes_on;             // the next wave is of the same kind
  uint entries;             // of the next wave's queue
  uint scratch[TG_SCRATCH]; // cc: roots of a sample; sssp: how many rows a pull has left
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

// Reads counters that are `line` words apart, in any address space; omits those that the algorithm does not
// count.
#define TG_READ_COUNTS(counts, counters, line)                                                         \
  do {                                                                                                 \
    (counts).entries = (counters)[TG_TAIL * (line)];                                                   \
    (counts).long_runs = (counters)[TG_LONG_TAIL * (line)];                                            \
    (counts).vertices = (counters)[TG_VERTICES * (line)];                                              \
    (counts).edges = TG_PARTS((counters) + TG_EDGES * (line));                                         \
    (counts).scanned = TG_PARTS((counters) + TG_SCANNED * (line));                                     \
    (counts).far = TG_PUTS_OFF ? (counters)[TG_FAR * (line)] : 0;                                      \
    (counts).nearest = TG_PUTS_OFF ? (counters)[TG_NEAREST * (line)] : 0;                              \
    (counts).least = TG_PUTS_OFF ? (counters)[TG_LEAST * (line)] : 0;                                  \
    (counts).change = TG_ITERATES ? TG_WIDE_SUM((counters) + TG_CHANGE * (line)) : 0;                  \
    (counts).idle = TG_ITERATES ? TG_WIDE_SUM((counters) + TG_IDLE * (line)) : 0;                      \
  } while (0)

tg_counts tg_counts_of(volatile global const uint* slot) {
  tg_counts counts;
  TG_READ_COUNTS(counts, slot, TG_COUNTER_LINE);
  return counts;
}

tg_counts tg_counts_of_sums(local const uint* sums) {
  tg_counts counts;
  TG_READ_COUNTS(counts, sums, TG_SUM_LINE);
  return counts;
}

// Adds to counters that are `line` words apart; skips zeros.
#define TG_ADD_COUNTS(counters, line, of)                                         \
  do {                                                                            \
    if ((of).vertices != 0) {                                                     \
      atomic_add(&(counters)[TG_VERTICES * (line)], (of).vertices);               \
      TG_ADD_PARTS((counters) + TG_EDGES * (line), (of).edges);                   \
    }                                                                             \
    if ((of).scanned != 0) {                                                      \
      TG_ADD_PARTS((counters) + TG_SCANNED * (line), (of).scanned);               \
    }                                                                             \
    if (TG_PUTS_OFF && (of).nearest != 0) {                                       \
      atomic_add(&(counters)[TG_FAR * (line)], (of).far);                         \
      atomic_max(&(counters)[TG_NEAREST * (line)], (of).nearest);                 \
    }                                                                             \
    if (TG_PUTS_OFF && (of).least != 0) {                                         \
      atomic_max(&(counters)[TG_LEAST * (line)], (of).least);                     \
    }                                                                             \
    if (TG_ITERATES) {                                                            \
      TG_ADD_WIDE((counters) + TG_CHANGE * (line), (of).change);                  \
      TG_ADD_WIDE((counters) + TG_IDLE * (line), (of).idle);                      \
    }                                                                             \
  } while (0)

// Adds a work-item's totals to its group's sums.
TG_OUTLINED void tg_sum_up(local uint* sums, tg_counts found) {
  TG_ADD_COUNTS(sums, TG_SUM_LINE, found);
}

// Adds a group's sums to the counters of the step and clears them. Called by one work-item.
TG_OUTLINED void tg_publish_sums(local uint* sums, volatile global uint* slot) {
  const tg_counts counts = tg_counts_of_sums(sums);
  TG_ADD_COUNTS(slot, TG_COUNTER_LINE, counts);
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
  if (TG_PUTS_OFF && TG_LANE_OF(job) == 0) {
    *tg_far_tail(job, at->far_turn + 2) = 0; // of the queue that was consumed one turn ago
  }
}
