// Publishes work items for the device: items with the same op, input and output are grouped.
//
//   given      (1,0,2,a) (4,0,3,b) (1,0,2,c) (1,0,2,a)
//   published  op 1, 0 -> 2: a c     op 1 is pure: the second (1,0,2,a) is left out
//              op 4, 0 -> 3: b
#pragma once
#include "opencl_c/translation_unit.hpp"
#include "work/program.hpp"
#include <tidegate/device/profile.hpp>

namespace tidegate::engine {

struct ResolveInput;

inline constexpr std::uint32_t queue_priorities = 5;
inline constexpr std::uint32_t least_default_capacity = 1U << 20U; // of a queue whose ops publish

// A queue op, a function `uint NAME(global const IN* in, global OUT* out, uint param)` of the user's source. One that
// publishes items has a fourth parameter, `tidegate_publisher publisher`.
struct QueueOp {
  std::string name;
  std::string function;
  const OpSpec* spec = nullptr;
  std::uint32_t unit = 0; // in ProgramOps::queue_units
  opencl_c::Parameter input;
  opencl_c::Parameter output;
  bool publishes = false;
};

// Items of one op between the same two buffers.
struct QueueCombination {
  std::uint32_t op = 0;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t first_item = 0;      // the first item of the combination
  std::vector<std::uint32_t> params; // of its items

  [[nodiscard]] std::uint32_t handles() const { return packed_handles({op, input, output}); }
};

// Combinations are in order of first appearance, items in the given order.
std::vector<QueueCombination> combine_items(std::span<const QueueItem> items);

// Leaves out all but the first of identical items of each pure op, and puts combinations in order of priority. `ops` has
// every op of a combination. Linear time. Returns the number of items that were left out.
std::uint64_t publish_items(std::vector<QueueCombination>& combinations, std::span<const QueueOp* const> ops);

// Items of a combination for one work-group, which so takes one branch (layout: kernels/wave/queue.cl). An item takes four
// bytes, or none where params count up, as indices do.
struct QueueTile {
  std::uint32_t handles = 0;
  std::uint32_t items = 0;
  std::uint32_t param = 0;  // of the first item if they count up, otherwise index of its params
  std::uint32_t listed = 0; // 1: the params are listed
};

struct TiledQueue {
  std::uint32_t lanes = 1; // per tile
  std::uint32_t items_per_lane = 1;
  std::vector<QueueTile> tiles;
  std::vector<std::uint32_t> params; // of tiles that list them
};

TiledQueue tiles_of(std::span<const QueueCombination> combinations, const device::Tuning& tuning);

// Returns the items that a queue states, or those of its file. Names ending in .ndjson or .jsonl have one object per line,
// an item as in a program; empty lines are skipped. Other files have four little-endian u32 per item. Errors, with their
// places: unknown_name, bad_queue, those of reading.
Result<std::vector<QueueItem>> read_items(const QueueSpec& spec, const std::string& folder, PathScope scope,
                                          const std::string& pointer);

// Finds the function in its source, the unit with this index. Errors: argument_mismatch at its place for another signature;
// unknown_name.
Result<QueueOp> resolve_queue_op(const ProgramUnit& read, std::uint32_t unit, const std::string& name,
                                 const OpSpec& spec, const std::string& pointer);

SourceFrame queue_frame(); // around a file of ops, to read what it declares

} // namespace tidegate::engine
