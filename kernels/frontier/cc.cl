// Connected components: hook, compress, and leave out the giant component.
//
// Values are the links of a disjoint-set forest: a vertex's value is a smaller vertex of its component, or
// the vertex itself at a root. At the start a vertex links to its first neighbour, if that is smaller; then it joins the
// next one. In most graphs one component then holds most vertices, and its root is found in a sample. The wave visits only
// the edges of the other vertices. A visit hooks the greater of the two roots under the smaller one. It uses a
// compare-and-exchange at the root and continues from the value read if that fails, so one visit completes an edge.
// An outdated link still leads to a vertex of the component. Each walk shortens its path. The last step points every
// vertex at its root, the smallest vertex of its component. The graph has each edge in both directions.
//
// Sources: Jaiganesh, Burtscher, A High-Performance Connected Components Implementation for GPUs (HPDC 2018); Sutton,
// Ben-Nun, Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling (IPDPS 2018).

#define TG_FIRST_VALUE(v) (v)
#define TG_FOUND_ONCE(at) false
#define TG_SAMPLES TG_SCRATCH

// Compresses, links, and compresses again before the wave.
bool tg_goes_on(tg_position* at, tg_counts counts) {
  const bool linked = at->step == TG_STEP_LINK;
  if (!linked && at->mixed != 0) {
    return false;
  }
  at->scanned_edges = linked ? counts.scanned : at->scanned_edges;
  at->mixed = 1;
  at->step = linked ? TG_STEP_COMPRESS : TG_STEP_LINK;
  return true;
}

// Halves the path with stores that may be lost or late: `at` is no root any more, so nothing else hooks it, and every link
// that it has had leads to its root. An atomic minimum in place of the store takes 1.3 times as long on an H100.
uint tg_root(global uint* values, uint v) {
  uint at = v;
  uint link = values[at];
  for (uint left = 0xffffffffu; link != at && left != 0; --left) { // links decrease with every step
    const uint next = values[link];
    if (next != link) {
      ((volatile global uint*)values)[at] = next;
    }
    at = link;
    link = next;
  }
  return at;
}

// Unites the sets of an edge's ends.
void tg_join(const tg_job* job, uint u, uint v) {
  uint a = tg_root(job->values, u);
  uint b = tg_root(job->values, v);
  for (uint left = 0xffffffffu; a != b && left != 0; --left) {
    const uint high = max(a, b);
    const uint low = min(a, b);
    const uint seen = atomic_cmpxchg(&job->values[high], high, low);
    if (seen == high) {
      return;
    }
    a = tg_root(job->values, seen); // another work-item has hooked it
    b = low;
  }
}

// Joins each vertex with its second neighbour.
void tg_link(const tg_job* job, tg_target to) {
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    const tg_offset begin = job->offsets[v];
    if (job->offsets[v + 1ul] - begin > 1) {
      tg_join(job, v, job->neighbours[begin + 1]);
      to.found->scanned += 1;
    }
  }
}

// Notes the most frequent root of a few vertices; links may be shortened meanwhile. Any root is right, as long as all
// work-items compare with the same one. All work-items of one group call this.
void tg_note_giant(const tg_job* job, local uint* roots) {
  const uint lane = TG_LANE;
  for (uint i = lane; i < TG_SAMPLES; i += TG_GROUP_SIZE) {
    uint root = job->values[(uint)((ulong)i * job->vertices / TG_SAMPLES)];
    for (uint link = job->values[root]; link != root; link = job->values[root]) {
      root = link;
    }
    roots[i] = root;
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    uint most = 0;
    for (uint i = 0; i < TG_SAMPLES; ++i) {
      uint alike = 0;
      for (uint other = 0; other < TG_SAMPLES; ++other) {
        alike += roots[i] == roots[other] ? 1u : 0u;
      }
      if (alike > most) {
        most = alike;
        job->state->giant = roots[i];
      }
    }
  }
}

// Points every vertex at its root; no hook runs meanwhile. Links shorten while others walk along them, so that a path of n
// links takes about log n steps.
TG_OUTLINED void tg_compress(const tg_job* job) {
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    uint root = job->values[v];
    for (uint link = job->values[root]; link != root; link = job->values[root]) {
      root = link; // links decrease with every step, so this ends
      job->values[v] = root;
    }
  }
}

void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {
  if (at->step == TG_STEP_LINK) {
    tg_link(job, to);
    return;
  }
  tg_compress(job);
  if (at->step == TG_STEP_COMPRESS && job->group == 0 && at->mixed != 0) {
    tg_note_giant(job, scratch);
  }
}

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) {
  const tg_offset degree = tg_degree(job, v);
  job->values[v] = degree == 0 ? v : min(v, job->neighbours[job->offsets[v]]);
  if (has_queue && degree >= TG_LONG_ROW) {
    tg_enqueue(to, v, job->offsets[v], degree);
  }
}

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return 0; }
TG_INLINE void tg_push_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, uint value, ulong e) {
  const uint w = job->neighbours[e];
  if (w < u) { // the opposite edge is also present
    tg_join(job, u, w);
  }
}

// Joins the vertices outside the giant component with all their neighbours. An edge of both kinds of vertices is visited from
// outside; all work-items must compare with the same root.
TG_OUTLINED void tg_pull(const tg_job* job, const tg_position* at, tg_target to, local uint4* rows, local uint* row_count) {
  const uint giant = job->state->giant;
  for (uint i = job->group; i < at->long_runs; i += job->groups) {
    const uint4 run = tg_long_run(job, 0, i);
    if (job->values[run.x] != giant) {
      for (uint e = TG_LANE_OF(job); e < run.w; e += TG_GROUP_SIZE) {
        tg_join(job, run.x, job->neighbours[tg_first_edge(run) + e]);
        to.found->scanned += 1;
      }
    }
  }
  for (tg_vertex_walk walk = tg_begin_walk(job); walk.word < job->words; tg_go_on(job, &walk)) {
    const uint v = walk.word * 32 + walk.bit;
    if (v >= job->vertices || job->values[v] == giant) {
      continue;
    }
    const tg_offset begin = job->offsets[v];
    const tg_offset end = job->offsets[v + 1ul];
    if (end - begin < TG_LONG_ROW) {
      for (tg_offset e = begin; e < end; ++e) {
        tg_join(job, v, job->neighbours[e]);
      }
      to.found->scanned += end - begin;
    }
  }
}

// Merges the forest of another rank.
static void tg_own_action(const tg_job* job, const tg_position* at, tg_target to, tg_part part, local tg_share* share) {
  global const uint* const heard = (global const uint*)job->queues;
  TG_EACH_ITEM(job, v, part.action == TG_PART_ADOPT ? job->vertices : 0, 1) {
    tg_join(job, v, heard[v]);
  }
}
