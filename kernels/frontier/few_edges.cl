// Waves of few edges: a small frontier by one work-group, with local barriers between waves, a larger one by all groups, with the
// device barrier.
//
// Waiting for memory takes nearly all of the time. So the next wave's first edges are fetched before it is known whether it follows.
// The counters show whether a choice of topology is needed; usually it is not, and the last work-item (tg_is_leader()), which seldom
// has edges, absorbs a wave while the others run the next one.

// The kind of the next turn of the loop.
#define TG_CHOSEN 1u
#define TG_SURELY 2u
#define TG_REFILLS 3u

// Processes waves until the frontier is empty or too large for one group, or `limit_wave` is reached. At the end, tg_absorb() has
// added the last step to the position. The first wave reads the queue in global memory; later waves read the entries that the
// previous wave left in local memory. The entries that are left at the end are copied to global memory.
TG_OUTLINED void tg_work_alone(const tg_job* job, local tg_group* group) {
  const tg_policy policy = job->setting->policy;
  const uint lane = TG_LANE;
  const bool leads = tg_is_leader();
  const uint sure_vertices = min(policy.alone_vertices, tg_surely_sparse(policy));
  const uint sure_edges = policy.alone_vertices * TG_ALONE_EDGES; // at most this many edges are few
  tg_position at = group->at;
  const uint round = at.round;
  tg_fetched_entry fetched = tg_fetch_entry(job, &at, lane / TG_LANES, at.entries, tg_queue_of(job, at.wave), 0);
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
    tg_counts found = {0};
    tg_target to = tg_next_queue(job, refills ? at.wave - 1 : at.wave, &found);
    to.local_tails = sums;
    to.local_queue = next_entries;
    to.eager = TG_EAGER;
    if (TG_MAY_REFILL_ALONE && refills) {
      tg_job lone = *job;
      lone.groups = 1;
      tg_own_step(&lone, &at, to, group->scratch);
      *tg_far_tail(job, at.far_turn) = 0; // of the queue that is consumed
    }
    tg_push_entry(job, &at, to, fetched);
    for (uint i = (lane + TG_GROUP_SIZE) / TG_LANES; i < at.entries; i += TG_GROUP_SIZE / TG_LANES) {
      const uint4 entry = sequence == 0 ? queue[i] : entries[i];
      const tg_bits value = tg_value(job, &at, entry.x);
      for (uint e = lane % TG_LANES; e < entry.w; e += TG_LANES) {
        tg_visit_edge(job, &at, to, entry.x, value, tg_first_edge(entry) + e);
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
                      sums[TG_LONG_TAIL * TG_SUM_LINE] == 0 && TG_PARTS(sums + TG_EDGES * TG_SUM_LINE) <= sure_edges && at.wave < job->limit_wave;
    fetched = tg_fetch_entry(job, &at, lane / TG_LANES, kept, 0, next_entries);
    if (leads) {
      group->goes_on = TG_SURELY;
      if (!sure) {
        tg_position next = group->at;
        tg_absorb(&next, job->setting, tg_counts_of_sums(sums), job->log);
        group->goes_on = !tg_works_alone(&next, job->setting) || next.wave >= job->limit_wave ? 0
                         : next.step == TG_STEP_REFILL                              ? TG_REFILLS
                                                                                    : TG_CHOSEN;
        group->at = next;
      }
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    goes_on = group->goes_on;
    if (leads && goes_on == TG_SURELY) {
      tg_position next = group->at;
      tg_absorb(&next, job->setting, tg_counts_of_sums(sums), job->log);
      group->at = next;
    }
    if (TG_MAY_REFILL_ALONE && goes_on != TG_SURELY) { // else the leader writes group->at at the same time
      at = group->at;
    }
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

// Returns true if the next wave is certainly of this kind too.
static bool tg_stays_together(const tg_job* job, tg_counts counts) {
  const tg_policy policy = job->setting->policy;
  const bool sparse = (counts.vertices <= tg_surely_sparse(policy) && counts.edges <= tg_small_edges(policy)) ||
                      tg_surely_slim(policy, counts.vertices, counts.edges) != 0;
  return sparse && counts.vertices > policy.alone_vertices && counts.edges <= TG_TOGETHER_EDGES && counts.long_runs == 0;
}

// Number of items that work-items fetch ahead: slightly more than in the last wave. Slots that the next wave
// does not fill hold entries of an earlier wave or zeros.
static uint tg_expected_entries(const tg_job* job, uint entries) { return min(entries + entries / 4 + 32, job->queue_room); }

// Runs waves until the next one may be of another kind. The last wave has then run, all groups have met, and
// it is not absorbed yet.
static void tg_work_together(const tg_job* job, local tg_group* group, tg_meeting meeting) {
  const uint first_item = tg_first_item(job, TG_LANES);
  const bool leads = tg_is_leader();
  tg_position at = group->at;
  uint entries = at.entries;
  tg_fetched_entry fetched = tg_fetch_entry(job, &at, first_item, entries, tg_queue_of(job, at.wave), 0);
  for (uint left = 0xffffffffu; left != 0; --left) {
    TG_ONE_COPY();
    if (job->group == 0) {
      tg_clear_counters(job, &at);
    }
    tg_counts found = {0};
    tg_target to = tg_next_queue(job, at.wave, &found);
    to.tails = tg_slot(job, at.round);
    for (uint i = first_item; i < entries; i = tg_next_item(job, i, TG_LANES)) {
      if (i != first_item) {
        fetched = tg_fetch_entry(job, &at, i, entries, tg_queue_of(job, at.wave), 0);
      }
      tg_push_entry(job, &at, to, fetched);
    }
    tg_sum_up(group->sums, found);
    TG_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (leads) {
      tg_publish_sums(group->sums, to.tails);
      group->at.executed = 1;
      tg_meet(group, meeting);
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    at.wave += 1;
    at.round += 1;
    fetched.is_there = false;
    const uint expected = tg_expected_entries(job, entries);
    tg_counts counts;
    if (leads) {
      counts = tg_counts_of(to.tails);
      group->goes_on = group->gave_up == 0 && at.wave < job->limit_wave && tg_stays_together(job, counts);
      group->entries = counts.entries;
    } else if (group->gave_up == 0) {
      fetched = tg_fetch_entry(job, &at, first_item, expected, tg_queue_of(job, at.wave), 0);
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (group->goes_on == 0) {
      break;
    }
    entries = group->entries;
    if (first_item < entries && (leads || first_item >= expected)) {
      fetched = tg_fetch_entry(job, &at, first_item, entries, tg_queue_of(job, at.wave), 0);
    }
    if (leads) {
      tg_position next = group->at;
      tg_absorb(&next, job->setting, counts, job->log);
      group->at = next;
    }
  }
}
