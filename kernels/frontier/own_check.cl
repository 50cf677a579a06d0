// Checks of an algorithm of the program's own, one plain launch after another and without the traversal's code: are its laws kept
// by values that occur, is the result a fix point over all edges, and which values does a run over all edges in another order give?
//
// The program's functions and the definitions of own.cl precede this file.

typedef TG_OWN_WEIGHT_TYPE tg_own_weight;

#if TG_OWN_WORDS == 2
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define TG_EXCHANGE_IF_EQUAL atom_cmpxchg
#else
#define TG_EXCHANGE_IF_EQUAL atomic_cmpxchg
#endif

tg_bits tg_together(tg_bits one, tg_bits other) { return TG_OWN_MERGED(other, one); }

#if TG_OWN_ADDS
bool tg_is_started(tg_bits value) { return fires(TG_OWN_TYPED(value)); }
tg_bits tg_arriving(tg_bits value, tg_own_weight weight) { return TG_OWN_BITS(along(weight)); }
#else
bool tg_is_started(tg_bits value) { return value != TG_OWN_NOTHING; }
tg_bits tg_arriving(tg_bits value, tg_own_weight weight) {
  return tg_is_started(value) ? TG_OWN_BITS(along(TG_OWN_TYPED(value), weight)) : value;
}
#endif

tg_own_weight tg_weight_of(global const uint* weights, tg_offset edge) {
#if TG_WEIGHTS
  return TG_OWN_WEIGHT(weights[edge]);
#else
  return 1;
#endif
}

// One work-item per vertex.
kernel void tidegate_own_begin(global const tg_offset* offsets, global const tg_bits* given, global tg_bits* values, uint vertices) {
  const uint v = (uint)get_global_id(0);
  if (v < vertices) {
#if TG_OWN_INITIAL == 1
    values[v] = TG_OWN_BITS(initial(v, (uint)(offsets[v + 1ul] - offsets[v])));
#elif TG_OWN_INITIAL == 2
    values[v] = given[v];
#else
    values[v] = TG_OWN_NOTHING;
#endif
  }
}

// One work-item.
kernel void tidegate_own_sources(global const uint* sources, global tg_bits* values, uint count) {
#if TG_OWN_SOURCES
  for (uint i = 0; i < count; ++i) {
    values[sources[i]] = tg_together(values[sources[i]], TG_OWN_BITS(at_source(sources[i], i)));
  }
#endif
}

// Passes what each vertex has in `from` along all its edges into `to`, which may be the same array. One work-item per vertex, the
// last vertex first. A vertex that fires is marked in `fired`, so that it adds once. `noted`: some value changed; vertices with one.
kernel void tidegate_own_edges(global const tg_offset* offsets, global const uint* neighbours, global const uint* weights,
                               volatile global tg_bits* from, volatile global tg_bits* to, global uint* fired,
                               volatile global uint* noted, uint vertices) {
  if (get_global_id(0) >= vertices) {
    return;
  }
  const uint v = vertices - 1 - (uint)get_global_id(0);
  const tg_bits value = from[v];
  if (!tg_is_started(value)) {
    return;
  }
  atomic_inc(&noted[1]);
#if TG_OWN_ADDS
  if (fired[v] != 0) {
    return;
  }
  fired[v] = 1;
#endif
  bool changed = false;
  for (tg_offset e = offsets[v]; e < offsets[v + 1ul]; ++e) {
    volatile global tg_bits* const at = &to[neighbours[e]];
    const tg_bits arriving = tg_arriving(value, tg_weight_of(weights, e));
    tg_bits seen = *at;
    for (uint left = 0xffffffffu; left != 0; --left) {
      const tg_bits merged = tg_together(seen, arriving);
      if (merged == seen) {
        break;
      }
      const tg_bits was = TG_EXCHANGE_IF_EQUAL(at, seen, merged);
      if (was == seen) {
        changed = true;
        break;
      }
      seen = was;
    }
  }
  if (changed) {
    noted[0] = 1;
  }
}

uint tg_next_random(uint* state) { // xorshift (Marsaglia, 2003)
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

#define TG_TRIES 64u
#define TG_STEPS 32u

typedef struct {
  global const tg_offset* offsets;
  global const uint* neighbours;
  global const uint* weights;
  global const tg_bits* first; // values
  global const uint* sources;
  uint source_count;
  uint vertices;
} tg_graph;

// Returns a value that occurs: from a random vertex that starts with one, along random edges.
tg_bits tg_random_value(tg_graph graph, uint* state) {
  uint v = tg_next_random(state) % graph.vertices;
  for (uint i = 0; i < TG_TRIES && !tg_is_started(graph.first[v]); ++i) {
    v = graph.source_count != 0 ? graph.sources[tg_next_random(state) % graph.source_count] : tg_next_random(state) % graph.vertices;
  }
  tg_bits value = graph.first[v];
  const uint steps = tg_next_random(state) % TG_STEPS;
  for (uint i = 0; i < steps && graph.offsets[v] != graph.offsets[v + 1ul]; ++i) {
    const tg_offset edge = graph.offsets[v] + tg_next_random(state) % (uint)(graph.offsets[v + 1ul] - graph.offsets[v]);
    v = graph.neighbours[edge];
#if TG_OWN_ADDS
    value = i == 0 ? graph.first[v] : value; // neighbours of its last vertex
    value += tg_arriving(value, tg_weight_of(graph.weights, edge));
#else
    value = tg_arriving(value, tg_weight_of(graph.weights, edge));
#endif
  }
  return value;
}

// In the order of the host's names.
#define TG_MONOTONE 1
#define TG_IDEMPOTENT 2
#define TG_COMMUTATIVE 3
#define TG_ASSOCIATIVE 4
#define TG_UNREACHED 5
#define TG_SETTLED 6
#define TG_FIRES 7

// Tries the laws on three values that occur and a random weight. Writes for each work-item the broken law or 0, the values, the
// weight, and the two results that differ.
kernel void tidegate_own_laws(global const tg_offset* offsets, global const uint* neighbours, global const uint* weights,
                              global const tg_bits* first, global const uint* sources, uint count, global ulong* flaws, uint vertices) {
  const uint item = (uint)get_global_id(0);
  uint state = (item + 1) * 2654435761u | 1u;
  tg_next_random(&state);
  const tg_graph graph = {offsets, neighbours, weights, first, sources, count, vertices};
  tg_bits found[3];
  for (uint i = 0; i < 3; ++i) {
    found[i] = tg_random_value(graph, &state);
  }
  const tg_bits a = found[0], b = found[1], c = found[2];
  const tg_offset edges = offsets[vertices];
  const tg_offset edge = edges == 0 ? 0 : (tg_offset)(((ulong)tg_next_random(&state) << 32 | tg_next_random(&state)) % edges);
  const tg_own_weight weight = edges == 0 ? 1 : tg_weight_of(weights, edge);
  ulong law = 0;
  tg_bits one = 0;
  tg_bits other = 0;
#define TG_TRY(name, left, right)          \
  if (law == 0 && (left) != (right)) { \
    law = name;                        \
    one = left;                        \
    other = right;                     \
  }
#if TG_OWN_ADDS
  if (tg_is_started(a) && !tg_is_started(a + tg_arriving(a, weight))) {
    law = TG_FIRES;
    one = a;
    other = a + tg_arriving(a, weight);
  }
#else
#if TG_OWN_MERGES
  TG_TRY(TG_IDEMPOTENT, tg_together(a, a), a)
  TG_TRY(TG_COMMUTATIVE, tg_together(a, b), tg_together(b, a))
  TG_TRY(TG_ASSOCIATIVE, tg_together(tg_together(a, b), c), tg_together(a, tg_together(b, c)))
  TG_TRY(TG_UNREACHED, tg_together(a, TG_OWN_NOTHING), a)
  TG_TRY(TG_UNREACHED, tg_together(TG_OWN_NOTHING, a), a)
#endif
  const tg_bits better = tg_arriving(tg_together(a, b), weight);
  TG_TRY(TG_MONOTONE, tg_together(better, tg_arriving(a, weight)), better)
#if TG_OWN_SETTLED
  if (settled(TG_OWN_TYPED(a))) {
    TG_TRY(TG_SETTLED, tg_together(a, b), a)
  }
#endif
#endif
  const ulong flaw[] = {law, a, b, c, as_uint(weight), one, other};
  for (uint i = 0; i < sizeof(flaw) / sizeof(flaw[0]); ++i) {
    flaws[8ul * item + i] = flaw[i];
  }
}
