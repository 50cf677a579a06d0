#include <tidegate/commands/recommend.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace tidegate::commands {
namespace {

// What --device fills in.
constexpr std::array<std::string_view, 4> adapter_fields{
    "max_workgroup_size_x", "max_compute_workgroups_per_dimension", "max_compute_invocations_per_workgroup",
    "device_memory_budget_bytes"};

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

AdapterLimits adapter_limits(const device::DeviceInfo& device) {
  constexpr std::uint64_t most =
      std::numeric_limits<std::int32_t>::max(); // what drivers take in one dimension
  const auto narrowed = [most](std::uint64_t limit) {
    return static_cast<std::uint32_t>(std::min(limit, most));
  };
  const std::uint64_t in_x =
      device.max_work_item_sizes.empty() ? device.max_workgroup_size : device.max_work_item_sizes.front();
  return {.device = device.name,
          .max_workgroup_size_x = narrowed(std::min(in_x, device.max_workgroup_size)),
          .max_compute_workgroups_per_dimension = narrowed(most),
          .max_compute_invocations_per_workgroup = narrowed(device.max_workgroup_size),
          .device_memory_budget_bytes = device.global_memory_bytes};
}

Result<LaunchRecommendationDocument> Recommender::recommend(std::string_view request_json, bool explain) {
  LaunchRequestDocument request{
      .request = {}, .previous_topology = options_.previous_topology, .policy = options_.policy};
  std::span<const std::string_view> given;
  if (options_.adapter) {
    const AdapterLimits& limits = *options_.adapter;
    request.request.max_workgroup_size_x = limits.max_workgroup_size_x;
    request.request.max_compute_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension;
    request.request.max_compute_invocations_per_workgroup = limits.max_compute_invocations_per_workgroup;
    request.request.device_memory_budget_bytes = limits.device_memory_budget_bytes;
    given = adapter_fields;
  }
  const auto decoded =
      decoder_.decode(documents::DocumentOf<LaunchRequestDocument>::document, request_json, &request, given);
  if (!decoded) {
    return tl::unexpected(decoded.error());
  }

  const bool evidence = options_.topology_evidence || options_.promotion_evidence;
  LaunchRecommendationDocument document;
  if (options_.adapter) {
    document.device = options_.adapter->device;
  }
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
