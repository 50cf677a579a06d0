#include <tidegate/planning/effort.hpp>
#include <tidegate/planning/list_schedule.hpp>
#include <tidegate/planning/local_search.hpp>
#include <tidegate/planning/peak.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tidegate::planning {
namespace {

// No capacity below this one can do.
std::uint64_t least_peak(const PackingProblem& problem, std::uint32_t groups) {
  WideBytes total = 0;
  std::uint64_t largest = 0;
  for (const std::uint64_t size : problem.size) {
    total += size;
    largest = std::max(largest, size);
  }
  return std::max(largest, static_cast<std::uint64_t>((total + groups - 1) / groups));
}

// A packing that fits the problem's capacity, if one is found.
std::optional<Packing> packing_that_fits(const PackingProblem& problem,
                                         std::span<const std::uint32_t> by_tail, const Packing& start,
                                         std::uint64_t& effort) {
  constexpr std::uint64_t steps_per_item = 8; // of a list schedule, roughly
  Packing scheduled = schedule_by_group(problem, by_tail);
  if (scheduled.groups != start.groups) {
    scheduled = schedule_by_item(problem, by_tail);
  }
  spend(effort, 2 * steps_per_item * (problem.count() + problem.successors.items.size()));
  if (scheduled.groups == start.groups) {
    return scheduled;
  }
  std::uint64_t slice = effort / 4;
  spend(effort, slice);
  Packing repaired = start;
  const bool fits = repair(problem, repaired, slice);
  effort += slice;
  repaired = without_empty_groups(std::move(repaired));
  if (fits && repaired.groups == start.groups) {
    return repaired;
  }
  return {};
}

} // namespace

Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort) {
  constexpr std::uint64_t fine_enough = 4096; // of the peak
  const std::vector<std::uint32_t> by_tail = by_tail_then_size(problem, tail);
  std::uint64_t hopeless = least_peak(problem, packing.groups) - 1; // or not found
  std::uint64_t peak = peak_bytes(problem, packing);
  // The lower bound itself first: it is often reached.
  std::uint64_t tried = hopeless + 1;
  while (tried < peak && effort > 0) {
    problem.capacity = tried;
    std::optional<Packing> better = packing_that_fits(problem, by_tail, packing, effort);
    if (better) {
      packing = std::move(*better);
      peak = peak_bytes(problem, packing);
    } else {
      hopeless = tried;
    }
    if (peak - hopeless <= 1 + peak / fine_enough) {
      break;
    }
    tried = hopeless + (peak - hopeless) / 2;
  }
  return packing;
}

} // namespace tidegate::planning
