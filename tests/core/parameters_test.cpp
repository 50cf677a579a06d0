// Comments and parameters are replaced in the text of a document; what is refused of it is not written.
#include "core/json.hpp"

using namespace tidegate;
using namespace tidegate::documents;

namespace {

std::string replaced(const std::string& json, const std::vector<Parameter>& given = {}) {
  const auto text = replace_parameters(json, given);
  return text ? *text : "failed: " + text.error().message;
}

// The value of an expression over n = 10 and x = 0.5, as it is written.
std::string computed(const std::string& expression) {
  const std::string text =
      replaced(R"({"parameters":{"n":10,"x":0.5},"is":{"parameter":")" + expression + "\"}}");
  const std::size_t at = text.find("\"is\":");
  return at == std::string::npos ? text : text.substr(at + 5, text.find_first_of(" }", at) - at - 5);
}

} // namespace

TEST_CASE("comments become spaces, also at the end of a line") {
  std::string json = "\xef\xbb\xbf{\"a\": \"http://x\\\"//\", // ü\n\"b\": 1} // end";
  remove_comments(json);
  CHECK(json == "{\"a\": \"http://x\\\"//\",      \n\"b\": 1}       ");
}

TEST_CASE("a parameter is replaced by its value, and what follows keeps its place") {
  CHECK(replaced(R"({"parameters": {"n": 4}, "a": [{"parameter": "n"}, 1]})") ==
        R"({"parameters": {"n": 4}, "a": [4                 , 1]})");
  CHECK(replaced("{\"a\": {\"parameter\":\n\"n\"}, \"parameters\": {\"n\": 4}}") ==
        "{\"a\": 4            \n    , \"parameters\": {\"n\": 4}}");
  CHECK(
      replaced(R"({"parameters": {"n": 4, "m": {"parameter": "n + 1"}}, "a": {"parameter": "m"}})",
               {{"n", std::uint64_t{7}}}) ==
      R"({"parameters": {"n": 4, "m": 8                     }, "a": 8                 })"); // n stays as stated
  CHECK(replaced(R"({"args": [{"parameter": 1}, {"parameter": "n", "b": 2}]})") ==
        R"({"args": [{"parameter": 1}, {"parameter": "n", "b": 2}]})"); // neither is a use
  CHECK(replaced("{\"parameter") == "{\"parameter");                    // no JSON
}

TEST_CASE("expressions are computed exactly for whole numbers, as in C") {
  CHECK(computed("n * 4 + 1") == "41");
  CHECK(computed("(n + 15) / 16 * -2") == "-2");
  CHECK(computed("1 + n / 4") == "3");
  CHECK(computed("n / 4.0") == "2.5");
  CHECK(computed("x * n") == "5.0");
  CHECK(computed("1e3 - - n") == "1010.0");
  CHECK(computed("18446744073709551615 * 10 / n") == "18446744073709551615");
}

TEST_CASE("an expression that cannot be computed says why") {
  CHECK(computed("n / 0") == "failed: a division by zero");
  CHECK(computed("k + 1") == "failed: there is no parameter \"k\"");
  CHECK(computed("n +") == "failed: the expression ends early");
  CHECK(computed("(n") == "failed: a bracket is not closed");
  CHECK(computed("n % 2") == "failed: the expression goes on with \"% 2\"");
  CHECK(computed("n * 1844674407370955161500") == "failed: the value does not fit into 64 bits");
  CHECK(computed("n * 18446744073709551615") == "failed: the value does not fit into 64 bits");
  CHECK(computed("x / 1e-308 * 1e308") == "failed: the value does not fit into 64 bits");
}

TEST_CASE("a parameter that is not a number is named, and its uses are not") {
  const auto text = replace_parameters(R"({"parameters": {"r": "5"}, "a": {"parameter": "2 * r"}})", {});
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message == R"(the parameter "r" is "5", not a number)");
  CHECK(text.error().pointer == "/parameters/r");
  CHECK(text.error().others.empty());
}

TEST_CASE("all errors of parameters come at once, with their places") {
  const auto text = replace_parameters("{\"parameters\": {\"2n\": 4},\n \"a\": [{\"parameter\": \"k\"}]}",
                                       std::vector<Parameter>{{"m", std::uint64_t{1}}});
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message == "\"2n\" is not a name of a parameter");
  REQUIRE(text.error().others.size() == 2);
  CHECK(text.error().others[0].message == "--param m: the program has no such parameter");
  CHECK(text.error().others[1].pointer == "/a/0");
  CHECK(text.error().others[1].line == 2);
  CHECK(text.error().others[1].column == 8);
}
