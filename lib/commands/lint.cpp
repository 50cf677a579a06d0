#include <tidegate/commands/arena.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/named_dag.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/compiler/compile.hpp>
#include <tidegate/compiler/wave_groups.hpp>
#include <tidegate/core/error_list.hpp>
#include <tidegate/core/same_file.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/device/tuning.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/frontier_documents.hpp>
#include <tidegate/documents/program_documents.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace tidegate::commands {

using documents::decode_and_lint;

Result<compiler::WaveProgram> read_program(std::string_view json, const std::string& folder,
                                           compiler::PathScope scope, compiler::FileCheck files) {
  return decode_and_lint<compiler::WaveProgram>(
      json, [&](const compiler::WaveProgram& program, const UnreadPlaces& unread) -> Result<void> {
        std::set<std::string> assumed;
        const auto resolved = compiler::resolve(program, folder, compiler::assume_macros(assumed), scope,
                                                files, device::Tuning{}, unread);
        return resolved ? Result<void>() : tl::unexpected(resolved.error());
      });
}

Result<documents::NamedWaveDag> read_wave_dag(std::string_view json) {
  return decode_and_lint<documents::NamedWaveDag>(
      json,
      [](documents::NamedWaveDag&& dag, const UnreadPlaces& unread) { return lint(std::move(dag), unread); });
}

Result<documents::BufferLifetimes> read_lifetimes(std::string_view json) {
  return decode_and_lint<documents::BufferLifetimes>(
      json, [](const documents::BufferLifetimes& lifetimes, const UnreadPlaces& unread) {
        return lint(lifetimes, unread);
      });
}

Result<graphs::FrontierProgram> read_frontier_program(std::string_view json) {
  return decode_and_lint<graphs::FrontierProgram>(json, graphs::check_program);
}

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

Result<void> lint(documents::NamedWaveDag&& dag, const UnreadPlaces& unread) {
  if (unread.cover("/budget_bytes")) { // any may be meant
    dag.budget_bytes = std::numeric_limits<std::uint64_t>::max();
  }
  TIDEGATE_TRY(const NamedDag named, resolve(std::move(dag), unread));
  if (const auto plan = planning::plan_layered(named.dag); !plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return {};
}

Result<void> lint(const documents::BufferLifetimes& lifetimes, const UnreadPlaces& unread) {
  ErrorList errors;
  errors.check(index_buffers(lifetimes, unread));
  errors.check(check_lifetimes(lifetimes, unread));
  return errors.result();
}

Result<void> lint(const graphs::FrontierProgram& program, const std::string& file,
                  compiler::PathScope scope) {
  ErrorList errors;
  errors.check(graphs::check_program(program));
  const std::string folder = program_folder(file);
  const FileUses files = graphs::files_of(program, folder);
  for (const std::vector<NamedFile>* const uses : {&files.inputs, &files.outputs}) {
    for (const NamedFile& use : *uses) {
      auto allowed = compiler::check_scope(use.path, folder, scope);
      if (!allowed) {
        allowed.error().pointer = use.pointer;
      }
      errors.check(allowed);
    }
  }
  errors.check(refuse_overwriting(files));
  TIDEGATE_CHECK(errors.result());
  if (program.graph.file) { // what only its file says: vertices, weights, and whether it is a graph
    graphs::LoadOptions options = graphs::load_options(program);
    options.cache = false;
    TIDEGATE_CHECK(graphs::load_graph(program, folder, options));
  }
  return {};
}

} // namespace tidegate::commands
