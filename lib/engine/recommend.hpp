// The launch policy's recommendation for a program.
#pragma once
#include "engine/job.hpp"
#include "engine/window.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::engine {

// Numbers of frequently run ops and windows.
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
                                             std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                             const HotCounts& hot = {});

// Warns of fields of the policy that the program cannot use (policy/documents.hpp).
std::optional<Warning> idle_policy_fields(const Job& program, std::string_view file = "");

// The policy's answer with its evidence.
struct Recommendation {
  policy::LaunchRequest request;
  policy::LaunchRecommendation launch;
  policy::TopologyEvidence topology_evidence;
  policy::PromotionEvidence promotion_evidence;
  std::vector<policy::ExplanationStep> reasons; // in order of the steps
};

// Asks the policy. Errors: those of the policy.
Result<Recommendation> recommend(const Job& program, const policy::AdapterLimits& adapter,
                                 std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                 const HotCounts& hot = {});

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

// Returns the evidence of promotion, with the mode and the promotions that ran.
policy::PromotionEvidence evidence_of(const Recommendation& recommendation, policy::ExecutionMode mode,
                                      Promotion promoted);

// Returns ops that run at least a tenth of all tiles, or enough for compiling a queue; the hottest first.
std::vector<std::uint32_t> hot_opcodes(const Job& program);

// Returns the counts for the policy: hot ops, and how often a wave continues with the tiles of the previous
// one.
HotCounts hot_counts(const Job& program, const std::vector<Window>& windows);

struct PromotionChoice {
  Promotion promoted = Promotion::none;
  std::string reason;          // for people
  std::vector<Window> windows; // that became waves; by waves as written
  std::vector<std::uint32_t> ops; // with separate cases, in the program that runs
};

// Chooses among the available `windows` and `ops`.
PromotionChoice choose_promotion(std::optional<Promotion> asked_for, const Recommendation& recommendation,
                                 std::vector<Window> windows, std::vector<std::uint32_t> ops);

} // namespace tidegate::engine
