// Uses the libraries of an installed tidegate: plans waves, makes a graph, lists devices; then asks the policy, and encodes its answer.
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/serial.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/documents.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <iostream>
#include <vector>

int main() {
  using namespace tidegate;
  const auto groups =
      planning::plan_barriers(2, std::vector<planning::Dependency>{{.before = 0, .after = 1}});
  const auto grid = graphs::generate_graph({.grid = graphs::GridSpec{.width = 3, .height = 2}}, {});
  if (!groups || groups->group_count() != 2 || !grid || grid->out.vertices() != 6) {
    return 2;
  }
  std::cerr << (device::list_devices() ? "devices" : "no devices") << '\n'; // either will do
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
