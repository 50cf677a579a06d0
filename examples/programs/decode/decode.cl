// One token of a language model of Llama's kind for a batch of one: each weight is read once, so a token takes as long as memory
// needs for all of them. Eight kernels; all have work-groups of LANES work-items, so that all waves share a launch.
//
// The shape comes from the options: HIDDEN is 8 * LANES, heads have 64 elements, FEED is a multiple of HIDDEN. Weights are
// bf16 in rows, eight to a load of 16 bytes: a work-item asks for all its loads of several rows at once, keeps its part of
// the input in registers, and the rows' sums are added up over the work-group in a tree.
#pragma OPENCL FP_CONTRACT OFF

#define HEAD 64
#define SHARE (HEADS / KV_HEADS) // query heads that share a head of keys and values
#define SPLIT 32                 // positions that a work-group attends to
#define SPLITS (POSITIONS / SPLIT)
#define LOADS (FEED / HIDDEN) // of a row of `down`, for each work-item
#define EPSILON 1e-5f

float8 weights_of(uint4 words) { // bf16 is the upper half of a float
  return (float8)(as_float(words.x << 16), as_float(words.x & 0xffff0000u), as_float(words.y << 16),
                  as_float(words.y & 0xffff0000u), as_float(words.z << 16), as_float(words.z & 0xffff0000u),
                  as_float(words.w << 16), as_float(words.w & 0xffff0000u));
}

float dot8(float8 a, float8 b) {
  float4 sum = fma(a.hi, b.hi, a.lo * b.lo);
  return (sum.x + sum.y) + (sum.z + sum.w);
}

// Adds up `rows` values of each work-item: the sum of row r is in sums[r * LANES].
void add_up(local float* sums, uint lane, uint rows) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint left = LANES; left > 1;) {
    const uint next = left > 8 ? left / 8 : 1;
    for (uint i = lane; i < rows * next; i += LANES) {
      local float* const row = sums + i / next * LANES + i % next;
      float sum = row[0];
      for (uint part = next; part < left; part += next) {
        sum += row[part];
      }
      row[0] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    left = next;
  }
}

kernel void embed(global const uint* token, global const uint4* embedding, global float* x) {
  vstore8(weights_of(embedding[token[0] * LANES + get_global_id(0)]), get_global_id(0), x);
}

// Queries, keys and values of the normalised input: eight rows a work-group. The ninth sum is that of the squares.
kernel void project(global const float* x, global const uint4* norm, global const uint4* query, global const uint4* key,
                    global const uint4* value, global float* projected) {
  local float sums[9 * LANES];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  const uint keys = HEADS * HEAD;
  const uint values = keys + KV_HEADS * HEAD;
  global const uint4* const rows = first < keys     ? query + first * LANES
                                   : first < values ? key + (first - keys) * LANES
                                                    : value + (first - values) * LANES;
  uint4 words[8];
  for (uint r = 0; r < 8; ++r) {
    words[r] = rows[r * LANES + lane];
  }
  const float8 own = vload8(lane, x);
  const float8 scaled = own * weights_of(norm[lane]);
  for (uint r = 0; r < 8; ++r) {
    sums[r * LANES + lane] = dot8(weights_of(words[r]), scaled);
  }
  sums[8 * LANES + lane] = dot8(own, own);
  add_up(sums, lane, 9);
  if (lane < 8) {
    projected[first + lane] = sums[lane * LANES] / sqrt(sums[8 * LANES] / HIDDEN + EPSILON);
  }
}

float rotated(global const float* head, global const float2* turn, uint d) {
  const float2 t = turn[d % (HEAD / 2)];
  const float own = head[d];
  return d < HEAD / 2 ? fma(own, t.x, -(head[d + HEAD / 2] * t.y)) : fma(own, t.x, head[d - HEAD / 2] * t.y);
}

// A head of keys and values, SPLIT positions of it: the query heads that share it attend to them. The work-group that has
// the newest position keeps its key and value for the tokens to come.
kernel void attend(global const float* projected, global const float2* rotation, global float* keys, global float* values,
                   global float* parts, global float2* weights, uint position) {
  local float query[SHARE * HEAD];
  local float score[SHARE * SPLIT];
  const uint lane = get_local_id(0);
  const uint shared = get_group_id(0) / SPLITS;
  const uint split = get_group_id(0) % SPLITS;
  const uint begin = split * SPLIT;
  const uint count = position < begin ? 0 : min(position + 1 - begin, (uint)SPLIT);
  global const float2* const turn = rotation + position * (HEAD / 2);
  global float* const key = keys + (shared * POSITIONS + begin) * HEAD;
  global float* const value = values + (shared * POSITIONS + begin) * HEAD;
  if (position - begin < SPLIT && lane < HEAD) {
    global const float* const now = projected + HEADS * HEAD + shared * HEAD;
    key[(position - begin) * HEAD + lane] = rotated(now, turn, lane);
    value[(position - begin) * HEAD + lane] = now[KV_HEADS * HEAD + lane];
  }
  for (uint i = lane; i < SHARE * HEAD; i += LANES) {
    query[i] = rotated(projected + (shared * SHARE + i / HEAD) * HEAD, turn, i % HEAD) * 0.125f; // 1 / sqrt(HEAD)
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint i = lane; i < SHARE * count; i += LANES) {
    const uint head = i / count;
    const uint at = i % count;
    float4 sum = 0;
    for (uint d = 0; d < HEAD / 4; ++d) {
      sum = fma(vload4(at * (HEAD / 4) + d, key), vload4(head * (HEAD / 4) + d, query), sum);
    }
    score[head * SPLIT + at] = (sum.x + sum.y) + (sum.z + sum.w);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < SHARE * HEAD; i += LANES) {
    const uint head = i / HEAD;
    const uint d = i % HEAD;
    float most = -INFINITY;
    for (uint at = 0; at < count; ++at) {
      most = fmax(most, score[head * SPLIT + at]);
    }
    float total = 0;
    float sum = 0;
    for (uint at = 0; at < count; ++at) {
      const float weight = exp(score[head * SPLIT + at] - most);
      total += weight;
      sum = fma(weight, value[at * HEAD + d], sum);
    }
    const uint part = (shared * SHARE + head) * SPLITS + split;
    parts[part * HEAD + d] = sum;
    if (d == 0) {
      weights[part] = (float2)(most, total);
    }
  }
}

// Joins the parts of each head, and adds their projection to the input: eight rows a work-group.
kernel void join(global const float* x, global const float* parts, global const float2* weights, global const uint4* output,
                 global float* joined) {
  local float sums[8 * LANES];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  uint4 words[8];
  for (uint r = 0; r < 8; ++r) {
    words[r] = output[(first + r) * LANES + lane];
  }
  const uint head = lane / (HEAD / 8);
  float most = -INFINITY;
  for (uint s = 0; s < SPLITS; ++s) {
    most = fmax(most, weights[head * SPLITS + s].x);
  }
  float total = 0;
  float8 own = 0;
  for (uint s = 0; s < SPLITS; ++s) {
    const float2 part = weights[head * SPLITS + s];
    const float scale = part.y == 0 ? 0 : exp(part.x - most);
    total = fma(scale, part.y, total);
    own = fma((float8)scale, vload8((head * SPLITS + s) * (HEAD / 8) + lane % (HEAD / 8), parts), own);
  }
  own /= total;
  for (uint r = 0; r < 8; ++r) {
    sums[r * LANES + lane] = dot8(weights_of(words[r]), own);
  }
  add_up(sums, lane, 8);
  if (lane < 8) {
    joined[first + lane] = x[first + lane] + sums[lane * LANES];
  }
}

// The gated layer of the normalised input: four rows of each matrix a work-group.
kernel void feed(global const float* x, global const uint4* norm, global const uint4* gate, global const uint4* up,
                 global float* fed) {
  local float sums[9 * LANES];
  const uint lane = get_local_id(0);
  const uint first = 4 * get_group_id(0);
  uint4 words[8];
  for (uint r = 0; r < 4; ++r) {
    words[r] = gate[(first + r) * LANES + lane];
    words[r + 4] = up[(first + r) * LANES + lane];
  }
  const float8 own = vload8(lane, x);
  const float8 scaled = own * weights_of(norm[lane]);
  for (uint r = 0; r < 8; ++r) {
    sums[r * LANES + lane] = dot8(weights_of(words[r]), scaled);
  }
  sums[8 * LANES + lane] = dot8(own, own);
  add_up(sums, lane, 9);
  if (lane < 4) {
    const float scale = 1 / sqrt(sums[8 * LANES] / HIDDEN + EPSILON);
    const float opened = sums[lane * LANES] * scale;
    fed[first + lane] = opened / (1 + exp(-opened)) * (sums[(lane + 4) * LANES] * scale);
  }
}

// The way back to HIDDEN elements, added to the input: two rows a work-group.
kernel void down(global const float* x, global const float* fed, global const uint4* back, global float* out) {
  local float sums[2 * LANES];
  const uint lane = get_local_id(0);
  const uint first = 2 * get_group_id(0);
  uint4 words[2 * LOADS];
  for (uint i = 0; i < 2 * LOADS; ++i) {
    words[i] = back[(first * LOADS + i) * LANES + lane];
  }
  float sum[2] = {0, 0};
  for (uint i = 0; i < LOADS; ++i) {
    const float8 own = vload8(i * LANES + lane, fed);
    sum[0] += dot8(weights_of(words[i]), own);
    sum[1] += dot8(weights_of(words[LOADS + i]), own);
  }
  sums[lane] = sum[0];
  sums[LANES + lane] = sum[1];
  add_up(sums, lane, 2);
  if (lane < 2) {
    out[first + lane] = x[first + lane] + sums[lane * LANES];
  }
}

#define CHOICES 32 // tokens that a work-group of `weigh` looks at

// The best of CHOICES tokens and how likely it is; the square sum scales all alike, so it changes no order.
kernel void weigh(global const float* x, global const uint4* norm, global const uint4* embedding, global float* likely,
                 global uint* best) {
  local float sums[8 * LANES];
  const uint lane = get_local_id(0);
  const uint first = CHOICES * get_group_id(0);
  const float8 scaled = vload8(lane, x) * weights_of(norm[lane]);
  float most = -INFINITY;
  uint at = first;
  for (uint begin = first; begin < first + CHOICES; begin += 8) {
    uint4 words[8];
    for (uint r = 0; r < 8; ++r) {
      words[r] = embedding[(begin + r) * LANES + lane];
    }
    for (uint r = 0; r < 8; ++r) {
      sums[r * LANES + lane] = dot8(weights_of(words[r]), scaled);
    }
    add_up(sums, lane, 8);
    for (uint r = 0; r < 8; ++r) {
      at = sums[r * LANES] > most ? begin + r : at;
      most = fmax(most, sums[r * LANES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    likely[get_group_id(0)] = most;
    best[get_group_id(0)] = at;
  }
}

// The most likely token, the first of equal ones, is the next, except where the prompt goes on. One work-group.
kernel void choose(global const float* likely, global const uint* best, global const uint* prompt, global uint* token,
                   global uint* tokens, uint position, uint prompt_length) {
  local float most[LANES];
  local uint at[LANES];
  const uint lane = get_local_id(0);
  most[lane] = -INFINITY;
  at[lane] = 0xffffffffu;
  for (uint i = lane; i < VOCABULARY / CHOICES; i += LANES) {
    if (likely[i] > most[lane]) {
      most[lane] = likely[i];
      at[lane] = best[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = LANES / 2; reach != 0; reach /= 2) {
    if (lane < reach && (most[lane + reach] > most[lane] || (most[lane + reach] == most[lane] && at[lane + reach] < at[lane]))) {
      most[lane] = most[lane + reach];
      at[lane] = at[lane + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) {
    const uint next = position + 1 < prompt_length ? prompt[position + 1] : at[0];
    token[0] = next;
    tokens[position] = next;
  }
}

// Before the first token: how far each pair of elements turns at each position.
kernel void rotation_table(global float2* rotation) {
  const uint i = get_global_id(0);
  float turns = pow(THETA, -(float)(i % (HEAD / 2)) / (HEAD / 2));
#ifdef LONG_FACTOR // of models that were trained on shorter texts: slow turns are slowed down further
  const float wave = 2 * M_PI_F / turns;
  const float smooth = clamp((LONG_TRAINED / wave - LONG_LOW) / (LONG_HIGH - LONG_LOW), 0.0f, 1.0f);
  turns *= (1 - smooth) / LONG_FACTOR + smooth;
#endif
  const float angle = turns * (i / (HEAD / 2));
  rotation[i] = (float2)(cos(angle), sin(angle));
}

// Weights that nobody trained: two of bf16 in a word, evenly spread over [center - spread, center + spread).
kernel void made_up(global uint* words, uint seed, float center, float spread) {
  uint two = 0;
  for (uint part = 0; part < 2; ++part) {
    uint hash = (2 * (uint)get_global_id(0) + part) * 0x9e3779b9u ^ seed * 0x85ebca6bu;
    hash = (hash ^ (hash >> 16)) * 0x7feb352du;
    hash = (hash ^ (hash >> 15)) * 0x846ca68bu;
    hash ^= hash >> 16;
    const float value = center + ((hash >> 8) * (1.0f / 8388608) - 1) * spread;
    two |= ((as_uint(value) + 0x8000u) >> 16) << 16 * part;
  }
  words[get_global_id(0)] = two;
}
