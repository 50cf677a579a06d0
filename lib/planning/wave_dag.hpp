// Wave DAGs and their plans: waves with byte counts, dependencies between them, and the groups that run
// between two global barriers. The strategy `layered` and the checker of plans are here too; compact.hpp has
// the strategy that looks for fewer groups.
//
// Lists of waves are flat: one array of waves and one of offsets, so that a plan of a million groups costs
// two allocations and not a million.
#pragma once
#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::planning {

struct Wave {
  std::uint64_t frontier_bytes = 0;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t output_bytes = 0;

  friend bool operator==(const Wave&, const Wave&) = default;
};

// Wave `after` reads the output of wave `before`: a global barrier must stand between them. Both are indices
// of waves; the planners check them.
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

// A planner checks in the order of these codes: the dependencies as they are listed, cycles, the budget of
// the graph, then wave by wave.
enum class PlanErrorCode : std::uint8_t {
  invalid_wave,        // wave_count, before, after
  self_dependency,     // wave
  cycle,               // unscheduled_waves, cycle, before, after
  group_over_budget,   // required_bytes, budget_bytes, field; wave when a single one is too large
  byte_count_overflow, // field, wave: the one whose bytes are too many
};
inline constexpr std::array<std::string_view, 5> plan_error_code_names{
    "invalid_wave", "self_dependency", "cycle", "group_over_budget", "byte_count_overflow"};

inline std::string_view name(PlanErrorCode code) {
  return plan_error_code_names[static_cast<std::size_t>(code)];
}

// The enumeration above lists the fields that each code carries; the others stay at their defaults.
struct PlanError {
  PlanErrorCode code = PlanErrorCode::invalid_wave;
  std::string_view field; // the sum that overflows or does not fit, in the words of the specification
  std::uint64_t wave = 0;
  std::uint64_t wave_count = 0;
  std::uint64_t before = 0; // the dependency at fault; for a cycle the one to remove, from cycle.back() to
  std::uint64_t after = 0;  // cycle.front(). Wider than a wave index: a document may name wave 2^64 - 1.
  std::uint64_t unscheduled_waves = 0; // waves on a cycle or after one
  std::uint64_t required_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::vector<std::uint32_t> cycle; // each wave is a dependency of the next, the last one of the first

  friend bool operator==(const PlanError&, const PlanError&) = default;
};

template <class T>
using PlanResult = tl::expected<T, PlanError>;

// The field of group_over_budget when one wave alone is too large.
inline constexpr std::string_view single_wave_bytes = "single fused frontier wave bytes";

// Names a wave in a sentence, by its index.
using WaveText = std::function<std::string(std::uint64_t)>;

// Describes an error in one sentence; a long cycle is cut in the middle. Without `wave_text` waves are called
// "wave 3".
std::string describe(const PlanError& error, const WaveText& wave_text = {});

// The barrier plan without bytes: one group per layer, each wave as early as its dependencies allow. The
// order within a layer is part of the result: the order in which waves become ready, those of the first layer
// by index. Takes time and, in addition to the result, memory (8 bytes per wave, 4 per dependency) linear in
// the input. Errors: invalid_wave, self_dependency, cycle.
PlanResult<WaveGroups> plan_barriers(std::uint32_t wave_count, std::span<const Dependency> dependencies);

// The strategy `layered`: the layers of plan_barriers; a wave that its group has no room for begins the next
// one. Takes linear time. Its lower bound is the best of those that cost next to nothing: the critical path,
// and for each layer the groups before it plus the groups that the waves from it on need, by their bytes or
// as waves over half the budget. Errors: those of plan_barriers, group_budget and fused_bytes;
// group_over_budget {single fused frontier wave bytes}; byte_count_overflow {barrier group fused wave budget
// bytes}.
PlanResult<MemoryPlan> plan_layered(const WaveDag& dag);

// Checks a plan of either strategy: recomputes every promise from its definition, in plain code that shares
// nothing with the planners. Returns the first violation as one sentence with indices, or nothing for a
// correct plan. The DAG may be one that no plan fits: then every plan violates something. Takes linear time.
std::optional<std::string> first_violation(const WaveDag& dag, const MemoryPlan& plan);

// The bytes that fused groups may use: the budget less the resident graph.
// Errors: group_over_budget {resident graph bytes}.
PlanResult<std::uint64_t> group_budget(const WaveDag& dag);

// frontier + 4 * scratch + output. Errors: byte_count_overflow {fused wave scratch bytes, fused wave bytes},
// without the wave, which only the caller knows.
PlanResult<std::uint64_t> fused_bytes(const Wave& wave);

// Fills in everything that follows from the groups and the DAG except the two fields about the lower bound.
// The groups must be a permutation of the waves that fit the budget.
void fill_figures(const WaveDag& dag, MemoryPlan& plan);

// Sums of many byte counts leave 64 bits.
__extension__ typedef unsigned __int128 WideBytes; // __extension__: ISO C++ has no such type

// Bytes over the budget, rounded up. With a budget of 0 there are only waves of 0 bytes: one group.
inline std::uint64_t groups_for(WideBytes bytes, std::uint64_t budget) {
  if (bytes <= budget) {
    return bytes == 0 ? 0 : 1;
  }
  return static_cast<std::uint64_t>((bytes + budget - 1) / budget);
}

} // namespace tidegate::planning
