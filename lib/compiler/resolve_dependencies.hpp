// The dependencies that a program lists.
#pragma once

#include <tidegate/compiler/program_names.hpp>
#include <tidegate/compiler/resolve_waves.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error_list.hpp>

#include <vector>

namespace tidegate::compiler {

// `program` has its waves, `names` theirs.
std::vector<ResolvedDependency> resolve_dependencies(const ResolveInput& input,
                                                     const ResolvedProgram& program, const WaveNames& names,
                                                     ErrorList& errors);

} // namespace tidegate::compiler
