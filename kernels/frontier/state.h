// What a traversal keeps from step to step, as it lies in device memory: read by the kernels and by the host,
// which compile this same file. 64-bit members come first, so that both lay the structs out alike.
#ifndef TIDEGATE_KERNELS_FRONTIER_STATE_H
#define TIDEGATE_KERNELS_FRONTIER_STATE_H

// Edges of an entry of a queue, at most. A frontier holds a vertex once, so a queue never has more entries than vertices and
// one for every TG_CHUNK edges of the graph.
#define TG_CHUNK 64u

// What a step does. A wave may take more than one: its frontier may have to be turned into the form that its
// topology reads, and some algorithms have a second part.
#define TG_STEP_START 0u     // what everything holds at first
#define TG_STEP_SEED 1u      // the first frontier
#define TG_STEP_WAVE 2u
#define TG_STEP_TO_BITMAP 3u
#define TG_STEP_TO_QUEUE 4u
#define TG_STEP_REFILL 5u    // sssp: the next ones of those put off
#define TG_STEP_APPLY 6u     // pagerank: from what was received to ranks
#define TG_STEP_FINISH 7u    // bfs after fused waves: parents; cc: compress
#define TG_STEP_DONE 8u

#define TG_HAS_QUEUE 1u
#define TG_HAS_BITMAP 2u // and the next wave's is empty

// Where a traversal is. All work-groups hold the same one, or read it.
typedef struct {
  tg_u64 frontier_edges;   // of the frontier of `wave`
  tg_u64 previous_edges;
  tg_u64 unexplored_edges;
  tg_u64 threshold;        // that the choice was made by
  tg_u64 idle;             // pagerank: rank of vertices without edges, in units of 2^-60
  tg_u64 chosen_edges;     // frontier_edges when the topology was chosen
  tg_u64 scanned_edges;    // by the wave's steps so far
  tg_u64 change;           // pagerank: of all ranks, by the last wave that has run, in units of 2^-60
  tg_u32 wave;             // that is being worked on
  tg_u32 round;            // steps so far: which counters are whose
  tg_u32 step;
  tg_u32 executed;         // the step has run, and its counters wait to be looked at
  tg_u32 vertices;         // in the frontier
  tg_u32 chosen_vertices;
  tg_u32 entries;          // of its queue
  tg_u32 long_runs;        // at the other end of it
  tg_u32 topology;         // of the wave
  tg_u32 previous_topology; // of the last wave that has run: a choice may be made again before its wave does
  tg_u32 rule;
  tg_u32 has;              // TG_HAS_…
  tg_u32 dense_waves;      // in a row
  tg_u32 mixed;            // a fused wave has run: levels may have to be put right
  tg_u32 near;             // sssp: distances below this are worked on, as bits
  tg_u32 far;              // sssp: vertices put off
  tg_u32 nearest;          // sssp: no distance put off is less
  tg_u32 far_turn;         // sssp: refills so far: which far queue is whose
  tg_u32 arrivals;         // wanted of the next device barrier, less one round's
  tg_u32 unused;
} tg_position;

// What the log keeps of a wave.
typedef struct {
  tg_u64 frontier_edges;
  tg_u64 previous_edges;
  tg_u64 unexplored_edges;
  tg_u64 scanned_edges;
  tg_u64 threshold;
  tg_u32 vertices;
  tg_u32 topology;
  tg_u32 previous_topology;
  tg_u32 rule;
  tg_u32 dense_waves; // in a row before it
  tg_u32 alone;       // worked by one group
  tg_u32 wave;
  tg_u32 unused;
} tg_log_row;

// What does not change while a traversal runs.
typedef struct {
  tg_policy policy;
  tg_u64 rank_tolerance;   // pagerank: change of all ranks, in units of 2^-60
  tg_u32 vertices;
  tg_u32 words;            // of a bitmap
  tg_u32 queue_room;       // entries of a queue
  tg_u32 source_count;
  tg_u32 full_word;        // reach: the bits of all sources
  tg_u32 delta;            // sssp: how far `near` moves on, as bits
  tg_u32 constrained;      // bitmaps alone: no queues, no transpose
  tg_u32 most_waves;       // pagerank: iterations
  tg_u32 damping;          // pagerank, bits of a float
  tg_u32 unused;
} tg_setting;

// Counters of a step. In global memory each has a line of its own, in local memory two words.
#define TG_TAIL 0u     // of the next queue
#define TG_LONG_TAIL 1u // of its long runs
#define TG_VERTICES 2u // of the next frontier
#define TG_EDGES 3u    // that leave it, in parts
#define TG_SCANNED 4u  // in parts
#define TG_FAR 5u
#define TG_NEAREST 6u  // the complement of the least distance put off
#define TG_CHANGE 7u   // pagerank
#define TG_IDLE 8u
#define TG_COUNTERS 9u

// A step adds to the slot of its round; the next one's groups read it behind the barrier while they add to the next slot,
// and the third is cleared meanwhile.
#define TG_COUNTER_LINE 32u
#define TG_SLOT_WORDS (TG_COUNTERS * TG_COUNTER_LINE)
#define TG_SUM_LINE 2u // in local memory
#define TG_SUMS (TG_COUNTERS * TG_SUM_LINE)

typedef struct {
  tg_position launch[2]; // where a launch begins, and where the next one does
  tg_u32 stuck;          // groups that gave up waiting
  tg_u32 unused[TG_COUNTER_LINE - 1];
  tg_position alone[2];  // where the group that worked alone has come to
  tg_u32 far_tails[3 * TG_COUNTER_LINE]; // of the far queues, in turns of three as those of steps
  tg_u32 slots[3 * TG_SLOT_WORDS];
} tg_state;

#endif
