#include <tidegate/compiler/publish_queue.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace tidegate::compiler {
namespace {

using Key = std::array<std::uint32_t, 3>;

// From here on a lane has four items, whose loads are under way together; below, more work-groups are worth
// more.
constexpr std::size_t many_items = std::size_t{1} << 18U;
constexpr std::uint32_t most_items_per_lane = 4;

// The params of one combination that were met: a bit each where they lie closely, as indices do, or else a
// table with open addressing.
class Params {
public:
  Params(std::uint32_t least, std::uint32_t most, std::uint64_t count) : least_(least) {
    const std::uint64_t range = std::uint64_t{most} - least + 1;
    dense_ = range <= 64 * count;
    words_.resize(dense_ ? (range + 63) / 64 : std::bit_ceil(2 * count));
  }

  // False where it was there.
  bool insert(std::uint32_t param) {
    if (dense_) {
      std::uint64_t& word = words_[(param - least_) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (param - least_) % 64;
      const bool fresh = (word & bit) == 0;
      word |= bit;
      return fresh;
    }
    const std::uint64_t wanted = std::uint64_t{param} + 1; // 0 is a free place
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    std::size_t place = static_cast<std::size_t>(wanted * golden_ratio >> 32U) & (words_.size() - 1);
    while (words_[place] != 0 && words_[place] != wanted) {
      place = (place + 1) & (words_.size() - 1);
    }
    const bool fresh = words_[place] == 0;
    words_[place] = wanted;
    return fresh;
  }

private:
  std::uint32_t least_;
  bool dense_ = false;
  std::vector<std::uint64_t> words_;
};

Params params_of(std::span<const QueueItem> items, const QueueCombination& combination) {
  std::uint32_t least = ~std::uint32_t{0};
  std::uint32_t most = 0;
  for (const auto& [begin, end] : combination.runs) {
    for (std::uint32_t i = begin; i < end; ++i) {
      least = std::min(least, items[i].param);
      most = std::max(most, items[i].param);
    }
  }
  return {least, most, combination.items()};
}

bool count_up(std::span<const std::uint32_t> params) {
  bool all = true;
  for (std::uint32_t i = 1; i < params.size(); ++i) {
    all &= params[i] == params[0] + i;
  }
  return all;
}

void add_tiles(const QueueCombination& combination, std::uint32_t priority,
               std::span<const std::uint32_t> params, PublishedQueue& queue) {
  const std::size_t tile_items = std::size_t{queue_lanes} * queue.items_per_lane;
  for (std::size_t at = 0; at < params.size(); at += tile_items) {
    const auto own = params.subspan(at, std::min(tile_items, params.size() - at));
    const bool listed = !count_up(own);
    queue.tiles.push_back({.op = combination.op,
                           .input = combination.input,
                           .output = combination.output,
                           .priority = priority,
                           .first = static_cast<std::uint32_t>(queue.published_items),
                           .count = static_cast<std::uint32_t>(own.size()),
                           .param = listed ? static_cast<std::uint32_t>(queue.params.size()) : own[0],
                           .listed = listed ? 1U : 0U});
    if (listed) {
      queue.params.insert(queue.params.end(), own.begin(), own.end());
    }
    queue.published_items += own.size();
  }
  queue.by_priority[priority] += static_cast<std::uint32_t>(params.size());
}

} // namespace

std::uint64_t QueueCombination::items() const {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& run) { return sum + run[1] - run[0]; });
}

std::vector<QueueCombination> combine_items(std::span<const QueueItem> items) {
  std::vector<QueueCombination> combinations;
  std::map<Key, std::uint32_t> known;
  struct Recent {
    Key key{};
    std::uint32_t combination = 0;
    bool used = false;
  };
  std::array<Recent, 256> recent{}; // items that alternate between a few are the rule
  for (std::uint32_t begin = 0; begin < items.size();) {
    const Key key{items[begin].op_handle, items[begin].input_handle, items[begin].output_handle};
    std::uint32_t end = begin + 1;
    while (end < items.size() && items[end].op_handle == key[0] && items[end].input_handle == key[1] &&
           items[end].output_handle == key[2]) {
      ++end;
    }
    Recent& last = recent[(key[0] * 67 + key[1] * 31 + key[2]) % recent.size()];
    if (!last.used || last.key != key) {
      const auto [found, added] = known.try_emplace(key, static_cast<std::uint32_t>(combinations.size()));
      if (added) {
        combinations.push_back(
            {.op = key[0], .input = key[1], .output = key[2], .first_item = begin, .runs = {}});
      }
      last = {.key = key, .combination = found->second, .used = true};
    }
    combinations[last.combination].runs.push_back({begin, end});
    begin = end;
  }
  return combinations;
}

PublishedQueue publish_queue(std::span<const QueueItem> items,
                             const std::vector<QueueCombination>& combinations,
                             std::span<const QueueOpTraits> ops) {
  PublishedQueue queue{.items_per_lane = items.size() < many_items ? 1 : most_items_per_lane};
  std::vector<std::uint32_t> order(combinations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return ops[combinations[i].op].priority; });
  const bool any_pure = std::ranges::any_of(combinations, [&](const auto& one) { return ops[one.op].pure; });
  // In one run after the other every item keeps its place.
  const bool in_place =
      !any_pure && std::ranges::is_sorted(order) &&
      std::ranges::all_of(combinations, [](const auto& one) { return one.runs.size() == 1; });
  queue.items.reserve(in_place ? 0 : items.size());
  std::vector<std::uint32_t> params; // of a combination
  for (const std::uint32_t index : order) {
    const QueueCombination& combination = combinations[index];
    const QueueOpTraits& op = ops[combination.op];
    params.clear();
    if (op.pure) {
      Params seen = params_of(items, combination);
      for (const auto& [begin, end] : combination.runs) {
        for (std::uint32_t i = begin; i < end; ++i) {
          if (seen.insert(items[i].param)) {
            params.push_back(items[i].param);
            queue.items.push_back(i);
          }
        }
      }
      queue.deduped_items += combination.items() - params.size();
    } else {
      for (const auto& [begin, end] : combination.runs) {
        for (std::uint32_t i = begin; i < end; ++i) {
          params.push_back(items[i].param);
        }
        for (std::uint32_t i = begin; i < end && !in_place; ++i) {
          queue.items.push_back(i);
        }
      }
    }
    add_tiles(combination, op.priority, params, queue);
  }
  return queue;
}

} // namespace tidegate::compiler
