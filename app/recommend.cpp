// tidegate recommend
#include "command_line.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include <tidegate/commands/recommend.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/isolation.hpp>
#include <tidegate/device/select.hpp>
#include <tidegate/documents/decode.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace tidegate::app {
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
  const auto text = commands::read_document(*settings.policy_file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto policy = documents::decode<policy::LaunchPolicy>(*text);
  if (!policy) {
    return tl::unexpected(commands::at_document(std::move(policy.error()), *settings.policy_file, *text));
  }
  settings.recommend.policy = *policy;
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
  if (auto isolated = device::isolate_drivers(); !isolated) {
    return tl::unexpected(std::move(isolated.error()));
  }
  const auto list = device::list_devices();
  if (!list) {
    return tl::unexpected(list.error());
  }
  const auto chosen = device::select_device(*list, *settings.device);
  if (!chosen) {
    return tl::unexpected(chosen.error());
  }
  settings.recommend.adapter = commands::adapter_limits(**chosen);
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
      .run = [settings](bool) { return run_recommend(*settings); }};
}

} // namespace tidegate::app
