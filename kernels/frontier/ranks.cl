// A traversal that several processes, called ranks, run together: each action is a plain launch, and the host carries messages
// in between (engine/traversal/rank_run.cpp).
//
// A rank has the rows of the vertices from `first` to `end`; both are multiples of 32 or the end of the graph. It has room
// for the values of all vertices. Its own are exact. Of another rank's vertex it knows the best value that it has sent or seen,
// so that it sends no worse one; of sums, what it has not sent yet.
//
//   begin  first values, the first frontier
//   push   along the edges of own vertices in the frontier; improved vertices of others are listed
//   fill   puts values next to the listed vertices, for the host to send
//   adopt  merges what other ranks have sent; cc: the forest of another rank
//   pull   own vertices without a level look for a neighbour in the frontier of all ranks
//   count  the own part of the next frontier; clears the old one
//   rank   pagerank: an iteration over own vertices; by shares, if those have hubs
//   apply  pagerank: then, the rows that several shares have parts of
//   finish bfs: the parents of own vertices; cc: points every vertex at its root
#include "common/device_barrier.cl"
#include "frontier/algorithm.cl"
#define TG_RANKS_BY_SHARES (TG_ALGORITHM == TG_PAGERANK && TG_MAY_PULL_SHARES)
#if TG_RANKS_BY_SHARES
#include "frontier/shares.cl"
#endif
#define TG_FROM_ALL (TG_ALGORITHM == TG_CC || TG_ALGORITHM == TG_PAGERANK)

// Words of a sent vertex: its number and value; a level is that of the wave.
#define TG_SENT_WORDS (1ul + TG_VALUE_WORDS) // a product with it has 64 bits
#if TG_ALGORITHM == TG_BFS
#define TG_VALUE_WORDS 0u
#else
#define TG_VALUE_WORDS ((uint)(sizeof(tg_bits) / sizeof(uint)))
#endif

bool tg_is_own(const tg_part* part, uint v) { return v >= part->first && v < part->end; }

tg_offset tg_own_degree(const tg_job* job, const tg_part* part, uint v) { return tg_degree(job, v - part->first); }

uint tg_own_words(const tg_part* part) { return (part->end - part->first + 31) / 32; }

uint tg_lowest(uint bits) { return 31 - clz(bits & (0u - bits)); }

void tg_begin(const tg_job* job, const tg_part* part, const tg_setting* setting, global uint* next, tg_found* found) {
  TG_EACH_ITEM(job, v, job->vertices, 1) {
#if TG_ALGORITHM == TG_CC
    job->values[v] = v;
#elif TG_ALGORITHM == TG_PAGERANK
    const float rank = 1.0f / (float)job->vertices;
    job->values[v] = as_uint(rank);
    if (tg_is_own(part, v)) {
      const tg_offset degree = tg_own_degree(job, part, v);
      tg_passed(job, 0)[v] = tg_passed_of(rank, degree);
      found->idle += degree == 0 ? tg_units(rank) : 0;
    }
#elif TG_ALGORITHM == TG_OWN
    job->values[v] = tg_is_own(part, v) ? tg_initial(job, v, tg_own_degree(job, part, v)) : TG_OWN_NOTHING;
    if (TG_STARTS_ANYWHERE && tg_is_own(part, v) && tg_is_started(job->values[v])) {
      atomic_or(&next[v >> 5], 1u << (v & 31u));
    }
#else
    job->values[v] = TG_ALGORITHM == TG_REACH               ? 0u
                     : TG_ALGORITHM == TG_SSSP && TG_FLOATS ? 0x7f800000u
                                                            : 0xffffffffu;
#endif
  }
}

#if !TG_FROM_ALL
// Called by one work-item after `begin`.
void tg_seed(const tg_job* job, const tg_part* part, const tg_setting* setting, global const uint* sources, global uint* next) {
  for (uint i = 0; i < setting->source_count; ++i) {
    const uint v = sources[i];
    if (!tg_is_own(part, v)) {
      continue;
    }
#if TG_ALGORITHM == TG_OWN
    if (!tg_give_source(job, v, i)) {
      continue;
    }
#else
    job->values[v] = TG_ALGORITHM == TG_REACH ? job->values[v] | 1u << i : 0u;
#endif
    next[v >> 5] |= 1u << (v & 31u);
  }
}

// True if the vertex enters the next frontier with this value, or the sum that it has now.
bool tg_improve(const tg_job* job, uint v, tg_bits candidate, bool own) {
  if (!tg_better(candidate, job->values[v])) {
    return false;
  }
  const tg_bits before = tg_merge(&job->values[v], candidate);
  if (!tg_better(candidate, before)) {
    return false;
  }
#if TG_ALGORITHM == TG_OWN
  return !own || tg_starts(before, tg_merged(candidate, before));
#else
  return true;
#endif
}

void tg_fill(const tg_job* job, const tg_part* part, global uint* next, volatile global uint* tail, global uint* list) {
  TG_EACH_ITEM(job, i, *tail, 1) {
    const uint v = list[i * TG_SENT_WORDS];
    const tg_bits value = job->values[v];
    for (uint word = 0; word < TG_VALUE_WORDS; ++word) {
      list[i * TG_SENT_WORDS + 1 + word] = (uint)((ulong)value >> 32 * word);
    }
#if TG_ALGORITHM == TG_OWN && TG_OWN_MERGE == TG_MERGE_ADD
    job->values[v] = TG_OWN_NOTHING;
#endif
    atomic_and(&next[v >> 5], ~(1u << (v & 31u)));
  }
}

void tg_adopt(const tg_job* job, const tg_part* part, global const uint* heard, global uint* next) {
  TG_EACH_ITEM(job, i, part->count, 1) {
    const uint v = heard[i * TG_SENT_WORDS];
    ulong value = part->wave + 1;
    if (TG_VALUE_WORDS != 0) {
      value = heard[i * TG_SENT_WORDS + 1];
      value |= TG_VALUE_WORDS == 2 ? (ulong)heard[i * TG_SENT_WORDS + TG_VALUE_WORDS] << 32 : 0;
    }
    if (tg_improve(job, v, (tg_bits)value, true)) {
      atomic_or(&next[v >> 5], 1u << (v & 31u));
    }
  }
}

// A vertex at a distance of `near` or more stays in the frontier and is not counted with it.
bool tg_is_far(const tg_part* part, tg_bits value) { return TG_ALGORITHM == TG_SSSP && value >= part->near; }

void tg_count(const tg_job* job, const tg_part* part, global uint* frontier, global const uint* next, tg_found* found) {
  const uint first = part->first / 32;
  TG_EACH_ITEM(job, i, tg_own_words(part), 1) {
    frontier[first + i] = 0;
    for (uint bits = next[first + i]; bits != 0; bits &= bits - 1) {
      const uint v = (first + i) * 32 + tg_lowest(bits);
      if (tg_is_far(part, job->values[v])) {
        found->far += 1;
        found->nearest = max(found->nearest, ~(uint)job->values[v]);
      } else {
        found->vertices += 1;
        found->edges += tg_own_degree(job, part, v);
      }
    }
  }
}
#endif

#if TG_ALGORITHM != TG_PAGERANK
void tg_push_part(const tg_job* job, const tg_part* part, global const uint* frontier, global uint* next,
                  volatile global uint* tail, global uint* list) {
  const uint lane = (uint)get_local_id(0) % TG_WIDTH;
  TG_EACH_ITEM(job, i, tg_own_words(part), TG_WIDTH) {
    const uint word = part->first / 32 + i;
    for (uint bits = TG_ALGORITHM == TG_CC ? 0xffffffffu : frontier[word]; bits != 0; bits &= bits - 1) {
      const uint u = word * 32 + tg_lowest(bits);
      if (u >= part->end) {
        break;
      }
      const tg_offset end = job->offsets[u - part->first + 1ul];
      tg_offset e = job->offsets[u - part->first] + lane;
#if TG_ALGORITHM == TG_CC
      for (; e < end; e += TG_WIDTH) {
        if (job->neighbours[e] < u) { // the opposite edge is also there
          tg_join(job, u, job->neighbours[e]);
        }
      }
#else
      const tg_bits value = job->values[u];
      if (tg_is_far(part, value)) {
        if (lane == 0) {
          atomic_or(&next[word], 1u << (u & 31u));
        }
        continue;
      }
      for (; e < end; e += TG_WIDTH) {
        const uint w = job->neighbours[e];
        const bool own = tg_is_own(part, w);
        if (!tg_improve(job, w, tg_along(value, tg_weight(job->weights, e)), own)) {
          continue;
        }
        if ((atomic_or(&next[w >> 5], 1u << (w & 31u)) & 1u << (w & 31u)) == 0 && !own) {
          list[tg_take_place(tail) * TG_SENT_WORDS] = w;
        }
      }
#endif
    }
  }
}
#endif

#if TG_ALGORITHM == TG_BFS
// `all` is the frontier of all ranks.
void tg_pull_part(const tg_job* job, const tg_part* part, global const uint* all, global uint* next, tg_found* found) {
  TG_EACH_ITEM(job, i, part->end - part->first, 1) {
    const uint v = part->first + i;
    const tg_offset end = job->values[v] == TG_UNREACHED ? job->in_offsets[i + 1ul] : 0;
    for (tg_offset e = job->in_offsets[i]; e < end; ++e) {
      const uint u = job->in_neighbours[e];
      found->scanned += 1;
      if ((all[u >> 5] >> (u & 31u) & 1u) != 0) {
        job->values[v] = part->wave + 1;
        atomic_or(&next[v >> 5], 1u << (v & 31u));
        break;
      }
    }
  }
  TG_EACH_ITEM(job, word, job->words, 1) { // no later push sends these
    for (uint bits = word < part->first / 32 || word * 32 >= part->end ? all[word] : 0; bits != 0; bits &= bits - 1) {
      job->values[word * 32 + tg_lowest(bits)] = part->wave;
    }
  }
}
#endif

#if TG_ALGORITHM == TG_BFS && TG_PARENTS
// The parent is the smallest that there is; the levels of all vertices are known.
void tg_find_parents(const tg_job* job, const tg_part* part) {
  TG_EACH_ITEM(job, i, part->end - part->first, 1) {
    const uint v = part->first + i;
    const uint level = job->values[v];
    uint parent = level == 0 ? v : TG_NOBODY;
    const tg_offset end = level == 0 || level == TG_UNREACHED ? 0 : job->in_offsets[i + 1ul];
    for (tg_offset e = job->in_offsets[i]; parent == TG_NOBODY && e < end; ++e) {
      parent = job->values[job->in_neighbours[e]] == level - 1 ? job->in_neighbours[e] : TG_NOBODY;
    }
    job->others[v] = parent;
  }
}
#endif

void tg_add_up(volatile global uint* counters, tg_found found) {
  if (found.vertices != 0) {
    atomic_add(&counters[TG_VERTICES * TG_SUM_LINE], found.vertices);
    TG_ADD_WIDE(counters + TG_EDGES * TG_SUM_LINE, found.edges);
  }
  if (found.scanned != 0) {
    TG_ADD_WIDE(counters + TG_SCANNED * TG_SUM_LINE, found.scanned);
  }
  if (found.far != 0) {
    atomic_add(&counters[TG_FAR * TG_SUM_LINE], found.far);
    atomic_max(&counters[TG_NEAREST * TG_SUM_LINE], found.nearest);
  }
  if (TG_ALGORITHM == TG_PAGERANK) {
    TG_ADD_WIDE(counters + TG_CHANGE * TG_SUM_LINE, found.change);
    TG_ADD_WIDE(counters + TG_IDLE * TG_SUM_LINE, found.idle);
  }
}

// `list` follows the counters in one buffer.
kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_ranks(
    global const tg_offset* offsets, global const uint* neighbours, global const uint* weights,
    global const tg_offset* in_offsets, global const uint* in_neighbours, global const uint* in_weights,
    global tg_bits* values, global uint* others, global uint* frontier, global uint* next, global uint* all,
    global uint* heard, volatile global uint* counters, global const uint* sources, tg_setting setting, tg_part part) {
  const tg_job job = {offsets, neighbours, weights, in_offsets, in_neighbours, in_weights, values, others, 0, 0, 0, 0, 0, 0, 0,
                      setting.vertices, setting.words, 0, (uint)get_group_id(0), (uint)get_num_groups(0), TG_LANE, setting.vertices, 0};
  global uint* const list = (global uint*)counters + TG_SUMS;
#if TG_ALGORITHM == TG_PAGERANK
  tg_job own = job; // its rows are those of own vertices
  own.values += part.first;
  own.stamps = heard - 2ul * part.first;
  own.shares = next;
  own.rows = part.end - part.first;
  own.first = part.first;
  tg_position at;
  at.wave = part.wave;
  at.idle = part.idle;
#endif
#if TG_RANKS_BY_SHARES
  local tg_share share;
  tg_target nowhere;
#endif
  tg_found found = {0, 0, 0, 0, 0, 0, 0, 0};
  switch (part.action) {
  case TG_PART_BEGIN:
    tg_begin(&job, &part, &setting, next, &found);
#if TG_RANKS_BY_SHARES
    TG_EACH_ITEM(&own, i, own.rows, 1) {
      tg_begin_shares(&own, i);
      tg_received_by(&own, part.first + i)[0] = 0;
      tg_received_by(&own, part.first + i)[1] = 0;
    }
#endif
    break;
#if TG_FROM_ALL
#if TG_ALGORITHM == TG_CC
  case TG_PART_PUSH: tg_push_part(&job, &part, 0, 0, 0, 0); break;
  case TG_PART_FINISH: tg_finish(&job); break;
  case TG_PART_ADOPT: {
    TG_EACH_ITEM(&job, v, job.vertices, 1) {
      tg_join(&job, v, heard[v]);
    }
    break;
  }
#else
#if TG_RANKS_BY_SHARES
  case TG_PART_RANK: tg_pull_shares(&own, &at, &setting, nowhere, &share, &found); break;
  case TG_PART_APPLY: tg_apply_shares(&own, &at, &setting, &found); break;
#else
  case TG_PART_RANK: {
    const float base = tg_base(&own, &at, &setting);
    TG_EACH_ITEM(&own, i, own.rows, 1) {
      tg_rank(&own, &setting, base, i, part.first + i, own.values[i], tg_degree(&own, i),
              tg_received(&own, i, tg_passed(&own, part.wave)), tg_passed(&own, part.wave + 1), &found);
      found.scanned += in_offsets[i + 1ul] - in_offsets[i];
    }
    break;
  }
#endif
#endif
#else
  case TG_PART_SEED:
    if (get_global_id(0) == 0) {
      tg_seed(&job, &part, &setting, sources, next);
    }
    break;
  case TG_PART_PUSH: tg_push_part(&job, &part, frontier, next, &counters[TG_TAIL], list); break;
  case TG_PART_FILL: tg_fill(&job, &part, next, &counters[TG_TAIL], list); break;
  case TG_PART_ADOPT: tg_adopt(&job, &part, heard, next); break;
  case TG_PART_COUNT: tg_count(&job, &part, frontier, next, &found); break;
#if TG_ALGORITHM == TG_BFS
  case TG_PART_PULL: tg_pull_part(&job, &part, all, next, &found); break;
#if TG_PARENTS
  case TG_PART_FINISH: tg_find_parents(&job, &part); break;
#endif
#endif
#endif
  default: break;
  }
  tg_add_up(counters, found);
}
