// Vertices that ranks (ranks.cl) send each other, if the algorithm starts from a frontier. `job->bitmaps` is the
// frontier of own vertices, `to.bitmap` the next one, of all that were found.

// Puts values next to the listed vertices, and takes them out of the next frontier.
void tg_fill(const tg_job* job, tg_target to) {
  TG_EACH_ITEM(job, i, to.tails[TG_TAIL * TG_COUNTER_LINE], 1) {
    global uint* const sent = job->far + tg_sent_at(i, TG_MESSAGE_WORDS);
    const uint v = sent[0];
    const tg_bits value = job->values[v];
    for (uint word = 1; word < TG_MESSAGE_WORDS; ++word) {
      sent[word] = (uint)((ulong)value >> 32 * (word - 1));
    }
    if (TG_ADDS) {
      job->values[v] = TG_FIRST_VALUE(v);
    }
    atomic_and(&to.bitmap[v >> 5], ~(1u << (v & 31u)));
  }
}

// Merges vertices that others have sent.
void tg_adopt(const tg_job* job, const tg_position* at, tg_target to, uint count) {
  TG_EACH_ITEM(job, i, count, 1) {
    global const uint* const heard = (global const uint*)job->queues + tg_sent_at(i, TG_MESSAGE_WORDS);
    tg_edge edge;
    edge.w = heard[0];
    ulong value = TG_MESSAGE_WORDS == 1 ? at->wave + 1 : 0;
    for (uint word = 1; word < TG_MESSAGE_WORDS; ++word) {
      value |= (ulong)heard[word] << 32 * (word - 1);
    }
    tg_fetch_bounds(job, &edge);
    tg_hand_over(job, at, to, TG_NO_VERTEX, (tg_bits)value, edge);
  }
}

// Moves what has been found to the frontier, without far vertices, and counts it.
void tg_count(const tg_job* job, const tg_position* at, tg_target to) {
  TG_EACH_ITEM(job, i, (job->rows + 31) / 32, 1) {
    const uint word = job->first / 32 + i;
    const uint next = to.bitmap[word];
    uint far = 0;
    for (uint bits = next; bits != 0; bits &= bits - 1) {
      const uint v = word * 32 + tg_lowest(bits);
      if (TG_PUTS_OFF && job->values[v] >= at->near) {
        far |= 1u << (v & 31u);
        to.found->far += 1;
        to.found->nearest = max(to.found->nearest, ~(uint)job->values[v]);
      } else {
        tg_count_vertex(to, tg_degree(job, v));
      }
    }
    job->bitmaps[word] = next & ~far;
    to.bitmap[word] = far;
  }
}

static void tg_own_action(const tg_job* job, const tg_position* at, tg_target to, tg_part part, local tg_share* share) {
  switch (part.action) {
  case TG_PART_SEED:
    if (get_global_id(0) == 0) {
      tg_seed(job, to, to.bitmap);
    }
    break;
  case TG_PART_FILL: tg_fill(job, to); break;
  case TG_PART_ADOPT: tg_adopt(job, at, to, part.count); break;
  case TG_PART_COUNT: tg_count(job, at, to); break;
  default: break;
  }
}
