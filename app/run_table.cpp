// Tables of the reports of `tidegate run`, for people.
#include "app/run.hpp"

namespace tidegate::app {
namespace {

std::string launches_text(std::uint64_t launches) {
  return launches == 1 ? "one launch" : fmt::format("{} launches", launches);
}

// Rows that both kinds of reports have.

void add_head(const runtime::ReportHead& report, TableRows& made) {
  if (report.device) {
    add_row(made, "device", "{}", report.device->name);
  }
  add_row(made, "strategy", "{}: {}", choice_name(report.strategy), report.strategy_reason);
}

template <class Report>
void add_end(const Report& report, TableRows& made) {
  for (const runtime::WrittenFile& written : report.files_written) {
    add_row(made, &written == &report.files_written.front() ? "written" : "", "{}: {}, {}", written.file,
            written.what, bytes_text(written.bytes));
  }
  for (const runtime::StuckGroup& stuck : report.stuck_groups) {
    const std::string where =
        std::is_same_v<Report, engine::RunReport>
            ? fmt::format("in front of stage {} ({})", stuck.stage, fmt::join(stuck.waves, ", "))
            : fmt::format("after wave {}", stuck.iteration);
    add_row(made, "stuck", "work-group {} {}: {} are {}, not {}", stuck.group, where, stuck.counter,
            stuck.seen, stuck.expected);
  }
}

// "this run  1.2 ms (from 1.1 ms to 3.4 ms)".
std::string spread_text(std::string_view what, const std::vector<double>& rounds, double median) {
  const auto [least, most] = std::ranges::minmax(rounds); // there is one
  return fmt::format("{:<14}  {} (from {} to {})", what, short_time_text(median), short_time_text(least),
                     short_time_text(most));
}

template <class Report>
void add_comparison(const Report& report, TableRows& made) {
  if (const auto& times = report.comparison) {
    add_row(made, "compared", "{}", speed_text(*times, compared_with(report)));
    add_row(made, "", "{}", spread_text("this run", times->run_rounds_ns, times->run_ns));
    add_row(made, "", "{}", spread_text("plain launches", times->plain_rounds_ns, times->plain_ns));
  }
}

void add_ranks(const runtime::ReportHead& report, TableRows& made) {
  if (!report.ranks) {
    return;
  }
  const std::vector<runtime::RankReport>& ranks = report.ranks->ranks;
  std::uint64_t bytes = 0, messages = 0;
  for (const runtime::RankReport& rank : ranks) {
    bytes += rank.numbers.traffic.bytes_sent;
    messages += rank.numbers.traffic.messages;
  }
  const auto slowest = std::ranges::max_element(ranks, {}, [](const auto& rank) {
    return rank.numbers.dispatch_ns - std::min(rank.numbers.dispatch_ns, rank.numbers.traffic.waiting_ns);
  });
  add_row(made, "ranks", "{}; {} sent in {}",
          ranks.size() == 1 ? "one alone reports, as the run ended early"
                            : fmt::format("{}, the slowest is {}", ranks.size(), slowest->rank),
          bytes_text(bytes), plural(messages, "message"));
  for (const runtime::RankReport& rank : ranks) {
    add_row(made, fmt::format("rank {}", rank.rank), "{} on {}: {}, {} of it waiting", rank.device, rank.host,
            time_text(rank.numbers.dispatch_ns), time_text(rank.numbers.traffic.waiting_ns));
  }
  for (const runtime::WaveReason& wave : report.ranks->waves) {
    add_row(made, "on one rank", "{}, as {}", wave.wave, wave.reason);
  }
}

// Wave programs.

std::string verdict(const engine::RunReport& report) {
  if (!report.output_parity) {
    return report.status != runtime::RunStatus::done && report.files_written.empty() ? "none written"
           : report.first_run && report.first_run->equal
               ? "equal to plain launches on the first run; not compared in this run (--verify)"
           : report.first_run ? report.first_run->reason
                              : "not compared in this run (--verify)";
  }
  const engine::OutputParity& parity = *report.output_parity;
  if (parity.equal) {
    return fmt::format("{} equal to plain launches, byte for byte", plural(parity.checked, "output"));
  }
  return fmt::format("DIFFERENT{}: element {} of {} is {}, plain launches make it {}",
                     parity.items_reversed ? " with items in reverse" : "", parity.first_difference->element,
                     in_quotes(parity.first_difference->buffer), parity.first_difference->found,
                     parity.first_difference->expected);
}

std::string first_run_text(const engine::FirstRun& first) {
  const std::string took =
      first.runs == 0 ? "none now"
      : first.budget_ns == 0
          ? seconds_text(first.elapsed_ns)
          : fmt::format("{} of at most {}", seconds_text(first.elapsed_ns), seconds_text(first.budget_ns));
  const auto tried = std::ranges::count(first.candidates, true, &engine::FirstCandidate::tried);
  return fmt::format(
      "{}; settled: {}{}{}", took, first.settled ? "yes" : "no",
      first.candidates.empty() ? "" : fmt::format(", {} of {} tried", tried, first.candidates.size()),
      first.next.empty() ? "" : "; the next run " + first.next);
}

std::string expected_text(const engine::ExpectedReport& of) {
  const std::string tolerance = fmt::format("rtol {}, atol {} of {}", of.rtol, of.atol, of.file);
  return of.equal
             ? fmt::format("{} is within {}", in_quotes(of.buffer), tolerance)
             : fmt::format("DIFFERENT: {} of {} of {} are outside {}; the worst, element {}, is {}, not {}",
                           of.outside, plural(of.elements, "element"), in_quotes(of.buffer), tolerance,
                           of.worst->element, of.worst->found, of.worst->expected);
}

std::string stress_text(const engine::StressReport& stress) {
  return stress.failure ? fmt::format("FAILED in run {} of {}: {}", stress.completed.size(), stress.runs,
                                      stress.failure->variation)
                        : fmt::format("{} of {} in other orders, equal to plain launches",
                                      stress.completed.size(), plural(stress.runs, "run"));
}

std::string hits_text(const engine::HitsReport& hits) {
  const std::string room = fmt::format("room for {}", hits.capacity);
  if (!hits.hits) {
    return fmt::format("{}: {}", in_quotes(hits.list), room);
  }
  return fmt::format("{}: {}, {}{}{}", in_quotes(hits.list), *hits.hits, room,
                     *hits.dropped == 0 ? "" : fmt::format(", {} DROPPED", *hits.dropped),
                     hits.grown_from ? fmt::format(", grown from {}", *hits.grown_from) : "");
}

std::string queue_text(const engine::QueueReport& queue, bool planned) {
  std::string text = fmt::format("{}: {}", queue.wave, plural(queue.items, "item"));
  if (queue.deduped_items != 0) {
    text += fmt::format(", {} of them identical to others", queue.deduped_items);
  }
  if (queue.publishing) {
    text += fmt::format(
        "; {} published, {} run, needed room for {} of {}{}", queue.publishing->published,
        queue.publishing->executed, queue.publishing->needed_capacity, queue.publishing->capacity,
        queue.publishing->grown_from ? fmt::format(", grown from {}", *queue.publishing->grown_from) : "");
  }
  if ((queue.requeues || queue.publishing) && !planned) {
    text += fmt::format("; {}, {}, {} raised by age", plural(queue.rounds, "round"),
                        plural(queue.accounting.requeue_count, "requeue"), queue.accounting.aged_promotions);
  }
  return queue.items_remaining != 0 && !planned ? fmt::format("{}; {} LEFT", text, queue.items_remaining)
                                                : text;
}

TableRows wave_rows(const engine::WaveTimes& times, std::size_t most) {
  const auto path = static_cast<double>(std::max<std::uint64_t>(times.critical_path_ns, 1));
  const auto of_path = [path](std::uint64_t ns) {
    return fmt::format("{:.1f} %", 100 * static_cast<double>(ns) / path);
  };
  TableRows rows{{"  by wave", "critical path", "a run", "waiting", "GB/s, if each byte moves once"}};
  for (const engine::WaveTime& wave : times.waves) {
    if (rows.size() > most) {
      add_row(rows, fmt::format("{} more", times.waves.size() - most), "");
      break;
    }
    const auto time = static_cast<double>(wave.time_ns); // 0: the clock did not tick while it ran
    const auto runs = static_cast<double>(wave.executions);
    const double groups = static_cast<double>(std::max<std::uint64_t>(wave.work_ns + wave.wait_ns, 1));
    rows.push_back(
        {"  " + wave.waves, of_path(wave.critical_ns), time == 0 ? "-" : short_time_text(time / runs),
         fmt::format("{:.0f} %", 100 * static_cast<double>(wave.wait_ns) / groups),
         time == 0 ? "-" : fmt::format("{:.3g}", static_cast<double>(wave.buffer_bytes) * runs / time)});
  }
  rows.push_back({"  between waves", of_path(times.synchronization_ns), "", "", ""});
  if (times.device_bytes_per_ns != 0) {
    rows.push_back({"  device memory", "", "", "", fmt::format("{:.3g}", times.device_bytes_per_ns)});
  }
  return rows;
}

// Adds what was chosen before the run: mode, promotion, plan and memory.
void add_choices(const engine::RunReport& report, bool planned, TableRows& made) {
  add_row(made, "mode", "{}: {}", policy::name(report.telemetry.execution_mode), report.mode_reason);
  if (const auto promoted = report.promotion.promoted; promoted != engine::Promotion::none) {
    add_row(made, "promoted", "{}: {}", choice_name(promoted), report.promotion.reason);
  }
  add_row(made, "plan", "{} in {}{}", plural(memory_plan(report.plan).order.size(), "wave"),
          plural(report.plan.barriers.groups.size(), "group"),
          planned ? "" : ", " + plural(report.iterations, "iteration"));
  if (report.geometry.worker_groups != 0) {
    add_row(made, "workers", "{} of {} work-items", plural(report.geometry.worker_groups, "work-group"),
            report.geometry.workgroup_size);
  }
  const engine::MemoryReport& memory = report.memory;
  if (memory.sum_bytes != 0) {
    add_row(made, "memory", "arena of {} ({} without sharing; {})", bytes_text(memory.arena_bytes),
            bytes_text(memory.sum_bytes),
            memory.arena_bytes == memory.lower_bound_bytes
                ? "proved to be the least"
                : fmt::format("lower bound {}", bytes_text(memory.lower_bound_bytes)));
  }
  for (const runtime::WaveReason& wave : report.fallbacks) {
    add_row(made, "alone", "{}: {}", wave.wave, wave.reason);
  }
}

void add_times(const engine::RunReport& report, TableRows& made) {
  const std::uint64_t launches = report.telemetry.kernel_launches;
  const bool slices = report.fallbacks.empty() && launches == report.slices_ns.size() && launches > 1;
  add_row(made, "dispatch", "{} in {}{}{}", time_text(report.dispatch_ns), launches_text(launches),
          slices ? ", slices of one persistent run" : "",
          report.iterations > 1
              ? fmt::format(", {} an iteration", short_time_text(static_cast<double>(report.dispatch_ns) /
                                                                 static_cast<double>(report.iterations)))
              : "");
  add_ranks(report, made);
  add_row(made, "build", "{}{}", time_text(report.build_ns),
          report.telemetry.compiled_pipeline_cache_hit ? ", kept from an earlier run" : "");
  add_comparison(report, made);
}

// Traversals.

std::string millions(double count) {
  return fmt::format("{:.3g} million", count / 1e6);
}

std::string verdict(const traversal::FrontierReport& report) {
  if (!report.verification) {
    return report.first_run ? report.first_run->reason : "not verified in this run (--verify)";
  }
  return fmt::format("{}{}", report.verification->right ? "verified by " : "WRONG: ",
                     fmt::join(report.verification->checks, ", "));
}

// Returns a row for each run of consecutive waves with the same topology.
TableRows stretches(const std::vector<traversal::WaveRecord>& waves) {
  TableRows rows{{"  waves", "topology", "rule", "widest", "edges scanned"}};
  const bool timed = std::ranges::any_of(waves, [](const auto& wave) { return wave.time_ns.has_value(); });
  if (timed) {
    rows[0].insert(rows[0].end(), {"time", "edges/s"});
  }
  for (std::size_t first = 0; first < waves.size();) {
    std::size_t end = first;
    std::uint64_t scanned = 0;
    std::uint32_t widest = 0;
    std::uint64_t explored = 0;
    std::uint64_t ns = 0;
    for (; end < waves.size() && waves[end].topology == waves[first].topology; ++end) {
      scanned += waves[end].scanned_edges;
      explored += waves[end].frontier_edges;
      widest = std::max(widest, waves[end].vertices);
      ns += waves[end].time_ns.value_or(0);
    }
    rows.push_back({end - first == 1 ? fmt::format("  {}", first) : fmt::format("  {} to {}", first, end - 1),
                    std::string(policy::name(waves[first].topology)),
                    std::string(policy::name(waves[first].rule)), std::to_string(widest),
                    std::to_string(scanned)});
    if (ns != 0) {
      rows.back().push_back(time_text(ns));
      rows.back().push_back(millions(static_cast<double>(explored) * 1e9 / static_cast<double>(ns)));
    }
    first = end;
  }
  return rows;
}

// "299 of 300 vertices reached, the farthest at 12: vertex 7".
std::string answer_text(const traversal::FrontierReport& report) {
  const traversal::Answer& answer = *report.answer;
  const std::string ids = report.graph.ids == graphs::VertexIds::file
                              ? fmt::format(" (as the file counts, from {})", report.graph.first_id)
                          : report.graph.ids == graphs::VertexIds::compact ? " (by the ids of the file)"
                                                                           : " (counted from 0)";
  if (answer.components) {
    return fmt::format("{}, the largest of {} vertices", plural(*answer.components, "component"),
                       answer.largest.value_or(0));
  }
  if (answer.top) {
    std::string text;
    for (const auto& [vertex, rank] : *answer.top) {
      text += fmt::format("{}vertex {} {:.4g}", text.empty() ? "highest values: " : ", ", vertex, rank);
    }
    return text.empty() ? "no vertices" : text + ids;
  }
  return fmt::format("{} of {} vertices reached", answer.reached.value_or(0), report.graph.vertices) +
         (answer.farthest
              ? fmt::format(", the farthest at {}: vertex {}", *answer.distance, *answer.farthest) + ids
              : "");
}

} // namespace

RunTable run_rows(const engine::RunReport& report, std::size_t most_waves) {
  const bool planned = report.status == runtime::RunStatus::planned;
  TableRows made;
  add_head(report, made);
  add_choices(report, planned, made);
  for (const auto& hits : report.hits) {
    add_row(made, "hits", "{}", hits_text(hits));
  }
  for (const auto& active : report.active) {
    add_row(made, "active", "wave {}: {:.2f} % of {}", active.wave,
            100.0 * static_cast<double>(active.active_tiles) /
                static_cast<double>(std::max<std::uint64_t>(active.iterations * active.tiles, 1)),
            plural(active.tiles, "tile"));
  }
  for (const engine::QueueReport& queue : report.queues) {
    add_row(made, "queue", "{}", queue_text(queue, planned));
  }
  if (const auto& until = report.until) {
    add_row(made, "until", "{}{} is {}{}", until->reached ? "" : "NOT REACHED: ", in_quotes(until->buffer),
            until->value, until->reached ? "" : fmt::format(", waiting for {}", until->waiting_for));
  }
  if (const auto& bounds = report.bounds) {
    add_row(made, "bounds", "{} checked, {} past buffers", launches_text(bounds->checked_waves),
            bounds->violations.empty() ? "nothing was written" : "WRITTEN");
    for (const engine::BoundsViolation& violation : bounds->violations) {
      add_row(made, "", "{} wrote {}, in iteration {}", violation.wave, engine::place_text(violation),
              violation.iteration);
    }
  } else if (!planned) {
    add_row(made, "outputs", "{}", verdict(report));
    if (report.first_run) {
      add_row(made, "first run", "{}", first_run_text(*report.first_run));
    }
    for (const auto& of : report.expected) {
      add_row(made, "expected", "{}", expected_text(of));
    }
    if (report.stress) {
      add_row(made, "stress", "{}", stress_text(*report.stress));
    }
    add_times(report, made);
  }
  add_end(report, made);
  return {.headline = fmt::format("{}: {} of {} items", choice_name(report.status), report.items_processed,
                                  report.items_processed + report.items_remaining),
          .rows = std::move(made),
          .waves = report.wave_times ? wave_rows(*report.wave_times, most_waves) : TableRows()};
}

RunTable run_rows(const traversal::FrontierReport& report) {
  const traversal::FrontierSummary& summary = report.summary;
  TableRows made;
  if (report.answer) {
    add_row(made, "answer", "{}", answer_text(report));
  }
  add_head(report, made);
  add_row(made, "memory", "{}{}", bytes_text(report.memory.bytes),
          report.memory.constrained ? ", memory_constrained" : "");
  const bool planned = report.status == runtime::RunStatus::planned;
  if (!planned) {
    add_row(made, "time", "{}, {} edges a second, {}{}", time_text(report.dispatch_ns),
            millions(summary.edges_per_second), launches_text(report.telemetry.kernel_launches),
            summary.alone_waves == 0
                ? ""
                : fmt::format("; {} by one work-group", plural(summary.alone_waves, "wave")));
    add_ranks(report, made);
    add_row(made, "waves", "{}, {}; the widest is wave {}, with {}{}", plural(summary.waves, "wave"),
            plural(summary.topology_changes, "topology change"), summary.widest_wave,
            summary.widest_vertices == 1 ? "1 vertex" : fmt::format("{} vertices", summary.widest_vertices),
            report.waves.size() < summary.waves
                ? fmt::format("; the report lists the first {}", report.waves.size())
                : "");
    if (report.converged) {
      add_row(made, "converged", "{}: the last iteration changed the PageRank values by {:.3g} in sum",
              *report.converged ? "yes" : "NO", *report.rank_change);
    }
    add_row(made, "result", "{}", verdict(report));
    add_comparison(report, made);
  }
  add_end(report, made);
  return {.headline = fmt::format("{}: {} of {} vertices and {} edges", choice_name(report.status),
                                  report.source.value_or(std::string(choice_name(report.algorithm))),
                                  report.graph.vertices, report.graph.edges),
          .rows = std::move(made),
          .waves = planned ? TableRows() : stretches(report.waves)};
}

std::string run_table(RunTable table, bool colour) {
  align_right(table.waves, {3, 4, 5, 6});
  return bold(table.headline, colour) + "\n" + render_table(std::move(table.rows)) +
         render_table(std::move(table.waves));
}

} // namespace tidegate::app
