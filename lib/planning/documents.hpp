// Wave DAGs, memory plans, buffer lifetimes and arena plans as documents.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::documents {

struct NamedWave {
  std::optional<std::string> name;
  planning::Wave bytes;
};

struct NamedDependency {
  Identifier before; // of waves
  Identifier after;
};

struct NamedWaveDag {
  std::vector<NamedWave> waves;
  std::vector<NamedDependency> dependencies;
  std::uint64_t resident_graph_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::uint64_t readback_bytes = 0;
};

enum class Planner : std::uint8_t { layered, compact };
inline constexpr std::array<std::string_view, 2> planner_names{"layered", "compact"};

enum class PlanObjective : std::uint8_t { groups, peak };
inline constexpr std::array<std::string_view, 2> plan_objective_names{"groups", "peak"};

struct BarrierGroup {
  std::vector<std::uint32_t> waves;
  std::uint64_t fused_bytes = 0;
};

struct Barriers {
  std::vector<BarrierGroup> groups;
  std::uint64_t global_barriers = 0;
};

struct FrontierMemoryPlan {
  Planner planner = Planner::layered;
  std::optional<PlanObjective> objective; // compact only
  Barriers barriers;
  planning::MemoryPlan plan; // its figures; the groups are in `barriers`
};

// Returns a plan as a document, with the objective of the planner `compact`.
FrontierMemoryPlan plan_to_document(const planning::MemoryPlan& plan, Planner planner = Planner::layered,
                                    PlanObjective objective = PlanObjective::groups);

struct NamedBuffer {
  Identifier id;
  planning::ArenaBuffer lifetime;
};

struct BufferLifetimes {
  std::vector<NamedBuffer> buffers;
  std::optional<std::uint64_t> capacity_bytes;
};

struct ArenaOffset {
  Identifier id;
  std::uint64_t offset = 0;
};

struct ArenaPlanDocument {
  planning::ArenaPlan plan; // its figures; the offsets are in `buffers`
  std::vector<ArenaOffset> buffers;
};

TIDEGATE_CHOICES(Planner, planner_names);
TIDEGATE_CHOICES(PlanObjective, plan_objective_names);
TIDEGATE_CHOICES(planning::ArenaProof, planning::arena_proof_names);

TIDEGATE_HAS_RECORD(Barriers);
TIDEGATE_HAS_RECORD(FrontierMemoryPlan);
TIDEGATE_HAS_RECORD(ArenaPlanDocument);

TIDEGATE_HAS_DOCUMENT(NamedWaveDag);
TIDEGATE_HAS_DOCUMENT(FrontierMemoryPlan);
TIDEGATE_HAS_DOCUMENT(BufferLifetimes);
TIDEGATE_HAS_DOCUMENT(ArenaPlanDocument);

} // namespace tidegate::documents
