// One launch for many waves. The work-groups stay resident, divide the tiles of a stage among themselves and
// start the next stage as soon as the groups that it depends on (all, or a few) have progressed far enough.
//
//             iteration 0       iteration 1
//   stage 0 | stage 1 | stage 2 | stage 1 | … | stage 3      stages 1 and 2 repeat
//   [ turn turn | turn … ]                        a slice begins and ends anywhere between two turns, in
//                                                 each of which every group runs one tile: the host starts
//                                                 the next one where this one stopped
//
// Every group computes its position itself. Nothing is claimed, but for tiles at barriers of CPUs (claims.cl). A group
// publishes only the number of steps that it has completed: stage s of iteration i is step i * steps + s. It waits only
// for earlier steps, so waits cannot form a cycle with any number of groups.

// With few stages of one wave each (TG_LEAN) the stages are compile-time constants: a group keeps its part of
// them in registers, and the generated tg_lean_step has separate code for each stage. Otherwise tasks and
// waits are computed once at the start and kept in local memory if they fit.
#if TG_LEAN
#define TG_POLL_ROOM 1
#else
#define TG_POLL_ROOM 24
#endif

// Constants of a launch.
typedef struct {
  global uchar* arena;
  global const tg_stage* stages;
  global const tg_entry* entries;
  uint entries_per_phase;
  global const tg_wait* waits;
  global const ulong* words;
  volatile global tg_word* counters;
  global uint* report;
  uint group;
  uint groups;
  uint steps;
  uint mapping;
  uint most_polls;
  uint arrivals_per_barrier;
  local uchar* dynamic;
  local tg_locals_union* locals;
  local const tg_poll* kept_polls; // or 0
  local uint* gave_up;
#if TG_CLAIMS
  uint budget;
  local tg_claims* claims;
#endif
} tg_context;

// Position of a group in the schedule.
typedef struct {
  uint iteration;
  uint phase; // swap phase
  uint stage;
  uint turn;
  uint left; // turns left in the slice
  uint arrivals;
  uint wait; // kind of wait before the stage; TG_NO_WAIT after a barrier or the start of the launch
  tg_recorder recorder;
} tg_cursor;

#define TG_NO_WAIT 0
#define TG_LISTED_WAITS 1
#define TG_WAIT_FOR_ALL 2

tg_poll tg_poll_at(tg_context launch, tg_task task, const tg_poll* polls, uint i) {
  return TG_LEAN                ? polls[i]
         : launch.kept_polls != 0 ? launch.kept_polls[i]
                                  : tg_poll_of(launch.waits[i], task.first, task.first + task.count, launch.groups);
}

// Waits for the dependencies of a task; returns false if a wait timed out.
__attribute__((always_inline)) static bool tg_await_dependencies(tg_context launch, tg_task task, const tg_poll* polls, tg_cursor at) {
  const uint3 place = (uint3)(at.iteration, at.stage, task.first);
  if ((task.flags & TG_EVERYBODY) != 0 || at.wait == TG_WAIT_FOR_ALL) {
    // A group that claims all tiles never has to wait, and so would not see that it is to stop.
    if (get_local_id(0) == 0 &&
        !tg_await(launch.counters, TG_ARRIVALS, at.arrivals,
                  TG_CLAIMS && tg_load_relaxed(&launch.counters[TG_GAVE_UP]) != 0 ? 0 : launch.most_polls, launch.report, place)) {
      *launch.gave_up = 1;
    }
  } else {
    const uint step = at.iteration * launch.steps + at.stage;
    for (uint i = 0; i < task.wait_count; ++i) {
      const tg_poll poll = tg_poll_at(launch, task, polls, task.first_wait + i);
      // Each wait starts in another warp, and none in the publishing warp, so that several waits overlap.
      for (uint other = (get_local_id(0) + (TG_GROUP_SIZE - (i + 1) * 32 % TG_GROUP_SIZE)) % TG_GROUP_SIZE; other < poll.count;
           other += TG_GROUP_SIZE) {
        const uint awaited = poll.first + other;
        if (awaited != launch.group && // a group has completed its earlier steps itself
            !tg_await(launch.counters, TG_REACHED(awaited), step + 1 - poll.steps, launch.most_polls, launch.report, place)) {
          *launch.gave_up = 1;
          break;
        }
      }
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  return *launch.gave_up == 0;
}

// Waits for the task's dependencies, runs its tiles within the slice and publishes the step. Returns false if
// the launch ends here.
__attribute__((always_inline)) static bool tg_step(tg_context launch, tg_task task, const tg_poll* polls,
                                                   tg_cursor* at TG_OBJECT_PARAMETERS) {
  const uint sequence = at->iteration * launch.steps + at->stage;
  uint all_tiles = launch.stages[at->stage].tiles;
  tg_walk walk = tg_walk_of(task, at->turn, at->left, launch.mapping, sequence);
  const ulong asked = tg_now();
#if TG_GATES
  tg_gate gate = {at->wait == TG_LISTED_WAITS && walk.count != 0 && (task.flags & TG_EVERYBODY) != 0 && (task.flags & TG_WAITS_INSIDE) != 0,
                  (volatile global uint*)launch.counters, at->arrivals, launch.most_polls, launch.report,
                  (uint3)(at->iteration, at->stage, task.first), launch.gave_up};
  const bool waits_inside = gate.closed;
#else
  const bool waits_inside = false;
#endif
  if (!waits_inside && at->wait != TG_NO_WAIT && !tg_await_dependencies(launch, task, polls, *at)) {
    return false;
  }
  const ulong began = tg_now();
  tg_entry entry = task.entry;
#if TG_HAS_LISTS
  const tg_list list = tg_list_of(at->stage, at->iteration, launch.arena, TG_CLAIMS || launch.group == 0);
  if (list.entries != 0) {
    all_tiles = list.packs;
    const tg_task listed = tg_share_of(all_tiles, launch.group, launch.groups, launch.mapping);
    task.first = listed.first;
    task.step = listed.step;
    task.count = listed.count;
    task.turns = listed.turns;
    walk = tg_walk_of(task, at->turn, at->left, launch.mapping, sequence);
  }
#endif
#if TG_CLAIMS
  const uint tiles = tg_tiles_of_turns(all_tiles, at->turn, walk.turns, task.turns, launch.groups);
  const tg_part_of_stage of_stage = {all_tiles, launch.group, launch.groups, launch.mapping, at->turn, at->left, sequence};
  if (get_local_id(0) == 0) {
    tg_begin_claims(launch.claims, launch.budget - at->left, walk);
  }
  for (uint i = 0; i <= tiles; ++i) {
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); // the tile before is finished
    if (get_local_id(0) == 0) {
      tg_claim_tile(launch.claims, launch.counters, of_stage);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint tile = launch.claims->tile;
    if (tile == TG_NO_TILE) {
      break;
    }
#else
  for (uint i = 0, tile = walk.first; i < walk.count; ++i, tile += walk.step) {
#endif
    if (!TG_LEAN && tile - entry.first_tile >= entry.tiles) {
      entry = tg_entry_of(launch.entries + at->phase * launch.entries_per_phase + launch.stages[at->stage].first_entry,
                          launch.stages[at->stage].entry_count, tile);
    }
    tg_run_tile(entry.code, entry.descriptor, TG_LEAN ? tile : tile - entry.first_tile, at->iteration, launch.arena,
                launch.words, launch.dynamic, launch.locals TG_LIST_ARGUMENT TG_OBJECT_ARGUMENTS TG_GATE_ARGUMENT);
#if TG_GATES
    gate.closed = false;
#endif
  }
  at->left -= walk.turns;
  at->turn += walk.turns;
#if TG_CLAIMS
  if (get_local_id(0) == 0 && launch.claims->count != 0) {
    tg_add_many_release(&launch.counters[TG_ARRIVALS], launch.claims->count);
  }
  at->arrivals += tiles;
  at->wait = TG_LISTED_WAITS;
  const bool ended = at->turn == task.turns;
  at->turn = ended ? 0 : at->turn;
  return ended;
#else
  if (at->turn != task.turns) {
    tg_record(&at->recorder, (ulong3)(asked, began, tg_now()), at->iteration, at->stage, walk);
    return false;
  }
  at->turn = 0;
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  const ulong ended = tg_now();
  if (get_local_id(0) == 0 && (!TG_GATES || *launch.gave_up == 0)) { // a group that gave up inside of a kernel never arrives
    if (task.flags & TG_ANNOUNCED) {
      tg_store_release(&launch.counters[TG_REACHED(launch.group)], at->iteration * launch.steps + at->stage + 1);
    }
    if (task.flags & TG_ARRIVES) {
      tg_add_release(&launch.counters[TG_ARRIVALS]);
    }
  }
  tg_record(&at->recorder, (ulong3)(asked, began, ended), at->iteration, at->stage, walk);
  at->arrivals += task.flags & TG_ARRIVES ? launch.arrivals_per_barrier : 0;
  at->wait = TG_LISTED_WAITS;
  return !TG_GATES || *launch.gave_up == 0;
#endif
}

#if TG_LEAN
// The stages of this program as constants: TG_LEAN_TASKS has a TG_LEAN_TASK of each in each swap phase and its
// TG_LEAN_WAITs, TG_LEAN_CASES a TG_LEAN_CASE.
#define TG_LEAN_TASK(i, tiles, its_code, its_descriptor, its_flags, its_first_wait, its_wait_count) \
  lean.tasks[i] = tg_share_of(tiles, group, groups, mapping); \
  lean.tasks[i].entry.code = its_code; \
  lean.tasks[i].entry.descriptor = its_descriptor; \
  lean.tasks[i].flags = its_flags; \
  lean.tasks[i].first_wait = its_first_wait; \
  lean.tasks[i].wait_count = its_wait_count;
#define TG_LEAN_WAIT(i, task, begin, end, from_begin, from_end, from_tiles, halo, steps) \
  { \
    const tg_wait wait = {begin, end, from_begin, from_end, from_tiles, halo, steps}; \
    lean.polls[i] = tg_poll_of(wait, lean.tasks[task].first, lean.tasks[task].first + lean.tasks[task].count, groups); \
  }
#define TG_LEAN_CASE(i) \
  case i: return tg_step(launch, lean.tasks[i], lean.polls, at TG_OBJECT_ARGUMENTS);

typedef struct {
  tg_task tasks[TG_LEAN_TASK_COUNT];
  tg_poll polls[TG_LEAN_WAIT_COUNT];
} tg_lean_tasks;

__attribute__((always_inline)) static tg_lean_tasks tg_lean_tasks_of(uint group, uint groups, uint mapping) {
  tg_lean_tasks lean;
  TG_LEAN_TASKS
  return lean;
}

__attribute__((always_inline)) static bool tg_lean_step(tg_context launch, tg_lean_tasks lean,
                                                        tg_cursor* at TG_OBJECT_PARAMETERS) {
  switch (at->phase * TG_LEAN_STAGE_COUNT + at->stage) {
    TG_LEAN_CASES
    default: return false;
  }
}
#endif

// A late group still reads the counts of its iteration, whose places the others must not reach in this slice.
#if TG_HAS_LISTS && TG_CLAIMS
#define TG_MAY_GO_ON(iterations) ((iterations) < TG_ACTIVE_MASK - 1)
#else
#define TG_MAY_GO_ON(iterations) true
#endif

#if TG_HAS_QUEUES
// The state of a queue (queue_state.h). Macros of the stage choose: calls of TG_QUEUE_TURN under conditions PoCL (3.1) lets
// every work-item run.
static global uint* tg_queue_state(uint stage, global uchar* arena) { return (global uint*)(arena + TG_QUEUE_STATE(stage)); }

// Called by one work-item of each group after its last local barrier: all groups arrive, and the last one starts the next
// round or ends the queue before a further arrival lets the others go on. A group that is alone need not arrive first: all
// that the round did came before this call. Returns false if a wait timed out.
static bool tg_end_round(tg_context launch, const tg_cursor* at) {
  const uint all = at->arrivals + launch.arrivals_per_barrier;
  const bool alone = launch.arrivals_per_barrier == 1;
  if (!alone && tg_arrive(&launch.counters[TG_ARRIVALS]) + 1 != all) {
    return tg_await(launch.counters, TG_ARRIVALS, all + 1, launch.most_polls, launch.report, (uint3)(at->iteration, at->stage, 0));
  }
  const tg_item nowhere = {{1}};
  TG_QUEUE_TURN(nowhere, tg_queue_state(at->stage, launch.arena), TG_QUEUE_THRESHOLD, TG_QUEUE_MOST_STALLED(at->stage),
                TG_QUEUE_CAPACITY(at->stage));
  tg_add_many_release(&launch.counters[TG_ARRIVALS], alone ? 2 : 1);
  return true;
}
#endif

#if TG_HAS_UNTIL
// True once the value that was asked for is in memory.
static uint tg_until_met(global const uchar* arena, global const ulong* words, uint phase) {
  return TG_UNTIL_IS(*(global const TG_UNTIL_TYPE*)(arena + words[TG_UNTIL_WORD + phase]));
}
#endif

kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_persistent(
    global uchar* arena, global const tg_stage* stages, global const tg_entry* entries, global const tg_wait* waits,
    global const ulong* words, volatile global tg_word* counters, global uint* progress, volatile global uint* poll,
    uint stage_count, uint wait_count, uint stage_end, uint repeat_begin, uint repeat_end, uint steps, uint phase_count,
    uint entries_per_phase, uint mapping, uint iterations, uint iteration, uint stage, uint turn, uint budget, uint arrivals,
    uint arrivals_per_barrier, uint most_polls, local ulong16* dynamic TG_OBJECT_PARAMETERS) {
  local tg_locals_union locals;
  local tg_task tasks[TG_TASK_ROOM];
  local tg_poll polls[TG_POLL_ROOM];
  local uint gave_up;
#if TG_CLAIMS
  local tg_claims claims;
#endif
  if (iterations == 0) { // count the groups that run concurrently; no run
    if (get_local_id(0) == 0) {
      tg_take_part(poll, most_polls, budget);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return;
  }

  const uint group = get_group_id(0);
  const uint groups = get_num_groups(0);
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const bool kept = !TG_LEAN && phase_count * stage_count <= TG_TASK_ROOM && wait_count <= TG_POLL_ROOM;
  for (uint i = get_local_id(0); kept && i < phase_count * stage_count; i += TG_GROUP_SIZE) {
    const tg_stage of = stages[i % stage_count];
    const tg_task task = tg_task_of(of, entries + i / stage_count * entries_per_phase, group, groups, TG_MAPPING);
    tasks[i] = task;
    for (uint w = of.first_wait; i < stage_count && w < of.first_wait + of.wait_count; ++w) {
      polls[w] = tg_poll_of(waits[w], task.first, task.first + task.count, groups);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const tg_context launch = {arena, stages, entries, entries_per_phase, waits, words, counters,
                            progress + TG_PROGRESS_GROUPS + TG_REPORT * group, group, groups, steps, TG_MAPPING, most_polls,
                            arrivals_per_barrier, (local uchar*)dynamic, &locals, kept ? polls : 0, &gave_up
#if TG_CLAIMS
                            , budget, &claims
#endif
  };

  tg_cursor at = {iteration, iteration % phase_count, stage, turn, budget, arrivals, TG_NO_WAIT,
                    tg_begin_recording(progress, group, groups)};
  uint finished = 0;
#if TG_LEAN
  tg_lean_tasks lean = tg_lean_tasks_of(group, groups, TG_MAPPING);
#endif
  while (at.left != 0 && at.stage != stage_end && TG_MAY_GO_ON(at.iteration - iteration)) {
#if TG_LEAN
    const bool ended = tg_lean_step(launch, lean, &at TG_OBJECT_ARGUMENTS);
#else
    const tg_task task = kept ? tasks[at.phase * stage_count + at.stage]
                              : tg_task_of(stages[at.stage], entries + at.phase * entries_per_phase, group, groups, TG_MAPPING);
    const bool ended = tg_step(launch, task, 0, &at TG_OBJECT_ARGUMENTS);
#endif
    if (!ended) {
      break;
    }
#if TG_HAS_QUEUES
    if (TG_IS_QUEUE(at.stage)) { // there may be another round: who arrives last decides
      if (get_local_id(0) == 0 && !tg_end_round(launch, &at)) {
        gave_up = 1;
      }
      at.arrivals += arrivals_per_barrier + 1;
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
      if (gave_up != 0) {
        break;
      }
      at.wait = TG_NO_WAIT;
      if (tg_queue_state(at.stage, arena)[TG_QUEUE_MORE_WORD] != 0) {
        continue;
      }
      if (tg_queue_state(at.stage, arena)[TG_QUEUE_END_WORD] != TG_QUEUE_HAS_DRAINED) { // the host ends the run here
        break;
      }
    }
#endif
    if (TG_HAS_BEFORE && at.stage + 1 == repeat_begin) {
      at.wait = TG_WAIT_FOR_ALL;
    }
    if (++at.stage != repeat_end) {
      continue;
    }
    ++at.iteration;
    at.phase = at.phase + 1 == phase_count ? 0 : at.phase + 1;
    at.stage = at.iteration < iterations ? repeat_begin : repeat_end;
#if TG_HAS_UNTIL
    const ulong asked = tg_now();
    if (get_local_id(0) == 0 &&
        !tg_await(counters, TG_ARRIVALS, at.arrivals, most_polls, launch.report, (uint3)(at.iteration, at.stage, 0))) {
      gave_up = 1;
    }
#if TG_CLAIMS // one group tests the value and says so, as if that were a tile
    if (get_local_id(0) == 0 && gave_up == 0) {
      if (tg_claim(TG_UNTIL_CLAIM(counters), budget - at.left + 1, 1) == 0) {
        if (tg_until_met(arena, words, at.phase)) {
          tg_store_release(&counters[TG_UNTIL_MET], at.iteration);
        }
        tg_add_many_release(&counters[TG_ARRIVALS], 1);
      }
      if (!tg_await(counters, TG_ARRIVALS, at.arrivals + 1, most_polls, launch.report, (uint3)(at.iteration, at.stage, 0))) {
        gave_up = 1;
      }
      claims.met = tg_load_acquire(&counters[TG_UNTIL_MET]) == at.iteration;
    }
    at.arrivals += 1;
#endif
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (gave_up != 0) {
      break;
    }
    const ulong began = tg_now();
#if TG_CLAIMS
    finished = claims.met;
#else
    finished = tg_until_met(arena, words, at.phase);
#endif
    const tg_walk nothing = {0, 0, 0, 0};
    tg_record(&at.recorder, (ulong3)(asked, began, tg_now()), at.iteration, TG_SPAN_UNTIL, nothing);
    at.stage = finished ? repeat_end : at.stage; // continue after the repetition
    at.wait = TG_NO_WAIT;
    if (at.stage == stage_end) {
      break;
    }
    if (TG_GUARD_UNTIL) { // the next stage overwrites the checked value
      at.arrivals += arrivals_per_barrier;
      if (!tg_device_barrier(counters, at.arrivals, most_polls, &gave_up, launch.report, (uint3)(at.iteration, at.stage, 0))) {
        break;
      }
    }
#endif
  }
  tg_end_recording(at.recorder, progress, group, groups);
  if (group == 0 && get_local_id(0) == 0) {
    progress[TG_PROGRESS_ITERATION] = at.iteration;
    progress[TG_PROGRESS_STAGE] = at.stage;
    progress[TG_PROGRESS_TURN] = at.turn;
    progress[TG_PROGRESS_FINISHED] = finished;
    progress[TG_PROGRESS_STUCK] = tg_load_acquire(&counters[TG_GAVE_UP]);
    progress[TG_PROGRESS_ARRIVALS] = at.arrivals;
  }
}
