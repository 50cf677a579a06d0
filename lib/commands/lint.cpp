#include <tidegate/commands/arena.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/named_dag.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/compiler/compile.hpp>
#include <tidegate/compiler/wave_groups.hpp>
#include <tidegate/core/error_list.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/planning/layered.hpp>

#include <set>
#include <utility>

namespace tidegate::commands {

Result<std::vector<compiler::Warning>> lint(const compiler::WaveProgram& program, const std::string& file,
                                            compiler::PathScope scope) {
  const std::string folder = program_folder(file);
  std::set<std::string> assumed;
  TIDEGATE_TRY(const compiler::ResolvedProgram resolved,
               compiler::resolve(program, folder, compiler::assume_macros(assumed), scope,
                                 compiler::FileCheck::contents));
  // Each of these looks at a sound program from another side.
  ErrorList errors;
  errors.check(compiler::group_waves(resolved, resolved.budget_bytes, {}));
  errors.check(compiler::outline_ops(resolved));
  errors.check(compiler::keep_inputs(resolved, {.inputs = {{file, "the program", {}}}, .outputs = {}}));
  TIDEGATE_CHECK(errors.result());
  TIDEGATE_TRY(compiler::CompiledProgram compiled,
               compiler::compile(program, folder, nullptr, {.scope = scope, .dry_run = true}));
  return std::move(compiled.warnings);
}

Result<void> lint(documents::NamedWaveDag&& dag) {
  TIDEGATE_TRY(const NamedDag named, resolve(std::move(dag)));
  if (const auto plan = planning::plan_layered(named.dag); !plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return {};
}

Result<void> lint(const documents::BufferLifetimes& lifetimes) {
  ErrorList errors;
  errors.check(index_buffers(lifetimes));
  errors.check(check_lifetimes(lifetimes));
  return errors.result();
}

} // namespace tidegate::commands
