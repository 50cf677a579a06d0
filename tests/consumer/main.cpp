// Uses two libraries of an installed tidegate: asks the policy, and encodes its answer.
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/policy/documents.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <iostream>

int main() {
  using namespace tidegate;
  const auto request = documents::decode<documents::LaunchRequestDocument>(
      R"({"queue_len": 300, "requested_worker_groups": 64, "max_workgroup_size_x": 256})");
  if (!request) {
    std::cerr << describe(request.error()) << '\n';
    return 1;
  }
  const auto answer = policy::recommend(request->policy, request->request);
  if (!answer) {
    return 1;
  }
  documents::LaunchRecommendationDocument document;
  document.recommendation = *answer;
  std::cout << documents::encode(document, documents::Style::compact) << '\n';
  return answer->geometry.slot_count == 320 ? 0 : 1;
}
