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

// What everything holds at first.
void tg_begin(const tg_job* job, const tg_setting* setting, tg_found* found) {
  const bool unconstrained = setting->constrained == 0;
  TG_EACH_ITEM(job, v, job->vertices, 1) {
#if TG_ALGORITHM == TG_PAGERANK
    const float rank = 1.0f / (float)job->vertices;
    const tg_offset degree = tg_degree(job, v);
    job->values[v] = as_uint(rank);
    tg_passed(job, 0)[v] = degree == 0 ? 0.0f : rank / (float)degree;
    found->idle += degree == 0 ? tg_units(rank) : 0;
    job->stamps[v] = 0;
#else
    job->values[v] = TG_ALGORITHM == TG_CC                     ? v
                : TG_ALGORITHM == TG_REACH                ? 0u
                : TG_ALGORITHM == TG_SSSP && TG_FLOATS ? 0x7f800000u
                                                          : 0xffffffffu;
#if TG_ALGORITHM == TG_BFS && TG_PARENTS
    job->others[v] = TG_NOBODY;
#endif
    if (unconstrained) {
      job->stamps[v] = 0xffffffffu;
    }
#endif
  }
#if TG_ALGORITHM == TG_CC || TG_ALGORITHM == TG_PAGERANK
  const bool all = true;
#else
  const bool all = false;
#endif
  TG_EACH_ITEM(job, word, job->words, 1) {
    const uint rest = job->vertices - word * 32;
    job->bitmaps[word] = !all ? 0u : rest < 32 ? (1u << rest) - 1 : 0xffffffffu;
#if TG_ALGORITHM != TG_PAGERANK
    job->bitmaps[job->words + word] = 0;
    job->bitmaps[2u * job->words + word] = 0;
#endif
#if TG_ALGORITHM == TG_SSSP
    if (unconstrained) {
      tg_far_bits(job)[word] = 0;
    }
#endif
  }
}

#if TG_ALGORITHM != TG_CC && TG_ALGORITHM != TG_PAGERANK
// The first frontier, by one work-item.
void tg_seed(const tg_job* job, const tg_setting* setting, tg_target to, global const uint* sources, tg_found* found) {
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
    found->vertices += 1;
    found->edges += degree;
  }
}
#endif

// A group's part of the step at hand.
void tg_run_step(const tg_job* job, const tg_position* at, const tg_setting* setting, global const uint* sources,
                 tg_found* found) {
  volatile global uint* const slot = tg_slot(job, at->round);
  const bool wave = at->step == TG_STEP_WAVE;
  const bool bitmap_too = at->topology != TG_SPARSE;
  tg_target to;
  to.wave = at->wave + (wave ? 1 : 0);
  to.queue = wave && at->topology != TG_SPARSE && at->topology != TG_HYBRID ? 0 : tg_queue_of(job, to.wave);
  to.bitmap = wave && bitmap_too ? tg_bitmap_of(job, to.wave) : 0;
  to.room = job->queue_room;
  to.tails = slot;
  to.local_tails = 0;
  to.local_queue = 0;
  tg_held held;
  held.count = 0;
  to.held = TG_GROUP_SIZE == 1 ? &held : 0;
  if (at->step == TG_STEP_START) {
    tg_begin(job, setting, found);
#if TG_ALGORITHM != TG_CC && TG_ALGORITHM != TG_PAGERANK
  } else if (at->step == TG_STEP_SEED) {
    if (job->group == 0 && get_local_id(0) == 0) {
      tg_seed(job, setting, to, sources, found);
    }
#endif
  } else if (wave) {
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

// What a launch is for. All of it is one kernel, as drivers for CPUs compile each by itself, with everything.
#define TG_ACTION_RUN 0u
#define TG_ACTION_POLL 1u // how many groups are resident together? `limit_wave` polls to settle

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
      tg_run_step(&job, &at, &set, sources, &found);
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
