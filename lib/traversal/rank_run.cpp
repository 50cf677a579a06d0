#include "traversal/dispatch.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using runtime::RunStatus;

constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

// The counters of a launch; those of all ranks after of_all().
struct Counted {
  std::uint64_t vertices, edges, scanned, far, change, idle;
};

// One rank's side of a traversal.
class RankTraversal {
public:
  RankTraversal(const device::Session& session, const TraversalPlan& plan, std::uint32_t groups,
                const RunOptions& options, runtime::Monitor& monitor)
      : session_(session), plan_(plan), shape_(plan.shape), resident_(*plan.asked.kept->resident),
        options_(options), monitor_(monitor), kernel_(plan.asked.kept->kernel->kernel),
        ranks_(*options.ranks), groups_(device::work_groups(groups, plan.geometry.group_size)),
        outcome_{.waves = {.group_size = plan.geometry.group_size, .workers = groups}},
        part_{.first = plan.part->first(), .end = plan.part->end()},
        argument_(set_graph(session, kernel_, resident_)) {}

  TraversalOutcome run() {
    set_part();
    runtime::compile_by_launching(session_, *plan_.asked.kept->kernel, plan_.geometry.group_size,
                                  outcome_.waves.workers); // it does nothing
    const device::CallCounts calls_before = session_.calls()->now();
    deadline_ = runtime::begin_together(ranks_, monitor_, options_.max_wall_time_ns);
    const auto start = std::chrono::steady_clock::now();
    if (shape_.vertices != 0) { // no kernel need ask whether there is a first vertex
      const std::uint64_t bitmaps = part_bytes(plan_.memory, Part::bitmaps);
      if (bitmaps != 0) {
        session_.clear(resident_.part(Part::bitmaps), bitmaps);
      }
      shape_.algorithm == Algorithm::cc         ? run_components()
      : shape_.algorithm == Algorithm::pagerank ? run_iterations()
                                                : run_waves();
    }
    session_.finish();
    outcome_.dispatch_ns = elapsed_ns(start);
    outcome_.traffic = ranks_.traffic();
    outcome_.iterations = outcome_.waves.sums.waves;
    outcome_.calls = session_.calls()->since(calls_before);
    return std::move(outcome_);
  }

private:
  void set_part() { session_.set(kernel_, argument_, part_); }

  void launch(std::uint32_t action) {
    part_.action = action;
    set_part();
    session_.launch(kernel_, groups_, nullptr);
  }

  using Counters = std::array<std::uint32_t, TG_SLOT_WORDS>;

  // Returns what launches have counted.
  Counters counters_after(std::initializer_list<std::uint32_t> actions) {
    session_.clear(resident_.part(Part::state), sizeof(Counters));
    std::ranges::for_each(actions, [this](std::uint32_t action) { launch(action); });
    Counters words{};
    session_.read(resident_.part(Part::state), 0, std::as_writable_bytes(std::span(words)));
    return words;
  }

  Counted of_all(const Counters& words) {
    const auto at = [&words](std::uint32_t counter, unsigned shift) {
      return words[counter * TG_COUNTER_LINE] +
             (std::uint64_t{words[counter * TG_COUNTER_LINE + 1]} << shift);
    };
    std::array<std::uint64_t, 6> numbers{
        words[TG_VERTICES * TG_COUNTER_LINE], at(TG_EDGES, 16),  at(TG_SCANNED, 16),
        words[TG_FAR * TG_COUNTER_LINE],      at(TG_CHANGE, 32), at(TG_IDLE, 32)};
    runtime::or_refuse(ranks_.reduce(numbers, ranks::Reduction::sum));
    return std::bit_cast<Counted>(numbers);
  }

  bool out_of_time() { return runtime::out_of_time(outcome_, deadline_); }

  // Gives every rank the own parts of an array of words in device memory, one for each vertex.
  void share(Part part, std::uint64_t offset) {
    const graphs::VertexCut& cut = plan_.part->cut;
    std::vector<std::byte> own((part_.end - part_.first) * word_bytes);
    session_.read(resident_.part(part), offset + part_.first * word_bytes, own);
    const auto parts = runtime::or_refuse(ranks_.exchange(std::vector(cut.size() - 1, own)));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      session_.write(resident_.part(part), offset + cut[rank] * word_bytes, parts[rank]);
    }
  }

  // Pushes the frontier.
  void push() {
    const std::uint32_t entry = sent_words(shape_);
    const std::size_t most = tg_sent_at(TG_HEARD, entry);
    const device::Buffer& messages = resident_.part(Part::queues); // heard ones, then those to send
    const graphs::VertexCut& cut = plan_.part->cut;
    std::vector<std::uint32_t> listed(tg_sent_at(counters_after({TG_PART_PUSH})[TG_TAIL], entry));
    launch(TG_PART_FILL);
    session_.read(messages, most * word_bytes, std::as_writable_bytes(std::span(listed)));
    std::vector<std::vector<std::uint32_t>> sent(cut.size() - 1);
    for (std::size_t i = 0; i < listed.size(); i += entry) {
      const std::uint64_t vertex = runtime::checked_index(listed[i], cut.back(), "a vertex");
      auto& words = sent[static_cast<std::size_t>(std::ranges::upper_bound(cut, vertex) - cut.begin() - 1)];
      words.insert(words.end(), listed.begin() + static_cast<std::ptrdiff_t>(i),
                   listed.begin() + static_cast<std::ptrdiff_t>(i + entry));
    }
    for (const auto& words : runtime::or_refuse(ranks_.exchange(std::move(sent)))) {
      for (std::size_t at = 0; at < words.size(); at += most) {
        const auto some = std::span(words).subspan(at, std::min(most, words.size() - at));
        session_.write(messages, 0, std::as_bytes(some));
        part_.count = static_cast<std::uint32_t>(some.size() / entry);
        launch(TG_PART_ADOPT);
      }
    }
  }

  // Makes what has been found the frontier, and counts that of all ranks. Distances of sssp that are far are near after some waves.
  Counted count() {
    while (true) {
      const Counters words = counters_after({TG_PART_COUNT});
      const Counted all = of_all(words);
      if (all.vertices != 0 || all.far == 0) {
        return all;
      }
      const std::uint64_t nearest = ~words[TG_NEAREST * TG_COUNTER_LINE];
      part_.nearest = static_cast<tg_u32>(runtime::or_refuse(ranks_.reduce(nearest, ranks::Reduction::min)));
    }
  }

  // The record of the next wave.
  WaveRecord next_wave(std::uint64_t vertices, std::uint64_t edges) {
    const bool is_pagerank = shape_.algorithm == Algorithm::pagerank;
    const WaveRecord before =
        part_.wave == 0 ? WaveRecord{.unexplored_edges = shape_.edges} : outcome_.waves.last;
    return {.wave = part_.wave,
            .topology = is_pagerank                         ? policy::Topology::dense_frontier
                        : shape_.algorithm == Algorithm::cc ? policy::Topology::memory_constrained
                                                            : policy::Topology::sparse_frontier,
            .previous_topology = before.topology,
            .rule = policy::TopologyRule::forced,
            .vertices = static_cast<std::uint32_t>(vertices),
            .density_bps = policy::tg_density_bps(static_cast<std::uint32_t>(vertices), shape_.vertices),
            .frontier_edges = edges,
            .previous_edges = before.frontier_edges,
            .unexplored_edges = before.unexplored_edges -
                                (is_pagerank ? 0 : std::min(before.frontier_edges, before.unexplored_edges)),
            .scanned_edges = edges,
            .trend = trend_of(edges, before.frontier_edges),
            .dense_waves = is_pagerank ? part_.wave : 0};
  }

  void log(const WaveRecord& wave) {
    monitor_.items += wave.vertices;
    outcome_.waves.add(wave);
    monitor_.iterations = ++part_.wave;
  }

  void run_waves() {
    launch(TG_PART_BEGIN);
    launch(TG_PART_SEED);
    Counted next = count();
    while (next.vertices != 0 && !out_of_time()) {
      push();
      log(next_wave(next.vertices, next.edges));
      next = count();
    }
    outcome_.vertices_left = next.vertices;
    if (shape_.parents && outcome_.status == RunStatus::done) {
      share(Part::values, 0);
      launch(TG_PART_FINISH);
    }
  }

  void run_iterations() {
    const bool by_shares = TG_PULLS_SHARES(TG_PAGERANK, shape_.short_rows, groups_.local[0]);
    Counted of = of_all(counters_after({TG_PART_BEGIN}));
    while (!out_of_time()) {
      WaveRecord wave = next_wave(shape_.vertices, shape_.edges);
      share(Part::others, (part_.wave & 1U) * word_bytes * std::uint64_t{shape_.vertices});
      part_.idle = of.idle;
      of = of_all(by_shares ? counters_after({TG_PART_RANK, TG_PART_APPLY}) : counters_after({TG_PART_RANK}));
      wave.scanned_edges = of.scanned;
      log(wave);
      outcome_.rank_change = static_cast<double>(of.change) / rank_units;
      if (of.change < resident_.setting.rank_tolerance || part_.wave >= resident_.setting.most_waves) {
        return;
      }
    }
    outcome_.vertices_left = shape_.vertices;
  }

  // Each rank joins the ends of its edges. Then forests are merged along a binomial tree: in round k the ranks whose
  // lowest set bit is k hand theirs to the rank without that bit.
  void run_components() {
    launch(TG_PART_BEGIN);
    launch(TG_PART_PUSH);
    launch(TG_PART_FINISH);
    const int rank = ranks_.rank();
    std::vector<std::byte> forest(value_bytes(shape_));
    const auto wait = [this] { return runtime::or_refuse(ranks_.wait()); };
    for (int bit = 1; bit < ranks_.size() && !out_of_time(); bit *= 2) {
      if ((rank & bit) != 0) {
        session_.read(resident_.part(Part::values), 0, forest);
        ranks_.send(rank - bit, forest);
        wait();
        break;
      }
      if (rank + bit < ranks_.size()) {
        ranks_.receive(rank + bit, forest);
        wait();
        session_.write(resident_.part(Part::queues), 0, forest);
        launch(TG_PART_ADOPT);
        launch(TG_PART_FINISH);
      }
    }
    log(next_wave(shape_.vertices, shape_.edges));
  }

  const device::Session& session_;
  const TraversalPlan& plan_;
  const TraversalShape& shape_;
  const ResidentGraph& resident_;
  const RunOptions& options_;
  runtime::Monitor& monitor_;
  const device::Kernel& kernel_;
  ranks::Ranks& ranks_;
  const device::LaunchRange groups_;
  TraversalOutcome outcome_;
  tg_part part_;
  const std::uint32_t argument_; // of part_
  std::chrono::steady_clock::time_point deadline_;
};

} // namespace

TraversalOutcome traverse_on_ranks(const device::Session& session, const TraversalPlan& plan,
                                   std::uint32_t groups, const RunOptions& options,
                                   runtime::Monitor& monitor) {
  return RankTraversal(session, plan, groups, options, monitor).run();
}

TraversalResults gather_results(const device::Session& session, const TraversalPlan& plan,
                                ranks::Ranks& ranks) {
  const bool whole = plan.shape.algorithm == Algorithm::cc; // rank 0 has all
  // Returns on rank 0 an array with `bytes` for each vertex, made of all ranks' own parts.
  const auto gathered = [&](Part from, std::uint64_t bytes) {
    std::vector<std::uint32_t> own(bytes * (whole ? plan.shape.vertices : plan.part->vertices()) /
                                   word_bytes);
    session.read(plan.asked.kept->resident->part(from), whole ? 0 : bytes * plan.part->first(),
                 std::as_writable_bytes(std::span(own)));
    if (whole) {
      return own;
    }
    std::vector<std::uint32_t> all;
    for (const auto& part : runtime::or_refuse(ranks.gather(std::span<const std::uint32_t>(own)))) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
  return {.values = gathered(Part::values, plan.shape.value_words * word_bytes),
          .wide = plan.shape.value_words == 2,
          .parents = plan.shape.parents ? gathered(Part::others, word_bytes) : std::vector<std::uint32_t>()};
}

} // namespace tidegate::traversal
