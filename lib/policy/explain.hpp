// Explains a recommendation: the rule and the numbers of each step, in words.
#pragma once
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {

struct NamedNumber {
  std::string name;
  std::uint64_t value = 0;
};

struct ExplanationStep {
  std::string step;    // the decision: "topology", "worker_groups", …
  std::string outcome; // the resulting value
  std::string rule;    // stable name of the rule that decided
  std::string because; // one sentence with the numbers
  std::vector<NamedNumber> numbers;
};

// Returns the steps of `decision`, which decide() made for `request` under `policy`.
std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision);

} // namespace tidegate::policy
