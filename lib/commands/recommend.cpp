#include <tidegate/commands/recommend.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>

#include <fmt/format.h>

#include <utility>

namespace tidegate::commands {
namespace {

using documents::LaunchRecommendationDocument;
using documents::LaunchRequestDocument;

documents::Evidence collect_evidence(const RecommendOptions& options, const LaunchRequestDocument& request,
                                     const policy::LaunchRecommendation& recommendation) {
  const policy::LaunchRequest effective = policy::infer_missing_signals(request.request);
  documents::Evidence evidence;
  if (options.topology_evidence) {
    evidence.topology = policy::topology_evidence(effective, recommendation);
    evidence.complete.topology = !policy::incomplete_field(*evidence.topology);
  }
  if (options.promotion_evidence) {
    evidence.promotion = policy::promotion_evidence(request.policy, effective, recommendation);
    evidence.complete.promotion = !policy::incomplete_field(*evidence.promotion);
  }
  return evidence;
}

} // namespace

Result<LaunchRecommendationDocument> Recommender::recommend(std::string_view request_json, bool explain) {
  LaunchRequestDocument request{
      .request = {}, .previous_topology = options_.previous_topology, .policy = options_.policy};
  const auto decoded =
      decoder_.decode(documents::DocumentOf<LaunchRequestDocument>::document, request_json, &request);
  if (!decoded) {
    return tl::unexpected(decoded.error());
  }

  const bool evidence = options_.topology_evidence || options_.promotion_evidence;
  LaunchRecommendationDocument document;
  // The cache serves requests without a previous topology; with evidence it is asked for the effective
  // request.
  const bool cached = cache_ != nullptr && !request.previous_topology;
  if (!cached || explain) {
    const auto decision = policy::decide(request.policy, request.request, request.previous_topology);
    if (decision && explain) {
      document.explanation = policy::explain(request.policy, request.request, *decision);
    }
    if (!cached) {
      if (!decision) {
        return tl::unexpected(policy::to_error(decision.error()));
      }
      document.recommendation = decision->recommendation;
    }
  }
  if (cached) {
    const auto answer = cache_->recommend(
        request.policy, evidence ? policy::infer_missing_signals(request.request) : request.request);
    if (!answer) {
      return tl::unexpected(policy::to_error(answer.error()));
    }
    document.recommendation = *answer;
  }
  if (evidence) {
    document.evidence = collect_evidence(options_, request, document.recommendation);
  }
  return document;
}

Result<void> Recommender::answer(std::string_view request_json, documents::Style style, std::string& json) {
  const auto document = recommend(request_json, options_.explain);
  if (!document) {
    return tl::unexpected(document.error());
  }
  documents::encode(documents::DocumentOf<LaunchRecommendationDocument>::document, &*document, style, json);
  return {};
}

Result<std::string> Recommender::table(std::string_view request_json, bool colour) {
  const auto document = recommend(request_json, true);
  if (!document) {
    return tl::unexpected(document.error());
  }
  const policy::LaunchRecommendation& answer = document->recommendation;
  const policy::LaunchGeometry& geometry = answer.geometry;
  std::string text = bold(fmt::format("{} in {} mode, {} work-groups of {}, queue {}", name(answer.topology),
                                      name(answer.execution_mode), geometry.dispatch_grid[0],
                                      geometry.workgroup_size_x, name(answer.pressure)),
                          colour);
  text += "\n\n";

  std::vector<std::vector<std::string>> rows;
  for (const policy::TraceStep& step : *document->explanation) {
    rows.push_back({step.step, step.outcome, step.because});
  }
  text += render_table(rows);

  if (document->evidence) {
    const auto say = [&text](std::string_view which, std::optional<bool> complete) {
      if (complete) {
        text += fmt::format("{} evidence: {}\n", which, *complete ? "complete" : "incomplete");
      }
    };
    text += '\n';
    say("topology", document->evidence->complete.topology);
    say("promotion", document->evidence->complete.promotion);
  }
  return text;
}

} // namespace tidegate::commands
