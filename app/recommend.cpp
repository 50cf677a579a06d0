#include "app/recommend.hpp"

#include "app/command_line.hpp"
#include "app/options.hpp"
#include "app/terminal.hpp"
#include "core/files.hpp"
#include "core/table.hpp"
#include "device/isolation.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tidegate::commands {
namespace {

// Fields that --device fills in.
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

Result<LaunchRecommendationDocument> Recommender::recommend(std::string_view request_json, bool explain) {
  LaunchRequestDocument request{
      .request = {}, .previous_topology = options_.previous_topology, .policy = options_.policy};
  std::span<const std::string_view> given;
  if (options_.device) {
    const policy::AdapterLimits limits = device::adapter_limits(*options_.device);
    request.request.max_workgroup_size_x = limits.max_workgroup_size_x;
    request.request.max_compute_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension;
    request.request.max_compute_invocations_per_workgroup = limits.max_compute_invocations_per_workgroup;
    request.request.device_memory_budget_bytes = options_.device->global_memory_bytes;
    given = adapter_fields;
  }
  const auto decoded =
      decoder_.decode(documents::DocumentOf<LaunchRequestDocument>::document, request_json, &request, given);
  if (!decoded) {
    return tl::unexpected(decoded.error());
  }

  const bool evidence = options_.topology_evidence || options_.promotion_evidence;
  LaunchRecommendationDocument document;
  if (options_.device) {
    document.device = options_.device->name;
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
  TIDEGATE_TRY(const auto document, recommend(request_json, options_.explain));
  documents::encode(documents::DocumentOf<LaunchRecommendationDocument>::document, &document, style, json);
  return {};
}

Result<std::string> Recommender::table(std::string_view request_json, bool colour) {
  TIDEGATE_TRY(const auto document, recommend(request_json, true));
  const policy::LaunchRecommendation& answer = document.recommendation;
  const policy::LaunchGeometry& geometry = answer.geometry;
  std::string text = bold(fmt::format("{} in {} mode, {} work-groups of {}, queue {}", name(answer.topology),
                                      name(answer.execution_mode), geometry.dispatch_grid[0],
                                      geometry.workgroup_size_x, name(answer.pressure)),
                          colour);
  text += "\n\n";

  std::vector<std::vector<std::string>> rows;
  for (const policy::TraceStep& step : *document.explanation) {
    rows.push_back({step.step, step.outcome, step.because});
  }
  text += render_table(rows);

  if (document.evidence) {
    const auto say = [&text](std::string_view which, std::optional<bool> complete) {
      if (complete) {
        text += fmt::format("{} evidence: {}\n", which, *complete ? "complete" : "incomplete");
      }
    };
    text += '\n';
    say("topology", document.evidence->complete.topology);
    say("promotion", document.evidence->complete.promotion);
  }
  return text;
}

} // namespace tidegate::commands

namespace tidegate::app {

// tidegate recommend

namespace {

struct RecommendSettings {
  commands::Route route;
  commands::RecommendOptions recommend;
  std::optional<std::string> policy_file;
  std::optional<std::string> evidence;
  std::optional<std::string> device;
  bool cache_stats = false;
  Format format = Format::json;
};

constexpr std::array<std::string_view, 3> evidence_names{"topology", "promotion", "all"};

Error wrong_usage(std::string message, std::string fix) {
  return {.code = ErrorCode::invalid_usage, .message = std::move(message), .fix = std::move(fix)};
}

Result<void> read_policy(RecommendSettings& settings) {
  if (!settings.policy_file) {
    return {};
  }
  if (*settings.policy_file == "-" && settings.route.input == "-") {
    return tl::unexpected(
        wrong_usage("standard input cannot be the policy and the request", "name a file for one of them"));
  }
  settings.route.other_inputs.push_back({*settings.policy_file, "the policy", {}});
  TIDEGATE_TRY(settings.recommend.policy, commands::read_as<policy::LaunchPolicy>(*settings.policy_file));
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
      Error error = wrong_usage(fmt::format("--evidence has no {}", in_quotes(word)),
                                nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                                        : "give topology, promotion, both with a comma, or all");
      error.nearest = nearest;
      return tl::unexpected(std::move(error));
    }
    settings.recommend.topology_evidence |= word != "promotion";
    settings.recommend.promotion_evidence |= word != "topology";
    if (word.size() == rest.size()) {
      return {};
    }
    rest.remove_prefix(word.size() + 1);
  }
}

Result<void> read_adapter(RecommendSettings& settings) {
  if (!settings.device) {
    return {};
  }
  TIDEGATE_CHECK(device::isolate_drivers());
  TIDEGATE_TRY(const auto list, device::list_devices());
  TIDEGATE_TRY(const auto chosen, device::select_device(list, *settings.device));
  settings.recommend.device = *chosen;
  return {};
}

void print_statistics(const policy::RecommendationCache& cache) {
  const policy::CacheStatistics statistics = cache.statistics();
  const std::string line = fmt::format("{{\"entries\":{},\"hits\":{},\"misses\":{}}}\n", statistics.entries,
                                       statistics.hits, statistics.misses);
  std::fputs(line.c_str(), stderr);
}

Result<ExitCode> run_recommend(RecommendSettings& settings) {
  const bool table = settings.format == Format::table;
  if (auto read = refuse_stream(settings.route.stream, table ? "table" : "json")
                      .and_then([&] { return read_adapter(settings); })
                      .and_then([&] { return read_policy(settings); })
                      .and_then([&] { return read_evidence(settings); });
      !read) {
    return tl::unexpected(std::move(read.error()));
  }
  hint_at_terminal(settings.route.input);

  policy::RecommendationCache cache;
  policy::RecommendationCache* const used_cache = settings.cache_stats ? &cache : nullptr;
  Result<ExitCode> result = ExitCode::done;
  if (table) {
    commands::Recommender recommender(settings.recommend, used_cache);
    const bool colour = settings.route.output == "-" && use_colour(STDOUT_FILENO);
    result = commands::serve_text(settings.route,
                                  [&](std::string_view json) { return recommender.table(json, colour); });
  } else {
    const auto make_answer = [&]() -> commands::Answer {
      return [recommender = std::make_shared<commands::Recommender>(settings.recommend, used_cache)](
                 std::string_view json, documents::Style style, std::string& answer) {
        return recommender->answer(json, style, answer);
      };
    };
    const unsigned workers = used_cache != nullptr ? 1 : 0; // one cache sees the stream in its order
    result = commands::serve(settings.route, make_answer, workers);
  }
  if (used_cache != nullptr) {
    print_statistics(cache);
  }
  return result;
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
           choice_option("--previous-topology", settings->recommend.previous_topology, policy::topology_names,
                         "Topology of the launch before, for requests that name none"),
           std::move(evidence),
           flag("--explain", settings->recommend.explain, "Add the rule and the numbers of each step"),
           device_option(
               settings->device,
               "Take the adapter limits and the memory budget that a request leaves out from a device: an "
               "index, cpu, gpu, a UUID, a name or a part of one"),
           stream_option(settings->route.stream),
           flag("--cache-stats", settings->cache_stats,
                "Keep a recommendation cache and print its statistics on standard error at the end"),
           format_option(settings->format), output_option(settings->route.output)},
      .positionals = {input_positional(settings->route.input, "Launch request")},
      .examples = {{"How should this launch run, and why?",
                    "tidegate recommend examples/bfs_wave.json --format table"},
                   {"One recommendation per line:", "tidegate recommend --stream < examples/waves.ndjson"}},
      .run = [settings] { return run_recommend(*settings); }};
}

} // namespace tidegate::app
