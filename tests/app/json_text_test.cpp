// JSON as text: positions, pointers, strings and numbers.
#include "core/json.hpp"

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

namespace {

std::optional<Error> refused(std::string_view json) {
  const auto parsed = JsonParser().parse(json);
  return parsed ? std::nullopt : std::optional(parsed.error());
}

} // namespace

TEST_CASE("one JSON value has no syntax error") {
  for (const std::string_view json : {"{}", "[1,2.5e3,\"x\",null,true]", " 3 ", "\"\\u00e9\""}) {
    CHECK_FALSE(refused(json));
  }
  CHECK(refused("{\"a\":1}{}")->fix ==
        "remove the text after the document; commands with --stream take several, one per line");
  CHECK(refused("{'a':1}")->code == ErrorCode::syntax_error);
  CHECK(refused("[1,]")->column == 4);
  CHECK(refused("\"\\ud800\"")->code == ErrorCode::syntax_error);
  CHECK(refused("01")->code == ErrorCode::syntax_error);
  CHECK(refused("// x")->code == ErrorCode::syntax_error);
  CHECK(refused(std::string_view("[1]\0", 4))->column == 4);
  CHECK(refused("[1e999]")->code == ErrorCode::out_of_range);
}

TEST_CASE("a parsed text knows its values and their ends") {
  JsonParser parser;
  const auto list = parser.parse(R"( [ -1.5e3 , "a\"\u00e9" ,{ "k" : [ ] } , true,null , {} ] )");
  REQUIRE(list);
  std::vector<std::string> texts;
  for (JsonValue item = list->inner(); item != list->next(); item = item.next()) {
    texts.emplace_back(item.text());
  }
  CHECK(texts ==
        std::vector<std::string>{"-1.5e3", R"("a\"\u00e9")", R"({ "k" : [ ] })", "true", "null", "{}"});
  std::string room;
  CHECK(list->inner().next().string(room) == "a\"é");
  CHECK(number_of("18446744073709551615") == Number(std::uint64_t{18446744073709551615U}));
  CHECK(number_of("-9223372036854775808") == Number(std::numeric_limits<std::int64_t>::min()));
  CHECK(number_of("18446744073709551616") == Number(18446744073709551616.0));
  CHECK(number_of("3.0") == Number(3.0));
}

namespace {

Error at(std::string pointer) {
  return {.code = ErrorCode::invalid_program, .message = "m", .fix = "f", .pointer = std::move(pointer)};
}

// "2:3" for the place of the pointer.
std::string place(std::string_view json, std::string pointer) {
  const Error error = located(at(std::move(pointer)), json);
  return error.line ? std::to_string(*error.line) + ":" + std::to_string(*error.column) : "none";
}

constexpr std::string_view text = "{\"a\": 1,\n"
                                  " \"ü/~\": [10, [20, {\"x\": true}],\n"
                                  "  \"last\"],\n"
                                  " \"o\": {\"a\": {}, \"b\" : null}}";

} // namespace

TEST_CASE("every value has its place") {
  CHECK(place(text, "/a") == "1:7");
  CHECK(place(text, "/ü~1~0") == "2:9");
  CHECK(place(text, "/ü~1~0/0") == "2:10");
  CHECK(place(text, "/ü~1~0/1/1") == "2:19");
  CHECK(place(text, "/ü~1~0/1/1/x") == "2:25");
  CHECK(place(text, "/ü~1~0/2") == "3:3");
  CHECK(place(text, "/o/a") == "4:13");
  CHECK(place(text, "/o/b") == "4:23");
}

TEST_CASE("what is left out is where it would be, unless that is everywhere") {
  CHECK(place(text, "/o/a/none/deeper") == "4:13");
  CHECK(place(text, "/ü~1~0/7") == "2:9");
  CHECK(place(text, "/none") == "none");
  CHECK(place(text, "") == "none");
}

TEST_CASE("errors come in the order of the document, and those of other files last") {
  Error error = at("/o/b");
  error.others = {at("/none"), at("/ü~1~0/1"), at("/a"), at("/o/a")};
  error.others[0].source = "kernel.cl";
  error.others[0].line = 1;
  error = located(std::move(error), text);
  REQUIRE(error.others.size() == 4);
  CHECK(error.pointer == "/a");
  CHECK(error.others[0].pointer == "/ü~1~0/1");
  CHECK(error.others[1].pointer == "/o/a");
  CHECK(error.others[2].pointer == "/o/b");
  CHECK(error.others[3].source == "kernel.cl");
  CHECK(error.others[3].line == 1);
}

TEST_CASE("a place that is known already stays") {
  Error error = at("/a");
  error.line = 7;
  error.column = 8;
  error = located(std::move(error), text);
  CHECK(error.line == 7);
  CHECK(error.column == 8);
}
