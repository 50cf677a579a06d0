// Waves of few edges by all groups, with the device barrier between them.
//
// As for a lone group, waiting for memory dominates, so the next wave's data is fetched before it is known
// whether that wave follows. The counters show whether a choice of topology is needed; the leader absorbs a
// wave while the others run the next one.

#define TG_TOGETHER_EDGES 65536u // more edges keep the memory busy anyway

bool tg_works_together(const tg_position* at, const tg_setting* setting, tg_meeting meeting) {
  return TG_MAY_WORK_TOGETHER && meeting.arrivals != 0 && at->step == TG_STEP_WAVE && at->topology == TG_SPARSE &&
         at->long_runs == 0 && at->frontier_edges <= TG_TOGETHER_EDGES && !tg_works_alone(at, setting);
}

#if TG_MAY_WORK_TOGETHER
// Returns true if the next wave is certainly of this kind too.
bool tg_stays_together(tg_counts counts, const tg_setting* setting) {
  const bool sparse = (counts.vertices <= tg_surely_sparse(setting->policy) && counts.edges <= tg_small_edges(setting->policy)) ||
                      tg_surely_slim(setting->policy, counts.vertices, counts.edges) != 0;
  return sparse && counts.vertices > setting->policy.alone_vertices && counts.edges <= TG_TOGETHER_EDGES &&
         counts.long_runs == 0;
}

// Number of items that work-items fetch ahead: slightly more than in the last wave. Slots that the next wave
// does not fill hold entries of an earlier wave or zeros.
uint tg_expected_entries(const tg_job* job, uint entries) { return min(entries + entries / 4 + 32, job->queue_room); }

// Runs waves until the next one may be of another kind. The last wave has then run, all groups have met, and
// it is not absorbed yet.
void tg_work_together(const tg_job* job, const tg_setting* setting, local tg_group* group, global tg_log_row* log,
                      uint log_begin, uint limit_wave, tg_meeting meeting) {
  const uint lane = TG_LANE % TG_LANES;
  const uint first_item = tg_first_item(job, TG_LANES);
  const bool leads = tg_is_leader();
  tg_position at = group->at;
  uint entries = at.entries;
  tg_errand errand = tg_first_errand(job, &at, first_item, entries, tg_queue_of(job, at.wave), 0);
  for (uint left = 0xffffffffu; left != 0; --left) {
    TG_ONE_COPY();
    if (job->group == 0) {
      tg_clear_counters(job, &at);
    }
    tg_target to = tg_next_queue(job, at.wave);
    to.tails = tg_slot(job, at.round);
    tg_found found = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint i = first_item; i < entries; i = tg_next_item(job, i, TG_LANES)) {
      if (i != first_item) {
        errand = tg_first_errand(job, &at, i, entries, tg_queue_of(job, at.wave), 0);
      }
      if (errand.is_there) {
        tg_visit_fetched(job, &at, to, errand.entry.x, errand.value, errand.edge, &found);
      }
      for (uint e = lane + TG_LANES; e < errand.entry.w; e += TG_LANES) {
        tg_visit_edge(job, &at, to, errand.entry.x, errand.value, tg_first_edge(errand.entry) + e, true, &found);
      }
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
    errand.is_there = false;
    const uint expected = tg_expected_entries(job, entries);
    tg_counts counts;
    if (leads) {
      counts = tg_counts_of(to.tails);
      group->goes_on = group->gave_up == 0 && at.wave < limit_wave && tg_stays_together(counts, setting);
      group->entries = counts.entries;
    } else if (group->gave_up == 0) {
      errand = tg_first_errand(job, &at, first_item, expected, tg_queue_of(job, at.wave), 0);
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (group->goes_on == 0) {
      break;
    }
    entries = group->entries;
    if (first_item < entries && (leads || first_item >= expected)) {
      errand = tg_first_errand(job, &at, first_item, entries, tg_queue_of(job, at.wave), 0);
    }
    if (leads) {
      tg_position next = group->at;
      tg_absorb(&next, setting, counts, job->group == 0 ? log : 0, log_begin);
      group->at = next;
    }
  }
}
#endif
