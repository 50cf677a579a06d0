// A traversal that several processes, called ranks, run together: each action is a plain launch, and the host carries messages
// in between (traversal/rank_run.cpp). The steps are those of one process, over the rows of a rank.
//
// A rank has the rows of the vertices from `first` to `end`; both are multiples of 32 or the end of the graph. It has room
// for the values of all vertices. Its own are exact. Of another rank's vertex it knows the best value that it has sent or seen,
// so that it sends no worse one; of sums, what it has not sent yet.
//
//   begin  first values, the first frontier
//   push   along the edges of own vertices in the frontier; improved vertices of others are listed
//   fill   puts values next to the listed vertices, for the host to send
//   adopt  merges what other ranks have sent; cc: the forest of another rank
//   count  moves what has been found to the frontier, without far vertices, and counts it
//   rank   pagerank: an iteration over own vertices; by shares, if those have hubs
//   apply  pagerank: then, the rows that several shares have parts of
//   finish bfs: the parents of own vertices; cc: points every vertex at its root
#include "common/device_barrier.cl"
#define TG_OUTLINES 0
#define TG_RANKS 1
#include "frontier/algorithm.cl"

// Words of a sent vertex: its number and value; a level is that of the wave.
#define TG_SENT_WORDS (1ul + TG_VALUE_WORDS) // a product with it has 64 bits
#define TG_VALUE_WORDS (TG_ALGORITHM == TG_BFS ? 0u : (uint)(sizeof(tg_bits) / sizeof(uint)))

bool tg_is_here(const tg_job* job, uint v) { return v - job->first < job->rows; }

// Lists a vertex of another rank.
void tg_send(const tg_job* job, tg_target to, uint v) { job->far[tg_take_place(&to.tails[TG_TAIL * TG_COUNTER_LINE]) * TG_SENT_WORDS] = v; }

#include "frontier/push.cl"
#include "frontier/sums.cl"

#if !TG_FROM_ALL
void tg_fill(const tg_job* job, tg_target to) {
  TG_EACH_ITEM(job, i, to.tails[TG_TAIL * TG_COUNTER_LINE], 1) {
    const uint v = job->far[i * TG_SENT_WORDS];
    const tg_bits value = job->values[v];
    for (uint word = 0; word < TG_VALUE_WORDS; ++word) {
      job->far[i * TG_SENT_WORDS + 1 + word] = (uint)((ulong)value >> 32 * word);
    }
    if (TG_ADDS) {
      job->values[v] = TG_FIRST_VALUE(v);
    }
    atomic_and(&to.bitmap[v >> 5], ~(1u << (v & 31u)));
  }
}

void tg_adopt(const tg_job* job, const tg_position* at, tg_target to, uint count, global const uint* heard, tg_found* found) {
  TG_EACH_ITEM(job, i, count, 1) {
    tg_edge edge;
    edge.w = heard[i * TG_SENT_WORDS];
    ulong value = at->wave + 1;
    for (uint word = 0; word < TG_VALUE_WORDS; ++word) {
      value = (word == 0 ? 0 : value) | (ulong)heard[i * TG_SENT_WORDS + 1 + word] << 32 * word;
    }
    tg_fetch_bounds(job, &edge);
    tg_hand_over(job, at, to, TG_NOBODY, (tg_bits)value, edge, found);
  }
}

void tg_count(const tg_job* job, const tg_position* at, global uint* frontier, global uint* next, tg_found* found) {
  TG_EACH_ITEM(job, i, (job->rows + 31) / 32, 1) {
    const uint word = job->first / 32 + i;
    uint far = 0;
    for (uint bits = next[word]; bits != 0; bits &= bits - 1) {
      const uint v = word * 32 + tg_lowest(bits);
      if (TG_PUTS_OFF && job->values[v] >= at->near) {
        far |= 1u << (v & 31u);
        found->far += 1;
        found->nearest = max(found->nearest, ~(uint)job->values[v]);
      } else {
        found->vertices += 1;
        found->edges += tg_degree(job, v);
      }
    }
    frontier[word] = next[word] & ~far;
    next[word] = far;
  }
}
#endif

// The memory of one process, with two bitmaps, what others have sent in place of queues, the list of vertices to send after it, and
// the counters of a step in place of the state.
kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_ranks(TG_GRAPH_PARAMETERS, tg_part part) {
  local tg_group group;
  global uint* const frontier = bitmaps;
  global uint* const next = bitmaps + (TG_FROM_ALL ? 0 : setting.words);
  global uint* const heard = (global uint*)queues;
  volatile global uint* const counters = (volatile global uint*)state;
  // Rows are named by their vertices, but those of pagerank by their place among the own ones.
  const uint shift = TG_ITERATES ? 0 : part.first;
  const tg_job job = {offsets - shift, neighbours, weights, in_offsets - shift, in_neighbours, in_weights,
                      values + (part.first - shift), others, stamps - 2ul * part.first, 0, 0, heard + TG_HEARD * TG_SENT_WORDS,
                      far, 0, 0, setting.vertices, setting.words, 0, (uint)get_group_id(0), (uint)get_num_groups(0), TG_LANE,
                      part.end - part.first, part.first};
  tg_position at;
  at.wave = part.wave;
  at.near = part.near;
  at.idle = part.idle;
  at.mixed = 0;
  at.least = 0;
  at.step = TG_STEP_FINISH;
  at.topology = TG_DENSE;
  tg_target to = tg_next_queue(&job, part.wave);
  to.queue = 0;
  to.bitmap = next;
  to.tails = counters;
  tg_found found = {0, 0, 0, 0, 0, 0, 0, 0};
  for (uint i = TG_LANE; i < TG_SUMS; i += TG_GROUP_SIZE) {
    group.sums[i] = 0;
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  switch (part.action) {
  case TG_PART_BEGIN:
    TG_EACH_ITEM(&job, v, job.vertices, 1) {
      if (tg_is_here(&job, v)) {
        tg_begin_vertex(&job, to, v - part.first + shift, false, &found);
#if TG_MAY_PULL_SHARES
        if (TG_ITERATES) {
          tg_begin_shares(&job, v - part.first);
        }
#endif
      } else if (!TG_ITERATES) {
        values[v] = TG_FIRST_VALUE(v);
      }
    }
    TG_EACH_ITEM(&job, word, TG_ITERATES ? 0 : job.words, 1) {
      next[word] = tg_is_here(&job, word * 32) ? tg_first_members(&job, word, &found) : 0;
    }
    break;
#if TG_ITERATES
#if TG_MAY_PULL_SHARES
  case TG_PART_RANK: tg_pull_shares(&job, &at, &setting, to, &group.of.share, &found); break;
  case TG_PART_APPLY: tg_apply_shares(&job, &at, &setting, &found); break;
#else
  case TG_PART_RANK: tg_pull(&job, &at, &setting, to, 0, 0, &found); break;
#endif
#else
  case TG_PART_PUSH: tg_push_bitmap(&job, &at, TG_FROM_ALL ? next : frontier, to, &found); break;
#endif
#if TG_FOREST
  case TG_PART_ADOPT: {
    TG_EACH_ITEM(&job, v, job.vertices, 1) {
      tg_join(&job, v, heard[v]);
    }
    break;
  }
#elif !TG_ITERATES
  case TG_PART_SEED:
    for (uint i = 0; get_global_id(0) == 0 && i < setting.source_count; ++i) {
      if (tg_is_here(&job, sources[i]) && tg_give_source(&job, sources[i], i)) {
        tg_mark(next, sources[i]);
      }
    }
    break;
  case TG_PART_FILL: tg_fill(&job, to); break;
  case TG_PART_ADOPT: tg_adopt(&job, &at, to, part.count, heard, &found); break;
  case TG_PART_COUNT: tg_count(&job, &at, frontier, next, &found); break;
#endif
  case TG_PART_FINISH: tg_own_step(&job, &at, &setting, to, group.scratch, &found); break;
  default: break;
  }
  tg_sum_up(group.sums, found);
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  if (tg_is_leader()) {
    tg_publish_sums(group.sums, counters);
  }
}
