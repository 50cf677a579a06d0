// An LRU cache of the last `capacity` distinct (policy, request) pairs and their recommendations. Lookups and
// insertions take constant time. Errors are not cached.
//
//   most recent -> [entry] <-> [entry] <-> ... <-> [entry] <- next to go
//                     ^ found by hash of the key
#pragma once
#include <tidegate/policy/launch_policy.hpp>

#include <list>
#include <unordered_map>

namespace tidegate::policy {

struct CacheStatistics {
  std::uint64_t entries = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0; // errors count as misses and are not cached

  friend bool operator==(const CacheStatistics&, const CacheStatistics&) = default;
};

// Not thread-safe.
class RecommendationCache {
public:
  static constexpr std::size_t capacity = 128;

  // Like recommend() of launch_policy.hpp, but cached. For evidence, callers pass the effective request
  // (infer_missing_signals), which is another key than a raw one without signals.
  Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request);

  [[nodiscard]] CacheStatistics statistics() const;

  // Removes all entries and resets the statistics.
  void clear();

private:
  struct Key {
    LaunchPolicy policy;
    LaunchRequest request;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Entry {
    Key key;
    LaunchRecommendation recommendation;
  };

  std::list<Entry> by_recency_;
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> by_key_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

} // namespace tidegate::policy
