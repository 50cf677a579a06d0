// Words of a queue's state, shared by kernels/wave/queue.cl and the host.
#ifndef TG_QUEUE_PRIORITIES
#define TG_QUEUE_PRIORITIES 5 // 0 is the best

enum {
  TG_QUEUE_MORE,          // 1 if there is another round
  TG_QUEUE_MODE,          // values below
  TG_QUEUE_ROUND_OF_RING, // of each ring two words, so that a round reads 32 bytes before its items: TG_QUEUE_HEAD, TG_QUEUE_TAKEN
  TG_QUEUE_FAULT = TG_QUEUE_ROUND_OF_RING + 2 * TG_QUEUE_PRIORITIES, // 1 once an item has failed; its setter writes the next three
  TG_QUEUE_FAULT_ITEM,    // its words
  TG_QUEUE_FAULT_PARAM,
  TG_QUEUE_FAULT_RESULT,  // what its op returned
  TG_QUEUE_FAULTS,        // items that failed

  // Only in rounds (kernels/wave/rings.cl), as the second and third word:
  TG_QUEUE_ROUND,         // counted from 0
  TG_QUEUE_STALLED,       // consecutive rounds in which no item was completed
  TG_QUEUE_LAST_REQUEUED, // words of an item that was requeued in the last round
  TG_QUEUE_LAST_PARAM,
  TG_QUEUE_END,           // why it ended with items left (values below)
  TG_QUEUE_REMAINING,     // items left at that time
  TG_QUEUE_ROUNDS,        // total
  TG_QUEUE_REQUEUES,      // total; two words, the low one first
  TG_QUEUE_AGED = TG_QUEUE_REQUEUES + 2,  // total of promotions by age; two words
  TG_QUEUE_MAX_AGE = TG_QUEUE_AGED + 2,   // longest wait of an item, in rounds
  TG_QUEUE_COUNTS,                        // by priority: given items
  TG_QUEUE_WAITING = TG_QUEUE_COUNTS + TG_QUEUE_PRIORITIES, // not completed
  TG_QUEUE_SINCE = TG_QUEUE_WAITING + TG_QUEUE_PRIORITIES,  // round since which they wait
  TG_QUEUE_TAILS = TG_QUEUE_SINCE + TG_QUEUE_PRIORITIES,  // by priority: position after the last item of its ring
  TG_QUEUE_CLAIMS = TG_QUEUE_TAILS + TG_QUEUE_PRIORITIES, // by priority: chunks of the round's items that were claimed
  TG_QUEUE_DONE = TG_QUEUE_CLAIMS + TG_QUEUE_PRIORITIES, // items that were completed in this round
  TG_QUEUE_AGAIN,       // items that were requeued in this round
  TG_QUEUE_KEPT,        // different items of pure ops
  TG_QUEUE_MOST_KEPT,   // the most of them in any iteration
  TG_QUEUE_REPEATED,    // published items of pure ops that were identical to others, in this round
  TG_QUEUE_RAN_AHEAD,   // items that ran in the round in which they were published
  TG_QUEUE_DEEPEST,     // the most items that the rings had to hold
  TG_QUEUE_PUBLISHED,   // by ops; two words, like the next two
  TG_QUEUE_EXECUTED = TG_QUEUE_PUBLISHED + 2,  // completed items
  TG_QUEUE_DEDUPED = TG_QUEUE_EXECUTED + 2,    // identical to others
  TG_QUEUE_WORDS = TG_QUEUE_DEDUPED + 2
};

// Results of ops, besides TIDEGATE_FAULT(code), which sets the bit.
enum { TIDEGATE_DONE = 0, TIDEGATE_REQUEUE = 1 };
#define TG_QUEUE_FAULT_BIT 0x80000000u

enum { TG_QUEUE_DRAINED, TG_QUEUE_FAILED, TG_QUEUE_NO_PROGRESS, TG_QUEUE_FULL };

#define TG_QUEUE_MOST_A_ROUND 0x400000u // items of a ring; bounds the time between two barriers

// Words of a ring, which is numbered from the first priority in use.
#define TG_QUEUE_HEAD(ring) (TG_QUEUE_ROUND_OF_RING + 2 * (ring))      // position of its first item
#define TG_QUEUE_TAKEN(ring) (TG_QUEUE_ROUND_OF_RING + 2 * (ring) + 1) // items that run in this round

// A round clears the tables, puts the given items into them, runs items of which some are given ones that are still where
// the host has put them, or runs items of the rings alone.
enum { TG_QUEUE_CLEARS, TG_QUEUE_SEEDS, TG_QUEUE_RUNS_GIVEN, TG_QUEUE_RUNS };
#endif
