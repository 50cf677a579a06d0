// Iterations of a rank between two exchanges of halos, in one persistent launch. For the compiler they are a job of
// their own: the waves that repeat, on the tiles of this rank, with the memory that the rank has.
//
//   own tiles          |########|            iteration 3 of 3
//                    |#+########+#|          iteration 2
//                  |#+#+########+#+#|        iteration 1
//                  | tiles of all  |         the job has the widest range in each iteration: what it writes outside of the
//                                            needed tiles counts as not fresh, as the rest of whole tiles does
#pragma once
#include "engine/arena_run.hpp"
#include "engine/compile.hpp"
#include "engine/rank_run.hpp"
#include "engine/run_options.hpp"
#include "engine/split.hpp"
#include "ranks/ranks.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Returns why the iterations of a program are plain launches on ranks; empty if their waves can share a launch.
std::string block_obstacle(const Job& program, const JobSplit& split);

// Returns the job of one rank, which may have no wave; buffers keep their numbers. `depth` as of store_in_parts().
Job block_job(const Job& program, const JobSplit& split, std::span<const std::vector<std::uint32_t>> storage,
              std::uint32_t depth, std::uint32_t rank);

struct RankBlock {
  CompiledProgram compiled;
  BuiltProgram built;
  DispatchLimits limits;
  bool is_short = false; // a launch takes a small part of a slice, as was seen: the host need not wait for it
};

// Blocks are taken by no rank, by all from the start, or if they are faster than plain launches in the run itself.
enum class BlockUse : std::uint8_t { never, always, measured };

struct RankBlocks {
  BlockUse use = BlockUse::never;
  std::string reason; // for people
  Strategy strategy = Strategy::plain;
  std::optional<RankBlock> block; // empty if this rank has nothing to run in them
};

// Compiles and builds the block, and decides with all ranks whether it may run. With no strategy stated, only one that
// the cost model expects to be faster is tried. Errors: as Ranks::wait().
Result<RankBlocks> make_blocks(const device::Session& session, const device::DeviceInfo& device,
                               const Job& program, const JobSplit& split,
                               std::span<const std::vector<std::uint32_t>> storage, std::uint32_t depth,
                               const RunOptions& options);

// Runs the first iterations by plain launches and with blocks, whose use was to be measured: with other bytes they are
// taken never. Errors: as run_on_ranks().
Result<void> prove_blocks(const device::Session& session, const Job& program, const JobSplit& split,
                          const std::vector<std::vector<std::uint32_t>>& storage, const HostContents& first,
                          RankSettings settings, const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
