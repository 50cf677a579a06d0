// Parts of the launch policy by themselves: tidegate priority drain, priority diffuse, tune choose and tune step.
#include "app/command_line.hpp"
#include "engine/documents.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::app {
namespace {

using documents::Style;

// Decodes an Input, computes its answer and encodes that.
template <class Input, class Function>
Result<void> answer(std::string_view input, Style style, std::string& json, Function compute) {
  TIDEGATE_TRY(const auto decoded, documents::decode<Input>(input));
  const auto output = compute(decoded);
  documents::encode(documents::DocumentOf<std::decay_t<decltype(output)>>::document, &output, style, json);
  return {};
}

// A list with its diagnostics; `shape` says what is wrong with the input's lengths, if anything.
template <class Output>
Output with_diagnostics(std::vector<double>&& values, std::optional<std::string> shape) {
  Output output{.output = std::move(values), .diagnostics = {}};
  output.diagnostics = documents::non_finite_diagnostics("/output", output.output);
  if (shape) {
    output.diagnostics.emplace().push_back(
        {.code = "length_mismatch", .pointer = "/output", .message = *std::move(shape)});
  }
  return output;
}

// Takes the counters, or those of all queues of a run's report.
Result<void> drain_priority(std::string_view input, Style style, std::string& json) {
  TIDEGATE_TRY(const std::string kind, documents::kind_of(input));
  if (kind != documents::DocumentOf<documents::RunReportDocument>::document.kind) {
    return answer<policy::RequeueAccounting>(input, style, json, policy::drain_recommendation);
  }
  return answer<documents::RunReportDocument>(
      input, style, json, [](const documents::RunReportDocument& document) {
        policy::RequeueAccounting all;
        for (const engine::QueueReport& queue : document.report.queues) {
          all.requeue_count += queue.accounting.requeue_count;
          all.aged_promotions += queue.accounting.aged_promotions;
          all.max_priority_age = std::max(all.max_priority_age, queue.accounting.max_priority_age);
        }
        return policy::drain_recommendation(all);
      });
}

Result<void> diffuse_priority(std::string_view input, Style style, std::string& json) {
  return answer<documents::SiblingDiffusion>(
      input, style, json, [](const documents::SiblingDiffusion& siblings) {
        std::optional<std::string> shape;
        if (siblings.priority_stalks.size() != siblings.restriction_diag.size()) {
          shape = fmt::format("{} stalks and {} restrictions: the stalks are returned unchanged",
                              siblings.priority_stalks.size(), siblings.restriction_diag.size());
        }
        return with_diagnostics<documents::DiffusedPriorities>(
            policy::diffuse_priorities(siblings.priority_stalks, siblings.restriction_diag, siblings.damping,
                                       siblings.iterations),
            std::move(shape));
      });
}

Result<void> choose_tuning(std::string_view input, Style style, std::string& json) {
  TIDEGATE_TRY(const auto measured, documents::decode<documents::MeasuredCosts>(input));
  std::vector<double> costs;
  for (const documents::NumberOrNull cost : measured.costs) {
    costs.push_back(cost.value);
  }
  const auto value = policy::choose_cheapest(measured.candidates, costs, measured.current);
  if (!value) {
    return failure(ErrorCode::missing_key, "no candidate has a cost, and there is no current value",
                   "give current, the value in use", "/current");
  }
  const documents::TuningChoice choice{.value = *value};
  documents::encode(documents::DocumentOf<documents::TuningChoice>::document, &choice, style, json);
  return {};
}

Result<void> step_tuning(std::string_view input, Style style, std::string& json) {
  return answer<documents::NaturalGradient>(
      input, style, json, [](const documents::NaturalGradient& gradient) {
        std::vector<double> step = policy::natural_gradient_step(gradient.m_inv_sqrt, gradient.grad,
                                                                 gradient.n, gradient.learning_rate);
        std::optional<std::string> shape;
        if (step.size() != gradient.n) {
          shape = fmt::format(
              "n = {} needs {} matrix values and {} gradient values, got {} and {}: there is no step",
              gradient.n, std::uint64_t{gradient.n} * gradient.n, gradient.n, gradient.m_inv_sqrt.size(),
              gradient.grad.size());
        }
        return with_diagnostics<documents::NaturalGradientStep>(std::move(step), std::move(shape));
      });
}

} // namespace

CommandModel priority_command() {
  return {.subcommands = {
              document_command("drain", "Recommend whether to read the requeue counters out and reset them",
                               "Requeue accounting, or the report of a wave program's run,",
                               {"Is it time to read the counters out?",
                                "tidegate priority drain examples/requeue_accounting.json"},
                               drain_priority),
              document_command("diffuse", "Diffuse priorities between siblings", "Sibling diffusion",
                               {"The priorities after diffusion:",
                                "tidegate priority diffuse examples/sibling_diffusion.json"},
                               diffuse_priority)}};
}

CommandModel tune_choose_command() {
  return document_command("choose", "Choose the cheapest of measured candidates", "Measured costs",
                          {"Which of the measured candidates is the cheapest?",
                           "tidegate tune choose examples/measured_costs.json"},
                          choose_tuning);
}

CommandModel tune_step_command() {
  return document_command("step", "Take a natural-gradient step", "Natural gradient",
                          {"A step from a gradient:", "tidegate tune step examples/natural_gradient.json"},
                          step_tuning);
}

} // namespace tidegate::app
