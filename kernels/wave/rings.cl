// Queues whose ops requeue or publish items: an item can run again, and create others, which any work-group runs in the
// same launch.
//
//   ring of a priority    [ . . . | r r r r r r | w w w | p p p p . . . ]       positions grow to the right
//                                 head          + taken  tail at the round's start        tail
//
//   r  items that run in this round        w  items that wait, because a round takes MOST_A_ROUND at most
//   p  items that ops of this round have published or requeued
//
// The queue runs in rounds, with a barrier of all work-groups (or a new launch) after each. A round runs the items of the
// best priority; other priorities improve by one for each `threshold` rounds of waiting, so none starves. All items of a
// priority wait equally long, so the accounting takes a few words per priority. An item may wait for data that any
// other item writes: the next round sees it.
//
// Given items have the first positions of their ring, and are read where the host has put them.
//
// Publishing. TIDEGATE_PUBLISH collects items in local memory, as requeueing does. When the items of a chunk have run, one work-item
// reserves room for all of them at the end of the ring with one atomic addition, and the work-group writes them
// there. Items that local memory has no room for are written one by one.
//
// Running ahead (TG_QUEUE_AHEAD). If the items that a chunk has published fit into a chunk, the work-group runs them at
// once, and then those that they have published: only what is left after that goes into the ring.
//
// Claiming. A work-group runs the chunk of its number, and then claims further chunks with one atomic increment
// each, until all items of the round are taken.
//
// The end. tidegate_queue_turn() ends the queue if head and tail of every ring are equal. It runs in one work-item
// after all work-groups have arrived at the end of the round and before any goes on (in a persistent launch:
// tg_end_round() of persistent.cl). So no item is published but not yet visible: its work-group has reserved and
// written it before it arrives. And none is claimed but not finished: a work-group runs what it has claimed before it
// arrives. Arrivals release and the wait acquires, so a round sees the items of the rounds before: it only reads
// positions that they have written, and only writes positions that no item of the round occupies.
//
// A full ring. Without publishing there is room for the given items twice. Otherwise tails count all items, also those
// for which there is no room; these are not written. The turn compares the most items that the rings had to hold
// together with the capacity, and ends the queue as full with the capacity that was needed so far. Outputs are withheld,
// so nothing is lost silently. Because items of a round keep their room until it ends, that number depends on the items
// alone, not on the order in which they run.
//
// Identical items. Published items of pure ops are looked up in a table of all items of pure ops in this run of the
// queue: one open-addressed table of params (plus 1, so that 0 is free) for each combination of a pure op, its input
// and its output. Only an item that is new is published.
//
// Generated definitions precede this file: TG_QUEUE_RINGS and TG_QUEUE_FIRST_RING (the priorities in use),
// TG_QUEUE_RING_SIZE (a power of two, at least the capacity), TG_QUEUE_STAGED (items of each ring that local memory
// holds), TG_QUEUE_AHEAD (how often a work-group runs ahead in a round; 0 if there are several rings), TG_QUEUE_TABLES and
// TG_QUEUE_TABLE_SIZE (a power of two, at least twice the capacity), and enumerators TIDEGATE_OP_name and
// TIDEGATE_BUFFER_name for the handles. tg_queue_ring() and tg_queue_table() follow the user's file.

// State of a work-group that publishes, in local memory.
typedef struct {
  global uint* state;
  global uint2* rings;
  global uint* seen;
  uint ring_size;
  uint room; // items of each ring that local memory holds; 0: all go to the first ring, one by one
  uint counts[TG_QUEUE_RINGS]; // items for each ring; may exceed `room`
  uint bases[TG_QUEUE_RINGS];  // their first position
  uint sizes[TG_QUEUE_RINGS];  // those that local memory holds
  uint chunk;                  // that comes next
  uint done;
  uint requeued;
  uint deduped;
  uint kept; // items of pure ops that are new
  uint ahead; // items that were never in a ring
  uint heads[TG_QUEUE_RINGS];
  uint2 staged[TG_QUEUE_RINGS * TG_QUEUE_STAGED];
} tg_publishing;

typedef local tg_publishing* tidegate_publisher;

#if TG_QUEUE_PUBLISHES
#define TG_QUEUE_ITEM(op, input, output) ((uint)(op) | (uint)(input) << 12 | (uint)(output) << 22)

#define TIDEGATE_PUBLISH(op, input, output, param) \
  tg_publish(publisher, TG_QUEUE_ITEM(TIDEGATE_OP_##op, TIDEGATE_BUFFER_##input, TIDEGATE_BUFFER_##output), (param))
#define TIDEGATE_PUBLISH_AT(priority, op, input, output, param) \
  tg_publish_at(publisher, TG_QUEUE_ITEM(TIDEGATE_OP_##op, TIDEGATE_BUFFER_##input, TIDEGATE_BUFFER_##output), (param), (priority))
#endif

// Runs an item: two words.
uint tg_queue_run(uint tg_item, uint tg_param, tidegate_publisher tg_to TG_QUEUE_BUFFERS);

// Returns the ring of an op's priority.
uint tg_queue_ring(uint item);

// Returns the table of an item's combination; TG_QUEUE_TABLES if its op is not pure.
uint tg_queue_table(uint item);

// Reserves room at the end of a ring; returns the first position. The tail of a ring that is far too full stops, so
// that it cannot come round to the head.
uint tg_queue_reserve(tidegate_publisher to, uint ring, uint count) {
  global uint* const tail = &to->state[TG_QUEUE_TAILS + TG_QUEUE_FIRST_RING + ring];
  const uint position = atomic_add(tail, count);
  if (position - to->heads[ring] >= 0x20000000u) {
    atomic_sub(tail, count);
  }
  return position;
}

// Writes an item to its position, if that is free.
void tg_queue_write(tidegate_publisher to, uint ring, uint position, uint2 item) {
  if (position - to->heads[ring] < to->ring_size) {
    to->rings[(size_t)ring * to->ring_size + (position & (to->ring_size - 1u))] = item;
  }
}

void tg_queue_stage(tidegate_publisher to, uint ring, uint2 item) {
  const uint slot = to->room == 0u ? 0u : atomic_inc(&to->counts[ring]);
  if (slot < to->room) {
    to->staged[ring * TG_QUEUE_STAGED + slot] = item;
  } else {
    const uint own = to->room == 0u ? 0u : ring;
    tg_queue_write(to, own, tg_queue_reserve(to, own, 1u), item);
  }
}

// Returns true for the first of identical items.
bool tg_queue_is_first(tidegate_publisher to, uint table, uint param) {
  const uint word = param + 1u;
  if (word == 0u) { // has a place after the tables
    return atomic_xchg(&to->seen[TG_QUEUE_TABLES * (size_t)TG_QUEUE_TABLE_SIZE + table], 1u) == 0u;
  }
  global uint* const own = to->seen + table * (size_t)TG_QUEUE_TABLE_SIZE;
  uint slot = word * 0x9e3779b1u;
  slot ^= slot >> 15;
  for (uint probe = 0; probe < TG_QUEUE_TABLE_SIZE; ++probe) {
    slot &= TG_QUEUE_TABLE_SIZE - 1u;
    const uint found = atomic_cmpxchg(&own[slot], 0u, word);
    if (found == 0u || found == word) {
      return found == 0u;
    }
    ++slot;
  }
  return true; // the table is full, and more items are kept than its capacity: the turn ends the queue
}

// Returns false for a repetition of an item of a pure op.
bool tg_queue_keeps(tidegate_publisher to, uint item, uint param) {
  const uint table = tg_queue_table(item);
  if (TG_QUEUE_TABLES == 0 || table == TG_QUEUE_TABLES) {
    return true;
  }
  const bool first = tg_queue_is_first(to, table, param);
  atomic_inc(first ? &to->kept : &to->deduped);
  return first;
}

void tg_publish(tidegate_publisher to, uint item, uint param) {
  if (tg_queue_keeps(to, item, param)) {
    tg_queue_stage(to, tg_queue_ring(item), (uint2)(item, param));
  }
}

void tg_publish_at(tidegate_publisher to, uint item, uint param, uint priority) {
  if (tg_queue_keeps(to, item, param)) {
    tg_queue_stage(to, min(priority, TG_QUEUE_PRIORITIES - 1u) - TG_QUEUE_FIRST_RING, (uint2)(item, param));
  }
}

// 64 bits in two words, the low one first.
uint2 tg_queue_counted(global const uint* counter) { return (uint2)(counter[0], counter[1]); }

void tg_queue_count_on(global uint* counter, uint2 before, uint more) {
  counter[0] = before.x + more;
  counter[1] = before.y + (before.x + more < more ? 1u : 0u);
}

void tg_queue_open(tidegate_publisher to, global uint* state, global uint2* rings, global uint* seen) {
  to->state = state;
  to->rings = rings;
  to->seen = seen;
  to->ring_size = TG_QUEUE_RING_SIZE;
  to->room = TG_QUEUE_STAGED;
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    to->counts[ring] = 0;
    to->heads[ring] = state[TG_QUEUE_HEAD(ring)];
  }
  to->ahead = 0;
  to->done = 0;
  to->requeued = 0;
  to->deduped = 0;
  to->kept = 0;
}

// Runs one item; returns 1 if it is completed. `names_it`: its work-item may report a requeue.
uint tg_queue_run_one(tidegate_publisher to, uint ring, uint2 item, bool names_it TG_QUEUE_BUFFERS) {
  const uint result = tg_queue_run(item.x, item.y, to TG_QUEUE_ARGUMENTS);
  if (result == TIDEGATE_REQUEUE) {
    tg_queue_stage(to, ring, item);
    if (atomic_inc(&to->requeued) == 0u && names_it) {
      to->state[TG_QUEUE_LAST_REQUEUED] = item.x;
      to->state[TG_QUEUE_LAST_PARAM] = item.y;
    }
  } else if (result != TIDEGATE_DONE) {
    tg_queue_fail(to->state, item.x, item.y, result);
  }
  return result == TIDEGATE_DONE ? 1u : 0u;
}

void tg_queue_add(global uint* counter, uint more) {
  if (more != 0u) { // the end of a round waits for additions
    atomic_add(counter, more);
  }
}

kernel void tidegate_queue_drain(global const uint2* seeds, global uint2* rings, global uint* state,
                                 global uint* seen TG_QUEUE_BUFFERS) {
  local tg_publishing publishing;
  const uint lane = get_local_id(0);
  const uint group = get_group_id(0);
  const uint groups = get_num_groups(0);
  const uint mode = state[TG_QUEUE_MODE];
  uint heads[TG_QUEUE_RINGS];
  uint taken_of[TG_QUEUE_RINGS]; // 0 before the first round
  uint given_of[TG_QUEUE_RINGS];
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    given_of[ring] = state[TG_QUEUE_COUNTS + TG_QUEUE_FIRST_RING + ring];
    heads[ring] = state[TG_QUEUE_HEAD(ring)];
    taken_of[ring] = state[TG_QUEUE_TAKEN(ring)];
  }
  if (lane == 0u) {
    tg_queue_open(&publishing, state, rings, seen);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint own = group * TG_QUEUE_LANES + lane;
  const uint all = groups * TG_QUEUE_LANES;
  if (mode == TG_QUEUE_CLEARS) {
    const size_t words = TG_QUEUE_TABLES * ((size_t)TG_QUEUE_TABLE_SIZE + 1u);
    for (size_t i = own; i < words; i += all) {
      seen[i] = 0;
    }
  }
  uint done = 0;  // by this work-item
  uint first = 0; // of the given items of a ring
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    const uint given = mode == TG_QUEUE_RUNS ? 0u : given_of[ring];
    for (uint i = own; mode == TG_QUEUE_SEEDS && i < given; i += all) {
      tg_queue_keeps(&publishing, seeds[first + i].x, seeds[first + i].y); // the host has removed identical ones
    }
    const uint head = heads[ring];
    const uint taken = taken_of[ring];
    const uint chunks = (taken + TG_QUEUE_LANES - 1u) / TG_QUEUE_LANES;
    for (uint chunk = group; chunk < chunks; chunk = publishing.chunk) {
      const uint at = chunk * TG_QUEUE_LANES + lane;
      if (at < taken) {
        const uint2 item = head + at < given
                               ? seeds[first + head + at]
                               : rings[(size_t)ring * TG_QUEUE_RING_SIZE + ((head + at) & (TG_QUEUE_RING_SIZE - 1u))];
        done += tg_queue_run_one(&publishing, ring, item, chunk == 0u TG_QUEUE_ARGUMENTS);
      }
#if TG_QUEUE_AHEAD
      bool goes_on = true;
      for (uint times = 0; times < TG_QUEUE_AHEAD && goes_on; ++times) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        const uint size = publishing.counts[0];
        const uint2 item = publishing.staged[min(lane, TG_QUEUE_STAGED - 1u)];
        goes_on = size != 0u && size <= min(TG_QUEUE_LANES, TG_QUEUE_STAGED) && publishing.requeued == 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (goes_on && lane == 0u) {
          publishing.counts[0] = 0;
          publishing.ahead += size;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (goes_on && lane < size) {
          done += tg_queue_run_one(&publishing, 0u, item, false TG_QUEUE_ARGUMENTS);
        }
      }
#endif
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane == 0u) {
        for (uint to = 0; to < TG_QUEUE_RINGS; ++to) {
          const uint size = min(publishing.counts[to], (uint)TG_QUEUE_STAGED);
          publishing.bases[to] = size == 0u ? 0u : tg_queue_reserve(&publishing, to, size);
          publishing.sizes[to] = size;
          publishing.counts[to] = 0;
        }
        publishing.chunk =
            chunks <= groups ? chunks : groups + atomic_inc(&state[TG_QUEUE_CLAIMS + TG_QUEUE_FIRST_RING + ring]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint to = 0; to < TG_QUEUE_RINGS; ++to) {
        for (uint i = lane; i < publishing.sizes[to]; i += TG_QUEUE_LANES) {
          tg_queue_write(&publishing, to, publishing.bases[to] + i, publishing.staged[to * TG_QUEUE_STAGED + i]);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    first += given;
  }
  if (done != 0u) {
    atomic_add(&publishing.done, done);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0u) {
    tg_queue_add(&state[TG_QUEUE_DONE], publishing.done);
    tg_queue_add(&state[TG_QUEUE_AGAIN], publishing.requeued);
    tg_queue_add(&state[TG_QUEUE_REPEATED], publishing.deduped);
    tg_queue_add(&state[TG_QUEUE_KEPT], publishing.kept);
    tg_queue_add(&state[TG_QUEUE_RAN_AHEAD], publishing.ahead);
  }
}

// Figures that the turn between two rounds reads. While it runs, all others wait: it reads only rings in use, and everything
// before anything is decided or written, so that the loads take the time of one.
#define TG_QUEUE_NUMBERS(X) \
  X(mode, MODE) X(done, DONE) X(again, AGAIN) X(kept, KEPT) X(round, ROUND) X(failed, FAULT) X(repeated, REPEATED) X(ahead, RAN_AHEAD) \
  X(rounds, ROUNDS) X(stalled, STALLED) X(deepest, DEEPEST) X(most_kept, MOST_KEPT) X(remaining, REMAINING) X(oldest, MAX_AGE)
#define TG_QUEUE_TOTALS(X) \
  X(published, PUBLISHED) X(executed, EXECUTED) X(requeues, REQUEUES) X(deduped, DEDUPED) X(aged, AGED)
typedef struct {
#define TG_QUEUE_NUMBER(name, word) uint name;
#define TG_QUEUE_TOTAL(name, word) uint2 name;
  TG_QUEUE_NUMBERS(TG_QUEUE_NUMBER)
  TG_QUEUE_TOTALS(TG_QUEUE_TOTAL)
  uint heads[TG_QUEUE_RINGS], tails[TG_QUEUE_RINGS], waiting[TG_QUEUE_RINGS], since[TG_QUEUE_RINGS];
  uint ran[TG_QUEUE_RINGS], given[TG_QUEUE_RINGS];
} tg_queue_figures;

tg_queue_figures tg_queue_read(global const uint* state) {
  tg_queue_figures read;
#define TG_QUEUE_READ_NUMBER(name, word) read.name = state[TG_QUEUE_##word];
#define TG_QUEUE_READ_TOTAL(name, word) read.name = tg_queue_counted(&state[TG_QUEUE_##word]);
  TG_QUEUE_NUMBERS(TG_QUEUE_READ_NUMBER)
  TG_QUEUE_TOTALS(TG_QUEUE_READ_TOTAL)
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    read.heads[ring] = state[TG_QUEUE_HEAD(ring)];
    read.tails[ring] = state[TG_QUEUE_TAILS + TG_QUEUE_FIRST_RING + ring];
    read.waiting[ring] = state[TG_QUEUE_WAITING + TG_QUEUE_FIRST_RING + ring];
    read.since[ring] = state[TG_QUEUE_SINCE + TG_QUEUE_FIRST_RING + ring];
    read.ran[ring] = state[TG_QUEUE_TAKEN(ring)];
    read.given[ring] = state[TG_QUEUE_COUNTS + TG_QUEUE_FIRST_RING + ring];
  }
  return read;
}

// Chooses the items that run next: those of the best priority, which waiting improves.
void tg_queue_take(global uint* state, const tg_queue_figures* now, uint threshold) {
  uint oldest = now->oldest;
  uint best = TG_QUEUE_PRIORITIES;
  uint counts_as[TG_QUEUE_RINGS];
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    const uint p = TG_QUEUE_FIRST_RING + ring;
    const uint age = TG_QUEUE_RINGS == 1 ? 0u : now->round - now->since[ring];
    counts_as[ring] = now->waiting[ring] == 0u ? TG_QUEUE_PRIORITIES : p - min(p, age / max(threshold, 1u));
    best = min(best, counts_as[ring]);
  }
  uint promoted = 0;
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    const uint waiting = now->waiting[ring];
    const bool runs = waiting != 0u && counts_as[ring] == best;
    if (runs) {
      oldest = max(oldest, TG_QUEUE_RINGS == 1 ? 0u : now->round - now->since[ring]);
      promoted += best < TG_QUEUE_FIRST_RING + ring ? waiting : 0u;
    }
    state[TG_QUEUE_TAKEN(ring)] = runs ? min(waiting, TG_QUEUE_MOST_A_ROUND) : 0u;
    state[TG_QUEUE_CLAIMS + TG_QUEUE_FIRST_RING + ring] = 0;
  }
  state[TG_QUEUE_MAX_AGE] = oldest;
  tg_queue_count_on(&state[TG_QUEUE_AGED], now->aged, promoted);
}

// Restores the state before the first round, as the host uploads it.
void tg_queue_arm(global uint* state, tg_queue_figures* now, uint threshold) {
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    const uint p = TG_QUEUE_FIRST_RING + ring;
    state[TG_QUEUE_WAITING + p] = state[TG_QUEUE_TAILS + p] = now->waiting[ring] = now->given[ring];
    state[TG_QUEUE_SINCE + p] = now->since[ring] = 0;
    state[TG_QUEUE_HEAD(ring)] = 0;
    state[TG_QUEUE_TAKEN(ring)] = 0;
  }
  state[TG_QUEUE_ROUND] = now->round = 0;
  state[TG_QUEUE_STALLED] = 0;
  state[TG_QUEUE_KEPT] = 0;
  state[TG_QUEUE_MODE] = TG_QUEUE_TABLES == 0 ? TG_QUEUE_RUNS_GIVEN : TG_QUEUE_CLEARS;
  if (TG_QUEUE_TABLES == 0) {
    tg_queue_take(state, now, threshold);
  }
}

// After a round: counts what it did, and decides what runs next.
void tg_queue_end_round(global uint* state, tg_queue_figures* now, uint threshold, uint most_stalled, uint capacity) {
  ulong deepest = 0;
  uint taken = 0;
  uint published = 0;
  uint left = 0;
  uint fresh = 0; // given items that have not run
  state[TG_QUEUE_ROUND] = now->round += 1u;
  for (uint ring = 0; ring < TG_QUEUE_RINGS; ++ring) {
    const uint length = now->tails[ring] - now->heads[ring];
    const uint ran = now->ran[ring];
    deepest += length;
    published += length - now->waiting[ring];
    taken += ran;
    left += length - ran;
    if (now->mode == TG_QUEUE_RUNS_GIVEN) {
      fresh += now->given[ring] - min(now->given[ring], now->heads[ring] + ran);
    }
    if (TG_QUEUE_RINGS > 1 && (ran != 0u || now->waiting[ring] == 0u)) {
      state[TG_QUEUE_SINCE + TG_QUEUE_FIRST_RING + ring] = now->since[ring] = now->round;
    }
    state[TG_QUEUE_HEAD(ring)] = now->heads[ring] + ran;
    state[TG_QUEUE_WAITING + TG_QUEUE_FIRST_RING + ring] = now->waiting[ring] = length - ran;
  }
  tg_queue_count_on(&state[TG_QUEUE_PUBLISHED], now->published, published + now->ahead - now->again);
  tg_queue_count_on(&state[TG_QUEUE_EXECUTED], now->executed, now->done);
  tg_queue_count_on(&state[TG_QUEUE_REQUEUES], now->requeues, now->again);
  tg_queue_count_on(&state[TG_QUEUE_DEDUPED], now->deduped, now->repeated);
  state[TG_QUEUE_MODE] = fresh != 0u ? TG_QUEUE_RUNS_GIVEN : TG_QUEUE_RUNS;
  state[TG_QUEUE_DONE] = 0;
  state[TG_QUEUE_AGAIN] = 0;
  state[TG_QUEUE_REPEATED] = 0;
  state[TG_QUEUE_RAN_AHEAD] = 0;
  state[TG_QUEUE_ROUNDS] = now->rounds + 1u;
  const uint stalled = now->done != 0u ? 0u : now->stalled + 1u;
  state[TG_QUEUE_STALLED] = stalled;
  state[TG_QUEUE_DEEPEST] = max(now->deepest, (uint)min(deepest, 0xfffffffful));
  state[TG_QUEUE_MOST_KEPT] = max(now->most_kept, now->kept);
  const uint faults = taken + now->ahead - now->done - now->again;
  state[TG_QUEUE_REMAINING] = now->remaining + faults;
#if TG_QUEUE_PUBLISHES
  const bool full = deepest > capacity || now->kept > capacity;
#else
  const bool full = left - fresh > capacity;
#endif
  const uint end = now->failed != 0u         ? TG_QUEUE_FAILED
                   : full                    ? TG_QUEUE_FULL
                   : left == 0u              ? TG_QUEUE_DRAINED
                   : stalled >= most_stalled ? TG_QUEUE_NO_PROGRESS
                                             : ~0u;
  if (end == ~0u) {
    tg_queue_take(state, now, threshold);
  } else {
    state[TG_QUEUE_MORE] = 0;
    state[TG_QUEUE_END] = max(state[TG_QUEUE_END], end); // a failure in one iteration persists
    state[TG_QUEUE_REMAINING] = now->remaining + faults + left;
    tg_queue_arm(state, now, threshold);
  }
}

// Runs between two rounds, in one work-item.
kernel void tidegate_queue_turn(global uint* state, uint threshold, uint most_stalled, uint capacity) {
  tg_queue_figures now = tg_queue_read(state);
  state[TG_QUEUE_MORE] = 1;
  if (now.mode < TG_QUEUE_RUNS_GIVEN) {
    state[TG_QUEUE_MODE] = now.mode + 1u;
    if (now.mode == TG_QUEUE_SEEDS) {
      tg_queue_take(state, &now, threshold);
    }
  } else {
    tg_queue_end_round(state, &now, threshold, most_stalled, capacity);
  }
}

#if TG_QUEUE_PUBLISHES
// The reference: one work-item runs the items one after another, first come, first served, whatever their priority, or
// those of each round in reverse. A launch runs `most` items at most; the host launches it until no item waits.
// `waiting` begins with the items as the host has published them, `size` is a power of two.
kernel void tidegate_queue_check(global uint2* waiting, uint size, uint reversed, global uint* state, global uint* seen,
                                 uint most TG_QUEUE_BUFFERS) {
  local tg_publishing publishing;
  if (get_global_id(0) != 0u) {
    return;
  }
  tg_queue_open(&publishing, state, waiting, seen);
  publishing.ring_size = size;
  publishing.room = 0;
  global uint* const head = &state[TG_QUEUE_HEAD(0)];
  global uint* const tail = &state[TG_QUEUE_TAILS + TG_QUEUE_FIRST_RING];
  global uint* const round = &state[TG_QUEUE_TAKEN(0)]; // its items, which keep their room
  global uint* const ran = &state[TG_QUEUE_CLAIMS + TG_QUEUE_FIRST_RING];  // of these
  if (state[TG_QUEUE_MODE] != TG_QUEUE_RUNS) {
    for (uint i = 0; i < *tail; ++i) {
      tg_queue_keeps(&publishing, waiting[i].x, waiting[i].y);
    }
    state[TG_QUEUE_MODE] = TG_QUEUE_RUNS;
  }
  for (uint n = 0; n < most && *head != *tail && *tail - *head <= size && state[TG_QUEUE_FAULT] == 0u; ++n) {
    *round = *ran == 0u ? *tail - *head : *round;
    const uint2 item = waiting[(*head + (reversed != 0u ? *round - 1u - *ran : *ran)) & (size - 1u)];
    *ran += 1u;
    tg_queue_run_one(&publishing, 0u, item, true TG_QUEUE_ARGUMENTS);
    if (*ran == *round) {
      *head += *round;
      *ran = 0;
      publishing.heads[0] = *head;
    }
  }
  state[TG_QUEUE_DEEPEST] = *tail - *head;
  state[TG_QUEUE_END] = *tail - *head > size ? TG_QUEUE_FULL : TG_QUEUE_DRAINED;
  state[TG_QUEUE_MORE] = *head != *tail ? 1u : 0u;
}
#endif
