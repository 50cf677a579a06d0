#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/plan.hpp>
#include <tidegate/compiler/compile.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/documents/catalogue.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/program_documents.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tidegate::commands {
namespace {

using documents::PlanObjective;
using documents::PlanStrategy;

planning::PlanResult<planning::MemoryPlan> make_plan(const planning::WaveDag& dag,
                                                     const PlanOptions& options) {
  if (options.strategy == PlanStrategy::layered) {
    return planning::plan_layered(dag);
  }
  using Objective = planning::CompactOptions::Objective;
  return planning::plan_compact(
      dag, {.objective = options.objective == PlanObjective::peak ? Objective::peak : Objective::groups,
            .effort = options.effort});
}

} // namespace

documents::FrontierMemoryPlan plan_to_document(const planning::MemoryPlan& plan, const PlanOptions& options) {
  documents::FrontierMemoryPlan document{
      .strategy = options.strategy,
      .objective =
          options.strategy == PlanStrategy::compact ? std::optional(options.objective) : std::nullopt,
      .barriers = {.groups = {}, .global_barriers = plan.global_barriers()},
      .peak_frontier_bytes = plan.peak_frontier_bytes,
      .peak_scratch_bytes = plan.peak_scratch_bytes,
      .peak_output_bytes = plan.peak_output_bytes,
      .amortized_readback_bytes = plan.amortized_readback_bytes,
      .max_group_width = plan.max_group_width,
      .lower_bound_groups = plan.lower_bound_groups,
      .optimal = plan.optimal};
  document.barriers.groups.reserve(plan.group_count());
  for (std::size_t i = 0; i < plan.group_count(); ++i) {
    const auto waves = plan.group(i);
    document.barriers.groups.push_back(
        {.waves = {waves.begin(), waves.end()}, .fused_bytes = plan.group_fused_bytes[i]});
  }
  return document;
}

namespace {

// The DAG of a program, with the names of its waves.
Result<NamedDag> dag_of_program(std::string_view json, const PlanOptions& options) {
  const auto program = read_program(json, options.folder, options.scope);
  if (!program) {
    return tl::unexpected(program.error());
  }
  std::set<std::string> assumed;
  const auto resolved =
      compiler::resolve(*program, options.folder, compiler::assume_macros(assumed), options.scope);
  if (!resolved) {
    return tl::unexpected(resolved.error());
  }
  if (auto kept = compiler::keep_inputs(*resolved, options.files); !kept) {
    return tl::unexpected(std::move(kept.error()));
  }
  NamedDag named{.dag = compiler::wave_dag(*resolved, options.budget_bytes.value_or(resolved->budget_bytes)),
                 .names = {}};
  for (std::size_t i = 0; i < resolved->waves.size(); ++i) {
    const compiler::ProgramWave& wave = resolved->waves[i];
    named.names.push_back(wave.name.empty() ? fmt::format("{} #{}", resolved->ops[wave.op].name, i)
                                            : wave.name);
  }
  return named;
}

} // namespace

Result<NamedDag> read_dag(std::string_view json, const PlanOptions& options) {
  auto document = documents::decode<documents::NamedWaveDag>(json);
  if (!document) {
    // Looked at a second time only when it is no wave_dag: those may be large.
    const auto type = documents::recognise(json);
    const bool is_program = type && *type == &documents::DocumentOf<compiler::WaveProgram>::document;
    return is_program ? dag_of_program(json, options) : tl::unexpected(read_wave_dag(json).error());
  }
  if (options.budget_bytes) {
    document->budget_bytes = *options.budget_bytes;
  }
  return resolve(std::move(*document));
}

Result<PlannedDag> plan_document(std::string_view json, const PlanOptions& options) {
  auto named = read_dag(json, options);
  if (!named) {
    return tl::unexpected(std::move(named.error()));
  }
  auto plan = make_plan(named->dag, options);
  if (!plan) {
    return tl::unexpected(to_error(plan.error(), *named));
  }
  return PlannedDag{.named = std::move(*named), .plan = std::move(*plan)};
}

Result<void> plan(std::string_view json, const PlanOptions& options, documents::Style style,
                  std::string& answer) {
  auto planned = plan_document(json, options);
  if (!planned) {
    return tl::unexpected(std::move(planned.error()));
  }
  planned->named = {}; // the answer takes room too
  const documents::FrontierMemoryPlan document = plan_to_document(planned->plan, options);
  documents::encode(documents::DocumentOf<documents::FrontierMemoryPlan>::document, &document, style, answer);
  return {};
}

planning::MemoryPlan memory_plan(const documents::FrontierMemoryPlan& document) {
  planning::MemoryPlan plan;
  for (const documents::BarrierGroup& group : document.barriers.groups) {
    plan.order.insert(plan.order.end(), group.waves.begin(), group.waves.end());
    plan.group_begin.push_back(static_cast<std::uint32_t>(plan.order.size()));
    plan.group_fused_bytes.push_back(group.fused_bytes);
  }
  plan.peak_frontier_bytes = document.peak_frontier_bytes;
  plan.peak_scratch_bytes = document.peak_scratch_bytes;
  plan.peak_output_bytes = document.peak_output_bytes;
  plan.amortized_readback_bytes = document.amortized_readback_bytes;
  plan.max_group_width = document.max_group_width;
  plan.lower_bound_groups = document.lower_bound_groups;
  plan.optimal = document.optimal;
  return plan;
}

std::string plan_headline(const PlannedDag& planned, const PlanOptions& options) {
  const planning::MemoryPlan& plan = planned.plan;
  const std::string verdict =
      plan.optimal ? "proved to be the fewest" : fmt::format("at least {} needed", plan.lower_bound_groups);
  return fmt::format("{}: {} in {}, {}, {}",
                     documents::plan_strategy_names[static_cast<std::size_t>(options.strategy)],
                     plural(plan.order.size(), "wave"), plural(plan.group_count(), "group"),
                     plural(plan.global_barriers(), "barrier"), verdict);
}

std::string share_text(std::uint64_t bytes, std::uint64_t budget) {
  if (budget == 0) {
    return {};
  }
  // Cut, not rounded, so that only a full group shows 100%.
  const double tenths = std::floor(1000.0 * static_cast<double>(bytes) / static_cast<double>(budget));
  return fmt::format("{:.1f}%", bytes < budget ? std::min(tenths, 999.0) / 10.0 : 100.0);
}

} // namespace tidegate::commands
