// Puts a graph and the state of its traversal into device memory, and reads results.
#pragma once
#include "traversal/plan.hpp"

namespace tidegate::traversal {

// The topology of a small graph's waves, if none of them is pulled (kernels/frontier/policy.h); empty: they may be.
policy::Topology always_pushes(graphs::Algorithm algorithm, const graphs::Graph& graph,
                               const FrontierGeometry& geometry);

inline constexpr double rank_units = 1152921504606846976.0; // 2^60, as in kernels/frontier/pagerank.cl

// Returns the constants of a traversal; `has_seats` if the rows in device memory name neighbours by them.
tg_setting make_setting(const TraversalPlan& plan, bool has_seats = false);

// Allocates the layout and uploads the graph, and the first values if the program has a file of them. Throws device::Refused.
ResidentGraph make_resident(const device::Session& session, const TraversalPlan& plan);

// Prepares a graph in device memory for a traversal from other sources or with other settings.
// Throws device::Refused.
void exchange_sources(const device::Session& session, const TraversalPlan& plan, ResidentGraph& resident);

// Sets the arguments of TG_GRAPH_PARAMETERS (kernels/frontier/job.cl); returns the index of the next one. Throws device::Refused.
std::uint32_t set_graph(const device::Session& session, const device::Kernel& kernel,
                        const ResidentGraph& resident);

TraversalResults read_back(const device::Session& session, const ResidentGraph& resident,
                           const TraversalShape& shape);

// Returns true if rows are reordered in device memory (kernels/frontier/rows.cl): if pulls stop early,
// vertices have enough neighbours, and reordering takes a fraction of the upload time.
bool hubs_come_first(const TraversalShape& shape, const FrontierMemory& memory,
                     const FrontierGeometry& geometry);

// Returns each vertex's seat: its place if vertices are sorted by the power of two of their degree, largest first, and
// by number within one power. Values of hubs, which most rows read, then share cache lines.
std::vector<std::uint32_t> seats_of(const graphs::Rows& rows);

// Changes the rows of an uploaded graph (kernels/frontier/rows.cl), if that pays: bfs puts hubs first, pagerank names neighbours by
// seats. Throws device::Refused.
void change_rows(const device::Session& session, const TraversalPlan& plan, ResidentGraph& resident,
                 const std::filesystem::path& cache_folder);

} // namespace tidegate::traversal
