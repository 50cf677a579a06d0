#include <tidegate/planning/arena_portfolio.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <numeric>
#include <optional>

namespace tidegate::planning {
namespace {

// What an item is ranked by, largest first.
enum class Key : std::uint8_t {
  size,
  width, // lifetime
  area,  // lifetime times size
  total, // bytes alive in the fullest of its sections
  start, // its first section, the earliest first
  end,   // its last section, the latest first
};

struct Preorder {
  std::array<Key, 3> keys;
  bool niche;
};

// Chosen out of 56, one after the other, as those that together solve most at the least cost:
// google/minimalloc's instances, the same mirrored in time and the generated families of the tests, with 20
// 000 decisions for each. Published are three orders by width, area and total.
constexpr std::array<Preorder, 6> preorders{{{{Key::end, Key::size, Key::area}, false},
                                             {{Key::area, Key::total, Key::size}, true},
                                             {{Key::total, Key::width, Key::area}, false},
                                             {{Key::area, Key::total, Key::size}, false},
                                             {{Key::start, Key::size, Key::area}, false},
                                             {{Key::end, Key::width, Key::area}, false}}};

ArenaArea value_of(const ArenaComponent& component, const ArenaItem& item, Key key) {
  switch (key) {
  case Key::size: return item.size;
  case Key::width: return item.width;
  case Key::area: return area(item);
  case Key::total:
    return *std::max_element(component.section_bytes.begin() + item.first_section,
                             component.section_bytes.begin() + item.end_section);
  case Key::start: return component.section_bytes.size() - item.first_section;
  case Key::end: break;
  }
  return item.end_section;
}

// The rank of each item; equal keys stay in the order of the items.
std::vector<std::uint32_t> ranks(const ArenaComponent& component, const std::array<Key, 3>& preorder) {
  const std::size_t count = component.items.size();
  std::vector<std::array<ArenaArea, 3>> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < preorder.size(); ++k) {
      keys[i][k] = value_of(component, component.items[i], preorder[k]);
    }
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&keys](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    result[order[rank]] = rank;
  }
  return result;
}

// Those that differ on this component.
std::vector<ArenaStrategy> strategies(const ArenaComponent& component, const ArenaTechniques& techniques) {
  std::vector<ArenaStrategy> result;
  for (const Preorder& preorder : preorders) {
    ArenaStrategy strategy{.rank_of_item = ranks(component, preorder.keys),
                           .niche = preorder.niche && techniques.niche};
    if (std::find(result.begin(), result.end(), strategy) == result.end()) {
      result.push_back(std::move(strategy));
    }
    if (!techniques.portfolio) {
      break;
    }
  }
  return result;
}

// The first slice lets a search that meets little trouble come to its end. Slices grow so that easy
// components cost little and threads have enough to do on hard ones.
constexpr std::uint64_t first_slice_per_item = 2;
constexpr std::uint64_t longest_slice = 8192;
constexpr std::uint64_t slice_worth_a_thread = 2048;

class Portfolio {
public:
  Portfolio(const ArenaComponent& component, const ArenaOverlaps& overlaps, std::uint64_t capacity_bytes,
            const ArenaTechniques& techniques)
      : component_(component), overlaps_(overlaps), capacity_(capacity_bytes), techniques_(techniques),
        strategies_(strategies(component, techniques)), searches_(strategies_.size()),
        verdicts_(strategies_.size()) {}

  ArenaAttempt run(std::uint64_t nodes, unsigned threads) {
    ArenaAttempt attempt;
    std::uint64_t slice = first_slice_per_item * component_.items.size();
    while (attempt.nodes < nodes) {
      slice = std::min(slice, (nodes - attempt.nodes + searches_.size() - 1) / searches_.size());
      const std::vector<std::uint64_t> before = nodes_so_far();
      round(slice, slice < slice_worth_a_thread ? 1 : threads);
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        attempt.nodes += searches_[i]->nodes() - before[i];
        if (verdicts_[i] != ArenaVerdict::running) {
          attempt.verdict = verdicts_[i];
          if (attempt.verdict == ArenaVerdict::found) {
            attempt.offsets = searches_[i]->offsets();
          }
          return attempt;
        }
      }
      slice = std::max(slice, std::min(2 * slice, longest_slice));
    }
    return attempt;
  }

private:
  std::vector<std::uint64_t> nodes_so_far() const {
    std::vector<std::uint64_t> result;
    for (const auto& search : searches_) {
      result.push_back(search ? search->nodes() : 0);
    }
    return result;
  }

  // Every search gets its slice, except those after one that has its verdict.
  void round(std::uint64_t slice, unsigned threads) {
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> decided = searches_.size();
    const auto work = [&] {
      for (std::size_t i = next++; i < decided; i = next++) {
        if (!searches_[i]) {
          searches_[i].emplace(component_, overlaps_, strategies_[i], capacity_, techniques_);
        }
        verdicts_[i] = searches_[i]->run(slice);
        if (verdicts_[i] != ArenaVerdict::running) {
          std::size_t earliest = decided;
          while (i < earliest && !decided.compare_exchange_weak(earliest, i)) {
          }
        }
      }
    };
    std::vector<std::future<void>> helpers;
    for (unsigned t = 1; t < std::min<std::size_t>(threads, searches_.size()); ++t) {
      helpers.push_back(std::async(std::launch::async, work));
    }
    work();
    for (std::future<void>& helper : helpers) {
      helper.get();
    }
  }

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const std::uint64_t capacity_;
  const ArenaTechniques& techniques_;
  std::vector<ArenaStrategy> strategies_;
  std::vector<std::optional<ArenaSearch>> searches_; // each is made when its first turn comes
  std::vector<ArenaVerdict> verdicts_;
};

} // namespace

ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes, unsigned threads,
                          const ArenaTechniques& techniques) {
  return Portfolio(component, overlaps, capacity_bytes, techniques).run(nodes, threads);
}

} // namespace tidegate::planning
