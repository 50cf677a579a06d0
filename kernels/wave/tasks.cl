// Assignment of tiles to groups, and the groups that a group waits for. Nothing is claimed: from the numbers
// of tiles and groups each group computes its tiles of every stage, and the groups that own its dependencies.
//
//   strided     tile t belongs to group t % groups: spreads tiles of unequal cost evenly
//   blocked     each group has a run of consecutive tiles: only neighbours wait for neighbours
//   serpentine  blocked, with every other stage in reverse: reuses what the previous stage left in the cache

#define TG_STRIDED 0
#define TG_BLOCKED 1
#define TG_SERPENTINE 2

// A group's part of a stage: tiles first, first + step, …
typedef struct {
  tg_entry entry; // of the first tile
  uint first;
  uint step;
  uint count;
  uint turns; // of the stage: the most tiles of any group
  uint flags;
  uint first_wait;
  uint wait_count;
} tg_task;

// A slice's part of a task: `count` tiles from `first` on, in `turns` turns.
typedef struct {
  uint first;
  uint step;
  uint count;
  uint turns;
} tg_walk;

tg_walk tg_walk_of(tg_task task, uint turn, uint left, uint mapping, uint sequence) {
  tg_walk walk;
  walk.turns = min(task.turns - turn, left);
  walk.count = (uint)max((int)min(task.count, turn + walk.turns) - (int)turn, 0); // Oclgrind lacks saturating functions
  const bool backwards = mapping == TG_SERPENTINE && sequence % 2 != 0;
  walk.step = backwards ? 0u - task.step : task.step;
  walk.first = (backwards ? task.first + task.count - 1 : task.first) + turn * walk.step;
  return walk;
}

// A wait for groups [first, first + count) to reach the step `steps` before this one.
typedef struct {
  uint first;
  uint count;
  uint steps;
} tg_poll;

// First tile of a group's run if `tiles` are divided among `groups`.
uint tg_run_begin(uint tiles, uint group, uint groups) {
  return tiles / groups * group + tiles % groups * group / groups;
}

// Returns the group whose run holds a tile.
uint tg_owner(uint tiles, uint tile, uint groups) { return (uint)(((ulong)(tile + 1) * groups - 1) / tiles); }

// Returns the entry of a stage that holds a tile.
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

// Returns a group's share of a stage with `tiles` tiles.
tg_task tg_share_of(uint tiles, uint group, uint groups, uint mapping) {
  const bool strided = mapping == TG_STRIDED;
  tg_task task;
  task.first = strided ? group : tg_run_begin(tiles, group, groups);
  task.step = strided ? groups : 1;
  task.turns = (tiles + groups - 1) / groups;
  task.count = strided ? tiles / groups + (group < tiles % groups ? 1 : 0) : tg_run_begin(tiles, group + 1, groups) - task.first;
  return task;
}

tg_task tg_task_of(tg_stage stage, global const tg_entry* entries, uint group, uint groups, uint mapping) {
  tg_task task = tg_share_of(stage.tiles, group, groups, mapping);
  task.entry = tg_entry_of(entries + stage.first_entry, stage.entry_count, task.first);
  task.flags = stage.flags;
  task.first_wait = stage.first_wait;
  task.wait_count = stage.wait_count;
  return task;
}

// Returns the groups that own the dependencies of tiles [begin, end), for blocked and serpentine mappings.
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
