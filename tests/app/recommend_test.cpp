// The recommend command from document to document.
#include "app/recommend.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tidegate;
using namespace tidegate::commands;
using Json = nlohmann::json;

namespace {

constexpr std::string_view request =
    R"({"queue_len":300,"requested_worker_groups":64,"max_workgroup_size_x":256,"graph_node_count":10000})";

Json answered(RecommendOptions options, std::string_view json = request) {
  std::string text;
  const auto result = Recommender(std::move(options)).answer(json, documents::Style::compact, text);
  REQUIRE(result);
  return Json::parse(text);
}

} // namespace

TEST_CASE("evidence and explanation come when they are asked for") {
  CHECK_FALSE(answered({}).contains("evidence"));
  CHECK_FALSE(answered({}).contains("explanation"));
  const Json topology = answered({.topology_evidence = true});
  CHECK(topology["evidence"]["topology"]["frontier_density_bps"] == 300);
  CHECK_FALSE(topology["evidence"].contains("promotion"));
  CHECK(topology["evidence"]["complete"] == Json{{"topology", true}});
  CHECK(answered({.explain = true})["explanation"].size() == 11);
}

TEST_CASE("a request's own policy overrides the given one field by field") {
  RecommendOptions options;
  options.policy.min_hit_capacity = 7000;
  CHECK(answered(options)["recommendation"]["hit_capacity"] == 7000);
  const std::string own =
      std::string(request.substr(0, request.size() - 1)) + R"(,"policy":{"hit_capacity_multiplier":30}})";
  CHECK(answered(options, own)["recommendation"]["hit_capacity"] == 9000);
}

TEST_CASE("the given previous topology serves requests that name none") {
  const RecommendOptions options{.previous_topology = policy::Topology::hybrid_frontier};
  CHECK(answered(options)["recommendation"]["topology"] == "hybrid_frontier");
  const std::string own =
      std::string(request.substr(0, request.size() - 1)) + R"(,"previous_topology":"dense_frontier"})";
  CHECK(answered(options, own)["recommendation"]["topology"] == "sparse_frontier");
}

TEST_CASE("the cache answers requests without a previous topology, effective ones for evidence") {
  policy::RecommendationCache cache;
  std::string text;
  Recommender plain({}, &cache);
  Recommender evident({.topology_evidence = true}, &cache);
  Recommender held({.previous_topology = policy::Topology::empty}, &cache);
  for (Recommender* recommender : {&plain, &plain, &evident, &evident, &held}) {
    REQUIRE(recommender->answer(request, documents::Style::compact, text));
  }
  CHECK(cache.statistics() == policy::CacheStatistics{.entries = 2, .hits = 2, .misses = 2});
}

TEST_CASE("policy errors are errors of the command") {
  std::string text;
  const auto result =
      Recommender({}).answer(R"({"queue_len":1,"requested_worker_groups":1,"max_workgroup_size_x":0})",
                             documents::Style::compact, text);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::zero_adapter_limit);
  CHECK(result.error().pointer == "/max_workgroup_size_x");
  CHECK(text.empty());
}

TEST_CASE("the table says what and why") {
  const auto table = Recommender({.promotion_evidence = true}).table(request, false);
  REQUIRE(table);
  CHECK(table->starts_with("sparse_frontier in interpreter mode, 8 work-groups of 38, queue light\n\n"));
  CHECK(table->find("300 queued items over 10000 nodes: 3%") != std::string::npos);
  CHECK(table->ends_with("\npromotion evidence: complete\n"));
}
