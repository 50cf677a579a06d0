// A wait inside of a kernel. A tile that a work-group runs first in a stage begins before the work-group has waited
// for the others: it asks for what no wave changes, such as weights, and waits at its TG_PASS, which
// lib/opencl_c/outline.cpp puts before the first statement that may read anything else. So these loads are on their
// way while the last groups arrive.
#define TG_PASS(item) \
  if (!tg_pass((item).gate)) { \
    return; \
  }

// Called by all work-items of the group. Returns false once any group has given up. Where conditional barriers may be
// compiled wrongly (PoCL), the barrier is not one.
__attribute__((always_inline)) static bool tg_pass(tg_gate gate) {
  if (!gate.closed && !TG_CLOSED_CASES) {
    return true;
  }
  if (gate.closed && get_local_id(0) == 0 &&
      !tg_await((volatile global tg_word*)gate.counters, TG_ARRIVALS, gate.arrivals, gate.most_polls, gate.report, gate.place)) {
    *gate.gave_up = 1;
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  return !gate.closed || *gate.gave_up == 0;
}
