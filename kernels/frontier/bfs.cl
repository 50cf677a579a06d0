// Breadth-first search: levels and, with TG_PARENTS, parents.
//
// A vertex's value is its level, or the greatest number before it is reached. A wave writes `wave + 1` to the
// unreached neighbours of its frontier; the work-item that first lowers a level has found the vertex. Levels
// are exact and each vertex is found once until a fused wave runs: that lowers levels in place, some of them
// through a longer path first. From then on a vertex is found again whenever its level falls. All levels are
// exact once none falls any more; the last step then derives the parents from the levels.
//
// Source: Beamer, Asanovic, Patterson, Direction-Optimizing Breadth-First Search (SC 2012).

#define TG_UNREACHED 0xffffffffu
#define TG_FIRST_VALUE(v) TG_UNREACHED
#define TG_FOUND_ONCE(at) ((at)->mixed == 0) // and any neighbour in the frontier yields the same level

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return at->mixed == 0 ? at->wave : job->values[u]; }
uint tg_along(uint value, uint weight) { return value == TG_UNREACHED ? value : value + 1; }
bool tg_better(uint candidate, uint current) { return candidate < current; }
uint tg_merged(uint candidate, uint current) { return min(candidate, current); }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_min(at, candidate); }
bool tg_settled(const tg_job* job, const tg_position* at, uint value) {
  return at->mixed == 0 && value != TG_UNREACHED;
}

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) {
  job->values[v] = TG_UNREACHED;
  tg_came_from(job, v, TG_NO_VERTEX);
}
bool tg_give_source(const tg_job* job, uint v, uint index) {
  job->values[v] = 0;
  tg_came_from(job, v, v);
  return true;
}

// Derives parents from levels, which are exact for all vertices: the first neighbour of the level before.
void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {
  TG_EACH_ITEM(job, i, job->rows, 1) {
    const uint v = job->first + i;
    const uint level = job->values[v];
    uint parent = level == 0 ? v : TG_NO_VERTEX;
    const tg_offset end = level == 0 || level == TG_UNREACHED ? 0 : job->in_offsets[v + 1ul];
    for (tg_offset e = job->in_offsets[v]; parent == TG_NO_VERTEX && e < end; ++e) {
      parent = job->values[job->in_neighbours[e]] == level - 1 ? job->in_neighbours[e] : TG_NO_VERTEX;
    }
    job->others[v] = parent;
  }
}
