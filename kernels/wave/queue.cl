// Queues: explicit work items, each run by one lane.
//
//   items as given     (op, input, output, param) (op, input, output, param) …
//   published          params of one op, input and output together, in tiles of one work-group's share:
//
//     tile 0: op 1, buffers 0 and 2 | tile 1: the same | tile 2: op 4, buffers 0 and 3 | …
//     p p p p p p p p p p p p p p p | p p p p p p p    | p, p + 1, p + 2, …            |
//
// So a work-group reads its op and buffers once, branches uniformly, and loads four bytes per item, or none
// if params are consecutive. Nothing is claimed: tiles are distributed as in every wave. A tile has one item
// per lane, or several in a long queue, which keeps enough loads in flight for a GPU's memory (4 for each of
// 256 lanes measured best).
//
// If ops requeue, the wave runs in rounds. A lane keeps a bit for each of its waiting items: every item has a
// fixed slot, so no list can overflow and no item is lost. A round runs all waiting items of the best
// priority; other priorities improve by one for each `threshold` rounds of waiting, so none starves. All
// items of a priority wait equally long, so the accounting takes a few words per priority. An item may wait
// for data that any other item writes: the next round sees it.
//
// If ops publish items, kernels/wave/publish.cl has the kernels.
//
// Generated definitions precede this file: TG_QUEUE_PUBLISHES, TG_QUEUE_HANDLES (a case for each
// buffer), TG_QUEUE_BUFFERS and TG_QUEUE_ARGUMENTS (the buffers, each after a comma), TG_QUEUE_IN_ROUNDS,
// TG_QUEUE_LANES, TG_QUEUE_PER_LANE. The user's file follows it, so that its macros affect no other code, and then
// tg_queue_run() with a case for each op.
#include "wave/queue_state.h"

#define TIDEGATE_QUEUE 1
#define TIDEGATE_FAULT(code) (TG_QUEUE_FAULT_BIT | (uint)(code))

void tg_queue_fail(global uint* state, uint place, uint param, uint result) {
  if (atomic_cmpxchg(&state[TG_QUEUE_FAULT], 0u, 1u) == 0u) {
    state[TG_QUEUE_FAULT_PLACE] = place;
    state[TG_QUEUE_FAULT_PARAM] = param;
    state[TG_QUEUE_FAULT_RESULT] = result;
  }
  atomic_inc(&state[TG_QUEUE_FAULTS]);
}

void tg_queue_count(global uint* counter, uint more) { // 64 bits in two words
  counter[0] += more;
  counter[1] += counter[0] < more ? 1u : 0u;
}

// Selects the priorities that run next; waiting improves a priority's rank.
void tg_queue_choose(global uint* state, uint threshold) {
  uint best = TG_QUEUE_PRIORITIES;
  uint counts_as[TG_QUEUE_PRIORITIES];
  for (uint p = 0; p < TG_QUEUE_PRIORITIES; ++p) {
    const uint steps = (state[TG_QUEUE_ROUND] - state[TG_QUEUE_SINCE + p]) / max(threshold, 1u);
    counts_as[p] = state[TG_QUEUE_WAITING + p] == 0u ? TG_QUEUE_PRIORITIES : p - min(p, steps);
    best = min(best, counts_as[p]);
  }
  state[TG_QUEUE_RUNNING] = 0;
  for (uint p = 0; p < TG_QUEUE_PRIORITIES; ++p) {
    if (counts_as[p] == best && best != TG_QUEUE_PRIORITIES) {
      const uint age = state[TG_QUEUE_ROUND] - state[TG_QUEUE_SINCE + p];
      state[TG_QUEUE_RUNNING] |= 1u << p;
      state[TG_QUEUE_MAX_AGE] = max(state[TG_QUEUE_MAX_AGE], age);
      tg_queue_count(&state[TG_QUEUE_AGED], best < p ? state[TG_QUEUE_WAITING + p] : 0u);
    }
  }
}

#if TG_QUEUE_PUBLISHES
#include "wave/publish.cl"
#else
// An op that publishes is in the user's file, but not in this queue.
typedef local uint* tidegate_publisher;
#define TIDEGATE_PUBLISH(op, input, output, param) (void)publisher
#define TIDEGATE_PUBLISH_AT(priority, op, input, output, param) (void)publisher

uint tg_queue_run(uint tg_op, global void* tg_in, global void* tg_out, uint tg_param);

global void* tg_queue_buffer(uint handle TG_QUEUE_BUFFERS) {
  switch (handle) {
    TG_QUEUE_HANDLES
    default: return 0;
  }
}

// Returns parameter `at` of a tile { op, input, output, priority, index of its first item, items, param, 1 if
// `params` lists the parameters }.
uint tg_queue_param(uint8 tile, global const uint* params, uint at) {
  return tile.s7 != 0u ? params[tile.s6 + at] : tile.s6 + at;
}

#if TG_QUEUE_IN_ROUNDS
kernel void tidegate_queue_drain(global const uint8* tiles, global const uint* params, global uint* state,
                                 global uint* left TG_QUEUE_BUFFERS) {
  const uint8 tile = tiles[get_group_id(0)];
  if ((state[TG_QUEUE_RUNNING] >> tile.s3 & 1u) == 0u) {
    return;
  }
  const uint lane = get_local_id(0);
  global void* const in = tg_queue_buffer(tile.s1 TG_QUEUE_ARGUMENTS);
  global void* const out = tg_queue_buffer(tile.s2 TG_QUEUE_ARGUMENTS);
  const uint own = get_group_id(0) * TG_QUEUE_LANES + lane;
  const uint waiting = (state[TG_QUEUE_FRESH] >> tile.s3 & 1u) != 0u ? ~0u : left[own];
  uint again = 0;
  for (uint i = 0; i < TG_QUEUE_PER_LANE; ++i) {
    const uint at = i * TG_QUEUE_LANES + lane;
    if (at < tile.s5 && (waiting >> i & 1u) != 0u) {
      const uint result = tg_queue_run(tile.s0, in, out, tg_queue_param(tile, params, at));
      if (result == TIDEGATE_REQUEUE) {
        again |= 1u << i;
        state[TG_QUEUE_LAST_REQUEUED] = tile.s4 + at; // any one item is enough for the report
      } else if (result != TIDEGATE_DONE) {
        tg_queue_fail(state, tile.s4 + at, 0u, result);
      }
    }
  }
  left[own] = again;
  if (again != 0u) {
    atomic_add(&state[TG_QUEUE_REQUEUED + tile.s3], popcount(again));
  }
}
#else
kernel void tidegate_queue_drain(global const uint8* tiles, global const uint* params,
                                 global uint* state TG_QUEUE_BUFFERS) {
  const uint8 tile = tiles[get_group_id(0)];
  const uint lane = get_local_id(0);
  global void* const in = tg_queue_buffer(tile.s1 TG_QUEUE_ARGUMENTS);
  global void* const out = tg_queue_buffer(tile.s2 TG_QUEUE_ARGUMENTS);
  uint own[TG_QUEUE_PER_LANE]; // start all loads before the first use
  for (uint i = 0; i < TG_QUEUE_PER_LANE; ++i) {
    const uint at = i * TG_QUEUE_LANES + lane;
    own[i] = at < tile.s5 ? tg_queue_param(tile, params, at) : 0u;
  }
  for (uint i = 0; i < TG_QUEUE_PER_LANE; ++i) {
    const uint at = i * TG_QUEUE_LANES + lane;
    if (at < tile.s5) {
      const uint result = tg_queue_run(tile.s0, in, out, own[i]);
      if (result != TIDEGATE_DONE) {
        tg_queue_fail(state, tile.s4 + at, 0u, result);
      }
    }
  }
}
#endif

// Restores the state before the first round, as the host uploads it.
void tg_queue_arm(global uint* state, uint threshold) {
  for (uint p = 0; p < TG_QUEUE_PRIORITIES; ++p) {
    state[TG_QUEUE_WAITING + p] = state[TG_QUEUE_COUNTS + p];
    state[TG_QUEUE_REQUEUED + p] = 0;
    state[TG_QUEUE_SINCE + p] = 0;
  }
  state[TG_QUEUE_ROUND] = 0;
  state[TG_QUEUE_STALLED] = 0;
  state[TG_QUEUE_FRESH] = ~0u;
  tg_queue_choose(state, threshold);
}

// Runs between two rounds, in one work-item: counts what is left and decides which priorities run next, if
// any. After the last round it restores the state before the first.
kernel void tidegate_queue_turn(global uint* state, uint threshold, uint most_stalled, uint capacity) {
  uint left = 0;
  uint requeued = 0;
  bool progress = false;
  const uint round = state[TG_QUEUE_ROUND];
  for (uint p = 0; p < TG_QUEUE_PRIORITIES; ++p) {
    if ((state[TG_QUEUE_RUNNING] >> p & 1u) != 0u) {
      const uint again = state[TG_QUEUE_REQUEUED + p];
      progress |= again < state[TG_QUEUE_WAITING + p];
      state[TG_QUEUE_WAITING + p] = again;
      state[TG_QUEUE_REQUEUED + p] = 0;
      state[TG_QUEUE_SINCE + p] = round + 1u;
      tg_queue_count(&state[TG_QUEUE_REQUEUES], again);
    }
  }
  state[TG_QUEUE_FRESH] &= ~state[TG_QUEUE_RUNNING];
  for (uint p = 0; p < TG_QUEUE_PRIORITIES; ++p) {
    left += state[TG_QUEUE_WAITING + p];
    requeued += (state[TG_QUEUE_FRESH] >> p & 1u) == 0u ? state[TG_QUEUE_WAITING + p] : 0u;
  }
  state[TG_QUEUE_ROUNDS] += 1u;
  state[TG_QUEUE_ROUND] = round + 1u;
  state[TG_QUEUE_STALLED] = progress ? 0u : state[TG_QUEUE_STALLED] + 1u;
  const uint end = state[TG_QUEUE_FAULT] != 0u               ? TG_QUEUE_FAILED
                   : left == 0u                              ? TG_QUEUE_DRAINED
                   : requeued > capacity                     ? TG_QUEUE_FULL
                   : state[TG_QUEUE_STALLED] >= most_stalled ? TG_QUEUE_NO_PROGRESS
                                                             : ~0u;
  const bool more = end == ~0u;
  state[TG_QUEUE_MORE] = more ? 1u : 0u;
  if (more) {
    tg_queue_choose(state, threshold);
  } else {
    state[TG_QUEUE_END] = max(state[TG_QUEUE_END], end); // a failure in one iteration persists
    state[TG_QUEUE_REMAINING] = max(state[TG_QUEUE_REMAINING], left + state[TG_QUEUE_FAULTS]);
    tg_queue_arm(state, threshold);
  }
}

// The reference for queues: runs the items as given and in their order, or in reverse, each in a work-item of a plain
// launch, repeatedly until all are done. `closed` is 0 for items that are not done.
kernel void tidegate_queue_check(global const uint4* items, uint count, uint reversed, global uint* closed,
                                 global uint* state TG_QUEUE_BUFFERS) {
  const uint place = get_global_id(0);
  const uint at = reversed != 0u ? count - 1u - place : place;
  if (place < count && closed[at] == 0u) {
    const uint4 item = items[at];
    const uint result = tg_queue_run(item.x, tg_queue_buffer(item.y TG_QUEUE_ARGUMENTS),
                                     tg_queue_buffer(item.z TG_QUEUE_ARGUMENTS), item.w);
    if (result == TIDEGATE_REQUEUE) {
      state[TG_QUEUE_MORE] = 1;
    } else {
      closed[at] = 1;
      if (result != TIDEGATE_DONE) {
        tg_queue_fail(state, at, 0u, result);
      }
    }
  }
}
#endif
