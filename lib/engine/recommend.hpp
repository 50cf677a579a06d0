// What the launch policy says of a program.
#pragma once
#include "engine/window.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// What of a program runs often.
struct HotCounts {
  std::uint32_t opcodes = 0;
  std::uint32_t windows = 0;
};

// The program as the policy sees it. The tiles of all iterations are the items of the queue, those of one the
// nodes of the graph, and dependencies between them its edges: every tile of a wave waits for every tile of
// the wave before it, or for one where the dependency is tile-local. Counts are cut at what the fields hold.
policy::LaunchRequest launch_request(const ResolvedProgram& program, const policy::AdapterLimits& adapter,
                                     std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                     const HotCounts& hot = {});

// The policy's answer and what it rests on.
struct Recommendation {
  policy::LaunchRecommendation launch;
  policy::TopologyEvidence topology_evidence;
  policy::PromotionEvidence promotion_evidence;
  std::uint64_t frontier_density_bps = 0;
  std::vector<policy::TraceStep> reasons; // step by step
};

// Errors: those of the policy.
Result<Recommendation> recommend(const ResolvedProgram& program, const policy::AdapterLimits& adapter,
                                 std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                 const HotCounts& hot = {});

// What is promoted: waves into windows, ops into cases of their own that are looked at first. Decided by the
// launch policy from counts of what runs often, or by whoever asks.

enum class Promotion : std::uint8_t { none, windows, opcodes, all };
inline constexpr std::array<std::string_view, 4> promotion_names{"none", "windows", "opcodes", "all"};

struct HotOp {
  std::uint32_t op = 0;
  std::uint64_t tiles = 0; // that it runs in all iterations

  friend bool operator==(const HotOp&, const HotOp&) = default;
};

// Ops that run a tenth of all tiles, or as many as compiling a queue for takes; the hottest first.
std::vector<HotOp> hot_opcodes(const ResolvedProgram& program);

// What the policy is told: ops that are hot, and how often a wave goes on with the tiles of the one before
// it.
HotCounts hot_counts(const ResolvedProgram& program, const std::vector<HotOp>& ops,
                     const std::vector<Window>& windows);

struct PromotionChoice {
  Promotion promoted = Promotion::none;
  std::string reason;          // for people
  std::vector<Window> windows; // that became waves; of the program as it was written
  std::vector<HotOp> ops;      // that have cases of their own; of the program that runs
};

// `windows` and `ops` are those that there are.
PromotionChoice choose_promotion(std::optional<Promotion> asked_for, const Recommendation& recommendation,
                                 std::vector<Window> windows, std::vector<HotOp> ops);

} // namespace tidegate::engine
