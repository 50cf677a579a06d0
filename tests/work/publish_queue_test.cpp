// Publishes random queues and compares with a reference that goes item by item.
#include "../test_scale.hpp"
#include "work/queue.hpp"

#include <doctest/doctest.h>

using namespace tidegate::engine;

namespace {

// The items to publish, in order.
std::vector<QueueItem> expected(const std::vector<QueueItem>& items, const std::vector<OpSpec>& ops) {
  std::vector<std::uint32_t> appeared;
  std::vector<QueueItem> kept;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const QueueItem& item : items) {
    appeared.push_back(packed_handles(item));
    if (seen.insert({packed_handles(item), item.param}).second || !ops[item.op_handle].pure) {
      kept.push_back(item);
    }
  }
  std::ranges::stable_sort(kept, {}, [&](const QueueItem& item) {
    return std::pair(ops[item.op_handle].priority,
                     std::ranges::find(appeared, packed_handles(item)) - appeared.begin());
  });
  return kept;
}

// Publishes the items of these ops.
std::uint64_t publish(std::vector<QueueCombination>& queue, const std::vector<OpSpec>& specs) {
  std::vector<QueueOp> ops(specs.size());
  std::vector<const QueueOp*> listed;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ops[i].spec = &specs[i];
    listed.push_back(&ops[i]);
  }
  return publish_items(queue, listed);
}

void check(const std::vector<QueueItem>& items, const std::vector<OpSpec>& ops,
           const tidegate::device::Tuning& tuning = {}) {
  std::vector<QueueCombination> queue = combine_items(items);
  const std::vector<QueueItem> order = expected(items, ops);
  CHECK(publish(queue, ops) == items.size() - order.size());
  const TiledQueue tiled = tiles_of(queue, tuning);
  CHECK(tiled.lanes == tuning.queue_lanes);
  CHECK(tiled.items_per_lane == (order.size() < tuning.queue_many_items ? 1 : tuning.queue_items_per_lane));
  std::vector<QueueItem> of_tiles;
  std::uint32_t listed = 0;
  for (const QueueTile& tile : tiled.tiles) {
    listed += tile.listed * tile.items;
    CHECK(tile.items > 0);
    CHECK(tile.items <= tiled.lanes * tiled.items_per_lane);
    for (std::uint32_t i = 0; i < tile.items; ++i) {
      const std::uint32_t at = tile.param + i;
      of_tiles.push_back(unpacked_item(tile.handles, tile.listed ? tiled.params.at(at) : at));
    }
  }
  CHECK(of_tiles == order);
  CHECK(listed == tiled.params.size());
}

} // namespace

TEST_CASE("random queues") {
  for (std::uint32_t seed = 0; seed < 400 / tidegate::test::scale; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::uint32_t most) { return static_cast<std::uint32_t>(random() % most); };
    std::vector<OpSpec> ops(1 + below(5));
    for (OpSpec& op : ops) {
      op.pure = below(2) == 0;
      op.priority = below(queue_priorities);
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
  check(items, std::vector<OpSpec>(3));
  const TiledQueue queue = tiles_of(combine_items(items), {});
  CHECK(queue.params.empty()); // they count up
  CHECK(queue.tiles.size() == 2 + 2 + 1);
}

TEST_CASE("many items make larger tiles") {
  std::vector<QueueItem> items(std::size_t{1} << 18U);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    items[i].param = i / 2;
  }
  std::vector<QueueCombination> all = combine_items(items);
  CHECK(tiles_of(all, {}).items_per_lane == 4);
  CHECK(tiles_of(all, {}).tiles.size() == items.size() / 1024);
  CHECK(publish(all, {OpSpec{.pure = true}}) == items.size() / 2);
}
