// `tidegate recommend`: a launch request document in, a launch recommendation document or table out.
#pragma once
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/documents.hpp>
#include <tidegate/policy/recommendation_cache.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tidegate::commands {

struct RecommendOptions {
  policy::LaunchPolicy policy;                       // what a request's own policy overrides
  std::optional<policy::Topology> previous_topology; // for requests that name none
  std::optional<device::DeviceInfo> device;          // for requests that leave its limits out
  bool topology_evidence = false;
  bool promotion_evidence = false;
  bool explain = false;
};

// Answers one request after another, keeping working memory between them; one per thread.
class Recommender {
public:
  // `cache`, when given, outlives the recommender and is used by no other thread.
  explicit Recommender(RecommendOptions options, policy::RecommendationCache* cache = nullptr)
      : options_(std::move(options)), cache_(cache) {}

  // Appends the recommendation as JSON.
  Result<void> answer(std::string_view request_json, documents::Style style, std::string& json);

  // The recommendation in words: what came out, and why, step by step.
  Result<std::string> table(std::string_view request_json, bool colour);

private:
  Result<documents::LaunchRecommendationDocument> recommend(std::string_view request_json, bool explain);

  RecommendOptions options_;
  policy::RecommendationCache* cache_;
  documents::Decoder decoder_;
};

} // namespace tidegate::commands
