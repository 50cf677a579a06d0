// What the planners are asked and what they answer: waves with byte counts, dependencies between them, and
// the groups that run between two global barriers. Plain data.
//
// Lists of waves are flat: one array of waves and one of offsets, so that a plan of a million groups costs
// two allocations and not a million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

struct Wave {
  std::uint64_t frontier_bytes = 0;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t output_bytes = 0;

  friend bool operator==(const Wave&, const Wave&) = default;
};

// Wave `after` reads what wave `before` wrote: a global barrier must stand between them. Both are indices of
// waves; the planners check them.
struct Dependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct WaveDag {
  std::vector<Wave> waves; // fewer than 2^32
  std::vector<Dependency> dependencies;
  std::uint64_t resident_graph_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::uint64_t readback_bytes = 0;

  friend bool operator==(const WaveDag&, const WaveDag&) = default;
};

// The waves of a list of groups: group g holds order[group_begin[g]] to order[group_begin[g + 1] - 1].
struct WaveGroups {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> group_begin{0}; // one more than there are groups

  std::size_t group_count() const { return group_begin.size() - 1; }
  std::size_t global_barriers() const { return group_count() == 0 ? 0 : group_count() - 1; }
  std::span<const std::uint32_t> group(std::size_t index) const {
    return std::span(order).subspan(group_begin[index], group_begin[index + 1] - group_begin[index]);
  }

  friend bool operator==(const WaveGroups&, const WaveGroups&) = default;
};

// Groups that fit the budget, with the figures a launch needs. "Fused bytes" of a wave are
// frontier + 4 * scratch + output; a group's are the sum over its waves.
struct MemoryPlan : WaveGroups {
  std::vector<std::uint64_t> group_fused_bytes;
  std::uint64_t peak_frontier_bytes = 0; // largest sum over a group; likewise the next two
  std::uint64_t peak_scratch_bytes = 0;
  std::uint64_t peak_output_bytes = 0;
  std::uint64_t amortized_readback_bytes = 0;
  std::uint32_t max_group_width = 0;
  std::uint64_t lower_bound_groups = 0; // no plan of this DAG has fewer groups
  bool optimal = false;                 // proved: there are lower_bound_groups groups

  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

} // namespace tidegate::planning
