// An algorithm of the program's own. Its functions precede this file; examples/graphs/README.md has their laws.
//
// The host adds definitions to them:
//   tg_bits         the type of a value's bits: uint or ulong, of TG_OWN_WORDS words
//   TG_OWN_BITS     as_uint or as_ulong, and TG_OWN_TYPED as_uint, as_int, as_float or as_ulong
//   TG_OWN_MERGED   what becomes of the bits of two values; TG_OWN_ADDS: their sum; TG_OWN_MERGES: the program's function
//   TG_OWN_NOTHING  bits of the value that merges into nothing
//   TG_OWN_INITIAL  one of TG_INITIAL_…
//   TG_OWN_SOURCES, TG_OWN_SETTLED  the program has a function `at_source`, `settled`
//   TG_OWN_WEIGHT   as_uint or as_float, and TG_OWN_WEIGHT_TYPE
//
// Values are kept as bits. Merged values only improve: of two that meet at a vertex the merged one stays, whatever their order, and
// an edge passes a better value on from a better one. So every order of waves ends with the same values. Sums are no such values:
// each vertex adds to its neighbours once, in the wave after it has fired, and sums of integers are the same in any order too.

#define TG_INITIAL_NOTHING 0
#define TG_INITIAL_FUNCTION 1
#define TG_INITIAL_ARRAY 2 // `others`

#define TG_FIRST_VALUE(v) TG_OWN_NOTHING
#define TG_FOUND_ONCE(at) false
#define TG_STARTS(before, after) tg_starts(before, after)
#define TG_ADDS TG_OWN_ADDS

#if TG_OWN_WORDS == 2
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define TG_EXCHANGE_IF_EQUAL atom_cmpxchg
#define TG_ADD_TO atom_add
#else
#define TG_EXCHANGE_IF_EQUAL atomic_cmpxchg
#define TG_ADD_TO atomic_add
#endif

tg_bits tg_value(const tg_job* job, const tg_position* at, uint u) { return job->values[u]; }

tg_bits tg_merged(tg_bits candidate, tg_bits current) { return TG_OWN_MERGED(candidate, current); }

#if TG_ADDS
// An edge adds every value that it passes on. A vertex starts once, in the wave whose sum makes it fire.
tg_bits tg_along(tg_bits value, uint weight) { return TG_OWN_BITS(along(TG_OWN_WEIGHT(weight))); }
bool tg_better(tg_bits candidate, tg_bits current) { return true; }
bool tg_is_started(tg_bits value) { return fires(TG_OWN_TYPED(value)); }
bool tg_starts(tg_bits before, tg_bits after) { return !tg_is_started(before) && tg_is_started(after); }
#else
tg_bits tg_along(tg_bits value, uint weight) {
  return value == TG_OWN_NOTHING ? value : TG_OWN_BITS(along(TG_OWN_TYPED(value), TG_OWN_WEIGHT(weight)));
}
bool tg_better(tg_bits candidate, tg_bits current) { return tg_merged(candidate, current) != current; }
bool tg_is_started(tg_bits value) { return value != TG_OWN_NOTHING; }
bool tg_starts(tg_bits before, tg_bits after) { return true; }
#endif

// Merges into a vertex's value; returns the value before.
tg_bits tg_merge(volatile global tg_bits* at, tg_bits candidate) {
#if TG_ADDS
  return TG_ADD_TO(at, candidate);
#else
  tg_bits seen = *at;
  for (uint left = 0xffffffffu; left != 0; --left) {
    const tg_bits merged = tg_merged(candidate, seen);
    if (merged == seen) {
      break;
    }
    const tg_bits was = TG_EXCHANGE_IF_EQUAL(at, seen, merged);
    if (was == seen) {
      break;
    }
    seen = was;
  }
  return seen;
#endif
}

bool tg_settled(const tg_job* job, const tg_position* at, tg_bits value) {
#if TG_OWN_SETTLED
  return settled(TG_OWN_TYPED(value));
#else
  return false;
#endif
}
void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {}

tg_bits tg_initial(const tg_job* job, uint v, tg_offset degree) {
#if TG_OWN_INITIAL == TG_INITIAL_FUNCTION
  return TG_OWN_BITS(initial(v, (uint)degree));
#elif TG_OWN_INITIAL == TG_INITIAL_ARRAY
  return ((global const tg_bits*)job->others)[v];
#else
  return TG_OWN_NOTHING;
#endif
}

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) {
  job->values[v] = tg_initial(job, v, tg_degree(job, v));
}

// Returns a mask of the vertices of a word that start with a value, and counts them.
uint tg_first_members(const tg_job* job, tg_target to, uint word) {
  uint members = 0;
  const uint count = min(job->vertices - word * 32, 32u);
  for (uint i = 0; i < count; ++i) {
    const tg_offset degree = tg_degree(job, word * 32 + i);
    if (tg_is_started(tg_initial(job, word * 32 + i, degree))) {
      members |= 1u << i;
      tg_count_vertex(to, degree);
    }
  }
  return members;
}

// Merges into a source's value what it has as one; returns false if the vertex then does not start.
bool tg_give_source(const tg_job* job, uint v, uint index) {
#if TG_OWN_SOURCES
  job->values[v] = tg_merged(TG_OWN_BITS(at_source(v, index)), job->values[v]);
#endif
  return tg_is_started(job->values[v]);
}
