// Comments are removed, and parameters computed.
#include "core/json.hpp"

namespace tidegate {

struct ProgramOfTest {
  std::vector<std::pair<std::string, Number>> parameters;
  std::vector<Number> is;
  std::optional<Value> any;
};

namespace documents {

constexpr Field program_of_test_fields[] = {defaulted<&ProgramOfTest::parameters>(""),
                                            defaulted<&ProgramOfTest::is>("").or_single(),
                                            optional<&ProgramOfTest::any>("")};
TIDEGATE_RECORD(ProgramOfTest, program_of_test_fields);
TIDEGATE_DOCUMENT(ProgramOfTest, "test", "", Direction::input);

} // namespace documents
} // namespace tidegate

using namespace tidegate;
using namespace tidegate::documents;

namespace {

// The document as it is read.
std::string read(const std::string& json, const std::vector<Parameter>& given = {}) {
  const auto program = decode<ProgramOfTest>(json, given);
  std::string text;
  program ? encode(Description<ProgramOfTest>::record, &*program, Style::compact, text)
          : void(text = "failed: " + program.error().message);
  return text;
}

// The value of an expression over n = 10 and x = 0.5, as it is written.
std::string computed(const std::string& expression) {
  const std::string text =
      read(R"({"is":{"parameter":")" + expression + R"("},"parameters":{"n":10,"x":0.5}})");
  const std::size_t at = text.find("\"is\":[");
  return at == std::string::npos ? text : text.substr(at + 6, text.find(']') - at - 6);
}

} // namespace

TEST_CASE("comments become spaces, also at the end of a line") {
  std::string json = "\xef\xbb\xbf{\"a\": \"http://x\\\"//\", // ü\n\"b\": 1} // end";
  remove_comments(json);
  CHECK(json == "{\"a\": \"http://x\\\"//\",      \n\"b\": 1}       ");
}

TEST_CASE("a use of a parameter is its value, wherever it stands") {
  CHECK(read(R"({"parameters": {"n": 4}, "is": [{"parameter": "n"}, 1]})") ==
        R"({"parameters":{"n":4},"is":[4,1]})");
  CHECK(read(R"({"is": {"parameter": "n"}, "parameters": {"n": 4}, "any": {"a": {"parameter": "n"}}})") ==
        R"({"parameters":{"n":4},"is":[4],"any":{"a":4}})");
  CHECK(read(R"({"parameters": {"n": 4, "m": {"parameter": "n + 1"}}, "is": {"parameter": "m"}})",
             {{"n", std::uint64_t{7}}}) == R"({"parameters":{"n":7,"m":8},"is":[8]})");
  CHECK(read(R"({"any": [{"parameter": "n", "b": 2}]})") ==
        R"({"parameters":{},"is":[],"any":[{"parameter":"n","b":2}]})"); // not a use
  CHECK(read(R"({"parameters": {"n": {"parameter": "n"}}})") == "failed: there is no parameter \"n\"");
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
  const auto read = decode<ProgramOfTest>(R"({"parameters": {"r": "5"}, "is": {"parameter": "2 * r"}})");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().message == "expected a number, got a string");
  CHECK(read.error().pointer == "/parameters/r");
  CHECK(read.error().others.empty());
}

TEST_CASE("all errors of parameters come at once, with their places") {
  const auto read = decode<ProgramOfTest>("{\"parameters\": {\"2n\": 4},\n \"is\": [{\"parameter\": \"k\"}]}",
                                          std::vector<Parameter>{{"m", std::uint64_t{1}}});
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().message == "\"2n\" is not a name of a parameter");
  REQUIRE(read.error().others.size() == 2);
  CHECK(read.error().others[0].message == "--param m: the program has no such parameter");
  CHECK(read.error().others[1].pointer == "/is/0");
  CHECK(read.error().others[1].line == 2);
  CHECK(read.error().others[1].column == 9);
}
