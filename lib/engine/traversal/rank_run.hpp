// A traversal on several ranks (kernels/frontier/ranks.cl): the device of each has the rows of its vertices and works on
// its part of every wave; ranks send each other improved vertices, or all of a frontier as a bitmap where a
// wave pulls.
#pragma once
#include "engine/rank_clock.hpp"
#include "engine/traversal/dispatch.hpp"
#include "engine/traversal/own.hpp"
#include "engine/traversal/report.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::traversal {

// The part of a graph that a rank's device holds.
struct RankPart {
  graphs::VertexCut cut;
  std::uint32_t rank = 0;
  const graphs::Rows* out = nullptr;
  const graphs::Rows* in = nullptr; // null: not needed, or the same

  [[nodiscard]] std::uint32_t first() const { return cut[rank]; }
  [[nodiscard]] std::uint32_t end() const { return cut[rank + 1]; }
  [[nodiscard]] PartShape shape() const {
    const auto edges = [this](const graphs::Rows& rows) {
      return rows.offsets[end()] - rows.offsets[first()];
    };
    return {.vertices = end() - first(), .edges = edges(*out), .in_edges = in == nullptr ? 0 : edges(*in)};
  }
};
RankPart part_of(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                 const ranks::Ranks& ranks);

engine::KernelSource rank_kernel(const TraversalShape& shape, const RankPart& part, bool float_weights,
                                 const FrontierGeometry& geometry, const std::string& opencl_version,
                                 const OwnCode* own);

// Returns the policy with which every rank chooses the topology of a wave from numbers of all ranks. Only bfs pulls.
ChoicePolicy rank_policy(ChoicePolicy policy, graphs::Algorithm algorithm);

struct RankTraversalRun {
  TraversalOutcome outcome;
  TraversalResults results; // on rank 0 all of them; in parts, on each rank its vertices'
  ranks::Traffic traffic;   // of the dispatch
  std::uint64_t upload_ns = 0;
  std::uint64_t read_back_ns = 0;
};

struct RankSetting {
  ChoicePolicy policy; // from rank_policy()
  std::uint32_t groups = 1;
  bool in_parts = false; // results stay on the ranks of their vertices, except those of cc
};

struct TraversalPlan;

// Runs the traversal together with the other ranks, and sends the values to rank 0, unless they stay in parts. Throws
// device::Refused, also for errors of ranks and an interrupt.
RankTraversalRun run_on_ranks(const device::Session& session, const TraversalPlan& plan,
                              const RankSetting& setting, const engine::RunOptions& options,
                              engine::Monitor& monitor);

// Combines the ranks' answers for their own vertices into one, on rank 0. Errors: of ranks.
Result<Answer> answer_of_parts(const Answer& own, ranks::Ranks& ranks);

} // namespace tidegate::traversal
