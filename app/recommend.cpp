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
  std::optional<std::string> policy_file, selector;
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

// Answers one request.
Result<LaunchRecommendationDocument> recommend(const RecommendSettings& settings,
                                               std::string_view request_json) {
  LaunchRequestDocument request = first_request(settings);
  std::span<const std::string_view> given;
  LaunchRecommendationDocument document;
  if (settings.device) {
    given = adapter_fields;
    document.device = settings.device->name;
  }
  TIDEGATE_CHECK(documents::decode(documents::DocumentOf<LaunchRequestDocument>::document, request_json,
                                   &request, given));
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

namespace {

std::string recommendation_table(const LaunchRecommendationDocument& document, bool colour) {
  std::string text = bold(launch_text(document.recommendation), colour) + "\n\n" +
                     render_table(reason_rows(*document.explanation));
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

// Takes topology, promotion or all, or several of them with commas.
OptionModel evidence_option(RecommendSettings& settings) {
  OptionModel evidence = index_option(
      "--evidence",
      [&settings](std::size_t name) {
        settings.topology_evidence |= name != 1;
        settings.promotion_evidence |= name != 0;
      },
      evidence_names, "Add the evidence of the choice, and whether it is complete");
  evidence.take = [one = evidence.take](const std::string& words) -> Result<void> {
    for (std::size_t begin = 0; begin <= words.size();) {
      const std::size_t end = std::min(words.find(',', begin), words.size());
      TIDEGATE_CHECK(one(words.substr(begin, end - begin)));
      begin = end + 1;
    }
    return {};
  };
  return evidence;
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
  settings.explain |= settings.route.format == "table";

  return serve(
      settings.route,
      [&settings](std::string_view json, documents::Style style, std::string& answer) -> Result<void> {
        TIDEGATE_TRY(const auto document, recommend(settings, json));
        if (style == documents::Style::table) {
          answer += recommendation_table(document, use_colour(settings.route.output));
        } else {
          append(document, style, answer);
        }
        return {};
      });
}

} // namespace

CommandModel recommend_command() {
  const auto settings = std::make_shared<RecommendSettings>();
  return {
      .options =
          {file_option("--policy", settings->policy_file,
                       "Launch policy that a request's own policy overrides"),
           choice_option("--previous-topology", settings->previous_topology, policy::topology_names,
                         "Topology of the previous launch, for requests that state none"),
           evidence_option(*settings),
           flag("--explain", settings->explain, "Add the rule of each step and its reason"),
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
