// Breadth-first search: levels, and parents where they are asked for.
//
// A vertex's value is its level, the greatest number while it has none. A wave gives `wave + 1` to the unreached
// neighbours of its frontier; whoever lowers a level first has found the vertex. Levels are exact, and each vertex is found
// once, until a fused wave has run: that lowers levels in place, some of them by a longer way first. From then on a
// vertex may be found again whenever its level falls, and all levels are exact when nothing falls any more;
// parents are then worked out from the levels.
//
// Source: Beamer, Asanovic, Patterson, Direction-Optimizing Breadth-First Search (SC 2012).

#define TG_UNREACHED 0xffffffffu
#define TG_FOUND_ONCE(at) ((at)->mixed == 0)

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return at->mixed == 0 ? at->wave : job->values[u]; }
uint tg_along(uint value, uint weight) { return value == TG_UNREACHED ? value : value + 1; }
bool tg_better(uint candidate, uint current) { return candidate < current; }
uint tg_merged(uint candidate, uint current) { return min(candidate, current); }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_min(at, candidate); }
// Whether a pull can end: any neighbour of the frontier gives the same level.
bool tg_enough(const tg_position* at, const tg_setting* setting, uint value) { return at->mixed == 0; }
bool tg_settled(const tg_position* at, const tg_setting* setting, uint value) {
  return at->mixed == 0 && value != TG_UNREACHED;
}
void tg_came_from(const tg_job* job, uint v, uint u) {
#if TG_PARENTS
  job->others[v] = u;
#endif
}
// What holds the wave for the vertices of its frontier.
global const uint* tg_membership(const tg_job* job, const tg_position* at) {
  return at->mixed == 0 ? job->values : job->stamps;
}

// Parents from levels: of several, the one that is written last.
void tg_finish(const tg_job* job) {
  TG_EACH_ITEM(job, u, job->vertices, 1) {
    const uint level = job->values[u];
    for (tg_offset e = job->offsets[u]; level != TG_UNREACHED && e < job->offsets[u + 1ul]; ++e) {
      const uint w = job->neighbours[e];
      if (job->values[w] == level + 1) {
        job->others[w] = u;
      }
    }
  }
}
