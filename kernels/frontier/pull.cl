// Pulls: vertices look for neighbours in the frontier.
//
// On a GPU a work-item processes two or three vertices at a time and fetches several neighbours of each,
// because loads in flight determine the speed. A CPU core overlaps many loads if it mispredicts no branch:
// there a work-item takes a word of vertices, first computes the decisions for all of them as bits, and then
// processes them.

// True if no edge of this weight or a greater one can improve a distance.
TG_INLINE bool tg_too_heavy(const tg_position* at, uint weight, tg_bits distance) {
  return TG_PUTS_OFF && TG_WEIGHTS && tg_along(at->least, weight) >= distance;
}

// The complement of a distance, for the least one of a frontier.
#define TG_NEARNESS(distance) (TG_PUTS_OFF ? ~(uint)(distance) : 0u)

// Rows that work-items leave to their group, in local memory: {vertex, distance so far, visited edges}.
typedef struct {
  local uint4* rows; // room for 2 * TG_ALONE_ROOM
  local uint* count;
} tg_left_rows;

#define TG_ASKS 4 // neighbours that a work-item fetches together
#define TG_OWN_EDGES 64u  // of a row, that a work-item visits by itself
#define TG_HUB_EDGES 8192u // from which on a whole group visits the rest of a row, and not a warp

// Visits the rest of the rows that work-items left, all of them together, and stores their distances.
static TG_INLINE void tg_pull_left_rows(const tg_job* job, const tg_position* at, tg_target to, global const uint* frontier,
                                        tg_left_rows left_rows) {
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  const uint lane = TG_LANE;
  const uint rows = min(*left_rows.count, 2u * TG_ALONE_ROOM);
  for (uint i = 0; i < rows; ++i) {
    const uint4 row = left_rows.rows[i];
    volatile local uint* const best = (volatile local uint*)&left_rows.rows[i] + 1;
    const tg_offset begin = job->in_offsets[row.x] + row.z;
    const tg_offset end = job->in_offsets[row.x + 1ul];
    const bool hub = end - begin >= TG_HUB_EDGES;
    if (!hub && lane / TG_WARP != i % (TG_GROUP_SIZE / TG_WARP)) {
      continue;
    }
    const uint width = hub ? TG_GROUP_SIZE : TG_WARP;
    for (tg_offset e = begin + lane % width; e < end; e += width * TG_ASKS) {
      uint asked[TG_ASKS];
      uint weights[TG_ASKS];
      TG_UNROLL for (uint k = 0; k < TG_ASKS; ++k) {
        const tg_offset edge = min(e + k * width, end - 1);
        asked[k] = job->in_neighbours[edge];
        weights[k] = tg_weight(job->in_weights, edge);
      }
      if (tg_too_heavy(at, weights[0], *best)) {
        break;
      }
      TG_UNROLL for (uint k = 0; k < TG_ASKS; ++k) {
        if ((frontier[asked[k] >> 5] >> (asked[k] & 31u) & 1u) != 0) {
          const uint candidate = tg_along(tg_value(job, at, asked[k]), weights[k]);
          if (candidate < *best) {
            atomic_min(best, candidate);
          }
        }
      }
      to.found->scanned += TG_ASKS;
    }
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  // The same number of rounds for all work-items: PoCL 3.1 takes the first one's branch for all after a barrier.
  for (uint round = 0; round < rows; round += TG_GROUP_SIZE) {
    const uint4 row = left_rows.rows[min(round + lane, rows - 1)];
    if (round + lane < rows && row.y < job->values[row.x]) {
      job->values[row.x] = row.y; // no other work-item writes it in this wave
      if (tg_mark(to.bitmap, row.x)) {
        tg_count_vertex(to, tg_degree(job, row.x));
        to.found->least = max(to.found->least, ~row.y);
      }
    }
  }
}

#if TG_GROUP_SIZE == 1
// Returns a mask of the vertices of a word that are not settled and have neighbours.
TG_INLINE uint tg_seekers(const tg_job* job, const tg_position* at, uint word) {
  global const tg_bits* const values = job->values + word * 32ul;
  global const tg_offset* const begins = job->in_offsets + word * 32ul;
  const uint count = min(job->vertices - word * 32, 32u);
  uint seekers = 0;
  for (uint i = 0; i < count; ++i) {
    seekers |= ((tg_settled(job, at, values[i]) ? 0u : 1u) & (begins[i] != begins[i + 1] ? 1u : 0u)) << i;
  }
  return seekers;
}

// Returns a mask of the seekers whose first neighbour is in the frontier.
TG_INLINE uint tg_first_hit_mask(const tg_job* job, global const uint* frontier, uint word, uint seekers) {
  global const tg_offset* const begins = job->in_offsets + word * 32ul;
  global const uint* const neighbours = job->in_neighbours;
  uint hits = 0;
  for (uint left = seekers; left != 0; left &= left - 1) {
    const uint i = tg_lowest(left);
    const uint u = neighbours[begins[i]];
    hits |= (frontier[u >> 5] >> (u & 31u) & 1u) << i;
  }
  return hits;
}

// Every vertex of a word looks for neighbours in the frontier, or if `frontier` is 0 for any that improve it,
// until it is done.
TG_INLINE void tg_pull_vertices(const tg_job* job, const tg_position* at, tg_target to, global const uint* frontier,
                                tg_left_rows left_rows) {
  uint vertices = 0;
  ulong edges = 0;
  ulong scanned = 0;
  uint least = 0;
  TG_EACH_ITEM(job, word, job->words, 1) {
    const uint seekers = tg_seekers(job, at, word);
    const uint first_hits = frontier == 0 || TG_PULLS_ALL ? seekers : tg_first_hit_mask(job, frontier, word, seekers);
    uint news = 0;
    for (uint left = seekers; left != 0; left &= left - 1) {
      const uint i = tg_lowest(left);
      const uint v = word * 32 + i;
      const tg_offset begin = job->in_offsets[v];
      const tg_offset end = job->in_offsets[v + 1ul];
      const tg_bits before = job->values[v];
      tg_bits best = before;
      uint from = TG_NO_VERTEX;
      tg_offset e = begin + (~first_hits >> i & 1u);
      for (; TG_PULLS_ALL && e < end && !tg_settled(job, at, best); ++e) {
        best = tg_merged(((volatile global tg_bits*)job->values)[job->in_neighbours[e]], best);
      }
      for (bool enough = TG_PULLS_ALL; !enough && e < end && !tg_too_heavy(at, tg_weight(job->in_weights, e), best); ++e) {
        const uint u = job->in_neighbours[e];
        if (frontier != 0 && (frontier[u >> 5] >> (u & 31u) & 1u) == 0) {
          continue;
        }
        const tg_bits value = frontier == 0 ? ((volatile global tg_bits*)job->values)[u] : tg_value(job, at, u);
        const tg_bits candidate = tg_along(value, tg_weight(job->in_weights, e));
        if (tg_better(candidate, best)) {
          best = tg_merged(candidate, best);
          from = u;
          enough = TG_FOUND_ONCE(at) || tg_settled(job, at, best);
        }
      }
      scanned += e - begin;
      if (best != before) {
        job->values[v] = best; // no other work-item writes it in this wave
        if (TG_FOUND_ONCE(at)) {
          tg_came_from(job, v, from);
        }
        news |= (TG_STARTS(before, best) ? 1u : 0u) << i;
      }
    }
    if (news != 0) {
      const uint known = to.bitmap[word]; // not shared with other work-items
      to.bitmap[word] = known | news;
      for (news &= ~known; news != 0; news &= news - 1) {
        const uint v = word * 32 + tg_lowest(news);
        vertices += 1;
        edges += tg_degree(job, v);
        least = max(least, TG_NEARNESS(job->values[v]));
      }
    }
  }
  to.found->vertices += vertices;
  to.found->edges += edges;
  to.found->scanned += scanned;
  to.found->least = max(to.found->least, least);
}
#else
// Neighbours past the last one repeat it, which only sums would notice.
#define TG_IS_EDGE(edge, end) (!TG_ADDS || (edge) < (end))

// Vertices that a work-item pulls at a time, and neighbours of each that it fetches together. More loads in
// flight make a pull faster until the bitmap's lines saturate the cache; registers beyond the limit would
// slow down all other steps.
#define TG_PULLS (TG_ALGORITHM == TG_BFS ? 3 : 2)

// Every vertex looks for neighbours in the frontier, or if `frontier` is 0 for any that improve it. A
// finished vertex is replaced by the next one at once; otherwise the longest row of a warp would hold up the
// others.
TG_INLINE void tg_pull_vertices(const tg_job* job, const tg_position* at, tg_target to, global const uint* frontier,
                                tg_left_rows left_rows) {
  uint vertex[TG_PULLS];
  tg_bits best[TG_PULLS];
  uint from[TG_PULLS];
  tg_offset begin[TG_PULLS];
  tg_offset next[TG_PULLS]; // next edge to visit
  tg_offset end[TG_PULLS];
  uint open = 0; // a bit for each unfinished vertex
  tg_vertex_walk walk = tg_begin_walk(job);
  while (open != 0 || walk.word < job->words) {
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      const uint v = walk.word * 32 + walk.bit;
      if ((open >> k & 1u) == 0 && walk.word < job->words) {
        tg_go_on(job, &walk);
        if (v < job->vertices) {
          vertex[k] = v;
          from[k] = TG_NO_VERTEX;
          best[k] = job->values[v];
          if (TG_EAGER || !tg_settled(job, at, best[k])) {
            begin[k] = next[k] = job->in_offsets[v];
            end[k] = job->in_offsets[v + 1ul];
            open |= 1u << k;
          }
        }
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      // Closes only vertices opened just now; a vertex that settles below is stored first.
      const bool idle = (open >> k & 1u) != 0 && (next[k] == end[k] || tg_settled(job, at, best[k]));
      open &= ~((idle ? 1u : 0u) << k);
    }
    uint asked[TG_PULLS][TG_ASKS]; // past the last neighbour it is repeated
    uint words[TG_PULLS][TG_ASKS];
    uint heaviest[TG_PULLS]; // of these
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) != 0) {
        TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
          asked[k][i] = job->in_neighbours[min(next[k] + i, end[k] - 1)];
        }
        heaviest[k] = tg_weight(job->in_weights, min(next[k] + TG_ASKS, end[k]) - 1);
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) != 0) {
        TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
          words[k][i] = frontier == 0 ? 0xffffffffu : frontier[asked[k][i] >> 5];
        }
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) == 0) {
        continue;
      }
      bool enough = false;
      TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
        const uint u = asked[k][i];
        if (!enough && TG_IS_EDGE(next[k] + i, end[k]) && (words[k][i] >> (u & 31u) & 1u) != 0) {
          const tg_bits value = frontier == 0 ? ((volatile global tg_bits*)job->values)[u] : tg_value(job, at, u);
          const tg_bits candidate = tg_along(value, tg_weight(job->in_weights, min(next[k] + i, end[k] - 1)));
          if (tg_better(candidate, best[k])) {
            best[k] = tg_merged(candidate, best[k]);
            from[k] = u;
            enough = TG_FOUND_ONCE(at) || tg_settled(job, at, best[k]);
          }
        }
      }
      to.found->scanned += min((tg_offset)TG_ASKS, end[k] - next[k]);
      next[k] += TG_ASKS;
      enough |= tg_too_heavy(at, heaviest[k], best[k]);
      bool left = false;
      if (TG_MAY_LEAVE_ROWS && frontier != 0 && !enough && next[k] < end[k] && next[k] - begin[k] >= TG_OWN_EDGES) {
        const uint row = atomic_inc(left_rows.count);
        if (row < 2 * TG_ALONE_ROOM) {
          left_rows.rows[row] = (uint4)(vertex[k], best[k], (uint)(next[k] - begin[k]), 0);
          left = true;
        }
      }
      if (left) {
        open &= ~(1u << k);
      } else if (enough || next[k] >= end[k]) {
        open &= ~(1u << k);
        if (from[k] != TG_NO_VERTEX) {
          const uint v = vertex[k];
          const bool starts = TG_STARTS(job->values[v], best[k]);
          job->values[v] = best[k]; // no other work-item writes it in this wave
          if (TG_FOUND_ONCE(at)) {
            tg_came_from(job, v, from[k]);
          }
          if (starts && tg_mark(to.bitmap, v)) {
            tg_count_vertex(to, job->offsets == job->in_offsets ? end[k] - begin[k] : tg_degree(job, v));
            to.found->least = max(to.found->least, TG_NEARNESS(best[k]));
          }
        }
      }
    }
  }
}
#endif

// Dense: every vertex visits its neighbours.
void tg_pull(const tg_job* job, const tg_position* at, tg_target to, local uint4* rows, local uint* row_count) {
  const tg_left_rows left_rows = {rows, row_count};
  if (TG_MAY_LEAVE_ROWS) {
    if (TG_LANE == 0) {
      *row_count = 0;
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  }
  tg_pull_vertices(job, at, to, tg_bitmap_of(job, at->wave), left_rows);
  if (TG_MAY_LEAVE_ROWS) {
    tg_pull_left_rows(job, at, to, tg_bitmap_of(job, at->wave), left_rows);
  }
}

#define TG_FUSED_SWEEPS 4

// Fused: several times in a row, using what has just been found. Each vertex belongs to one work-item throughout; writes of
// others become visible at any time.
TG_OUTLINED void tg_pull_in_place(const tg_job* job, const tg_position* at, tg_target to) {
  if (!TG_STAMPS_FROM_THE_START) {
    TG_EACH_ITEM(job, v, job->vertices, 1) {
      job->stamps[v] = 0xffffffffu;
    }
  }
  for (uint sweep = 0; sweep < TG_FUSED_SWEEPS; ++sweep) {
    const tg_left_rows none = {0, 0};
    tg_pull_vertices(job, at, to, 0, none);
  }
}

// Returns a mask of up to 32 vertices that are in the frontier of a wave.
TG_INLINE uint tg_members(global const uint* waves, uint count, uint wave) {
  uint members = 0;
  for (uint i = 0; i < count; ++i) {
    members |= (waves[i] == wave ? 1u : 0u) << i;
  }
  return members;
}

// Each work-item builds whole words from the vertices' wave numbers, and on GPUs reads four at once. Also
// clears the next wave's bitmap.
TG_OUTLINED void tg_to_bitmap(const tg_job* job, const tg_position* at, tg_target to) {
  global uint* const bitmap = tg_bitmap_of(job, at->wave);
  global const uint* const waves = TG_FOUND_ONCE(at) ? (global const uint*)job->values : job->stamps;
  TG_EACH_ITEM(job, word, job->words, 1) {
    uint bits = 0;
    if (TG_GROUP_SIZE == 1 || word == job->vertices / 32) {
      bits = tg_members(waves + word * 32ul, min(job->vertices - word * 32, 32u), at->wave);
    } else {
      TG_UNROLL for (uint i = 0; i < 8; ++i) {
        const uint4 four = ((global const uint4*)waves)[word * 8ul + i];
        bits |= ((four.x == at->wave ? 1u : 0u) | (four.y == at->wave ? 2u : 0u) | (four.z == at->wave ? 4u : 0u) |
                 (four.w == at->wave ? 8u : 0u))
                << 4 * i;
      }
    }
    bitmap[word] = bits;
    for (; TG_PUTS_OFF && bits != 0; bits &= bits - 1) {
      to.found->least = max(to.found->least, ~(uint)job->values[word * 32 + tg_lowest(bits)]);
    }
  }
  tg_clear_bitmap(job, at->wave + 1);
}
