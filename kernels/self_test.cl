// What a device must prove before a persistent kernel runs on it, and what that costs. Compiled once per memory
// ordering; the host defines ORDERING (the numbers of lib/device/device_profile.hpp).
//
// Every wait is a `for` loop with a bound: unbounded ones have hung on several drivers when compiled, and a
// device on which a wait fails must come back and say so.

#define ORDERING_PTX 0     // NVIDIA: release and acquire in PTX
#define ORDERING_C11 1     // OpenCL C 2.0 atomics with device scope
#define ORDERING_FENCE 2   // OpenCL C 2.0 fences with device scope around relaxed atomics
#define ORDERING_CLASSIC 3 // OpenCL C 1.2: mem_fence and atomic functions

#if ORDERING == ORDERING_PTX
typedef uint word;
void add_release(volatile global word* at) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(at) : "memory");
}
uint load_acquire(volatile global word* at) {
  uint value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
#elif ORDERING == ORDERING_C11
typedef atomic_uint word;
void add_release(volatile global word* at) {
  atomic_fetch_add_explicit(at, 1u, memory_order_release, memory_scope_device);
}
uint load_acquire(volatile global word* at) {
  return atomic_load_explicit(at, memory_order_acquire, memory_scope_device);
}
#elif ORDERING == ORDERING_FENCE
typedef atomic_uint word;
void add_release(volatile global word* at) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  atomic_fetch_add_explicit(at, 1u, memory_order_relaxed, memory_scope_device);
}
uint load_acquire(volatile global word* at) {
  const uint value = atomic_load_explicit(at, memory_order_relaxed, memory_scope_device);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  return value;
}
#else
typedef uint word;
void add_release(volatile global word* at) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc(at);
}
uint load_acquire(volatile global word* at) {
  const uint value = atomic_add(at, 0u);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
#endif

// Counters lie a cache line apart.
#define LINE 64
#define ARRIVALS 0
#define GAVE_UP LINE

// A barrier of all groups: each arrives once a round, and thresholds that grow save resetting the counter.
// False once any group has given up.
bool device_barrier(volatile global word* counters, uint arrivals_wanted, uint most_polls, local uint* passed) {
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    *passed = 0;
    add_release(&counters[ARRIVALS]);
    for (uint poll = 0; poll < most_polls; ++poll) {
      if (load_acquire(&counters[ARRIVALS]) >= arrivals_wanted) {
        *passed = 1;
        break;
      }
      if ((poll & 1023u) == 1023u && load_acquire(&counters[GAVE_UP]) != 0) {
        break;
      }
    }
    if (*passed == 0) {
      add_release(&counters[GAVE_UP]);
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  return *passed != 0;
}

// Each group writes, all meet, each reads plainly what its neighbour has written. `data` holds two words for
// each work-item, used in turn; `errors` counts reads that saw something else.
kernel void litmus(global uint* data, volatile global word* counters, volatile global uint* errors, uint rounds,
                   uint most_polls) {
  local uint passed;
  const uint lanes = get_local_size(0);
  const uint groups = get_num_groups(0);
  const uint lane = get_local_id(0);
  const uint group = get_group_id(0);
  const uint neighbour = group + 1 == groups ? 0 : group + 1;
  uint wrong = 0;
  for (uint round = 0; round < rounds; ++round) {
    global uint* const half_of_round = data + (round & 1u) * groups * lanes;
    half_of_round[group * lanes + lane] = round * 2654435761u + group * lanes + lane;
    if (!device_barrier(counters, (round + 1) * groups, most_polls, &passed)) {
      break;
    }
    wrong += half_of_round[neighbour * lanes + lane] != round * 2654435761u + neighbour * lanes + lane;
  }
  if (wrong != 0) {
    atomic_add(errors, wrong);
  }
}

// Barriers and nothing else, to be timed.
kernel void barriers(volatile global word* counters, uint rounds, uint most_polls) {
  local uint passed;
  for (uint round = 0; round < rounds; ++round) {
    if (!device_barrier(counters, (round + 1) * get_num_groups(0), most_polls, &passed)) {
      break;
    }
  }
}

kernel void nothing(volatile global uint* unused) {
  if (get_global_id(0) == 0xffffffffu) {
    *unused = 1;
  }
}

// Each group claims batches of items until none is left, and touches each item once.
kernel void claims(volatile global uint* next, global uint* items, uint count, uint batch) {
  local uint first;
  const uint most_batches = count / batch + 1;
  for (uint i = 0; i < most_batches; ++i) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      first = atomic_add(next, batch);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first >= count) {
      break;
    }
    for (uint item = first + get_local_id(0); item < min(first + batch, count); item += get_local_size(0)) {
      items[item] += 1;
    }
  }
}

// How many groups are resident together: the protocol of Sorensen et al. (OOPSLA 2016). Under a fair lock every
// resident group takes a number before any of them comes round to close the poll; groups that start later find
// it closed. Groups start one after another, so each takes `settle_polls` of time before it comes round; none of
// them returns before the poll is closed. state: next ticket, ticket being served, poll closed, participants, lock
// waits that ran out, a word to pass the time with; a line apart each.
#define NEXT_TICKET 0
#define SERVING LINE
#define POLL_CLOSED (2 * LINE)
#define PARTICIPANTS (3 * LINE)
#define LOCK_GAVE_UP (4 * LINE)
#define PASTIME (5 * LINE)

bool lock(volatile global uint* state, uint most_polls) {
  const uint ticket = atomic_inc(&state[NEXT_TICKET]);
  for (uint poll = 0; poll < most_polls; ++poll) {
    if (atomic_add(&state[SERVING], 0u) == ticket) {
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      return true;
    }
    if ((poll & 1023u) == 1023u && atomic_add(&state[LOCK_GAVE_UP], 0u) != 0) {
      break; // the lock is lost for good
    }
  }
  atomic_inc(&state[LOCK_GAVE_UP]);
  return false;
}

void unlock(volatile global uint* state) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc(&state[SERVING]);
}

void take_part(volatile global uint* state, uint most_polls, uint settle_polls) {
  if (!lock(state, most_polls)) {
    return;
  }
  const bool joined = atomic_add(&state[POLL_CLOSED], 0u) == 0;
  if (joined) {
    atomic_inc(&state[PARTICIPANTS]);
  }
  unlock(state);
  for (uint poll = 0; joined && poll < settle_polls; ++poll) {
    atomic_add(&state[PASTIME], 0u);
  }
  if (joined && lock(state, most_polls)) {
    atomic_xchg(&state[POLL_CLOSED], 1u);
    unlock(state);
  }
}

kernel void discover(volatile global uint* state, uint most_polls, uint settle_polls) {
  if (get_local_id(0) == 0) {
    take_part(state, most_polls, settle_polls);
  }
  // The others wait: hardware that hands on the room of single work-items would let further groups in.
  barrier(CLK_LOCAL_MEM_FENCE);
}
