// Words that report a persistent launch's position to the host (progress.cl); shared by kernel and host.

#include "common/counters.h"
#include "common/span.h"

#define TG_PROGRESS_ITERATION 0
#define TG_PROGRESS_STAGE 1
#define TG_PROGRESS_TURN 2
#define TG_PROGRESS_FINISHED 3     // the `until` condition was met
#define TG_PROGRESS_STUCK 4        // groups whose waits timed out
#define TG_PROGRESS_ARRIVALS 5     // at the barrier, in all slices so far
#define TG_PROGRESS_SPAN_ROOM 6    // spans kept per group
#define TG_PROGRESS_CLOCK_BEGIN 8  // of group 0 in this launch, two words each
#define TG_PROGRESS_CLOCK_END 10
#define TG_PROGRESS_GROUPS 16      // words before the groups' reports

// Number of spans of a group so far; the first `room` are kept.
#define TG_SPAN_COUNTS(groups) (TG_PROGRESS_GROUPS + TG_REPORT * (groups))
#define TG_SPANS(groups) (TG_SPAN_COUNTS(groups) + ((groups) + 7) / 8 * 8)
