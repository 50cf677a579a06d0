// Words of the state of a queue, for kernels/wave/queue.cl and the host alike.
#ifndef TG_QUEUE_PRIORITIES
#define TG_QUEUE_PRIORITIES 5 // 0 comes first

enum {
  TG_QUEUE_FAULT,         // 1 once an item has failed; who sets it writes the next two
  TG_QUEUE_FAULT_PLACE,   // of the item, among those that were published
  TG_QUEUE_FAULT_RESULT,  // what its op returned
  TG_QUEUE_FAULTS,        // items that failed
  TG_QUEUE_MORE,          // whether there is another round
  TG_QUEUE_RUNNING,       // bit p: items of priority p run in this round
  TG_QUEUE_FRESH,         // bit p: none of them has run yet
  TG_QUEUE_ROUND,         // counted from 0
  TG_QUEUE_STALLED,       // rounds in a row in which no item was done
  TG_QUEUE_LAST_REQUEUED, // place of an item that was requeued in the last round
  TG_QUEUE_END,           // why it ended with items left, one of those below
  TG_QUEUE_REMAINING,     // items that were left then
  TG_QUEUE_ROUNDS,        // in all
  TG_QUEUE_REQUEUES,      // in all; two words, the low one first
  TG_QUEUE_AGED = TG_QUEUE_REQUEUES + 2,  // aged promotions in all; two words
  TG_QUEUE_MAX_AGE = TG_QUEUE_AGED + 2,   // longest wait of an item, in rounds
  TG_QUEUE_COUNTS,                        // by priority: items that were published
  TG_QUEUE_WAITING = TG_QUEUE_COUNTS + TG_QUEUE_PRIORITIES,    // that are not done
  TG_QUEUE_REQUEUED = TG_QUEUE_WAITING + TG_QUEUE_PRIORITIES,  // in this round
  TG_QUEUE_SINCE = TG_QUEUE_REQUEUED + TG_QUEUE_PRIORITIES,    // the round since which they wait
  TG_QUEUE_WORDS = TG_QUEUE_SINCE + TG_QUEUE_PRIORITIES
};

enum { TG_QUEUE_DRAINED, TG_QUEUE_FAILED, TG_QUEUE_NO_PROGRESS, TG_QUEUE_FULL };
#endif
