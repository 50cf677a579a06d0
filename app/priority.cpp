// Parts of the launch policy by themselves: tidegate priority drain, priority diffuse, tune choose and tune step.
#include "app/command_line.hpp"
#include "engine/documents.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::app {
namespace {

using namespace documents;

// A command that turns one document into another: FILE, --format, --stream and -o.
CommandModel document_command(std::string name, std::string summary, const std::string& document,
                              CommandExample example, Answer answer) {
  const auto route = std::make_shared<Route>();
  return {.name = std::move(name),
          .summary = std::move(summary),
          .options = {format_option(route->format, json_or_table, std::string(json_by_default)),
                      stream_option(route->stream), output_option(route->output)},
          .positionals = {input_positional(route->input, document)},
          .examples = {std::move(example)},
          .run = [route, answer = std::move(answer)] { return serve(*route, answer); }};
}

// Answers with the document that `compute` makes of an Input.
template <class Input, class Compute>
Answer answer_with(Compute compute) {
  return [compute](std::string_view input, Style style, std::string& json) -> Result<void> {
    TIDEGATE_TRY(const Input decoded, decode<Input>(input));
    TIDEGATE_TRY(const auto output, compute(decoded));
    append(output, style, json);
    return {};
  };
}

// A list with its diagnostics; `shape` says what is wrong with the input's lengths, if anything.
template <class Output>
Result<Output> with_diagnostics(std::vector<double> values, bool fits, std::string shape) {
  Output output{.output = std::move(values), .diagnostics = {}};
  output.diagnostics = non_finite_diagnostics("/output", output.output);
  if (!fits) {
    output.diagnostics.emplace().push_back(
        {.code = "length_mismatch", .pointer = "/output", .message = std::move(shape)});
  }
  return output;
}

Result<policy::DrainRecommendation> drained(const policy::RequeueAccounting& counters) {
  return policy::drain_recommendation(counters);
}

// Takes the counters, or those of all queues of a run's report.
Result<void> drain_priority(std::string_view input, Style style, std::string& json) {
  TIDEGATE_TRY(const std::string kind, kind_of(input));
  if (kind != DocumentOf<RunReportDocument>::document.kind) {
    return answer_with<policy::RequeueAccounting>(drained)(input, style, json);
  }
  return answer_with<RunReportDocument>([](const RunReportDocument& document) {
    policy::RequeueAccounting all;
    for (const engine::QueueReport& queue : document.report.queues) {
      all.requeue_count += queue.accounting.requeue_count;
      all.aged_promotions += queue.accounting.aged_promotions;
      all.max_priority_age = std::max(all.max_priority_age, queue.accounting.max_priority_age);
    }
    return drained(all);
  })(input, style, json);
}

Result<DiffusedPriorities> diffused(const SiblingDiffusion& of) {
  return with_diagnostics<DiffusedPriorities>(
      policy::diffuse_priorities(of.priority_stalks, of.restriction_diag, of.damping, of.iterations),
      of.priority_stalks.size() == of.restriction_diag.size(),
      fmt::format("{} stalks and {} restrictions: the stalks are returned unchanged",
                  of.priority_stalks.size(), of.restriction_diag.size()));
}

Result<TuningChoice> cheapest(const MeasuredCosts& measured) {
  const auto value = policy::choose_cheapest(measured.candidates, measured.costs, measured.current);
  return value ? Result<TuningChoice>(TuningChoice{.value = *value})
               : failure(ErrorCode::missing_key, "no candidate has a cost, and there is no current value",
                         "give current, the value in use", "/current");
}

Result<NaturalGradientStep> gradient_step(const NaturalGradient& of) {
  std::vector<double> values = policy::natural_gradient_step(of.m_inv_sqrt, of.grad, of.n, of.learning_rate);
  const bool fits = values.size() == of.n;
  return with_diagnostics<NaturalGradientStep>(
      std::move(values), fits,
      fmt::format("n = {} needs {} matrix values and {} gradient values, got {} and {}: there is no step",
                  of.n, std::uint64_t{of.n} * of.n, of.n, of.m_inv_sqrt.size(), of.grad.size()));
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
                               answer_with<SiblingDiffusion>(diffused))}};
}

CommandModel tune_choose_command() {
  return document_command("choose", "Choose the cheapest of measured candidates", "Measured costs",
                          {"Which of the measured candidates is the cheapest?",
                           "tidegate tune choose examples/measured_costs.json"},
                          answer_with<MeasuredCosts>(cheapest));
}

CommandModel tune_step_command() {
  return document_command("step", "Take a natural-gradient step", "Natural gradient",
                          {"A step from a gradient:", "tidegate tune step examples/natural_gradient.json"},
                          answer_with<NaturalGradient>(gradient_step));
}

} // namespace tidegate::app
