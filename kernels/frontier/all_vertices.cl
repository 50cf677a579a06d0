// Algorithms whose first frontier is every vertex: they have no sources, one bitmap, and no waves of few edges.

// Returns a mask of the vertices of a word.
uint tg_first_members(const tg_job* job, tg_target to, uint word) {
  const uint rest = job->vertices - word * 32;
  return rest < 32 ? (1u << rest) - 1 : 0xffffffffu;
}

TG_INLINE void tg_enter(const tg_job* job, const tg_position* at, tg_target to, uint value, tg_edge edge) {
  tg_enqueue(to, edge.w, edge.begin, edge.end - edge.begin);
  tg_count_vertex(to, edge.end - edge.begin);
}

#define tg_seed(job, to, bitmap)
#define tg_pull_in_place(job, at, to) tg_pull(job, at, to, 0, 0)
#define tg_to_bitmap(job, at, to)
#define tg_work_alone(job, group)
#define tg_work_together(job, group, meeting)
