// Plans the device memory of a traversal: the bytes of every part, and which of two layouts fits. The full
// layout serves every topology; the constrained one has only bitmaps, without queues and transpose.
#pragma once
#include "device/session.hpp"
#include "graph/program.hpp"
#include "traversal/waves.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::traversal {

// The purposes of device memory, in the order of reports.
enum class Memory : std::uint8_t {
  graph,
  transpose,
  values,
  initial_values,
  parents,
  passed_on,
  seats,
  stamps,
  bitmaps,
  queues,
  far_queues,
  shares,
  messages,
  checks,
  state_and_log,
  work_groups
};
inline constexpr std::array<std::string_view, 16> memory_names{
    "graph",    "transpose", "values",        "initial values", "parents",    "passed on",
    "seats",    "stamps",    "bitmaps",       "queues",         "far queues", "shares",
    "messages", "checks",    "state and log", "work-groups"};

// Memory parameters of the kernels (TG_GRAPH_PARAMETERS in kernels/frontier/job.cl) in their order, and the log.
enum class Part : std::uint8_t {
  offsets,
  neighbours,
  weights,
  in_offsets,
  in_neighbours,
  in_weights,
  values,
  others,
  stamps,
  bitmaps,
  queues,
  far,
  state,
  sources,
  log,
  count
};

struct MemoryPart {
  Memory name = Memory::graph;
  std::uint64_t bytes = 0;
  Part part = Part::count; // which holds it; count: several, or none
};

struct FrontierMemory {
  bool constrained = false;
  std::vector<MemoryPart> parts; // of the chosen layout
  std::uint64_t bytes = 0;       // of all parts
  std::uint64_t full_bytes = 0;  // of the two layouts
  std::uint64_t constrained_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::uint16_t pressure_bps = 0; // the full layout's share of the budget
  std::uint32_t queue_room = 0;   // entries of a queue
};

// Properties that determine the sizes.
struct TraversalShape {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0;
  bool symmetric = false; // the transpose is the graph itself
  bool weights = false;
  bool parents = false;
  bool short_rows = false; // pagerank: no vertex has many edges into it
  bool has_seats = false;  // pagerank: see seats_of() in resident.hpp
  graphs::Algorithm algorithm = graphs::Algorithm::bfs;
  std::uint64_t sources = 0;
  std::uint32_t value_words = 1;
  bool initial_values = false; // given for each vertex
  std::uint32_t groups = 0;    // most work-groups
};
TraversalShape shape_of(const graphs::FrontierProgram& program, const graphs::Graph& graph);

// Returns true for at least 8 edges a vertex on average.
bool has_long_rows(const graphs::Graph& graph);

// Returns true if a vertex has more than 8 times as many edges out of it as vertices have on average.
bool has_hubs(const graphs::Graph& graph);

// Returns how many edges and ends of rows a group pulls along at a time (kernels/frontier/shares.cl); 0: it does not.
std::uint32_t share_size(const TraversalShape& shape);

// Bytes of the values of all vertices.
inline std::uint64_t value_bytes(const TraversalShape& shape) {
  return std::uint64_t{shape.vertices} * shape.value_words * sizeof(std::uint32_t);
}

inline constexpr std::uint32_t law_trials = 4096; // of an algorithm of the program's own
inline constexpr std::uint32_t flaw_words = 8;    // u64, that a trial reports

inline constexpr std::uint32_t log_rows = 16'384; // most rows that a slice can write

// The rows that the device of one of several ranks holds, of its own vertices.
struct RankPart {
  graphs::VertexCut cut;
  std::uint32_t rank = 0;
  std::uint64_t edges = 0;
  std::optional<std::uint64_t> in_edges; // if it needs them apart from the edges

  [[nodiscard]] std::uint32_t first() const { return cut[rank]; }
  [[nodiscard]] std::uint32_t end() const { return cut[rank + 1]; }
  [[nodiscard]] std::uint32_t vertices() const { return end() - first(); }
  [[nodiscard]] std::uint64_t most_edges() const { return std::max(edges, in_edges.value_or(0)); }
};

// Offsets of more edges than this take 64 bits.
inline constexpr std::uint64_t most_narrow_edges = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view offset_type(std::uint64_t edges) {
  return edges > most_narrow_edges ? "ulong" : "uint";
}

// Chooses the layout for a budget (0: the device's memory). Without a forced topology the full layout is used
// while its share of the budget is below the policy's threshold. A rank has one layout, with the values of all vertices. Returns
// device_out_of_memory with the bytes of each part.
Result<FrontierMemory> plan_memory(const TraversalShape& shape, const policy::LaunchPolicy& policy,
                                   std::uint64_t budget_bytes, std::uint64_t device_bytes,
                                   std::optional<policy::Topology> forced, const RankPart* rank = nullptr);

// Words of a vertex in a message between ranks.
inline std::uint32_t sent_words(const TraversalShape& shape) {
  return TG_SENT_WORDS(static_cast<tg_u32>(shape.algorithm), shape.value_words);
}

// Returns the bytes of memory with this name, or in this part; 0 if the layout has none.
std::uint64_t part_bytes(const FrontierMemory& memory, Memory name);
std::uint64_t part_bytes(const FrontierMemory& memory, Part part);

// Returns the step of the bound between near and far vertices of a shortest-path search, in the unit of the
// weights, greater than 0, as the bits of a float if weights are floats, else as an integer: wide enough that a wave has work for the whole device, narrow enough that little
// is processed twice. Source: Davidson, Baxter, Garland and Owens, "Work-Efficient Parallel GPU Methods for
// Single-Source Shortest Paths" (2014): a warp's width times the mean weight over the mean degree. `wide`:
// for devices on which larger waves cost less per vertex, the width then follows the degree: low degrees need
// a wide step to have enough work, high degrees would process most vertices twice (measured on an H200 for
// widths of 8 to 128, on an H100 for 48 to 288).
std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide);

// Distribution of work within a group. On CPUs a group is one work-item: compilers produce slower code for
// more, and a thread runs one group after the other anyway.
struct FrontierGeometry {
  std::uint32_t group_size = 1;      // a power of two
  std::uint32_t groups_per_unit = 1; // that a compute unit holds at a time
  std::uint32_t alone_room = 1024;   // entries of a lone group's queue in local memory
  std::uint32_t alone_vertices = 0;  // largest frontier that one group processes
  bool gpu = false;
};

struct ResidentGraph {
  std::array<device::Buffer, static_cast<std::size_t>(Part::count)> parts;
  tg_setting
      setting{}; // the kernel takes it by value, because a GPU would keep all values read from memory in registers

  [[nodiscard]] const device::Buffer& part(Part which) const {
    return parts[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] device::Buffer& part(Part which) { return parts[static_cast<std::size_t>(which)]; }
};

// Launches a work-item for each of `items` with these arguments. Throws device::Refused.
template <class... Arguments>
void launch_items(const device::Session& session, const device::Kernel& kernel, std::uint64_t items,
                  const Arguments&... arguments) {
  constexpr std::size_t group = 64;
  session.set(kernel, 0, arguments...);
  const device::LaunchRange range =
      items == 1 ? device::work_groups(1, 1) : device::work_groups((items + group - 1) / group, group);
  session.launch(kernel, range);
}

} // namespace tidegate::traversal
