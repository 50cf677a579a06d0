// What `check` says of reports: how the run ended, what was compared, and whether the evidence is complete.
#include "app/plan.hpp"
#include "engine/run_report.hpp"

using namespace tidegate;

namespace {

template <class Report>
std::string judged(const Report& report) {
  const auto sound = app::judge(report);
  return sound ? "sound"
               : std::string(name(sound.error().code)) + ' ' + sound.error().pointer.value_or("") + ' ' +
                     sound.error().message;
}

engine::RunReport complete_report() {
  engine::RunReport document;
  document.evidence = {.topology = policy::TopologyEvidence(),
                       .promotion = policy::PromotionEvidence{.jit_queue_len_threshold = 1,
                                                              .hot_opcode_threshold = 1,
                                                              .hot_window_threshold = 1},
                       .complete = {}};
  return document;
}

} // namespace

TEST_CASE("check refuses the report of a run that did not reach its end, or whose outputs are not right") {
  using Document = engine::RunReport;
  using runtime::RunStatus;
  const auto ended = [](RunStatus status, ErrorCode code) {
    return [status, code](Document& document) {
      document.status = status;
      document.error = Error{.code = code, .message = "why", .fix = "fix"};
    };
  };
  const std::vector<std::pair<std::string, std::function<void(Document&)>>> cases{
      {"sound", [](Document&) {}},
      {"sound", [](Document& document) { document.status = RunStatus::planned; }},
      {"wall_time_exceeded /status the status of the run is deadline: why",
       ended(RunStatus::deadline, ErrorCode::wall_time_exceeded)},
      {"incomplete_evidence /status the status of the run is interrupted: why",
       ended(RunStatus::interrupted, ErrorCode::interrupted)},
      {"device_hang /status the status of the run is hang: why",
       ended(RunStatus::hang, ErrorCode::device_hang)},
      {"incomplete_evidence /status the status of the run is queue_failed",
       [](Document& document) { document.status = RunStatus::queue_failed; }},
      {"outputs_differ /output_parity/equal 3 elements of the outputs are not as plain launches leave them",
       [](Document& document) {
         document.output_parity = {.checked = 1, .equal = false, .differing_elements = 3};
       }},
      {"outputs_differ /expected/1/equal 1 element of \"y\" outside of the tolerances",
       [](Document& document) {
         document.expected = {{.buffer = "x", .equal = true}, {.buffer = "y", .equal = false, .outside = 1}};
       }},
      {"outputs_differ /stress/failure a run under stress failed: launch",
       [](Document& document) {
         document.stress = {.failure = engine::StressFailure{.variation = "launch"}};
       }},
      {"incomplete_evidence /evidence the evidence is not complete: topology is not as it must be",
       [](Document& document) { document.evidence = {}; }},
      {"incomplete_evidence /evidence/promotion/output_parity_required the promotion evidence is not complete: "
       "output_parity_required is not as it must be",
       [](Document& document) { document.evidence.promotion->output_parity_required = false; }},
  };
  for (const auto& [expected, change] : cases) {
    Document document = complete_report();
    change(document);
    CHECK(judged(document) == expected);
  }
}

TEST_CASE("check refuses the report of a traversal that ended early or is wrong") {
  traversal::FrontierReport report;
  CHECK(judged(report) == "sound");
  report.status = runtime::RunStatus::deadline;
  CHECK(judged(report).starts_with("incomplete_evidence /status "));
  report.verification = {.right = false};
  CHECK(judged(report).starts_with("outputs_differ /verification/right "));
}
