#include <tidegate/planning/effort.hpp>
#include <tidegate/planning/load_schedule.hpp>
#include <tidegate/planning/schedule_search.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

enum class Urgency : std::uint8_t { bytes_behind, root_of_bytes_behind, tail };

// How much each thing counts in the worth of an item whose bytes, in groups, are s:
//
//     s + of_size s^2 + of_urgency urgency + of_followers s (followers / most followers), with some noise
struct Weights {
  bool backwards = false;
  Urgency urgency = Urgency::tail;
  double of_size = 0;
  double of_urgency = 0;
  double of_followers = 0;
  double noise = 0; // relative
};

class Draws {
public:
  double between(double least, double most) {
    constexpr double scale = 1.0 / 9'007'199'254'740'992.0; // 2^-53
    return least + (most - least) * static_cast<double>(engine_() >> 11U) * scale;
  }
  // Evenly over so many steps by a tenth, upwards from `least`.
  double magnitude(double least, int steps) {
    for (int step = static_cast<int>(between(0, steps)); step > 0; --step) {
      least *= 1.1;
    }
    return least;
  }
  bool chance(double share) { return between(0, 1) < share; }

private:
  std::mt19937_64 engine_{20'261'121};
};

Weights drawn(Draws& draws) {
  Weights weights;
  weights.backwards = draws.chance(0.5);
  weights.urgency = static_cast<Urgency>(static_cast<int>(draws.between(0, 3)));
  weights.of_size = draws.chance(0.3) ? 0 : draws.between(0, 0.5);
  weights.of_urgency = draws.chance(0.3) ? 0 : draws.magnitude(0.002, 56);
  weights.of_followers = draws.chance(0.3) ? 0 : draws.magnitude(0.03, 49);
  weights.noise = draws.chance(0.5) ? 0 : draws.between(0, 0.1);
  return weights;
}

// Near those that were best so far.
Weights varied(Draws& draws, Weights weights) {
  for (double* weight : {&weights.of_size, &weights.of_urgency, &weights.of_followers}) {
    *weight *= draws.chance(0.5) ? draws.magnitude(0.6, 11) : 1;
  }
  weights.noise = draws.between(0, 0.1);
  return weights;
}

// What does not change from schedule to schedule, for one direction of time.
struct End {
  const PackingProblem* problem = nullptr;
  const std::vector<std::uint32_t>* tail = nullptr;
  std::vector<double> size;         // in groups
  std::vector<double> bytes_behind; // of all descendants, in groups
  std::vector<double> followers;    // descendants, as a share of the most
};

// With too many items to follow every descendant the tails speak for them.
void look_behind(End& end, const PackingProblem& reverse) {
  const std::uint32_t count = end.problem->count();
  end.bytes_behind.assign(end.tail->begin(), end.tail->end());
  end.followers = end.bytes_behind;
  if (count <= most_items_with_closure) {
    const BitMatrix descendants = ancestors(reverse); // items counted from the other end
    for (std::uint32_t item = 0; item < count; ++item) {
      end.bytes_behind[item] = 0;
      end.followers[item] = 0;
      for_each_bit(descendants.row(count - 1 - item), [&](std::uint32_t other) {
        end.bytes_behind[item] += end.size[count - 1 - other];
        end.followers[item] += 1;
      });
    }
  }
  const double most = std::max(1.0, *std::max_element(end.followers.begin(), end.followers.end()));
  for (double& share : end.followers) {
    share /= most;
  }
}

End end_of(const PackingProblem& problem, const PackingProblem& reverse, const LowerBounds& bounds) {
  End end{.problem = &problem, .tail = &bounds.groups.tail};
  for (const std::uint64_t size : problem.size) {
    end.size.push_back(static_cast<double>(size) /
                       static_cast<double>(std::max<std::uint64_t>(problem.capacity, 1)));
  }
  look_behind(end, reverse);
  return end;
}

double urgency(const End& end, std::uint32_t item, Urgency kind) {
  switch (kind) {
  case Urgency::bytes_behind: return end.bytes_behind[item] + end.size[item];
  case Urgency::root_of_bytes_behind: return std::sqrt(end.bytes_behind[item]);
  case Urgency::tail: break;
  }
  return (*end.tail)[item];
}

std::vector<double> values(const End& end, const Weights& weights, Draws& draws) {
  constexpr double least = 1e-6; // even an item of no bytes is worth packing
  std::vector<double> result(end.size.size());
  for (std::uint32_t item = 0; item < result.size(); ++item) {
    const double size = end.size[item];
    const double value = size + weights.of_size * size * size +
                         weights.of_urgency * urgency(end, item, weights.urgency) +
                         weights.of_followers * size * end.followers[item] + least;
    result[item] = value * (1 + weights.noise * draws.between(-0.5, 0.5));
  }
  return result;
}

} // namespace

Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort) {
  constexpr std::uint64_t choices_per_group = 2000;
  const End forwards = end_of(ends.problem, ends.reverse, ends.bounds);
  const End backwards = end_of(ends.reverse, ends.problem, ends.reverse_bounds);
  Draws draws;
  std::optional<Weights> best_weights;
  for (std::uint64_t round = 1; best.groups > lower && effort > 0; ++round) {
    const bool vary = best_weights && round % 3 == 0;
    const Weights weights = vary ? varied(draws, *best_weights) : drawn(draws);
    const End& end = weights.backwards ? backwards : forwards;
    const std::vector<double> value = values(end, weights, draws);
    spend(effort, value.size());
    std::optional<Packing> packing = schedule_by_load(
        *end.problem, value, {.choices_per_group = choices_per_group, .most_groups = best.groups}, effort);
    if (packing && (packing->groups < best.groups || !best_weights)) {
      best_weights = weights;
      best = weights.backwards ? mirrored(*packing) : std::move(*packing);
    }
  }
  return best;
}

} // namespace tidegate::planning
