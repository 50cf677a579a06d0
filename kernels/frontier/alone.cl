// One work-group processes the waves of a small frontier, with local barriers between them.

#if TG_MAY_WORK_ALONE
// The kind of the next turn of the loop.
#define TG_CHOSEN 1u
#define TG_SURELY 2u
#define TG_REFILLS 3u

// Processes waves until the frontier is empty or too large for one group, or `limit_wave` is reached. At the end, tg_absorb() has
// added the last step to the position. The first wave reads the queue in global memory; later waves read the entries that the
// previous wave left in local memory. The entries that are left at the end are copied to global memory.
//
// Waiting for memory takes nearly all of the time. So the next wave's first edges are fetched before it is known whether there is
// a next wave. Usually the size of the frontier alone decides this. Then the last work-item (tg_is_leader()), which seldom has
// edges, absorbs the wave while the others run the next one.
TG_OUTLINED void tg_work_alone(const tg_job* job, const tg_setting* setting, local tg_group* group, global tg_log_row* log,
                   uint log_begin, uint limit_wave) {
  const uint lane = TG_LANE;
  const bool leads = tg_is_leader();
  const uint sure_vertices = min(setting->policy.alone_vertices, tg_surely_sparse(setting->policy));
  const uint sure_edges = setting->policy.alone_vertices * TG_ALONE_EDGES; // at most this many edges are few
  tg_position at = group->at;
  const uint round = at.round;
  tg_errand errand = tg_first_errand(job, &at, lane / TG_LANES, at.entries, tg_queue_of(job, at.wave), 0);
  uint goes_on = TG_MAY_REFILL_ALONE && at.step == TG_STEP_REFILL ? TG_REFILLS : TG_SURELY;
  uint sequence = 0;
  for (; goes_on != 0; ++sequence) {
    TG_ONE_COPY();
    local uint* const sums = group->sums + sequence % 3u * TG_SUMS;
    local uint* const next_sums = group->sums + (sequence + 1) % 3u * TG_SUMS; // were read two waves ago
    global const uint4* const queue = tg_queue_of(job, at.wave);
    local const uint4* const entries = group->of.queues + sequence % 2u * TG_ALONE_ROOM;
    local uint4* const next_entries = group->of.queues + (sequence + 1) % 2u * TG_ALONE_ROOM;
    const bool refills = TG_MAY_REFILL_ALONE && goes_on == TG_REFILLS;
    tg_target to = tg_next_queue(job, refills ? at.wave - 1 : at.wave);
    to.local_tails = sums;
    to.local_queue = next_entries;
    tg_found found = {0, 0, 0, 0, 0, 0, 0, 0};
#if TG_MAY_REFILL_ALONE
    if (refills) {
      tg_job lone = *job;
      lone.groups = 1;
      tg_own_step(&lone, &at, setting, to, group->scratch, &found);
      *tg_far_tail(job, at.far_turn) = 0; // of the queue that is consumed
    }
#endif
    if (errand.is_there) {
      tg_visit_fetched(job, &at, to, errand.entry.x, errand.value, errand.edge, &found);
    }
    for (uint e = lane % TG_LANES + TG_LANES; e < errand.entry.w; e += TG_LANES) {
      tg_visit_edge(job, &at, to, errand.entry.x, errand.value, tg_first_edge(errand.entry) + e, TG_EAGER, &found);
    }
    for (uint i = (lane + TG_GROUP_SIZE) / TG_LANES; i < at.entries; i += TG_GROUP_SIZE / TG_LANES) {
      const uint4 entry = sequence == 0 ? queue[i] : entries[i];
      const tg_bits value = tg_value(job, &at, entry.x);
      for (uint e = lane % TG_LANES; e < entry.w; e += TG_LANES) {
        tg_visit_edge(job, &at, to, entry.x, value, tg_first_edge(entry) + e, TG_EAGER, &found);
      }
    }
    tg_sum_up(sums, found);
    for (uint i = lane; i < TG_SUMS; i += TG_GROUP_SIZE) {
      next_sums[i] = 0;
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint vertices = sums[TG_VERTICES * TG_SUM_LINE];
    at.wave += refills ? 0 : 1;
    at.entries = sums[TG_TAIL * TG_SUM_LINE];
    const uint kept = min(at.entries, (uint)TG_ALONE_ROOM);
    const bool sure = !refills && vertices != 0 && vertices <= sure_vertices && at.entries <= TG_ALONE_ROOM &&
                      sums[TG_LONG_TAIL * TG_SUM_LINE] == 0 && TG_PARTS(sums + TG_EDGES * TG_SUM_LINE) <= sure_edges && at.wave < limit_wave;
    errand = tg_first_errand(job, &at, lane / TG_LANES, kept, 0, next_entries);
    if (leads) {
      group->goes_on = TG_SURELY;
      if (!sure) {
        tg_position next = group->at;
        tg_absorb(&next, setting, tg_counts_of_sums(sums), log, log_begin);
        group->goes_on = !tg_works_alone(&next, setting) || next.wave >= limit_wave ? 0
                         : next.step == TG_STEP_REFILL                              ? TG_REFILLS
                                                                                    : TG_CHOSEN;
        group->at = next;
      }
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    goes_on = group->goes_on;
    if (leads && goes_on == TG_SURELY) {
      tg_position next = group->at;
      tg_absorb(&next, setting, tg_counts_of_sums(sums), log, log_begin);
      group->at = next;
    }
#if TG_MAY_REFILL_ALONE
    if (goes_on != TG_SURELY) { // else the leader writes group->at at the same time
      at.near = group->at.near;
      at.far = group->at.far;
      at.nearest = group->at.nearest;
      at.far_turn = group->at.far_turn;
    }
#endif
  }
  // This copy must come after the loop. At the end of its last round, PoCL 3.1 would take the first work-item's branch for all
  // work-items, and those past the last entry would write, too.
  global uint4* const queue = tg_queue_of(job, at.wave);
  local const uint4* const entries = group->of.queues + sequence % 2u * TG_ALONE_ROOM;
  for (uint i = lane; i < min(at.entries, (uint)TG_ALONE_ROOM); i += TG_GROUP_SIZE) {
    queue[i] = entries[i];
  }
  for (uint i = lane; i < 3 * TG_SUMS; i += TG_GROUP_SIZE) {
    group->sums[i] = 0;
  }
  if (leads) {
    group->at.round = round + 1;
    job->state->alone[round & 1u] = group->at;
  }
}
#endif
