// Checks plans and arena plans. Shares no code with the planners, so that a mistake in one is detected by the
// other.
#include "core/prelude.hpp"
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using Violation = std::optional<std::string>;

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

// Checks that the offsets divide the order completely into non-empty groups.
Violation check_shape(const MemoryPlan& plan) {
  const std::vector<std::uint32_t>& begin = plan.group_begin;
  if (begin.empty() || begin.front() != 0 || begin.back() != plan.order.size() ||
      !std::ranges::is_sorted(begin)) {
    return "group_begin does not divide the order of the waves into groups";
  }
  if (const auto empty = std::ranges::adjacent_find(begin); empty != begin.end()) {
    return fmt::format("group {} is empty", empty - begin.begin());
  }
  if (plan.group_fused_bytes.size() != begin.size() - 1) {
    return fmt::format("there are {} groups and {} figures of fused bytes", begin.size() - 1,
                       plan.group_fused_bytes.size());
  }
  return {};
}

// Checks that every wave of the DAG is in exactly one group, and stores that group.
Violation check_partition(const WaveDag& dag, const MemoryPlan& plan, std::vector<std::uint32_t>& group_of) {
  group_of.assign(dag.waves.size(), nowhere);
  for (std::size_t group = 0; group + 1 < plan.group_begin.size(); ++group) {
    for (const std::uint32_t wave : plan.group(group)) {
      if (wave >= dag.waves.size()) {
        return fmt::format("group {} holds wave {}, and the DAG has {} waves", group, wave, dag.waves.size());
      }
      if (group_of[wave] != nowhere) {
        return fmt::format("wave {} is in group {} and again in group {}", wave, group_of[wave], group);
      }
      group_of[wave] = static_cast<std::uint32_t>(group);
    }
  }
  for (std::size_t wave = 0; wave < group_of.size(); ++wave) {
    if (group_of[wave] == nowhere) {
      return fmt::format("wave {} is in no group", wave);
    }
  }
  return {};
}

Violation check_dependencies_cross_forward(const WaveDag& dag, const std::vector<std::uint32_t>& group_of) {
  for (std::size_t i = 0; i < dag.dependencies.size(); ++i) {
    const std::uint32_t before = dag.dependencies[i].before;
    const std::uint32_t after = dag.dependencies[i].after;
    if (before >= group_of.size() || after >= group_of.size()) {
      return fmt::format("dependency {} joins waves {} and {}, and the DAG has {} waves", i, before, after,
                         group_of.size());
    }
    if (group_of[before] >= group_of[after]) {
      return fmt::format("dependency {}: wave {} must run before wave {}, and they are in groups {} and {}",
                         i, before, after, group_of[before], group_of[after]);
    }
  }
  return {};
}

// Maxima over all groups.
struct Peaks {
  std::uint64_t frontier = 0, scratch = 0, output = 0, width = 0;
};

Violation check_groups(const WaveDag& dag, const MemoryPlan& plan, Peaks& peaks) {
  if (dag.resident_graph_bytes > dag.budget_bytes) {
    return fmt::format("the resident graph needs {} bytes and the budget is {} bytes",
                       dag.resident_graph_bytes, dag.budget_bytes);
  }
  const std::uint64_t allowed = dag.budget_bytes - dag.resident_graph_bytes;
  for (std::size_t group = 0; group + 1 < plan.group_begin.size(); ++group) {
    WideBytes frontier = 0, scratch = 0, output = 0;
    for (const std::uint32_t index : plan.group(group)) {
      frontier += dag.waves[index].frontier_bytes;
      scratch += dag.waves[index].scratch_bytes;
      output += dag.waves[index].output_bytes;
    }
    const WideBytes fused = frontier + 4 * scratch + output;
    const auto low = static_cast<std::uint64_t>(fused);
    if (fused > allowed) {
      return fmt::format("group {} needs {} fused bytes and the budget leaves {}", group,
                         fused > low ? "more than 2^64" : std::to_string(low), allowed);
    }
    if (plan.group_fused_bytes[group] != low) {
      return fmt::format("fused_bytes of group {} are stated as {}, but the waves need {}", group,
                         plan.group_fused_bytes[group], low);
    }
    // Each of these is at most the fused bytes, which fit.
    peaks.frontier = std::max(peaks.frontier, static_cast<std::uint64_t>(frontier));
    peaks.scratch = std::max(peaks.scratch, static_cast<std::uint64_t>(scratch));
    peaks.output = std::max(peaks.output, static_cast<std::uint64_t>(output));
    peaks.width = std::max<std::uint64_t>(peaks.width, plan.group(group).size());
  }
  return {};
}

Violation check_figures(const WaveDag& dag, const MemoryPlan& plan, const Peaks& peaks) {
  const std::uint64_t readback = peaks.output > dag.readback_bytes ? peaks.output : dag.readback_bytes;
  const struct {
    std::string_view name;
    std::uint64_t stated;
    std::uint64_t found;
  } figures[] = {{"peak_frontier_bytes", plan.peak_frontier_bytes, peaks.frontier},
                 {"peak_scratch_bytes", plan.peak_scratch_bytes, peaks.scratch},
                 {"peak_output_bytes", plan.peak_output_bytes, peaks.output},
                 {"amortized_readback_bytes", plan.amortized_readback_bytes, readback},
                 {"max_group_width", plan.max_group_width, peaks.width}};
  for (const auto& figure : figures) {
    if (figure.stated != figure.found) {
      return fmt::format("{} is {}, but the groups have {}", figure.name, figure.stated, figure.found);
    }
  }
  return {};
}

// Returns the number of waves on a longest chain. The groups, checked before, yield an order in which every
// wave comes after its dependencies; dependencies are sorted by the position of their later end.
std::uint64_t critical_path(const WaveDag& dag, const MemoryPlan& plan) {
  std::vector<std::size_t> begin(dag.waves.size() + 1, 0);
  for (const Dependency& dependency : dag.dependencies) {
    ++begin[dependency.after];
  }
  for (std::size_t wave = 0; wave < dag.waves.size(); ++wave) {
    begin[wave + 1] += begin[wave];
  }
  std::vector<std::uint32_t> predecessors(dag.dependencies.size());
  for (const Dependency& dependency : dag.dependencies) {
    predecessors[--begin[dependency.after]] = dependency.before;
  }
  std::vector<std::uint32_t> chain(dag.waves.size(), 1);
  std::uint64_t longest = 0;
  for (const std::uint32_t wave : plan.order) {
    for (std::size_t i = begin[wave]; i < begin[wave + 1]; ++i) {
      const std::uint32_t through = chain[predecessors[i]] + 1;
      chain[wave] = through > chain[wave] ? through : chain[wave];
    }
    longest = chain[wave] > longest ? chain[wave] : longest;
  }
  return longest;
}

// Checks that the bound is at least two plain bounds (a chain needs a group per wave, and the groups must
// hold all bytes) and at most the number of groups, and that `optimal` is set exactly if the bound equals
// that number.
Violation check_bound(const WaveDag& dag, const MemoryPlan& plan) {
  const std::uint64_t groups = plan.group_begin.size() - 1;
  const std::uint64_t bound = plan.lower_bound_groups;
  if (bound > groups) {
    return fmt::format("lower_bound_groups is {} and the plan has only {} groups", bound, groups);
  }
  const std::uint64_t chain = critical_path(dag, plan);
  if (bound < chain) {
    return fmt::format("lower_bound_groups is {} and the longest chain has {} waves", bound, chain);
  }
  const std::uint64_t allowed = dag.budget_bytes - dag.resident_graph_bytes;
  const WideBytes bytes =
      std::accumulate(plan.group_fused_bytes.begin(), plan.group_fused_bytes.end(), WideBytes{0});
  const auto needed = static_cast<std::uint64_t>(bytes == 0 ? 0 : (bytes + allowed - 1) / allowed);
  if (bound < needed) {
    return fmt::format("lower_bound_groups is {} and the waves' bytes alone fill {} groups", bound, needed);
  }
  if (plan.optimal != (bound == groups)) {
    return fmt::format("optimal is {}, with {} groups and lower_bound_groups {}", plan.optimal, groups,
                       bound);
  }
  return {};
}

} // namespace

std::optional<std::string> first_violation(const WaveDag& dag, const MemoryPlan& plan) {
  std::vector<std::uint32_t> group_of;
  Peaks peaks;
  Violation found;
  const auto holds = [&found](Violation violation) { return !(found = std::move(violation)); };
  (void)(holds(check_shape(plan)) && holds(check_partition(dag, plan, group_of)) &&
         holds(check_dependencies_cross_forward(dag, group_of)) && holds(check_groups(dag, plan, peaks)) &&
         holds(check_figures(dag, plan, peaks)) && holds(check_bound(dag, plan)));
  return found;
}

namespace {

Violation check_each_buffer(const ArenaProblem& problem, const ArenaPlan& plan) {
  if (plan.offsets.size() != problem.buffers.size()) {
    return fmt::format("the plan has {} offsets and the problem {} buffers", plan.offsets.size(),
                       problem.buffers.size());
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const ArenaBuffer& buffer = problem.buffers[i];
    if (buffer.lower >= buffer.upper) {
      return fmt::format("buffer {} is never alive: its lifetime is [{}, {})", i, buffer.lower, buffer.upper);
    }
    if (buffer.alignment == 0 || (buffer.alignment & (buffer.alignment - 1)) != 0) {
      return fmt::format("the alignment {} of buffer {} is not a power of two", buffer.alignment, i);
    }
    if (plan.offsets[i] % buffer.alignment != 0) {
      return fmt::format("buffer {} is at offset {}, which is not a multiple of its alignment {}", i,
                         plan.offsets[i], buffer.alignment);
    }
    if (plan.offsets[i] > std::numeric_limits<std::uint64_t>::max() - buffer.size) {
      return fmt::format("buffer {} at offset {} with {} bytes ends above 64 bits", i, plan.offsets[i],
                         buffer.size);
    }
  }
  return std::nullopt;
}

// A start or an end of a buffer with bytes. Ends come first at a moment: lifetimes are half-open.
struct Moment {
  std::uint64_t time;
  bool starts;
  std::size_t buffer;
};

std::vector<Moment> moments_in_order(const std::vector<ArenaBuffer>& buffers) {
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size > 0) {
      moments.push_back({buffers[i].lower, true, i});
      moments.push_back({buffers[i].upper, false, i});
    }
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.starts, a.buffer) < std::tie(b.time, b.starts, b.buffer);
  });
  return moments;
}

// Offsets of buffers alive together never overlap, so a new buffer can only collide with its nearest
// neighbours.
Violation check_overlaps(const ArenaProblem& problem, const ArenaPlan& plan) {
  std::map<std::uint64_t, std::size_t> alive;
  for (const Moment& moment : moments_in_order(problem.buffers)) {
    const std::uint64_t offset = plan.offsets[moment.buffer];
    if (!moment.starts) {
      alive.erase(offset);
      continue;
    }
    const auto above = alive.lower_bound(offset);
    std::optional<std::size_t> other;
    if (above != alive.end() && above->first - offset < problem.buffers[moment.buffer].size) {
      other = above->second;
    } else if (above != alive.begin()) {
      const auto below = std::prev(above);
      if (offset - below->first < problem.buffers[below->second].size) {
        other = below->second;
      }
    }
    if (other) {
      const auto [first, second] = std::minmax(*other, moment.buffer);
      return fmt::format("buffers {} and {} are alive together at {} and share bytes: [{}, {}) and [{}, {})",
                         first, second, moment.time, plan.offsets[first],
                         plan.offsets[first] + problem.buffers[first].size, plan.offsets[second],
                         plan.offsets[second] + problem.buffers[second].size);
    }
    alive.emplace(offset, moment.buffer);
  }
  return std::nullopt;
}

Violation check_height(const ArenaProblem& problem, const ArenaPlan& plan) {
  std::uint64_t height = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size > 0) {
      height = std::max(height, plan.offsets[i] + problem.buffers[i].size);
    }
  }
  if (plan.height_bytes != height) {
    return fmt::format("the stated height is {} bytes, but the topmost buffer ends at {}", plan.height_bytes,
                       height);
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (plan.offsets[i] > height) {
      return fmt::format("buffer {} of 0 bytes is at offset {}, above the height of {} bytes", i,
                         plan.offsets[i], height);
    }
  }
  if (problem.capacity_bytes && height > *problem.capacity_bytes) {
    return fmt::format("the height of {} bytes is above the capacity of {} bytes", height,
                       *problem.capacity_bytes);
  }
  return std::nullopt;
}

Violation check_lower_bound(const ArenaProblem& problem, const ArenaPlan& plan) {
  std::uint64_t alignment = 0; // the least of a buffer that takes bytes
  for (const ArenaBuffer& buffer : problem.buffers) {
    if (buffer.size > 0 && (alignment == 0 || buffer.alignment < alignment)) {
      alignment = buffer.alignment;
    }
  }
  // Buffers alive together share no byte and end below 2^64, so these sums fit, the rounded ones in 65 bits.
  std::uint64_t most_rounding = 0;
  WideBytes alive = 0;
  WideBytes rounded = 0;
  WideBytes most_alive = 0;
  WideBytes most_rounded = 0;
  for (const Moment& moment : moments_in_order(problem.buffers)) {
    const std::uint64_t size = problem.buffers[moment.buffer].size;
    const WideBytes up = size == 0 ? 0 : (WideBytes{size} + alignment - 1) / alignment * alignment;
    most_rounding = std::max(most_rounding, static_cast<std::uint64_t>(up - size));
    alive = moment.starts ? alive + size : alive - size;
    rounded = moment.starts ? rounded + up : rounded - up;
    most_alive = std::max(most_alive, alive);
    most_rounded = std::max(most_rounded, rounded);
  }
  const WideBytes all_but_one = most_rounded > most_rounding ? most_rounded - most_rounding : WideBytes{0};
  const auto largest = static_cast<std::uint64_t>(std::max(most_alive, all_but_one));
  if (plan.lower_bound_bytes != largest) {
    return fmt::format("the stated lower bound is {} bytes, but at most {} bytes are alive at one moment{}",
                       plan.lower_bound_bytes, largest,
                       largest > most_alive ? ", rounded up to their alignment" : "");
  }
  return std::nullopt;
}

// The proof follows from the height and `optimal`; without a capacity, the search for a lower plan ends with a proof or gives up.
Violation check_optimality(const ArenaProblem& problem, const ArenaPlan& plan) {
  const bool meets_bound = plan.height_bytes == plan.lower_bound_bytes;
  const ArenaProof expected = meets_bound    ? ArenaProof::meets_bound
                              : plan.optimal ? ArenaProof::exhausted_search
                                             : ArenaProof::none;
  const bool agree = plan.optimal ? !plan.gave_up && (meets_bound || plan.search_nodes != 0)
                                  : !meets_bound && (problem.capacity_bytes || plan.gave_up);
  return plan.proof == expected && agree
             ? Violation()
             : fmt::format(
                   "optimal {}, proof {}, gave_up {} and search_nodes {} contradict each other, or the "
                   "height of {} bytes and the lower bound of {}",
                   plan.optimal, name(plan.proof), plan.gave_up, plan.search_nodes, plan.height_bytes,
                   plan.lower_bound_bytes);
}

} // namespace

std::optional<std::string> check_arena(const ArenaProblem& problem, const ArenaPlan& plan) {
  for (const auto check :
       {check_each_buffer, check_overlaps, check_height, check_lower_bound, check_optimality}) {
    if (auto violation = check(problem, plan)) {
      return violation;
    }
  }
  return std::nullopt;
}

} // namespace tidegate::planning
