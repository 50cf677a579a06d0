// Words in which a persistent launch tells the host where it stands, and a span of its timeline (progress.cl); for the
// kernel and the host alike.

#define TG_PROGRESS_ITERATION 0
#define TG_PROGRESS_STAGE 1
#define TG_PROGRESS_ROUND 2
#define TG_PROGRESS_FINISHED 3     // `until` was met
#define TG_PROGRESS_STUCK 4        // groups that gave up waiting
#define TG_PROGRESS_ARRIVALS 5     // at the barrier, in all slices so far
#define TG_PROGRESS_SPAN_ROOM 6    // spans that are kept of a group
#define TG_PROGRESS_CLOCK_BEGIN 8  // of group 0 in this launch, two words each
#define TG_PROGRESS_CLOCK_END 10
#define TG_PROGRESS_GROUPS 16      // words before the groups' reports
#define TG_REPORT 8                // words of each

#define TG_SPAN_UNTIL 0xffffffffu // in place of a stage: the look at what ends the repetition

typedef struct {
  ulong asked; // the group came to the task
  ulong began; // nothing was left to wait for
  ulong ended;
  uint iteration;
  uint stage;
  uint first; // tile (or pack of tiles), of `count`, `step` apart
  uint step;
  uint count;
  uint unused;
} tg_span;

// How many spans a group has met so far; the first `room` are kept.
#define TG_SPAN_COUNTS(groups) (TG_PROGRESS_GROUPS + TG_REPORT * (groups))
#define TG_SPANS(groups) (TG_SPAN_COUNTS(groups) + ((groups) + 7) / 8 * 8)
