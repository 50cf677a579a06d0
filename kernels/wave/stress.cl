// For `run --stress`: each work-group runs its tiles of a stage in another order, and work-item 0 pauses before some
// of them, as the seed in words[TG_STRESS_WORD] says. This file comes directly before wave/persistent.cl or
// wave/stage.cl, whose texts stay as they are: its macros replace what these call, and use the variables there.

// Stafford's mixer 13, as in lib/core/npy.hpp.
ulong tg_mixed(ulong first) {
  first = (first ^ (first >> 30)) * 0xbf58476d1ce4e5b9ul;
  first = (first ^ (first >> 27)) * 0x94d049bb133111ebul;
  return first ^ (first >> 31);
}

ulong tg_stress_bits(ulong first, uint iteration, uint stage, uint group) {
  return tg_mixed(first + tg_mixed(((ulong)iteration << 32) + stage) + group);
}

// Maps 0 … count - 1 to themselves, one to one: multiplies by some of four primes, which no count reaches, and rotates.
uint tg_shuffled(uint turn, uint count, ulong from) {
  ulong tile = turn;
  tile = from & 1 ? tile * 4294967291ul % count : tile;
  tile = from & 2 ? tile * 4294967279ul % count : tile;
  tile = from & 4 ? tile * 4294967231ul % count : tile;
  tile = from & 8 ? tile * 4294967197ul % count : tile;
  return (uint)((tile + (from >> 32)) % count);
}

#ifdef TG_ORDERING // a persistent launch
// About every eighth time, for up to 512 reads of device memory.
void tg_pause(volatile global tg_word* counters, ulong from) {
  const uint most_polls = from % 8 != 0 ? 0 : 1u << (from >> 8) % 10;
  for (uint poll = 0; get_local_id(0) == 0 && poll < most_polls; ++poll) {
    tg_load_relaxed(&counters[TG_GAVE_UP]);
  }
}

#if TG_HAS_LISTS
#define TG_FROM_LIST (list.entries != 0)
#else
#define TG_FROM_LIST 0
#endif
#define tg_run_tile(code_, descriptor_, tile_, iteration_, arena_, words_, dynamic_, locals_) \
  { \
    const ulong tg_bits = tg_stress_bits(launch.words[TG_STRESS_WORD], at->iteration, at->stage, launch.group); \
    const uint tg_tile = TG_FROM_LIST ? (tile_) : task.first + task.step * tg_shuffled(at->turn + i, task.count, tg_bits); \
    entry = tg_entry_of(launch.entries + at->phase * launch.entries_per_phase + launch.stages[at->stage].first_entry, \
                        launch.stages[at->stage].entry_count, tg_tile); \
    tg_pause(launch.counters, tg_mixed(tg_bits + i)); \
    tg_run_tile(entry.code, entry.descriptor, tg_tile - entry.first_tile, iteration_, arena_, words_, dynamic_, locals_); \
  }
#else
#define get_group_id(d) \
  tg_shuffled(get_group_id(d), get_num_groups(d), tg_stress_bits(words[TG_STRESS_WORD], iteration, first_entry, 0))
#endif
