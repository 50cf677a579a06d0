// Describes the documents of planning.
#include <tidegate/planning/documents.hpp>

namespace tidegate::documents {

using planning::ArenaBuffer;
using planning::Wave;

constexpr Field named_wave_fields[] = {
    optional<&NamedWave::name>("name", "name of the wave, unique in the DAG"),
    required<&NamedWave::bytes, &Wave::frontier_bytes>("frontier_bytes", "bytes that the wave reads"),
    required<&NamedWave::bytes, &Wave::scratch_bytes>("scratch_bytes",
                                                      "bytes of scratch, of which a fused group keeps four"),
    required<&NamedWave::bytes, &Wave::output_bytes>("output_bytes", "bytes that the wave writes"),
};
template <>
constinit const Record Description<NamedWave>::record = record_of<NamedWave>(named_wave_fields);

constexpr Field dependency_fields[] = {
    required<&NamedDependency::before>("before", "index or name of the wave that writes"),
    required<&NamedDependency::after>("after", "index or name of the wave that reads, after a barrier"),
};
template <>
constinit const Record Description<NamedDependency>::record = record_of<NamedDependency>(dependency_fields);

constexpr Field dag_fields[] = {
    required<&NamedWaveDag::waves>("waves", "the waves, counted from 0"),
    defaulted<&NamedWaveDag::dependencies>("dependencies",
                                           "pairs of waves, the second waiting for the first"),
    defaulted<&NamedWaveDag::resident_graph_bytes>("resident_graph_bytes",
                                                   "bytes of the budget that the resident graph takes"),
    required<&NamedWaveDag::budget_bytes>("budget_bytes", "device memory for the graph and one group"),
    defaulted<&NamedWaveDag::readback_bytes>("readback_bytes", "lower bound on the bytes read back"),
};
template <>
constinit const Record Description<NamedWaveDag>::record = record_of<NamedWaveDag>(dag_fields);

constexpr Field group_fields[] = {
    required<&BarrierGroup::waves>("waves", "indices of the waves that run together"),
    required<&BarrierGroup::fused_bytes>("fused_bytes", "their frontier + 4 * scratch + output bytes"),
};
template <>
constinit const Record Description<BarrierGroup>::record = record_of<BarrierGroup>(group_fields);

constexpr Field barriers_fields[] = {
    required<&Barriers::groups>("groups", "groups in order, separated by barriers"),
    required<&Barriers::global_barriers>("global_barriers", "barriers between the groups"),
};
template <>
constinit const Record Description<Barriers>::record = record_of<Barriers>(barriers_fields);

constexpr Field plan_fields[] = {
    required<&FrontierMemoryPlan::planner>("strategy", "the strategy that formed the groups"),
    optional<&FrontierMemoryPlan::objective>("objective", "the quantity that compact minimised"),
    required<&FrontierMemoryPlan::barriers>("barriers", "the groups and their barriers"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_frontier_bytes>(
        "peak_frontier_bytes", "largest sum of frontier_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_scratch_bytes>(
        "peak_scratch_bytes", "largest sum of scratch_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::peak_output_bytes>(
        "peak_output_bytes", "largest sum of output_bytes over a group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::amortized_readback_bytes>(
        "amortized_readback_bytes", "readback_bytes, or peak_output_bytes where that is more"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::max_group_width>("max_group_width",
                                                                                "waves of the widest group"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::lower_bound_groups>(
        "lower_bound_groups", "no plan of this DAG has fewer groups"),
    required<&FrontierMemoryPlan::plan, &planning::MemoryPlan::optimal>(
        "optimal", "true when it is proved that no plan has fewer groups"),
};
template <>
constinit const Record Description<FrontierMemoryPlan>::record = record_of<FrontierMemoryPlan>(plan_fields);

constexpr Field buffer_fields[] = {
    required<&NamedBuffer::id>("id", "number or name of the buffer, unique"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::lower>("lower", "first moment (group) of its lifetime"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::upper>("upper",
                                                          "first moment after its lifetime, above lower"),
    required<&NamedBuffer::lifetime, &ArenaBuffer::size>("size", "bytes"),
    defaulted<&NamedBuffer::lifetime, &ArenaBuffer::alignment>(
        "alignment", "bytes, a power of two that divides the offset"),
};
template <>
constinit const Record Description<NamedBuffer>::record = record_of<NamedBuffer>(buffer_fields);

constexpr Field lifetimes_fields[] = {
    required<&BufferLifetimes::buffers>("buffers", "the buffers and their lifetimes"),
    optional<&BufferLifetimes::capacity_bytes>(
        "capacity_bytes", "largest size of the arena; left out, the height is minimised"),
};
template <>
constinit const Record Description<BufferLifetimes>::record = record_of<BufferLifetimes>(lifetimes_fields);

constexpr Field placed_fields[] = {
    required<&ArenaOffset::id>("id", "number or name of the buffer"),
    required<&ArenaOffset::offset>("offset", "offset in the arena, in bytes"),
};
template <>
constinit const Record Description<ArenaOffset>::record = record_of<ArenaOffset>(placed_fields);

constexpr Field arena_fields[] = {
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::height_bytes>("height_bytes",
                                                                           "end of the topmost buffer"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::lower_bound_bytes>(
        "lower_bound_bytes", "largest sum alive at one moment"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::optimal>(
        "optimal", "true when it is proved that no arena is lower"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::proof>("proof", "proof of optimality, or none"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::gave_up>(
        "gave_up", "true if the effort ran out during the search for a lower arena"),
    required<&ArenaPlanDocument::plan, &planning::ArenaPlan::search_nodes>(
        "search_nodes", "nodes of the exact search; 0 when none was needed"),
    required<&ArenaPlanDocument::buffers>("buffers", "every buffer with its offset, in input order"),
};
template <>
constinit const Record Description<ArenaPlanDocument>::record = record_of<ArenaPlanDocument>(arena_fields);

template <>
constinit const Document DocumentOf<NamedWaveDag>::document =
    document_of<NamedWaveDag>("wave_dag", "Waves, their bytes and their dependencies", Direction::input);
template <>
constinit const Document DocumentOf<FrontierMemoryPlan>::document = document_of<FrontierMemoryPlan>(
    "frontier_memory_plan", "Barrier groups of waves under a memory budget", Direction::output);
template <>
constinit const Document DocumentOf<BufferLifetimes>::document =
    document_of<BufferLifetimes>("buffer_lifetimes", "Buffers and their lifetimes", Direction::input);
template <>
constinit const Document DocumentOf<ArenaPlanDocument>::document =
    document_of<ArenaPlanDocument>("arena_plan", "Offsets of buffers in one arena", Direction::output);

} // namespace tidegate::documents
