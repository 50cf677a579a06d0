// A job: all that the engine knows of a program. Buffers, waves and dependencies with every name found, every
// argument checked and every size computed, whatever kind of work a wave was in its document: work/ lowers each
// kind to this form. Plain data.
#pragma once
#include "core/files.hpp"
#include "core/npy.hpp"
#include "device/image_format.hpp"
#include "engine/active.hpp"
#include "engine/progression.hpp"
#include "opencl_c/preprocessor.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

enum class Access : std::uint8_t { read, write, read_write };
inline constexpr std::array<std::string_view, 3> access_names{"read", "write", "read_write"};

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

// When a wave runs: once before the iterations, in each iteration, or once after them.
enum class Section : std::uint8_t { before, each, after };
inline constexpr std::array<std::string_view, 3> section_names{"before", "each", "after"};

// Part of a program that is valid but probably a mistake.
struct Warning {
  std::string message;
  std::string fix;
  std::string pointer; // into the program
};

// If a list has no room for all hits, the run fails, the list keeps what it has room for, or the program runs
// again with the room that was needed.
enum class HitOverflow : std::uint8_t { error, truncate, grow };
inline constexpr std::array<std::string_view, 3> hit_overflow_names{"error", "truncate", "grow"};

// The policy's capacity of a list: items * expected_hits_per_item * multiplier, and at least `least`.
struct HitCapacityRule {
  std::uint64_t items = 0; // of the whole run: tiles, and items of queues
  std::uint32_t expected_hits_per_item = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t least = 0;
};

inline constexpr std::uint64_t most_hits = (std::uint64_t{1} << 31U) - 1; // capacity of a list

// The report of a list of hits. The counts are known after a run.
struct HitsReport {
  std::string list;
  std::uint64_t capacity = 0;
  std::optional<HitCapacityRule> rule; // of a capacity that the program does not state
  HitOverflow on_overflow = HitOverflow::error;
  bool sorted = false;
  std::optional<std::uint64_t> hits; // that waves appended
  std::optional<std::uint64_t> dropped;
  std::optional<std::uint64_t> needed_capacity;
  std::optional<std::uint64_t> grown_from; // the first capacity, if the program ran again
};

// True if the list has no room for all hits, and is not to be cut there.
inline bool overflows(const HitsReport& hits) {
  return hits.dropped.value_or(0) != 0 && hits.on_overflow != HitOverflow::truncate;
}

struct HitsDifference {
  std::uint64_t hits = 0;  // that only one of two lists has
  std::uint64_t first = 0; // index of the first of them in the sorted list
  std::string expected, found;
};

// A list of hits, whose elements are in no order (layout: kernels/wave/hits.cl). Functions take its contents.
struct ProgramHits {
  HitsReport report;       // before a run
  std::uint32_t width = 1; // elements of a hit
  // Elements that kernels write of it: 3 of 4 where all write vectors of 3. Known once all arguments are.
  std::shared_ptr<std::uint32_t> written = std::make_shared<std::uint32_t>(0);
  std::function<HitsReport(std::span<const std::byte> contents)> count = {};
  // Compares the hits in any order; of lists without room for all hits, only their numbers.
  std::function<HitsDifference(std::span<const std::byte> expected, std::span<const std::byte> found)>
      compare = {};
};

// The user's own reference of an output.
struct ExpectedOutput {
  std::string file;
  double rtol = 0; // an element e allows e ± (atol + rtol |e|)
  double atol = 0;
  std::function<Result<std::vector<std::byte>>()> read = {};
};

// Memory that waves read and write: a buffer, or an image, whose elements are those of its file, row by row.
struct ProgramBuffer {
  std::string name;
  std::string pointer = {}; // its place in the document; empty if no document names it
  ElementType type = ElementType::f32;
  std::uint64_t count = 0; // elements
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0; // along the first dimension of its shape; 0 if the program states none
  bool swapped = false;
  std::optional<ImageShape> image{};
  bool in_registers = false; // used by one wave, in registers: it needs no memory
  // Returns its contents before the first wave, or their start: the bytes after it are undefined. Empty: no
  // contents.
  std::function<Result<std::vector<std::byte>>()> first = {};
  // If it is not empty: returns these bytes of them, without the memory for all; both are multiples of the element size.
  std::function<Result<std::vector<std::byte>>(std::uint64_t begin, std::uint64_t bytes)> first_part = {};
  std::string content = {}; // name of these contents: equal names, equal contents; empty if unknown
  // The file that gets its contents after the last wave, and the function that writes it.
  std::optional<std::string> output = {};
  std::function<Result<void>(std::span<const std::byte> contents)> write = {};
  std::optional<std::string> output_head = {}; // of the file, if the contents follow it as they are
  std::optional<ExpectedOutput> expected{};
  std::shared_ptr<const ProgramHits> hits = {};
  bool log = false; // its last contents are for the report alone

  [[nodiscard]] bool is_result() const { return output || hits; }
  [[nodiscard]] bool is_read_back() const { return is_result() || log; }
  // Neither its first nor its last contents matter.
  [[nodiscard]] bool transient() const { return !first && !output && !swapped; }
  // Images have separate memory.
  [[nodiscard]] bool in_arena() const { return !image && !in_registers; }
  [[nodiscard]] std::string_view kind() const { return image ? "image" : "buffer"; }
};

// Text compiled before and after the user's file, if any.
struct SourceFrame {
  std::string before, after; // whole lines
};

struct ProgramUnit {
  std::string path;
  std::vector<std::string> files; // all files read: the path and its includes
  std::string options;            // as the program states them
  opencl_c::CompilerOptions parsed_options;
  opencl_c::TranslationUnit unit;
  std::string built_in =
      {}; // tidegate's source, which goes with any options and work-group size; empty: a file
  SourceFrame frame = {};
  std::string rewritten =
      {}; // text with more kernels than the file, in its place and its frame's; may be empty
};

struct ProgramOp {
  std::string name;
  std::uint32_t unit = 0;
  std::uint32_t function = 0; // index into the unit's functions
};

// Rows of a buffer that a work-item touches: with number i in the outermost dimension, i - reach to i + reach.
struct RowReach {
  std::uint64_t row_bytes = 0;
  std::uint64_t reach = 0;
  std::uint64_t beyond = 0; // bytes before and after these rows that it touches, too
  std::uint64_t wraps = 0;  // rows of a torus, whose first follow the last; 0: none
  bool of_tiles = false;    // counted from the first and the last id of the work-item's tile
};

// How a kernel changes elements of a buffer that all its work-groups share, so that ranks can combine theirs.
enum class Combine : std::uint8_t { sum, min, max };
inline constexpr std::array<std::string_view, 3> combine_names{"sum", "min", "max"};

struct ProgramArgument {
  enum class Kind : std::uint8_t { buffer, image, sampler, null, local, value };
  Kind kind = Kind::value;
  std::uint32_t buffer = 0; // or image
  Access access = Access::read;
  bool access_stated = false; // by the program, not by the kernel's signature
  bool overwrites = false;    // proven: the wave neither needs nor keeps the buffer's old contents
  std::string
      reinterpreted; // the other type that the kernel reads its elements as, unless stated as intended
  std::uint64_t local_bytes = 0;
  std::vector<std::byte> value; // as clSetKernelArg takes it: a vector of 3 takes the space of 4
  std::uint32_t alignment = 0;  // of the value, bytes; 0: its size
  // Numbers of the value that change with the iteration, by offset. All waves of an op have the same: they share the
  // code.
  std::vector<Change> changes = {};
  SamplerSpec sampler{};
  // If known: tile t touches only elements of tiles within this distance, in x, y and z.
  std::optional<std::array<std::uint32_t, 3>> halo = {};
  std::uint32_t element_bytes = 0;   // bytes per work-item, if the halo was derived from the kernel
  bool assigned_first = false;       // likewise: every work-item assigns its element before any other access
  std::optional<RowReach> rows = {}; // if known
  std::optional<Combine> combine = {}; // if stated or proven

  [[nodiscard]] bool is_object() const { return kind == Kind::image || kind == Kind::sampler; }
  [[nodiscard]] bool is_memory() const { return kind == Kind::buffer || kind == Kind::image; }
};

// In x, y and z; unused dimensions have size 1.
struct NdRange {
  std::uint32_t dimensions = 1;
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::array<std::uint64_t, 3> offset{0, 0, 0};
  std::array<std::uint32_t, 3> groups{1, 1, 1};

  [[nodiscard]] std::uint32_t tiles() const { return groups[0] * groups[1] * groups[2]; }
  [[nodiscard]] std::uint32_t group_size() const { return local[0] * local[1] * local[2]; }
  // True if the last group of a dimension has fewer work-items than the others.
  [[nodiscard]] bool ragged() const {
    return global[0] % local[0] != 0 || global[1] % local[1] != 0 || global[2] % local[2] != 0;
  }

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

// The fill or copy command of OpenCL that does what a wave's built-in kernel does.
struct TransferCommand {
  std::optional<std::uint32_t> from; // of a copy
  std::uint32_t to = 0;
  std::uint64_t from_offset = 0; // bytes
  std::uint64_t to_offset = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern; // of a fill: one element
};

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
  std::vector<QueueItem> items;         // as given
  std::vector<std::uint32_t> published; // by position on the device: the item; empty if equal
  std::uint64_t published_items = 0;
  std::uint64_t deduped_items = 0;   // removed duplicates of pure ops
  std::uint64_t publish_ns = 0;      // that grouping the items and removing duplicates took
  std::vector<QueueTile> tiles = {}; // unless ops publish
  std::uint32_t ids = 0; // if ranks may cut it: the largest param and 1, which are ids of rows (RowReach)
  std::vector<std::string> op_names; // by handle
  bool requeues = false;             // some op can requeue: the wave runs in rounds
  bool publishes = false;            // some op can publish items: likewise
  std::uint32_t state_buffer = 0;    // layout: kernels/wave/queue_state.h
  std::uint32_t first_buffer = 0;    // first buffer of the program among the arguments
  std::uint32_t age_threshold = 0;   // rounds, from the policy
  std::uint32_t capacity = 0; // requeued items that may wait at once; if ops publish, items of any kind
  std::uint32_t most_stalled_rounds = 0;
  std::vector<std::uint32_t> seeds = {}; // if ops publish: the first items, as packed handles and param
  std::uint64_t seen_bytes = 0;          // and the tables of items of pure ops

  [[nodiscard]] std::uint64_t item_at(std::uint32_t position) const {
    return published.empty() ? position : published[position];
  }
};

// A wave that runs only tiles whose flags are set, which another wave counts before it (kernels/wave/count_flags.cl).
struct ActiveTiles {
  std::uint32_t state = 0; // buffers
  std::uint32_t list = 0;  // of active tiles
  std::uint32_t blocks = 0;
  std::size_t flags_argument = 0; // of the wave; state, list, blocks and this one follow:
  // 1 + the iteration, or 0: the kernel does not test the flags.
  [[nodiscard]] std::size_t iteration_argument() const { return flags_argument + 4; }
  ActiveReport report; // before a run
};

struct ProgramWave {
  std::string name;  // empty without one
  std::string title; // for sentences, if its index is not the one in the document; may be empty
  std::uint32_t op = 0;
  Section section = Section::each;
  bool users_kernel = true; // its op is a kernel as the user wrote it
  bool tests_flags = false; // its kernel returns where a tile is not active
  NdRange range;
  std::vector<ProgramArgument> arguments;
  planning::Wave bytes;
  std::uint32_t rules = 0;                // bit n: source rule n
  std::vector<std::uint32_t> window = {}; // the waves of the document that a window replaces
  std::shared_ptr<const ProgramQueue> queue = {};
  std::shared_ptr<const ActiveTiles> active = {};
  std::optional<std::uint32_t> prepares =
      {}; // the wave right after it in the program's order, whatever its index
  std::optional<TransferCommand> command = {}; // used where the wave is launched alone
  std::optional<std::uint32_t> place = {};     // index in the document, if it is another one

  // Returns true if it repeats, in rounds, until its queue is empty.
  [[nodiscard]] bool in_rounds() const { return queue && (queue->requeues || queue->publishes); }
  // The arguments without those that tidegate adds to a queue.
  [[nodiscard]] std::span<const ProgramArgument> users_arguments() const {
    return std::span(arguments).subspan(queue ? queue->first_buffer : 0);
  }
  // Returns the number of items of a queue, otherwise of tiles.
  [[nodiscard]] std::uint64_t items() const { return queue ? queue->published_items : range.tiles(); }
};

// The other ops of a wave with a queue.
inline std::uint32_t turn_op(const ProgramWave& wave) {
  return wave.op + 1;
}
inline std::uint32_t check_op(const ProgramWave& wave) {
  return wave.op + 2;
}

struct ResolvedDependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  // If known: tile t of `after` touches only what tiles of `before` within this distance of t touch, in x, y
  // and z. Zero means tile-local.
  std::optional<std::array<std::uint32_t, 3>> halo = {};
  std::optional<std::size_t> index = {}; // in the program's list; none for derived ones

  [[nodiscard]] bool tile_local() const { return halo == std::array<std::uint32_t, 3>{}; }
};

struct ResolvedUntil {
  std::uint32_t buffer = 0;
  std::vector<std::byte> value; // one element
};

struct Job {
  std::string folder;                 // base of the program's paths
  FileUses files;                     // that the program reads and writes
  std::vector<ProgramBuffer> buffers; // followed by images
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  std::vector<ResolvedDependency> dependencies;
  bool derived = false;         // the dependencies were derived
  std::uint32_t iterations = 1; // upper bound
  std::vector<std::array<std::uint32_t, 2>> swaps;
  std::optional<ResolvedUntil> until;
  std::uint64_t budget_bytes = 0; // 0: none given
  bool fp_contract_off = false;   // sources are compiled without contracting a * b + c
  policy::LaunchPolicy policy;
  std::vector<std::string> assumed_macros; // names that the sources depend on, where no device was asked

  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return units[ops[op].unit].unit.functions[ops[op].function];
  }
  // Returns true if ops of some queue publish items.
  [[nodiscard]] bool publishes() const {
    return std::ranges::any_of(waves,
                               [](const ProgramWave& wave) { return wave.queue && wave.queue->publishes; });
  }
  // Returns the name of a wave in a sentence.
  [[nodiscard]] std::string wave_text(std::uint32_t wave) const;
  // Returns its place in the document (RFC 6901).
  [[nodiscard]] std::string wave_pointer(std::uint64_t wave) const;
};

// Returns the waves in the program's order of execution: by section, then by index.
std::vector<std::uint32_t> section_order(const std::vector<ProgramWave>& waves);

// Derives dependencies from reads and writes in that order: a read waits for the last write before it; a
// write waits for that write and all reads since.
std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count);

// Returns a topological order of the waves, as close as possible to the program's own order, or to that of
// `ranks` by wave.
std::vector<std::uint32_t> program_order(const Job& program, std::span<const std::uint64_t> ranks = {});

// Returns the DAG for the planners: a section waits for all of the previous section. The budget is dropped if
// all buffers fit into it together.
planning::WaveDag wave_dag(const Job& program, std::uint64_t budget_bytes);

// Refuses outputs that would replace inputs or each other, of the program and of the command line (`files`):
// see refuse_overwriting().
Result<void> keep_inputs(const Job& job, FileUses files);

// Returns the parameter type that takes the image: "image2d_t", "image2d_depth_t" for depth formats.
std::string_view type_name(const ImageShape& shape);

// Returns "rgba_unorm8 of 640 x 480", with layers "… in 4 layers".
std::string describe(const ImageShape& shape);

// Returns the shape of the array in a file, slowest dimension first: layers or depth, height, width, and
// channels if several.
std::vector<std::uint64_t> array_shape(const ImageShape& shape);

} // namespace tidegate::engine
