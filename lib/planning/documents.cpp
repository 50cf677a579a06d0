// Describes the documents of planning.
#include <tidegate/planning/documents.hpp>

namespace tidegate::documents {

using planning::ArenaBuffer;
using planning::Wave;

constexpr Field named_wave_fields[] = {
    optional<&NamedWave::name>("name of the wave, unique in the DAG"),
    required<&NamedWave::bytes, &Wave::frontier_bytes>("bytes that the wave reads"),
    required<&NamedWave::bytes, &Wave::scratch_bytes>("bytes of scratch, of which a fused group keeps four"),
    required<&NamedWave::bytes, &Wave::output_bytes>("bytes that the wave writes"),
};
TIDEGATE_RECORD(NamedWave, named_wave_fields);

constexpr Field dependency_fields[] = {
    required<&NamedDependency::before>("index or name of the wave that writes"),
    required<&NamedDependency::after>("index or name of the wave that reads, after a barrier"),
};
TIDEGATE_RECORD(NamedDependency, dependency_fields);

constexpr Field dag_fields[] = {
    required<&NamedWaveDag::waves>("the waves, counted from 0"),
    defaulted<&NamedWaveDag::dependencies>("pairs of waves, the second waiting for the first"),
    defaulted<&NamedWaveDag::resident_graph_bytes>("bytes of the budget that the resident graph takes"),
    required<&NamedWaveDag::budget_bytes>("device memory for the graph and one group"),
    defaulted<&NamedWaveDag::readback_bytes>("lower bound on the bytes read back"),
};
TIDEGATE_RECORD(NamedWaveDag, dag_fields);

constexpr Field group_fields[] = {
    required<&BarrierGroup::waves>("indices of the waves that run together"),
    required<&BarrierGroup::fused_bytes>("their frontier + 4 * scratch + output bytes"),
};
TIDEGATE_RECORD(BarrierGroup, group_fields);

constexpr Field barriers_fields[] = {
    required<&Barriers::groups>("groups in order, separated by barriers"),
    required<&Barriers::global_barriers>("barriers between the groups"),
};
TIDEGATE_RECORD(Barriers, barriers_fields);

constexpr Field plan_fields[] = {
    required<&FrontierMemoryPlan::planner>("the strategy that formed the groups").named("strategy"),
    optional<&FrontierMemoryPlan::objective>("the quantity that compact minimised"),
    required<&FrontierMemoryPlan::barriers>("the groups and their barriers"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_frontier_bytes>(
        "largest sum of frontier_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_scratch_bytes>(
        "largest sum of scratch_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_output_bytes>(
        "largest sum of output_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::amortized_readback_bytes>(
        "readback_bytes, or peak_output_bytes where that is more"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::max_group_width>("waves of the widest group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::lower_bound_groups>(
        "no plan of this DAG has fewer groups"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::optimal>(
        "true when it is proved that no plan has fewer groups"),
};
TIDEGATE_RECORD(FrontierMemoryPlan, plan_fields);

constexpr Field buffer_fields[] = {
    required<&NamedBuffer::id>("number or name of the buffer, unique"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::lower>("first moment (group) of its lifetime"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::upper>("first moment after its lifetime, above lower"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::size>("bytes"),
    defaulted<&NamedBuffer::lifetime, &ArenaBuffer::alignment>(
        "bytes, a power of two that divides the offset"),
};
TIDEGATE_RECORD(NamedBuffer, buffer_fields);

constexpr Field lifetimes_fields[] = {
    required<&BufferLifetimes::buffers>("the buffers and their lifetimes"),
    optional<&BufferLifetimes::capacity_bytes>(
        "largest size of the arena; left out, the height is minimised"),
};
TIDEGATE_RECORD(BufferLifetimes, lifetimes_fields);

constexpr Field placed_fields[] = {
    required<&ArenaOffset::id>("number or name of the buffer"),
    required<&ArenaOffset::offset>("offset in the arena, in bytes"),
};
TIDEGATE_RECORD(ArenaOffset, placed_fields);

constexpr Field arena_fields[] = {
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::height_bytes>("end of the topmost buffer"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::lower_bound_bytes>(
        "largest sum alive at one moment, rounded up to the alignment that all have"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::optimal>(
        "true when it is proved that no arena is lower"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::proof>("proof of optimality, or none"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::gave_up>(
        "true if the effort ran out during the search for a lower arena"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::search_nodes>(
        "nodes of the exact search; 0 when none was needed"),
    required<&ArenaPlanDocument::buffers>("every buffer with its offset, in input order"),
};
TIDEGATE_RECORD(ArenaPlanDocument, arena_fields);

TIDEGATE_DOCUMENT(NamedWaveDag, "wave_dag", "Waves, their bytes and their dependencies", Direction::input);
TIDEGATE_DOCUMENT(FrontierMemoryPlan, "frontier_memory_plan", "Barrier groups of waves under a memory budget",
                  Direction::output);
TIDEGATE_DOCUMENT(BufferLifetimes, "buffer_lifetimes", "Buffers and their lifetimes", Direction::input);
TIDEGATE_DOCUMENT(ArenaPlanDocument, "arena_plan", "Offsets of buffers in one arena", Direction::output);

FrontierMemoryPlan plan_to_document(const planning::MemoryPlan& plan, Planner planner,
                                    PlanObjective objective) {
  FrontierMemoryPlan document{.planner = planner,
                              .objective =
                                  planner == Planner::compact ? std::optional(objective) : std::nullopt,
                              .barriers = {.groups = {}, .global_barriers = plan.global_barriers()},
                              .plan = plan};
  document.barriers.groups.reserve(plan.group_count());
  for (std::size_t i = 0; i < plan.group_count(); ++i) {
    const auto waves = plan.group(i);
    document.barriers.groups.push_back(
        {.waves = {waves.begin(), waves.end()}, .fused_bytes = plan.group_fused_bytes[i]});
  }
  return document;
}

} // namespace tidegate::documents
