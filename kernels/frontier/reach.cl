// Reachability from up to 32 sources at once.
//
// A vertex's value is a word; bit i is set if source i reaches it. Words only gain bits: a wave propagates
// the words of its frontier, and every vertex that gains a bit enters the next frontier. Bits that arrive
// during a wave may travel on at once or in the next wave; when no word changes any more, all are complete.
//
// Source: Then, Kaufmann, Chirigati et al., The More the Merrier: Efficient Multi-Source Graph Traversal (VLDB 2014).

#define TG_FOUND_ONCE(at) false

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return job->values[u]; }
uint tg_along(uint value, uint weight) { return value; }
bool tg_better(uint candidate, uint current) { return (candidate & ~current) != 0; }
uint tg_merged(uint candidate, uint current) { return candidate | current; }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_or(at, candidate); }
bool tg_enough(const tg_position* at, const tg_setting* setting, uint value) { return value == setting->full_word; }
bool tg_settled(const tg_position* at, const tg_setting* setting, uint value) { return value == setting->full_word; }
void tg_came_from(const tg_job* job, uint v, uint u) {}
global const uint* tg_membership(const tg_job* job, const tg_position* at) { return job->stamps; }
void tg_finish(const tg_job* job) {}
