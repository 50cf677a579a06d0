// Each pass checks everything that it can, even if another found errors.

#include "work/resolve.hpp"

#include "device/kernels.hpp"
#include "engine/schedule.hpp"

namespace tidegate::engine {

// Lookup of names, with a suggestion for unknown ones.

Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known,
                   std::string pointer) {
  std::vector<std::string_view> names;
  for (const auto& [candidate, index] : known) {
    names.push_back(candidate);
  }
  const auto nearest = nearest_name(name, names);
  constexpr std::size_t few = 8;
  Error error{.code = ErrorCode::unknown_name,
              .message = fmt::format("there is no {} {}", what, in_quotes(name)),
              .fix = nearest               ? fmt::format("did you mean {}?", in_quotes(*nearest))
                     : names.empty()       ? fmt::format("add it: there is no {} at all", what)
                     : names.size() <= few ? fmt::format("give one of {}", one_of(names))
                                           : fmt::format("give the name of a {}", what),
              .pointer = std::move(pointer)};
  if (nearest) {
    error.nearest = *nearest;
  }
  return error;
}

Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer) {
  const auto found = known.find(name);
  if (found == known.end()) {
    return tl::unexpected(unknown_name(what, name, known, pointer));
  }
  return found->second == invalid_index ? Result<std::uint32_t>(tl::unexpected(already_reported()))
                                        : found->second;
}

namespace {

// Reads the source with these options, once for kernels and once for queue ops.
Result<std::uint32_t> find_unit(const ResolveInput& input, const OpSpec& spec, const std::string& pointer,
                                std::vector<ProgramUnit>& units, NameIndex& units_by_key) {
  const std::string key = fmt::format("{}\n{}\n{}", spec.source, spec.options, spec.queue);
  if (units_by_key.contains(key)) {
    return find_name("source", key, units_by_key, pointer);
  }
  auto unit =
      read_unit(spec, input.folder, input.answer, input.scope, pointer,
                spec.queue                   ? queue_frame()
                : input.program.hits.empty() ? SourceFrame{}
                                             : SourceFrame{device::kernel_source("wave/hits.cl"), {}});
  units_by_key[key] = unit ? static_cast<std::uint32_t>(units.size()) : invalid_index;
  if (!unit) {
    return tl::unexpected(std::move(unit.error()));
  }
  units.push_back(std::move(*unit));
  return units_by_key[key];
}

// Returns the index of the op's kernel among the functions of its source.
Result<std::uint32_t> find_kernel(const ProgramUnit& unit, const std::string& name, const OpSpec& spec,
                                  const std::string& pointer) {
  const std::string kernel = spec.kernel.value_or(name);
  NameIndex kernels;
  for (std::uint32_t i = 0; i < unit.unit.functions.size(); ++i) {
    if (const opencl_c::Function& function = unit.unit.functions[i]; function.is_kernel && function.body) {
      kernels[function.name] = i;
    }
  }
  const opencl_c::Function* const function = unit.unit.definition(kernel);
  if (function == nullptr) {
    Error error = unknown_name("kernel", kernel, kernels, spec.kernel ? pointer + "/kernel" : pointer);
    error.message += fmt::format(" in {}", spec.source);
    return tl::unexpected(std::move(error));
  }
  if (!function->is_kernel) {
    return no_kernel(unit, *function);
  }
  return kernels.at(kernel);
}

ProgramOps resolve_ops(const ResolveInput& input, ErrorList& errors) {
  ProgramOps ops;
  NameIndex units_by_key;
  for (const auto& named : input.program.ops) {
    const std::string& name = named.first;
    const auto& spec = named.second;
    const std::string pointer = "/ops/" + pointer_token(name);
    std::uint32_t& index = ops.op_index[name] = invalid_index;
    std::vector<ProgramUnit>& units = spec.queue ? ops.queue_units : ops.units;
    const auto unit = find_unit(input, spec, pointer, units, units_by_key);
    if (spec.queue) {
      std::optional<QueueOp>& op = ops.queue_ops[name];
      auto made = unit.and_then(
          [&](std::uint32_t at) { return resolve_queue_op(units[at], at, name, spec, pointer); });
      op = errors.check(made) ? std::optional(std::move(*made)) : std::nullopt;
    } else if (const auto kernel = unit.and_then(
                   [&](std::uint32_t at) { return find_kernel(units[at], name, spec, pointer); });
               errors.check(kernel)) {
      index = static_cast<std::uint32_t>(ops.ops.size());
      ops.ops.push_back({.name = name, .unit = *unit, .function = *kernel});
    }
  }
  return ops;
}

} // namespace

Result<std::uint32_t> wave_of(const NameIndex& names, std::size_t wave_count, const Identifier& wave,
                              const std::string& pointer) {
  if (wave.name() != nullptr) {
    auto found = find_name("wave", *wave.name(), names, pointer);
    if (!found) {
      found.error().code = ErrorCode::invalid_wave; // the same code as for an index out of range
      found.error().fix = names.empty() ? "no wave has a name: give an index" : found.error().fix;
    }
    return found;
  }
  if (wave.number() >= wave_count) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_wave,
                                .message = fmt::format("there is no wave {}", wave.number()),
                                .fix = fmt::format("waves are counted from 0 to {}", wave_count - 1),
                                .pointer = pointer,
                                .wave_count = wave_count});
  }
  return static_cast<std::uint32_t>(wave.number());
}

namespace {

// `sound`: no wave is invalid.
Result<ResolvedDependency> resolve_dependency(const WaveProgram& document, const Job& program,
                                              const NameIndex& names, bool sound, std::size_t index) {
  const ProgramDependency& dependency = (*document.dependencies)[index];
  const std::string pointer = fmt::format("/dependencies/{}", index);
  const std::size_t waves = document.waves.size();
  TIDEGATE_TRY(const std::uint32_t before, wave_of(names, waves, dependency.before, pointer + "/before"));
  TIDEGATE_TRY(const std::uint32_t after, wave_of(names, waves, dependency.after, pointer + "/after"));
  if (before == after) {
    return tl::unexpected(Error{.code = ErrorCode::self_dependency,
                                .message = fmt::format("{} depends on itself", program.wave_text(before)),
                                .fix = "remove the dependency",
                                .pointer = pointer,
                                .wave = before});
  }
  const ProgramWave& first = program.waves[before];
  const ProgramWave& second = program.waves[after];
  const std::string waits = program.wave_text(after);
  const std::string waited_for = program.wave_text(before);
  const auto section = [](const ProgramWave& wave) {
    return section_names[static_cast<std::size_t>(wave.section)];
  };
  const Refusal refusals[] = {
      {dependency.tile_local && sound && first.range.tiles() != second.range.tiles(), "",
       fmt::format("a tile_local dependency between {} with {} and {} with {}", waited_for,
                   plural(first.range.tiles(), "tile"), waits, plural(second.range.tiles(), "tile")),
       "give both waves the same number of work-groups"},
      {first.section > second.section, "",
       fmt::format("{} of the phase \"{}\" waits for {} of the phase \"{}\"", waits, section(second),
                   waited_for, section(first)),
       "remove the dependency, or give the waves other phases"},
      {dependency.halo && sound && first.range.groups != second.range.groups, "/halo",
       fmt::format("a dependency with a halo between {} and {}, whose numbers of work-groups differ",
                   waited_for, waits),
       "give both waves the same number of work-groups in each dimension"}};
  TIDEGATE_CHECK(first_of(refusals, pointer));
  ResolvedDependency resolved{.before = before, .after = after, .index = index};
  if (dependency.tile_local) {
    resolved.halo.emplace();
  }
  if (dependency.halo && sound) {
    TIDEGATE_TRY(resolved.halo, stated_halo(*dependency.halo, second.range, pointer + "/halo"));
  }
  return resolved;
}

// Resolves the listed dependencies, and adds those of waves that count the flags of others (`prepares`). The waves of
// `program` must be resolved.
std::vector<ResolvedDependency> resolve_dependencies(const WaveProgram& document, const Job& program,
                                                     const NameIndex& names, ErrorList& errors) {
  std::vector<ResolvedDependency> dependencies;
  if (!document.dependencies || program.waves.empty()) {
    return dependencies;
  }
  const bool sound = errors.result().has_value();
  for (std::size_t i = 0; i < document.dependencies->size(); ++i) {
    const auto made = resolve_dependency(document, program, names, sound, i);
    if (errors.check(made)) {
      dependencies.push_back(*made);
    }
  }
  for (auto wave = static_cast<std::uint32_t>(document.waves.size()); wave < program.waves.size(); ++wave) {
    const std::uint32_t after = *program.waves[wave].prepares;
    const std::size_t stated = dependencies.size();
    for (std::size_t i = 0; i < stated; ++i) {
      if (dependencies[i].after == after) {
        dependencies.push_back({.before = dependencies[i].before, .after = wave});
      }
    }
    dependencies.push_back({.before = wave, .after = after});
  }
  return dependencies;
}

// Files that a run of the program reads and writes: those of its memory, and others; `job` has its sources.
FileUses files_of(const WaveProgram& program, const Job& job, const FileUses& of_memory) {
  FileUses files{.inputs = {}, .outputs = of_memory.outputs};
  for (const ProgramOp& op : job.ops) {
    files.inputs.push_back({job.units[op.unit].path, "the source of op " + in_quotes(op.name), {}});
  }
  for (const ProgramUnit& unit : job.units) {
    for (const std::string& file : unit.files) {
      files.inputs.push_back({file, "an included file", {}});
    }
  }
  for (const WaveSpec& wave : program.waves) {
    if (wave.queue && wave.queue->file) {
      files.inputs.push_back({path_in(job.folder, *wave.queue->file), "a file of work items", {}});
    }
  }
  files.inputs.insert(files.inputs.end(), of_memory.inputs.begin(), of_memory.inputs.end());
  return files;
}

} // namespace

Result<Job> resolve(const ResolveInput& input) {
  const WaveProgram& program = input.program;
  ErrorList errors;
  Job resolved;
  resolved.folder = input.folder;
  resolved.budget_bytes = program.device_memory_budget_bytes;
  resolved.policy = program.policy;
  resolved.iterations =
      program.repeat.value_or(program.until ? std::numeric_limits<std::uint32_t>::max() : 1);

  ProgramMemory memory = resolve_memory(input, errors);
  resolved.swaps = memory.swaps;
  resolved.until = memory.until;
  ProgramOps ops = resolve_ops(input, errors);
  NameIndex wave_names;
  resolved.waves = resolve_waves(input, memory, ops, wave_names, errors);
  resolved.buffers = std::move(memory.buffers);
  resolved.units = std::move(ops.units);
  resolved.ops = std::move(ops.ops);
  resolved.publish_ns = ops.publish_ns;
  resolved.dependencies = resolve_dependencies(program, resolved, wave_names, errors);
  if (!errors.result()) {
    errors.check(check_order(resolved)); // without errors, grouping the waves finds cycles
    return tl::unexpected(errors.result().error());
  }

  resolved.files = files_of(program, resolved, memory.files);
  spread_progressions(resolved.waves);
  TIDEGATE_CHECK(derive_footprints(resolved));
  resolved.derived = !program.dependencies;
  if (resolved.derived) {
    resolved.dependencies = derive_dependencies(resolved.waves, resolved.buffers.size());
  }
  return resolved;
}

Result<void> exchange_contents(Job& written, Job& running, const WaveProgram& program, PathScope scope) {
  const ResolveInput input{program, written.folder, {}, scope, FileCheck::reachable, {}, nullptr};
  ErrorList errors;
  const ProgramMemory memory = resolve_memory(input, errors);
  TIDEGATE_CHECK(errors.result());
  for (std::size_t i = 0; i < memory.buffers.size(); ++i) { // those of queues come after them
    const ProgramBuffer& from = memory.buffers[i];
    for (ProgramBuffer* const to : {&written.buffers[i], &running.buffers[i]}) {
      if (!from.hits) { // a list may have grown
        to->first = from.first;
        to->first_part = from.first_part;
        to->content = from.content;
        to->output = from.output;
        to->write = from.write;
        to->expected = from.expected;
      }
    }
  }
  written.files = running.files = files_of(program, written, memory.files);
  return {};
}

} // namespace tidegate::engine
