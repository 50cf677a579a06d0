// A persistent launch's report to the host: its position, groups whose waits timed out and, with TG_TRACE,
// spans. A span has the times at which a group waited for a task and ran it, by the device's clock; the first
// work-item writes it after the task has been published. Without TG_TRACE all of this compiles to nothing.
//
//   words 0 … 15 | 8 words per group: tg_await's report | a word per group: its span count | spans, `room` per group
//
// progress_state.h defines the words and spans for kernel and host.
#include "common/clock.cl"
#include "common/device_barrier.cl"
#include "common/occupancy.cl"
#include "wave/tasks.cl"
#include "wave/progress_state.h"

typedef struct {
  global tg_span* spans;
  uint room;
  uint count;
} tg_recorder;

tg_recorder tg_begin_recording(global uint* progress, uint group, uint groups) {
  tg_recorder recorder = {0};
  if (TG_TRACE) {
    recorder.room = progress[TG_PROGRESS_SPAN_ROOM];
    recorder.spans = (global tg_span*)(progress + TG_SPANS(groups)) + group * recorder.room;
    recorder.count = progress[TG_SPAN_COUNTS(groups) + group];
  }
  if (TG_TRACE && group == 0 && get_local_id(0) == 0) {
    *(global ulong*)(progress + TG_PROGRESS_CLOCK_BEGIN) = tg_now();
  }
  return recorder;
}

void tg_end_recording(tg_recorder recorder, global uint* progress, uint group, uint groups) {
  if (TG_TRACE && get_local_id(0) == 0) {
    progress[TG_SPAN_COUNTS(groups) + group] = recorder.count;
    if (group == 0) {
      *(global ulong*)(progress + TG_PROGRESS_CLOCK_END) = tg_now();
    }
  }
}

// `times`: when the group reached the task, when all waits had ended, and when it ended.
void tg_record(tg_recorder* recorder, ulong3 times, uint iteration, uint stage, tg_walk walk) {
  if (TG_TRACE && get_local_id(0) == 0 && recorder->count < recorder->room) {
    const tg_span span = {times.x, times.y, times.z, iteration, stage, walk.first, walk.step, walk.count, 0};
    recorder->spans[recorder->count] = span;
  }
  recorder->count += TG_TRACE;
}

#if TG_GATES
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
#endif
