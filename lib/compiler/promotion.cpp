#include <tidegate/compiler/promotion.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tidegate::compiler {
namespace {

std::uint32_t clipped(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

Promotion both(bool windows, bool opcodes) {
  return windows   ? opcodes ? Promotion::all : Promotion::windows
         : opcodes ? Promotion::opcodes
                   : Promotion::none;
}

} // namespace

std::vector<HotOp> hot_opcodes(const ResolvedProgram& program) {
  std::vector<HotOp> ops(program.ops.size());
  std::uint64_t all = 0;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    ops[op].op = op;
  }
  for (const ProgramWave& wave : program.waves) {
    const std::uint64_t tiles =
        std::uint64_t{wave.range.tiles()} * (wave.phase == WavePhase::each ? program.iterations : 1);
    ops[wave.op].tiles += tiles;
    all += tiles;
  }
  const std::uint64_t least = std::min<std::uint64_t>(program.policy.jit_queue_len_threshold, (all + 9) / 10);
  std::erase_if(ops, [least](const HotOp& op) { return op.tiles == 0 || op.tiles < least; });
  std::ranges::stable_sort(ops, std::ranges::greater(), &HotOp::tiles);
  return ops;
}

HotCounts hot_counts(const ResolvedProgram& program, const std::vector<HotOp>& ops,
                     const std::vector<Window>& windows) {
  return {.opcodes = clipped(ops.size()), .windows = clipped(count_pairs(program, windows))};
}

PromotionChoice choose_promotion(std::optional<Promotion> asked_for, const Recommendation& recommendation,
                                 std::vector<Window> windows, std::vector<HotOp> ops) {
  const Promotion wanted = asked_for.value_or(
      both(recommendation.launch.promote_hot_windows, recommendation.launch.promote_hot_opcodes));
  const bool takes_windows = wanted == Promotion::windows || wanted == Promotion::all;
  const bool takes_ops = wanted == Promotion::opcodes || wanted == Promotion::all;
  PromotionChoice choice{.promoted = both(takes_windows && !windows.empty(), takes_ops && !ops.empty()),
                         .reason = asked_for ? "asked for"
                                             : "as the launch policy says, by the counts of its evidence",
                         .windows = {},
                         .ops = {}};
  if (takes_windows && windows.empty()) {
    choice.reason += "; no waves go on with each other's tiles";
  }
  if (takes_windows) {
    choice.windows = std::move(windows);
  }
  if (takes_ops) {
    choice.ops = std::move(ops);
  }
  return choice;
}

} // namespace tidegate::compiler
