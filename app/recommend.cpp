// `tidegate recommend`: a launch request becomes a launch recommendation, as a document or in words. Then parts of the launch
// policy by themselves: priority drain, priority diffuse, tune choose and tune step.
#include "app/run.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::app {
namespace {

using documents::LaunchRecommendationDocument;
using documents::LaunchRequestDocument;

struct RecommendSettings {
  Route route;
  LaunchRequestDocument
      first; // what a request leaves out: the policy, the previous topology, the limits of --device
  std::optional<std::string> device; // the name of that
  documents::Document document = documents::DocumentOf<LaunchRequestDocument>::document;
  documents::Record record = *document.record; // for --device, with fields that may be missing
  std::vector<documents::Field> fields;
  unsigned evidence = 0; // 1: topology, 2: promotion
  bool explain = false;
  std::optional<std::string> policy_file, selector; // as given
};

// Fields that --device fills in.
constexpr std::array<std::string_view, 4> adapter_fields{
    "max_workgroup_size_x", "max_compute_workgroups_per_dimension", "max_compute_invocations_per_workgroup",
    "device_memory_budget_bytes"};

// Answers one request.
Result<LaunchRecommendationDocument> recommend(const RecommendSettings& settings,
                                               std::string_view request_json) {
  LaunchRequestDocument request = settings.first;
  LaunchRecommendationDocument document{.device = settings.device};
  TIDEGATE_CHECK(decode_as(settings.document, request_json, &request));
  TIDEGATE_TRY(const policy::LaunchDecision decision,
               policy::decide(request.policy, request.request, request.previous_topology));
  document.recommendation = decision.recommendation;
  if (settings.explain) {
    document.explanation = policy::explain(request.policy, request.request, decision);
  }
  if (settings.evidence != 0) {
    documents::Evidence& evidence = document.evidence.emplace();
    if ((settings.evidence & 1U) != 0) {
      evidence.topology = policy::topology_evidence(decision.effective, decision.recommendation);
      evidence.complete.topology = !policy::incomplete_field(*evidence.topology);
    }
    if ((settings.evidence & 2U) != 0) {
      evidence.promotion =
          policy::promotion_evidence(request.policy, decision.effective, decision.recommendation);
      evidence.complete.promotion = !policy::incomplete_field(*evidence.promotion);
    }
  }
  return document;
}

std::string recommendation_table(const LaunchRecommendationDocument& document, bool colour) {
  return bold(launch_text(document.recommendation), colour) + "\n\n" +
         render_table(reason_rows(*document.explanation));
}

// A bit for each kind of evidence: topology, promotion or all, or several of them with commas.
Result<unsigned> read_evidence(const std::string& words) {
  const auto one = as_choice<unsigned>({{"topology", 1}, {"promotion", 2}, {"all", 3}});
  unsigned kinds = 0;
  for (const std::string& word : words_in(words)) {
    TIDEGATE_TRY(const auto kind, one.read(word));
    kinds |= *kind;
  }
  return kinds;
}

Result<ExitCode> run_recommend(RecommendSettings& settings) {
  TIDEGATE_CHECK(refuse_stream(settings.route.stream, settings.route.format));
  if (settings.selector) {
    TIDEGATE_CHECK(device::isolate_drivers());
    TIDEGATE_TRY(const auto list, device::list_devices());
    TIDEGATE_TRY(const auto chosen, device::select_device(list, *settings.selector));
    const policy::AdapterLimits limits = device::adapter_limits(*chosen);
    policy::LaunchRequest& request = settings.first.request;
    request.max_workgroup_size_x = limits.max_workgroup_size_x;
    request.max_compute_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension;
    request.max_compute_invocations_per_workgroup = limits.max_compute_invocations_per_workgroup;
    request.device_memory_budget_bytes = chosen->global_memory_bytes;
    settings.device = chosen->name;
    for (const documents::Field& field : settings.document.record->fields) {
      const bool filled = std::ranges::find(adapter_fields, field.name) != adapter_fields.end();
      settings.fields.push_back(filled ? field.or_value_of("") : field);
    }
    settings.record.fields = settings.fields;
    settings.document.record = &settings.record;
  }
  if (settings.policy_file) {
    FileUses files = settings.route.files();
    files.inputs.insert(files.inputs.begin(), {*settings.policy_file, "the policy", {}});
    TIDEGATE_CHECK(refuse_overwriting(files));
    TIDEGATE_TRY(settings.first.policy, read_as<policy::LaunchPolicy>(*settings.policy_file));
  }
  settings.explain |= settings.route.format == "table";

  return serve(settings.route,
               [&settings](std::string_view json, AnswerStyle style, std::string& answer) -> Result<void> {
                 TIDEGATE_TRY(const auto document, recommend(settings, json));
                 if (!style) {
                   answer += recommendation_table(document, use_colour(settings.route.output));
                 } else {
                   append(document, style, answer);
                 }
                 return {};
               });
}

using namespace documents;

// A command that turns one document into another.
CommandModel document_command(std::string name, std::string summary, const std::string& document,
                              CommandExample example, Answer answer) {
  const auto route = std::make_shared<Route>();
  return answering(*route, document,
                   {.name = std::move(name),
                    .summary = std::move(summary),
                    .examples = {std::move(example)},
                    .run = [route, answer = std::move(answer)] { return serve(*route, answer); }});
}

// Answers with the document that `compute` makes of an Input.
template <class Input, class Compute>
Answer answer_with(Compute compute) {
  return [compute](std::string_view input, AnswerStyle style, std::string& json) -> Result<void> {
    TIDEGATE_TRY(const Input decoded, decode_as<Input>(input));
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

std::string launch_text(const policy::LaunchRecommendation& launch) {
  return fmt::format("{} in {} mode, {} of {}, queue {}", name(launch.topology), name(launch.execution_mode),
                     plural(launch.geometry.dispatch_grid[0], "work-group"), launch.geometry.workgroup_size_x,
                     name(launch.pressure));
}

TableRows reason_rows(const std::vector<policy::ExplanationStep>& steps) {
  TableRows rows;
  for (const policy::ExplanationStep& step : steps) {
    rows.push_back({step.step, step.outcome, step.because});
  }
  return rows;
}

CommandModel recommend_command() {
  const auto settings = std::make_shared<RecommendSettings>();
  return answering(
      settings->route, "Launch request",
      {.options =
           {option("--policy", as_file(), settings->policy_file,
                   "Launch policy that a request's own policy overrides"),
            option("--previous-topology", as_choice(words_for<policy::Topology>()),
                   settings->first.previous_topology,
                   "Topology of the previous launch, for requests that state none"),
            option("--evidence", ValueKind<unsigned>{"topology|promotion|all", read_evidence},
                   settings->evidence, "Add the evidence of the choice, and whether it is complete"),
            flag("--explain", settings->explain, "Add the rule of each step and its reason"),
            option(
                "--device", as_device(), settings->selector,
                "Take the device limits and the memory budget that a request leaves out from a device: an index, "
                "cpu, gpu, a UUID, a name or a part of one")},
       .examples = {{"How should this launch run, and why?",
                     "tidegate recommend examples/bfs_wave.json --format table"},
                    {"One recommendation per line:", "tidegate recommend --stream < examples/waves.ndjson"}},
       .run = [settings] { return run_recommend(*settings); }});
}

CommandModel priority_command() {
  return {.subcommands = {
              document_command("drain", "Recommend whether to read the requeue counters out and reset them",
                               "Requeue accounting",
                               {"Is it time to read the counters out?",
                                "tidegate priority drain examples/requeue_accounting.json"},
                               answer_with<policy::RequeueAccounting>(drained)),
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
