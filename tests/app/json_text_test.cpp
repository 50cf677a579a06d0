// JSON as text: positions, pointers, strings and numbers.
#include "app/serve.hpp"

using namespace tidegate;
using namespace tidegate::documents;

namespace {

template <class Value, class Append>
std::string appended(const Value& value, Append append) {
  std::string json;
  append(json, value);
  return json;
}

std::optional<Error> refused(std::string_view json) {
  const auto parsed = JsonParser().parse(json);
  return parsed ? std::nullopt : std::optional(parsed.error());
}

} // namespace

TEST_CASE("positions count lines and characters from one") {
  const std::string_view text = "ab\nçd\n\nx"; // ç has two bytes
  for (const auto& [offset, line, column] :
       {std::tuple(0U, 1U, 1U), {5U, 2U, 2U}, {8U, 4U, 1U}, {100U, 4U, 2U}}) {
    const Error found = error_at(text, offset, {});
    CHECK(found.line == line);
    CHECK(found.column == column);
  }
}

TEST_CASE("strings are escaped, and hold nothing that a terminal would act on") {
  for (const auto& [text, json] :
       {std::pair("a\"b\\c\n\r\t\x01é", "\"a\\\"b\\\\c\\n\\r\\t\\u0001é\""),
        {"\x7f\u009b\u202e\u2028\u00a0\xff", "\"\\u007f\\u009b\\u202e\\u2028\u00a0\ufffd\""}}) {
    CHECK(appended(text, append_string) == json);
  }
}

TEST_CASE("numbers are the shortest that read back, and stay floats") {
  using Limits = std::numeric_limits<double>;
  for (const auto& [value, json] : std::initializer_list<std::pair<double, std::string>>{
           {0.1, "0.1"},
           {3, "3.0"},
           {-0.0, "-0.0"},
           {1e16, "1e+16"},
           {5e-324, "5e-324"},
           {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
           {Limits::infinity(), "null"},
           {Limits::quiet_NaN(), "null"}}) {
    CHECK(appended(value, [](std::string& text, double number) { append_number(text, number); }) == json);
  }
}

TEST_CASE("one JSON value has no syntax error") {
  for (const std::string_view json : {"{}", "[1,2.5e3,\"x\",null,true]", " 3 ", "\"\\u00e9\""}) {
    CHECK_FALSE(refused(json));
  }
  CHECK(refused("{\"a\":1}{}")->fix ==
        "remove the text after the document; commands with --stream take several, one per line");
  for (const std::string_view json : {"{'a':1}", "\"\\ud800\"", "01", "// x"}) {
    CHECK(refused(json)->code == ErrorCode::syntax_error);
  }
  CHECK(refused("[1,]")->column == 4);
  CHECK(refused(std::string_view("[1]\0", 4))->column == 4);
  CHECK(refused("[1e999]")->code == ErrorCode::out_of_range);
}

TEST_CASE("a parsed text knows its values and their ends") {
  JsonParser parser;
  const auto list = parser.parse(R"( [ -1.5e3 , "a\"\u00e9" ,{ "k" : [ ] } , true,null , {} ] )");
  REQUIRE(list);
  std::vector<std::string> texts;
  for (JsonValue item = list->inner(); item != list->close(); item = item.next()) {
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
  const Error error = app::located(at(std::move(pointer)), json);
  return error.line ? std::to_string(*error.line) + ":" + std::to_string(*error.column) : "none";
}

constexpr std::string_view text = "{\"a\": 1,\n"
                                  " \"ü/~\": [10, [20, {\"x\": true}],\n"
                                  "  \"last\"],\n"
                                  " \"o\": {\"a\": {}, \"b\" : null}}";

} // namespace

TEST_CASE("every value has its place; what is left out is where it would be, unless that is everywhere") {
  for (const auto& [pointer, at_place] : {std::pair("/a", "1:7"),
                                          {"/ü~1~0", "2:9"},
                                          {"/ü~1~0/0", "2:10"},
                                          {"/ü~1~0/1/1", "2:19"},
                                          {"/ü~1~0/1/1/x", "2:25"},
                                          {"/ü~1~0/2", "3:3"},
                                          {"/o/a", "4:13"},
                                          {"/o/b", "4:23"},
                                          {"/o/a/none/deeper", "4:13"},
                                          {"/ü~1~0/7", "2:9"},
                                          {"/none", "none"},
                                          {"", "none"}}) {
    CHECK(place(text, pointer) == at_place);
  }
}

TEST_CASE("errors come in the order of the document, and those of other files last") {
  Error error = at("/o/b");
  error.others = {at("/none"), at("/ü~1~0/1"), at("/a"), at("/o/a")};
  error.others[0].source = "kernel.cl";
  error.others[0].line = 1;
  error = app::located(std::move(error), text);
  std::vector<std::string> order{error.pointer.value_or("")};
  for (const Error& other : error.others) {
    order.push_back(other.source ? fmt::format("{}:{}", *other.source, *other.line) : *other.pointer);
  }
  CHECK(order == std::vector<std::string>{"/a", "/ü~1~0/1", "/o/a", "/o/b", "kernel.cl:1"});
}

TEST_CASE("a place that is known already stays") {
  Error error = at("/a");
  error.line = 7;
  error.column = 8;
  error = app::located(std::move(error), text);
  CHECK(error.line == 7);
  CHECK(error.column == 8);
}
