// Release and acquire between the work-groups of a launch in four memory orderings, and a barrier of all
// groups. The self-test and the persistent kernel compile this same file, so that the test proves what later
// runs. The host defines TG_ORDERING (the numbers of lib/device/profile.hpp).
//
// Every wait is a `for` loop with a bound: several drivers hang when they compile unbounded loops, and a wait
// that fails on a device must return and report it.

#include "common/counters.h"

#define TG_ORDERING_PTX 0     // NVIDIA: release and acquire in PTX
#define TG_ORDERING_C11 1     // OpenCL C 2.0 atomics with device scope
#define TG_ORDERING_FENCE 2   // OpenCL C 2.0 fences with device scope around relaxed atomics
#define TG_ORDERING_CLASSIC 3 // OpenCL C 1.2: mem_fence and atomic functions

#if TG_ORDERING == TG_ORDERING_PTX
typedef uint tg_word;
void tg_add_many_release(volatile global tg_word* at, uint more) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(at), "r"(more) : "memory");
}
// Adds 1, as a release and an acquire; returns the value before, so that who arrives last knows it.
uint tg_arrive(volatile global tg_word* at) {
  uint before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
  return before;
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
#else
#if TG_ORDERING == TG_ORDERING_CLASSIC
typedef uint tg_word;
#define TG_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define TG_ADD(at, more, order) atomic_add(at, more)
#define TG_STORE(at, value) atomic_xchg(at, value)
#define TG_LOAD(at, order) atomic_add(at, 0u)
#else
typedef atomic_uint tg_word;
#if TG_ORDERING == TG_ORDERING_C11
#define TG_FENCE()
#define TG_ORDER(order) order
#else
#define TG_FENCE() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#define TG_ORDER(order) memory_order_relaxed
#endif
#define TG_ADD(at, more, order) atomic_fetch_add_explicit(at, more, TG_ORDER(order), memory_scope_device)
#define TG_STORE(at, value) atomic_store_explicit(at, value, TG_ORDER(memory_order_release), memory_scope_device)
#define TG_LOAD(at, order) atomic_load_explicit(at, TG_ORDER(order), memory_scope_device)
#endif
void tg_add_many_release(volatile global tg_word* at, uint more) {
  TG_FENCE();
  TG_ADD(at, more, memory_order_release);
}
void tg_store_release(volatile global tg_word* at, uint value) {
  TG_FENCE();
  TG_STORE(at, value);
}
uint tg_arrive(volatile global tg_word* at) {
  TG_FENCE();
  const uint before = TG_ADD(at, 1u, memory_order_acq_rel);
  TG_FENCE();
  return before;
}
uint tg_load_relaxed(volatile global tg_word* at) { return TG_LOAD(at, memory_order_relaxed); }
uint tg_load_acquire(volatile global tg_word* at) {
  const uint value = TG_LOAD(at, memory_order_acquire);
  TG_FENCE();
  return value;
}
#endif
void tg_add_release(volatile global tg_word* at) { tg_add_many_release(at, 1u); }

// Polls before a wait counts as long, about 20 us on a GPU. An acquire invalidates the L1 cache of its multiprocessor,
// where groups may still work: a long wait polls without acquire, and acquires once the counter has arrived. Waves of
// chains take 2 to 4 % less with it on an H200.
#define TG_SHORT_WAIT 32u

// Waits until a counter reaches a value. Returns false after `most_polls` reads, or once any group has given
// up; then fills `report`, unless it is null.
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
    report[TG_REPORT_LOCATION] = place.x;
    report[TG_REPORT_LOCATION + 1] = place.y;
    report[TG_REPORT_LOCATION + 2] = place.z;
    report[TG_REPORT_COUNTER] = counter / TG_LINE;
    report[TG_REPORT_WANTED] = wanted;
    report[TG_REPORT_SEEN] = tg_load_acquire(&counters[counter]);
    report[0] = 1;
  }
  return false;
}

// Called by one work-item of each group; all groups meet. What a group did before its preceding local barrier
// is visible to every group after its next one. Returns false once any group has given up.
bool tg_arrive_and_await(volatile global tg_word* counters, uint arrivals_wanted, uint most_polls, global uint* report, uint3 place) {
  tg_add_release(&counters[TG_ARRIVALS]);
  return tg_await(counters, TG_ARRIVALS, arrivals_wanted, most_polls, report, place);
}

// A barrier of all groups. Each group arrives once per round; growing thresholds save resetting the counter.
// Returns false once any group has given up. The first work-item sets `gave_up` to 0 before the first
// barrier, and only a failed wait writes it again, so that nothing delays the arrival.
bool tg_device_barrier(volatile global tg_word* counters, uint arrivals_wanted, uint most_polls, local uint* gave_up,
                       global uint* report, uint3 place) {
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && !tg_arrive_and_await(counters, arrivals_wanted, most_polls, report, place)) {
    *gave_up = 1;
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  return *gave_up == 0;
}
