// Why a recommendation came out as it did: the rule and the numbers of each step, in words.
#pragma once
#include <tidegate/policy/launch_policy.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::policy {

struct TraceNumber {
  std::string name;
  std::uint64_t value = 0;
};

struct TraceStep {
  std::string step;    // what was decided: "topology", "worker_groups", …
  std::string outcome; // the value that came out
  std::string rule;    // the name of the rule that decided, stable
  std::string because; // one sentence with the numbers
  std::vector<TraceNumber> numbers;
};

// `request` is the request as given, `decision` what decide() made of it under `policy`.
std::vector<TraceStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                               const LaunchDecision& decision);

} // namespace tidegate::policy
