// The arguments of tidegate_persistent in their order, for the programs that set them (tidegate, host/main.c): memory, numbers
// of 32 bits, and local memory.

enum tg_memory {
  TG_MEMORY_ARENA,
  TG_MEMORY_STAGES,
  TG_MEMORY_ENTRIES,
  TG_MEMORY_WAITS,
  TG_MEMORY_WORDS,
  TG_MEMORY_COUNTERS,
  TG_MEMORY_PROGRESS,
  TG_MEMORY_POLL,
  TG_MEMORY_COUNT
};

typedef struct {
  uint stage_count;
  uint wait_count;
  uint stage_end;    // one past the last stage of the launch
  uint repeat_begin; // range of stages that the launch repeats
  uint repeat_end;
  uint steps; // of an iteration
  uint phase_count;
  uint entries_per_phase;
  uint mapping;    // of tiles (wave/tasks.cl)
  uint iterations; // 0: only count the resident groups
  uint iteration;  // start of the slice
  uint stage;
  uint turn;
  uint budget;   // turns of the slice; when counting groups, polls to settle
  uint arrivals; // at the barrier so far
  uint arrivals_per_barrier;
  uint most_polls;
} tg_numbers;
