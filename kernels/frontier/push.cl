// Pushes from queues (sparse and hybrid) and from bitmaps (memory-constrained, without queues and transpose), each as the part of one
// work-group. Nothing here has barriers; the caller lets all groups meet afterwards.

// Pushes along the edges of a run; work-item `lane` of `width` takes every width-th edge.
TG_INLINE void tg_push_run(const tg_job* job, const tg_position* at, tg_target to, uint4 run, uint lane, uint width) {
  const ulong first = tg_first_edge(run);
  const tg_bits value = tg_value(job, at, run.x);
  for (uint e = lane; e < run.w; e += width) {
    tg_push_edge(job, at, to, run.x, value, first + e);
  }
}

// Sparse: few work-items share a run. Hybrid: a warp does if runs are long enough to occupy most of it, and
// the bitmap is written too. A whole group takes a long run.
TG_OUTLINED void tg_push_queue(const tg_job* job, const tg_position* at, tg_target to) {
  tg_target of_long_runs = to;
  of_long_runs.eager = false;
  for (uint i = job->group; i < at->long_runs; i += job->groups) {
    tg_push_run(job, at, of_long_runs, tg_long_run(job, at->wave, i), TG_LANE_OF(job), TG_GROUP_SIZE);
  }
  const bool wide = at->topology == TG_HYBRID && 4 * at->frontier_edges >= (ulong)TG_WIDE * at->entries;
  const uint width = wide ? TG_WIDE : TG_LANES;
  global const uint4* const queue = tg_queue_of(job, at->wave);
  const uint lane = TG_LANE_OF(job) % width;
  TG_EACH_ITEM(job, i, at->entries, width) {
    tg_push_run(job, at, to, queue[i], lane, width);
  }
}

// Pushes from the vertices of a bitmap.
TG_OUTLINED void tg_push_bitmap(const tg_job* job, const tg_position* at, global const uint* bitmap, tg_target to) {
  const uint lane = TG_LANE_OF(job) % TG_WIDTH;
  to.eager = false;
  TG_EACH_ITEM(job, word, job->words, TG_WIDTH) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint u = word * 32 + tg_lowest(bits);
      const tg_offset end = job->offsets[u + 1ul];
      const tg_bits value = tg_value(job, at, u);
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        tg_push_edge(job, at, to, u, value, e);
      }
    }
  }
}

// `to` is the queue of this wave.
TG_OUTLINED void tg_to_queue(const tg_job* job, const tg_position* at, tg_target to) {
  global const uint* const bitmap = tg_bitmap_of(job, at->wave);
  TG_EACH_ITEM(job, word, job->words, 1) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint v = word * 32 + tg_lowest(bits);
      const tg_edge edge = {job->offsets[v], job->offsets[v + 1ul], v, 0};
      tg_enter(job, at, to, job->values[v], edge);
    }
  }
}
