// One token of a language model of Llama's kind for a batch of one: each weight is read once, so a token takes as long as memory
// needs for all of them. Eight kernels; all have work-groups of LANES work-items, so that all waves share a launch.
//
// The shape comes from the options: HIDDEN is 8 * LANES, heads have 64 elements, FEED is a multiple of HIDDEN. Weights are
// bf16 in rows, eight to a load of 16 bytes. A work-group has eight rows at a time, a team of work-items for each; a work-item
// asks for all its loads of a row at once, before it looks at the input, which the teams share in local memory.
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

// Asks for a work-item's part of a row.
void ask(uint4* words, global const uint4* row, uint lane) {
  for (uint i = 0; i < LOADS; ++i) {
    words[i] = row[i * TEAM + lane % TEAM];
  }
}

// A work-item's part of its row times the input, of which `low` and `high` have four elements each of every eight.
float4 times(const uint4* words, local const float4* low, local const float4* high, uint lane) {
  float4 sum = 0;
  for (uint i = 0; i < LOADS; ++i) {
    sum = fma(pair_of(words[i].x, words[i].y), low[i * TEAM + lane % TEAM], sum);
    sum = fma(pair_of(words[i].z, words[i].w), high[i * TEAM + lane % TEAM], sum);
  }
  return sum;
}

// The input times its norm, and the squares of each eight of its elements.
void normalise(global const float* x, global const uint4* norm, local float4* low, local float4* high, local float* squares,
               uint lane) {
  const float4 a = vload4(2 * lane, x);
  const float4 b = vload4(2 * lane + 1, x);
  const uint4 factors = norm[lane];
  low[lane] = a * pair_of(factors.x, factors.y);
  high[lane] = b * pair_of(factors.z, factors.w);
  squares[lane] = sum_of(fma(b, b, a * a));
}

// Puts a team's sums next to each other; those of all squares are row 8.
void leave(local float* sums, float sum, local const float* squares, uint lane) {
  sums[lane / TEAM * LINE + lane % TEAM] = sum;
  if (lane < TEAM) {
    float part = 0;
    for (uint i = lane; i < ROW; i += TEAM) {
      part += squares[i];
    }
    sums[8 * LINE + lane] = part;
  }
}

// Adds up a row of sums, after a barrier.
float added_up(local const float* sums, uint row) {
  float sum = 0;
  for (uint i = 0; i < TEAM; ++i) {
    sum += sums[row * LINE + i];
  }
  return sum;
}

// One over the root of the mean of the squares.
float scale_of(local const float* sums) {
  return 1 / sqrt(added_up(sums, 8) / HIDDEN + EPSILON);
}

// The input of the first token.
kernel void embed(global const uint* token, global const uint4* embedding, global float* x) {
  const uint lane = get_local_id(0);
  const uint4 words = embedding[token[0] * ROW + lane];
  vstore4(pair_of(words.x, words.y), 2 * lane, x);
  vstore4(pair_of(words.z, words.w), 2 * lane + 1, x);
}

// Queries, keys and values of the normalised input: eight rows a work-group.
kernel void project(global const float* x, global const uint4* norm, global const uint4* query, global const uint4* key,
                    global const uint4* value, global float* projected) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[9 * LINE];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  const uint keys = HEADS * HEAD;
  const uint values = keys + KV_HEADS * HEAD;
  uint4 words[LOADS];
  global const uint4* const rows = first < keys     ? query + first * ROW
                                   : first < values ? key + (first - keys) * ROW
                                                    : value + (first - values) * ROW;
  ask(words, rows + lane / TEAM * ROW, lane);
  normalise(x, norm, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  leave(sums, sum_of(times(words, low, high, lane)), squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 8) {
    projected[first + lane] = added_up(sums, lane) * scale_of(sums);
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
  local float4 low[ROW], high[ROW];
  local float sums[8 * LINE];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  uint4 words[LOADS];
  ask(words, output + (first + lane / TEAM) * ROW, lane);
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
    a = fma((float4)scale, vload4(at, parts), a);
    b = fma((float4)scale, vload4(at + 1, parts), b);
  }
  low[lane] = a / total;
  high[lane] = b / total;
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[lane / TEAM * LINE + lane % TEAM] = sum_of(times(words, low, high, lane));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < 8) {
    joined[first + lane] = x[first + lane] + added_up(sums, lane);
  }
}

// The gated layer of the normalised input, FEED_ROWS rows of each matrix a work-group, four at a time: while they are worked on,
// the next ones are on their way.
kernel void feed(global const float* x, global const uint4* norm, global const uint4* gate, global const uint4* up,
                 global float* fed) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[2][9 * LINE];
  const uint lane = get_local_id(0);
  const uint first = FEED_ROWS * get_group_id(0);
  const uint team = lane / TEAM;
  global const uint4* const own_row = (team < 4 ? gate : up) + (first + team % 4) * ROW;
  uint4 words[LOADS];
  ask(words, own_row, lane);
  normalise(x, norm, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint row = 0; row < FEED_ROWS; row += 4) {
    uint4 next[LOADS];
    if (row + 4 < FEED_ROWS) {
      ask(next, own_row + (row + 4) * ROW, lane);
    }
    local float* const own = sums[row / 4 % 2];
    leave(own, sum_of(times(words, low, high, lane)), squares, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 4) {
      const float scale = scale_of(own);
      const float opened = added_up(own, lane) * scale;
      fed[first + row + lane] = opened / (1 + exp(-opened)) * (added_up(own, lane + 4) * scale);
    }
    for (uint i = 0; i < LOADS; ++i) {
      words[i] = next[i];
    }
  }
}

// The way back to HIDDEN elements, added to the input: eight rows a work-group, a part of them after the other.
kernel void down(global const float* x, global const float* fed, global const uint4* back, global float* out) {
  local float4 low[2][ROW], high[2][ROW];
  local float sums[8 * LINE];
  const uint lane = get_local_id(0);
  const uint first = 8 * get_group_id(0);
  global const uint4* const own_row = back + (first + lane / TEAM) * (FEED / 8);
  uint4 words[LOADS];
  ask(words, own_row, lane);
  float4 sum = 0;
  for (uint part = 0; part < FEED / HIDDEN; ++part) {
    uint4 next[LOADS];
    if (part + 1 < FEED / HIDDEN) {
      ask(next, own_row + (part + 1) * ROW, lane);
    }
    low[part % 2][lane] = vload4((part * ROW + lane) * 2, fed);
    high[part % 2][lane] = vload4((part * ROW + lane) * 2 + 1, fed);
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += times(words, low[part % 2], high[part % 2], lane);
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
kernel void weigh(global const float* x, global const uint4* norm, global const uint4* embedding, global float* likely,
                  global uint* best) {
  local float4 low[ROW], high[ROW];
  local float squares[ROW];
  local float sums[2][8 * LINE];
  local float each_most[8];
  local uint each_at[8];
  const uint lane = get_local_id(0);
  const uint first = CHOICES * get_group_id(0);
  global const uint4* const own_row = embedding + (first + lane / TEAM) * ROW;
  uint4 words[LOADS];
  ask(words, own_row, lane);
  normalise(x, norm, low, high, squares, lane);
  barrier(CLK_LOCAL_MEM_FENCE);
  float most = -INFINITY; // of every eighth row, for the first eight work-items
  uint at = 0;
  for (uint row = 0; row < CHOICES; row += 8) {
    uint4 next[LOADS];
    if (row + 8 < CHOICES) {
      ask(next, own_row + (row + 8) * ROW, lane);
    }
    local float* const own = sums[row / 8 % 2];
    own[lane / TEAM * LINE + lane % TEAM] = sum_of(times(words, low, high, lane));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 8) {
      const float found = added_up(own, lane);
      at = found > most ? first + row + lane : at;
      most = fmax(most, found);
    }
    for (uint i = 0; i < LOADS; ++i) {
      words[i] = next[i];
    }
  }
  if (lane < 8) {
    each_most[lane] = most;
    each_at[lane] = at;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    for (uint i = 1; i < 8; ++i) {
      if (each_most[i] > most || (each_most[i] == most && each_at[i] < at)) {
        most = each_most[i];
        at = each_at[i];
      }
    }
    likely[get_group_id(0)] = most;
    best[get_group_id(0)] = at;
  }
}

#define GROUPS (VOCABULARY / CHOICES)                 // of `weigh`
#define ANSWERS ((GROUPS + LANES - 1) / LANES) // that a work-item of `choose` looks at

// The most likely token, the first of equal ones, is the next, except where the prompt goes on; its embedding is the next
// input. One work-group.
kernel void choose(global const float* likely, global const uint* best, global const uint* prompt, global const uint4* embedding,
                   global uint* token, global uint* tokens, global float* x, uint position, uint prompt_length) {
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
  vstore4(pair_of(words.x, words.y), 2 * lane, x);
  vstore4(pair_of(words.z, words.w), 2 * lane + 1, x);
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
