// Verdicts on documents.
#include "app/check.hpp"
#include "app/recommend.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;
using namespace tidegate::commands;
using documents::CheckedDocument;
using documents::Verdict;

namespace {

std::string recommendation(const std::string& policy = "{}") {
  std::string json;
  Recommender recommender({.topology_evidence = true, .promotion_evidence = true});
  const auto answered = recommender.answer(
      R"({"queue_len":5000,"requested_worker_groups":64,"max_workgroup_size_x":256,"hot_window_count":9,"policy":)" +
          policy + "}",
      documents::Style::compact, json);
  REQUIRE(answered);
  return json;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), with);
}

CheckedDocument checked(const std::string& json) {
  return check_document(json, {}, "file");
}

} // namespace

TEST_CASE("what the tool writes is valid") {
  const CheckedDocument result = checked(recommendation());
  CHECK(result.verdict == Verdict::valid);
  CHECK(result.document == "launch_recommendation");
  CHECK_FALSE(result.error);
}

TEST_CASE("evidence made under a policy without thresholds is incomplete") {
  const CheckedDocument result = checked(recommendation(R"({"hot_opcode_threshold":0})"));
  CHECK(result.verdict == Verdict::incomplete);
  REQUIRE(result.error);
  Error error = *result.error;
  CHECK(error.line == 1);
  CHECK(error.column);
  error.line.reset();
  CHECK(describe(error) ==
        "tidegate: file: error: the promotion evidence is not complete: hot_opcode_threshold is not as it "
        "must be "
        "[incomplete_evidence]\n"
        "  at: /evidence/promotion/hot_opcode_threshold\n"
        "  fix: `tidegate schema launch_recommendation --format table` says what completes each field");
}

TEST_CASE("evidence that contradicts its recommendation is inconsistent") {
  for (const auto& [old, with, pointer] :
       {std::array{R"("selected_topology":"sparse_frontier")", R"("selected_topology":"dense_frontier")",
                   "/evidence/topology/selected_topology"},
        std::array{R"("queue_pressure":"balanced")", R"("queue_pressure":"light")",
                   "/evidence/topology/queue_pressure"},
        std::array{R"("graphblas_switch_class":"sparse")", R"("graphblas_switch_class":"dense")",
                   "/evidence/topology/graphblas_switch_class"},
        std::array{R"("promotion_route":"window_jit")", R"("promotion_route":"queue_jit")",
                   "/evidence/promotion/promotion_route"},
        std::array{R"("hot_window_count":9)", R"("hot_window_count":1)",
                   "/evidence/promotion/promote_hot_windows"},
        std::array{R"("complete":{"topology":true)", R"("complete":{"topology":false)",
                   "/evidence/complete/topology"},
        std::array{R"("complete":{"topology":true,)", R"("complete":{)", "/evidence/complete/topology"}}) {
    CAPTURE(with);
    const CheckedDocument result = checked(replaced(recommendation(), old, with));
    CHECK(result.verdict == Verdict::inconsistent);
    REQUIRE(result.error);
    CHECK(result.error->pointer == pointer);
  }
}

TEST_CASE("the type comes from the document or from the caller") {
  CHECK(checked("{}").error->code == ErrorCode::missing_kind);
  CHECK(checked(R"({"queue_len":1})").document == "launch_request"); // by its keys
  CHECK(checked(R"({"kind":"launch_reqest"})").error->nearest == "launch_request");
  CHECK(checked(R"({"kind":"launch_reqest"})").error->code == ErrorCode::wrong_kind);
  const std::string request = R"({"queue_len":1,"requested_worker_groups":1,"max_workgroup_size_x":1})";
  CHECK(check_document(request, "launch_request", "f").verdict == Verdict::valid);
  CHECK(check_document(request, "launch_policy", "f").error->code == ErrorCode::wrong_kind);
  CHECK(checked("{").error->code == ErrorCode::syntax_error);
}

TEST_CASE("reports count, and their exit code is the worst") {
  CheckRequest request{.document = "launch_policy", .files = {"/does/not/exist"}};
  const documents::CheckReport report = *check(request);
  CHECK(report.checked == 1);
  CHECK(report.failed == 1);
  CHECK(exit_code(report) == ExitCode::input);
  CHECK(check_table(report, false) ==
        "/does/not/exist  launch_policy  invalid  cannot read /does/not/exist: No such file or directory\n"
        "1 checked, 0 valid, 1 not\n");
  CHECK(exit_code(documents::CheckReport{}) == ExitCode::done);
}
