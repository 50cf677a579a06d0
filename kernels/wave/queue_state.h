// Words of a queue's state, shared by kernels/wave/queue.cl and the host.
#ifndef TG_QUEUE_PRIORITIES
#define TG_QUEUE_PRIORITIES 5 // 0 is the best

enum {
  TG_QUEUE_FAULT,         // 1 once an item has failed; its setter writes the next two
  TG_QUEUE_FAULT_PLACE,   // index of the item among the published ones
  TG_QUEUE_FAULT_RESULT,  // what its op returned
  TG_QUEUE_FAULTS,        // items that failed
  TG_QUEUE_MORE,          // 1 if there is another round
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
  TG_QUEUE_WORDS = TG_QUEUE_SINCE + TG_QUEUE_PRIORITIES
};

enum { TG_QUEUE_DRAINED, TG_QUEUE_FAILED, TG_QUEUE_NO_PROGRESS, TG_QUEUE_FULL };
#endif
