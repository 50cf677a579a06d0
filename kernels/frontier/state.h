// State of a traversal in device memory, compiled by the kernels and by the host. 64-bit members come first,
// so that both use the same layout.
#ifndef TIDEGATE_KERNELS_FRONTIER_STATE_H
#define TIDEGATE_KERNELS_FRONTIER_STATE_H

// Most edges of a queue entry. A frontier holds a vertex once, so a queue has at most one entry per vertex
// plus one for every TG_CHUNK edges of the graph.
#define TG_CHUNK 64u

// Algorithms, in the order of their names in documents.
#define TG_BFS 0
#define TG_REACH 1
#define TG_SSSP 2
#define TG_CC 3
#define TG_PAGERANK 4
#define TG_OWN 5 // own.cl has more definitions

// Groups of several work-items pull along shares of the edges where a row may have many (shares.cl).
#define TG_PULLS_SHARES(algorithm, short_rows, group_size) \
  ((((algorithm) == TG_PAGERANK && !(short_rows)) || (algorithm) == TG_REACH) && (group_size) > 1)

// Kinds of steps. A wave may take several: its frontier may need conversion to the form that its topology
// reads, and some algorithms have a second part.
#define TG_STEP_START 0u     // initial state of all vertices
#define TG_STEP_SEED 1u      // the first frontier
#define TG_STEP_WAVE 2u
#define TG_STEP_TO_BITMAP 3u
#define TG_STEP_TO_QUEUE 4u
#define TG_STEP_REFILL 5u    // sssp: near vertices of the far queue
#define TG_STEP_APPLY 6u     // pagerank: received sums to ranks
#define TG_STEP_FINISH 7u    // bfs after fused waves: parents; cc: compress
#define TG_STEP_LINK 8u      // cc: one edge of each vertex
#define TG_STEP_COMPRESS 9u  // cc
#define TG_STEP_DONE 10u

// Actions of a launch. They share one kernel, because CPU drivers compile each kernel separately with all its
// code.
#define TG_ACTION_RUN 0u
#define TG_ACTION_POLL 1u // counts the groups that run concurrently; `limit_wave` polls to settle

#define TG_HAS_QUEUE 1u
#define TG_HAS_BITMAP 2u // and the next wave's bitmap is empty

// Position of a traversal. All work-groups hold the same one or read it.
typedef struct {
  tg_u64 frontier_edges;   // of the frontier of `wave`
  tg_u64 previous_edges;
  tg_u64 unexplored_edges;
  tg_u64 threshold;        // of the choice
  tg_u64 idle;             // pagerank: rank of vertices without edges, in units of 2^-60
  tg_u64 chosen_edges;     // frontier_edges when the topology was chosen
  tg_u64 scanned_edges;    // by the wave's steps so far
  tg_u64 change;           // pagerank: of all ranks, by the last wave that has run, in units of 2^-60
  tg_u64 pulled_change;    // pagerank: of the ranks that the wave's first step has computed
  tg_u64 pulled_idle;
  tg_u32 wave;             // current wave
  tg_u32 round;            // steps so far; selects the slot of counters
  tg_u32 step;
  tg_u32 executed;         // the step has run, and its counters are not absorbed yet
  tg_u32 vertices;         // in the frontier
  tg_u32 chosen_vertices;
  tg_u32 entries;          // of its queue
  tg_u32 long_runs;        // at the other end of the queue
  tg_u32 topology;         // of the wave
  tg_u32 previous_topology; // of the last executed wave; a choice may be repeated before its wave runs
  tg_u32 rule;
  tg_u32 has;              // TG_HAS_…
  tg_u32 dense_waves;      // consecutive ones
  tg_u32 mixed;            // bfs: a fused wave has run, so levels may need correction; cc: links were compressed
  tg_u32 near;             // sssp: process distances below this, as bits
  tg_u32 far;              // sssp: postponed vertices
  tg_u32 nearest;          // sssp: lower bound of the postponed distances
  tg_u32 far_turn;         // sssp: refills so far; selects the far queue
  tg_u32 arrivals;         // threshold of the last device barrier
  tg_u32 least;            // sssp: lower bound of the frontier's distances
} tg_position;

// Log row of a wave.
typedef struct {
  tg_u64 frontier_edges;
  tg_u64 previous_edges;
  tg_u64 unexplored_edges;
  tg_u64 scanned_edges;
  tg_u64 threshold;
  tg_u64 ended;       // by the device's clock, if it is read
  tg_u32 vertices;
  tg_u32 topology;
  tg_u32 previous_topology;
  tg_u32 rule;
  tg_u32 dense_waves; // consecutive ones before it
  tg_u32 alone;       // processed by one group
  tg_u32 wave;
  tg_u32 unused;
} tg_log_row;

// Constants of a traversal.
typedef struct {
  tg_policy policy;
  tg_u64 rank_tolerance;   // pagerank: limit of the total change, in units of 2^-60
  tg_u32 vertices;
  tg_u32 words;            // of a bitmap
  tg_u32 queue_room;       // entries of a queue
  tg_u32 source_count;
  tg_u32 full_word;        // reach: the bits of all sources
  tg_u32 delta;            // sssp: step of `near`, as bits
  tg_u32 constrained;      // only bitmaps: no queues, no transpose
  tg_u32 most_waves;       // pagerank: limit of iterations
  tg_u32 damping;          // pagerank, bits of a float
  tg_u32 has_seats;        // pagerank: rows name neighbours by their seats
} tg_setting;

// Counters of a step. Each has a cache line in global memory and two words in local memory.
#define TG_TAIL 0u     // of the next queue
#define TG_LONG_TAIL 1u // of its long runs
#define TG_VERTICES 2u // of the next frontier
#define TG_EDGES 3u    // out of the next frontier, as TG_PARTS
#define TG_SCANNED 4u  // as TG_PARTS
#define TG_FAR 5u
#define TG_NEAREST 6u  // complement of the least postponed distance
#define TG_LEAST 7u    // complement of the least distance in the frontier, if it is a bitmap
#define TG_CHANGE 8u   // pagerank
#define TG_IDLE 9u
#define TG_COUNTERS 10u

// A step adds to the slot of its round. After the barrier the groups read it while they add to the next slot,
// and the third slot is cleared meanwhile.
#define TG_COUNTER_LINE 32u
#define TG_SLOT_WORDS (TG_COUNTERS * TG_COUNTER_LINE)
#define TG_SUM_LINE 2u // in local memory
#define TG_SUMS (TG_COUNTERS * TG_SUM_LINE)

// Begin and end of group 0 in a launch, by the device's clock if it is read.
typedef struct {
  tg_u64 begin;
  tg_u64 end;
} tg_clock;

#define TG_MOST_BATCH 128u // launches that the host does not wait between

typedef struct {
  tg_position launch[2]; // start of this launch, and of the next one
  tg_u32 stuck;          // groups that gave up waiting
  tg_u32 giant;          // cc: the root of most vertices, by a sample
  tg_u32 unused[TG_COUNTER_LINE - 2];
  tg_position alone[2];  // position of the group that worked alone
  tg_u32 far_tails[3 * TG_COUNTER_LINE]; // tails of the far queues; three take turns, as for steps
  tg_u32 slots[3 * TG_SLOT_WORDS];
  tg_u64 first_wave;     // its begin by the device's clock, if that is read
  tg_clock clocks[TG_MOST_BATCH]; // of launches; they take turns
} tg_state;

// Numbers of one launch.
typedef struct {
  tg_u32 number;               // of the launches so far
  tg_u32 limit_wave;
  tg_u32 log_begin;            // the wave of the first row of the log
  tg_u32 most_polls;
  tg_u32 arrivals_per_barrier; // 0: the launch is one step
  tg_u32 action;               // TG_ACTION_…
} tg_launch;

// Actions of a launch of a rank (ranks.cl).
#define TG_PART_BEGIN 1u
#define TG_PART_SEED 2u
#define TG_PART_PUSH 3u
#define TG_PART_FILL 4u
#define TG_PART_ADOPT 5u
#define TG_PART_COUNT 6u
#define TG_PART_RANK 7u
#define TG_PART_APPLY 8u
#define TG_PART_FINISH 9u

// The inputs of a rank's launch (ranks.cl).
typedef struct {
  tg_u64 idle;  // pagerank: as in tg_position
  tg_u32 first; // of the rank's own vertices
  tg_u32 end;
  tg_u32 action;
  tg_u32 wave;
  tg_u32 nearest; // sssp: as in tg_position
  tg_u32 count;   // vertices that others have sent
} tg_part;

#define TG_HEARD 65536u // most vertices from other ranks that one launch merges

// Words of a vertex in a message between ranks: its number and its value; a level is that of the wave.
#define TG_SENT_WORDS(algorithm, value_words) ((algorithm) == TG_BFS ? 1u : 1u + (value_words))

// Returns the first word of a vertex in a message, which may have more than 2^32 words.
static inline tg_u64 tg_sent_at(tg_u32 index, tg_u32 words) { return (tg_u64)index * words; }

#endif
