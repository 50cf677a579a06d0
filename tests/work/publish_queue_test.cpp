// Publishes random queues and compares with a reference that goes item by item.
#include "../test_scale.hpp"
#include "work/queue.hpp"

#include <doctest/doctest.h>

using namespace tidegate::engine;

namespace {

auto tuple(const QueueItem& item) {
  return std::tuple(item.op_handle, item.input_handle, item.output_handle, item.param);
}

// Indices of the items to publish, in order.
std::vector<std::uint32_t> expected(const std::vector<QueueItem>& items,
                                    const std::vector<QueueOpTraits>& ops) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> appeared;
  std::vector<std::uint32_t> kept;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const std::tuple key(items[i].op_handle, items[i].input_handle, items[i].output_handle);
    if (std::ranges::find(appeared, key) == appeared.end()) {
      appeared.push_back(key);
    }
    if (seen.insert(tuple(items[i])).second || !ops[items[i].op_handle].pure) {
      kept.push_back(i);
    }
  }
  std::ranges::stable_sort(kept, {}, [&](std::uint32_t i) {
    const std::tuple key(items[i].op_handle, items[i].input_handle, items[i].output_handle);
    return std::pair(ops[items[i].op_handle].priority, std::ranges::find(appeared, key) - appeared.begin());
  });
  return kept;
}

void check(const std::vector<QueueItem>& items, const std::vector<QueueOpTraits>& ops,
           const tidegate::device::Tuning& tuning = {}) {
  const PublishedQueue queue = publish_queue(items, combine_items(items), ops, tuning);
  CHECK(queue.lanes == tuning.queue_lanes);
  CHECK(queue.items_per_lane == (items.size() < tuning.queue_many_items ? 1 : tuning.queue_items_per_lane));
  const std::vector<std::uint32_t> order = expected(items, ops);
  REQUIRE(queue.published_items == order.size());
  CHECK(queue.deduped_items == items.size() - order.size());
  std::vector<bool> covered(order.size());
  std::vector<std::uint32_t> by_priority(queue_priorities);
  std::uint32_t listed = 0;
  for (const QueueTile& tile : queue.tiles) {
    listed += tile.listed * tile.count;
    CHECK(tile.count > 0);
    CHECK(tile.count <= queue.lanes * queue.items_per_lane);
    CHECK(tile.priority == ops[tile.op].priority);
    for (std::uint32_t place = tile.first; place < tile.first + tile.count; ++place) {
      const QueueItem& item = items[order[place]];
      const std::uint32_t at = tile.param + (place - tile.first);
      const QueueItem published{tile.op, tile.input, tile.output, tile.listed ? queue.params.at(at) : at};
      REQUIRE(published == item);
      REQUIRE(queue.items[place] == order[place]);
      REQUIRE(!covered[place]);
      covered[place] = true;
      ++by_priority[tile.priority];
    }
  }
  CHECK(listed == queue.params.size());
  CHECK(std::ranges::all_of(covered, [](bool one) { return one; }));
  CHECK(std::ranges::equal(by_priority, queue.by_priority));
}

} // namespace

TEST_CASE("random queues") {
  for (std::uint32_t seed = 0; seed < 400 / tidegate::test::scale; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::uint32_t most) { return static_cast<std::uint32_t>(random() % most); };
    std::vector<QueueOpTraits> ops(1 + below(5));
    for (QueueOpTraits& op : ops) {
      op = {.pure = below(2) == 0, .priority = below(queue_priorities)};
    }
    const std::uint32_t buffers = 1 + below(4);
    const std::uint32_t params = below(2) == 0 ? 1 + below(600) : ~std::uint32_t{0}; // dense or anywhere
    std::vector<QueueItem> items(1 + below(2000));
    QueueItem last{};
    for (QueueItem& item : items) {
      if (below(4) == 0) { // runs of one combination
        last = {below(static_cast<std::uint32_t>(ops.size())), below(buffers), below(buffers), 0};
      }
      item = last;
      item.param = below(8) == 0 ? ~std::uint32_t{0} : below(params);
    }
    tidegate::device::Tuning tuning;
    if (below(2) == 0) {
      tuning.queue_lanes = 1 + below(300);
      tuning.queue_items_per_lane = 1 + below(32);
      tuning.queue_many_items = 1 + below(2000);
    }
    check(items, ops, tuning);
  }
}

TEST_CASE("params that count up are not listed") {
  std::vector<QueueItem> items;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    items.push_back({i / 400, 0, 1, i});
  }
  const std::vector<QueueOpTraits> ops(3);
  check(items, ops);
  const PublishedQueue queue = publish_queue(items, combine_items(items), ops);
  CHECK(queue.params.empty()); // they count up
  CHECK(queue.tiles.size() == 2 + 2 + 1);
}

TEST_CASE("many items make larger tiles") {
  std::vector<QueueItem> items(std::size_t{1} << 18U);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    items[i].param = i / 2;
  }
  const PublishedQueue all = publish_queue(items, combine_items(items), std::vector<QueueOpTraits>(1));
  CHECK(all.items_per_lane == 4);
  CHECK(all.tiles.size() == items.size() / 1024);
  const std::vector<QueueOpTraits> pure{{.pure = true}};
  CHECK(publish_queue(items, combine_items(items), pure).deduped_items == items.size() / 2);
}
