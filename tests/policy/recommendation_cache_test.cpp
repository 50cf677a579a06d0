// The recommendation cache: hits, misses and keys. The order of eviction: golden_test.cpp.
#include "support.hpp"
#include <tidegate/policy/documents.hpp>

#include <doctest/doctest.h>

namespace tidegate::policy {
namespace {

using namespace test;

LaunchRequest queue_of(std::uint32_t queue_len) {
  return LaunchRequest::direct(queue_len, 64, 256);
}

// Returns true if the cache answered from an entry.
bool hits(RecommendationCache& cache, const LaunchRequest& request, const LaunchPolicy& policy = {}) {
  const std::uint64_t before = cache.statistics().hits;
  const auto cached = cache.recommend(policy, request);
  const auto fresh = recommend(policy, request);
  REQUIRE(error_of(cached) == error_of(fresh));
  REQUIRE((!cached || *cached == *fresh));
  return cache.statistics().hits != before;
}

TEST_CASE(
    "the second look-up of a pair is a hit, of a raw request and its effective form, too; errors are not kept") {
  RecommendationCache cache;
  CHECK((cache.statistics() == CacheStatistics{0, 0, 0}));
  LaunchRequest raw = queue_of(300);
  raw.graph_node_count = 10'000;
  LaunchRequest refused = queue_of(300);
  refused.device_memory_budget_bytes = 1;
  for (const bool second_time : {false, true}) {
    CHECK(hits(cache, raw) == second_time);
    CHECK(hits(cache, infer_missing_signals(raw)) == second_time);
    CHECK_FALSE(hits(cache, refused));
  }
  CHECK((cache.statistics() == CacheStatistics{2, 2, 4}));
}

// Adds a question for each number of the record: with one more in it.
void change_each(const documents::Record& record, const LaunchQuestion& question,
                 const std::function<void*(LaunchQuestion&)>& object, std::vector<LaunchQuestion>& changed) {
  for (const documents::Field& field : record.fields) {
    const auto of_field = [&](LaunchQuestion& each) { return field.write(object(each)); };
    if (field.type.kind == documents::Kind::record) {
      change_each(*field.type.record, question, of_field, changed);
    } else if (field.presence != documents::Presence::optional) {              // the previous topology
      ++*static_cast<std::uint8_t*>(of_field(changed.emplace_back(question))); // the lowest byte
    }
  }
}

TEST_CASE("every field of the request and of the policy is part of the key") {
  LaunchQuestion question{.request = queue_of(300)};
  question.request.device_memory_budget_bytes = 1U << 30U;
  std::vector<LaunchQuestion> questions{question};
  change_each(
      documents::Description<LaunchQuestion>::record, question,
      [](LaunchQuestion& each) -> void* { return &each; }, questions);
  REQUIRE(questions.size() == 1 + 17 + 12 + 5);
  RecommendationCache cache;
  for (const bool second_time : {false, true}) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      CAPTURE(i);
      CHECK(hits(cache, questions[i].request, questions[i].policy) == second_time);
    }
  }
}

} // namespace
} // namespace tidegate::policy
