#include <tidegate/planning/effort.hpp>
#include <tidegate/planning/group_pricing.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace tidegate::planning {
namespace {

// The items of any value, most value per byte first.
ItemSet by_density(std::span<const double> value, std::span<const std::uint64_t> size) {
  constexpr double no_value = 1e-9;
  std::vector<std::pair<double, std::uint32_t>> dense;
  for (std::uint32_t item = 0; item < value.size(); ++item) {
    if (value[item] > no_value) {
      dense.emplace_back(-value[item] / static_cast<double>(size[item]), item);
    }
  }
  std::sort(dense.begin(), dense.end());
  ItemSet order;
  for (const auto& [density, item] : dense) {
    order.push_back(item);
  }
  return order;
}

std::uint64_t items_of_no_bytes(const PackingProblem& problem) {
  return static_cast<std::uint64_t>(std::count(problem.size.begin(), problem.size.end(), 0U));
}

// By how much a group must be worth more than another to be looked for: between whole numbers half of one,
// which is less than any difference and more than the rounding of any bound.
double least_gain(std::span<const double> value) {
  const bool whole = std::all_of(value.begin(), value.end(), [](double each) {
    return each == static_cast<double>(static_cast<std::int64_t>(each));
  });
  return whole ? 0.5 : 1e-9;
}

// Depth first over the items by density, with the room filled at the density of the next item as the bound.
// Depth is the number of items in a group, which an explicit stack of candidate sets follows.
class ExactPricing {
public:
  ExactPricing(std::span<const std::uint64_t> size, std::uint64_t capacity, const BitMatrix& may_meet,
               const ItemSet& order, std::span<const double> value)
      : capacity_(capacity), items_(order.size()), may_follow_(order.size()) {
    std::vector<std::uint32_t> place_of(size.size(), static_cast<std::uint32_t>(order.size()));
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      place_of[order[place]] = place;
      const std::uint32_t item = order[place];
      items_[place] = {
          .value = value[item], .density = value[item] / static_cast<double>(size[item]), .size = size[item]};
    }
    for (std::uint32_t place = 0; place < order.size(); ++place) {
      for_each_bit(may_meet.row(order[place]), [&](std::uint32_t other) {
        if (place_of[other] < order.size() && place_of[other] > place) {
          set_bit(may_follow_.row(place), place_of[other]);
        }
      });
    }
  }

  // `gap`: by how much a group must beat the best one to count.
  GroupPricing::Best run(double least, double gap, std::uint64_t& effort) {
    GroupPricing::Best best{.value = least};
    std::vector<std::uint64_t> everything(may_follow_.words);
    for (std::uint32_t place = 0; place < items_.size(); ++place) {
      set_bit(everything, place);
    }
    std::vector<Level> levels{{.room = capacity_, .candidates = std::move(everything)}};
    ItemSet taken;
    while (!levels.empty()) {
      const std::uint32_t place = next_candidate(levels.back());
      if (effort == 0) {
        best.exact = false;
        break;
      }
      spend(effort, 1 + may_follow_.words / 8);
      Level& level = levels.back();
      if (place == items_.size() ||
          level.value + items_[place].density * static_cast<double>(level.room) < best.value + gap) {
        levels.pop_back();
        if (!taken.empty()) {
          taken.pop_back();
        }
        continue;
      }
      level.next = place + 1;
      if (items_[place].size > level.room) {
        continue;
      }
      taken.push_back(place);
      Level deeper{.next = place + 1,
                   .room = level.room - items_[place].size,
                   .value = level.value + items_[place].value,
                   .candidates = level.candidates};
      if (deeper.value > best.value) {
        best.value = deeper.value;
        best.group = taken;
      }
      intersect(deeper.candidates, may_follow_.row(place));
      levels.push_back(std::move(deeper));
    }
    return best;
  }

private:
  struct Item {
    double value = 0;
    double density = 0;
    std::uint64_t size = 0;
  };
  struct Level {
    std::uint32_t next = 0; // candidates before this place are done with
    std::uint64_t room = 0;
    double value = 0;
    std::vector<std::uint64_t> candidates;
  };

  std::uint32_t next_candidate(const Level& level) const {
    std::size_t word = level.next / 64;
    if (word >= level.candidates.size()) {
      return static_cast<std::uint32_t>(items_.size());
    }
    std::uint64_t bits = level.candidates[word] & (~std::uint64_t{0} << (level.next % 64));
    while (bits == 0 && ++word < level.candidates.size()) {
      bits = level.candidates[word];
    }
    return bits == 0
               ? static_cast<std::uint32_t>(items_.size())
               : static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  std::uint64_t capacity_;
  std::vector<Item> items_;
  BitMatrix may_follow_; // by place: the later places that may meet it
};

} // namespace

bool GroupPricing::can_price(const PackingProblem& problem) {
  const std::uint64_t unit = 1 + items_of_no_bytes(problem);
  return problem.capacity < std::numeric_limits<std::uint64_t>::max() / unit - 1;
}

// Items of no bytes have no value per byte. So with n of them all sizes are counted in parts of 1/(n + 1)
// byte, of which these items have one: all of them together are less than a byte, and the same sets fit.
GroupPricing::GroupPricing(const PackingProblem& problem) : may_meet_(may_meet(problem)) {
  const std::uint64_t unit = 1 + items_of_no_bytes(problem);
  capacity_ = problem.capacity * unit + (unit - 1);
  for (const std::uint64_t size : problem.size) {
    size_.push_back(size == 0 ? 1 : size * unit);
  }
}

std::vector<ItemSet> GroupPricing::grown_groups(std::span<const double> value, double least,
                                                std::uint64_t& effort) const {
  const ItemSet order = by_density(value, size_);
  std::vector<std::pair<double, ItemSet>> found;
  std::vector<std::uint64_t> candidates(may_meet_.words);
  ItemSet group;
  for (const std::uint32_t first : order) {
    group.assign(1, first);
    double worth = value[first];
    std::uint64_t room = capacity_ - size_[first];
    const std::span<const std::uint64_t> others = may_meet_.row(first);
    std::copy(others.begin(), others.end(), candidates.begin());
    for (const std::uint32_t item : order) {
      if (has_bit(candidates, item) && size_[item] <= room) {
        group.push_back(item);
        worth += value[item];
        room -= size_[item];
        intersect(candidates, may_meet_.row(item));
      }
    }
    if (worth > least) {
      found.emplace_back(-worth, group);
    }
  }
  spend(effort, order.size() * order.size() / 8);
  std::sort(found.begin(), found.end());
  std::vector<ItemSet> groups;
  for (auto& [worth, items] : found) {
    groups.push_back(std::move(items));
  }
  return groups;
}

GroupPricing::Best GroupPricing::most_valuable_group(std::span<const double> value, double least,
                                                     std::uint64_t& effort) const {
  const ItemSet order = by_density(value, size_);
  Best best = ExactPricing(size_, capacity_, may_meet_, order, value).run(least, least_gain(value), effort);
  for (std::uint32_t& place : best.group) {
    place = order[place];
  }
  return best;
}

} // namespace tidegate::planning
