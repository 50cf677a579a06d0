#include "engine/traversal/checks.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "engine/traversal/execute.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/graph/serial.hpp>
#include <tidegate/graph/verify.hpp>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using Clock = std::chrono::steady_clock;
using Found = std::optional<Error>;

// `values` are distances as numbers or as bits of floats.
template <class Distance, class Sum>
Result<void> check_fit(const graphs::Rows& rows, const std::vector<Distance>& weights,
                       const std::vector<std::uint32_t>& values, Distance far,
                       const graphs::VertexNumbers& numbers) {
  const auto distance = [&values](std::size_t v) { return std::bit_cast<Distance>(values[v]); };
  Sum longest = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    longest = distance(v) == far ? longest : std::max(longest, Sum{distance(v)});
  }
  const Sum heaviest = weights.empty() ? Sum{0} : Sum{*std::ranges::max_element(weights)};
  if (longest + heaviest < Sum{far}) {
    return {}; // the usual case: no edge can overflow
  }
  for (graphs::Vertex v = 0; v < rows.vertices(); ++v) {
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
      const graphs::Vertex w = rows.neighbours[e];
      const Sum through = Sum{distance(v)} + weights[e];
      if (distance(v) != far && distance(w) == far && !(through < Sum{far})) {
        return tl::unexpected(Error{
            .code = ErrorCode::overflow,
            .message = fmt::format("the distance of vertex {} does not fit 32 bits: over vertex {} at {} "
                                   "and an edge of {} it is {}",
                                   numbers.of(w), numbers.of(v), distance(v), weights[e], through),
            .fix = std::is_same_v<Distance, float>
                       ? "scale the weights down"
                       : "scale the weights down, give the graph \"weights\": \"f32\", or take a device with "
                         "atomic functions of 64 bits",
            .pointer = "/graph"});
      }
    }
  }
  return {};
}

// Returns the bytes that the host can still give out; 0 if it does not report them.
std::uint64_t available_memory() {
  constexpr std::size_t most = 4096;
  constexpr std::string_view name = "MemAvailable:";
  const std::string text = read_all("/proc/meminfo", most).value_or("");
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10) << 10U;
}

// Names what a result is compared with.
std::string_view reference_of(const graphs::FrontierProgram& program) {
  return program.own ? "plain rounds over all edges" : "the serial algorithm";
}

} // namespace

Result<void> check_distances_fit(const graphs::Graph& graph, const TraversalResults& results,
                                 const graphs::VertexNumbers& numbers) {
  const graphs::Rows& rows = graph.out;
  if (const auto* const whole = std::get_if<std::vector<std::uint32_t>>(&rows.weights)) {
    return check_fit<std::uint32_t, std::uint64_t>(rows, *whole, results.values, graphs::unreached, numbers);
  }
  if (const auto* const floats = std::get_if<std::vector<float>>(&rows.weights)) {
    return check_fit<float, float>(rows, *floats, results.values, std::numeric_limits<float>::infinity(),
                                   numbers);
  }
  return {}; // without weights, paths have fewer edges than 2^32 - 1
}

std::vector<std::uint64_t> wide_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint64_t> values(words.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32U;
  }
  return values;
}

std::vector<float> floats_of(const std::vector<std::uint32_t>& bits) {
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return values;
}

VerificationCost verification_cost(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  const std::uint64_t edges = graphs::edge_count(graph), vertices = graphs::vertex_count(graph);
  constexpr std::uint64_t of_vertex = 32; // bytes: values, a copy, parents, a queue
  constexpr std::uint64_t of_visit = 24;  // bytes in a growing vector: each edge may shorten a path
  const bool is_sssp = program.algorithm == Algorithm::sssp;
  std::uint64_t ns = is_sssp ? 150 : 60; // an edge or a vertex
  if (program.algorithm == Algorithm::reach) {
    ns = 30 + 10 * program.sources.size();
  } else if (program.algorithm ==
             Algorithm::pagerank) { // each iteration multiplies the change, 2 at first, by the damping
    const graphs::PageRankOptions options = graphs::page_rank_options(program);
    const double iterations =
        std::ceil(std::log(std::min(options.tolerance / 2, 1.0)) / std::log(options.damping));
    ns = 30 + 4 * static_cast<std::uint64_t>(
                      std::clamp<double>(iterations, 0, graphs::PageRankOptions().max_iterations));
  }
  return {.ns = ns * (edges + vertices), .bytes = of_vertex * vertices + (is_sssp ? of_visit * edges : 0)};
}

Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results) {
  const auto& values = results.values;
  const auto& parents = results.parents;
  Verification result;
  const auto check = [&result](std::string name, auto&& look) {
    if (result.error) {
      return;
    }
    result.checks.push_back(std::move(name));
    result.error = look();
  };
  const std::vector<graphs::Vertex> sources = graphs::source_vertices(program);
  switch (program.algorithm) {
  case Algorithm::bfs:
    check("levels_by_serial", [&] {
      return graphs::first_difference("levels", graphs::breadth_first(graph, sources).levels, values);
    });
    if (!parents.empty()) {
      check("parents_by_property", [&] { return graphs::check_parents(graph, sources, values, parents); });
    }
    break;
  case Algorithm::reach:
    check("reached_by_serial",
          [&] { return graphs::first_difference("reached", graphs::reached_from(graph, sources), values); });
    break;
  case Algorithm::sssp:
    check("distances_by_serial", [&]() -> Found {
      if (graphs::weight_type(graph.out) == graphs::WeightType::f32) {
        const std::vector<float> distances = floats_of(values);
        return graphs::first_difference("distances", graphs::shortest_distances_f32(graph, sources),
                                        distances);
      }
      return graphs::first_difference("distances", graphs::shortest_distances_u32(graph, sources),
                                      results.wide ? wide_of(values) : graphs::widened(values));
    });
    break;
  case Algorithm::cc:
    check("components_by_serial",
          [&] { return graphs::first_difference("components", graphs::components(graph), values); });
    break;
  case Algorithm::pagerank: {
    const std::vector<float> ranks = floats_of(values);
    graphs::PageRankOptions options = graphs::page_rank_options(program);
    options.tolerance = std::max(options.tolerance, results.rank_change);
    result.allowed_change = graphs::allowed_rank_change(graph, ranks, options);
    check("ranks_by_property", [&] { return graphs::check_ranks(graph, ranks, options); });
    check("ranks_by_serial", [&] {
      options.max_iterations = graphs::PageRankOptions().max_iterations;
      const graphs::PageRanks serial = graphs::page_ranks(graph, options);
      return graphs::check_rank_distance(serial.ranks, ranks, *result.allowed_change + serial.change,
                                         options.damping);
    });
    break;
  }
  case Algorithm::own: break; // checked on the device (own.hpp)
  }
  result.right = !result.error;
  return result;
}

Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results) {
  const std::vector<std::uint32_t>& values = results.values;
  Found found;
  if (program.algorithm == Algorithm::pagerank) {
    const std::vector<float> ranks = floats_of(right.values);
    graphs::PageRankOptions options = graphs::page_rank_options(program);
    options.tolerance = std::max({options.tolerance, right.rank_change, results.rank_change});
    found =
        graphs::check_rank_distance(std::vector<double>(ranks.begin(), ranks.end()), floats_of(values),
                                    2 * graphs::allowed_rank_change(graph, ranks, options), options.damping);
  } else if (program.algorithm == Algorithm::sssp &&
             graphs::weight_type(graph.out) == graphs::WeightType::f32) {
    found = graphs::first_difference("distances", floats_of(right.values), floats_of(values));
  } else {
    constexpr std::array<std::string_view, 4> names{"levels", "reached", "distances", "components"};
    found = graphs::first_difference(
        program.own ? "values" : names.at(static_cast<std::size_t>(program.algorithm)), right.values, values);
  }
  if (!found && !results.parents.empty()) { // any correct parents are accepted
    found = graphs::check_parents(graph, graphs::source_vertices(program), values, results.parents);
  }
  return found ? tl::unexpected(std::move(*found)) : Result<void>();
}

engine::FirstRun plan_first_check(const TraversalPlan& plan, const engine::RunOptions& options,
                                  std::uint64_t waves) {
  const graphs::FrontierProgram& program = plan.asked.program;
  const graphs::Graph& graph = plan.graph();
  engine::FirstRun first{.budget_ns = options.first_check_ns()};
  const std::string_view reference = reference_of(program);
  std::error_code unknown;
  if (!options.verify_first) {
    first.reason = "not checked: --set verify-first=no";
  } else if (!options.traversal.checked.empty() &&
             std::filesystem::exists(options.traversal.checked, unknown)) {
    first.compared = first.equal = first.kept = true;
    first.reason = "checked on an earlier run here, right by " + std::string(reference);
  } else if (plan.asked.kept->checked) {
    first.compared = first.equal = first.kept = true;
    first.reason = "checked with this graph for an earlier request, right by " + std::string(reference);
  } else {
    VerificationCost cost = verification_cost(program, graph);
    // A pass over all edges for each wave, on the device: taken as 8 times as fast as a serial one.
    cost.ns = program.own ? cost.ns / 8 * waves : cost.ns;
    const std::uint64_t memory = available_memory();
    first.compared = cost.ns <= first.budget_ns && cost.bytes <= memory;
    if (!first.compared) {
      const std::string edges = plural(graphs::edge_count(graph), "edge");
      first.reason =
          cost.ns > first.budget_ns
              ? fmt::format("not checked: by estimate the serial check of {} takes {}, and "
                            "measure-time is {}",
                            edges, seconds_text(cost.ns), seconds_text(first.budget_ns))
              : fmt::format("not checked: the serial check of {} may take {} of the host's memory, "
                            "and {} are available",
                            edges, bytes_text(cost.bytes), bytes_text(memory));
    }
  }
  return first;
}

void check_fix_point(TraversalRun& run, OwnChecks& own, const std::vector<std::uint32_t>& values) {
  const auto start = Clock::now();
  std::uint64_t reached = 0;
  Verification& verification = run.report.verification.emplace(Verification{
      .checks = {"laws", "fix_point"}, .error = own.check_fix_point(values, reached), .allowed_change = {}});
  verification.right = !verification.error;
  run.report.answer = Answer{.reached = reached};
  run.report.verify_ns = elapsed_ns(start);
}

Answer answer_of(const TraversalPlan& plan, const TraversalResults& results, std::uint32_t first) {
  const bool floats = graphs::weight_type(plan.graph().out) == graphs::WeightType::f32;
  return answer_of(plan.asked.program.algorithm, floats, results, plan.asked.numbers, first);
}

bool check_result(TraversalRun& run, const TraversalResults& results, std::optional<OwnChecks>& own) {
  const TraversalPlan& plan = run.plan;
  const engine::RunOptions& options = run.options;
  std::optional<Verification>& verification = run.report.verification;
  const auto judged = [&] {
    if (verification && verification->error) {
      run.report.status = engine::RunStatus::outputs_differ;
      run.report.error = verification->error;
    }
    return !verification || verification->right;
  };
  if (!own) {
    run.report.answer = answer_of(plan, results, 0);
  }
  if (!judged()) {
    return false;
  }
  engine::FirstRun& first = run.report.first_run.emplace(plan_first_check(plan, options, results.waves));
  if (!options.verify && (!first.compared || first.kept)) {
    return true;
  }
  run.monitor.begin(engine::Activity::verifying);
  const auto start = Clock::now();
  run.monitor.deadline = start + engine::build_limit; // the check may take long: the watchdog must not end it
  if (!own) {
    verification = verify(plan.asked.program, plan.graph(), results);
  } else {
    const std::uint64_t most_ns = options.verify ? options.max_wall_time_ns : first.budget_ns;
    auto wrong = own->check_by_plain_rounds(results.values, start + std::chrono::nanoseconds(most_ns));
    if (!options.verify && wrong && wrong->code == ErrorCode::wall_time_exceeded) {
      first.compared = false;
      first.reason = "not checked: plain rounds over all edges took longer than measure-time";
      return true;
    }
    if (wrong && wrong->code == ErrorCode::wall_time_exceeded) { // nothing is known to be wrong
      first.compared = false;
      first.reason = "not checked: plain rounds over all edges took longer than --max-wall-time";
      run.report.status = engine::RunStatus::deadline;
      run.report.error = std::move(wrong);
      return false;
    }
    verification->checks.emplace_back("plain_rounds");
    verification->error = std::move(wrong);
    verification->right = !verification->error;
  }
  if (verification->error && (plan.asked.numbers.first != 0 || !plan.asked.numbers.ids.empty())) {
    verification->error->message += " (vertices by position, from 0)";
  }
  first.compared = true;
  first.elapsed_ns = elapsed_ns(start);
  run.report.verify_ns += first.elapsed_ns;
  first.runs = 1;
  first.iterations = results.waves;
  first.equal = verification->right;
  plan.asked.kept->checked = first.equal;
  first.kept = first.equal && keep_file(options.traversal.checked, "right by the serial algorithm\n");
  first.reason = first.equal ? "right by " + std::string(reference_of(plan.asked.program))
                             : verification->error->message;
  if (!first.equal && !options.verify) {
    run.report.warnings.push_back(
        {.message = fmt::format("the result of this program's first run here is wrong after {}: {}",
                                plural(results.waves, "wave"), first.reason),
         .fix =
             "this is a bug in tidegate or in the device's compiler: please report it, with the program and this report",
         .pointer = "/algorithm"});
  }
  return judged();
}

} // namespace tidegate::traversal
