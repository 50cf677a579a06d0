// Memory that work-groups wait on and report in; shared by kernels and host.

#ifndef TG_LINE
// Counters are a cache line apart: arrivals at the barrier, groups that gave up waiting, and the progress of
// each group. They only grow and are compared by their difference, because they may pass 2^32.
#define TG_LINE 64
#define TG_ARRIVALS 0
#define TG_GAVE_UP TG_LINE
#define TG_REACHED(group) ((2 + (group)) * TG_LINE)
#define TG_COUNTER_WORDS(groups) TG_REACHED(groups)

// Claims (wave/claims.cl): two words at TG_REACHED of each share, and two for the test that ends the repetition.
#define TG_CLAIM_OF_UNTIL (TG_GAVE_UP + 2)

// The report of a group that gave up: 1, the location (three words), the counter's line, the value that it waited for and
// the value that it read.
#define TG_REPORT 8 // words
#define TG_REPORT_LOCATION 1
#define TG_REPORT_COUNTER 4
#define TG_REPORT_WANTED 5
#define TG_REPORT_SEEN 6

// The census of concurrent groups (common/occupancy.cl).
#define TG_NEXT_TICKET 0
#define TG_SERVING TG_LINE
#define TG_CENSUS_CLOSED (2 * TG_LINE)
#define TG_PARTICIPANTS (3 * TG_LINE)
#define TG_LOCK_GAVE_UP (4 * TG_LINE)
#define TG_PASTIME (5 * TG_LINE)
#define TG_CENSUS_WORDS (6 * TG_LINE)
#endif
