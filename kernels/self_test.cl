// What a device must prove before a persistent kernel runs on it, and what that costs. Compiled once per memory
// ordering, behind device_barrier.cl and occupancy.cl.

// Each group writes, all meet, each reads plainly what its neighbour has written; every other time a group meets its two
// neighbours alone, by what they tell of themselves. `data` holds two words for
// each work-item, used in turn; `errors` counts reads that saw something else.
kernel void litmus(global uint* data, volatile global tg_word* counters, volatile global uint* errors, uint rounds,
                   uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const uint lanes = get_local_size(0);
  const uint groups = get_num_groups(0);
  const uint lane = get_local_id(0);
  const uint group = get_group_id(0);
  const uint neighbour = group + 1 == groups ? 0 : group + 1;
  const uint other = group == 0 ? groups - 1 : group - 1; // it reads what this one writes
  uint wrong = 0;
  for (uint round = 0; round < rounds; ++round) {
    global uint* const half_of_round = data + (round & 1u) * groups * lanes;
    half_of_round[group * lanes + lane] = round * 2654435761u + group * lanes + lane;
    if (round % 2 == 0) {
      if (!tg_device_barrier(counters, (round / 2 + 1) * groups, most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
        break;
      }
    } else {
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
      if (lane == 0) {
        tg_store_release(&counters[TG_REACHED(group)], round);
        if (!tg_await(counters, TG_REACHED(neighbour), round, most_polls, 0, (uint3)(round, 0, 0)) ||
            !tg_await(counters, TG_REACHED(other), round, most_polls, 0, (uint3)(round, 0, 0))) {
          gave_up = 1;
        }
      }
      barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
      if (gave_up != 0) {
        break;
      }
    }
    wrong += half_of_round[neighbour * lanes + lane] != round * 2654435761u + neighbour * lanes + lane;
  }
  if (wrong != 0) {
    atomic_add(errors, wrong);
  }
}

// Barriers and nothing else, to be timed.
kernel void barriers(volatile global tg_word* counters, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  for (uint round = 0; round < rounds; ++round) {
    if (!tg_device_barrier(counters, (round + 1) * get_num_groups(0), most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
      break;
    }
  }
}

// Each group goes from round to round as soon as its two neighbours have come so far: to be timed.
kernel void neighbours(volatile global tg_word* counters, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const uint groups = get_num_groups(0);
  const uint group = get_group_id(0);
  const uint neighbour = group + 1 == groups ? 0 : group + 1;
  const uint other = group == 0 ? groups - 1 : group - 1;
  for (uint round = 1; round <= rounds; ++round) {
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      tg_store_release(&counters[TG_REACHED(group)], round);
      if (!tg_await(counters, TG_REACHED(neighbour), round, most_polls, 0, (uint3)(round, 0, 0)) ||
          !tg_await(counters, TG_REACHED(other), round, most_polls, 0, (uint3)(round, 0, 0))) {
        gave_up = 1;
      }
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (gave_up != 0) {
      break;
    }
  }
}

// Waves of tiles as a persistent launch runs them, to be timed: each work-item moves a vector from what the neighbour of its
// group wrote the round before, `tiles` times a group, between two halves of `data`; then all meet.
kernel void waves(global float4* data, volatile global tg_word* counters, uint tiles, uint rounds, uint most_polls) {
  local uint gave_up;
  if (get_local_id(0) == 0) {
    gave_up = 0;
  }
  const uint lanes = get_local_size(0);
  const uint groups = get_num_groups(0);
  const uint half_size = tiles * groups * lanes;
  for (uint round = 0; round < rounds; ++round) {
    global const float4* const from = data + (round & 1u) * half_size;
    global float4* const to = data + (1u - (round & 1u)) * half_size;
    for (uint tile = 0; tile < tiles; tile += 2) { // the reads of two are under way at a time
      const uint item = (tile * groups + get_group_id(0)) * lanes + get_local_id(0);
      const uint next = item + groups * lanes;
      const bool two = tile + 1 < tiles;
      const float4 a = from[item + lanes < half_size ? item + lanes : item + lanes - half_size];
      const float4 b = two ? from[next + lanes < half_size ? next + lanes : next + lanes - half_size] : a;
      to[item] = a * 0.5f + 1.0f;
      if (two) {
        to[next] = b * 0.5f + 1.0f;
      }
    }
    if (!tg_device_barrier(counters, (round + 1) * groups, most_polls, &gave_up, 0, (uint3)(round, 0, 0))) {
      break;
    }
  }
}

kernel void nothing(volatile global uint* unused) {
  if (get_global_id(0) == 0xffffffffu) {
    *unused = 1;
  }
}

// Each group claims batches of items until none is left, and touches each item once.
kernel void claims(volatile global uint* next, global uint* items, uint count, uint batch) {
  local uint first;
  const uint most_batches = count / batch + 1;
  for (uint i = 0; i < most_batches; ++i) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      first = atomic_add(next, batch);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first >= count) {
      break;
    }
    for (uint item = first + get_local_id(0); item < min(first + batch, count); item += get_local_size(0)) {
      items[item] += 1;
    }
  }
}

kernel void discover(volatile global uint* state, uint most_polls, uint settle_polls) {
  if (get_local_id(0) == 0) {
    tg_take_part(state, most_polls, settle_polls);
  }
  // The others wait: hardware that hands on the room of single work-items would let further groups in.
  barrier(CLK_LOCAL_MEM_FENCE);
}
