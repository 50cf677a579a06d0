#include "engine/traversal/rank_run.hpp"

#include "core/duration.hpp"
#include "device/kernels.hpp"
#include "engine/device_memory.hpp"
#include "engine/traversal/execute.hpp"
#include "engine/traversal/kernel_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <variant>

namespace tidegate::traversal {
namespace {

using Clock = std::chrono::steady_clock;
using device::require;
using engine::RunStatus;
using graphs::Algorithm;

constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
constexpr std::uint64_t word_vertices = 32; // of a bitmap

bool from_all(Algorithm algorithm) {
  return algorithm == Algorithm::cc || algorithm == Algorithm::pagerank;
}

// Numbers of a launch, as TG_VERTICES and the others, with those of all ranks.
struct Counted {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t scanned = 0;
  std::uint64_t far = 0;
  std::uint64_t change = 0;
  std::uint64_t idle = 0;
};
constexpr std::size_t counted_numbers = sizeof(Counted) / sizeof(std::uint64_t);

// One rank's side of a traversal.
class RankTraversal {
public:
  RankTraversal(const device::Session& session, const TraversalPlan& plan, const RankSetting& setting,
                const engine::RunOptions& options, engine::Monitor& monitor)
      : session_(session), kernel_(*plan.asked.kept->kernel), program_(plan.program), shape_(plan.shape),
        own_(*plan.part), policy_(setting.policy), ranks_(*options.ranks),
        groups_(device::work_groups(setting.groups, plan.geometry.group_size)), options_(options),
        in_parts_(setting.in_parts), monitor_(monitor),
        words_((shape_.vertices + word_vertices - 1) / word_vertices) {
    std::memcpy(&setting_, make_setting(plan.facts()).data(), sizeof setting_);
    run_.outcome.waves.group_size = plan.geometry.group_size;
    run_.outcome.waves.workers = setting.groups;
    part_.first = own_.first();
    part_.end = own_.end();
    part_.near = setting_.delta;
    upload(plan.asked.kept->initial);
    engine::compile_by_launching(session_, kernel_, plan.geometry.group_size,
                                 setting.groups); // it does nothing
  }

  RankTraversalRun run() {
    const Algorithm algorithm = shape_.algorithm;
    const device::CallCounts calls_before = session_.calls()->now();
    deadline_ = clock_.begin(std::chrono::nanoseconds(options_.max_wall_time_ns), options_.most_spans());
    if (shape_.vertices != 0) { // no kernel need ask whether there is a first vertex
      algorithm == Algorithm::cc         ? run_components()
      : algorithm == Algorithm::pagerank ? run_iterations()
                                         : run_waves();
    }
    require(session_.finish(), "running the waves");
    TraversalOutcome& outcome = run_.outcome;
    clock_.end();
    outcome.dispatch_ns = clock_.dispatch_ns;
    run_.traffic = clock_.traffic;
    outcome.iterations = outcome.waves.sums.waves;
    outcome.calls = session_.calls()->since(calls_before);
    if (outcome.status == RunStatus::done) {
      monitor_.begin(engine::Activity::reading);
      const auto reading = Clock::now();
      gather(At::values, shape_.value_words * word_bytes, run_.results.values);
      if (shape_.parents) {
        gather(At::others, word_bytes, run_.results.parents);
      }
      run_.results.wide = shape_.value_words == 2;
      run_.results.rank_change = outcome.rank_change;
      run_.results.waves = outcome.waves.sums.waves;
      run_.read_back_ns = elapsed_ns(reading);
    }
    run_.trace = std::move(clock_.trace);
    return std::move(run_);
  }

private:
  // Arguments of the kernel.
  struct At {
    enum : std::uint32_t {
      offsets,
      neighbours,
      weights,
      in_offsets,
      in_neighbours,
      in_weights,
      values,
      others,
      frontier,
      next,
      all,
      heard,
      counters,
      sources,
      setting,
      part
    };
  };

  // The rows of own vertices, with offsets from the first of them.
  void upload_rows(std::uint32_t first, const graphs::Rows& rows) {
    const std::uint64_t begin = rows.offsets[part_.first];
    std::vector<std::uint64_t> from_first(rows.offsets.begin() + part_.first,
                                          rows.offsets.begin() + part_.end + 1);
    for (std::uint64_t& offset : from_first) {
      offset -= begin;
    }
    const auto slice = [&](const auto& elements) {
      return std::as_bytes(std::span(elements).subspan(begin, from_first.back()));
    };
    if (std::max(own_.shape().edges, own_.shape().in_edges) > std::numeric_limits<std::uint32_t>::max()) {
      set(first, std::as_bytes(std::span(from_first)));
    } else {
      const std::vector<std::uint32_t> narrow(from_first.begin(), from_first.end());
      set(first, std::as_bytes(std::span(narrow)));
    }
    set(first + 1, slice(rows.neighbours));
    if (const auto* const whole = std::get_if<std::vector<std::uint32_t>>(&rows.weights)) {
      set(first + 2, slice(*whole));
    } else if (const auto* const floats = std::get_if<std::vector<float>>(&rows.weights)) {
      set(first + 2, slice(*floats));
    } else {
      set(first + 2, {}, 0);
    }
  }

  // Memory of an argument: these bytes first, and room for more.
  void set(std::uint32_t argument, std::span<const std::byte> bytes, std::uint64_t room = 0) {
    device::Buffer& memory = memory_[argument];
    memory = engine::allocate(session_, std::max<std::uint64_t>({bytes.size(), room, 8}));
    engine::upload(session_, memory, 0, bytes);
    require(session_.set_object(kernel_.kernel, argument, memory), "setting an argument of the traversal");
  }

  void upload(std::span<const std::byte> initial) {
    monitor_.begin(engine::Activity::filling);
    const auto start = Clock::now();
    const bool pushes = !from_all(shape_.algorithm);
    upload_rows(At::offsets, *own_.out);
    if (own_.in != nullptr) {
      upload_rows(At::in_offsets, *own_.in);
    } else {
      for (const std::uint32_t argument : {At::offsets, At::neighbours, At::weights}) {
        memory_[argument + At::in_offsets] = memory_[argument];
        require(session_.set_object(kernel_.kernel, argument + At::in_offsets, memory_[argument]),
                "setting an argument of the traversal");
      }
    }
    set(At::values, {}, value_bytes(shape_));
    const std::uint64_t words_a_vertex = shape_.algorithm == Algorithm::pagerank ? 2 : shape_.parents ? 1 : 0;
    set(At::others, initial, words_a_vertex * word_bytes * shape_.vertices);
    for (const std::uint32_t bitmap : {At::frontier, At::next}) {
      set(bitmap, {}, pushes ? words_ * word_bytes : 0);
      require(session_.clear(memory_[bitmap], std::max(pushes ? words_ * word_bytes : 0, word_bytes)),
              "clearing a bitmap");
    }
    const std::uint64_t own = part_.end - part_.first;
    if (by_shares_) { // the first row of each share
      const std::uint64_t edges = std::max(own_.shape().edges, own_.shape().in_edges);
      set(At::next, {}, ((edges + own) / share_size(shape_) + 1) * word_bytes);
    }
    set(At::all, {}, shape_.algorithm == Algorithm::bfs ? words_ * word_bytes : 0);
    set(At::heard, {},
        pushes ? std::uint64_t{rank_heard_vertices} * rank_message_words(shape_) * word_bytes
        : shape_.algorithm == Algorithm::cc ? value_bytes(shape_)
        : by_shares_                        ? 2 * word_bytes * own // what a row has received
                                            : 0);
    const std::uint64_t listed = pushes ? shape_.vertices - own : 0;
    set(At::counters, {}, (TG_SUMS + listed * rank_message_words(shape_)) * word_bytes);
    const std::vector<graphs::Vertex> sources = graphs::source_vertices(program_);
    set(At::sources, std::as_bytes(std::span(sources)));
    require(session_.set_bytes(kernel_.kernel, At::setting, std::as_bytes(std::span(&setting_, 1))),
            "setting an argument of the traversal");
    require(session_.set_bytes(kernel_.kernel, At::part, std::as_bytes(std::span(&part_, 1))),
            "setting an argument of the traversal");
    require(session_.finish(), "filling the buffers");
    run_.upload_ns = elapsed_ns(start);
  }

  void launch(std::uint32_t action) {
    part_.action = action;
    require(session_.set_bytes(kernel_.kernel, At::part, std::as_bytes(std::span(&part_, 1))),
            "setting an argument of the traversal");
    require(session_.launch(kernel_.kernel, groups_, nullptr), "launching a traversal");
  }

  void clear_counters() {
    require(session_.clear(memory_[At::counters], TG_SUMS * word_bytes), "clearing counters");
  }

  using Counters = std::array<std::uint32_t, TG_SUMS>;

  Counters read_counters() {
    Counters words{};
    engine::download(session_, memory_[At::counters], 0, std::as_writable_bytes(std::span(words)));
    return words;
  }

  static std::uint64_t wide(const Counters& words, std::uint32_t counter) {
    return words[counter * TG_SUM_LINE] | std::uint64_t{words[counter * TG_SUM_LINE + 1]} << 32U;
  }

  static Counted counted(const Counters& words) {
    return {.vertices = words[TG_VERTICES * TG_SUM_LINE],
            .edges = wide(words, TG_EDGES),
            .scanned = wide(words, TG_SCANNED),
            .far = words[TG_FAR * TG_SUM_LINE],
            .change = wide(words, TG_CHANGE),
            .idle = wide(words, TG_IDLE)};
  }

  // Waits for other ranks.
  template <class Wait>
  auto together(const Wait& wait) {
    if (clock_.trace.on()) {
      require(session_.finish(), "running the waves");
      clock_.trace.worked(0, part_.wave);
    }
    return clock_.together(wait);
  }

  Counted of_all(const Counted& own) {
    auto numbers = std::bit_cast<std::array<std::uint64_t, counted_numbers>>(own);
    together([&] { return ranks_.reduce(numbers, ranks::Reduction::sum); });
    return std::bit_cast<Counted>(numbers);
  }
  std::uint64_t of_all(std::uint64_t own, ranks::Reduction how) {
    return together([&] { return ranks_.reduce(own, how); });
  }

  bool out_of_time() { return engine::out_of_time(run_.outcome, deadline_); }

  // Gives each rank what the others have for it.
  template <class T>
  std::vector<std::vector<T>> exchange(std::vector<std::vector<T>> sent) {
    return together([&] { return ranks_.exchange(std::move(sent)); });
  }

  // Gives every rank the own parts of an array in device memory, whose element v / `per_element` is that of vertex v.
  void share(std::uint32_t from, std::uint32_t to, std::uint64_t offset, std::uint64_t per_element) {
    const auto byte_of = [&](std::uint64_t vertex) {
      return (vertex + per_element - 1) / per_element * word_bytes;
    };
    std::vector<std::byte> own(byte_of(part_.end) - byte_of(part_.first));
    engine::download(session_, memory_[from], offset + byte_of(part_.first), own);
    const auto parts = exchange(std::vector(own_.cut.size() - 1, own));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      engine::upload(session_, memory_[to], offset + byte_of(own_.cut[rank]), parts[rank]);
    }
  }

  // Makes the next frontier the frontier.
  void advance() {
    std::swap(memory_[At::frontier], memory_[At::next]);
    for (const std::uint32_t bitmap : {At::frontier, At::next}) {
      require(session_.set_object(kernel_.kernel, bitmap, memory_[bitmap]),
              "setting an argument of the traversal");
    }
  }

  // Pushes the next frontier, whose vertices are counted.
  void push() {
    const std::uint32_t entry = rank_message_words(shape_);
    advance();
    clear_counters();
    launch(TG_PART_PUSH);
    std::vector<std::uint32_t> listed(std::uint64_t{read_counters()[TG_TAIL]} * entry);
    launch(TG_PART_FILL);
    engine::download(session_, memory_[At::counters], TG_SUMS * word_bytes,
                     std::as_writable_bytes(std::span(listed)));
    std::vector<std::vector<std::uint32_t>> sent(own_.cut.size() - 1);
    for (std::size_t i = 0; i < listed.size(); i += entry) {
      const auto owner = std::ranges::upper_bound(own_.cut, listed[i]) - own_.cut.begin() - 1;
      auto& words = sent[static_cast<std::size_t>(owner)];
      words.insert(words.end(), listed.begin() + static_cast<std::ptrdiff_t>(i),
                   listed.begin() + static_cast<std::ptrdiff_t>(i + entry));
    }
    const auto received = exchange(std::move(sent));
    const std::size_t most = std::size_t{rank_heard_vertices} * entry;
    for (const std::vector<std::uint32_t>& words : received) {
      for (std::size_t at = 0; at < words.size(); at += most) {
        const auto some = std::span(words).subspan(at, std::min(most, words.size() - at));
        engine::upload(session_, memory_[At::heard], 0, std::as_bytes(some));
        part_.count = static_cast<std::uint32_t>(some.size() / entry);
        launch(TG_PART_ADOPT);
      }
    }
  }

  // Returns the edges that all ranks have scanned.
  std::uint64_t pull() {
    advance();
    share(At::frontier, At::all, 0, word_vertices);
    clear_counters();
    launch(TG_PART_PULL);
    return of_all(counted(read_counters()).scanned, ranks::Reduction::sum);
  }

  // Counts the next frontier of all ranks. Distances of sssp that are far are near after some waves.
  Counted count() {
    while (true) {
      clear_counters();
      launch(TG_PART_COUNT);
      const Counters words = read_counters();
      const Counted all = of_all(counted(words));
      if (all.vertices != 0 || all.far == 0) {
        return all;
      }
      const std::uint64_t nearest = of_all(~words[TG_NEAREST * TG_SUM_LINE], ranks::Reduction::min);
      part_.near = near_after(static_cast<std::uint32_t>(nearest));
    }
  }

  // As tg_next_near of kernels/frontier/topologies.cl.
  [[nodiscard]] std::uint32_t near_after(std::uint32_t nearest) const {
    const std::uint32_t moved =
        floats_ ? std::bit_cast<std::uint32_t>(std::bit_cast<float>(nearest) +
                                               std::bit_cast<float>(setting_.delta))
                : nearest + std::min(setting_.delta, std::numeric_limits<std::uint32_t>::max() - nearest);
    return std::max(moved, nearest + 1);
  }

  // The record of the next wave, whose topology every rank chooses alike.
  WaveRecord chosen(std::uint64_t vertices, std::uint64_t edges) {
    const auto& waves = run_.outcome.waves;
    WaveRecord numbers{.wave = part_.wave,
                       .vertices = static_cast<std::uint32_t>(vertices),
                       .frontier_edges = edges,
                       .unexplored_edges = shape_.edges,
                       .time_ns = {}};
    if (waves.sums.waves != 0) {
      const WaveRecord& before = waves.last;
      const bool dense = before.topology == policy::Topology::dense_frontier;
      numbers.previous_topology = before.topology;
      numbers.previous_edges = before.frontier_edges;
      numbers.unexplored_edges =
          shape_.algorithm == Algorithm::pagerank
              ? before.unexplored_edges
              : before.unexplored_edges - std::min(before.frontier_edges, before.unexplored_edges);
      numbers.dense_waves = dense ? before.dense_waves + 1 : 0;
    }
    numbers.trend = edges > numbers.previous_edges   ? Trend::growing
                    : edges < numbers.previous_edges ? Trend::shrinking
                                                     : Trend::steady;
    return choose(policy_, numbers);
  }

  void log(const WaveRecord& wave) {
    monitor_.items += wave.vertices;
    run_.outcome.waves.add(wave);
    clock_.trace.name(static_cast<std::uint32_t>(wave.topology), wave.wave);
    monitor_.iterations = ++part_.wave;
  }

  void run_waves() {
    launch(TG_PART_BEGIN);
    launch(TG_PART_SEED);
    Counted next = count();
    while (next.vertices != 0 && !out_of_time()) {
      WaveRecord wave = chosen(next.vertices, next.edges);
      wave.scanned_edges = wave.frontier_edges;
      if (wave.topology == policy::Topology::dense_frontier) {
        wave.scanned_edges = pull();
      } else {
        push();
      }
      log(wave);
      next = count();
    }
    run_.outcome.vertices_left = next.vertices;
    if (shape_.parents && run_.outcome.status == RunStatus::done) {
      share(At::values, At::values, 0, 1);
      launch(TG_PART_FINISH);
    }
  }

  void run_iterations() {
    clear_counters();
    launch(TG_PART_BEGIN);
    Counted of = of_all(counted(read_counters()));
    while (!out_of_time()) {
      WaveRecord wave = chosen(shape_.vertices, shape_.edges);
      share(At::others, At::others, (part_.wave & 1U) * word_bytes * std::uint64_t{shape_.vertices}, 1);
      part_.idle = of.idle;
      clear_counters();
      launch(TG_PART_RANK);
      if (by_shares_) {
        launch(TG_PART_APPLY);
      }
      of = of_all(counted(read_counters()));
      wave.scanned_edges = of.scanned;
      log(wave);
      run_.outcome.rank_change = static_cast<double>(of.change) / rank_units;
      if (of.change < setting_.rank_tolerance || part_.wave >= setting_.most_waves) {
        return;
      }
    }
    run_.outcome.vertices_left = shape_.vertices;
  }

  // Each rank joins the ends of its edges. Then forests are merged along a binomial tree: in round k the ranks whose
  // lowest set bit is k hand theirs to the rank without that bit.
  void run_components() {
    WaveRecord wave = chosen(shape_.vertices, shape_.edges);
    launch(TG_PART_BEGIN);
    launch(TG_PART_PUSH);
    launch(TG_PART_FINISH);
    const int rank = ranks_.rank();
    std::vector<std::byte> forest(value_bytes(shape_));
    const auto wait = [this] { return together([this] { return ranks_.wait(); }); };
    for (int bit = 1; bit < ranks_.size() && !out_of_time(); bit *= 2) {
      if ((rank & bit) != 0) {
        engine::download(session_, memory_[At::values], 0, forest);
        ranks_.send(rank - bit, forest);
        wait();
        break;
      }
      if (rank + bit < ranks_.size()) {
        ranks_.receive(rank + bit, forest);
        wait();
        engine::upload(session_, memory_[At::heard], 0, forest);
        launch(TG_PART_ADOPT);
        launch(TG_PART_FINISH);
      }
    }
    wave.scanned_edges = wave.frontier_edges;
    log(wave);
  }

  // Gives rank 0 the own parts of an array with `bytes` for each vertex, or reads the own part alone.
  void gather(std::uint32_t from, std::uint64_t bytes, std::vector<std::uint32_t>& gathered) {
    const bool whole = shape_.algorithm == Algorithm::cc && !in_parts_; // rank 0 has all
    gathered.resize(bytes * (whole ? shape_.vertices : part_.end - part_.first) / word_bytes);
    engine::download(session_, memory_[from], whole ? 0 : bytes * part_.first,
                     std::as_writable_bytes(std::span(gathered)));
    if (in_parts_ || whole) {
      return;
    }
    std::vector<std::vector<std::uint32_t>> sent(own_.cut.size() - 1);
    sent.front() = std::move(gathered);
    const auto parts = exchange(std::move(sent));
    gathered.clear();
    for (const std::vector<std::uint32_t>& part : parts) {
      gathered.insert(gathered.end(), part.begin(), part.end());
    }
    gathered.resize(bytes * shape_.vertices / word_bytes); // room for what rank 0 sends
  }

  const device::Session& session_;
  const engine::BuiltKernel& kernel_;
  const graphs::FrontierProgram& program_;
  const TraversalShape& shape_;
  const RankPart& own_;
  const ChoicePolicy& policy_;
  ranks::Ranks& ranks_;
  const device::LaunchRange groups_;
  const engine::RunOptions& options_;
  const bool in_parts_;
  engine::Monitor& monitor_;
  const std::uint64_t words_; // of a bitmap
  const bool floats_ = graphs::weight_type(*own_.out) == graphs::WeightType::f32;
  const bool by_shares_ = // as TG_RANKS_BY_SHARES
      shape_.algorithm == Algorithm::pagerank && !shape_.short_rows && groups_.local[0] > 1;
  tg_setting setting_{};
  tg_part part_{};
  std::array<device::Buffer, At::setting> memory_;
  RankTraversalRun run_;
  engine::RankClock clock_{ranks_, monitor_};
  Clock::time_point deadline_;
};

} // namespace

// A vertex that several share goes to the first rank, as to the first vertex.
Result<Answer> answer_of_parts(const Answer& own, ranks::Ranks& ranks) {
  struct Numbers {
    std::uint64_t reached, has_farthest, farthest, tops;
    double distance;
    std::array<TopRank, most_top_ranks> top;
  };
  Numbers here{.reached = own.reached.value_or(0),
               .has_farthest = own.farthest ? 1U : 0U,
               .farthest = own.farthest.value_or(0),
               .tops = own.top ? own.top->size() : 0,
               .distance = own.distance.value_or(0),
               .top = {}};
  if (own.top) {
    std::ranges::copy(*own.top, here.top.begin());
  }
  TIDEGATE_TRY(const auto all, ranks.gather(std::as_bytes(std::span(&here, 1))));
  Answer answer = own;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    Numbers of;
    std::memcpy(&of, all[rank].data(), sizeof of);
    if (answer.reached) {
      *answer.reached += of.reached;
    }
    if (of.has_farthest != 0 && (!answer.farthest || of.distance > *answer.distance)) {
      answer.farthest = of.farthest;
      answer.distance = of.distance;
    }
    if (answer.top) {
      answer.top->insert(answer.top->end(), of.top.begin(),
                         of.top.begin() + static_cast<std::ptrdiff_t>(of.tops));
    }
  }
  if (answer.top) {
    std::ranges::stable_sort(*answer.top, std::ranges::greater(), &TopRank::rank);
    answer.top->resize(std::min(answer.top->size(), most_top_ranks));
  }
  return answer;
}

engine::KernelSource rank_kernel(const TraversalShape& shape, const RankPart& part, bool float_weights,
                                 const FrontierGeometry& geometry, const std::string& opencl_version,
                                 const OwnCode* own) {
  TraversalShape of_part = shape;
  of_part.edges = std::max(part.shape().edges, part.shape().in_edges);
  engine::KernelSource source =
      frontier_kernel(of_part, float_weights, geometry, {.opencl_version = opencl_version}, own);
  source.source = (own == nullptr ? "" : own->text) + device::kernel_source("frontier/ranks.cl");
  source.kernel = "tidegate_ranks";
  return source;
}

ChoicePolicy rank_policy(ChoicePolicy policy, Algorithm algorithm) {
  policy.monotone = policy.lightest_first = policy.pushes_bitmaps = policy.pulls_in_place = false;
  policy.pressure_bps = 0;
  policy.alone_vertices = 0;
  if (algorithm == Algorithm::cc) {
    policy.forced = policy::Topology::memory_constrained;
  } else if (algorithm == Algorithm::pagerank) {
    policy.forced = policy::Topology::dense_frontier;
  } else if (algorithm != Algorithm::bfs) {
    policy.forced = policy::Topology::sparse_frontier;
  }
  return policy;
}

RankTraversalRun run_on_ranks(const device::Session& session, const TraversalPlan& plan,
                              const RankSetting& setting, const engine::RunOptions& options,
                              engine::Monitor& monitor) {
  return RankTraversal(session, plan, setting, options, monitor).run();
}

} // namespace tidegate::traversal
