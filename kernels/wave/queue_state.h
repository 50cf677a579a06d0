// Words of a queue's state, shared by kernels/wave/queue.cl and the host.
#ifndef TG_QUEUE_PRIORITIES
#define TG_QUEUE_PRIORITIES 5 // 0 is the best

enum {
  TG_QUEUE_MORE,          // 1 if there is another round
  TG_QUEUE_MODE,          // values below; this and the next only if ops publish (kernels/wave/publish.cl)
  TG_QUEUE_ROUND_OF_RING, // of each ring two words, so that a round reads 32 bytes before its items: TG_QUEUE_HEAD, TG_QUEUE_TAKEN
  TG_QUEUE_FAULT = TG_QUEUE_ROUND_OF_RING + 2 * TG_QUEUE_PRIORITIES, // 1 once an item has failed; its setter writes the next two
  TG_QUEUE_FAULT_PLACE,   // index of the item among the published ones
  TG_QUEUE_FAULT_RESULT,  // what its op returned
  TG_QUEUE_FAULTS,        // items that failed
  TG_QUEUE_RUNNING,       // bit p: items of priority p run in this round
  TG_QUEUE_FRESH,         // bit p: no item of priority p has run yet
  TG_QUEUE_ROUND,         // counted from 0
  TG_QUEUE_STALLED,       // consecutive rounds in which no item was completed
  TG_QUEUE_LAST_REQUEUED, // index of an item that was requeued in the last round
  TG_QUEUE_END,           // why it ended with items left (values below)
  TG_QUEUE_REMAINING,     // items left at that time
  TG_QUEUE_ROUNDS,        // total
  TG_QUEUE_REQUEUES,      // total; two words, the low one first
  TG_QUEUE_AGED = TG_QUEUE_REQUEUES + 2,  // total of promotions by age; two words
  TG_QUEUE_MAX_AGE = TG_QUEUE_AGED + 2,   // longest wait of an item, in rounds
  TG_QUEUE_COUNTS,                        // by priority: published items
  TG_QUEUE_WAITING = TG_QUEUE_COUNTS + TG_QUEUE_PRIORITIES,    // not completed
  TG_QUEUE_REQUEUED = TG_QUEUE_WAITING + TG_QUEUE_PRIORITIES,  // in this round
  TG_QUEUE_SINCE = TG_QUEUE_REQUEUED + TG_QUEUE_PRIORITIES,    // round since which they wait

  // Only if ops publish (kernels/wave/publish.cl):
  TG_QUEUE_TAILS = TG_QUEUE_SINCE + TG_QUEUE_PRIORITIES,  // by priority: position after the last item of its ring
  TG_QUEUE_CLAIMS = TG_QUEUE_TAILS + TG_QUEUE_PRIORITIES, // by priority: chunks of the round's items that were claimed
  TG_QUEUE_DONE = TG_QUEUE_CLAIMS + TG_QUEUE_PRIORITIES, // items that were completed in this round
  TG_QUEUE_AGAIN,       // items that were requeued in this round
  TG_QUEUE_KEPT,        // different items of pure ops
  TG_QUEUE_MOST_KEPT,   // the most of them in any iteration
  TG_QUEUE_REPEATED,    // published items of pure ops that were identical to others, in this round
  TG_QUEUE_RAN_AHEAD,   // items that ran in the round in which they were published
  TG_QUEUE_DEEPEST,     // the most items that the rings had to hold
  TG_QUEUE_FAULT_PARAM, // param of the item that failed first; its op and buffers are in TG_QUEUE_FAULT_PLACE
  TG_QUEUE_LAST_PARAM,  // likewise of TG_QUEUE_LAST_REQUEUED
  TG_QUEUE_PUBLISHED,   // by ops; two words, like the next two
  TG_QUEUE_EXECUTED = TG_QUEUE_PUBLISHED + 2,  // completed items
  TG_QUEUE_DEDUPED = TG_QUEUE_EXECUTED + 2,    // identical to others
  TG_QUEUE_WORDS = TG_QUEUE_DEDUPED + 2
};

// Results of ops, besides TIDEGATE_FAULT(code), which sets the bit.
enum { TIDEGATE_DONE = 0, TIDEGATE_REQUEUE = 1 };
#define TG_QUEUE_FAULT_BIT 0x80000000u

enum { TG_QUEUE_DRAINED, TG_QUEUE_FAILED, TG_QUEUE_NO_PROGRESS, TG_QUEUE_FULL };

// Words of a ring, which is numbered from the first priority in use.
#define TG_QUEUE_HEAD(ring) (TG_QUEUE_ROUND_OF_RING + 2 * (ring))      // position of its first item
#define TG_QUEUE_TAKEN(ring) (TG_QUEUE_ROUND_OF_RING + 2 * (ring) + 1) // items that run in this round

// Modes of a queue whose ops publish: its tables are cleared, the given items go into the rings, items run.
enum { TG_QUEUE_CLEARS, TG_QUEUE_SEEDS, TG_QUEUE_RUNS };
#endif
