// The exhaustive search of small problems.
#include "planning/compact/problem.hpp"

namespace tidegate::planning {
namespace {

using Subset = std::uint64_t;

// Fills one group after the other, depth first. The branches of a group are its *maximal* loads, because
// moving an item that still fits into an earlier group never hurts.
class Exhaustion {
public:
  Exhaustion(const PackingProblem& problem, const LowerBounds& bounds, std::uint64_t& effort)
      : problem_(problem), bounds_(bounds), effort_(effort), by_size_(problem.count()),
        after_(problem.count()), before_(problem.count()) {
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      for (const std::uint32_t other : problem.successors[item]) {
        after_[item] |= Subset{1} << other;
        before_[other] |= Subset{1} << item;
      }
    }
    std::iota(by_size_.begin(), by_size_.end(), 0U);
    std::ranges::sort(by_size_, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(~problem.size[a], after_[a], a) < std::tuple(~problem.size[b], after_[b], b);
    });
  }

  // Packs all other items into `groups_left` groups, and notes the loads from the last one back. Returns
  // false if that is impossible or the effort ran out.
  bool pack(Subset packed, std::uint32_t groups_left) {
    if (packed == all()) {
      return true;
    }
    spend(effort_, problem_.count());
    const auto known = failed_.find(packed);
    if (effort_ == 0 || (known != failed_.end() && known->second >= groups_left) ||
        !rest_fits(packed, groups_left)) {
      return false;
    }
    if (add_to_load({.packed = packed, .groups_left = groups_left, .room = problem_.capacity})) {
      return true;
    }
    if (effort_ > 0) {
      failed_[packed] = groups_left;
    }
    return false;
  }

  const std::vector<Subset>& loads() const { return loads_; }

private:
  struct Load {
    Subset packed = 0; // in earlier groups
    std::uint32_t groups_left = 0;
    std::uint64_t room = 0;
    Subset items = 0;
    std::size_t next = 0; // in by_size_
  };

  Subset all() const { return ~Subset{0} >> (64 - problem_.count()); }
  bool ready(std::uint32_t item, Subset packed) const {
    return (packed >> item & 1) == 0 && (before_[item] & ~packed) == 0;
  }

  // Bounds the groups by the weight of the unpacked items with at least as many groups after them.
  bool rest_fits(Subset packed, std::uint32_t groups_left) {
    for (const Measure& measure : bounds_.measures) {
      weight_at_.assign(groups_left, 0);
      for (std::uint32_t item = 0; item < problem_.count(); ++item) {
        if ((packed >> item & 1) == 0) {
          if (bounds_.tail[item] >= groups_left) {
            return false; // its latest group has passed
          }
          weight_at_[bounds_.tail[item]] += measure.weight[item];
        }
      }
      std::uint64_t weight = 0;
      for (std::uint32_t tail = groups_left; tail-- > 0;) {
        weight += weight_at_[tail];
        if (weight > (groups_left - tail) * measure.capacity) {
          return false;
        }
      }
    }
    return true;
  }

  // Decides item by item, the largest first, which ready ones the load takes.
  bool add_to_load(Load load) {
    spend(effort_, 1);
    for (; load.next < by_size_.size() && effort_ > 0; ++load.next) {
      const std::uint32_t item = by_size_[load.next];
      if (!ready(item, load.packed) || problem_.size[item] > load.room || follows_twin(load)) {
        continue;
      }
      Load with = load;
      with.items |= Subset{1} << item;
      with.room -= problem_.size[item];
      ++with.next;
      if (add_to_load(with)) {
        return true;
      }
    }
    if (!maximal(load) || !pack(load.packed | load.items, load.groups_left - 1)) {
      return false;
    }
    loads_.push_back(load.items);
    return true;
  }

  // Items of one size with the same successors are alike once they are ready: takes the first ones only.
  bool follows_twin(const Load& load) const {
    if (load.next == 0) {
      return false;
    }
    const std::uint32_t item = by_size_[load.next];
    const std::uint32_t twin = by_size_[load.next - 1];
    return problem_.size[item] == problem_.size[twin] && after_[item] == after_[twin] &&
           ready(twin, load.packed) && (load.items >> twin & 1) == 0;
  }

  // Also requires the items whose latest group this is.
  bool maximal(const Load& load) const {
    return std::ranges::none_of(by_size_, [&](std::uint32_t item) {
      return (load.items >> item & 1) == 0 && ready(item, load.packed) &&
             (problem_.size[item] <= load.room || bounds_.tail[item] + 1 >= load.groups_left);
    });
  }

  const PackingProblem& problem_;
  const LowerBounds& bounds_;
  std::uint64_t& effort_;
  std::vector<std::uint32_t> by_size_; // twins in a row
  std::vector<Subset> after_;          // direct successors
  std::vector<Subset> before_;         // direct predecessors
  std::vector<std::uint64_t> weight_at_;
  std::unordered_map<Subset, std::uint32_t>
      failed_;                // packed items: the groups that did not suffice for the rest
  std::vector<Subset> loads_; // of the packing found, the last group first
};

} // namespace

void exhaust(CompactSearch& search, std::uint64_t& effort) {
  if (search.problem.count() > most_items_to_exhaust) {
    return;
  }
  while (search.is_open() && effort > 0) {
    Exhaustion exhaustion(search.problem, search.bounds, effort);
    if (!exhaustion.pack(0, search.best.groups - 1)) {
      search.lower = effort > 0 ? search.best.groups : search.lower;
      return;
    }
    const std::vector<Subset>& loads = exhaustion.loads();
    search.best.groups = static_cast<std::uint32_t>(loads.size());
    for (std::uint32_t item = 0; item < search.problem.count(); ++item) {
      const auto last_first =
          std::ranges::find_if(loads, [item](Subset load) { return (load >> item & 1) != 0; }) -
          loads.begin();
      search.best.group_of[item] = search.best.groups - 1 - static_cast<std::uint32_t>(last_first);
    }
  }
}

} // namespace tidegate::planning
