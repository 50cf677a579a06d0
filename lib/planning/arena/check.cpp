// Checks arena plans. Shares no code with the planner, so that a mistake in one is detected by the other.
#include <tidegate/planning/arena.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace tidegate::planning {
namespace {

using Violation = std::optional<std::string>;

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
  // Buffers alive together share no byte and end below 2^64, so these sums fit.
  std::uint64_t alive = 0;
  std::uint64_t largest = 0;
  for (const Moment& moment : moments_in_order(problem.buffers)) {
    const std::uint64_t size = problem.buffers[moment.buffer].size;
    alive = moment.starts ? alive + size : alive - size;
    largest = std::max(largest, alive);
  }
  if (plan.lower_bound_bytes != largest) {
    return fmt::format("the stated lower bound is {} bytes, but at most {} bytes are alive at one moment",
                       plan.lower_bound_bytes, largest);
  }
  return std::nullopt;
}

Violation check_optimality(const ArenaProblem& problem, const ArenaPlan& plan) {
  const bool meets_bound = plan.height_bytes == plan.lower_bound_bytes;
  const ArenaProof expected = meets_bound    ? ArenaProof::meets_bound
                              : plan.optimal ? ArenaProof::exhausted_search
                                             : ArenaProof::none;
  if (meets_bound && !plan.optimal) {
    return fmt::format("the height meets the lower bound of {} bytes and the plan is not called optimal",
                       plan.lower_bound_bytes);
  }
  if (plan.proof != expected) {
    return plan.optimal && !meets_bound
               ? fmt::format(
                     "the plan is called optimal, but its height of {} bytes is above the lower bound "
                     "of {} bytes and no search has proved it",
                     plan.height_bytes, plan.lower_bound_bytes)
               : fmt::format("the proof is {} instead of {}", name(plan.proof), name(expected));
  }
  if (plan.optimal && plan.gave_up) {
    return "the plan is called optimal and the search is said to have given up";
  }
  if (plan.proof == ArenaProof::exhausted_search && plan.search_nodes == 0) {
    return "an exhausted search is the proof, and search_nodes is 0";
  }
  if (!plan.optimal && !problem.capacity_bytes && !plan.gave_up) {
    return "without a capacity the search goes on until the plan is optimal or it gives up, and gave_up is "
           "false";
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> check_arena(const ArenaProblem& problem, const ArenaPlan& plan) {
  if (auto violation = check_each_buffer(problem, plan)) {
    return violation;
  }
  if (auto violation = check_overlaps(problem, plan)) {
    return violation;
  }
  if (auto violation = check_height(problem, plan)) {
    return violation;
  }
  if (auto violation = check_lower_bound(problem, plan)) {
    return violation;
  }
  return check_optimality(problem, plan);
}

} // namespace tidegate::planning
