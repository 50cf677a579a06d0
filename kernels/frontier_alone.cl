// A small frontier worked by one group alone, wave after wave behind local barriers.

#if TG_MAY_WORK_ALONE
#define TG_SURELY 2u

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

// Waves of a small frontier by one group, until one is none or the limit is reached; the step is absorbed then, and the
// position says where it has come to. The first wave reads the queue in global memory, the others what the one before left in
// local memory; what is left at the end goes to the global one.
//
// Waiting for memory is all that takes time here. What the next wave's first edges need is asked for before it is known
// whether there is a next one; most often a look at its size is enough for that, and then the last work-item, which seldom has
// edges to go along, absorbs the wave while the others are in the next one.
void tg_work_alone(const tg_job* job, const tg_setting* setting, local tg_group* group, tg_position* at,
                   global tg_log_row* log, uint log_begin, uint limit_wave) {
  const uint lane = (uint)get_local_id(0);
  const bool absorbs = lane == TG_GROUP_SIZE - 1;
  const uint round = at->round;
  const uint sure_vertices = min(setting->policy.alone_vertices, tg_surely_sparse(setting->policy));
  const uint sure_edges = setting->policy.alone_vertices * TG_ALONE_EDGES; // these are few
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
    to.room = job->queue_room;
    to.tails = 0;
    to.local_tails = sums;
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
    const uint vertices = sums[TG_VERTICES * TG_SUM_LINE];
    tg_position next = *at;
    next.wave += 1;
    next.entries = sums[TG_TAIL * TG_SUM_LINE];
    const uint kept = min(next.entries, (uint)TG_ALONE_ROOM);
    const bool sure = vertices != 0 && vertices <= sure_vertices && next.entries <= TG_ALONE_ROOM &&
                      sums[TG_LONG_TAIL * TG_SUM_LINE] == 0 && TG_PARTS(sums + TG_EDGES * TG_SUM_LINE) <= sure_edges && next.wave < limit_wave;
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
