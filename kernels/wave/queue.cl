// Queues: explicit work items, each run by one lane. An item is two words: op, input and output in one, the param in
// the other.
//
//   items as given     (op, input, output, param) (op, input, output, param) …
//   published          params of items with the same op, input and output, in tiles of one work-group's share:
//
//     tile 0: op 1, buffers 0 and 2 | tile 1: the same | tile 2: op 4, buffers 0 and 3 | …
//     p p p p p p p p p p p p p p p | p p p p p p p    | p, p + 1, p + 2, …            |
//
// So a work-group branches uniformly, and loads four bytes per item, or none if params are consecutive. Nothing is
// claimed: tiles are distributed as in every wave. A tile has one item per lane, or several in a long queue, which
// keeps enough loads in flight for a GPU's memory (4 for each of 256 lanes measured best).
//
// If ops requeue or publish items, the wave runs in rounds (kernels/wave/rings.cl).
//
// Generated definitions precede this file: TG_QUEUE_IN_ROUNDS, TG_QUEUE_PUBLISHES, TG_QUEUE_BUFFERS and
// TG_QUEUE_ARGUMENTS (the buffers, each after a comma), TG_QUEUE_LANES, TG_QUEUE_PER_LANE. The user's file follows it, so
// that its macros affect no other code, and then tg_queue_run() with a case for each combination of an op and its buffers.
#include "wave/queue_state.h"

#define TIDEGATE_QUEUE 1
#define TIDEGATE_FAULT(code) (TG_QUEUE_FAULT_BIT | (uint)(code))

void tg_queue_fail(global uint* state, uint item, uint param, uint result) {
  if (atomic_cmpxchg(&state[TG_QUEUE_FAULT], 0u, 1u) == 0u) {
    state[TG_QUEUE_FAULT_ITEM] = item;
    state[TG_QUEUE_FAULT_PARAM] = param;
    state[TG_QUEUE_FAULT_RESULT] = result;
  }
  atomic_inc(&state[TG_QUEUE_FAULTS]);
}

#if !TG_QUEUE_PUBLISHES
// An op that publishes is in the user's file, but not in this queue.
#define TIDEGATE_PUBLISH(op, input, output, param) (void)publisher
#define TIDEGATE_PUBLISH_AT(priority, op, input, output, param) (void)publisher
#endif

#if TG_QUEUE_IN_ROUNDS
#include "wave/rings.cl"
#else
typedef local uint* tidegate_publisher;

uint tg_queue_run(uint tg_item, uint tg_param, tidegate_publisher tg_to TG_QUEUE_BUFFERS);

// A tile is { item's first word, items, param of the first one, 1 if `params` lists them from there instead }.
uint tg_queue_param(uint4 tile, global const uint* params, uint at) {
  return tile.s3 != 0u ? params[tile.s2 + at] : tile.s2 + at;
}

kernel void tidegate_queue_drain(global const uint4* tiles, global const uint* params,
                                 global uint* state TG_QUEUE_BUFFERS) {
  const uint4 tile = tiles[get_group_id(0)];
  const uint lane = get_local_id(0);
  uint own[TG_QUEUE_PER_LANE]; // start all loads before the first use
  for (uint i = 0; i < TG_QUEUE_PER_LANE; ++i) {
    const uint at = i * TG_QUEUE_LANES + lane;
    own[i] = at < tile.s1 ? tg_queue_param(tile, params, at) : 0u;
  }
  for (uint i = 0; i < TG_QUEUE_PER_LANE; ++i) {
    if (i * TG_QUEUE_LANES + lane < tile.s1) {
      const uint result = tg_queue_run(tile.s0, own[i], 0 TG_QUEUE_ARGUMENTS);
      if (result != TIDEGATE_DONE) {
        tg_queue_fail(state, tile.s0, own[i], result);
      }
    }
  }
}
#endif

#if !TG_QUEUE_PUBLISHES
// The reference for queues: runs the items as given and in their order, or in reverse, each in a work-item of a plain
// launch, repeatedly until all are done. `closed` is 0 for items that are not done.
kernel void tidegate_queue_check(global const uint2* items, uint count, uint reversed, global uint* closed,
                                 global uint* state TG_QUEUE_BUFFERS) {
  const uint place = get_global_id(0);
  const uint at = reversed != 0u ? count - 1u - place : place;
  if (place < count && closed[at] == 0u) {
    const uint2 item = items[at];
    const uint result = tg_queue_run(item.x, item.y, 0 TG_QUEUE_ARGUMENTS);
    if (result == TIDEGATE_REQUEUE) {
      state[TG_QUEUE_MORE] = 1;
    } else {
      closed[at] = 1;
      if (result != TIDEGATE_DONE) {
        tg_queue_fail(state, item.x, item.y, result);
      }
    }
  }
}
#endif
