// Data that the work-items of a traversal share, and functions that put vertices into the next frontier.
//
// The host defines
//   TG_ALGORITHM    one of TG_BFS … (state.h)
//   TG_GROUP_SIZE   work-items of a work-group
//   TG_LANES        work-items that share an entry of a sparse queue
//   TG_WIDE         work-items that share an entry of a hybrid queue
//   TG_WIDTH        work-items that share a word of a bitmap
//   tg_offset       the type of offsets of edges: uint, or ulong where 32 bits do not hold them
//   TG_FLOATS       weights and distances are floats
//   TG_WEIGHTS      edges have stored weights
//   TG_PARENTS      bfs records parents
//   TG_ALONE_ROOM   entries of a lone group's queue in local memory
//   TG_SHORT_ROWS   no vertex has many edges
//   TG_SHARE        edges and ends of rows that a group pulls along at a time (shares.cl)
//
// A frontier is a queue, a bitmap, or both. An entry of a queue is a run of at most TG_CHUNK edges of a vertex:
//
//   { vertex, offset of the first edge (two words), edges }
//
// so that a work-item reads neighbours without first reading the vertex's row, and the edges of a hub are
// distributed like those of other vertices. Rows of at least TG_LONG_ROW edges become long runs at the other
// end of the queue, where whole groups take them; otherwise one work-item would write thousands of short
// entries. Two queues alternate from wave to wave. Three bitmaps take turns: one is read, one written, and
// the one that was read before is cleared.

#define TG_FOREST (TG_ALGORITHM == TG_CC)         // links and compresses, before a wave and after it
#define TG_ITERATES (TG_ALGORITHM == TG_PAGERANK) // over all vertices: it has sums, and one bitmap and queue
#define TG_PUTS_OFF (TG_ALGORITHM == TG_SSSP)     // far vertices, and knows the least distance of a frontier
#define TG_FROM_ALL (TG_FOREST || TG_ITERATES)    // every vertex is in the first frontier
#define TG_MAY_PULL_SHARES TG_PULLS_SHARES(TG_ALGORITHM, TG_SHORT_ROWS, TG_GROUP_SIZE)
#define TG_MAY_LEAVE_ROWS (TG_PUTS_OFF && TG_GROUP_SIZE > 1) // pull.cl
#define TG_MAY_WORK_ALONE (!TG_FROM_ALL && !TG_RANKS)
#define TG_MAY_REFILL_ALONE (TG_PUTS_OFF && TG_GROUP_SIZE == 1) // on an H100 it would be 1 to 3 % slower
#define TG_MAY_WORK_TOGETHER (TG_MAY_WORK_ALONE && TG_GROUP_SIZE > 1) // CPU groups wait in vain for a busy core
#define TG_PULLS_ALL (TG_ALGORITHM == TG_REACH) // on CPUs, without a look at the bitmap: when it pulls, most neighbours are in the frontier

#define TG_LONG_ROW (TG_GROUP_SIZE == 1 ? 0xffffffffu : 1024u)
#define TG_LONG_CHUNK 4096u
// Items that a group of one work-item takes consecutively. Ranks along short rows come from near vertices: with 128 a group would
// return too late to the lines that it has fetched (PoCL, grid of 1024x1024: 1.8 times as long).
#define TG_TILE (TG_SHORT_ROWS ? 1024u : 128u)
#define TG_HELD 64u  // entries that it keeps before it reserves their slots
#define TG_WARP (TG_GROUP_SIZE < 32 ? TG_GROUP_SIZE : 32)
#define TG_NO_VERTEX 0xffffffffu
#define TG_SCRATCH (TG_FOREST ? 16u : 1u) // words of local memory for the algorithm

// Only fused waves make levels need stamps, and they clear them. Pagerank has sums in their place.
#define TG_STAMPS_FROM_THE_START (TG_ALGORITHM != TG_BFS && !TG_ITERATES)

// Vertices other than sources start too; the first frontier is then a bitmap.
#if TG_ALGORITHM == TG_OWN
#define TG_STARTS_ANYWHERE (TG_OWN_INITIAL != 0)
#else
#define TG_STARTS_ANYWHERE 0
typedef uint tg_bits; // the value of a vertex
#endif

// For functions that run once per edge: some CPU compilers otherwise leave the calls and keep the job in
// memory.
#define TG_INLINE __attribute__((always_inline))

// PoCL has a kernel's code three times, and again for each way through its barriers, and compiles all of it. A function that the kernel
// calls is compiled once, but it may neither have barriers nor ask which work-item it is. A group of one needs neither, so all of its
// code is such a function; larger groups of CPUs call the parts between barriers. That takes a third of the time.
#if TG_GROUP_SIZE == 1
#define TG_LANE 0u
#define TG_BARRIER(flags)
#define TG_LAUNCHED __attribute__((noinline))
#else
#define TG_LAUNCHED TG_INLINE
#define TG_LANE (uint)get_local_id(0)
#define TG_BARRIER(flags) barrier(flags)
#endif
#if TG_OUTLINES
#define TG_LANE_OF(job) (job)->lane
#define TG_OUTLINED __attribute__((noinline))
#define TG_IN_LOOPS TG_OUTLINED
#else
#define TG_IN_LOOPS TG_INLINE // of loops with barriers
#define TG_LANE_OF(job) TG_LANE
#if TG_GROUP_SIZE == 1
#define TG_OUTLINED TG_INLINE
#else
#define TG_OUTLINED // GPUs: the compiler decides
#endif
#endif

// Unrolls a loop over arrays that should be in registers.
#define TG_UNROLL _Pragma("unroll")

typedef struct {
  global tg_log_row* rows; // or 0: another group writes them
  uint begin;              // the wave of the first one
} tg_log;

typedef struct {
  global const tg_offset* offsets;
  global const uint* neighbours;
  global const uint* weights;
  global const tg_offset* in_offsets;
  global const uint* in_neighbours;
  global const uint* in_weights;
  global tg_bits* values; // levels, words, distances, labels or ranks
  global uint* others;  // bfs: parents; pagerank: what a vertex passes on, by seat, twice; own: initial values
  global uint* stamps;  // the last wave that a vertex was queued for; pagerank: received sums, by seat
  global uint* bitmaps; // three
  global uint4* queues; // two
  global uint* far;     // sssp: two queues of vertices and a bitmap of their members
  global uint* shares;  // reach, pagerank: the row in which each share begins, in place of `far`
  global tg_state* state;
  global const uint* sources;
  global const uint* seats; // pagerank: of each vertex, in place of `sources`; or 0: its number is its seat
  const tg_setting* setting;
  tg_log log;
  uint limit_wave;
  uint vertices;
  uint words;
  uint queue_room;
  uint group;
  uint groups;
  uint lane; // for TG_LANE_OF
  uint rows;  // of the graph, or a rank's own
  uint first; // the vertex of the first of them
} tg_job;

#define TG_GRAPH_PARAMETERS                                                                                     \
  global const tg_offset *offsets, global const uint *neighbours, global const uint *weights,                   \
      global const tg_offset *in_offsets, global const uint *in_neighbours, global const uint *in_weights,      \
      global tg_bits *values, global uint *others, global uint *stamps, global uint *bitmaps, global uint4 *queues, \
      global uint *far, global tg_state *state, global const uint *sources, tg_setting setting

// The bitmap and the queue of a wave's frontier. All waves of pagerank share one.
global uint* tg_bitmap_of(const tg_job* job, uint wave) {
  return job->bitmaps + (TG_ITERATES ? 0u : wave % 3u) * job->words;
}
global uint4* tg_queue_of(const tg_job* job, uint wave) {
  return job->queues + (TG_ITERATES ? 0u : (ulong)(wave & 1u) * job->queue_room);
}
global uint* tg_far_bits(const tg_job* job) { return job->far + 2ul * job->vertices; }
global uint* tg_far_queue(const tg_job* job, uint turn) { return job->far + (ulong)(turn & 1u) * job->vertices; }
volatile global uint* tg_far_tail(const tg_job* job, uint turn) {
  return job->state->far_tails + turn % 3u * TG_COUNTER_LINE;
}

// Adds a vertex to a bitmap; returns true if it was not in it.
TG_INLINE bool tg_mark(global uint* bitmap, uint v) {
  const uint bit = 1u << (v & 31u);
  return (atomic_or(&bitmap[v >> 5], bit) & bit) == 0;
}

uint4 tg_long_run(const tg_job* job, uint wave, uint i) { return tg_queue_of(job, wave)[job->queue_room - 1 - i]; }

volatile global uint* tg_slot(const tg_job* job, uint round) { return job->state->slots + round % 3u * TG_SLOT_WORDS; }

uint tg_weight(global const uint* weights, tg_offset e) { return TG_WEIGHTS ? weights[e] : TG_FLOATS ? as_uint(1.0f) : 1; }

tg_offset tg_degree(const tg_job* job, uint v) { return job->offsets[v + 1ul] - job->offsets[v]; }

// The first and the next item of a work-item; `width` work-items share each item.
//
// Neighbouring warps belong to different groups, so that a small frontier uses the whole device. Groups of
// one work-item, on CPUs, take tiles of consecutive items: each core has separate cache lines and pages, and
// prefetches.
uint tg_first_item(const tg_job* job, uint width) {
  const uint lane = TG_LANE_OF(job);
  return TG_GROUP_SIZE == 1 ? job->group * TG_TILE
                            : (lane / TG_WARP * job->groups + job->group) * (TG_WARP / width) + lane % TG_WARP / width;
}
TG_INLINE uint tg_next_item(const tg_job* job, uint item, uint width) {
  return TG_GROUP_SIZE > 1              ? item + job->groups * (TG_GROUP_SIZE / width)
         : (item + 1) % TG_TILE != 0    ? item + 1
                                        : item + 1 + (job->groups - 1) * TG_TILE;
}

// Loops over a work-item's items. CPU compilers vectorize the loop over a tile.
#if TG_GROUP_SIZE == 1
#define TG_EACH_ITEM(job, item, count, width)                                                                          \
  for (uint tile_of_##item = tg_first_item(job, width); tile_of_##item < (count); tile_of_##item += (job)->groups * TG_TILE) \
    for (uint item = tile_of_##item, end_of_##item = min(item + TG_TILE, (count)); item < end_of_##item; ++item)
#else
#define TG_EACH_ITEM(job, item, count, width) \
  for (uint item = tg_first_item(job, width); item < (count); item = tg_next_item(job, item, width))
#endif

// Walks over vertices by words of a bitmap: work-item `lane` of the TG_WIDTH that share a word visits every TG_WIDTH-th bit.
typedef struct {
  uint word;
  uint bit;
} tg_vertex_walk;

TG_INLINE tg_vertex_walk tg_begin_walk(const tg_job* job) {
  const tg_vertex_walk walk = {tg_first_item(job, TG_WIDTH), TG_LANE_OF(job) % TG_WIDTH};
  return walk;
}

TG_INLINE void tg_go_on(const tg_job* job, tg_vertex_walk* walk) {
  walk->bit += TG_WIDTH;
  if (walk->bit >= 32) {
    walk->bit %= 32;
    walk->word = tg_next_item(job, walk->word, TG_WIDTH);
  }
}

uint tg_lowest(uint bits) { return 31 - clz(bits & (0u - bits)); }

// Clears the bitmap of wave `wave`.
TG_OUTLINED void tg_clear_bitmap(const tg_job* job, uint wave) {
  global uint* const bitmap = tg_bitmap_of(job, wave);
  TG_EACH_ITEM(job, word, TG_ITERATES ? 0u : job->words, 1) {
    bitmap[word] = 0;
  }
}

// A sum in two words without a carry between them, so that an addition never waits: the low 16 bits of each
// addend, and the rest. Correct for up to 2^16 additions: no traversal has more work-groups, or work-items in one.
#define TG_ADD_PARTS(words, value)                     \
  do {                                                 \
    const ulong added = (value);                       \
    atomic_add(&(words)[0], (uint)added & 0xffffu);    \
    if (added > 0xffffu) {                             \
      atomic_add(&(words)[1], (uint)(added >> 16));    \
    }                                                  \
  } while (0)
#define TG_PARTS(words) ((words)[0] + ((ulong)(words)[1] << 16))

// A 64-bit sum with a carry between its words.
#define TG_ADD_WIDE(words, value)                                     \
  do {                                                                \
    const uint low = (uint)(value);                                   \
    const uint high = (uint)((ulong)(value) >> 32);                   \
    const uint carry = atomic_add(&(words)[0], low) > 0xffffffffu - low; \
    if (high + carry != 0) {                                          \
      atomic_add(&(words)[1], high + carry);                          \
    }                                                                 \
  } while (0)
#define TG_WIDE_SUM(words) ((words)[0] | (ulong)(words)[1] << 32)

// Reserves one slot for each work-item that calls at the same time. On NVIDIA the active work-items of a warp
// share one atomic: thousands of requests to one word would be served one after another.
uint tg_take_place(volatile global uint* counter) {
#if TG_ORDERING == TG_ORDERING_PTX
  uint asking, lane;
  asm volatile("activemask.b32 %0;" : "=r"(asking));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const uint first = tg_lowest(asking);
  uint begin = 0;
  if (lane == first) {
    begin = atomic_add(counter, popcount(asking));
  }
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(begin) : "r"(begin), "r"(first), "r"(asking));
  return begin + popcount(asking & ((1u << lane) - 1));
#else
  return atomic_inc(counter);
#endif
}

// A row that a vertex pulls along, before its edges are collected.
typedef struct {
  tg_offset begin;
  tg_offset end;
  tg_offset degree;
  uint vertex;
  uint value;
  uint seat;  // pagerank
  bool whole; // all of its edges are at hand, and not a part of them
} tg_row;

// The data of an edge: its end vertex, the bounds of that vertex's row, and the weight.
typedef struct {
  tg_offset begin;
  tg_offset end;
  uint w;
  uint weight;
} tg_edge;

// Counts of a work-item, a group or all of them in a step. `nearest` and `least` are complements, so that all begin with 0.
typedef struct {
  ulong edges;   // out of the found vertices
  ulong scanned; // visited edges, other than by entries of a queue
  ulong change;  // pagerank
  ulong idle;
  uint vertices;
  uint far;
  uint nearest;   // the least postponed distance
  uint least;     // the least distance in a bitmap
  uint entries;   // of the next queue; not counted by work-items
  uint long_runs;
} tg_counts;

// Entries that a work-item has not written yet, to reduce contention on the queue's tail.
typedef struct {
  uint4 entries[TG_GROUP_SIZE == 1 ? TG_HELD : 1];
  uint count;
} tg_held;

// Where found vertices go, and what is counted of them.
typedef struct {
  tg_counts* found;
  global uint4* queue;         // or 0
  global uint* bitmap;         // or 0
  uint room;                   // of the queue
  volatile global uint* tails; // of the queue, in the counters of a step
  volatile local uint* local_tails; // replaces `tails` if one group works alone
  local uint4* local_queue;
  tg_held* held;               // or 0
  uint wave;                   // of the frontier that is being written
  bool prefetches;             // prefetch rows of found vertices, if few edges are in flight
  bool eager;                  // fetch all that an edge may need at once: if few edges are in flight, latency dominates
} tg_target;

// Prefetches data of the next wave; a wrong guess costs nothing.
TG_INLINE void tg_prefetch(global const uint* at) {
#if TG_ORDERING == TG_ORDERING_PTX
  asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
#endif
}

// The target of a wave of few edges: a queue without bitmap.
TG_INLINE tg_target tg_next_queue(const tg_job* job, uint wave, tg_counts* found) {
  const tg_target to = {.found = found, .wave = wave + 1, .queue = tg_queue_of(job, wave + 1), .room = job->queue_room,
                        .prefetches = true, .eager = true};
  return to;
}

// Notes that vertex v was found from u.
TG_INLINE void tg_came_from(const tg_job* job, uint v, uint u) {
  if (TG_PARENTS) {
    job->others[v] = u;
  }
}

// Counts a vertex of the next frontier, with `degree` edges.
TG_INLINE void tg_count_vertex(tg_target to, tg_offset degree) {
  to.found->vertices += 1;
  to.found->edges += degree;
}

// True if one work-item works alone, as groups do on CPUs: no other work-item accesses the data meanwhile,
// and without atomics the memory system overlaps accesses to many vertices.
TG_INLINE bool tg_undisturbed(tg_target to) { return TG_GROUP_SIZE == 1 && to.local_tails != 0; }

// Returns run `i` of a vertex, with at most `most` edges.
uint4 tg_run_of(uint v, tg_offset begin, tg_offset degree, uint i, uint most) {
  const ulong at = begin + (ulong)i * most;
  const uint edges = (uint)min((ulong)(begin + degree - at), (ulong)most);
  return (uint4)(v, (uint)at, (uint)(at >> 32), edges);
}

// Writes the held entries to the queue.
void tg_flush(tg_target to) {
  if (TG_GROUP_SIZE == 1 && to.held != 0 && to.held->count != 0) {
    const uint first = atomic_add(&to.tails[TG_TAIL * TG_COUNTER_LINE], to.held->count);
    for (uint i = 0; i < to.held->count; ++i) {
      to.queue[first + i] = to.held->entries[i];
    }
    to.held->count = 0;
  }
}

// Reserves `count` consecutive slots.
TG_INLINE uint tg_take_places(tg_target to, uint tail, uint count) {
  if (tg_undisturbed(to)) {
    const uint first = to.local_tails[tail * 2];
    to.local_tails[tail * 2] = first + count;
    return first;
  }
  if (to.local_tails != 0) {
    return atomic_add(&to.local_tails[tail * 2], count);
  }
  volatile global uint* const counter = &to.tails[tail * TG_COUNTER_LINE];
  return count == 1 ? tg_take_place(counter) : atomic_add(counter, count);
}

TG_INLINE void tg_enqueue(tg_target to, uint v, tg_offset begin, tg_offset degree) {
  const uint chunks = (uint)((degree + (TG_CHUNK - 1)) / TG_CHUNK);
  if (chunks == 0) {
    return; // nothing to expand
  }
  if (degree >= TG_LONG_ROW) {
    const uint runs = (uint)((degree + (TG_LONG_CHUNK - 1)) / TG_LONG_CHUNK);
    const uint first = tg_take_places(to, TG_LONG_TAIL, runs);
    for (uint i = 0; i < runs; ++i) {
      to.queue[to.room - 1 - (first + i)] = tg_run_of(v, begin, degree, i, TG_LONG_CHUNK);
    }
    return;
  }
  if (TG_GROUP_SIZE == 1 && to.held != 0 && chunks <= TG_HELD) {
    if (to.held->count + chunks > TG_HELD) {
      tg_flush(to);
    }
    for (uint i = 0; i < chunks; ++i) {
      to.held->entries[to.held->count + i] = tg_run_of(v, begin, degree, i, TG_CHUNK);
    }
    to.held->count += chunks;
    return;
  }
  const uint first = tg_take_places(to, TG_TAIL, chunks);
  for (uint i = 0; i < chunks; ++i) {
    const uint4 entry = tg_run_of(v, begin, degree, i, TG_CHUNK);
    if (to.local_tails != 0 && first + i < TG_ALONE_ROOM) {
      to.local_queue[first + i] = entry;
    } else {
      to.queue[first + i] = entry;
    }
  }
}

ulong tg_first_edge(uint4 entry) { return entry.y | (ulong)entry.z << 32; }
