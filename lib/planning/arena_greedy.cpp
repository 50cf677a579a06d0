#include <tidegate/planning/arena_greedy.hpp>
#include <tidegate/planning/arena_placed.hpp>
#include <tidegate/planning/arena_sweep.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

using Order = std::vector<std::uint32_t>;

enum class Preference : std::uint8_t { size, area, lifetime, start };

// The items with the largest key first, then the largest size, then by start.
Order ordered_by(const ArenaComponent& component, Preference preference) {
  struct Key {
    ArenaArea first;
    std::uint64_t second;
    std::uint32_t item;
  };
  std::vector<Key> keys;
  keys.reserve(component.items.size());
  for (std::uint32_t i = 0; i < component.items.size(); ++i) {
    const ArenaItem& item = component.items[i];
    ArenaArea first = 0;
    switch (preference) {
    case Preference::size: first = item.size; break;
    case Preference::area: first = area(item); break;
    case Preference::lifetime: first = item.width; break;
    case Preference::start: first = component.section_bytes.size() - item.first_section; break;
    }
    keys.push_back({first, item.size, i});
  }
  std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  });
  Order order;
  order.reserve(keys.size());
  for (const Key& key : keys) {
    order.push_back(key.item);
  }
  return order;
}

class Heuristics {
public:
  Heuristics(const ArenaComponent& component, std::uint64_t enough_bytes, std::uint64_t& work)
      : component_(component), enough_(enough_bytes), work_(work),
        cost_(overlapping_pairs(component) + cost_per_item * component.items.size()) {}

  std::optional<ArenaLayout> run() {
    for (const Time time : {Time::forward, Time::backward}) {
      keep_if_lower(sweep_layout(component_, time));
    }
    if (done()) {
      return std::move(best_);
    }
    placed_.emplace(component_);
    for (const Preference preference :
         {Preference::size, Preference::area, Preference::lifetime, Preference::start}) {
      const Order order = ordered_by(component_, preference);
      for (const Fit fit : {Fit::best, Fit::lowest}) {
        if (done()) {
          return std::move(best_);
        }
        attempt(order, fit);
      }
    }
    press_down();
    improve();
    press_down();
    return std::move(best_);
  }

private:
  bool done() const { return (best_ && best_->height_bytes <= enough_) || work_ < cost_; }

  // Whether the layout is at least as good as the best one; it is the best one then.
  bool keep_if_lower(std::optional<ArenaLayout> layout) {
    if (!layout || (best_ && layout->height_bytes > best_->height_bytes)) {
      return false;
    }
    best_ = std::move(layout);
    return true;
  }

  void attempt(const Order& order, Fit fit) {
    work_ -= cost_;
    if (keep_if_lower(placed_->layout(order, fit))) {
      best_order_ = order;
      best_fit_ = fit;
    }
  }

  // From the bottom up, every item falls as far as it can: no item rises, so the height does not either.
  void press_down() {
    if (done() || !best_) {
      return;
    }
    work_ -= cost_;
    Order order(component_.items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return best_->offsets[a] < best_->offsets[b];
    });
    keep_if_lower(placed_->layout(order, Fit::lowest));
  }

  // The items that reach the top came too late: they move forward in the order, by a random part of their
  // way, and one random pair changes places. Equal heights are accepted, which carries the order across
  // plateaus.
  void improve() {
    if (!best_ || best_order_.empty()) { // a sweep was the best
      return;
    }
    std::mt19937_64 random(component_.items.size());
    // Small components are for the exact search.
    const std::size_t rounds = std::min(component_.items.size(), most_rounds);
    for (std::size_t round = 0; round < rounds && !done(); ++round) {
      Order order = best_order_;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint32_t item = order[i];
        if (best_->offsets[item] + component_.items[item].size == best_->height_bytes) {
          const std::size_t target = random() % (i + 1);
          std::rotate(order.begin() + static_cast<std::ptrdiff_t>(target),
                      order.begin() + static_cast<std::ptrdiff_t>(i),
                      order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
      }
      std::swap(order[random() % order.size()], order[random() % order.size()]);
      attempt(order, best_fit_);
    }
  }

  static constexpr std::size_t most_rounds = 300;
  static constexpr std::uint64_t cost_per_item = 32; // in pairs, measured

  const ArenaComponent& component_;
  std::optional<PlacedItems> placed_; // not worth building when the sweeps are enough
  std::uint64_t enough_;
  std::uint64_t& work_;
  std::uint64_t cost_; // of one layout
  std::optional<ArenaLayout> best_;
  Order best_order_;
  Fit best_fit_ = Fit::best;
};

} // namespace

std::optional<ArenaLayout> arena_heuristics(const ArenaComponent& component, std::uint64_t enough_bytes,
                                            std::uint64_t& work) {
  return Heuristics(component, enough_bytes, work).run();
}

} // namespace tidegate::planning
