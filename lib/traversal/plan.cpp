#include "traversal/plan.hpp"

#include "core/files.hpp"
#include "device/kernels.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::traversal {
namespace {

using device::Strategy;
using graphs::Algorithm;

// Returns the settings of the device's profile; all are unset without one.
device::TraversalProfile traversal_profile(const device::DeviceInfo& device) {
  return device.profile ? device.profile->traversal.value_or(device::TraversalProfile())
                        : device::TraversalProfile();
}

RankPart part_of(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                 const ranks::Ranks& ranks) {
  const bool by_in_rows = program.algorithm == Algorithm::pagerank;
  const bool pulls = by_in_rows || program.outputs.parents; // bfs finds parents along them
  RankPart part{.cut = cut_vertices(by_in_rows ? *graphs::in_rows(graph) : graph.out,
                                    static_cast<std::uint32_t>(ranks.size())),
                .rank = static_cast<std::uint32_t>(ranks.rank())};
  const auto edges = [&part](const graphs::Rows& rows) {
    return rows.offsets[part.end()] - rows.offsets[part.first()];
  };
  part.edges = edges(graph.out);
  if (pulls && !graph.symmetric) {
    part.in_edges = edges(*graph.in);
  }
  return part;
}

// Without a proved ordering nothing waits inside a launch.
FrontierStrategy choose_strategy(const RunOptions& options, const device::DeviceInfo* device) {
  if (options.ranks != nullptr) {
    return {Strategy::launch, "several ranks exchange what they find after each step"};
  }
  if (options.strategy == Strategy::launch) {
    return {Strategy::launch, "requested"};
  }
  if (device == nullptr || (options.dry_run && !device->profile)) {
    return {options.strategy.value_or(Strategy::barrier),
            options.strategy ? "requested" : "planned for a device whose self-test passes"};
  }
  if (!device->profile || !device->profile->ordering) {
    return {Strategy::launch,
            "the device has not passed the self-test: no memory ordering between work-groups "
            "is proved, so nothing may wait inside a launch"};
  }
  if (options.strategy) {
    return {Strategy::barrier, "requested"};
  }
  if (const auto measured = traversal_profile(*device).strategy) {
    return {*measured, "measured as the fastest, by the profile"};
  }
  if (device->type == device::DeviceType::cpu) {
    return {Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch"};
  }
  return {Strategy::barrier, "the device has passed the self-test"};
}

// Returns how many work-groups a traversal launches if as many can be resident.
std::uint32_t wanted_groups(const device::DeviceInfo& device, const FrontierGeometry& geometry,
                            Strategy strategy, const RunOptions& options) {
  const device::TraversalProfile profile = traversal_profile(device);
  if (options.workers) {
    return *options.workers;
  }
  // The profile's number was measured for its strategy and does not apply to another.
  if (profile.workers && !options.strategy && profile.strategy.value_or(strategy) == strategy) {
    return *profile.workers;
  }
  const std::uint32_t units = std::max(device.compute_units, 1U);
  // On a CPU few cores share the work evenly by many groups; many cores, each with as many, are slower (PoCL 5, 16
  // cores, R-MAT 18: reach takes 17.0 ms by 256 groups and 6.8 by 64, cc 2.7 and 1.8).
  const std::uint32_t of_cpu = std::max(4 * units, std::min(16 * units, 64U));
  return strategy != Strategy::launch             ? units * geometry.groups_per_unit
         : device.type == device::DeviceType::cpu ? of_cpu
                                                  : 2 * units;
}

runtime::KernelSource frontier_kernel(const TraversalPlan& plan) {
  TraversalShape shape = plan.shape; // of the rows that the kernel has
  shape.edges = plan.part ? plan.part->most_edges() : shape.edges;
  const FrontierGeometry& geometry = plan.geometry;
  const bool float_weights =
      plan.own == nullptr ? plan.graph().out.weight_type == graphs::WeightType::f32 : plan.own->float_weights;
  const std::string opencl_version = plan.device == nullptr ? "" : plan.device->opencl_version;
  const auto algorithm = static_cast<std::size_t>(shape.algorithm);
  constexpr std::uint32_t few_edges = 65'536; // too few to saturate the memory
  const device::MemoryOrdering used = plan.ordering.value_or(device::MemoryOrdering::classic);
  const std::string_view standard = used == device::MemoryOrdering::classic  ? "CL1.2"
                                    : opencl_version.starts_with("OpenCL 3") ? "CL3.0"
                                                                             : "CL2.0";
  return {
      .source = (plan.own == nullptr ? "" : plan.own->text) +
                device::kernel_source(plan.part ? "frontier/ranks.cl" : "frontier/traversal.cl"),
      .options = fmt::format(
          "-cl-std={} -DTG_ORDERING={} -DTG_ALGORITHM={} -DTG_GROUP_SIZE={} -DTG_LANES={} -DTG_WIDE={} "
          "-DTG_WIDTH={} -Dtg_offset={} -DTG_FLOATS={} -DTG_WEIGHTS={} -DTG_PARENTS={} "
          "-DTG_ALONE_ROOM={}u -DTG_SHORT_ROWS={} -DTG_SHARE={}u -DTG_EAGER={} -DTG_EAGER_EDGES={} "
          "-DTG_CLOCK={}",
          standard, static_cast<int>(used), algorithm, geometry.group_size, std::min(geometry.group_size, 4U),
          std::min(geometry.group_size, 32U), std::min(geometry.group_size, 8U), offset_type(shape.edges),
          static_cast<int>(float_weights), static_cast<int>(shape.weights), static_cast<int>(shape.parents),
          geometry.alone_room, static_cast<int>(shape.short_rows), share_size(shape), geometry.gpu,
          geometry.gpu ? few_edges : 0, static_cast<int>(plan.clock)),
      .kernel = plan.part ? "tidegate_ranks" : "tidegate_frontier",
      .groups_per_unit =
          used == device::MemoryOrdering::ptx && geometry.groups_per_unit > 1 ? geometry.groups_per_unit : 0};
}

} // namespace

FrontierGeometry geometry_of(const graphs::FrontierProgram& program, const device::DeviceInfo& device,
                             const RunOptions& options) {
  const bool cpu = device.type == device::DeviceType::cpu;
  const bool all_vertices =
      program.algorithm == graphs::Algorithm::cc || program.algorithm == graphs::Algorithm::pagerank;
  const device::TraversalProfile profile = traversal_profile(device);
  // An H200 has 128 registers for each work-item of a group of 512, but 64 for 1024, and larger groups wait
  // longer at barriers.
  constexpr std::uint32_t gpu_group = 512;
  const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(device.max_workgroup_size, 1, 1024));
  FrontierGeometry geometry;
  geometry.group_size =
      std::bit_floor(std::clamp(options.group_size.value_or(cpu ? 1 : gpu_group), 1U, most));
  // On an H200 a lone group is faster up to 256 vertices (`tidegate tune measure`: 512 was 1 % slower for
  // levels and 5 % for distances). On a CPU a lone thread is faster until a wave takes longer than a launch;
  // the number is a guess.
  constexpr std::uint32_t gpu_alone = 256;
  constexpr std::uint32_t cpu_alone = 2048;
  geometry.alone_room = cpu ? 2 * cpu_alone : 4 * gpu_alone;
  const std::uint32_t usual = profile.alone_up_to.value_or(cpu ? cpu_alone : gpu_alone);
  geometry.alone_vertices =
      all_vertices ? 0 : std::min(options.alone_vertices.value_or(usual), geometry.alone_room);
  // Waves of all vertices wait for memory, not for other groups. On an H200 a third group gains nothing.
  geometry.groups_per_unit = all_vertices && !cpu && geometry.group_size <= gpu_group ? 2 : 1;
  // On PoCL grids take 1.4 to 1.7 times as long with three times the near width, and hubs first takes five times the time that it
  // saves.
  geometry.gpu = !cpu;
  return geometry;
}

namespace {

// Checks that paths stay in the program's folder and that no input is overwritten.
Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const RunOptions& options) {
  FileUses files = options.files;
  FileUses of_program = graphs::files_of(program, folder);
  ErrorList errors;
  for (const auto* const list : {&of_program.inputs, &of_program.outputs}) {
    for (const NamedFile& file : *list) {
      errors.check(at_place(*file.pointer, check_scope(file.path, folder, options.scope)));
    }
  }
  if (!options.emit_kernel.empty()) {
    files.outputs.push_back({options.emit_kernel, "--emit-kernel", {}});
  }
  std::ranges::move(of_program.inputs, std::back_inserter(files.inputs));
  std::ranges::move(of_program.outputs, std::back_inserter(files.outputs));
  errors.check(refuse_overwriting(files));
  return errors.result();
}

// Components use edges in both directions, pulls incoming ones.
Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const RunOptions& options) {
  graphs::LoadOptions load_options = graphs::load_options(program);
  load_options.undirected |= program.algorithm == Algorithm::cc;
  const bool is_pagerank = program.algorithm == Algorithm::pagerank;
  load_options.build.in_rows = options.force_topology != policy::Topology::memory_constrained || is_pagerank;
  load_options.build.order = program.algorithm == Algorithm::sssp ? graphs::RowOrder::lightest_first
                                                                  : graphs::RowOrder::by_neighbour;
  return graphs::load_graph(program, folder, load_options);
}

// Returns a key of all that decides how a program's graph is loaded and laid out in memory; empty if a file's
// state is unknown.
std::string graph_key(graphs::FrontierProgram program, const std::string& folder) {
  std::string key = folder + '\n';
  for (const NamedFile& file : graphs::files_of(program, folder).inputs) {
    const bool code = file.pointer == "/algorithm/source"; // KeptGraph::source compares it
    const std::string state = code ? "its code" : file_state(file.path);
    if (state.empty()) {
      return {};
    }
    key += state + '\n';
  }
  const bool parents = program.outputs.parents.has_value();
  program.outputs = {};
  program.graph.ids =
      program.graph.ids == graphs::VertexIds::compact ? program.graph.ids : graphs::VertexIds();
  program.outputs.parents = parents ? std::optional<std::string>("") : std::nullopt;
  program.sources.clear();
  program.rules.clear();
  program.pagerank.reset();
  return key + documents::encode(program, documents::Style::compact);
}

// Loads a program's graph, unless an earlier traversal of the stream has left it. Errors: of the graph and of the sources.
Result<std::shared_ptr<KeptGraph>> load_or_find(const graphs::FrontierProgram& program,
                                                const std::string& folder, const RunOptions& options) {
  auto kept = std::make_shared<KeptGraph>();
  if (options.kept != nullptr) {
    kept->key = graph_key(program, folder);
    for (const auto& holding : options.kept->holdings) {
      const auto found = std::dynamic_pointer_cast<KeptGraph>(holding);
      if (found && !kept->key.empty() && found->key == kept->key) {
        options.kept->use(found);
        TIDEGATE_CHECK(graphs::check_sources(program, graphs::numbers_of(program, found->loaded)));
        return found;
      }
    }
  }
  TIDEGATE_TRY(kept->loaded, load(program, folder, options));
  return kept;
}

// Refuses devices and forced topologies that cannot run the program's algorithm.
Result<void> check_own_use(const graphs::FrontierProgram& program, const device::DeviceInfo* device,
                           const RunOptions& options) {
  if (program.own && program.own->value == graphs::OwnValue::u64 && device != nullptr &&
      !device->int64_atomics) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                .message = in_quotes(device->name) + " has no atomic functions of 64 bits",
                                .fix = "use values of 32 bits, or another device",
                                .pointer = "/algorithm/value"});
  }
  if (options.force_topology == policy::Topology::fused_dense && !graphs::is_monotone(program)) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_usage,
              .message = "fused_dense is not for sums: a vertex would add to its neighbours several times",
              .fix = "force another topology"});
  }
  return {};
}

} // namespace

Result<std::optional<OwnCode>> check_asked(const graphs::FrontierProgram& program, const std::string& folder,
                                           const device::DeviceInfo* device, const RunOptions& options) {
  ErrorList errors;
  errors.check(graphs::check_program(program));
  errors.check(check_files(program, folder, options));
  TIDEGATE_CHECK(errors.result());
  TIDEGATE_CHECK(check_own_use(program, device, options));
  if (!program.own) {
    return std::nullopt;
  }
  return read_own(program, folder, options.scope).map([](OwnCode&& own) {
    return std::optional(std::move(own));
  });
}

Result<AskedTraversal> load_asked(const graphs::FrontierProgram& program, const std::string& folder,
                                  std::optional<OwnCode> own, const RunOptions& options) {
  AskedTraversal asked{.program = program, .own = std::move(own), .folder = folder};
  TIDEGATE_TRY(asked.kept, load_or_find(program, folder, options));
  const graphs::LoadedGraph& loaded = asked.kept->loaded;
  asked.numbers = graphs::numbers_of(program, loaded);
  graphs::use_positions(asked.program, asked.numbers);
  if (asked.own) {
    TIDEGATE_CHECK(check_weights(*asked.own, loaded.graph));
    TIDEGATE_TRY(asked.kept->initial, read_initial(program, folder, graphs::vertex_count(loaded.graph)));
  }
  return asked;
}

Result<TraversalPlan> plan_traversal(const AskedTraversal& asked, const graphs::FrontierProgram& program,
                                     const OwnCode* own, const device::DeviceInfo* device,
                                     const RunOptions& options) {
  const graphs::Graph& graph = asked.kept->loaded.graph;
  const device::DeviceInfo any{.type = device::DeviceType::gpu,
                               .max_workgroup_size = 1024,
                               .global_memory_bytes = std::numeric_limits<std::uint64_t>::max()};
  const device::DeviceInfo& meant = device == nullptr ? any : *device;
  TraversalPlan plan{.asked = asked,
                     .program = program,
                     .own = own,
                     .device = device,
                     .switch_rule = program.policy.switch_rule.value_or(
                         traversal_profile(meant).switch_rule.value_or(graphs::SwitchRule::edges)),
                     .forced = options.force_topology,
                     .shape = shape_of(program, graph),
                     .strategy = choose_strategy(options, device),
                     .geometry = geometry_of(program, meant, options)};
  if (options.ranks != nullptr) {
    plan.part = part_of(program, graph, *options.ranks);
  }
  plan.shape.groups = wanted_groups(meant, plan.geometry, plan.strategy.strategy, options);
  TIDEGATE_TRY(plan.memory, plan_memory(plan.shape, program.policy.launch, program.device_memory_budget_bytes,
                                        meant.global_memory_bytes, options.force_topology,
                                        plan.part ? &*plan.part : nullptr));
  if (meant.profile && plan.strategy.strategy == device::Strategy::barrier) {
    plan.ordering = meant.profile->ordering;
  }
  if (device != nullptr && options.timed && !plan.part) {
    plan.clock = runtime::device_clock(*device);
  }
  plan.source = frontier_kernel(plan);
  return plan;
}

} // namespace tidegate::traversal
