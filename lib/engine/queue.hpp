// Queues: waves that run one item in each lane (kernels/wave/queue.cl).
#pragma once
#include "engine/job.hpp"

namespace tidegate::engine {

// Work of one lane. Handles are indices into the queue's lists of ops and buffers.
struct QueueItem {
  std::uint32_t op_handle = 0;
  std::uint32_t input_handle = 0;
  std::uint32_t output_handle = 0;
  std::uint32_t param = 0; // passed to the op

  friend bool operator==(const QueueItem&, const QueueItem&) = default;
};

// Handles of an item in one word, as kernels/wave/publish.cl has them.
inline constexpr std::uint32_t most_packed_ops = 1U << 12U;
inline constexpr std::uint32_t most_packed_buffers = 1U << 10U;
inline constexpr std::uint32_t most_queue_capacity = 1U << 27U; // of a queue whose ops publish
inline std::uint32_t packed_handles(const QueueItem& item) {
  return item.op_handle | item.input_handle << 12U | item.output_handle << 22U;
}
inline QueueItem unpacked_item(std::uint32_t handles, std::uint32_t param) {
  return {.op_handle = handles % most_packed_ops,
          .input_handle = (handles >> 12U) % most_packed_buffers,
          .output_handle = handles >> 22U,
          .param = param};
}

// Items of one op between the same two buffers, for one work-group (layout: kernels/wave/queue.cl).
struct QueueTile {
  std::uint32_t op = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t priority = 0;
  std::uint32_t first = 0;  // position of its first item
  std::uint32_t count = 0;  // number of items
  std::uint32_t param = 0;  // param of the first item if they count up, otherwise index of its params
  std::uint32_t listed = 0; // 1: the params are listed
};

// The items of a wave that runs one in each lane (kernels/wave/queue.cl). The wave's op is the drain kernel; the
// next two ops start the next round and check the result.
struct ProgramQueue {
  std::vector<QueueItem> items;          // as given
  std::vector<std::uint32_t> published;  // by position on the device: the item; empty if equal
  std::uint64_t deduped_items = 0;       // removed duplicates of pure ops
  std::vector<QueueTile> tiles = {};     // unless ops publish
  std::vector<std::string> op_names;     // by handle
  bool requeues = false;                 // some op can requeue: the wave runs in rounds
  bool publishes = false;                // some op can publish items: likewise
  std::vector<std::uint32_t> seeds = {}; // if ops publish: the first items, as packed handles and param
  std::uint64_t seen_bytes = 0;          // and the tables of items of pure ops

  [[nodiscard]] std::uint64_t item_at(std::uint32_t position) const {
    return published.empty() ? position : published[position];
  }
};

// The op that runs the items one by one, as the reference.
inline std::uint32_t check_op(const ProgramWave& wave) {
  return wave.op + 2;
}

} // namespace tidegate::engine
