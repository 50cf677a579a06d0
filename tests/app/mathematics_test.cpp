// Priority and tuning commands from document to document.
#include "app/tune.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;
using namespace tidegate::commands;

namespace {

using Command = Result<void> (*)(std::string_view, documents::Style, std::string&);

std::string answered(Command command, std::string_view input) {
  std::string json;
  const auto result = command(input, documents::Style::compact, json);
  return result ? json : describe(result.error());
}

} // namespace

TEST_CASE("a full counter asks for a drain") {
  CHECK(
      answered(drain_priority,
               R"({"requeue_count":18446744073709551615,"aged_promotions":0,"max_priority_age":1})") ==
      R"({"kind":"drain_recommendation","schema_version":1,"should_drain":true,"reason":"requeue_counter_exhausted",)"
      R"("requeue_count":18446744073709551615,"aged_promotions":0,"max_priority_age":1,"requeue_counter_headroom":0,)"
      R"("aged_promotion_counter_headroom":18446744073709551615,)"
      R"("fix":"requeue_count is full and no longer counts: drain and reset it before the next launch"})");
}

TEST_CASE("diffusion of different lengths says why nothing happened") {
  CHECK(answered(diffuse_priority,
                 R"({"priority_stalks":[1,2],"restriction_diag":[1],"damping":0.5,"iterations":3})") ==
        R"({"kind":"diffused_priorities","schema_version":1,"output":[1.0,2.0],"diagnostics":[)"
        R"({"code":"length_mismatch","pointer":"/output","message":)"
        R"("2 stalks and 1 restrictions: the stalks are returned unchanged"}]})");
}

TEST_CASE("the cheapest candidate is chosen") {
  CHECK(answered(choose_tuning, R"({"candidates":[1,2],"costs":[2,1.5],"current":9})") ==
        R"({"kind":"tuning_choice","schema_version":1,"value":2})");
  CHECK(answered(choose_tuning, R"({"candidates":[],"costs":[],"current":9})") ==
        R"({"kind":"tuning_choice","schema_version":1,"value":9})");
}

TEST_CASE("a step that leaves the numbers is null, one without a matrix is empty, both with a diagnostic") {
  CHECK(answered(step_tuning, R"({"m_inv_sqrt":[1e308],"grad":[10],"n":1,"learning_rate":1})")
            .find(R"("output":[null],"diagnostics":[{"code":"non_finite","pointer":"/output/0")") !=
        std::string::npos);
  CHECK(answered(step_tuning, R"({"m_inv_sqrt":[],"grad":[],"n":4294967295,"learning_rate":1})")
            .find("n = 4294967295 needs 18446744065119617025 matrix values") != std::string::npos);
}

TEST_CASE("bad input is an error") {
  CHECK(answered(step_tuning, "[]") ==
        "tidegate: input:1:1: error: expected an object, got an array [wrong_type]\n"
        "  fix: a natural_gradient is one JSON object");
}
