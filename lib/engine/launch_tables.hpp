// The waits of a launch, and the tables of a generated kernel in device memory, whose rows are in kernels/wave/tables.h,
// which kernels include, too.
#pragma once
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/schedule.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::engine {

// The waits of a persistent launch: a stage waits for all groups, or for the tiles of earlier stages on which its tiles
// depend, in this iteration or the previous one. With `barrier` every stage waits for all groups. With `counters` the
// order follows from the dependencies that the program states and from the arena memory that waves access, so that waits
// also separate buffers that share memory.

// A wait of a wave's tiles for tiles of another wave.
struct Wait {
  std::uint32_t wave = 0;
  std::uint32_t producer = 0;
  bool earlier_iteration = false;    // the producer of the previous iteration
  std::optional<std::uint32_t> halo; // tile t waits for t - halo … t + halo; empty: for all

  friend bool operator==(const Wait&, const Wait&) = default;
};

struct StageWaits {
  bool everybody = false; // starts when all groups have completed all previous stages
  bool announced = false; // some wait is for this stage
  std::vector<Wait> waits;
};

struct Synchronization {
  TileMapping mapping = TileMapping::strided;
  std::vector<StageWaits> stages; // by stage of the schedule
};

// Most waits of a wave; a stage with more waits for all groups.
inline constexpr std::size_t most_waits_per_wave = 8;

// The tile mapping is strided if every stage waits for all groups, otherwise blocked: waits for neighbours
// need consecutive tiles.
Synchronization synchronize(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                            Strategy strategy);

// Interpreter: a case for each op that reads sizes and arguments from descriptors. JIT: a case for each op
// with its sizes, offsets and values as constants. Promoted ops use constants in both modes.
using Mode = policy::ExecutionMode;

namespace rows {
using uint = std::uint32_t;
#include "wave/tables.h"
} // namespace rows

using StageRow = rows::tg_stage;
using WaitRow = rows::tg_wait;
using EntryRow = rows::tg_entry;

// One case of the generated kernel: an op, with the descriptor words that all of its waves share.
struct Case {
  std::uint32_t op = 0;
  std::uint32_t wave = 0;           // first wave of the case
  std::vector<std::uint64_t> words; // its descriptor
  std::vector<bool> fixed;          // by word: the same for all waves
  std::uint32_t side_by_side = 1;   // most tiles that a work-group runs concurrently
  bool promoted = false;            // tested first, and compiled with constants in any mode
};

// The cases of a kernel. In jit mode, and of hot ops, a wave with arguments of its own has a case with these as constants. If
// that makes more cases than `most`, which take compilers long, there is one for each op and the images and samplers that it is
// called with, whose constants all of its waves share.
struct CaseRules {
  Mode mode = Mode::interpreter;
  std::size_t most = 64;               // 0: a case for each op and its images
  std::vector<std::uint32_t> hot = {}; // ops that are promoted and come first, in this order
};

struct LaunchTables {
  std::vector<Case> cases;
  std::vector<StageRow> stages;  // the shared stages of the schedule, in order
  std::vector<EntryRow> entries; // by swap phase
  std::vector<WaitRow> waits;
  std::uint32_t steps = 0; // shared stages of an iteration
  std::uint32_t entries_per_phase = 0;
  std::vector<std::uint64_t> words;      // descriptors: 13 words of sizes, then the arguments
  std::uint32_t until_word = 0;          // index of the tested buffer's offset, by swap phase
  std::uint64_t dynamic_local_bytes = 0; // for local arguments

  [[nodiscard]] std::uint64_t bytes() const {
    return stages.size() * sizeof(StageRow) + entries.size() * sizeof(EntryRow) +
           waits.size() * sizeof(WaitRow) + words.size() * sizeof(words[0]);
  }
};

// Words of a descriptor before the arguments, as tg_range_at() reads them.
inline constexpr std::uint32_t range_words = 13;

// Replaces a buffer's offset.
inline constexpr std::uint64_t null_word = ~std::uint64_t{0};

// Returns how many words the value of an argument takes, without what changes it.
std::uint64_t value_words(const ProgramArgument& argument);

// Location of an argument in a descriptor, aligned for its type.
struct ArgumentIndex {
  std::uint32_t word = 0;
  std::uint64_t local_offset = 0; // of a local argument, in dynamic local memory
};
std::vector<ArgumentIndex> argument_indices(std::span<const ProgramArgument> arguments);

LaunchTables make_tables(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                         const Synchronization& synchronization, const CaseRules& rules = {});

// Returns the groups, the first and how many, that a group with tiles [begin, end) of a stage waits for.
std::pair<std::uint32_t, std::uint32_t> awaited_groups(const WaitRow& wait, std::uint32_t begin,
                                                       std::uint32_t end, std::uint32_t groups);

// Tracks what each group knows of the others. Returns the first violation as a sentence, or an empty string:
// - a wait for a later step, or for one that no group announces: it would never end;
// - an arrival at the barrier too many or too few;
// - a tile that conflicts with an earlier tile of a group that it has not waited for;
// - waves of one stage that conflict.
std::string wait_violation(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                           const LaunchTables& tables, TileMapping mapping, std::uint32_t groups);

} // namespace tidegate::engine
