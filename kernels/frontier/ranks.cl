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

#define TG_MESSAGE_WORDS TG_SENT_WORDS(TG_ALGORITHM, (uint)(sizeof(tg_bits) / sizeof(uint))) // of a sent vertex
#define TG_OUTLINES 0
#define TG_RANKS 1
#define tg_is_here(job, v) ((v) - (job)->first < (job)->rows)
#define tg_send(job, to, v) (job)->far[tg_sent_at(tg_take_place(&(to).tails[TG_TAIL * TG_COUNTER_LINE]), TG_MESSAGE_WORDS)] = (v)
#include "frontier/algorithm.cl"

// The memory of one process, with two bitmaps, what others have sent in place of queues, the list of vertices to send after it, and
// the counters of a step in place of the state.
kernel __attribute__((reqd_work_group_size(TG_GROUP_SIZE, 1, 1))) void tidegate_ranks(TG_GRAPH_PARAMETERS, tg_part part) {
  local tg_group group;
  global uint* const next = bitmaps + (TG_FROM_ALL ? 0 : setting.words);
  volatile global uint* const counters = (volatile global uint*)state;
  // Rows are named by their vertices, but those of pagerank by their place among the own ones.
  const uint shift = TG_ITERATES ? 0 : part.first;
  const tg_job job = {offsets - shift, neighbours, weights, in_offsets - shift, in_neighbours, in_weights,
                      values + (part.first - shift), others, stamps - 2ul * part.first, bitmaps, queues,
                      (global uint*)queues + tg_sent_at(TG_HEARD, TG_MESSAGE_WORDS), far, 0, sources, 0, &setting, {0, 0}, 0,
                      setting.vertices, setting.words, 0, (uint)get_group_id(0), (uint)get_num_groups(0), TG_LANE,
                      part.end - part.first, part.first};
  tg_position at = {.wave = part.wave, .nearest = part.nearest, .idle = part.idle, .step = TG_STEP_FINISH, .topology = TG_DENSE};
  at.near = tg_next_near(&at, &setting);
  tg_counts found = {0};
  tg_target to = tg_next_queue(&job, part.wave, &found);
  to.queue = 0;
  to.bitmap = next;
  to.tails = counters;
  for (uint i = TG_LANE; i < TG_SUMS; i += TG_GROUP_SIZE) {
    group.sums[i] = 0;
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  switch (part.action) {
  case TG_PART_BEGIN:
    TG_EACH_ITEM(&job, v, job.vertices, 1) {
      if (tg_is_here(&job, v)) {
        tg_begin_vertex(&job, to, v - part.first + shift, false);
        if (TG_ITERATES) {
          tg_begin_shares(&job, v - part.first);
        }
      } else if (!TG_ITERATES) {
        values[v] = TG_FIRST_VALUE(v);
      }
    }
    TG_EACH_ITEM(&job, word, TG_ITERATES ? 0 : job.words, 1) {
      next[word] = tg_is_here(&job, word * 32) ? tg_first_members(&job, to, word) : 0;
    }
    break;
  case TG_PART_PUSH:
    if (!TG_ITERATES) {
      tg_push_bitmap(&job, &at, bitmaps, to);
    }
    break;
  case TG_PART_FINISH: tg_own_step(&job, &at, to, group.scratch); break;
  default: tg_own_action(&job, &at, to, part, &group.of.share); break;
  }
  tg_sum_up(group.sums, found);
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  if (tg_is_leader()) {
    tg_publish_sums(group.sums, counters);
  }
}
