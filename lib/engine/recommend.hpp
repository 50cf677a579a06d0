// The launch policy's recommendation for a program, and what it can promote: windows of waves (window.cpp) and hot ops.
#pragma once
#include "engine/job.hpp"
#include "engine/schedule.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::engine {

struct Window {
  std::vector<std::uint32_t> waves; // of the program as written, in the order in which a tile runs them
  std::vector<bool> meets;          // by wave: a barrier precedes it

  friend bool operator==(const Window&, const Window&) = default;
};

// Most waves of a window; compilers take long for more.
inline constexpr std::size_t most_waves_per_window = 32;

// Finds waves of the same range and section where a dependency passes tile t only to tile t, and where all
// memory that two of them access, one writing, is accessed tile by tile. No path of dependencies leaves a
// window and returns. Waves with images, and those that cannot share a launch, are excluded.
std::vector<Window> find_windows(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared,
                                 const KernelLimits& limits);

struct FusedProgram {
  Job program; // waves in the order of their first parts; an op for each kind of window
  OutlinedOps ops;
  std::vector<std::vector<std::uint32_t>> parts; // by wave: the waves of the program as written
};

// Makes one wave of each window.
FusedProgram fuse(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows);

// Checks windows independently, by their definition. Returns the first violation as a sentence, or an empty
// string:
// - every wave of the program is in exactly one wave of the fused program, which has these `parts`;
// - a wave follows those that it depends on, in its window or in an earlier wave;
// - waves of a window have the same range and section, and share memory tile by tile.
std::string window_violation(const Job& program, const Job& fused,
                             const std::vector<std::vector<std::uint32_t>>& parts);

struct HotCounts {
  std::uint32_t opcodes = 0;
  std::uint32_t windows = 0;
};

// Returns the items that are queued: tiles, and items of queues, of all iterations; those of one iteration if the run may
// have more than 32 bits hold, such as one that repeats until it has converged. Error: overflow of queue_len.
Result<std::uint32_t> queued_items(std::span<const ProgramWave> waves, std::uint32_t iterations);

// Describes the program to the policy. The tiles of one iteration are the nodes of the graph, and the dependencies
// between them its edges, of which 32 bits hold the most: a tile waits for every tile of the previous wave, or for one if
// the dependency is tile-local. Errors: those of queued_items().
Result<policy::LaunchRequest> launch_request(const Job& program, const policy::AdapterLimits& adapter,
                                             std::uint64_t budget_bytes, const HotCounts& hot = {});

struct Recommendation {
  policy::LaunchRequest request;
  policy::LaunchRequest effective; // with inferred signals
  policy::LaunchRecommendation launch;
  std::vector<policy::ExplanationStep> reasons; // in order of the steps
};

// Asks the policy about a job without memory, on which neither mode nor promotions depend. Errors: those of the policy.
Result<Recommendation> recommend(const Job& program, const policy::AdapterLimits& adapter,
                                 std::uint64_t budget_bytes, const HotCounts& hot = {});

// Returns the answer for the memory that the plan of the job needs.
Result<Recommendation> with_memory(const Recommendation& earlier, const Job& program,
                                   std::uint64_t resident_bytes);

// Promotions: waves become windows, and ops get separate cases that are tested first. The policy decides by
// counts, unless the user does.
enum class Promotion : std::uint8_t { none, windows, opcodes, all = windows | opcodes };
inline constexpr std::array<std::string_view, 4> promotion_names{"none", "windows", "opcodes", "all"};
constexpr bool includes(Promotion all, Promotion one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

// Returns the recommendation with the mode and the promotions that ran: the user may state others than the
// policy chooses.
policy::LaunchRecommendation as_promoted(policy::LaunchRecommendation recommendation,
                                         policy::ExecutionMode mode, Promotion promoted);

// Returns ops that run at least a tenth of all tiles, or enough for compiling a queue; the hottest first.
std::vector<std::uint32_t> hot_opcodes(const Job& program);

// Returns the counts for the policy: hot ops, and how often a wave continues with the tiles of the previous
// one.
HotCounts hot_counts(const Job& program, const std::vector<Window>& windows);

struct PromotionChoice {
  Promotion promoted = Promotion::none;
  std::string reason;             // for people
  std::vector<Window> windows;    // that became waves; by waves as written
  std::vector<std::uint32_t> ops; // with separate cases, in the program that runs
};

// Chooses among the available `windows` and `ops`.
PromotionChoice choose_promotion(std::optional<Promotion> asked_for, const Recommendation& recommendation,
                                 std::vector<Window> windows, std::vector<std::uint32_t> ops);

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_CHOICES(engine::Promotion, engine::promotion_names);

} // namespace tidegate::documents
