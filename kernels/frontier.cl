// A traversal in one launch: wave after wave, the topology of each chosen here.
//
//   absorb what the last step counted → choose → plan the next step → run it → all groups meet → …
//
// Every group absorbs the same counters, so all come to the same choice without a word; in each of them one work-item does,
// since what all of them do takes turns. A launch ends behind a bounded number of waves, and the next one goes on from the
// position that it left; without a device barrier a launch is one step. What is between them, is the same.
//
// A small frontier is worked by one group alone, wave after wave behind local barriers, while the others wait at the
// device barrier and then take its position over.

// What a step has counted.
typedef struct {
  ulong edges;
  ulong scanned;
  ulong change;
  ulong idle;
  uint entries;
  uint vertices;
  uint far;
  uint nearest;
} tg_counts;

tg_counts tg_counts_of(volatile global uint* slot) {
  tg_counts counts;
  counts.entries = slot[TG_TAIL];
  counts.vertices = slot[TG_VERTICES];
  counts.edges = TG_PARTS(slot + TG_EDGES);
  counts.scanned = TG_PARTS(slot + TG_SCANNED);
  counts.far = slot[TG_FAR];
  counts.nearest = ~slot[TG_NEAREST];
  counts.change = TG_WIDE_SUM(slot + TG_CHANGE);
  counts.idle = TG_WIDE_SUM(slot + TG_IDLE);
  return counts;
}

bool tg_works_alone(const tg_position* at, const tg_setting* setting) {
  return at->step == TG_STEP_WAVE && at->topology == TG_SPARSE && at->vertices <= setting->alone_vertices &&
         at->frontier_edges <= setting->alone_edges && at->entries <= TG_ALONE_ROOM;
}

bool tg_pushes(uint topology) { return topology == TG_SPARSE || topology == TG_HYBRID || topology == TG_CONSTRAINED; }

// The step that the chosen topology needs next.
uint tg_plan(const tg_position* at) {
  if (at->topology == TG_EMPTY) {
#if TG_ALGORITHM == TG_CC
    return TG_STEP_FINISH;
#else
    return TG_ALGORITHM == TG_BFS && TG_PARENTS && at->mixed != 0 ? TG_STEP_FINISH : TG_STEP_DONE;
#endif
  }
  const bool needs_queue = at->topology == TG_SPARSE || at->topology == TG_HYBRID;
  if (needs_queue && (at->has & TG_HAS_QUEUE) == 0) {
    return TG_STEP_TO_QUEUE;
  }
  return at->topology != TG_SPARSE && (at->has & TG_HAS_BITMAP) == 0 ? TG_STEP_TO_BITMAP : TG_STEP_WAVE;
}

void tg_choose_topology(tg_position* at, const tg_setting* setting) {
  const tg_signals signals = {at->frontier_edges, at->previous_edges, at->unexplored_edges, at->vertices, at->dense_waves};
  const tg_choice choice = tg_choose(setting->policy, signals, at->previous_topology);
  at->topology = choice.topology;
  at->rule = choice.rule;
  at->threshold = choice.threshold;
  at->chosen_edges = at->frontier_edges;
  at->chosen_vertices = at->vertices;
}

// A wave has ended: its row of the log, and the frontier that it has found.
void tg_end_wave(tg_position* at, const tg_setting* setting, tg_counts counts, global tg_log_row* row) {
  if (row != 0) {
    tg_log_row written;
    written.frontier_edges = at->chosen_edges;
    written.previous_edges = at->previous_edges;
    written.unexplored_edges = at->unexplored_edges;
    written.scanned_edges = at->scanned_edges;
    written.threshold = at->threshold;
    written.vertices = at->chosen_vertices;
    written.topology = at->topology;
    written.previous_topology = at->previous_topology;
    written.rule = at->rule;
    written.dense_waves = at->dense_waves;
    written.alone = tg_works_alone(at, setting);
    written.wave = at->wave;
    *row = written;
  }
  at->wave += 1;
  at->scanned_edges = 0;
  at->previous_topology = at->topology;
  at->previous_edges = at->chosen_edges;
  at->previous_topology = at->topology;
  at->dense_waves = at->topology == TG_DENSE || at->topology == TG_FUSED ? at->dense_waves + 1 : 0;
#if TG_ALGORITHM == TG_PAGERANK
  at->idle = counts.idle;
  if (counts.change < setting->rank_tolerance || at->wave >= setting->most_waves) {
    at->vertices = 0;
  }
#else
  at->unexplored_edges -= min(at->frontier_edges, at->unexplored_edges);
  at->has = at->topology == TG_SPARSE   ? TG_HAS_QUEUE
            : at->topology == TG_HYBRID ? TG_HAS_QUEUE | TG_HAS_BITMAP
                                        : TG_HAS_BITMAP;
  at->vertices = counts.vertices;
  at->frontier_edges = counts.edges;
  at->entries = counts.entries;
#endif
}

// From a step that has run to the next one.
void tg_absorb(tg_position* at, const tg_setting* setting, tg_counts counts, global tg_log_row* log, uint log_begin) {
  bool choose = true;
#if TG_ALGORITHM == TG_SSSP
  if (at->step == TG_STEP_REFILL) {
    at->near = tg_next_near(at, setting);
    at->far = counts.far;
    at->nearest = counts.nearest;
    at->far_turn += 1;
  } else {
    at->far += counts.far;
    at->nearest = min(at->nearest, counts.nearest);
  }
#endif
  switch (at->step) {
  case TG_STEP_WAVE:
#if TG_ALGORITHM == TG_PAGERANK
    at->scanned_edges = at->topology == TG_FUSED ? counts.scanned : 0;
    if (at->topology != TG_DENSE) {
      at->step = TG_STEP_APPLY;
      at->executed = 0;
      at->round += 1;
      return;
    }
#endif
    // fall through
  case TG_STEP_APPLY:
    at->scanned_edges += tg_pushes(at->topology) ? at->frontier_edges : counts.scanned;
    tg_end_wave(at, setting, counts, log == 0 ? 0 : log + (at->wave - log_begin));
    break;
  case TG_STEP_TO_BITMAP:
    at->has |= TG_HAS_BITMAP;
    choose = false;
    break;
  case TG_STEP_TO_QUEUE:
    at->has |= TG_HAS_QUEUE;
    at->entries = counts.entries;
    at->vertices = counts.vertices;
    at->frontier_edges = counts.edges;
    choose = false;
    break;
  case TG_STEP_START:
  case TG_STEP_REFILL:
    at->vertices = counts.vertices;
    at->frontier_edges = counts.edges;
    at->entries = counts.entries;
    at->has = at->step == TG_STEP_REFILL ? TG_HAS_QUEUE : at->has;
    break;
  default: // the last step has run
    at->topology = TG_EMPTY;
    at->step = TG_STEP_DONE;
    at->executed = 0;
    return;
  }
  at->executed = 0;
  at->round += 1;
#if TG_ALGORITHM == TG_SSSP
  if (at->vertices == 0 && at->far != 0) {
    at->step = TG_STEP_REFILL;
    return;
  }
#endif
  if (choose) {
    tg_choose_topology(at, setting);
  }
  at->step = tg_plan(at);
  if (at->step == TG_STEP_WAVE && at->topology == TG_FUSED) {
    at->mixed = 1;
  }
}

// What a group has in its local memory.
typedef struct {
#if TG_MAY_WORK_ALONE
  uint4 queues[2 * TG_ALONE_ROOM]; // of a wave that it works alone, and of the next one
#endif
  tg_position at;         // as work-item 0 has made it out
  uint sums[3 * TG_SUMS]; // of the step; of three waves in turn where it works alone
  uint gave_up;           // somebody has waited too long
  uint goes_on;           // alone
} tg_group;
#define TG_SURELY 2u

tg_counts tg_counts_of_sums(local const uint* sums) {
  tg_counts counts;
  counts.entries = sums[TG_SUM_TAIL];
  counts.vertices = sums[TG_SUM_VERTICES];
  counts.edges = TG_PARTS(sums + TG_SUM_EDGES);
  counts.scanned = TG_PARTS(sums + TG_SUM_SCANNED);
  counts.far = sums[TG_SUM_FAR];
  counts.nearest = ~sums[TG_SUM_NEAREST];
  counts.change = TG_WIDE_SUM(sums + TG_SUM_CHANGE);
  counts.idle = TG_WIDE_SUM(sums + TG_SUM_IDLE);
  return counts;
}

// Adds what a work-item has found to its group's sums; nothing is written for nothing.
void tg_sum_up(local uint* sums, tg_found found) {
  if (found.vertices != 0) {
    atomic_add(&sums[TG_SUM_VERTICES], found.vertices);
    TG_ADD_PARTS(sums + TG_SUM_EDGES, found.edges);
  }
  if (found.scanned != 0) {
    TG_ADD_PARTS(sums + TG_SUM_SCANNED, found.scanned);
  }
#if TG_ALGORITHM == TG_SSSP
  if (found.nearest != 0) {
    atomic_add(&sums[TG_SUM_FAR], found.far);
    atomic_max(&sums[TG_SUM_NEAREST], found.nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  TG_ADD_WIDE(sums + TG_SUM_CHANGE, found.change);
  TG_ADD_WIDE(sums + TG_SUM_IDLE, found.idle);
#endif
}

// Adds a group's sums to the counters of the step, and clears them. One work-item's.
void tg_tell(local uint* sums, volatile global uint* slot) {
  const tg_counts counts = tg_counts_of_sums(sums);
  if (counts.vertices != 0) {
    atomic_add(&slot[TG_VERTICES], counts.vertices);
    TG_ADD_PARTS(slot + TG_EDGES, counts.edges);
  }
  if (counts.scanned != 0) {
    TG_ADD_PARTS(slot + TG_SCANNED, counts.scanned);
  }
#if TG_ALGORITHM == TG_SSSP
  if (counts.nearest != 0xffffffffu) {
    atomic_add(&slot[TG_FAR], counts.far);
    atomic_max(&slot[TG_NEAREST], ~counts.nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  TG_ADD_WIDE(slot + TG_CHANGE, counts.change);
  TG_ADD_WIDE(slot + TG_IDLE, counts.idle);
#endif
  for (uint i = 0; i < TG_SUMS; ++i) {
    sums[i] = 0;
  }
}

#if TG_MAY_WORK_ALONE
// The first edge that a work-item has to go along in a wave that its group works alone.
typedef struct {
  tg_edge edge;
  uint4 entry;
  uint value;
  bool is_there;
} tg_errand;

// Fetches as much of it as can be known before the wave begins.
tg_errand tg_first_errand(const tg_job* job, tg_position at, uint entries, global const uint4* queue,
                          local const uint4* local_queue) {
  const uint lane = (uint)get_local_id(0);
  tg_errand errand;
  errand.entry = (uint4)(0);
  errand.value = 0;
  if (lane / TG_LANES < entries) {
    errand.entry = queue != 0 ? queue[lane / TG_LANES] : local_queue[lane / TG_LANES];
    errand.value = tg_value(job, &at, errand.entry.x);
  }
  errand.is_there = lane % TG_LANES < errand.entry.w;
  if (errand.is_there) {
    errand.edge = tg_fetch_edge(job, tg_first_edge(errand.entry) + lane % TG_LANES);
  }
  return errand;
}

// Waves of a small frontier by one group, until one is none or the limit is reached; the step is absorbed then. The first of them reads the queue in global memory, the others what the one before left in local
// memory; there goes what is left at the end.
//
// Waiting for memory is all that takes time here. What the next wave's first edges need is asked for before it is known
// whether there is a next one; most often a look at its size is enough for that, and then the last work-item, which seldom has
// edges to go along, absorbs the wave while the others are in the next one.
void tg_work_alone(const tg_job* job, const tg_setting* setting, local tg_group* group, tg_position* at,
                   global tg_log_row* log, uint log_begin, uint limit_wave) {
  const uint lane = (uint)get_local_id(0);
  const bool absorbs = lane == TG_GROUP_SIZE - 1;
  const uint round = at->round;
  const uint sure_vertices = min(setting->alone_vertices, tg_surely_sparse(setting->policy));
  const uint sure_edges = min(setting->alone_edges, setting->vertices);
  tg_errand errand = tg_first_errand(job, *at, at->entries, tg_queue_of(job, at->wave), 0);
  for (uint sequence = 0; sequence < 0xffffffffu; ++sequence) {
    local uint* const sums = group->sums + sequence % 3u * TG_SUMS;
    local uint* const next_sums = group->sums + (sequence + 1) % 3u * TG_SUMS; // were read two waves ago
    global const uint4* const queue = tg_queue_of(job, at->wave);
    local const uint4* const entries = group->queues + sequence % 2u * TG_ALONE_ROOM;
    local uint4* const next_entries = group->queues + (sequence + 1) % 2u * TG_ALONE_ROOM;
    tg_target to;
    to.queue = tg_queue_of(job, at->wave + 1);
    to.bitmap = 0;
    to.tail = 0;
    to.local_tail = sums + TG_SUM_TAIL;
    to.local_queue = next_entries;
    to.held = 0;
    to.wave = at->wave + 1;
    tg_found found = {0, 0, 0, 0, 0, 0, 0};
    if (errand.is_there) {
      tg_push_fetched(job, at, to, errand.entry.x, errand.value, errand.edge, &found);
    }
    for (uint e = lane % TG_LANES + TG_LANES; e < errand.entry.w; e += TG_LANES) {
      tg_push_edge(job, at, to, errand.entry.x, errand.value, tg_first_edge(errand.entry) + e, TG_EAGER, &found);
    }
    for (uint i = (lane + TG_GROUP_SIZE) / TG_LANES; i < at->entries; i += TG_GROUP_SIZE / TG_LANES) {
      const uint4 entry = sequence == 0 ? queue[i] : entries[i];
      const uint value = tg_value(job, at, entry.x);
      for (uint e = lane % TG_LANES; e < entry.w; e += TG_LANES) {
        tg_push_edge(job, at, to, entry.x, value, tg_first_edge(entry) + e, TG_EAGER, &found);
      }
    }
    tg_sum_up(sums, found);
    for (uint i = lane; i < TG_SUMS; i += TG_GROUP_SIZE) {
      next_sums[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint vertices = sums[TG_SUM_VERTICES];
    tg_position next = *at;
    next.wave += 1;
    next.entries = sums[TG_SUM_TAIL];
    const uint kept = min(next.entries, (uint)TG_ALONE_ROOM);
    const bool sure = vertices != 0 && vertices <= sure_vertices && next.entries <= TG_ALONE_ROOM &&
                      TG_PARTS(sums + TG_SUM_EDGES) <= sure_edges && next.wave < limit_wave;
    errand = tg_first_errand(job, next, kept, 0, next_entries);
    if (absorbs) {
      group->goes_on = TG_SURELY;
      if (!sure) {
        tg_absorb(at, setting, tg_counts_of_sums(sums), log, log_begin);
        group->goes_on = tg_works_alone(at, setting) && at->wave < limit_wave;
        group->at = *at;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint goes_on = group->goes_on;
    if (goes_on == 0) {
      for (uint i = lane; i < kept; i += TG_GROUP_SIZE) {
        to.queue[i] = next_entries[i];
      }
      break;
    }
    if (!absorbs) {
      *at = next;
    } else if (goes_on == TG_SURELY) {
      tg_absorb(at, setting, tg_counts_of_sums(sums), log, log_begin);
    }
  }
  *at = group->at;
  at->round = round + 1;
  for (uint i = lane; i < 3 * TG_SUMS; i += TG_GROUP_SIZE) {
    group->sums[i] = 0;
  }
}
#endif

// Counters that the next step adds to, cleared by one group: they were read before the last barrier.
void tg_clear_counters(const tg_job* job, const tg_position* at) {
  volatile global uint* const next = tg_slot(job, at->round + 1);
  for (uint i = (uint)get_local_id(0); i < TG_SLOT_WORDS; i += TG_GROUP_SIZE) {
    next[i] = 0;
  }
#if TG_ALGORITHM == TG_SSSP
  if (get_local_id(0) == 0) {
    *tg_far_tail(job, at->far_turn + 2) = 0; // of what was gone through a turn ago
  }
#endif
}

// A group's part of the step at hand.
void tg_run_step(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_found* found) {
  volatile global uint* const slot = tg_slot(job, at->round);
  const bool wave = at->step == TG_STEP_WAVE;
  const bool bitmap_too = at->topology != TG_SPARSE;
  tg_target to;
  to.wave = at->wave + (wave ? 1 : 0);
  to.queue = wave && at->topology != TG_SPARSE && at->topology != TG_HYBRID ? 0 : tg_queue_of(job, to.wave);
  to.bitmap = wave && bitmap_too ? tg_bitmap_of(job, to.wave) : 0;
  to.tail = slot + TG_TAIL;
  to.local_tail = 0;
  to.local_queue = 0;
  tg_held held;
  held.count = 0;
  to.held = TG_GROUP_SIZE == 1 ? &held : 0;
  if (wave) {
    if (at->topology == TG_SPARSE || at->topology == TG_HYBRID) {
      tg_push_queue(job, at, to, at->frontier_edges <= TG_EAGER_EDGES, found);
    } else if (at->topology == TG_CONSTRAINED) {
      tg_push_bitmap(job, at, to, found);
    } else if (at->topology == TG_FUSED) {
      tg_pull_in_place(job, at, setting, to, found);
    } else {
      tg_pull(job, at, setting, to, found);
    }
    if (bitmap_too) {
      tg_clear_bitmap(job, at->wave + 2);
    }
  } else if (at->step == TG_STEP_TO_BITMAP) {
    tg_to_bitmap(job, at);
  } else if (at->step == TG_STEP_TO_QUEUE) {
    tg_to_queue(job, at, to, found);
#if TG_ALGORITHM == TG_SSSP
  } else if (at->step == TG_STEP_REFILL) {
    tg_refill(job, at, setting, to, found);
#endif
#if TG_ALGORITHM == TG_PAGERANK
  } else if (at->step == TG_STEP_APPLY) {
    tg_apply(job, at, setting, found);
#endif
  } else {
    tg_finish(job);
  }
  tg_flush(to);
}

// What everything holds at first.
void tg_begin(const tg_job* job, const tg_setting* setting) {
  ulong idle = 0;
  for (uint v = tg_first_item(job, 1); v < job->vertices; v = tg_next_item(job, v, 1)) {
#if TG_ALGORITHM == TG_PAGERANK
    const float rank = 1.0f / (float)job->vertices;
    const tg_offset degree = tg_degree(job, v);
    job->values[v] = as_uint(rank);
    tg_passed(job, 0)[v] = degree == 0 ? 0.0f : rank / (float)degree;
    idle += degree == 0 ? tg_units(rank) : 0;
    job->stamps[v] = 0;
#else
    job->values[v] = TG_ALGORITHM == TG_CC                     ? v
                : TG_ALGORITHM == TG_REACH                ? 0u
                : TG_ALGORITHM == TG_SSSP && TG_FLOATS ? 0x7f800000u
                                                          : 0xffffffffu;
#if TG_ALGORITHM == TG_BFS && TG_PARENTS
    job->others[v] = TG_NOBODY;
#endif
    if (setting->constrained == 0) {
      job->stamps[v] = 0xffffffffu;
    }
#endif
  }
#if TG_ALGORITHM == TG_CC || TG_ALGORITHM == TG_PAGERANK
  const bool all = true;
#else
  const bool all = false;
#endif
  for (uint word = tg_first_item(job, 1); word < job->words; word = tg_next_item(job, word, 1)) {
    const uint rest = job->vertices - word * 32;
    job->bitmaps[word] = !all ? 0u : rest < 32 ? (1u << rest) - 1 : 0xffffffffu;
#if TG_ALGORITHM != TG_PAGERANK
    job->bitmaps[job->words + word] = 0;
    job->bitmaps[2u * job->words + word] = 0;
#endif
#if TG_ALGORITHM == TG_SSSP
    if (setting->constrained == 0) {
      tg_far_bits(job)[word] = 0;
    }
#endif
  }
  if (idle != 0) {
    TG_ADD_WIDE(tg_slot(job, 0) + TG_IDLE, idle);
  }
}

// The first frontier, by one work-item; the state was cleared, and tg_begin has run.
void tg_seed(const tg_job* job, const tg_setting* setting, global const uint* sources) {
  volatile global uint* const slot = tg_slot(job, 0);
  tg_position at = job->state->launch[0];
  at.executed = 1;
  at.step = TG_STEP_START;
  at.has = TG_HAS_BITMAP;
  at.unexplored_edges = setting->policy.edges;
#if TG_ALGORITHM == TG_CC || TG_ALGORITHM == TG_PAGERANK
  slot[TG_VERTICES] = job->vertices;
  TG_ADD_PARTS(slot + TG_EDGES, setting->policy.edges);
  at.idle = TG_WIDE_SUM(slot + TG_IDLE);
#else
  at.nearest = 0xffffffffu;
  at.near = setting->delta;
  at.has |= setting->constrained != 0 ? 0u : TG_HAS_QUEUE;
  tg_target to;
  to.queue = job->queues;
  to.bitmap = job->bitmaps;
  to.tail = slot + TG_TAIL;
  to.local_tail = 0;
  to.local_queue = 0;
  to.held = 0;
  to.wave = 0;
  ulong edges = 0;
  for (uint i = 0; i < setting->source_count; ++i) {
    const uint v = sources[i];
    const uint bit = 1u << (v & 31u);
    const tg_offset degree = tg_degree(job, v);
    job->values[v] = TG_ALGORITHM == TG_REACH ? job->values[v] | 1u << i : 0u;
#if TG_ALGORITHM == TG_BFS && TG_PARENTS
    job->others[v] = v;
#endif
    if ((job->bitmaps[v >> 5] & bit) != 0) {
      continue; // named twice
    }
    job->bitmaps[v >> 5] |= bit;
    if (setting->constrained == 0) {
      job->stamps[v] = 0;
      tg_enqueue(to, v, job->offsets[v], degree);
    }
    slot[TG_VERTICES] += 1;
    edges += degree;
  }
  TG_ADD_PARTS(slot + TG_EDGES, edges);
#endif
  job->state->launch[0] = at;
}

// What a launch is for. All of it is one kernel, as drivers for CPUs compile each by itself, with everything.
#define TG_ACTION_RUN 0u
#define TG_ACTION_BEGIN 1u
#define TG_ACTION_SEED 2u
#define TG_ACTION_POLL 3u // how many groups are resident together? `limit_wave` polls to settle

// `arrivals_per_barrier` is 0 where launches are one step each.
kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_frontier(
    TG_GRAPH_PARAMETERS, global tg_log_row* log, volatile global tg_word* counters, global uint* reports,
    volatile global uint* poll, uint launch, uint limit_wave, uint log_begin, uint most_polls, uint arrivals_per_barrier,
    uint action) {
  local tg_group group;
  if (action == TG_ACTION_POLL) {
    if (get_local_id(0) == 0) {
      tg_take_part(poll, most_polls, limit_wave);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return;
  }
  TG_MAKE_JOB(job);
  const tg_setting set = *setting;
  if (action == TG_ACTION_BEGIN) {
    tg_begin(&job, &set);
    return;
  }
  if (action == TG_ACTION_SEED) {
    if (get_global_id(0) == 0) {
      tg_seed(&job, &set, sources);
    }
    return;
  }
  const uint lane = (uint)get_local_id(0);
  for (uint i = lane; i < 3 * TG_SUMS; i += TG_GROUP_SIZE) {
    group.sums[i] = 0;
  }
  if (lane == 0) {
    group.gave_up = 0;
  }
  tg_position at = state->launch[launch & 1u];
  for (uint left = 0xffffffffu; left != 0; --left) {
    if (lane == 0) {
      if (at.executed != 0 && group.gave_up == 0) {
        tg_absorb(&at, &set, tg_counts_of(tg_slot(&job, at.round)), job.group == 0 ? log : 0, log_begin);
      }
      group.at = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    at = group.at;
    if (group.gave_up != 0 || at.step == TG_STEP_DONE || at.wave >= limit_wave) {
      break;
    }
    const bool alone = tg_works_alone(&at, &set);
    const uint round = at.round;
    if (job.group == 0) {
      tg_clear_counters(&job, &at);
    }
    if (!alone) {
      tg_found found = {0, 0, 0, 0, 0, 0, 0};
      tg_run_step(&job, &at, &set, &found);
      tg_sum_up(group.sums, found);
    }
#if TG_MAY_WORK_ALONE
    if (alone && job.group == 0) {
      tg_work_alone(&job, &set, &group, &at, log, log_begin, limit_wave);
      if (lane == 0) {
        state->alone[round & 1u] = at;
      }
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lane == 0 && !alone) {
      tg_tell(group.sums, tg_slot(&job, round));
      at.executed = 1;
    }
    if (arrivals_per_barrier == 0) {
      break;
    }
    if (lane == 0) {
      const uint arrivals = at.arrivals + arrivals_per_barrier;
      if (!tg_arrive_and_await(counters, arrivals, most_polls, reports + 8 * job.group, (uint3)(at.wave, at.step, at.topology))) {
        group.gave_up = 1;
      } else if (alone) {
        at = state->alone[round & 1u];
      }
      at.arrivals = arrivals;
    }
  }
  if (job.group == 0 && lane == 0) {
    state->launch[(launch + 1) & 1u] = at;
    state->stuck = tg_load_acquire(&counters[TG_GAVE_UP]);
  }
}
