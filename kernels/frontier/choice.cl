// Turns the counters of a step into the next step: logs the wave, chooses a topology and plans the step that
// it needs.

bool tg_works_alone(const tg_position* at, const tg_setting* setting) {
  const tg_policy policy = setting->policy;
  if (TG_MAY_REFILL_ALONE && at->step == TG_STEP_REFILL) {
    return at->far <= policy.alone_vertices * TG_ALONE_EDGES;
  }
  return at->step == TG_STEP_WAVE && at->topology == TG_SPARSE && at->vertices <= policy.alone_vertices &&
         at->frontier_edges <= policy.alone_vertices * TG_ALONE_EDGES && at->entries <= TG_ALONE_ROOM && at->long_runs == 0;
}

#define TG_TOGETHER_EDGES 65536u // more edges keep the memory busy anyway

bool tg_works_together(const tg_position* at, const tg_setting* setting, tg_meeting meeting) {
  return TG_MAY_WORK_TOGETHER && meeting.arrivals != 0 && at->step == TG_STEP_WAVE && at->topology == TG_SPARSE &&
         at->long_runs == 0 && at->frontier_edges <= TG_TOGETHER_EDGES && !tg_works_alone(at, setting);
}

bool tg_pushes(uint topology) { return topology == TG_SPARSE || topology == TG_HYBRID || topology == TG_CONSTRAINED; }

// Returns the step that the chosen topology needs next.
uint tg_plan(const tg_position* at) {
  if (at->topology == TG_EMPTY) {
    return TG_FOREST || (TG_PARENTS && at->mixed != 0) ? TG_STEP_FINISH : TG_STEP_DONE;
  }
  const bool needs_queue = at->topology == TG_SPARSE || at->topology == TG_HYBRID;
  if (needs_queue && (at->has & TG_HAS_QUEUE) == 0) {
    return TG_STEP_TO_QUEUE;
  }
  return at->topology != TG_SPARSE && (at->has & TG_HAS_BITMAP) == 0 ? TG_STEP_TO_BITMAP : TG_STEP_WAVE;
}

void tg_choose_topology(tg_position* at, const tg_setting* setting) {
  const tg_signals signals = {at->frontier_edges, at->previous_edges, at->unexplored_edges, at->vertices, at->dense_waves};
  const tg_choice choice = tg_choose(setting->policy, signals, at->previous_topology);
  at->topology = choice.topology;
  at->rule = choice.rule;
  at->threshold = choice.threshold;
  at->chosen_edges = at->frontier_edges;
  at->chosen_vertices = at->vertices;
}

// Ends a wave: writes its log row and adopts the frontier that it found.
void tg_end_wave(tg_position* at, const tg_setting* setting, tg_counts counts, tg_log log) {
  if (log.rows != 0) {
    const tg_log_row written = {
        .frontier_edges = at->chosen_edges, .previous_edges = at->previous_edges, .unexplored_edges = at->unexplored_edges,
        .scanned_edges = at->scanned_edges, .threshold = at->threshold, .ended = tg_now(), // 0 if the clock is not read
        .vertices = at->chosen_vertices, .topology = at->topology, .previous_topology = at->previous_topology, .rule = at->rule,
        .dense_waves = at->dense_waves, .alone = tg_works_alone(at, setting), .wave = at->wave};
    log.rows[at->wave - log.begin] = written;
  }
  at->wave += 1;
  at->scanned_edges = 0;
  at->previous_topology = at->topology;
  at->previous_edges = at->chosen_edges;
  at->dense_waves = at->topology == TG_DENSE || at->topology == TG_FUSED ? at->dense_waves + 1 : 0;
  if (TG_ITERATES) {
    tg_end_iteration(at, setting, counts);
    return;
  }
  at->unexplored_edges -= min(at->frontier_edges, at->unexplored_edges);
  at->has = at->topology == TG_SPARSE   ? TG_HAS_QUEUE
            : at->topology == TG_HYBRID ? TG_HAS_QUEUE | TG_HAS_BITMAP
                                        : TG_HAS_BITMAP;
  at->vertices = counts.vertices;
  at->frontier_edges = counts.edges;
  at->entries = counts.entries;
  at->long_runs = counts.long_runs;
  at->least = at->topology == TG_DENSE ? ~counts.least : 0;
}

// Advances the position from an executed step to the next one.
void tg_absorb(tg_position* at, const tg_setting* setting, tg_counts counts, tg_log log) {
  const uint step = at->step;
  bool choose = true;
  at->executed = 0;
  at->round += 1;
  tg_count_far(at, setting, counts);
  switch (step) {
  case TG_STEP_WAVE:
    if (TG_ITERATES && (at->topology != TG_DENSE || TG_MAY_PULL_SHARES)) {
      at->scanned_edges = tg_pushes(at->topology) ? 0 : counts.scanned;
      if (at->topology == TG_DENSE) { // the next step ranks the rows of several shares
        at->pulled_idle = counts.idle;
        at->pulled_change = counts.change;
      }
      at->step = TG_STEP_APPLY;
      return;
    }
    // fall through
  case TG_STEP_APPLY:
    at->scanned_edges += tg_pushes(at->topology) ? at->frontier_edges : counts.scanned;
    tg_end_wave(at, setting, counts, log);
    break;
  case TG_STEP_TO_BITMAP:
    at->has |= TG_HAS_BITMAP;
    at->least = ~counts.least;
    choose = false;
    break;
  case TG_STEP_LINK:
  case TG_STEP_COMPRESS:
    if (tg_goes_on(at, counts)) {
      return;
    }
    break;
  case TG_STEP_START:
    at->unexplored_edges = setting->policy.edges;
    at->has = TG_FROM_ALL || TG_STARTS_ANYWHERE || setting->constrained != 0 ? TG_HAS_BITMAP : TG_HAS_BITMAP | TG_HAS_QUEUE;
    at->vertices = TG_FROM_ALL ? setting->vertices : counts.vertices;
    at->frontier_edges = TG_FROM_ALL ? setting->policy.edges : counts.edges;
    at->long_runs = counts.long_runs;
    at->idle = counts.idle;
    at->near = setting->delta;
    at->nearest = 0xffffffffu;
    if (!TG_ITERATES) {
      at->step = TG_FOREST ? TG_STEP_COMPRESS : TG_STEP_SEED;
      return;
    }
    break;
  case TG_STEP_SEED:
    counts.vertices += at->vertices;
    counts.edges += at->frontier_edges;
    // fall through
  case TG_STEP_TO_QUEUE:
  case TG_STEP_REFILL:
    at->vertices = counts.vertices;
    at->frontier_edges = counts.edges;
    at->entries = counts.entries;
    at->long_runs = counts.long_runs;
    at->has = step == TG_STEP_REFILL ? TG_HAS_QUEUE : step == TG_STEP_TO_QUEUE ? at->has | TG_HAS_QUEUE : at->has;
    choose = step != TG_STEP_TO_QUEUE;
    break;
  default: // the last step has run
    at->topology = TG_EMPTY;
    at->step = TG_STEP_DONE;
    return;
  }
  if (TG_PUTS_OFF && at->vertices == 0 && at->far != 0) {
    at->step = TG_STEP_REFILL;
    return;
  }
  if (choose) {
    tg_choose_topology(at, setting);
  }
  at->step = tg_plan(at);
  if (at->step == TG_STEP_WAVE && at->topology == TG_FUSED) {
    at->mixed = 1;
  }
}
