// What is promoted: waves into windows, ops into cases of their own that are looked at first. Decided by the
// launch policy from counts of what runs often, or by whoever asks.
#pragma once

#include <tidegate/compiler/recommend.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/windows.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

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

} // namespace tidegate::compiler
