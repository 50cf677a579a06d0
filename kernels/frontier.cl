// A traversal in one launch: wave after wave, the topology of each chosen here.
//
//   absorb what the last step counted → choose → plan the next step → run it → all groups meet → …
//
// Every group holds the same position and absorbs the same counters, so all come to the same choice without a word. A launch
// ends behind a bounded number of waves, and the next one goes on from the position that it left; without a device
// barrier a launch is one step. What is between them, is the same.
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
  counts.edges = tg_wide(slot + TG_EDGES);
  counts.scanned = tg_wide(slot + TG_SCANNED);
  counts.far = slot[TG_FAR];
  counts.nearest = ~slot[TG_NEAREST];
  counts.change = tg_wide(slot + TG_CHANGE);
  counts.idle = tg_wide(slot + TG_IDLE);
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
  at->density_bps = choice.density_bps;
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
    written.density_bps = at->density_bps;
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
    at->far_side = 1 - at->far_side;
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

// Local memory of a group: what its work-items add up in a step.
typedef struct {
  uint vertices;
  uint far;
  uint nearest;
  uint gave_up;
  uint edges[2];
  uint scanned[2];
  uint change[2];
  uint idle[2];
} tg_sums;

void tg_clear_sums(local tg_sums* sums) {
  sums->vertices = 0;
  sums->far = 0;
  sums->nearest = 0;
  for (uint i = 0; i < 2; ++i) {
    sums->edges[i] = 0;
    sums->scanned[i] = 0;
    sums->change[i] = 0;
    sums->idle[i] = 0;
  }
}

// Adds what a group has found to the counters of the step; nothing is written for nothing.
void tg_tell(local tg_sums* sums, tg_found found, volatile global uint* slot) {
  if (found.vertices != 0) {
    atomic_add(&sums->vertices, found.vertices);
    tg_add_wide_local(sums->edges, found.edges);
  }
  if (found.scanned != 0) {
    tg_add_wide_local(sums->scanned, found.scanned);
  }
#if TG_ALGORITHM == TG_SSSP
  if (found.nearest != 0) {
    atomic_add(&sums->far, found.far);
    atomic_max(&sums->nearest, found.nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  tg_add_wide_local(sums->change, found.change);
  tg_add_wide_local(sums->idle, found.idle);
#endif
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // a group that works alone goes on from here
  if (get_local_id(0) != 0) {
    return;
  }
  if (sums->vertices != 0) {
    atomic_add(&slot[TG_VERTICES], sums->vertices);
    tg_add_wide(slot + TG_EDGES, sums->edges[0] | (ulong)sums->edges[1] << 32);
  }
  tg_add_wide(slot + TG_SCANNED, sums->scanned[0] | (ulong)sums->scanned[1] << 32);
#if TG_ALGORITHM == TG_SSSP
  if (sums->nearest != 0) {
    atomic_add(&slot[TG_FAR], sums->far);
    atomic_max(&slot[TG_NEAREST], sums->nearest);
  }
#endif
#if TG_ALGORITHM == TG_PAGERANK
  tg_add_wide(slot + TG_CHANGE, sums->change[0] | (ulong)sums->change[1] << 32);
  tg_add_wide(slot + TG_IDLE, sums->idle[0] | (ulong)sums->idle[1] << 32);
#endif
  tg_clear_sums(sums);
}

#if TG_ALGORITHM != TG_PAGERANK
// A wave of a small frontier, by one group; the `sequence`th that it works so. The first of a row of them reads the queue
// in global memory, the others what the one before left in local memory.
void tg_work_alone(const tg_job* job, const tg_position* at, local tg_alone* alone, uint sequence, bool first) {
  const uint lane = (uint)get_local_id(0);
  local uint* const slot = alone->slots + sequence % 3u * 8;
  tg_target to;
  to.queue = tg_queue_of(job, at->wave + 1);
  to.bitmap = 0;
  to.tail = 0;
  to.local_tail = slot + TG_ALONE_TAIL;
  to.local_queue = alone->queues + (sequence + 1) % 2u * TG_ALONE_ROOM;
  to.wave = at->wave + 1;
  tg_found found = {0, 0, 0, 0, 0, 0, 0};
  global const uint4* const queue = tg_queue_of(job, at->wave);
  local const uint4* const entries = alone->queues + sequence % 2u * TG_ALONE_ROOM;
  for (uint i = lane / TG_LANES; i < at->entries; i += TG_GROUP_SIZE / TG_LANES) {
    const uint4 entry = first ? queue[i] : entries[i];
#if TG_ALGORITHM == TG_CC
    const uint value = 0;
#else
    const uint value = tg_value(job, at, entry.x);
#endif
    const ulong edge = tg_first_edge(entry);
    for (uint e = lane % TG_LANES; e < entry.w; e += TG_LANES) {
      tg_push_edge(job, at, to, entry.x, value, edge + e, TG_EAGER, &found);
    }
  }
  if (found.vertices != 0) {
    atomic_add(&slot[TG_ALONE_VERTICES], found.vertices);
    tg_add_wide_local(slot + TG_ALONE_EDGES, found.edges);
  }
#if TG_ALGORITHM == TG_SSSP
  if (found.nearest != 0) {
    atomic_add(&slot[TG_ALONE_FAR], found.far);
    atomic_max(&slot[TG_ALONE_NEAREST], found.nearest);
  }
#endif
  for (uint i = lane; i < 8; i += TG_GROUP_SIZE) {
    alone->slots[(sequence + 1) % 3u * 8 + i] = 0; // read two waves ago
  }
}

tg_counts tg_alone_counts(local const tg_alone* alone, uint sequence) {
  local const uint* const slot = alone->slots + sequence % 3u * 8;
  tg_counts counts;
  counts.entries = slot[TG_ALONE_TAIL];
  counts.vertices = slot[TG_ALONE_VERTICES];
  counts.edges = slot[TG_ALONE_EDGES] | (ulong)slot[TG_ALONE_EDGES + 1] << 32;
  counts.scanned = 0;
  counts.far = slot[TG_ALONE_FAR];
  counts.nearest = ~slot[TG_ALONE_NEAREST];
  counts.change = 0;
  counts.idle = 0;
  return counts;
}

// For the others: what the last wave has counted, and where it was.
void tg_publish(const tg_job* job, const tg_position* at, tg_counts counts) {
  volatile global uint* const slot = tg_slot(job, at->round);
  slot[TG_TAIL] = counts.entries;
  slot[TG_VERTICES] = counts.vertices;
  slot[TG_EDGES] = (uint)counts.edges;
  slot[TG_EDGES + 1] = (uint)(counts.edges >> 32);
  slot[TG_FAR] = counts.far;
  slot[TG_NEAREST] = ~counts.nearest;
  job->state->alone[at->round & 1u] = *at;
}
#endif

// Counters that the next step adds to, cleared by one group: they were read before the last barrier.
void tg_clear_counters(const tg_job* job, const tg_position* at) {
  volatile global uint* const next = tg_slot(job, at->round + 1);
  for (uint i = (uint)get_local_id(0); i < TG_SLOT_WORDS; i += TG_GROUP_SIZE) {
    next[i] = 0;
  }
#if TG_ALGORITHM == TG_SSSP
  if (get_local_id(0) == 0 && at->step != TG_STEP_REFILL) {
    job->state->far_tail[(1 - at->far_side) * TG_COUNTER_LINE] = 0; // of what has been gone through
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
    tg_finish(job, tg_first_item(job, 1), tg_item_step(job, 1));
  }
}

// What everything holds at first.
void tg_begin(const tg_job* job, const tg_setting* setting) {
  const uint first = (uint)get_global_id(0);
  const uint step = (uint)get_global_size(0);
  ulong idle = 0;
  for (uint v = first; v < job->vertices; v += step) {
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
  for (uint word = first; word < job->words; word += step) {
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
    tg_add_wide(tg_slot(job, 0) + TG_IDLE, idle);
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
  slot[TG_EDGES] = (uint)setting->policy.edges;
  slot[TG_EDGES + 1] = (uint)(setting->policy.edges >> 32);
  at.idle = tg_wide(slot + TG_IDLE);
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
  to.wave = 0;
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
    tg_add_wide(slot + TG_EDGES, degree);
  }
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
  local tg_sums sums;
#if TG_ALGORITHM != TG_PAGERANK
  local tg_alone alone;
#endif
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
  if (get_local_id(0) == 0) {
    sums.gave_up = 0;
    tg_clear_sums(&sums);
  }
#if TG_ALGORITHM != TG_PAGERANK
  for (uint i = (uint)get_local_id(0); i < 3 * 8; i += TG_GROUP_SIZE) {
    alone.slots[i] = 0;
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
#if TG_ALGORITHM != TG_PAGERANK
  uint sequence = 0; // of waves that this group has worked alone
#endif
  bool first_alone = true; // the next one of them is the first in a row
  tg_position at = state->launch[launch & 1u];
  for (uint left = 0xffffffffu; left != 0; --left) {
    if (at.executed != 0) {
      tg_absorb(&at, &set, tg_counts_of(tg_slot(&job, at.round)), job.group == 0 && get_local_id(0) == 0 ? log : 0, log_begin);
    }
    if (at.step == TG_STEP_DONE || at.wave >= limit_wave) {
      break;
    }
    if (job.group == 0 && first_alone) {
      tg_clear_counters(&job, &at);
    }
    const bool alone_now = tg_works_alone(&at, &set);
    tg_found found = {0, 0, 0, 0, 0, 0, 0};
    if (!alone_now) {
      tg_run_step(&job, &at, &set, &found);
    }
#if TG_ALGORITHM != TG_PAGERANK
    if (alone_now && job.group == 0) {
      tg_work_alone(&job, &at, &alone, sequence, first_alone);
    }
#endif
    tg_tell(&sums, found, tg_slot(&job, at.round));
#if TG_ALGORITHM != TG_PAGERANK
    if (alone_now && job.group == 0) {
      const tg_counts counts = tg_alone_counts(&alone, sequence);
      sequence += 1;
      tg_position next = at;
      tg_absorb(&next, &set, counts, get_local_id(0) == 0 ? log : 0, log_begin);
      first_alone = !tg_works_alone(&next, &set) || next.wave >= limit_wave;
      if (!first_alone) {
        next.round = at.round; // nobody else has moved on
        at = next;
        continue;
      }
      at.executed = 1;
      if (get_local_id(0) == 0) {
        tg_publish(&job, &at, counts);
      }
    }
#endif
    at.executed = 1;
    if (arrivals_per_barrier == 0) {
      break;
    }
    at.arrivals += arrivals_per_barrier;
    const uint arrivals = at.arrivals;
    if (!tg_device_barrier(counters, arrivals, most_polls, &sums.gave_up, reports + 8 * job.group,
                           (uint3)(at.wave, at.step, at.topology))) {
      break;
    }
    if (alone_now) {
      at = state->alone[at.round & 1u];
      at.arrivals = arrivals;
    }
  }
  if (job.group == 0 && get_local_id(0) == 0) {
    state->launch[(launch + 1) & 1u] = at;
    state->stuck = tg_load_acquire(&counters[TG_GAVE_UP]);
  }
}
