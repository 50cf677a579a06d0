#include <tidegate/planning/effort.hpp>
#include <tidegate/planning/load_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace tidegate::planning {
namespace {

struct ReadyItem {
  std::uint32_t item = 0;
  double value = 0;
  double density = 0; // value per byte
  std::uint64_t size = 0;

  friend bool operator<(const ReadyItem& a, const ReadyItem& b) {
    return a.density != b.density ? a.density > b.density : a.item < b.item;
  }
};

// The most valuable load of one group: depth first, densest items first, with what the rest could add at most
// as the bound. Its stack is explicit, since a group may hold a great many items.
class LoadSearch {
public:
  // `ready` by density. The result is places in `ready`, in rising order.
  const std::vector<std::uint32_t>& best_load(const std::vector<ReadyItem>& ready, std::uint64_t capacity,
                                              std::uint64_t most_choices, std::uint64_t& choices) {
    remember_suffixes(ready);
    taken_.clear();
    best_.clear();
    std::uint64_t room = capacity;
    double value = 0;
    double best_value = -1;
    std::size_t place = 0;
    for (;;) {
      while (place < ready.size() && suffixes_[place].least_size <= room && choices < most_choices &&
             can_beat(ready[place], value, room, suffixes_[place].value, best_value)) {
        ++choices;
        if (ready[place].size <= room) {
          room -= ready[place].size;
          value += ready[place].value;
          taken_.push_back(static_cast<std::uint32_t>(place));
          if (value > best_value) {
            best_value = value;
            best_ = taken_;
          }
        }
        ++place;
      }
      if (taken_.empty() || choices >= most_choices) {
        return best_;
      }
      place = taken_.back();
      taken_.pop_back();
      room += ready[place].size;
      value -= ready[place].value;
      ++place;
      ++choices;
    }
  }

private:
  // Of the ready items from one place on.
  struct Suffix {
    double value = 0;
    std::uint64_t least_size = std::numeric_limits<std::uint64_t>::max();
  };

  void remember_suffixes(const std::vector<ReadyItem>& ready) {
    suffixes_.assign(ready.size() + 1, {});
    for (std::size_t i = ready.size(); i-- > 0;) {
      suffixes_[i] = {.value = suffixes_[i + 1].value + ready[i].value,
                      .least_size = std::min(suffixes_[i + 1].least_size, ready[i].size)};
    }
  }

  static bool can_beat(const ReadyItem& next, double value, std::uint64_t room, double rest, double best) {
    constexpr double rounding = 1e-12;
    return value + std::min(rest, next.density * static_cast<double>(room)) > best + rounding;
  }

  std::vector<Suffix> suffixes_;
  std::vector<std::uint32_t> taken_;
  std::vector<std::uint32_t> best_;
};

class Schedule {
public:
  Schedule(const PackingProblem& problem, std::span<const double> value)
      : problem_(problem), value_(value), waiting_for_(problem.count()) {
    packing_.group_of.resize(problem.count());
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      waiting_for_[item] = static_cast<std::uint32_t>(problem.predecessors[item].size());
      if (waiting_for_[item] == 0) {
        add_ready(item);
      }
    }
    std::sort(ready_.begin(), ready_.end());
  }

  std::optional<Packing> run(const LoadLimits& limits, std::uint64_t& effort) {
    while (!ready_.empty()) {
      std::uint64_t steps = 0;
      choose(search_.best_load(ready_, problem_.capacity, limits.choices_per_group, steps));
      steps += ready_.size() + members_.size();
      if (packing_.groups >= limits.most_groups || effort <= steps) {
        spend(effort, steps);
        return {};
      }
      effort -= steps;
      close_group();
    }
    return std::move(packing_);
  }

private:
  void add_ready(std::uint32_t item) {
    const std::uint64_t size = problem_.size[item];
    ready_.push_back({.item = item,
                      .value = value_[item],
                      .density = value_[item] / static_cast<double>(std::max<std::uint64_t>(size, 1)),
                      .size = size});
  }

  // The load, and whatever else still fits: a search that was cut short may have left room.
  void choose(const std::vector<std::uint32_t>& load) {
    members_.clear();
    rest_.clear();
    std::uint64_t room = problem_.capacity;
    for (const std::uint32_t place : load) {
      room -= ready_[place].size;
    }
    auto next = load.begin();
    for (std::size_t place = 0; place < ready_.size(); ++place) {
      if (next != load.end() && *next == place) {
        ++next;
        members_.push_back(ready_[place].item);
      } else if (ready_[place].size <= room) {
        room -= ready_[place].size;
        members_.push_back(ready_[place].item);
      } else {
        rest_.push_back(ready_[place]);
      }
    }
  }

  void close_group() {
    ready_.swap(rest_);
    const auto old_items = static_cast<std::ptrdiff_t>(ready_.size());
    for (const std::uint32_t item : members_) {
      packing_.group_of[item] = packing_.groups;
      for (const std::uint32_t successor : problem_.successors[item]) {
        if (--waiting_for_[successor] == 0) {
          add_ready(successor);
        }
      }
    }
    ++packing_.groups;
    std::sort(ready_.begin() + old_items, ready_.end());
    std::inplace_merge(ready_.begin(), ready_.begin() + old_items, ready_.end());
  }

  const PackingProblem& problem_;
  std::span<const double> value_;
  Packing packing_;
  std::vector<std::uint32_t> waiting_for_;
  std::vector<ReadyItem> ready_, rest_; // by density
  std::vector<std::uint32_t> members_;  // of the group being filled
  LoadSearch search_;
};

} // namespace

std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort) {
  return Schedule(problem, value).run(limits, effort);
}

} // namespace tidegate::planning
