// How work-groups of one launch publish what they have written and see what others have, and the barrier of all
// of them that is built on it. What the self-test proves is what the persistent kernel runs: both are compiled
// with this file. The host defines TG_ORDERING (the numbers of lib/device/device_profile.hpp).
//
// Every wait is a `for` loop with a bound: unbounded ones have hung on several drivers when compiled, and a
// device on which a wait fails must come back and say so.

#define TG_ORDERING_PTX 0     // NVIDIA: release and acquire in PTX
#define TG_ORDERING_C11 1     // OpenCL C 2.0 atomics with device scope
#define TG_ORDERING_FENCE 2   // OpenCL C 2.0 fences with device scope around relaxed atomics
#define TG_ORDERING_CLASSIC 3 // OpenCL C 1.2: mem_fence and atomic functions

#if TG_ORDERING == TG_ORDERING_PTX
typedef uint tg_word;
void tg_add_release(volatile global tg_word* at) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(at) : "memory");
}
void tg_store_release(volatile global tg_word* at, uint value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}
uint tg_load_acquire(volatile global tg_word* at) {
  uint value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
uint tg_load_relaxed(volatile global tg_word* at) {
  uint value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
#elif TG_ORDERING == TG_ORDERING_C11
typedef atomic_uint tg_word;
void tg_add_release(volatile global tg_word* at) {
  atomic_fetch_add_explicit(at, 1u, memory_order_release, memory_scope_device);
}
void tg_store_release(volatile global tg_word* at, uint value) {
  atomic_store_explicit(at, value, memory_order_release, memory_scope_device);
}
uint tg_load_acquire(volatile global tg_word* at) {
  return atomic_load_explicit(at, memory_order_acquire, memory_scope_device);
}
uint tg_load_relaxed(volatile global tg_word* at) {
  return atomic_load_explicit(at, memory_order_relaxed, memory_scope_device);
}
#elif TG_ORDERING == TG_ORDERING_FENCE
typedef atomic_uint tg_word;
void tg_add_release(volatile global tg_word* at) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  atomic_fetch_add_explicit(at, 1u, memory_order_relaxed, memory_scope_device);
}
void tg_store_release(volatile global tg_word* at, uint value) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  atomic_store_explicit(at, value, memory_order_relaxed, memory_scope_device);
}
uint tg_load_relaxed(volatile global tg_word* at) {
  return atomic_load_explicit(at, memory_order_relaxed, memory_scope_device);
}
uint tg_load_acquire(volatile global tg_word* at) {
  const uint value = tg_load_relaxed(at);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  return value;
}
#else
typedef uint tg_word;
void tg_add_release(volatile global tg_word* at) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc(at);
}
void tg_store_release(volatile global tg_word* at, uint value) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(at, value);
}
uint tg_load_relaxed(volatile global tg_word* at) {
  return atomic_add(at, 0u);
}
uint tg_load_acquire(volatile global tg_word* at) {
  const uint value = tg_load_relaxed(at);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
#endif

// Counters lie a cache line apart: arrivals at the barrier, groups that gave up waiting, and how far each group has
// come. All of them grow, and are compared by their difference: they may pass 2^32.
#define TG_LINE 64
#define TG_ARRIVALS 0
#define TG_GAVE_UP TG_LINE
#define TG_REACHED(group) ((2 + (group)) * TG_LINE)

// Looks before a wait counts as long, some 20 us on a GPU. An acquire empties the L1 cache of its multiprocessor, and
// groups there may still work: a long wait looks without, and acquires once the counter has come.
#define TG_SHORT_WAIT 32u

// Waits until a counter has reached a value. False after `most_polls` looks at it, or once any group has given up;
// this one then says so in `report`, if there is one: 1, where it stood (three words), the counter, the value that
// it waited for and the one that it saw.
bool tg_await(volatile global tg_word* counters, uint counter, uint wanted, uint most_polls, global uint* report,
              uint3 place) {
  for (uint poll = 0; poll < most_polls; ++poll) {
    const bool look = poll < TG_SHORT_WAIT || (int)(tg_load_relaxed(&counters[counter]) - wanted) >= 0;
    if (look && (int)(tg_load_acquire(&counters[counter]) - wanted) >= 0) {
      return true;
    }
    if ((poll & 1023u) == 1023u && tg_load_acquire(&counters[TG_GAVE_UP]) != 0) {
      break;
    }
  }
  tg_add_release(&counters[TG_GAVE_UP]);
  if (report != 0) {
    report[1] = place.x;
    report[2] = place.y;
    report[3] = place.z;
    report[4] = counter / TG_LINE;
    report[5] = wanted;
    report[6] = tg_load_acquire(&counters[counter]);
    report[0] = 1;
  }
  return false;
}

// All groups meet, each in the person of one work-item: what its group has done before the local barrier before this is
// seen by every group behind the local barrier after it. False once any group has given up.
bool tg_arrive_and_await(volatile global tg_word* counters, uint arrivals_wanted, uint most_polls, global uint* report, uint3 place) {
  tg_add_release(&counters[TG_ARRIVALS]);
  return tg_await(counters, TG_ARRIVALS, arrivals_wanted, most_polls, report, place);
}

// A barrier of all groups: each arrives once a round, and thresholds that grow save resetting the counter.
// False once any group has given up. The first work-item sets `gave_up` to 0 before the first barrier, and it is
// written again only when a wait fails: nothing stands between the work and the arrival.
bool tg_device_barrier(volatile global tg_word* counters, uint arrivals_wanted, uint most_polls, local uint* gave_up,
                       global uint* report, uint3 place) {
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && !tg_arrive_and_await(counters, arrivals_wanted, most_polls, report, place)) {
    *gave_up = 1;
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  return *gave_up == 0;
}
