// A span of a timeline, as a work-group records it; shared by kernels and host. Times are ticks of the device's clock.

#ifndef TG_SPAN_UNTIL
#define TG_SPAN_UNTIL 0xffffffffu // in place of a stage: evaluation of the `until` condition

typedef struct {
  ulong asked; // the group reached the task
  ulong began; // all waits have ended
  ulong ended;
  uint iteration;
  uint stage;
  uint first; // first tile (or pack of tiles) of `count`, `step` apart
  uint step;
  uint count;
  uint unused;
} tg_span;
#endif
