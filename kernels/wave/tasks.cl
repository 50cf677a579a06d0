// Whose tile is whose, and whom a group waits for. Nothing is claimed: every group works out from the numbers of
// tiles and groups which tiles are its own, in every stage, and which groups have those that it depends on.
//
//   strided     tile t belongs to group t % groups: what costs unlike is spread evenly
//   blocked     each group has a run of neighbouring tiles: neighbours wait only for neighbours
//   serpentine  blocked, and every other stage is walked backwards: what the stage before left in the cache
//               is used first

#define TG_STRIDED 0
#define TG_BLOCKED 1
#define TG_SERPENTINE 2

// A group's part of a stage: tiles first, first + step, …
typedef struct {
  tg_entry entry; // that the first of them belongs to
  uint first;
  uint step;
  uint count;
  uint rounds; // that the stage takes: tiles of the group that has most
  uint flags;
  uint first_wait;
  uint wait_count;
} tg_task;

// What a slice runs of a task: `count` tiles from `first` on, in so many rounds.
typedef struct {
  uint first;
  uint step;
  uint count;
  uint rounds;
} tg_walk;

tg_walk tg_walk_of(tg_task task, uint round, uint left, uint order, uint sequence) {
  tg_walk walk;
  walk.rounds = min(task.rounds - round, left);
  walk.count = (uint)max((int)min(task.count, round + walk.rounds) - (int)round, 0); // Oclgrind knows no saturating ones
  const bool backwards = order == TG_SERPENTINE && sequence % 2 != 0;
  walk.step = backwards ? 0u - task.step : task.step;
  walk.first = (backwards ? task.first + task.count - 1 : task.first) + round * walk.step;
  return walk;
}

// Groups [first, first + count) must have come so many steps further back than this one is.
typedef struct {
  uint first;
  uint count;
  uint steps;
} tg_poll;

// First tile of a group's run, of `tiles` dealt to `groups`.
uint tg_run_begin(uint tiles, uint group, uint groups) {
  return tiles / groups * group + tiles % groups * group / groups;
}

// The group whose run holds a tile.
uint tg_owner(uint tiles, uint tile, uint groups) { return (uint)(((ulong)(tile + 1) * groups - 1) / tiles); }

// The entry of a stage that holds a tile.
tg_entry tg_entry_of(global const tg_entry* entries, uint count, uint tile) {
  uint low = 0;
  for (uint high = count; high - low > 1;) { // in [low, high)
    const uint middle = low + (high - low) / 2;
    if (entries[middle].first_tile <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return entries[low];
}

// Of a stage of so many tiles, those of a group.
tg_task tg_share_of(uint tiles, uint group, uint groups, uint order) {
  tg_task task;
  task.first = order == TG_STRIDED ? group : tg_run_begin(tiles, group, groups);
  task.step = order == TG_STRIDED ? groups : 1;
  task.rounds = (tiles + groups - 1) / groups;
  task.count = order == TG_STRIDED ? tiles / groups + (group < tiles % groups ? 1 : 0)
                                   : tg_run_begin(tiles, group + 1, groups) - task.first;
  return task;
}

tg_task tg_task_of(tg_stage stage, global const tg_entry* entries, uint group, uint groups, uint order) {
  tg_task task = tg_share_of(stage.tiles, group, groups, order);
  task.entry = tg_entry_of(entries + stage.first_entry, stage.entry_count, task.first);
  task.flags = stage.flags;
  task.first_wait = stage.first_wait;
  task.wait_count = stage.wait_count;
  return task;
}

// For a group whose own tiles are [begin, end): blocked or serpentine.
tg_poll tg_poll_of(tg_wait wait, uint begin, uint end, uint groups) {
  tg_poll poll = {0, 0, wait.steps};
  const uint own_begin = max(begin, wait.begin);
  const uint own_end = min(end, wait.end);
  if (own_begin >= own_end) {
    return poll;
  }
  uint from_begin = wait.from_begin;
  uint from_end = wait.from_end;
  if (wait.halo != TG_WHOLE) {
    const uint low = own_begin - wait.begin;
    const uint high = own_end - wait.begin;
    from_begin += (uint)max((int)low - (int)wait.halo, 0);
    from_end = min(from_end, wait.from_begin + high + wait.halo);
  }
  poll.first = tg_owner(wait.from_tiles, from_begin, groups);
  poll.count = tg_owner(wait.from_tiles, from_end - 1, groups) + 1 - poll.first;
  return poll;
}
