// One launch for many waves. The work-groups stay, deal the tiles of a stage out among themselves and meet at
// a barrier of all of them before the next stage.
//
//             iteration 0       iteration 1
//   stage 0 | stage 1 | stage 2 | stage 1 | … | stage 3      stages 1 and 2 repeat
//   [ tile tile tile | tile tile … ]              a slice begins and ends anywhere between two tiles:
//                                                 the host starts the next one where this one stopped
//
// Every group works the position out for itself; nothing is claimed and nothing is sent but arrivals.

#define TG_PROGRESS_ITERATION 0
#define TG_PROGRESS_STAGE 1
#define TG_PROGRESS_TILE 2
#define TG_PROGRESS_FINISHED 3 // `until` was met
#define TG_PROGRESS_STUCK 4    // groups that gave up waiting
#define TG_PROGRESS_GROUPS 16  // behind it, four words for each group that gave up: 1, stage, expected, seen

kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_persistent(
    global uchar* arena, global const tg_stage* stages, global const tg_entry* entries, global const ulong* words,
    volatile global tg_word* counters, global uint* progress, volatile global uint* poll, uint stage_end,
    uint repeat_begin, uint repeat_end, uint phase_count, uint entries_per_phase, uint iterations, uint iteration, uint stage, uint tile, uint budget,
    uint arrivals_per_barrier, uint most_polls, local ulong16* dynamic TG_OBJECT_PARAMETERS) {
  local tg_locals_union locals;
  local uint gave_up;
  if (iterations == 0) { // not a run but the question how many groups are resident together
    if (get_local_id(0) == 0) {
      tg_take_part(poll, most_polls, budget);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return;
  }

  const uint group = get_group_id(0);
  const uint groups = get_num_groups(0);
  global uint* const report = progress + TG_PROGRESS_GROUPS + 4 * group;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  uint arrivals = 0;
  uint finished = 0;
  // What the next stage needs is read before the barrier in front of it, not behind: there every group would
  // wait for memory once more.
  tg_stage now = stages[stage];
  uint next_entry = iteration % phase_count * entries_per_phase + now.first_entry;
  tg_entry entry = entries[next_entry];
  for (uint left = budget; left != 0 && stage != stage_end;) {
    const uint end = now.tiles - tile < left ? now.tiles : tile + left;
    for (uint t = tile + group; t < end; t += groups) {
      while (t >= entry.first_tile + entry.tiles) {
        entry = entries[++next_entry];
      }
      tg_run_tile(entry.code, entry.descriptor, t - entry.first_tile, iteration, arena, words, (local uchar*)dynamic, &locals TG_OBJECT_ARGUMENTS);
    }
    left -= end - tile;
    if (end != now.tiles) {
      tile = end;
      break;
    }
    tile = 0;
    const uint ended = stage;
    const bool iteration_ends = ++stage == repeat_end;
    if (iteration_ends) {
      ++iteration;
      stage = iteration < iterations ? repeat_begin : repeat_end;
    }
    const bool asks = TG_HAS_UNTIL && iteration_ends;
    if (!asks && (left == 0 || stage == stage_end)) {
      break; // the end of the launch is a barrier too
    }
    if (stage != stage_end) {
      now = stages[stage];
      next_entry = iteration % phase_count * entries_per_phase + now.first_entry;
      entry = entries[next_entry];
    }
    arrivals += arrivals_per_barrier;
    bool met = tg_device_barrier(counters, arrivals, most_polls, &gave_up, report, ended);
    if (met && asks) {
      finished = tg_until_met(arena, words, iteration % phase_count);
      if (finished && stage != repeat_end) { // on to what comes behind the repetition
        stage = repeat_end;
        if (stage != stage_end) {
          now = stages[stage];
          next_entry = iteration % phase_count * entries_per_phase + now.first_entry;
          entry = entries[next_entry];
        }
      }
      if (stage == stage_end) {
        break;
      }
      if (TG_GUARD_UNTIL) { // the next stage writes what was just looked at
        arrivals += arrivals_per_barrier;
        met = tg_device_barrier(counters, arrivals, most_polls, &gave_up, report, ended);
      }
    }
    if (!met) {
      break;
    }
  }
  if (group == 0 && get_local_id(0) == 0) {
    progress[TG_PROGRESS_ITERATION] = iteration;
    progress[TG_PROGRESS_STAGE] = stage;
    progress[TG_PROGRESS_TILE] = tile;
    progress[TG_PROGRESS_FINISHED] = finished;
    progress[TG_PROGRESS_STUCK] = tg_load_acquire(&counters[TG_GAVE_UP]);
  }
}
