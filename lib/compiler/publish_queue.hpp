// Work items as they go to the device: those of one op, input and output side by side, in tiles.
//
//   given      (1,0,2,a) (4,0,3,b) (1,0,2,c) (1,0,2,a)
//   published  tile 0: op 1, 0 -> 2: a c     op 1 is pure: the second (1,0,2,a) is left out
//              tile 1: op 4, 0 -> 3: b
//
// A tile has one op and two buffers, so that its work-group branches as one, and four bytes an item; none
// where the params count up, as indices do.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/device/tuning.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::compiler {

inline constexpr std::uint32_t queue_priorities = 5;
inline constexpr std::uint32_t default_queue_priority = 2;

// What publishing needs to know of an op, by handle.
struct QueueOpTraits {
  bool pure = false;
  std::uint32_t priority = default_queue_priority;
};

// Items of one op between two buffers.
struct QueueCombination {
  std::uint32_t op = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t first_item = 0; // that has it
  std::uint32_t items = 0;
};

// Items [begin, end) that have the same.
struct QueueRun {
  std::uint32_t combination = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct CombinedQueue {
  std::vector<QueueCombination> combinations; // in the order in which they appear
  std::vector<QueueRun> runs;
};

CombinedQueue combine_items(std::span<const QueueItem> items);

struct QueueTile { // as kernels/queue.cl reads it
  std::uint32_t op = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t priority = 0;
  std::uint32_t first = 0;  // place of its first item
  std::uint32_t count = 0;  // of items
  std::uint32_t param = 0;  // of the first item, from where on they count up; or where they are listed
  std::uint32_t listed = 0; // 1: among the params
};

struct PublishedQueue {
  std::uint32_t lanes = 1; // of a tile
  std::uint32_t items_per_lane = 1;
  std::vector<QueueTile> tiles;      // those of better priorities first
  std::uint64_t published_items = 0; // whose places are counted from 0 on, tile by tile
  std::vector<std::uint32_t> params; // of tiles that list them
  std::vector<std::uint32_t> items;  // by place the index of the item; empty where that is the same
  std::array<std::uint32_t, queue_priorities> by_priority{};
  std::uint64_t deduped_items = 0;
};

// `ops` holds what is known of every op that a combination names. Of identical items of a pure op the first
// is published. Items keep their order within a combination, combinations theirs within a priority. Linear in
// the items; those of pure ops are looked up in a table.
PublishedQueue publish_queue(std::span<const QueueItem> items, const CombinedQueue& combined,
                             std::span<const QueueOpTraits> ops, const device::Tuning& tuning = {});

} // namespace tidegate::compiler
