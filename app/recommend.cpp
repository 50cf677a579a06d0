// `tidegate recommend`: a launch request becomes a launch recommendation, as a document or in words.
#include "app/run.hpp"

namespace tidegate::app {
namespace {

using documents::LaunchRecommendationDocument;
using documents::LaunchRequestDocument;

struct RecommendSettings {
  Route route;
  policy::LaunchPolicy policy;                       // default; a request's own policy overrides it
  std::optional<policy::Topology> previous_topology; // for requests that name none
  std::optional<device::DeviceInfo> device;          // gives the limits
  bool topology_evidence = false;
  bool promotion_evidence = false;
  bool explain = false;

  // Texts of the options as given.
  std::optional<std::string> policy_file, evidence, selector;
};

// Returns the start of a request: the options and the limits of --device.
LaunchRequestDocument first_request(const RecommendSettings& settings) {
  LaunchRequestDocument request{
      .request = {}, .previous_topology = settings.previous_topology, .policy = settings.policy};
  if (settings.device) {
    const policy::AdapterLimits limits = device::adapter_limits(*settings.device);
    request.request.max_workgroup_size_x = limits.max_workgroup_size_x;
    request.request.max_compute_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension;
    request.request.max_compute_invocations_per_workgroup = limits.max_compute_invocations_per_workgroup;
    request.request.device_memory_budget_bytes = settings.device->global_memory_bytes;
  }
  return request;
}

// Fields that --device fills in.
constexpr std::array<std::string_view, 4> adapter_fields{
    "max_workgroup_size_x", "max_compute_workgroups_per_dimension", "max_compute_invocations_per_workgroup",
    "device_memory_budget_bytes"};

documents::Evidence collect_evidence(const RecommendSettings& settings, const LaunchRequestDocument& request,
                                     const policy::LaunchRecommendation& recommendation) {
  const policy::LaunchRequest effective = policy::infer_missing_signals(request.request);
  documents::Evidence evidence;
  if (settings.topology_evidence) {
    evidence.topology = policy::topology_evidence(effective, recommendation);
    evidence.complete.topology = !policy::incomplete_field(*evidence.topology);
  }
  if (settings.promotion_evidence) {
    evidence.promotion = policy::promotion_evidence(request.policy, effective, recommendation);
    evidence.complete.promotion = !policy::incomplete_field(*evidence.promotion);
  }
  return evidence;
}

// Answers one request. The decoder keeps its working memory from one to the next.
Result<LaunchRecommendationDocument> recommend(const RecommendSettings& settings,
                                               std::string_view request_json, documents::Decoder& decoder) {
  LaunchRequestDocument request = first_request(settings);
  std::span<const std::string_view> given;
  LaunchRecommendationDocument document;
  if (settings.device) {
    given = adapter_fields;
    document.device = settings.device->name;
  }
  TIDEGATE_CHECK(
      decoder.decode(documents::DocumentOf<LaunchRequestDocument>::document, request_json, &request, given));
  TIDEGATE_TRY(const policy::LaunchDecision decision,
               policy::decide(request.policy, request.request, request.previous_topology));
  document.recommendation = decision.recommendation;
  if (settings.explain) {
    document.explanation = policy::explain(request.policy, request.request, decision);
  }
  if (settings.topology_evidence || settings.promotion_evidence) {
    document.evidence = collect_evidence(settings, request, document.recommendation);
  }
  return document;
}

// Returns a table with the recommendation and the reason of each step.
std::string recommendation_table(const LaunchRecommendationDocument& document, bool colour) {
  const policy::LaunchRecommendation& answer = document.recommendation;
  const policy::LaunchGeometry& geometry = answer.geometry;
  std::string text =
      bold(fmt::format("{} in {} mode, {} of {}, queue {}", name(answer.topology),
                       name(answer.execution_mode), plural(geometry.dispatch_grid[0], "work-group"),
                       geometry.workgroup_size_x, name(answer.pressure)),
           colour) +
      "\n\n";
  TableRows rows;
  for (const policy::ExplanationStep& step : *document.explanation) {
    rows.push_back({step.step, step.outcome, step.because});
  }
  text += render_table(rows);
  if (document.evidence) {
    text += '\n';
    const documents::EvidenceComplete& complete = document.evidence->complete;
    for (const auto& [which, known] :
         {std::pair("topology", complete.topology), std::pair("promotion", complete.promotion)}) {
      text += known ? fmt::format("{} evidence: {}\n", which, *known ? "complete" : "incomplete") : "";
    }
  }
  return text;
}

constexpr std::array<std::string_view, 3> evidence_names{"topology", "promotion", "all"};

Result<void> read_policy(RecommendSettings& settings) {
  if (!settings.policy_file) {
    return {};
  }
  if (*settings.policy_file == "-" && settings.route.input == "-") {
    return failure(ErrorCode::invalid_usage, "standard input cannot be the policy and the request",
                   "name a file for one of them");
  }
  settings.route.other_inputs.push_back({*settings.policy_file, "the policy", {}});
  TIDEGATE_TRY(settings.policy, read_as<policy::LaunchPolicy>(*settings.policy_file));
  return {};
}

Result<void> read_evidence(RecommendSettings& settings) {
  if (!settings.evidence) {
    return {};
  }
  std::string_view rest = *settings.evidence;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find(','));
    if (std::ranges::find(evidence_names, word) == evidence_names.end()) {
      const auto nearest = nearest_name(word, evidence_names);
      return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                  .message = fmt::format("--evidence has no {}", in_quotes(word)),
                                  .fix = nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                                                 : "give topology, promotion, both with a comma, or all",
                                  .nearest = nearest ? std::optional<std::string>(*nearest) : std::nullopt});
    }
    settings.topology_evidence |= word != "promotion";
    settings.promotion_evidence |= word != "topology";
    if (word.size() == rest.size()) {
      return {};
    }
    rest.remove_prefix(word.size() + 1);
  }
}

Result<void> read_adapter(RecommendSettings& settings) {
  if (!settings.selector) {
    return {};
  }
  TIDEGATE_CHECK(device::isolate_drivers());
  TIDEGATE_TRY(const auto list, device::list_devices());
  TIDEGATE_TRY(const auto chosen, device::select_device(list, *settings.selector));
  settings.device = *chosen;
  return {};
}

Result<ExitCode> run_recommend(RecommendSettings& settings) {
  TIDEGATE_CHECK(refuse_stream(settings.route.stream, settings.route.format));
  TIDEGATE_CHECK(read_adapter(settings));
  TIDEGATE_CHECK(read_policy(settings));
  TIDEGATE_CHECK(read_evidence(settings));
  settings.explain |= settings.route.format == "table";

  return serve(settings.route, [&settings]() -> Answer {
    return [&settings, decoder = std::make_shared<documents::Decoder>()](
               std::string_view json, documents::Style style, std::string& answer) -> Result<void> {
      TIDEGATE_TRY(const auto document, recommend(settings, json, *decoder));
      if (style == documents::Style::table) {
        answer += recommendation_table(document, use_colour(settings.route.output));
      } else {
        documents::encode(documents::DocumentOf<LaunchRecommendationDocument>::document, &document, style,
                          answer);
      }
      return {};
    };
  });
}

} // namespace

CommandModel recommend_command() {
  const auto settings = std::make_shared<RecommendSettings>();
  OptionModel evidence = text_option("--evidence", "topology|promotion|all", settings->evidence,
                                     "Add the evidence of the choice, and whether it is complete");
  evidence.choices = {evidence_names.begin(), evidence_names.end()};
  return {
      .options =
          {file_option("--policy", settings->policy_file,
                       "Launch policy that a request's own policy overrides"),
           choice_option("--previous-topology", settings->previous_topology, policy::topology_names,
                         "Topology of the previous launch, for requests that state none"),
           std::move(evidence),
           flag("--explain", settings->explain, "Add the rule and the numbers of each step"),
           device_option(
               settings->selector,
               "Take the device limits and the memory budget that a request leaves out from a device: an index, "
               "cpu, gpu, a UUID, a name or a part of one"),
           stream_option(settings->route.stream),
           format_option(settings->route.format, json_or_table, std::string(json_by_default)),
           output_option(settings->route.output)},
      .positionals = {input_positional(settings->route.input, "Launch request")},
      .examples = {{"How should this launch run, and why?",
                    "tidegate recommend examples/bfs_wave.json --format table"},
                   {"One recommendation per line:", "tidegate recommend --stream < examples/waves.ndjson"}},
      .run = [settings] { return run_recommend(*settings); }};
}

} // namespace tidegate::app
