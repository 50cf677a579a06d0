// One token of a language model of Llama's kind for a batch of one: each weight is read once, so a token takes as long as memory
// needs for all of them. Eight kernels; all have work-groups of LANES work-items, so that all waves share a launch.
//
// The shape comes from the options: HIDDEN is 8 * LANES, heads have 64 elements, FEED is a multiple of HIDDEN. Weights are
// bf16 in rows, eight to a load of 16 bytes; values are f32, four to one. A work-group has eight rows at a time, a team of
// work-items for each; a work-item asks for all its loads of a row at once, before it looks at the input, which the teams
// share in local memory. Loops over rows are unrolled: a copy of what is on its way would wait for it.
#pragma OPENCL FP_CONTRACT OFF

#define HEAD 64
#define SHARE (HEADS / KV_HEADS) // query heads that share a head of keys and values
#define SPLIT 32                 // positions that a work-group attends to
#define SPLITS (POSITIONS / SPLIT)
#define TEAM (LANES / 8)     // work-items of a row
#define ROW (HIDDEN / 8)     // loads of a row
#define LOADS (ROW / TEAM)   // of a work-item, of a row
#define LINE (TEAM + 1)      // a row of sums in local memory, so that teams do not meet in a bank
#define EPSILON 1e-5f

float4 pair_of(uint a, uint b) { // bf16 is the upper half of a float
  return (float4)(as_float(a << 16), as_float(a & 0xffff0000u), as_float(b << 16), as_float(b & 0xffff0000u));
}

float sum_of(float4 a) {
  return (a.x + a.y) + (a.z + a.w);
}

// Asks for a work-item's part of a row, or of a part of one.
void ask(uint4* words, global const uint4* row, uint loads, uint lane) {
  for (uint i = 0; i < loads; ++i) {
    words[i] = row[i * TEAM + lane % TEAM];
  }
}

// That part times the input, of which `low` and `high` have four elements each of every eight.
float4 times(const uint4* words, local const float4* low, local const float4* high, uint loads, uint lane) {
  float4 sum = 0;
  for (uint i = 0; i < loads; ++i) {
    sum = fma(pair_of(words[i].x, words[i].y), low[i * TEAM + lane % TEAM], sum);
    sum = fma(pair_of(words[i].z, words[i].w), high[i * TEAM + lane % TEAM], sum);
  }
  return sum;
}

// The input times its norm, and the squares of each eight of its elements.
void normalise(global const float4* x, uint4 norm, local float4* low, local float4* high, local float* squares, uint lane) {
  const float4 a = x[2 * lane];
  const float4 b = x[2 * lane + 1];
  low[lane] = a * pair_of(norm.x, norm.y);
  high[lane] = b * pair_of(norm.z, norm.w);
  squares[lane] = sum_of(fma(b, b, a * a));
}

// Makes a row of sums of all squares.
void leave_squares(local float* sums, local const float* squares, uint lane) {
  if (lane < TEAM) {
    float part = 0;
    for (uint i = lane; i < ROW; i += TEAM) {
      part += squares[i];
    }
    sums[lane] = part;
  }
}

// Adds up a row of sums, after a barrier.
float added_up(local const float* sums, uint row) {
  float4 sum = 0;
  for (uint i = 0; i < TEAM; i += 4) {
    sum += vload4(0, sums + row * LINE + i);
  }
  return sum_of(sum);
}

// One over the root of the mean of the squares.
float scale_of(local const float* sums, uint row) {
  return 1 / sqrt(added_up(sums, row) / HIDDEN + EPSILON);
}

// The input of the first token.
kernel void embed(global const uint* token, global const uint4* embedding, global float4* x) {
  const uint lane = get_local_id(0);
  const uint4 words = embedding[token[0] * ROW + lane];
  x[2 * lane] = pair_of(words.x, words.y);
  x[2 * lane + 1] = pair_of(words.z, words.w);
}

global const uint4* projection(global const uint4* query, global const uint4* key, global const uint4* value, uint row) {
  const uint keys = HEADS * HEAD;
  const uint values = keys + KV_HEADS * HEAD;
  return row < keys ? query + row * ROW : row < values ? key + (row - keys) * ROW : value + (row - values) * ROW;
}

// Queries, keys and values of the normalised input: twelve rows a work-group, one for each team and a half.
kernel void project(global const float4* x, global const uint4* norm, global const uint4* query, global const uint4* key,
                    global const uint4* value, global float* projected) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[17 * LINE];
  const uint lane = get_local_id(0);
  const uint team = lane / TEAM;
  const uint first = 12 * get_group_id(0);
  const uint half_row = team % 2 * (ROW / 2);
  const uint4 factors = norm[lane];
  uint4 words[LOADS];
  uint4 halves[LOADS / 2];
  ask(words, projection(query, key, value, first + team), LOADS, lane);
  ask(halves, projection(query, key, value, first + 8 + team / 2) + half_row, LOADS / 2, lane);
  normalise(x, factors, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[team * LINE + lane % TEAM] = sum_of(times(words, low, high, LOADS, lane));
  sums[(8 + team) * LINE + lane % TEAM] = sum_of(times(halves, low + half_row, high + half_row, LOADS / 2, lane));
  leave_squares(sums + 16 * LINE, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 12) {
    const float sum = lane < 8 ? added_up(sums, lane) : added_up(sums, 2 * lane - 8) + added_up(sums, 2 * lane - 7);
    projected[first + lane] = sum * scale_of(sums, 16);
  }
}

float rotated(global const float* head, float2 turn, uint d) {
  const float own = head[d];
  return d < HEAD / 2 ? fma(own, turn.x, -(head[d + HEAD / 2] * turn.y)) : fma(own, turn.x, head[d - HEAD / 2] * turn.y);
}

#define PARTS (HEAD / 4)     // vectors of a key
#define KEY_LINE (PARTS + 1) // in local memory

// A head of keys and values, SPLIT positions of it: the query heads that share it attend to them. The work-group that has
// the newest position keeps its key and value for the tokens to come. These are few work-groups, and memory would idle: the
// others read weights that `feed` needs soon, so that they are in the cache of the device. `unused` keeps the compiler from
// leaving that out.
kernel void attend(global const float* projected, global const float2* rotation, global float* keys, global float* values,
                   global float* parts, global float2* weights, uint position, global const uint4* gate, global const uint4* up,
                   global uint* unused) {
  if (get_group_id(0) >= KV_HEADS * SPLITS) {
    const uint first = ((get_group_id(0) - KV_HEADS * SPLITS) * FEED_ROWS + 4) * ROW; // a work-group of `feed` asks for four rows itself
    uint4 read = 0;
#pragma unroll
    for (uint i = get_local_id(0); i < 4 * ROW; i += LANES) {
      read ^= gate[first + i] ^ up[first + i];
    }
    if ((read.x ^ read.y ^ read.z ^ read.w) == 0x9e3779b9u) {
      unused[get_local_id(0)] = read.x;
    }
    return;
  }
  local float4 key[SPLIT * KEY_LINE];
  local float4 value[SPLIT * PARTS];
  local float4 query[SHARE * PARTS];
  local float score[SHARE * SPLIT];
  local float share[SHARE * SPLIT];
  const uint lane = get_local_id(0);
  const float2 turn = rotation[position * (HEAD / 2) + lane % (HEAD / 2)];
  const uint shared = get_group_id(0) / SPLITS;
  const uint split = get_group_id(0) % SPLITS;
  const uint begin = split * SPLIT;
  const uint count = position < begin ? 0 : min(position + 1 - begin, (uint)SPLIT);
  const uint newest = position - begin;
  global float* const own_keys = keys + (shared * POSITIONS + begin) * HEAD;
  global float* const own_values = values + (shared * POSITIONS + begin) * HEAD;
  for (uint i = lane; i < SPLIT * PARTS; i += LANES) {
    const uint at = i / PARTS;
    const float4 k = at < count ? ((global const float4*)own_keys)[i] : 0;
    const float4 v = at < count ? ((global const float4*)own_values)[i] : 0;
    if (at != newest) {
      key[at * KEY_LINE + i % PARTS] = k;
      value[i] = v;
    }
  }
  for (uint i = lane; i < SHARE * HEAD; i += LANES) {
    const float q = rotated(projected + (shared * SHARE + i / HEAD) * HEAD, turn, i % HEAD);
    ((local float*)query)[i] = q * 0.125f; // 1 / sqrt(HEAD)
  }
  if (newest < SPLIT && lane < HEAD) {
    global const float* const now = projected + HEADS * HEAD + shared * HEAD;
    const float k = rotated(now, turn, lane);
    const float v = now[KV_HEADS * HEAD + lane];
    ((local float*)(key + newest * KEY_LINE))[lane] = k;
    ((local float*)(value + newest * PARTS))[lane] = v;
    own_keys[newest * HEAD + lane] = k;
    own_values[newest * HEAD + lane] = v;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < SHARE * SPLIT; i += LANES) {
    float4 sum = 0;
    for (uint d = 0; d < PARTS; ++d) {
      sum = fma(key[i % SPLIT * KEY_LINE + d], query[i / SPLIT * PARTS + d], sum);
    }
    score[i] = i % SPLIT < count ? sum_of(sum) : -INFINITY;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < SHARE * SPLIT; i += LANES) {
    float most = -INFINITY;
    for (uint at = 0; at < SPLIT; ++at) {
      most = fmax(most, score[i / SPLIT * SPLIT + at]);
    }
    share[i] = i % SPLIT < count ? exp(score[i] - most) : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < SHARE * HEAD; i += LANES) {
    const uint head = i / HEAD;
    const uint d = i % HEAD;
    float most = -INFINITY;
    float total = 0;
    float sum = 0;
    for (uint at = 0; at < SPLIT; ++at) {
      const float weight = share[head * SPLIT + at];
      most = fmax(most, score[head * SPLIT + at]);
      total += weight;
      sum = fma(weight, ((local const float*)value)[at * HEAD + d], sum);
    }
    const uint part = (shared * SHARE + head) * SPLITS + split;
    parts[part * HEAD + d] = sum;
    if (d == 0) {
      weights[part] = (float2)(most, total);
    }
  }
}

// Joins the parts of each head, and adds their projection to the input: eight rows a work-group.
kernel void join(global const float* x, global const float4* parts, global const float2* weights, global const uint4* output,
                 global float* joined) {
  local float4 low[ROW], high[ROW];
  local float sums[8 * LINE];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  uint4 words[LOADS];
  ask(words, output + (first + lane / TEAM) * ROW, LOADS, lane);
  const uint head = lane / (HEAD / 8); // of the eight elements that this work-item joins
  float most = -INFINITY;
  for (uint s = 0; s < SPLITS; ++s) {
    most = fmax(most, weights[head * SPLITS + s].x);
  }
  float total = 0;
  float4 a = 0;
  float4 b = 0;
  for (uint s = 0; s < SPLITS; ++s) {
    const float2 part = weights[head * SPLITS + s];
    const float scale = part.y == 0 ? 0 : exp(part.x - most);
    const uint at = ((head * SPLITS + s) * (HEAD / 8) + lane % (HEAD / 8)) * 2;
    total = fma(scale, part.y, total);
    a = fma((float4)scale, parts[at], a);
    b = fma((float4)scale, parts[at + 1], b);
  }
  low[lane] = a / total;
  high[lane] = b / total;
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[lane / TEAM * LINE + lane % TEAM] = sum_of(times(words, low, high, LOADS, lane));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 8) {
    joined[first + lane] = x[first + lane] + added_up(sums, lane);
  }
}

// The gated layer of the normalised input, FEED_ROWS rows of each matrix a work-group: teams have four rows of each at a
// time, and while these are worked on, the next ones are on their way.
kernel void feed(global const float4* x, global const uint4* norm, global const uint4* gate, global const uint4* up,
                 global float* fed) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[(2 * FEED_ROWS + 1) * LINE];
  const uint lane = get_local_id(0);
  const uint team = lane / TEAM;
  const uint first = FEED_ROWS * get_group_id(0);
  global const uint4* const own_row = (team < 4 ? gate : up) + (first + team % 4) * ROW;
  const uint4 factors = norm[lane];
  uint4 words[LOADS];
  ask(words, own_row, LOADS, lane);
  normalise(x, factors, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  leave_squares(sums + 2 * FEED_ROWS * LINE, squares, lane);
#pragma unroll
  for (uint row = 0; row < FEED_ROWS / 4; ++row) {
    uint4 next[LOADS];
    if (row + 1 < FEED_ROWS / 4) {
      ask(next, own_row + (row + 1) * 4 * ROW, LOADS, lane);
    }
    sums[(8 * row + team) * LINE + lane % TEAM] = sum_of(times(words, low, high, LOADS, lane));
    for (uint i = 0; i < LOADS; ++i) {
      words[i] = next[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < FEED_ROWS) {
    const uint own = lane / 4 * 8 + lane % 4;
    const float scale = scale_of(sums, 2 * FEED_ROWS);
    const float opened = added_up(sums, own) * scale;
    fed[first + lane] = opened / (1 + exp(-opened)) * (added_up(sums, own + 4) * scale);
  }
}

// The way back to HIDDEN elements, added to the input: eight rows a work-group, a part of them after the other.
kernel void down(global const float* x, global const float4* fed, global const uint4* back, global float* out) {
  local float4 low[FEED / 8], high[FEED / 8];
  local float sums[8 * LINE];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  global const uint4* const own_row = back + (first + lane / TEAM) * (FEED / 8);
  uint4 words[LOADS];
  ask(words, own_row, LOADS, lane);
  for (uint i = lane; i < FEED / 8; i += LANES) {
    low[i] = fed[2 * i];
    high[i] = fed[2 * i + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = 0;
#pragma unroll
  for (uint part = 0; part < FEED / HIDDEN; ++part) {
    uint4 next[LOADS];
    if (part + 1 < FEED / HIDDEN) {
      ask(next, own_row + (part + 1) * ROW, LOADS, lane);
    }
    sum += times(words, low + part * ROW, high + part * ROW, LOADS, lane);
    for (uint i = 0; i < LOADS; ++i) {
      words[i] = next[i];
    }
  }
  sums[lane / TEAM * LINE + lane % TEAM] = sum_of(sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 8) {
    out[first + lane] = x[first + lane] + added_up(sums, lane);
  }
}

// The best of the CHOICES tokens that a work-group looks at, eight at a time, and how likely it is; the scale of the norm changes no order.
kernel void weigh(global const float4* x, global const uint4* norm, global const uint4* embedding, global float* likely,
                  global uint* best) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[CHOICES * LINE];
  local float each[CHOICES];
  const uint lane = get_local_id(0);
  const uint team = lane / TEAM;
  const uint first = CHOICES * get_group_id(0);
  global const uint4* const own_row = embedding + (first + team) * ROW;
  const uint4 factors = norm[lane];
  uint4 words[LOADS];
  ask(words, own_row, LOADS, lane);
  normalise(x, factors, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint row = 0; row < CHOICES / 8; ++row) {
    uint4 next[LOADS];
    if (row + 1 < CHOICES / 8) {
      ask(next, own_row + (row + 1) * 8 * ROW, LOADS, lane);
    }
    sums[(8 * row + team) * LINE + lane % TEAM] = sum_of(times(words, low, high, LOADS, lane));
    for (uint i = 0; i < LOADS; ++i) {
      words[i] = next[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < CHOICES) {
    each[lane] = added_up(sums, lane);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    uint at = 0;
    for (uint i = 1; i < CHOICES; ++i) {
      at = each[i] > each[at] ? i : at;
    }
    likely[get_group_id(0)] = each[at];
    best[get_group_id(0)] = first + at;
  }
}

#define GROUPS (VOCABULARY / CHOICES)                 // of `weigh`
#define ANSWERS ((GROUPS + LANES - 1) / LANES) // that a work-item of `choose` looks at

// The most likely token, the first of equal ones, is the next, except where the prompt goes on; its embedding is the next
// input. One work-group.
kernel void choose(global const float* likely, global const uint* best, global const uint* prompt, global const uint4* embedding,
                   global uint* token, global uint* tokens, global float4* x, uint position, uint prompt_length) {
  local float most[LANES];
  local uint at[LANES];
  const uint lane = get_local_id(0);
  float answers[ANSWERS];
  for (uint i = 0; i < ANSWERS; ++i) {
    answers[i] = i * LANES + lane < GROUPS ? likely[i * LANES + lane] : -INFINITY;
  }
  uint first = 0;
  for (uint i = 1; i < ANSWERS; ++i) {
    first = answers[i] > answers[0] ? i : first;
    answers[0] = fmax(answers[0], answers[i]);
  }
  most[lane] = answers[0];
  at[lane] = first * LANES + lane < GROUPS ? best[first * LANES + lane] : 0xffffffffu;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = LANES / 2; reach != 0; reach /= 2) {
    if (lane < reach && (most[lane + reach] > most[lane] || (most[lane + reach] == most[lane] && at[lane + reach] < at[lane]))) {
      most[lane] = most[lane + reach];
      at[lane] = at[lane + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint next = position + 1 < prompt_length ? prompt[position + 1] : at[0];
  if (lane == 0) {
    token[0] = next;
    tokens[position] = next;
  }
  const uint4 words = embedding[next * ROW + lane];
  x[2 * lane] = pair_of(words.x, words.y);
  x[2 * lane + 1] = pair_of(words.z, words.w);
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

// Untrained weights: two of bf16 in a word, evenly spread over [center - spread, center + spread).
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
