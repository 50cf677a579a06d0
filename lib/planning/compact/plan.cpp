// The strategy `compact`: list schedules, which find the next item in a tournament tree over the ready ones; local search
// over their orders, and bisection of the peak; the exhaustive search of small problems.
#include "planning/compact/problem.hpp"

namespace tidegate::planning {

namespace {

// Finds the first slot that holds at most a given number. A complete binary tree in one array: node i has the
// children 2 i and 2 i + 1 and holds the smaller of their values; the slots are the leaves.
class TournamentTree {
public:
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();

  explicit TournamentTree(std::size_t slots)
      : leaves_(std::bit_ceil(std::max<std::size_t>(slots, 1))), least_(2 * leaves_, nothing) {}

  void set(std::size_t slot, std::uint64_t value) {
    std::size_t node = leaves_ + slot;
    least_[node] = value;
    while (node > 1) {
      node /= 2;
      const std::uint64_t least = std::min(least_[2 * node], least_[2 * node + 1]);
      if (least_[node] == least) {
        return;
      }
      least_[node] = least;
    }
  }

  std::uint64_t least() const { return least_[1]; }

  // Returns the first slot that holds at most `limit`; it must exist.
  std::size_t first(std::uint64_t limit) const {
    std::size_t node = 1;
    while (node < leaves_) {
      node = 2 * node + (least_[2 * node] <= limit ? 0 : 1);
    }
    return node - leaves_;
  }

private:
  std::size_t leaves_;
  std::vector<std::uint64_t> least_;
};

// Stores 2^64 - 1 bytes as one byte less, because the tree reserves that number; the schedules check the real
// size.
std::uint64_t storable(std::uint64_t size) {
  return std::min(size, TournamentTree::nothing - 1);
}

} // namespace

Packing list_schedule(const PackingProblem& problem, std::span<const std::uint32_t> preference) {
  const std::uint32_t count = problem.count();
  std::vector<std::uint32_t> rank(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    rank[preference[i]] = i;
  }
  TournamentTree ready(count);
  std::vector<std::uint32_t> waiting_for(count);
  for (std::uint32_t item = 0; item < count; ++item) {
    waiting_for[item] = static_cast<std::uint32_t>(problem.predecessors[item].size());
    if (waiting_for[item] == 0) {
      ready.set(rank[item], storable(problem.size[item]));
    }
  }
  Packing packing{.group_of = std::vector<std::uint32_t>(count)};
  std::vector<std::uint32_t> members;
  for (std::uint32_t placed = 0; placed < count; ++packing.groups) {
    members.clear();
    std::uint64_t room = problem.capacity;
    const auto limit = [&room] { return std::min(room, TournamentTree::nothing - 1); };
    while (ready.least() <= limit()) {
      const std::size_t slot = ready.first(limit());
      const std::uint32_t item = preference[slot];
      if (problem.size[item] > room) {
        break;
      }
      ready.set(slot, TournamentTree::nothing);
      packing.group_of[item] = packing.groups;
      room -= problem.size[item];
      members.push_back(item);
    }
    placed += static_cast<std::uint32_t>(members.size());
    for (const std::uint32_t item : members) {
      for (const std::uint32_t successor : problem.successors[item]) {
        if (--waiting_for[successor] == 0) {
          ready.set(rank[successor], storable(problem.size[successor]));
        }
      }
    }
  }
  return packing;
}

std::vector<std::uint32_t> preference(const PackingProblem& problem, std::span<const std::uint32_t> tail,
                                      First first) {
  std::vector<std::uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, std::greater(), [&](std::uint32_t item) {
    const std::uint64_t keys[]{tail[item], problem.size[item]};
    return std::tuple(keys[first == First::longest_tail ? 0 : 1], keys[first == First::longest_tail ? 1 : 0],
                      ~problem.wave[item]);
  });
  return order;
}

namespace {

struct OrderedSchedule {
  std::vector<std::uint32_t> order; // of preference
  Packing packing;
  std::uint64_t unevenness = 0;

  auto cost() const { return std::pair(packing.groups, ~unevenness); }
};

// Returns the sum of the squares of the groups' bytes, each in 16 bits.
std::uint64_t unevenness(const PackingProblem& problem, const Packing& packing) {
  const int dropped = std::max(48 - std::countl_zero(problem.capacity), 0);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : group_bytes(problem, packing)) {
    sum += (bytes >> dropped) * (bytes >> dropped);
  }
  return sum;
}

OrderedSchedule scheduled(const PackingProblem& problem, std::vector<std::uint32_t> order) {
  OrderedSchedule result{.order = std::move(order)};
  result.packing = list_schedule(problem, result.order);
  result.unevenness = unevenness(problem, result.packing);
  return result;
}

std::vector<std::uint32_t> by_group(const Packing& packing) {
  std::vector<std::uint32_t> order(packing.group_of.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t item) { return packing.group_of[item]; });
  return order;
}

// Moves up to three items to earlier places, or swaps two. The draws are the same in every run.
void vary(std::vector<std::uint32_t>& order, std::mt19937_64& random) {
  constexpr std::uint64_t most_moves = 3;
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % order.size()); };
  for (std::uint64_t moves = 1 + random() % most_moves; moves > 0; --moves) {
    const auto [to, from] = std::minmax({place(), place()});
    if (random() % 2 == 0) {
      std::swap(order[static_cast<std::size_t>(to)], order[static_cast<std::size_t>(from)]);
    } else {
      std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    }
  }
}

} // namespace

void improve_order(CompactSearch& search, std::uint64_t& effort) {
  const std::uint64_t steps = 100 + 2 * (search.problem.count() + search.problem.successors.items.size());
  const std::uint64_t turn = effort / 8 + 1; // of one direction of time
  std::mt19937_64 random{20'261'121};
  std::array<OrderedSchedule, 2> current;
  for (std::uint64_t round = 0; search.is_open() && effort > 0; ++round) {
    const bool backwards = round % 2 != 0;
    const PackingProblem& problem = backwards ? search.reverse : search.problem;
    OrderedSchedule& best = current[round % 2];
    const auto consider = [&](OrderedSchedule&& candidate) {
      spend(effort, steps);
      if (candidate.packing.groups < search.best.groups) {
        search.best = backwards ? mirrored(candidate.packing) : candidate.packing;
      }
      if (best.order.empty() || candidate.cost() <= best.cost()) {
        best = std::move(candidate);
      }
    };
    if (best.order.empty()) {
      const std::vector<std::uint32_t> tail = backwards ? mirrored(search.bounds).tail : search.bounds.tail;
      consider(scheduled(problem, by_group(backwards ? mirrored(search.best) : search.best)));
      consider(scheduled(problem, preference(problem, tail, First::longest_tail)));
      consider(scheduled(problem, preference(problem, tail, First::largest)));
    }
    for (const std::uint64_t end = effort - std::min(effort, turn); search.is_open() && effort > end;) {
      std::vector<std::uint32_t> order = best.order;
      vary(order, random);
      consider(scheduled(problem, std::move(order)));
    }
  }
}

void lower_peak(CompactSearch& search, std::uint64_t effort) {
  constexpr std::uint64_t fine_enough = 4096; // of the peak
  const Packing& best = search.best;
  const auto peak_of = [](const CompactSearch& found) {
    return std::ranges::max(group_bytes(found.problem, found.best));
  };
  WideBytes total = 0;
  std::uint64_t largest = 0;
  for (const std::uint64_t size : search.problem.size) {
    total += size;
    largest = std::max(largest, size);
  }
  std::uint64_t least =
      std::max(largest, static_cast<std::uint64_t>((total + best.groups - 1) / best.groups));
  std::uint64_t peak = peak_of(search);
  // Try the lower bound first: it is often reached.
  for (std::uint64_t tried = least; tried < peak && effort > 0; tried = least + (peak - least) / 2) {
    CompactSearch tighter = search;
    tighter.problem.capacity = tighter.reverse.capacity = tried;
    tighter.best.groups = best.groups + 1; // its packing need not fit
    tighter.lower = best.groups;
    std::uint64_t slice = effort / 4 + 1;
    spend(effort, slice);
    improve_order(tighter, slice);
    effort += slice;
    if (tighter.is_open()) {
      least = tried + 1; // not reached, if not impossible
    } else {
      search.best = std::move(tighter.best);
      peak = peak_of(search);
    }
    if (peak - least <= peak / fine_enough) {
      break;
    }
  }
}

// The exhaustive search.

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

namespace {

// Starts from the layers, so that the result is never worse. Items are numbered in layer order.
CompactSearch search_of(const WaveDag& dag, const MemoryPlan& layered) {
  CompactSearch search;
  search.problem = packing_problem(dag, layered.order, group_budget(dag).value());
  search.reverse = mirrored(search.problem);
  search.bounds = lower_bounds(search.problem, search.reverse);
  search.lower = search.bounds.groups;
  search.best.groups = static_cast<std::uint32_t>(layered.group_count());
  for (std::uint32_t group = 0; group < search.best.groups; ++group) {
    search.best.group_of.resize(layered.group_begin[group + 1], group);
  }
  return search;
}

// Schedules forwards and backwards, with the tails of the bounds and with the longest-path tails: better
// tails usually, but not always, make better schedules.
void schedule(CompactSearch& search) {
  for (const bool backwards : {false, true}) {
    const PackingProblem& problem = backwards ? search.reverse : search.problem;
    std::vector<std::uint32_t> plain = longest_path_heads(backwards ? search.problem : search.reverse);
    std::ranges::reverse(plain);
    for (const auto& tail : {backwards ? mirrored(search.bounds).tail : search.bounds.tail, plain}) {
      for (const First first : {First::longest_tail, First::largest}) {
        Packing packing = list_schedule(problem, preference(problem, tail, first));
        if (packing.groups < search.best.groups) {
          search.best = backwards ? mirrored(packing) : std::move(packing);
        }
        if (!search.is_open()) {
          return;
        }
      }
    }
  }
}

// Starts with a short local search, because most problems are solved by then; what a step does not use is
// left to the next.
void improve(CompactSearch& search, std::uint64_t effort) {
  const auto give = [&](std::uint64_t share, auto step) {
    effort -= share;
    step(search, share);
    effort += share;
  };
  constexpr std::uint64_t short_look = 100'000;
  give(std::min(effort / 16, short_look), improve_order);
  give(effort / 2, exhaust);
  give(effort, improve_order);
}

// Keeps the waves of a group in layer order.
MemoryPlan plan_of(const WaveDag& dag, const CompactSearch& search,
                   const std::vector<std::uint32_t>& layer_order) {
  MemoryPlan plan;
  plan.group_begin.assign(std::size_t{search.best.groups} + 2, 0);
  for (const std::uint32_t group : search.best.group_of) {
    ++plan.group_begin[group + 2];
  }
  std::partial_sum(plan.group_begin.begin(), plan.group_begin.end(), plan.group_begin.begin());
  plan.order.resize(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    plan.order[plan.group_begin[search.best.group_of[item] + 1]++] = layer_order[item];
  }
  plan.group_begin.pop_back();
  fill_figures(dag, plan);
  plan.lower_bound_groups = search.lower;
  plan.optimal = !search.is_open();
  return plan;
}

} // namespace

Result<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options) {
  const bool only_groups = options.objective == CompactOptions::Objective::groups;
  Result<MemoryPlan> layered = plan_layered(dag);
  if (!layered || layered->order.empty() || (layered->optimal && only_groups)) {
    return layered;
  }
  CompactSearch search = search_of(dag, *layered);
  schedule(search);
  improve(search, options.effort);
  if (!only_groups) {
    lower_peak(search, options.effort / 3);
  }
  return plan_of(dag, search, layered->order);
}

} // namespace tidegate::planning
