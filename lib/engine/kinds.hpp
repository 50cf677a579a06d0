// Some buffers and waves have more than others: lists of hits, to which lanes append in any order, active tiles, and queues.
#pragma once
#include "engine/job.hpp"
#include "runtime/memory.hpp"
#include "runtime/monitor.hpp"

namespace tidegate::engine {

struct Schedule;

// If a list has no room for all hits, the run fails, the list keeps what it has room for, or the program runs
// again with the room that was needed.
enum class HitOverflow : std::uint8_t { error, truncate, grow };
inline constexpr std::array<std::string_view, 3> hit_overflow_names{"error", "truncate", "grow"};

inline constexpr std::uint64_t most_hits = (std::uint64_t{1} << 31U) - 1; // capacity of a list

// The report of a list of hits. The counts are known after a run.
struct HitsReport {
  std::string list;
  std::uint64_t capacity = 0;
  bool derived = false; // by the policy: the program states no capacity
  HitOverflow on_overflow = HitOverflow::error;
  std::optional<std::uint64_t> hits; // that waves appended
  std::optional<std::uint64_t> dropped;
  std::optional<std::uint64_t> needed_capacity;
  std::optional<std::uint64_t> grown_from; // the first capacity, if the program ran again
};

// True if the list has no room for all hits, and is not to be cut there.
inline bool overflows(const HitsReport& hits) {
  return hits.dropped.value_or(0) != 0 && hits.on_overflow != HitOverflow::truncate;
}

// A list of hits, whose elements are in no order (layout: kernels/wave/hits.cl). Functions take its contents.
struct ProgramHits {
  HitsReport report;       // before a run
  std::uint32_t width = 1; // elements of a hit
  // Elements that kernels write of it: 3 of 4 where all write vectors of 3. Known once all arguments are.
  std::shared_ptr<std::uint32_t> written = std::make_shared<std::uint32_t>(0);
  std::function<HitsReport(std::span<const std::byte> contents)> count = {};
};

// Returns the reports of all lists before a run.
std::vector<HitsReport> hits_before(const Job& program);

// Counts the hits in what was read back, which may be the lists' headers alone.
std::vector<HitsReport> count_hits(const Job& program, const HostContents& contents);

// The tiles that a wave goes over; the flag of each is tested as well.
enum class ActiveWalk : std::uint8_t { nothing, list, blocks, all };
inline constexpr std::array<std::string_view, 4> active_walk_names{"nothing", "list", "blocks", "all"};

// An iteration.
struct ActiveChoice {
  std::uint32_t iteration = 0;
  std::uint32_t active_tiles = 0;
  policy::Topology topology = policy::Topology::empty;
  ActiveWalk walk = ActiveWalk::all;
};

// A wave. Counts and choices are known after a run.
struct ActiveReport {
  std::uint32_t wave = 0;
  std::string flags; // the buffer
  std::uint32_t tiles = 0;
  std::uint32_t pressure_bps = 0; // of the memory
  std::uint32_t sparse_bps = 0;   // thresholds of the policy
  std::uint32_t dense_bps = 0;
  std::uint32_t memory_bps = 0;
  bool chosen_by_device = false; // otherwise all tiles were walked
  std::uint64_t iterations = 0;
  std::uint64_t active_tiles = 0;    // of all iterations
  std::vector<ActiveChoice> choices; // of the last ones, see active_entries()
};

// A wave that runs only tiles whose flags are set, which another wave counts before it (kernels/wave/count_flags.cl).
struct ActiveTiles {
  std::uint32_t state = 0; // buffers
  std::uint32_t list = 0;  // of active tiles
  std::uint32_t blocks = 0;
  std::size_t flags_argument = 0; // of the wave; state, list, blocks and this one follow:
  // The iteration. No count is above 0xffffffff: with it the kernel tests no flags.
  [[nodiscard]] std::size_t iteration_argument() const { return flags_argument + 4; }
  ActiveReport report; // before a run
};

// Returns the number of entries in the state of a wave that runs in this many iterations at most. All but one are kept.
std::uint32_t active_entries(std::uint64_t iterations);

// Returns their number, less 1, of a state with this many words.
std::uint32_t active_mask(std::uint64_t words);

// Returns the reports of all such waves, from what was read back of a run that came to a position.
std::vector<ActiveReport> read_active(const Job& program, const Schedule& schedule,
                                      const HostContents& contents, const Position& reached);

// Queues: waves that run one item in each lane (kernels/wave/queue.cl).

// Work of one lane. Handles are indices into the queue's lists of ops and buffers.
struct QueueItem {
  std::uint32_t op_handle = 0;
  std::uint32_t input_handle = 0;
  std::uint32_t output_handle = 0;
  std::uint32_t param = 0; // passed to the op

  friend bool operator==(const QueueItem&, const QueueItem&) = default;
};

// Handles of an item in one word, as kernels have them.
inline constexpr std::uint32_t most_packed_ops = 1U << 12U;
inline constexpr std::uint32_t most_packed_buffers = 1U << 10U;
inline constexpr std::uint32_t most_queue_capacity = 1U << 27U; // of a queue that runs in rounds
inline std::uint32_t packed_handles(const QueueItem& item) {
  return item.op_handle | item.input_handle << 12U | item.output_handle << 22U;
}
inline QueueItem unpacked_item(std::uint32_t handles, std::uint32_t param) {
  return {.op_handle = handles % most_packed_ops,
          .input_handle = (handles >> 12U) % most_packed_buffers,
          .output_handle = handles >> 22U,
          .param = param};
}

// The items of a wave that runs one in each lane. The wave's op is the drain kernel; the next two ops check the result
// and, in rounds, start the next one.
struct ProgramQueue {
  std::vector<QueueItem> items;          // as given
  std::uint64_t deduped_items = 0;       // removed duplicates of pure ops
  std::vector<std::string> op_names;     // by handle
  bool requeues = false;                 // some op can requeue: the wave runs in rounds
  bool publishes = false;                // some op can publish items: likewise
  std::vector<std::uint32_t> seeds = {}; // in rounds: the first items, as packed handles and param
  std::uint64_t seen_bytes = 0;          // and the tables of items of pure ops
};

// The op that runs the items one by one, as the reference.
inline std::uint32_t check_op(const ProgramWave& wave) {
  return wave.op + 1;
}

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_CHOICES(engine::HitOverflow, engine::hit_overflow_names);
TIDEGATE_CHOICES(engine::ActiveWalk, engine::active_walk_names);

} // namespace tidegate::documents
