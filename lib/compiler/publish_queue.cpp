#include <tidegate/compiler/publish_queue.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace tidegate::compiler {
namespace {

using Key = std::array<std::uint32_t, 3>;

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

// Leaves the first of equal params, and their items beside them; returns how many.
std::uint32_t remove_equal(std::span<std::uint32_t> params, std::span<std::uint32_t> items) {
  const auto [least, most] = std::ranges::minmax(params);
  Params seen(least, most, params.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (seen.insert(params[i])) {
      params[kept] = params[i];
      items[kept] = items[i];
      ++kept;
    }
  }
  return kept;
}

bool count_up(std::span<const std::uint32_t> params) {
  bool all = true;
  for (std::uint32_t i = 1; i < params.size(); ++i) {
    all &= params[i] == params[0] + i;
  }
  return all;
}

// The items of a combination. The params of tiles that list them move forward in their vector to where
// `listed` ends.
void add_tiles(const QueueCombination& combination, std::uint32_t priority,
               std::span<const std::uint32_t> params, std::size_t& listed, PublishedQueue& queue) {
  const std::size_t tile_items = std::size_t{queue.lanes} * queue.items_per_lane;
  for (std::size_t at = 0; at < params.size(); at += tile_items) {
    const auto own = params.subspan(at, std::min(tile_items, params.size() - at));
    const bool counts = count_up(own);
    queue.tiles.push_back({.op = combination.op,
                           .input = combination.input,
                           .output = combination.output,
                           .priority = priority,
                           .first = static_cast<std::uint32_t>(queue.published_items),
                           .count = static_cast<std::uint32_t>(own.size()),
                           .param = counts ? own[0] : static_cast<std::uint32_t>(listed),
                           .listed = counts ? 0U : 1U});
    if (!counts) {
      std::ranges::copy(own, queue.params.begin() + static_cast<std::ptrdiff_t>(listed));
      listed += own.size();
    }
    queue.published_items += own.size();
  }
  queue.by_priority[priority] += static_cast<std::uint32_t>(params.size());
}

} // namespace

CombinedQueue combine_items(std::span<const QueueItem> items) {
  CombinedQueue queue;
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
      const auto next = static_cast<std::uint32_t>(queue.combinations.size());
      const auto [found, added] = known.try_emplace(key, next);
      if (added) {
        queue.combinations.push_back({.op = key[0], .input = key[1], .output = key[2], .first_item = begin});
      }
      last = {.key = key, .combination = found->second, .used = true};
    }
    queue.combinations[last.combination].items += end - begin;
    queue.runs.push_back({.combination = last.combination, .begin = begin, .end = end});
    begin = end;
  }
  return queue;
}

PublishedQueue publish_queue(std::span<const QueueItem> items, const CombinedQueue& combined,
                             std::span<const QueueOpTraits> ops, const device::Tuning& tuning) {
  const auto& combinations = combined.combinations;
  PublishedQueue queue{.lanes = tuning.queue_lanes,
                       .items_per_lane =
                           items.size() < tuning.queue_many_items ? 1 : tuning.queue_items_per_lane};
  std::vector<std::uint32_t> order(combinations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return ops[combinations[i].op].priority; });
  const bool any_pure = std::ranges::any_of(combinations, [&](const auto& one) { return ops[one.op].pure; });
  // In one run after the other every item keeps its place.
  const bool in_place =
      !any_pure && std::ranges::is_sorted(order) && combined.runs.size() == combinations.size();

  // Every param to its combination, by one walk over the items.
  std::vector<std::size_t> next(combinations.size());
  std::size_t place = 0;
  for (const std::uint32_t index : order) {
    next[index] = place;
    place += combinations[index].items;
  }
  queue.params.resize(items.size());
  queue.items.resize(in_place ? 0 : items.size());
  for (const QueueRun& run : combined.runs) {
    std::size_t to = next[run.combination];
    next[run.combination] += run.end - run.begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i, ++to) {
      queue.params[to] = items[i].param;
      if (!in_place) {
        queue.items[to] = i;
      }
    }
  }

  // What is left of each, in tiles.
  std::size_t listed = 0;
  place = 0;
  for (const std::uint32_t index : order) {
    const QueueCombination& combination = combinations[index];
    const auto own = std::span(queue.params).subspan(place, combination.items);
    std::uint32_t kept = combination.items;
    if (ops[combination.op].pure) {
      const auto own_items = std::span(queue.items).subspan(place, combination.items);
      kept = remove_equal(own, own_items);
      std::ranges::copy(own_items.first(kept),
                        queue.items.begin() + static_cast<std::ptrdiff_t>(queue.published_items));
    } else if (queue.deduped_items != 0) {
      std::ranges::copy(std::span(queue.items).subspan(place, kept),
                        queue.items.begin() + static_cast<std::ptrdiff_t>(queue.published_items));
    }
    add_tiles(combination, ops[combination.op].priority, own.first(kept), listed, queue);
    queue.deduped_items += combination.items - kept;
    place += combination.items;
  }
  queue.params.resize(listed);
  queue.items.resize(in_place ? 0 : queue.published_items);
  return queue;
}

} // namespace tidegate::compiler
