// A traversal in one launch: wave after wave, with each topology chosen on the device.
//
//   absorb what the last step counted → choose → plan the next step → run it → all groups meet → …
//
// Every group absorbs the same counters and so makes the same choice without communication. One work-item of
// the group does it, because the work-items of a warp would take turns. A launch ends after a bounded number
// of waves, and the next launch continues from the stored position. Without a device barrier a launch is one
// step; the steps are the same.
//
// One group alone processes a small frontier, with local barriers between waves, while the others wait at the
// device barrier and then adopt its position. All groups process a larger frontier with few edges, with less
// work between waves (few_edges.cl).
#include "common/clock.cl"
#include "common/device_barrier.cl"
#include "common/occupancy.cl"

#define TG_RANKS 0
#define TG_OUTLINES (TG_GROUP_SIZE > 1 && !TG_EAGER)
#define tg_is_here(job, v) true
#define tg_send(job, to, v)
#include "frontier/algorithm.cl"

// Writes the initial state of all vertices, queues and bitmaps.
TG_OUTLINED void tg_begin(const tg_job* job, tg_target to) {
  const bool unconstrained = job->setting->constrained == 0;
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    if (unconstrained) {
      tg_begin_shares(job, v);
    }
    tg_begin_vertex(job, to, v, unconstrained);
    if (TG_STAMPS_FROM_THE_START && unconstrained) {
      job->stamps[v] = 0xffffffffu;
    }
  }
  if (TG_MAY_WORK_TOGETHER && unconstrained) {
    TG_EACH_ITEM(job, i, min(job->queue_room, job->groups * (TG_GROUP_SIZE / TG_LANES)), 1) {
      job->queues[i] = (uint4)(0);
      job->queues[(ulong)job->queue_room + i] = (uint4)(0);
    }
  }
  TG_EACH_ITEM(job, word, job->words, 1) {
    job->bitmaps[word] = tg_first_members(job, to, word);
    if (!TG_ITERATES) { // it has one
      job->bitmaps[job->words + word] = 0;
      job->bitmaps[2u * job->words + word] = 0;
    }
    if (TG_PUTS_OFF && unconstrained) {
      tg_far_bits(job)[word] = 0;
    }
  }
}

// Runs a group's part of the current step.
TG_OUTLINED void tg_run_step(const tg_job* job, const tg_position* at, local tg_group* group, tg_counts* found) {
  const bool wave = at->step == TG_STEP_WAVE;
  const bool bitmap_too = at->topology != TG_SPARSE;
  tg_target to = tg_next_queue(job, at->wave - (wave ? 0 : 1), found);
  to.queue = wave && at->topology != TG_SPARSE && at->topology != TG_HYBRID ? 0 : to.queue;
  to.bitmap = wave && bitmap_too ? tg_bitmap_of(job, to.wave) : 0;
  to.tails = tg_slot(job, at->round);
  to.prefetches = false;
  to.eager = at->frontier_edges <= TG_EAGER_EDGES;
  tg_held held;
  held.count = 0;
  to.held = TG_GROUP_SIZE == 1 ? &held : 0;
  if (at->step == TG_STEP_START) {
    tg_begin(job, to);
  } else if (!TG_FROM_ALL && at->step == TG_STEP_SEED) {
    if (job->group == 0 && TG_LANE_OF(job) == 0) {
      tg_seed(job, to, job->bitmaps);
    }
  } else if (wave) {
    if (at->topology == TG_SPARSE || at->topology == TG_HYBRID) {
      tg_push_queue(job, at, to);
    } else if (at->topology == TG_CONSTRAINED) {
      tg_push_bitmap(job, at, tg_bitmap_of(job, at->wave), to);
    } else if (at->topology == TG_FUSED) {
      tg_pull_in_place(job, at, to);
    } else if (TG_MAY_PULL_SHARES) {
      tg_pull_shares(job, at, to, &group->of.share);
    } else {
      tg_pull(job, at, to, group->of.queues, group->scratch);
    }
    if (bitmap_too) {
      tg_clear_bitmap(job, at->wave + 2);
    }
  } else if (at->step == TG_STEP_TO_BITMAP) {
    tg_to_bitmap(job, at, to);
  } else if (at->step == TG_STEP_TO_QUEUE) {
    tg_to_queue(job, at, to);
  } else {
    tg_own_step(job, at, to, group->scratch);
  }
  tg_flush(to);
}

// Runs one step by all groups, or waves by one of them; then all groups meet.
TG_OUTLINED void tg_work_step(const tg_job* job, const tg_position* at, local tg_group* group, tg_meeting meeting) {
  const bool alone = tg_works_alone(at, job->setting);
  if (job->group == 0) {
    tg_clear_counters(job, at);
  }
  if (!alone) {
    TG_ONE_COPY();
    tg_counts found = {0};
    tg_run_step(job, at, group, &found);
    tg_sum_up(group->sums, found);
  } else if (TG_MAY_WORK_ALONE && job->group == 0) {
    tg_work_alone(job, group);
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!tg_is_leader()) {
    return;
  }
  if (!alone) {
    tg_publish_sums(group->sums, tg_slot(job, at->round));
    group->at.executed = 1;
  }
  if (meeting.arrivals != 0) {
    tg_meet(group, meeting);
    if (alone && group->gave_up == 0) {
      const uint arrivals = group->at.arrivals;
      group->at = job->state->alone[at->round & 1u];
      group->at.arrivals = arrivals;
    }
  }
}

// Runs a launch's waves.
TG_LAUNCHED void tg_traverse(const tg_job* given, tg_launch launch, tg_meeting meeting, local tg_group* group) {
  // A CPU keeps a copy in registers, which its stores cannot change. A GPU reads the kernel's argument: on an H200 a copy made each wave
  // of bfs on a grid 70 ns longer.
  const tg_setting copy = *given->setting;
  tg_job job = *given;
  job.setting = TG_GROUP_SIZE == 1 ? &copy : given->setting;
  const bool leads = tg_is_leader();
  for (uint i = TG_LANE; i < 3 * TG_SUMS; i += TG_GROUP_SIZE) {
    group->sums[i] = 0;
  }
  if (leads) {
    group->gave_up = 0;
    group->at = job.state->launch[launch.number & 1u];
    if (TG_CLOCK != 0 && job.group == 0) {
      job.state->clocks[launch.number % TG_MOST_BATCH].begin = tg_now();
    }
  }
  for (uint left = 0xffffffffu; left != 0; --left) {
    TG_ONE_COPY();
    if (leads && group->gave_up == 0) {
      tg_position next = group->at;
      if (next.executed != 0) {
        tg_absorb(&next, job.setting, tg_counts_of(tg_slot(&job, next.round)), job.log);
        group->at = next;
        if (TG_CLOCK != 0 && job.group == 0 && next.wave == 0 && next.step != TG_STEP_APPLY) { // or a step before it
          job.state->first_wave = tg_now();
        }
      }
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // the leader's acquire now holds for the whole group
    const tg_position at = group->at;
    if (group->gave_up != 0 || at.step == TG_STEP_DONE || at.wave >= launch.limit_wave) {
      break;
    }
    if (TG_MAY_WORK_TOGETHER && tg_works_together(&at, job.setting, meeting)) {
      tg_work_together(&job, group, meeting);
    } else {
      tg_work_step(&job, &at, group, meeting);
    }
    left = launch.arrivals_per_barrier == 0 ? 1 : left; // one step; the next launch continues
  }
  if (job.group == 0 && leads) {
    job.state->launch[(launch.number + 1) & 1u] = group->at;
    job.state->stuck = tg_load_acquire(&meeting.counters[TG_GAVE_UP]);
    if (TG_CLOCK != 0) {
      job.state->clocks[launch.number % TG_MOST_BATCH].end = tg_now();
    }
  }
}

kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_frontier(
    TG_GRAPH_PARAMETERS, global tg_log_row* log, volatile global tg_word* counters, global uint* reports,
    volatile global uint* poll, tg_launch launch) {
  local tg_group memory;
  if (launch.action == TG_ACTION_POLL) {
    if (TG_LANE == 0) {
      tg_take_part(poll, launch.most_polls, launch.limit_wave);
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    return;
  }
  const uint group = (uint)get_group_id(0);
  const tg_job job = {offsets, neighbours, weights, in_offsets, in_neighbours, in_weights, values, others, stamps, bitmaps, queues,
                      far, far, state, sources, TG_ITERATES && setting.has_seats != 0 ? sources : 0, &setting,
                      {group == 0 ? log : 0, launch.log_begin}, launch.limit_wave, setting.vertices, setting.words, setting.queue_room, group,
                      (uint)get_num_groups(0), TG_LANE, setting.vertices, 0};
  const tg_meeting meeting = {counters, reports + 8 * group, launch.most_polls, launch.arrivals_per_barrier};
  tg_traverse(&job, launch, meeting, &memory);
}
