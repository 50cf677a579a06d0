// One launch for the waves of a stage, with a work-group per tile.
#define TG_NO_ENTRY 0xffffffffu // as first_entry: an empty launch that lets the driver do its first-launch work

kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_stage(
    global uchar* arena, global const tg_entry* entries, global const ulong* words, uint first_entry,
    uint iteration, local ulong16* dynamic TG_OBJECT_PARAMETERS) {
  local tg_locals_union locals;
  if (first_entry == TG_NO_ENTRY) {
    return;
  }
  const uint tile = get_group_id(0);
  global const tg_entry* entry = entries + first_entry;
  while (tile >= entry->first_tile + entry->tiles) {
    ++entry;
  }
  tg_run_tile(entry->code, entry->descriptor, tile - entry->first_tile, iteration, arena, words, (local uchar*)dynamic, &locals
              TG_OBJECT_ARGUMENTS);
}
