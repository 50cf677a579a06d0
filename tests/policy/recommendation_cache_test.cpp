// The recommendation cache: hits, misses, keys and the order of eviction.
#include "support.hpp"
#include <tidegate/policy/documents.hpp>

#include <doctest/doctest.h>

namespace tidegate::policy {
namespace {

using namespace test;

constexpr auto capacity = static_cast<std::uint32_t>(RecommendationCache::capacity);

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

void fill(RecommendationCache& cache, std::uint32_t first_queue_len, std::uint32_t last_queue_len) {
  for (std::uint32_t queue_len = first_queue_len; queue_len <= last_queue_len; ++queue_len) {
    CHECK_FALSE(hits(cache, queue_of(queue_len)));
  }
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
    } else if (field.presence != documents::Presence::optional) { // the previous topology
      void* const number = of_field(changed.emplace_back(question));
      field.type.kind == documents::Kind::u16   ? void(++*static_cast<std::uint16_t*>(number))
      : field.type.kind == documents::Kind::u32 ? void(++*static_cast<std::uint32_t*>(number))
                                                : void(++*static_cast<std::uint64_t*>(number));
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

TEST_CASE("the pair that was looked up longest ago makes room") {
  RecommendationCache cache;
  fill(cache, 1, capacity);
  CHECK(hits(cache, queue_of(1))); // is the most recent one now
  CHECK_FALSE(hits(cache, queue_of(capacity + 1)));
  CHECK((cache.statistics() == CacheStatistics{capacity, 1, capacity + 1}));
  CHECK(hits(cache, queue_of(1)));
  CHECK_FALSE(hits(cache, queue_of(2)));
  CHECK_FALSE(hits(cache, queue_of(3)));
  CHECK(hits(cache, queue_of(capacity)));
}

} // namespace
} // namespace tidegate::policy
