// The self-test: what a device must prove before it runs a persistent kernel, and the costs to measure.
// Compiled once per memory ordering, with the files below.
#include "common/virtual_ndrange.cl"
#include "common/device_barrier.cl"
#include "common/occupancy.cl"

// Users' code accesses memory between two barriers through pointers with restrict, where it gets them (TG_RESTRICT).
static void tg_write_word(global uint* TG_RESTRICT to, size_t at, uint value) {
  to[at] = value;
}

static uint tg_read_word(global const uint* TG_RESTRICT from, size_t at) {
  return from[at];
}

// Publishes a group's progress, and waits for its two neighbours to have as much.
static bool tg_meet_neighbours(volatile global tg_word* counters, uint round, uint most_polls) {
  const uint group = get_group_id(0), groups = get_num_groups(0);
  const uint after = group + 1 == groups ? 0 : group + 1, before = group == 0 ? groups - 1 : group - 1;
  tg_store_release(&counters[TG_REACHED(group)], round);
  return tg_await(counters, TG_REACHED(after), round, most_polls, 0, (uint3)(round, 0, 0)) &&
         tg_await(counters, TG_REACHED(before), round, most_polls, 0, (uint3)(round, 0, 0));
}

// Each group writes, all groups meet, and each reads with plain loads what its neighbour wrote; in every
// other round a group meets only its two neighbours, by their published progress. In every fourth round the group that
// arrives last writes a word before the others go on, which all read. `data` holds two words per work-item, used in
// turn, and the one of every fourth round; `errors` counts reads of other values.
kernel void litmus(global uint* data, volatile global tg_word* counters, volatile global uint* errors, uint rounds,
                   uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const uint lanes = get_local_size(0);
  const uint groups = get_num_groups(0);
  const uint lane = get_local_id(0);
  const uint group = get_group_id(0);
  const uint neighbour = group + 1 == groups ? 0 : group + 1;
  global uint* const word_of_last = data + 2 * groups * lanes;
  uint wrong = 0;
  for (uint round = 0; round < rounds; ++round) {
    global uint* const half_of_round = data + (round & 1u) * groups * lanes;
    tg_write_word(half_of_round, group * lanes + lane, round * 2654435761u + group * lanes + lane);
    const uint met = (round / 2 + 1) * groups + round / 4; // arrivals, without the second one of this round
    if (round % 4 == 0) {
      if (!tg_device_barrier(counters, met, most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
        break;
      }
    } else {
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
      if (lane == 0 && round % 4 == 2) {
        if (tg_arrive(&counters[TG_ARRIVALS]) + 1 == met) {
          *word_of_last = half_of_round[neighbour * lanes];
          tg_add_release(&counters[TG_ARRIVALS]);
        } else if (!tg_await(counters, TG_ARRIVALS, met + 1, most_polls, 0, (uint3)(round, 0, 0))) {
          gave_up = 1;
        }
      } else if (lane == 0 && !tg_meet_neighbours(counters, round, most_polls)) {
        gave_up = 1;
      }
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
      if (gave_up != 0) {
        break;
      }
    }
    wrong += tg_read_word(half_of_round, neighbour * lanes + lane) != round * 2654435761u + neighbour * lanes + lane;
    if (round % 4 == 2) { // what the last one read of its neighbour: the first item of some group
      const uint first = *word_of_last - round * 2654435761u;
      wrong += first % lanes != 0 || first >= groups * lanes;
    }
  }
  if (wrong != 0) {
    atomic_add(errors, wrong);
  }
}

// Only barriers, for timing.
kernel void barriers(volatile global tg_word* counters, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  for (uint round = 0; round < rounds; ++round) {
    if (!tg_device_barrier(counters, (round + 1) * get_num_groups(0), most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
      break;
    }
  }
}

// Each group starts a round as soon as its two neighbours have reached it, for timing.
kernel void neighbours(volatile global tg_word* counters, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  for (uint round = 1; round <= rounds; ++round) {
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && !tg_meet_neighbours(counters, round, most_polls)) {
      gave_up = 1;
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (gave_up != 0) {
      break;
    }
  }
}

// Waves of tiles as in a persistent launch, for timing: each work-item moves a vector that the neighbouring
// group wrote in the previous round, `tiles` times per group, between two halves of `data`; then all groups
// meet.
kernel void waves(global float4* data, volatile global tg_word* counters, uint tiles, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const uint lanes = get_local_size(0);
  const uint groups = get_num_groups(0);
  const uint half_size = tiles * groups * lanes;
  for (uint round = 0; round < rounds; ++round) {
    global const float4* const from = data + (round & 1u) * half_size;
    global float4* const to = data + (1u - (round & 1u)) * half_size;
    for (uint tile = 0; tile < tiles; tile += 2) { // the reads of two tiles overlap
      const uint item = (tile * groups + get_group_id(0)) * lanes + get_local_id(0);
      const uint next = item + groups * lanes;
      const bool two = tile + 1 < tiles;
      const float4 a = from[item + lanes < half_size ? item + lanes : item + lanes - half_size];
      const float4 b = two ? from[next + lanes < half_size ? next + lanes : next + lanes - half_size] : a;
      to[item] = a * 0.5f + 1.0f;
      if (two) {
        to[next] = b * 0.5f + 1.0f;
      }
    }
    if (!tg_device_barrier(counters, (round + 1) * groups, most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
      break;
    }
  }
}

kernel void nothing(volatile global uint* unused) {
  if (get_global_id(0) == 0xffffffffu) {
    *unused = 1;
  }
}

// Kernels with barriers as cases of one kernel. CPU compilers turn the code between two barriers into loops
// over the work-items and may do so wrongly if barriers are under conditions. Each of these kernels also runs
// alone and must compute the same.
#define TG_TRIAL_ITEMS 64u
#define TG_INLINE __attribute__((always_inline)) static

#define TG_REDUCTION(name, both) \
  TG_INLINE void tg_##name(global const uint* a, global uint* out, local uint* t) { \
    const uint l = get_local_id(0); \
    t[l] = a[l]; \
    for (uint half_size = TG_TRIAL_ITEMS / 2; half_size > 0; half_size /= 2) { \
      barrier(CLK_LOCAL_MEM_FENCE); \
      if (l < half_size) { \
        t[l] = both(t[l], t[l + half_size]); \
      } \
    } \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (l == 0) { \
      out[l] = t[0]; /* executed by all work-items if the compiler loses the branch */ \
    } \
  }
#define TG_PLUS(a, b) (a) + (b)
TG_REDUCTION(sum, TG_PLUS)
TG_REDUCTION(most, max)

TG_INLINE void tg_mirror(global const uint* a, global uint* out, local uint* t) {
  const uint l = get_local_id(0);
  local uint* const u = t + TG_TRIAL_ITEMS;
  t[l] = a[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  u[TG_TRIAL_ITEMS - 1 - l] = t[(l + 3) % TG_TRIAL_ITEMS];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = t[TG_TRIAL_ITEMS - 1 - l] ^ u[l];
}

TG_INLINE void tg_few(global const uint* a, global uint* out, local uint* t) { // others return early
  const uint l = get_local_id(0);
  t[l] = a[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l >= 5) {
    return;
  }
  out[l] = t[TG_TRIAL_ITEMS - 1 - l];
}

TG_INLINE void tg_rounds(global const uint* a, global uint* out, local uint* t) { // all leave the loop together
  const uint l = get_local_id(0);
  uint sum = 0;
  for (uint round = 0; round < 3; ++round) {
    t[l] = a[l] + round;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += t[(l + round) % TG_TRIAL_ITEMS];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[0] % 2 == round) {
      break;
    }
  }
  out[l] = sum;
}

TG_INLINE void tg_third(global const uint* a, global uint* out, local uint* unused) { // without barriers
  const uint l = get_local_id(0);
  if (l % 3 == 0) {
    return;
  }
  out[l] = a[l] + 1;
}

#define TG_TRIAL(name) \
  kernel __attribute__((reqd_work_group_size(TG_TRIAL_ITEMS, 1, 1))) void alone_##name(global const uint* a, global uint* out) { \
    local uint t[2 * TG_TRIAL_ITEMS]; \
    const uint first = get_group_id(0) * TG_TRIAL_ITEMS; \
    tg_##name(a + first, out + first, t); \
  }
TG_TRIAL(sum) TG_TRIAL(most) TG_TRIAL(mirror) TG_TRIAL(few) TG_TRIAL(rounds) TG_TRIAL(third)

#define TG_CASE(code, name) case code: { tg_##name(a, out, t); TG_CASE_ENDS } break;
#define TG_CASES(set, cases) \
  TG_INLINE void tg_run_##set(uint code, global const uint* a, global uint* out, local uint* t) { \
    switch (code) { cases default: break; } \
  }
// Compilers merge ends of cases depending on the others: hence three sets.
TG_CASES(pair, TG_CASE(0, sum) TG_CASE(1, most))
TG_CASES(open, TG_CASE(0, few) case 1: { tg_third(a, out, t); } break;)
TG_CASES(all, TG_CASE(0, sum) TG_CASE(1, most) TG_CASE(2, mirror) TG_CASE(3, few) TG_CASE(4, rounds) TG_CASE(5, sum) TG_CASE(6, mirror))

// Kernels that run the cases as a plain launch, a group per tile of each case, and as a persistent launch, in
// rounds that begin with a test of arrivals, except the first, and end with an arrival.
#define TG_LAUNCHES(set) \
  kernel __attribute__((reqd_work_group_size(TG_TRIAL_ITEMS, 1, 1))) void launch_##set(global const uint* a, global uint* out, uint tiles) { \
    local uint t[2 * TG_TRIAL_ITEMS]; \
    const uint job = get_group_id(0); \
    tg_run_##set(job / tiles, a + job % tiles * TG_TRIAL_ITEMS, out + job * TG_TRIAL_ITEMS, t); \
  } \
  kernel __attribute__((reqd_work_group_size(TG_TRIAL_ITEMS, 1, 1))) void persistent_##set( \
      global const uint* a, global uint* out, uint tiles, uint jobs, uint rounds, volatile global uint* arrivals) { \
    local uint t[2 * TG_TRIAL_ITEMS]; \
    local uint gave_up; \
    if (get_local_id(0) == 0) { \
      gave_up = 0; \
    } \
    for (uint round = 0; round < rounds; ++round) { \
      if (round != 0) { \
        if (get_local_id(0) == 0 && atomic_add(arrivals, 0u) == 0) { \
          gave_up = 1; \
        } \
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); \
        if (gave_up != 0) { \
          break; \
        } \
      } \
      for (uint job = round + rounds * get_group_id(0); job < jobs; job += rounds * get_num_groups(0)) { \
        tg_run_##set(job / tiles, a + job % tiles * TG_TRIAL_ITEMS, out + job * TG_TRIAL_ITEMS, t); \
      } \
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); \
      if (get_local_id(0) == 0) { \
        atomic_inc(arrivals); \
      } \
    } \
  }
TG_LAUNCHES(pair)
TG_LAUNCHES(open)
TG_LAUNCHES(all)

kernel void discover(volatile global uint* state, uint most_polls, uint settle_polls) {
  if (get_local_id(0) == 0) {
    tg_take_part(state, most_polls, settle_polls);
  }
  // The others wait: otherwise hardware that frees resources per work-item would admit further groups.
  barrier(CLK_LOCAL_MEM_FENCE);
}
