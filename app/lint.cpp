#include "app/lint.hpp"

#include "app/arena.hpp"
#include "app/plan.hpp"
#include "app/run.hpp"
#include "core/files.hpp"
#include "engine/compile.hpp"
#include "engine/schedule.hpp"
#include "engine/traversal/documents.hpp"
#include "engine/traversal/own.hpp"
#include "work/documents.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace tidegate::app {

using documents::decode_and_lint;

Result<engine::WaveProgram> read_program(std::string_view json, const std::string& folder, PathScope scope,
                                         engine::FileCheck files) {
  return decode_and_lint<engine::WaveProgram>(
      json, [&](const engine::WaveProgram& program, const UnreadLocations& unread) -> Result<void> {
        std::set<std::string> assumed;
        const auto resolved = engine::resolve(program, folder, engine::assume_macros(assumed), scope, files,
                                              device::Tuning{}, unread);
        return resolved ? Result<void>() : tl::unexpected(resolved.error());
      });
}

Result<documents::NamedWaveDag> read_wave_dag(std::string_view json) {
  return decode_and_lint<documents::NamedWaveDag>(
      json, [](documents::NamedWaveDag&& dag, const UnreadLocations& unread) {
        return lint(std::move(dag), unread);
      });
}

Result<documents::BufferLifetimes> read_lifetimes(std::string_view json) {
  return decode_and_lint<documents::BufferLifetimes>(
      json, [](const documents::BufferLifetimes& lifetimes, const UnreadLocations& unread) {
        return lint(lifetimes, unread);
      });
}

Result<graphs::FrontierProgram> read_frontier_program(std::string_view json) {
  return decode_and_lint<graphs::FrontierProgram>(json, graphs::check_program);
}

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

Result<void> lint(documents::NamedWaveDag&& dag, const UnreadLocations& unread) {
  if (unread.cover("/budget_bytes")) { // unreadable budget: assume no limit
    dag.budget_bytes = std::numeric_limits<std::uint64_t>::max();
  }
  TIDEGATE_TRY(const NamedDag named, resolve(std::move(dag), unread));
  if (const auto plan = planning::plan_layered(named.dag); !plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return {};
}

Result<void> lint(const documents::BufferLifetimes& lifetimes, const UnreadLocations& unread) {
  ErrorList errors;
  errors.check(index_buffers(lifetimes, unread));
  errors.check(check_lifetimes(lifetimes, unread));
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
