// Counts the groups that run concurrently, by the protocol of Sorensen et al. (OOPSLA 2016). Under a fair
// lock every resident group is counted before any of them closes the census; groups that start later find it
// closed. Groups start one after another, so each makes `settle_polls` reads before it closes the census, and
// none returns before it is closed. Words of the state, a line apart: next ticket, ticket being served,
// census closed, participants, timed-out lock waits, and a word to spend time on.
#include "common/counters.h"

bool tg_lock(volatile global uint* state, uint most_polls) {
  const uint ticket = atomic_inc(&state[TG_NEXT_TICKET]);
  for (uint poll = 0; poll < most_polls; ++poll) {
    if (atomic_add(&state[TG_SERVING], 0u) == ticket) {
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      return true;
    }
    if ((poll & 1023u) == 1023u && atomic_add(&state[TG_LOCK_GAVE_UP], 0u) != 0) {
      break; // the lock is lost permanently
    }
  }
  atomic_inc(&state[TG_LOCK_GAVE_UP]);
  return false;
}

void tg_unlock(volatile global uint* state) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc(&state[TG_SERVING]);
}

void tg_take_part(volatile global uint* state, uint most_polls, uint settle_polls) {
  if (!tg_lock(state, most_polls)) {
    return;
  }
  const bool joined = atomic_add(&state[TG_CENSUS_CLOSED], 0u) == 0;
  if (joined) {
    atomic_inc(&state[TG_PARTICIPANTS]);
  }
  tg_unlock(state);
  for (uint poll = 0; joined && poll < settle_polls; ++poll) {
    atomic_add(&state[TG_PASTIME], 0u);
  }
  if (joined && tg_lock(state, most_polls)) {
    atomic_xchg(&state[TG_CENSUS_CLOSED], 1u);
    tg_unlock(state);
  }
}
