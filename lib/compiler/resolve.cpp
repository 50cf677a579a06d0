// Each pass looks at all that it can, whether or not another has found something wrong. What was not wholly
// read is known by its name and unsound; of its parts those are looked at that do not need the others.
#include <tidegate/compiler/halos.hpp>
#include <tidegate/compiler/resolve_dependencies.hpp>
#include <tidegate/compiler/resolve_memory.hpp>
#include <tidegate/compiler/resolve_ops.hpp>
#include <tidegate/compiler/resolve_waves.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/wave_groups.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tidegate::compiler {
namespace {

// What the program says by itself.
ResolvedProgram without_parts(const ResolveInput& input) {
  const WaveProgram& program = input.program;
  ResolvedProgram resolved;
  resolved.folder = input.folder;
  resolved.budget_bytes = program.device_memory_budget_bytes;
  resolved.policy = program.policy;
  resolved.iterations =
      program.repeat.value_or(program.until ? std::numeric_limits<std::uint32_t>::max() : 1);
  return resolved;
}

} // namespace

std::string ResolvedProgram::wave_text(std::uint32_t wave) const {
  const ProgramWave& what = waves[wave];
  return !what.title.empty()    ? what.title
         : !what.name.empty()   ? in_quotes(what.name)
         : what.op < ops.size() ? fmt::format("wave {} ({})", wave, shortened(ops[what.op].name))
                                : fmt::format("wave {}", wave);
}

Result<ResolvedProgram> resolve(const WaveProgram& program, const std::string& folder,
                                const AnswerMacros& answer, PathScope scope, FileCheck files,
                                const device::Tuning& tuning, const UnreadPlaces& unread) {
  const ResolveInput input{program, folder, answer, scope, files, tuning, unread};
  ErrorList errors;
  ResolvedProgram resolved = without_parts(input);

  ProgramMemory memory = resolve_memory(input, errors);
  resolved.swaps = resolve_swaps(input, memory, errors);
  for (const auto& [first, second] : resolved.swaps) {
    memory.buffers[first].swapped = memory.buffers[second].swapped = true;
  }
  auto until = resolve_until(input, memory);
  errors.check(until);
  ProgramOps ops = resolve_ops(input, errors);
  ResolvedWaves waves = resolve_waves(input, std::move(memory), std::move(ops), errors);
  resolved.until = until ? std::move(*until) : std::nullopt;
  resolved.buffers = std::move(waves.buffers);
  resolved.units = std::move(waves.units);
  resolved.ops = std::move(waves.ops);
  resolved.waves = std::move(waves.waves);
  resolved.dependencies = resolve_dependencies(input, resolved, waves.names, errors);
  if (!errors.result()) {
    errors.check(check_order(resolved)); // else cycles are found when waves are grouped
    return tl::unexpected(errors.result().error());
  }

  spread_progressions(resolved.waves);
  derive_halos(resolved);
  resolved.derived = !program.dependencies;
  if (resolved.derived) {
    resolved.dependencies = derive_dependencies(resolved.waves, resolved.buffers.size());
  }
  return resolved;
}

} // namespace tidegate::compiler
