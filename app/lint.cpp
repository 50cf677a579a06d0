#include "app/lint.hpp"

#include "app/arena.hpp"
#include "app/plan.hpp"
#include "app/run.hpp"
#include "core/files.hpp"
#include "engine/compile.hpp"
#include "engine/schedule.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/own.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <optional>
#include <set>
#include <utility>

namespace tidegate::app {

Result<std::vector<engine::Warning>> lint(const engine::WaveProgram& program, const std::string& file,
                                          PathScope scope) {
  const std::string folder = program_folder(file);
  std::set<std::string> assumed;
  TIDEGATE_TRY(const engine::Job resolved, engine::resolve(program, folder, engine::assume_macros(assumed),
                                                           scope, engine::FileCheck::contents));
  const auto files = engine::keep_inputs(resolved, {.inputs = {{file, "the program", {}}}, .outputs = {}});
  const auto compiled = engine::compile(resolved, nullptr, {.dry_run = true});
  if (compiled && files) {
    return compiled->warnings;
  }
  // Each of these passes may find further errors, where compiling ends at the first one.
  ErrorList errors;
  errors.check(engine::group_waves(resolved, resolved.budget_bytes, {}));
  errors.check(engine::outline_ops(resolved));
  errors.check(files);
  TIDEGATE_CHECK(errors.result());
  return tl::unexpected(compiled.error());
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

Result<void> lint(const graphs::FrontierProgram& program, const std::string& file, PathScope scope) {
  ErrorList errors;
  errors.check(graphs::check_program(program));
  const std::string folder = program_folder(file);
  const FileUses files = graphs::files_of(program, folder);
  for (const std::vector<NamedFile>* const uses : {&files.inputs, &files.outputs}) {
    for (const NamedFile& use : *uses) {
      auto allowed = check_scope(use.path, folder, scope);
      if (!allowed) {
        allowed.error().pointer = use.pointer;
      }
      errors.check(allowed);
    }
  }
  errors.check(refuse_overwriting(files));
  TIDEGATE_CHECK(errors.result());
  std::optional<traversal::OwnCode> own;
  if (program.own) {
    TIDEGATE_TRY(own, traversal::read_own(program, folder, scope));
  }
  if (program.graph.file ||
      (own &&
       program.own->initial)) { // what only its file says: vertices, weights, and whether it is a graph
    TIDEGATE_TRY(const graphs::LoadedGraph loaded,
                 graphs::load_graph(program, folder, graphs::load_options(program)));
    if (own) {
      TIDEGATE_CHECK(traversal::check_weights(*own, loaded.graph));
      TIDEGATE_CHECK(traversal::read_initial(program, folder, graphs::vertex_count(loaded.graph)));
    }
  }
  return {};
}

} // namespace tidegate::app
