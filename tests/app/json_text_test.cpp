// JSON as text: positions, pointers, strings and numbers.
#include "core/json_text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace tidegate;
using namespace tidegate::documents;

namespace {

std::string number(double value) {
  std::string json;
  append_number(json, value);
  return json;
}

std::string string(std::string_view text) {
  std::string json;
  append_string(json, text);
  return json;
}

} // namespace

TEST_CASE("positions count lines and characters from one") {
  const std::string_view text = "ab\nçd\n\nx";
  CHECK(position_of(text, 0).line == 1);
  CHECK(position_of(text, 0).column == 1);
  CHECK(position_of(text, 5).line == 2);
  CHECK(position_of(text, 5).column == 2); // d, behind a character of two bytes
  CHECK(position_of(text, 8).line == 4);
  CHECK(position_of(text, 100).column == 2); // past the end
}

TEST_CASE("tokens start past white space, commas and colons") {
  CHECK(token_start("{ , : 3", 1) == 6);
  CHECK(token_start("{}", 1) == 1);
  CHECK(token_start("{ ", 1) == 2);
}

TEST_CASE("strings are escaped") {
  CHECK(string("a\"b\\c\n\r\t\x01é") == "\"a\\\"b\\\\c\\n\\r\\t\\u0001é\"");
}

TEST_CASE("strings hold nothing that a terminal would act on") {
  CHECK(string("\x7f\u009b\u202e\u2028\u00a0\xff") == "\"\\u007f\\u009b\\u202e\\u2028\u00a0\ufffd\"");
}

TEST_CASE("numbers are the shortest that read back, and stay floats") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(3) == "3.0");
  CHECK(number(-0.0) == "-0.0");
  CHECK(number(1e16) == "1e+16");
  CHECK(number(5e-324) == "5e-324");
  CHECK(number(-2.2250738585072014e-308) == "-2.2250738585072014e-308");
  CHECK(number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("one JSON value has no syntax error") {
  for (const std::string_view json : {"{}", "[1,2.5e3,\"x\",null,true]", " 3 ", "\"\\u00e9\""}) {
    CHECK_FALSE(syntax_error(json));
  }
  CHECK(syntax_error("{\"a\":1}{}")->fix ==
        "remove the text after the document; commands with --stream take several, one per line");
  CHECK(syntax_error("{'a':1}")->code == ErrorCode::syntax_error);
  CHECK(syntax_error("[1,]")->column == 4);
  CHECK(syntax_error("\"\\ud800\"")->code == ErrorCode::syntax_error);
  CHECK(syntax_error("01")->code == ErrorCode::syntax_error);
  CHECK(syntax_error("// x")->code == ErrorCode::syntax_error);
}
