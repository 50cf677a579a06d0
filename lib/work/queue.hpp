// Work items as they go to the device: those of one op, input and output side by side, in tiles.
//
//   given      (1,0,2,a) (4,0,3,b) (1,0,2,c) (1,0,2,a)
//   published  tile 0: op 1, 0 -> 2: a c     op 1 is pure: the second (1,0,2,a) is left out
//              tile 1: op 4, 0 -> 3: b
//
// A tile has one op and two buffers, so that its work-group branches as one, and four bytes an item; none
// where the params count up, as indices do.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include "work/macro_answers.hpp"
#include "work/program.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

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

struct QueueTile { // as kernels/wave/queue.cl reads it
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

// Files of work items: 16 bytes an item, or a JSON object a line.

// By the ending of its name, .ndjson or .jsonl: one object a line, with op_handle, input_handle,
// output_handle and param in any order, all of them integers from 0 to 2^32 - 1; empty lines are left out.
// Otherwise four u32 an item, in the order of the machine (little-endian). bad_queue with the line, and
// errors of reading.
Result<std::vector<QueueItem>> read_queue_file(const std::string& path);

// The same of text that was read. `path` is for errors.
Result<std::vector<QueueItem>> parse_queue_lines(std::string_view text, const std::string& path);

// Waves of work items: queue ops, which are functions of the user's source, and the kernel that drains a
// queue of them (kernels/wave/queue.cl), made for each wave.

// A queue op with its signature: `uint NAME(global const IN* in, global OUT* out, uint param)`.
struct QueueOp {
  std::string name;
  std::string function;
  OpSpec spec;
  QueueOpTraits traits;
  opencl_c::Parameter input;
  opencl_c::Parameter output;
};

// Whether a function is meant for a queue: the signature is an op's, and the body names a result of ops.
bool is_meant_for_queue(const opencl_c::TranslationUnit& unit, const opencl_c::Function& function);

// Looks at the function in its source. Errors of the source; argument_mismatch with the place for another
// signature; unknown_name.
Result<QueueOp> resolve_queue_op(const std::string& name, const OpSpec& spec, const std::string& folder,
                                 const AnswerMacros& answer, PathScope scope, const std::string& pointer);

// An op that the queue lists, by its handle: a queue op, or none.
struct QueueOpHandle {
  std::string name;
  const QueueOp* op = nullptr;
};

// What is made for a wave, with places for the names that only the program knows.
struct QueueWave {
  ProgramQueue queue;
  std::string op_name; // the first of its ops
  ProgramUnit unit;
  std::vector<ProgramBuffer> own_buffers; // tiles, params, state, and where ops requeue what is left
  std::vector<Access> own_accesses;       // of the drain to them
  std::vector<ProgramArgument> arguments; // to buffers of the program, by handle
  NdRange range;
};

inline constexpr std::array<std::string_view, 3> queue_kernels{"tidegate_queue_drain", "tidegate_queue_turn",
                                                               "tidegate_queue_check"};
inline constexpr std::size_t queue_state_index = 2; // among own_buffers

// The items, from the program or its file, published. `ops` and `buffers` are those that the queue lists, by
// handle; `tuning` says how items are dealt out. Errors: bad_queue, invalid_item, not_a_queue_op,
// argument_mismatch, invalid_program, those of files.
Result<QueueWave> resolve_queue(const QueueSpec& spec, const std::string& title, const std::string& folder,
                                std::span<const QueueOpHandle> ops, std::span<const ProgramBuffer> buffers,
                                std::uint32_t age_threshold, const device::Tuning& tuning,
                                const AnswerMacros& answer, PathScope scope, const std::string& pointer);

} // namespace tidegate::engine
