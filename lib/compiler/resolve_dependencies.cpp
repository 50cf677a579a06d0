#include <tidegate/compiler/halos.hpp>
#include <tidegate/compiler/program_error.hpp>
#include <tidegate/compiler/resolve_dependencies.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tidegate::compiler {
namespace {

Result<std::uint32_t> wave_of(const WaveNames& names, std::size_t wave_count, const Identifier& wave,
                              const std::string& pointer) {
  if (wave.name() != nullptr) {
    auto found = find_name("wave", *wave.name(), names.index, pointer);
    if (!found && names.some_is_unread) {
      return tl::unexpected(told_elsewhere());
    }
    if (!found) {
      found.error().code = ErrorCode::invalid_wave; // as where it is counted
      found.error().fix = names.index.empty() ? "no wave has a name: give an index" : found.error().fix;
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

Result<ResolvedDependency> resolve_dependency(const ResolveInput& input, const ResolvedProgram& program,
                                              const WaveNames& names, const ProgramDependency& dependency,
                                              std::size_t place) {
  const std::string pointer = fmt::format("/dependencies/{}", place);
  ErrorList errors;
  const auto before = wave_of(names, program.waves.size(), dependency.before, pointer + "/before");
  const auto after = wave_of(names, program.waves.size(), dependency.after, pointer + "/after");
  errors.check(before);
  errors.check(after);
  TIDEGATE_CHECK(errors.result());
  if (*before == *after) {
    return tl::unexpected(Error{.code = ErrorCode::self_dependency,
                                .message = fmt::format("{} depends on itself", program.wave_text(*before)),
                                .fix = "remove the dependency",
                                .pointer = pointer,
                                .wave = *before});
  }
  if (dependency.tile_local && names.sound[*before] && names.sound[*after] &&
      program.waves[*before].range.tiles() != program.waves[*after].range.tiles()) {
    return tl::unexpected(invalid_program(
        fmt::format("a tile_local dependency between {} with {} and {} with {}", program.wave_text(*before),
                    plural(program.waves[*before].range.tiles(), "tile"), program.wave_text(*after),
                    plural(program.waves[*after].range.tiles(), "tile")),
        "both waves need the same number of work-groups", pointer));
  }
  if (!input.unread.empty()) { // it may say more, and the waves too
    TIDEGATE_CHECK(input.wholly_read(pointer));
    TIDEGATE_CHECK(input.wholly_read(fmt::format("/waves/{}", *before)));
    TIDEGATE_CHECK(input.wholly_read(fmt::format("/waves/{}", *after)));
  }
  if (program.waves[*before].phase > program.waves[*after].phase) {
    const auto phase = [&](std::uint32_t wave) {
      return wave_phase_names[static_cast<std::size_t>(program.waves[wave].phase)];
    };
    return tl::unexpected(invalid_program(
        fmt::format("{} of the phase \"{}\" waits for {} of the phase \"{}\"", program.wave_text(*after),
                    phase(*after), program.wave_text(*before), phase(*before)),
        "remove the dependency, or give the waves other phases", pointer));
  }
  ResolvedDependency resolved{.before = *before, .after = *after, .place = place};
  if (dependency.tile_local) {
    resolved.halo.emplace();
  }
  if (dependency.halo && names.sound[*before] && names.sound[*after]) {
    if (program.waves[*before].range.groups != program.waves[*after].range.groups) {
      return tl::unexpected(invalid_program(
          fmt::format("a dependency with a halo between {} and {}, which have other work-groups",
                      program.wave_text(*before), program.wave_text(*after)),
          "both waves need as many work-groups in each dimension", pointer + "/halo"));
    }
    TIDEGATE_TRY(resolved.halo,
                 stated_halo(*dependency.halo, program.waves[*after].range, pointer + "/halo"));
  }
  return resolved;
}

} // namespace

std::vector<ResolvedDependency> resolve_dependencies(const ResolveInput& input,
                                                     const ResolvedProgram& program, const WaveNames& names,
                                                     ErrorList& errors) {
  std::vector<ResolvedDependency> dependencies;
  if (!input.program.dependencies || program.waves.empty() || input.unread.cover("/waves")) {
    return dependencies;
  }
  for (std::size_t i = 0; i < input.program.dependencies->size(); ++i) {
    const auto made = resolve_dependency(input, program, names, (*input.program.dependencies)[i], i);
    if (errors.check(made)) {
      dependencies.push_back(*made);
    }
  }
  return dependencies;
}

} // namespace tidegate::compiler
