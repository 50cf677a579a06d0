// Pulls by equal shares: all edges, row by row, and after each row its end, are one sequence, of which a group takes TG_SHARE
// at a time. So neither a hub nor many empty rows hold it up. Neighbours are read in order, what they hold goes to local
// memory, and from there each row collects its part. Rows that lie in one share are completed there; parts of a row in
// several shares are combined in global memory.
//
// `job->shares` holds the row in which each share begins.
//
// Sources: Greathouse, Daga, Efficient Sparse Matrix-Vector Multiplication on GPUs Using the CSR Storage Format (SC 2014);
// Merrill, Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication (SC 2016).

// Edges that a work-item fetches together.
#define TG_IN_FLIGHT (TG_SHARE / TG_GROUP_SIZE < 16u ? TG_SHARE / TG_GROUP_SIZE : 16u)
#define TG_SHORT_PART 32u // edges that one work-item collects; a team collects more
#define TG_TEAM (TG_GROUP_SIZE < 32 ? TG_GROUP_SIZE : 32)
#define TG_SHUFFLES (TG_ORDERING == TG_ORDERING_PTX && TG_TEAM == 32)
#define TG_TEAMS (TG_GROUP_SIZE / TG_TEAM)
#define TG_LINE_EDGES 32u // of a cache line
#define TG_OWN_PART 2u    // its work-item delivers it
#define TG_NO_PART 0xffffffffu

// A group's share of the edges in local memory.
typedef struct {
  tg_fetched held[TG_SHARE];
  uint4 parts[TG_SHARE / TG_SHORT_PART]; // rows with many edges in the share: vertex, begin, end, whether the row is whole
  tg_collected totals[TG_SHARE / TG_SHORT_PART];
  tg_collected sums[TG_SHUFFLES ? 1 : TG_GROUP_SIZE];
  uint long_parts;
} tg_share;

// The place of row `v` in the sequence.
ulong tg_place_of(const tg_job* job, uint v) { return (ulong)job->in_offsets[v] + v; }

// Writes the shares that begin in row `v`; before the first wave.
void tg_begin_shares(const tg_job* job, uint v) {
  for (ulong share = (tg_place_of(job, v) + (TG_SHARE - 1)) / TG_SHARE; share * TG_SHARE < tg_place_of(job, v + 1); ++share) {
    job->shares[share] = v;
  }
}

uint tg_share_count(const tg_job* job) { return (uint)((tg_place_of(job, job->rows) + (TG_SHARE - 1)) / TG_SHARE); }

tg_offset tg_first_edge_of(ulong share, uint row) { return (tg_offset)(share * TG_SHARE - row); }

tg_row tg_fetch_row(const tg_job* job, uint v, bool whole) {
  const tg_row row = {job->in_offsets[v], job->in_offsets[v + 1ul], tg_degree(job, v), v, job->values[v], tg_seat_of(job, v), whole};
  return row;
}

// Combines what the work-items of a team have; the first of them gets the result. All work-items of the group call this.
tg_collected tg_combined_by_team(local tg_collected* sums, tg_collected sum) {
#if TG_SHUFFLES
  TG_UNROLL for (uint away = 16; away != 0; away /= 2) {
    const uint low = (uint)sum;
    const uint high = (uint)((ulong)sum >> 32);
    uint other_low;
    uint other_high = 0;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other_low) : "r"(low), "r"(away));
    if (sizeof(sum) > sizeof(uint)) {
      asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other_high) : "r"(high), "r"(away));
    }
    sum = tg_combined(sum, (tg_collected)(other_low | (ulong)other_high << 32));
  }
#else
  const uint lane = TG_LANE;
  sums[lane] = sum;
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
  for (uint i = 1; lane % TG_TEAM == 0 && i < TG_TEAM; ++i) {
    sum = tg_combined(sum, sums[lane + i]);
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
#endif
  return sum;
}

// Returns the first and the last row of a share.
uint2 tg_rows_of_share(const tg_job* job, uint share, uint shares) {
  return (uint2)(job->shares[share], share + 1 == shares ? job->rows - 1 : job->shares[share + 1]);
}

// All work-items of the group call this.
void tg_pull_shares(const tg_job* job, const tg_position* at, tg_target to, local tg_share* share) {
  const uint lane = TG_LANE;
  const uint shares = tg_share_count(job);
  const tg_offset edges = job->in_offsets[job->rows];
  const float base = tg_base(job, at);
  uint2 coming = (uint2)(0); // the first and the last row of the next share
  for (uint k = job->group; k < shares; k += job->groups) {
    const bool last = k + 1 == shares;
    const uint2 rows = k == job->group ? tg_rows_of_share(job, k, shares) : coming;
    const uint first_row = rows.x;
    const uint last_row = rows.y; // its end is in the last share only
    const tg_offset first = tg_first_edge_of(k, first_row);
    const uint count = (uint)((last ? edges : tg_first_edge_of(k + 1ul, last_row)) - first);
    // Asked for now, so that they are there when the edges have been collected.
    const uint own = first_row + lane;
    tg_row own_row = tg_fetch_row(job, min(own, last_row), false);
    if (k + job->groups < shares) {
      coming = tg_rows_of_share(job, k + job->groups, shares);
    }
    for (uint begin = lane; begin < count; begin += TG_IN_FLIGHT * TG_GROUP_SIZE) {
      uint neighbours[TG_IN_FLIGHT];
      TG_UNROLL for (uint i = 0; i < TG_IN_FLIGHT; ++i) { // past the end the first one is repeated
        const uint edge = begin + i * TG_GROUP_SIZE;
        neighbours[i] = job->in_neighbours[first + (edge < count ? edge : begin)];
      }
      TG_UNROLL for (uint i = 0; i < TG_IN_FLIGHT; ++i) {
        const uint edge = begin + i * TG_GROUP_SIZE;
        const tg_fetched what = tg_fetch(job, at, neighbours[i], first + (edge < count ? edge : begin));
        if (edge < count) {
          share->held[edge] = what;
        }
      }
    }
    if (k + job->groups < shares && lane * TG_LINE_EDGES < TG_SHARE) {
      const tg_offset edge = tg_first_edge_of(k + job->groups, coming.x) + lane * TG_LINE_EDGES;
      tg_prefetch(job->in_neighbours + min(edge, edges - 1));
    }
    to.found->scanned += lane == 0 ? count : 0;
    if (lane == 0) {
      share->long_parts = 0;
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    uint own_part = TG_NO_PART;
    for (uint v = own; v <= last_row; v += TG_GROUP_SIZE) {
      tg_row row = v == own ? own_row : tg_fetch_row(job, v, false);
      const uint begin = row.begin < first ? 0 : (uint)min(row.begin - first, (tg_offset)count);
      const uint end = (uint)min(row.end - first, (tg_offset)count);
      row.whole = row.begin >= first && (v != last_row || last);
      if (end - begin > TG_SHORT_PART) {
        const uint part = atomic_inc(&share->long_parts);
        share->parts[part] = (uint4)(v, begin, end, v == own ? TG_OWN_PART : row.whole ? 1u : 0u);
        own_part = v == own ? part : own_part;
        own_row.whole |= v == own && row.whole;
      } else if (begin != end || row.whole) {
        tg_collected sum = TG_NOTHING;
        for (uint i = begin; i < end; ++i) {
          sum = tg_combined(sum, tg_collect(share->held[i]));
        }
        tg_deliver(job, at, to, base, row, sum);
      }
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    const uint parts = share->long_parts;
    for (uint p = lane / TG_TEAM; p < parts + lane / TG_TEAM; p += TG_TEAMS) { // as often for every team
      const uint4 part = p < parts ? share->parts[p] : (uint4)(0);
      tg_collected sum = TG_NOTHING;
      for (uint i = part.y + lane % TG_TEAM; i < part.z; i += TG_TEAM) {
        sum = tg_combined(sum, tg_collect(share->held[i]));
      }
      sum = tg_combined_by_team(share->sums, sum);
      if (lane % TG_TEAM == 0 && p < parts) {
        share->totals[p] = sum;
      }
    }
    TG_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (own_part != TG_NO_PART) {
      tg_deliver(job, at, to, base, own_row, share->totals[own_part]);
    }
    for (uint p = lane; p < parts; p += TG_GROUP_SIZE) {
      const uint4 part = share->parts[p];
      if (part.w != TG_OWN_PART) {
        tg_deliver(job, at, to, base, tg_fetch_row(job, part.x, part.w != 0), share->totals[p]);
      }
    }
  }
}
